use super::*;

#[test]
fn a_constraint_that_the_follower_keeps_is_measured_by_its_own() {
    assert_eq!(with_shared(vec![1e-9, 1e-9, 0.5, 7.0], &[3.0, 4.0, 2.0]), [1e-9, 2.0, 0.5, 7.0]);
    assert_eq!(with_shared(vec![1.0, 1e-9], &[3.0]), [1.0, 1e-9]);
}

/// A claim with these values of x and F.
fn claim(x: f64, value: f64) -> Claim {
    Claim { x: vec![x], y: vec![0.5], upper: vec![value], lower: vec![0.0], settled: true }
}

/// Where F changes by so much.
fn scales(leader: f64) -> Scales {
    let (upper, lower, noise) = (vec![leader], vec![1.0], [0.0; 2]);
    Scales { upper, lower, noise, inequalities: (0, 0), equality_tolerance: 0.0, added: false }
}

#[test]
fn what_may_be_noise_is_the_same() {
    let exact = scales(1.0);
    let noisy = Scales { noise: [0.05, 0.0], ..exact.clone() };
    let (a, b, c) = (claim(0.5, 0.0), claim(0.5, 0.09), claim(0.9, 0.11));
    assert!(!exact.agree(&b, &a) && noisy.agree(&b, &a) && !noisy.agree(&c, &a));
    assert!(exact.promises(&a, &b) && !noisy.promises(&a, &b) && noisy.promises(&a, &c));
}

#[test]
fn what_is_little_of_a_large_scale_is_the_same_only_close_by() {
    let scales = scales(1e8);
    let (near, far) = (claim(0.505, 0.3), claim(0.6, 12.0));
    assert!(scales.agree(&claim(0.5, 12.0), &near) && !scales.agree(&far, &near));
    assert!(scales.promises(&near, &far) && !scales.promises(&near, &claim(0.5, 12.0)));
    // Rounding, and the same optimum at two places.
    assert!(scales.agree(&claim(0.1, 0.05), &claim(0.9, 0.0)));
    assert!(scales.agree(&claim(0.1, 1.0001e6), &claim(0.9, 1e6)));
}

/// Constraints that change by 50 above, and by 0.5 and 1000 below, where the last is an equation.
fn limited() -> Scales {
    let (upper, lower) = (vec![1.0, 50.0], vec![1.0, 0.5, 1000.0]);
    Scales { upper, lower, inequalities: (1, 1), equality_tolerance: 0.01, ..scales(1.0) }
}

#[test]
fn violations_are_measured_by_what_constraints_change_by_and_large_scales_count_less() {
    let scales = limited();
    // 50 counts as 1, 0.5 as itself, 1000 as 10.
    assert_eq!((scales.upper_violation(&[9.0, 5.0]), scales.upper_violation(&[9.0, -5.0])), (5.0, 0.0));
    assert_eq!(scales.lower_violation(&[9.0, 2.0, 0.0]), 4.0);
    assert_eq!(scales.lower_violation(&[9.0, -2.0, -20.01]), 2.0);
    assert_eq!(scales.lower_violation(&[9.0, 2.0, 20.01]), 6.0);
    assert_eq!(scales.lower_violation(&[9.0, -2.0, 0.009]), 0.0, "within the tolerance of equations");
    let both = Claim { upper: vec![9.0, 5.0], lower: vec![9.0, 2.0, 0.0], ..claim(0.5, 9.0) };
    assert_eq!(scales.violation(&both), 9.0);
    // A millionth is nothing.
    assert!(scales.answer_is_feasible(&[0.0, 4e-7, 0.0]) && !scales.answer_is_feasible(&[0.0, 6e-7, 0.0]));
}

#[test]
fn feasible_claims_come_first_and_infeasible_ones_by_their_violation() {
    let scales = limited();
    let of =
        |value: f64, above: f64| Claim { upper: vec![value, above], lower: vec![0.0, -1.0, 0.0], ..claim(0.5, value) };
    let (good, poor, near, far) = (of(1.0, -1.0), of(2.0, -1.0), of(0.5, 0.1), of(0.0, 0.2));
    let mut all = [far.clone(), poor.clone(), near.clone(), good.clone()];
    all.sort_by(|a, b| scales.compare(a, b));
    assert_eq!(all, [good.clone(), poor.clone(), near.clone(), far.clone()]);
    assert!(scales.is_feasible(&good) && !scales.is_feasible(&near));
    // What becomes feasible promises more, whatever it costs; what ceases to be promises nothing.
    assert!(scales.promises(&poor, &far) && !scales.promises(&far, &poor));
    assert!(scales.promises(&good, &poor) && !scales.promises(&poor, &good) && !scales.promises(&good, &good));
    assert!(!scales.agree(&good, &of(1.0, 0.1)), "one is feasible, the other is not");
}

#[test]
fn f_agrees_within_a_thousandth_of_itself_or_of_its_scale() {
    let scales = scales(1.0);
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    close(scales.tolerance(0.5), 5e-4);
    close(scales.tolerance(-0.5), 5e-4);
    close(scales.tolerance(0.0), 1e-6);
    close(scales.tolerance(100.0), 1e-3);
    close(Scales { noise: [0.0, 0.1], ..scales }.follower_noise(), 0.5);
}

#[test]
fn a_claim_is_a_point_of_both_and_apart_from_another_by_its_worst_variable() {
    let at = |x: [f64; 2], y: f64| Claim { x: x.to_vec(), y: vec![y], ..claim(0.0, 1.0) };
    assert_eq!(at([0.1, 0.2], 0.3).point(), [0.1, 0.2, 0.3]);
    assert_eq!(at([0.1, 0.25], 0.5).distance(&at([0.1, 0.75], 0.25)), 0.5);
    assert_eq!(at([0.1, 0.25], 1.0).distance(&at([0.1, 0.75], 0.25)), 0.75);
}

#[test]
fn scales_follow_the_archive() {
    let level = || crate::problem::LevelSpec::boxed(vec![(-2.0, 2.0)]);
    let spec = ProblemSpec::new("scripted", level().with_inequalities(1), level());
    let mut archive = Archive::new(2, 2, 1);
    let before = Scales::new(&spec, &archive);
    for i in 0..8 {
        let v = f64::from(i) / 8.0;
        archive.push(Level::Upper, &[v, v], &[8.0 * v, 16.0 * v]);
        archive.push(Level::Lower, &[v, v], &[80.0 * v]);
    }
    archive.noise = [0.5, 0.0];
    let after = Scales::new_like(&before, &archive);
    assert_eq!((before.leader(), before.follower(), before.is_noisy()), (1.0, 1.0, false));
    assert_eq!((after.leader(), after.follower(), after.is_noisy()), (4.0, 40.0, true));
    assert_eq!(after, Scales::new(&spec, &archive));
    // In the problem's own coordinates.
    let solved = Claim { upper: vec![3.0, 0.25], ..claim(0.75, 3.0) }.as_solved(&spec);
    assert_eq!((solved.x, solved.y), (vec![1.0], vec![0.0]));
    assert_eq!((solved.upper.value, solved.upper.violation, solved.lower.value), (3.0, 0.25, 0.0));
}
