//! The stated optima are feasible, have the best known values, and the follower cannot do better.

use bilevo_core::problem::BestKnown;
use bilevo_core::problem::{BilevelProblem, Level, LevelSpec};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_problems::{BoxedProblem, catalogue, optima, problem};

/// Active constraints are sums of at most some dozen terms of size 1 here: rounding stays far below.
const FEASIBLE: f64 = 1e-12;

const SIZES: [(usize, usize); 9] = [(2, 3), (3, 3), (4, 5), (5, 5), (6, 8), (10, 10), (7, 12), (19, 11), (19, 28)];

fn evaluate(problem: &dyn BilevelProblem, level: Level, x: &[f64], y: &[f64]) -> (f64, f64) {
    let mut g = Vec::new();
    let value = problem.evaluate(level, x, y, &mut g).unwrap();
    (value, problem.spec().violation(level, &g))
}

/// A problem with one of its optima: label, problem, values, x, y.
type Case = (String, BoxedProblem, BestKnown, Vec<f64>, Vec<f64>);

fn is_exact(name: &str) -> bool {
    !name.ends_with("-rotated")
        && !name.starts_with("bolib/")
        && !["indefinite", "two-bowls", "planted"].contains(&name)
}

/// Every known optimum of every problem, at every size tried; random ones and BOLIB, whose points are
/// not exact, have tests of their own.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for info in catalogue().filter(|info| is_exact(info.name)) {
        let sizes: &[_] = if info.scalable { &SIZES } else { &[info.default_dims] };
        for &(m, n) in sizes {
            let points = optima(info.name, Some((m, n)));
            let known = problem(info.name, Some((m, n))).unwrap().spec().best_known.clone();
            assert_eq!(points.len(), known.len(), "{} {m}+{n}", info.name);
            for (number, ((x, y), known)) in points.into_iter().zip(known).enumerate() {
                let label = format!("{} {m}+{n} optimum {}", info.name, number + 1);
                cases.push((label, problem(info.name, Some((m, n))).unwrap(), known, x, y));
            }
        }
    }
    cases
}

fn inside(spec: &LevelSpec, v: &[f64]) -> bool {
    spec.space.contains(v)
}

#[test]
fn optima_are_known_where_claimed() {
    // tp2, tp8, as_1984_01 and tmh_2007_01 have two.
    let (smd, tp, basblib, integer) = (12 * SIZES.len(), 12, 32, 13);
    assert_eq!(cases().len(), smd + tp + basblib + integer);
    for name in ["gold-mining", "decision-making", "decision-making-as-run"] {
        assert!(optima(name, None).is_empty() && problem(name, None).unwrap().spec().best_known.is_empty());
    }
}

#[test]
fn optima_are_feasible_and_in_the_box() {
    for (label, problem, _, x, y) in cases() {
        assert!(inside(&problem.spec().upper, &x) && inside(&problem.spec().lower, &y), "{label}");
        for level in [Level::Upper, Level::Lower] {
            let (_, violation) = evaluate(&*problem, level, &x, &y);
            assert!(violation <= FEASIBLE, "{label}: {level} violation {violation:e}");
        }
    }
}

#[test]
fn optima_have_the_best_known_values() {
    for (label, problem, best, x, y) in cases() {
        for (level, known) in [(Level::Upper, best.upper), (Level::Lower, best.lower.unwrap())] {
            let (value, _) = evaluate(&*problem, level, &x, &y);
            let error = (value - known).abs();
            assert!(error <= 1e-14 * known.abs().max(1.0), "{label}: {level} {value}, known {known}");
        }
    }
}

#[test]
fn smd_optimal_values_are_the_published_ones() {
    let published = |number| match number {
        10 => (4.0, 3.0),
        11 => (-1.0, 1.0),
        12 => (3.0, 4.0),
        _ => (0.0, 0.0),
    };
    for number in 1..=12 {
        let best = problem(&format!("smd{number}"), None).unwrap().spec().best_known[0];
        let (upper, lower) = published(number);
        assert!((best.upper - upper).abs() < 1e-12 && (best.lower.unwrap() - lower).abs() < 1e-12, "smd{number}");
    }
}

/// `centre` moved by a Gauss step of `scale` in one coordinate or in all, kept in the box.
fn perturbed(stream: &mut Stream, centre: &[f64], spec: &LevelSpec, scale: f64) -> Vec<f64> {
    let only = stream.below(2 * centre.len());
    let mut moved = centre.to_vec();
    for (i, (value, variable)) in moved.iter_mut().zip(spec.space.iter()).enumerate() {
        if only >= centre.len() || only == i {
            *value = variable.nearest(*value + scale * stream.normal());
        }
    }
    moved
}

/// Problems whose constraints leave the follower a single point at the optimum.
const SINGLE: [&str; 6] = [
    "tp6",
    "basblib/dd_2012_01",
    "basblib/b_1984_01",
    "basblib/lh_1994_01",
    "basblib/sib_1997_02",
    "basblib/sib_1997_02v",
];

#[test]
fn no_follower_answer_near_or_far_beats_the_optimum() {
    for (case, (label, problem, _, x, y)) in cases().into_iter().enumerate() {
        let (best, _) = evaluate(&*problem, Level::Lower, &x, &y);
        let mut stream = Streams::new(7).open(Purpose::Sample, 0, case as u64);
        let mut feasible = 0;
        // y² <= 0 allows y = 0 and nothing near it; rounding is no excuse for 1e-6.
        let tolerance = if problem.spec().name == "basblib/dd_2012_01" { 0.0 } else { FEASIBLE };
        for draw in 0..6000 {
            let scale = [1e-6, 1e-4, 1e-2, 0.1, 1.0, 5.0][draw % 6];
            let other = perturbed(&mut stream, &y, &problem.spec().lower, scale);
            let (value, violation) = evaluate(&*problem, Level::Lower, &x, &other);
            if violation <= tolerance {
                feasible += 1;
                let flip = |value| problem.spec().lower.direction.flip(value);
                assert!(flip(value) >= flip(best) - 1e-10, "{label}: {value} is better than {best} at {other:?}");
            }
        }
        // Elsewhere the draws must really have compared.
        let single = SINGLE.contains(&problem.spec().name.as_str());
        assert!(feasible > 100 || single, "{label}: {feasible} feasible draws");
    }
}

#[test]
fn tp6_leaves_the_follower_one_point() {
    let tp6 = problem("tp6", None).unwrap();
    let (x, y) = optima("tp6", None).remove(0);
    let active = |y: &[f64]| {
        let mut g = Vec::new();
        tp6.evaluate(Level::Lower, &x, y, &mut g).unwrap();
        (g[0], g[2])
    };
    // Two active constraints that bound y1 from above and from below, the more so the larger y2.
    let (above, below) = active(&y);
    assert!(above.abs() < 1e-12 && below.abs() < 1e-12);
    let (above, _) = active(&[y[0] + 0.01, y[1]]);
    let (_, below) = active(&[y[0] - 0.01, y[1]]);
    assert!(above > 0.0 && below > 0.0);
    let (above, below) = active(&[y[0], 0.01]);
    assert!(above > 0.0 && below > 0.0);
}

#[test]
fn smd9_is_feasible_in_the_first_half_of_each_shell() {
    let smd9 = problem("smd9", None).unwrap();
    let constraint = |level, x: &[f64], y: &[f64]| {
        let mut g = Vec::new();
        smd9.evaluate(level, x, y, &mut g).unwrap();
        g[0]
    };
    // S = 1.25 lies in the first half of its unit, S = 1.75 in the second.
    let (inner, outer) = ([1.0, 0.5], [-1.0, -(0.75f64.sqrt())]);
    assert!((constraint(Level::Upper, &inner, &[0.0; 3]) + 0.25).abs() < 1e-12);
    assert!((constraint(Level::Upper, &outer, &[0.0; 3]) - 0.25).abs() < 1e-12);
    assert!((constraint(Level::Lower, &[0.0; 2], &[1.0, 0.0, 0.5]) + 0.25).abs() < 1e-12);
    assert!((constraint(Level::Lower, &[0.0; 2], &[1.0, 0.75f64.sqrt(), 0.0]) - 0.25).abs() < 1e-12);
}

#[test]
fn large_cubic_groups_have_a_better_answer_than_the_stated_one() {
    // Twenty members of c in smd10: two at −2.33 and eighteen at 0.83 are feasible and better.
    let dims = Some((2, 21));
    assert!(optima("smd10", dims).is_empty() && optima("smd12", dims).is_empty());
    let smd10 = problem("smd10", dims).unwrap();
    assert!(smd10.spec().best_known.is_empty());
    let stated = 1.0 / 19f64.sqrt();
    let x = [1.0, 1.0];
    let answer = |c: [f64; 20]| {
        let y: Vec<f64> = c.into_iter().chain([std::f64::consts::FRAC_PI_4]).collect();
        evaluate(&*smd10, Level::Lower, &x, &y)
    };
    let mut split = [0.8297; 20];
    (split[0], split[1]) = (-2.33, -2.33);
    let ((stated, _), (better, violation)) = (answer([stated; 20]), answer(split));
    assert_eq!(violation, 0.0);
    assert!(better < stated - 0.5, "{better} {stated}");
}

#[test]
fn smd12_has_points_better_for_the_leader_than_the_stated_one() {
    let smd12 = problem("smd12", Some((5, 5))).unwrap();
    let (x, mut y) = optima("smd12", Some((5, 5))).remove(0);
    let best = smd12.spec().best_known[0];
    // Close the first gap down to b itself and leave the rest of the unit sum to the second.
    (y[3], y[4]) = (0.0, (x[4] - (1.0 - x[3] * x[3]).sqrt()).atan());
    let (lower, lower_violation) = evaluate(&*smd12, Level::Lower, &x, &y);
    let (upper, upper_violation) = evaluate(&*smd12, Level::Upper, &x, &y);
    assert!(lower_violation <= FEASIBLE && upper_violation <= FEASIBLE);
    assert!((lower - best.lower.unwrap()).abs() < 1e-12);
    assert!(upper < best.upper - 0.04, "{upper} {}", best.upper);
}
