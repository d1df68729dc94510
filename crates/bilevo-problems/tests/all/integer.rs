//! The optima of `integer/NAME` are exact.

use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_problems::{names, problem};

/// Violation and minimised value.
fn evaluate(problem: &dyn BilevelProblem, level: Level, x: &[f64], y: &[f64]) -> (f64, f64) {
    let mut g = Vec::new();
    let value = problem.evaluate(level, x, y, &mut g).unwrap();
    (problem.spec().violation(level, &g), problem.spec().level(level).direction.flip(value))
}

/// The follower's best value at x and the leader's best among the answers that have it.
fn answered(problem: &dyn BilevelProblem, x: &[f64]) -> Option<(f64, f64)> {
    let mut best: Option<(f64, f64)> = None;
    for y in problem.spec().lower.space.enumerate(&problem.spec().lower.space.middle()) {
        let (violation, f) = evaluate(problem, Level::Lower, x, &y);
        if violation > 0.0 || best.is_some_and(|(known, _)| f > known + 1e-9) {
            continue;
        }
        let (unmet, value) = evaluate(problem, Level::Upper, x, &y);
        let value = if unmet > 0.0 { f64::INFINITY } else { value };
        best = match best {
            Some((known, other)) if f >= known - 1e-9 => Some((known.min(f), other.min(value))),
            _ => Some((f, value)),
        };
    }
    best
}

#[test]
fn enumeration_of_both_levels_gives_the_stated_optima() {
    let mut enumerated = 0;
    for name in names().filter(|name| name.starts_with("integer/")) {
        let problem = problem(name, None).unwrap();
        let spec = problem.spec();
        if !(spec.upper.space.is_finite() && spec.lower.space.is_finite()) {
            continue;
        }
        enumerated += 1;
        let all = spec.upper.space.enumerate(&spec.upper.space.middle());
        let best = all.filter_map(|x| answered(&*problem, &x)).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        let known = spec.best_known[0];
        let stated = (spec.lower.direction.flip(known.lower.unwrap()), spec.upper.direction.flip(known.upper));
        assert!((best.0 - stated.0).abs() < 1e-6 && (best.1 - stated.1).abs() < 1e-6, "{name}: {best:?} {stated:?}");
    }
    assert_eq!(enumerated, 11);
}

#[test]
fn no_decision_on_a_fine_grid_of_the_mixed_problem_is_better() {
    let problem = problem("integer/mixed", None).unwrap();
    let known = problem.spec().best_known[0].upper;
    let mut least = f64::INFINITY;
    for n in 0..=5 {
        for step in 0..=2_000 {
            let x = [f64::from(n), 0.005 * f64::from(step)];
            // f is quadratic in z at given k: z = (p/2 + (k - n)/4) / 1.25, within its bounds.
            let z = |k: f64| ((x[1] / 2.0 + (k - x[0]) / 4.0) / 1.25).clamp(0.0, 5.0);
            let answers = (0..=8).map(|k| [f64::from(k), z(f64::from(k))]);
            let f = |y: &[f64; 2]| evaluate(&*problem, Level::Lower, &x, y).1;
            let y = answers.min_by(|a, b| f(a).total_cmp(&f(b))).unwrap();
            least = least.min(evaluate(&*problem, Level::Upper, &x, &y).1);
        }
    }
    assert!(least >= known - 1e-9 && least < known + 1e-3, "{least} {known}");
}

#[test]
fn no_choice_of_sites_is_better_at_any_price_of_a_grid() {
    let problem = problem("integer/sites", None).unwrap();
    let spec = problem.spec();
    let known = spec.best_known[0].upper;
    let mut most = f64::NEG_INFINITY;
    for mut x in spec.upper.space.enumerate(&spec.upper.space.middle()) {
        for step in 0..=45 {
            x[12] = 1.0 + 0.2 * f64::from(step);
            // f is a sum of parabolas: half way between -1 and 1 its slope is where the answer lies.
            let slope = |j: usize| {
                let at = |v: f64| {
                    let mut y = [0.0; 3];
                    y[j] = v;
                    evaluate(&*problem, Level::Lower, &x, &y).1
                };
                (at(0.0) - at(1.0) + 0.5).clamp(0.0, 15.0)
            };
            let y = [slope(0), slope(1), slope(2)];
            most = most.max(-evaluate(&*problem, Level::Upper, &x, &y).1);
        }
    }
    assert!(most <= known + 1e-9 && most > known - 0.1, "{most} {known}");
}

/// F (maximised) and f of the instance written for this project.
const PACKING: (f64, f64) = (10.0, -7.0);

#[test]
fn instances_of_mibs_are_read_with_their_optima() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mps");
    let read = |name: &str| bilevo_problems::file::read(&folder.join(name));
    for (name, upper, lower) in [("moore_bard.mps", -22.0, 2.0), ("packing.mps", -PACKING.0, PACKING.1)] {
        let bilevo_problems::file::ProblemFile::Expressions(problem) = read(name).unwrap() else { panic!("{name}") };
        let space = &BilevelProblem::spec(&problem).upper.space;
        let all = space.enumerate(&space.middle());
        let best = all.filter_map(|x| answered(&problem, &x)).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!((best.1, best.0), (upper, lower), "{name}");
    }
    let error = read("alone.mps").err().unwrap().to_string();
    assert!(error.contains("alone.mps") && error.contains("cannot be read"), "{error}");
}
