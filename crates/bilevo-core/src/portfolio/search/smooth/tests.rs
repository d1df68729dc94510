use super::*;
use crate::portfolio::search::tests::{Bench, bowl, follows};

#[test]
fn means_leave_out_failures_and_do_not_depend_on_the_order() {
    assert_eq!(means(&vec![vec![1.0, 4.0], vec![], vec![3.0, 2.0]]), [2.0, 3.0]);
    assert_eq!(means(&vec![vec![], vec![]]), [0.0; 0]);
    let values = [0.1, 0.7, 1e9, -1e9, 0.3];
    let in_order = |order: &[usize]| means(&order.iter().map(|i| vec![values[*i]]).collect());
    assert_eq!(in_order(&[0, 1, 2, 3, 4]), in_order(&[2, 0, 4, 1, 3]));
}

fn smooth(bench: &Bench, size: f64) -> Smooth {
    Smooth::new(bench.shape(), vec![0.3, 0.2], size, 5, &bench.ground().streams)
}

#[test]
fn rounds_of_points_all_over_a_region_that_shrinks_to_the_optimum() {
    let mut bench = Bench::new(bowl, follows);
    let mut search = smooth(&bench, 1.0);
    assert_eq!(search.reach(), (0.5, 1.0));
    assert_eq!(bench.run(&mut search), Some(End::Converged));
    // A quadratic of two variables has 6 coefficients; 6 more; 20 rounds and 8 repeats at both levels.
    assert_eq!(bench.trace.len(), 2 * (20 * 12 + 8));
    assert!(bench.trace[..12].iter().all(|(level, p)| *level == Level::Lower && p[0] <= 0.8 && p[1] <= 0.7));
    assert!(bench.trace[..12].iter().any(|(_, p)| p[0] > 0.5), "{:?}", &bench.trace[..12]);
    let claim = search.claim().unwrap();
    assert!((claim.x[0] - 0.45).abs() < 0.02 && (claim.y[0] - 0.45).abs() < 0.02 && claim.settled, "{claim:?}");
    assert!((claim.value() - bowl(&claim.point())[0]).abs() < 1e-12, "the mean of equal values");
    assert!(search.reach().0 < 0.1, "{:?}", search.reach());
}

#[test]
fn noise_is_averaged_and_the_region_stays_as_wide_as_it_asks_for() {
    // A tenth of what F changes by, up and down without order.
    fn noise(p: &[f64]) -> f64 {
        0.05 * libm::sin(1e7 * (p[0] + 3.7 * p[1]))
    }
    let mut bench = Bench::new(|p| vec![bowl(p)[0] + noise(p)], |p| vec![follows(p)[0] + noise(p)]);
    bench.archive.noise = [0.035; 2];
    let mut search = smooth(&bench, 1.0);
    assert_eq!(bench.run(&mut search), Some(End::Converged));
    let claim = search.claim().unwrap();
    assert!((claim.x[0] - 0.45).abs() < 0.15 && (claim.y[0] - claim.x[0]).abs() < 0.15, "{claim:?}");
    let exact = {
        let mut bench = Bench::new(bowl, follows);
        let mut search = smooth(&bench, 1.0);
        bench.run(&mut search);
        search.reach().0
    };
    assert!(search.reach().0 > 2.0 * exact, "{:?} {exact}", search.reach());
}

#[test]
fn too_few_values_end_it_and_so_does_a_cut() {
    let mut bench = Bench::new(bowl, |p| if p[0] == 0.5 { vec![0.0] } else { vec![] });
    let mut search = smooth(&bench, 1.0);
    assert_eq!((bench.run(&mut search), search.claim()), (Some(End::Lost), None));
    let mut bench = Bench::new(bowl, follows);
    let mut search = smooth(&bench, 0.5);
    assert_eq!(search.reach().0, 0.25);
    search.cut();
    assert_eq!((bench.run(&mut search), bench.trace.len()), (Some(End::Spent), 0));
}

#[test]
fn the_region_moves_as_it_is_until_the_optimum_lies_well_inside_then_it_shrinks() {
    let mut bench = Bench::new(bowl, follows);
    let mut search = smooth(&bench, 0.2);
    // From (0.3, 0.2) to (0.45, 0.45) with a region of 0.1: two rounds and more of the same size.
    let mut sizes = Vec::new();
    for _ in 0..20 {
        assert!(bench.step(&mut search) && bench.step(&mut search));
        sizes.push(search.reach().0);
    }
    assert!(sizes[..2].iter().all(|size| (size - 0.1).abs() < 1e-15), "{sizes:?}");
    // Values are exact: from then on every round shrinks it to six tenths.
    let first = sizes.iter().position(|size| *size < 0.09).unwrap();
    let expected = |k: usize| 0.1 * 0.6_f64.powi(1 + k as i32);
    assert!(first < 8, "{sizes:?}");
    assert!(sizes[first..].iter().enumerate().all(|(k, size)| (size / expected(k) - 1.0).abs() < 1e-12), "{sizes:?}");
}

/// What a model says of the middle (0.3, 0.2) of a region of 0.1, and its value at a distance from there.
fn modelled(values: &[([f64; 2], f64)], noise: f64, at: [f64; 2]) -> Option<(f64, f64)> {
    let search = smooth(&Bench::new(bowl, follows), 0.2);
    let mut points = Points::new(2, 1);
    values.iter().for_each(|([u, v], value)| points.push(&[0.3 + u, 0.2 + v], &[*value]));
    let (model, row) = search.model(&points, noise)?;
    let mut change = [0.0];
    model.values(&at, &mut change);
    Some((row[0], row[0] + change[0]))
}

#[test]
fn a_model_sees_what_lies_within_one_and_a_half_regions() {
    // 2 + u, and what is not: beyond 0.15.
    let mut values = vec![([0.14, 0.0], 2.14), ([-0.14, 0.1], 1.86), ([0.0, 0.14], 2.0)];
    assert_eq!(modelled(&values, 0.0, [0.0; 2]), None, "two more than variables are needed");
    values.extend([([0.16, 0.0], 1e6), ([0.1, -0.14], 2.1)]);
    assert!(modelled(&values, 0.0, [0.0; 2]).is_some());
    values.extend([([0.1, 0.1], 2.1), ([0.05, -0.05], 2.05), ([0.12, 0.05], 2.12)]);
    let (middle, right) = modelled(&values, 0.0, [0.14, 0.0]).unwrap();
    assert!((middle - 2.0).abs() < 5e-3 && (right - 2.14).abs() < 1e-3, "{middle} {right}");
}

#[test]
fn a_model_sees_the_points_of_eight_rounds() {
    // A round has twelve; the first point, in the middle, is like no other.
    let with = |count: usize| {
        let ring = |i: usize| ([0.1 * libm::cos(i as f64), 0.1 * libm::sin(i as f64)], 1.0);
        let values: Vec<([f64; 2], f64)> = std::iter::once(([0.0; 2], 5.0)).chain((0..count).map(ring)).collect();
        modelled(&values, 0.0, [0.0; 2]).unwrap().0
    };
    assert!((with(96) - 1.0).abs() < 1e-6 && (with(95) - 1.0).abs() > 1e-2, "{} {}", with(96), with(95));
}

#[test]
fn exact_values_are_met_and_noisy_ones_are_smoothed() {
    // One of six values on a plane is off by 1.
    let plane = [[0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1], [0.07, 0.07]].map(|at| (at, 3.0 + at[0]));
    let values = [&plane[..], &[([-0.05, -0.05], 3.95)]].concat();
    let off = |noise: f64| (modelled(&values, noise, [-0.05, -0.05]).unwrap().1 - 3.95).abs();
    assert!(off(0.0) < 1e-3, "{}", off(0.0));
    // The more, the noisier they are.
    assert!(off(0.1) > off(0.01) && off(0.5) > 0.3, "{} {} {}", off(0.01), off(0.1), off(0.5));
}
