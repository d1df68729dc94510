//! Rotated instances: the optimum is in the box, has SMD's values, and the follower cannot do better;
//! an instance is the same bits everywhere; names.

use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_core::rng::{Purpose, Streams};
use bilevo_problems::{ProblemError, info, optima, problem};

/// Ten variables turned there and back, times slopes of some units.
const ROUNDING: f64 = 1e-12;

const SIZES: [(usize, usize); 3] = [(2, 3), (5, 5), (10, 10)];

fn names() -> impl Iterator<Item = (String, String)> {
    (1..=12).flat_map(|n| [1, 2, 40].map(|k| (format!("smd{n}"), format!("smd{n}-rotated:{k}"))))
}

fn evaluate(problem: &dyn BilevelProblem, level: Level, x: &[f64], y: &[f64]) -> (f64, f64) {
    let mut g = Vec::new();
    let value = problem.evaluate(level, x, y, &mut g).unwrap();
    (value, problem.spec().violation(level, &g))
}

#[test]
fn the_optimum_is_inside_the_box_feasible_and_has_the_values_of_the_plain_problem() {
    for ((plain, name), dims) in names().flat_map(|names| SIZES.map(|dims| (names.clone(), Some(dims)))) {
        let (rotated, plain) = (problem(&name, dims).unwrap(), problem(&plain, dims).unwrap());
        assert_eq!(rotated.spec().best_known, plain.spec().best_known, "{name}");
        let (x, y) = optima(&name, dims).pop().unwrap();
        for (level, point, known) in [
            (Level::Upper, &x, rotated.spec().best_known[0].upper),
            (Level::Lower, &y, rotated.spec().best_known[0].lower.unwrap()),
        ] {
            let space = &rotated.spec().level(level).space;
            assert!(point.iter().zip(space.iter()).all(|(&p, v)| v.low < p && p < v.high), "{name} {dims:?}");
            let (value, violation) = evaluate(&*rotated, level, &x, &y);
            assert!((value - known).abs() <= ROUNDING && violation <= ROUNDING, "{name} {dims:?}: {value} {violation}");
        }
    }
}

#[test]
fn no_answer_near_or_far_beats_the_followers_at_the_optimum() {
    for (number, ((_, name), dims)) in names().flat_map(|n| SIZES.map(|dims| (n.clone(), Some(dims)))).enumerate() {
        let problem = problem(&name, dims).unwrap();
        let (x, y) = optima(&name, dims).pop().unwrap();
        let (best, _) = evaluate(&*problem, Level::Lower, &x, &y);
        let mut stream = Streams::new(7).open(Purpose::Sample, 0, number as u64);
        let (mut feasible, mut worse) = (0, 0);
        for draw in 0..4000 {
            let scale = [1e-6, 1e-4, 1e-2, 0.1, 1.0][draw % 5];
            let space = &problem.spec().lower.space;
            let other: Vec<f64> =
                y.iter().zip(space.iter()).map(|(y, v)| v.clamp(y + scale * stream.normal())).collect();
            let (value, violation) = evaluate(&*problem, Level::Lower, &x, &other);
            if violation <= 1e-12 {
                feasible += 1;
                worse += usize::from(value > best);
                assert!(value >= best - 1e-10, "{name} {dims:?}: {value} < {best} at {other:?}");
            }
        }
        assert!(feasible > 50 && 2 * worse > feasible, "{name} {dims:?}: {feasible} feasible, {worse} worse");
    }
}

/// Without constraints the follower's optimum in the inside of the plain box is a stationary point.
#[test]
fn the_followers_gradient_vanishes_at_the_optimum() {
    for (number, instance) in [1, 2, 3, 5, 6, 7, 8].into_iter().flat_map(|n| [1, 2, 40].map(|k| (n, k))) {
        let name = format!("smd{number}-rotated:{instance}");
        let problem = problem(&name, None).unwrap();
        let (x, y) = optima(&name, None).pop().unwrap();
        for i in 0..y.len() {
            let at = |step: f64| {
                let mut moved = y.clone();
                moved[i] += step;
                evaluate(&*problem, Level::Lower, &x, &moved).0
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(slope.abs() < 1e-5, "{name}: slope {slope} along variable {i}");
            // Turned: no variable is without effect. SMD6's answers fill a line that is no axis.
            assert!(at(1e-2) > at(0.0), "{name}: variable {i}");
        }
    }
}

#[test]
fn an_instance_is_the_same_bits_and_others_are_others() {
    let fingerprint = |name: &str| {
        let problem = problem(name, None).unwrap();
        let middle = |level| problem.spec().level(level).space.iter().map(|v| 0.25 * v.low + 0.75 * v.high).collect();
        let (x, y): (Vec<f64>, Vec<f64>) = (middle(Level::Upper), middle(Level::Lower));
        let values = [Level::Upper, Level::Lower].map(|level| evaluate(&*problem, level, &x, &y).0.to_bits());
        (x[0].to_bits(), y[2].to_bits(), values)
    };
    assert_eq!(fingerprint("smd2-rotated:7"), fingerprint("smd2-rotated:7"));
    assert_eq!(fingerprint("smd2-rotated"), fingerprint("smd2-rotated:1"));
    assert_ne!(fingerprint("smd2-rotated:7"), fingerprint("smd2-rotated:8"));
    // The same numbers on every system and in every version: published results refer to instances.
    let (x, y, values) = fingerprint("smd2-rotated:7");
    assert_eq!((x, y, values), PINNED);
}

const PINNED: (u64, u64, [u64; 2]) =
    (4590184375637129464, 4607905426432292420, [13854071072254929488, 4635359664009061648]);

#[test]
fn instances_are_named_in_one_way() {
    assert_eq!(problem("smd3-rotated:12", Some((5, 5))).unwrap().spec().name, "smd3-rotated:12");
    assert_eq!(info("smd3-rotated:12").unwrap().name, "smd3-rotated");
    for name in ["smd1-rotated:0", "smd1-rotated:", "smd1-rotated:07", "smd1-rotated:-1", "smd1-rotated:99999999999"] {
        assert_eq!(problem(name, None).err(), Some(ProblemError::Instance { name: name.into() }));
        assert!(optima(name, None).is_empty());
    }
    for name in ["smd1:2", "tp1:1", "basblib/as_1984_01:1", "smd13-rotated:1"] {
        assert!(matches!(problem(name, None), Err(ProblemError::Unknown { .. })), "{name}");
    }
}
