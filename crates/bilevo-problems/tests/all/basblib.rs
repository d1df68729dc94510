//! The best known values of BASBLib against a search that knows nothing but the values: no leader's
//! decision on a grid, answered by a follower that searches its whole box, is better.

use bilevo_core::problem::{BilevelProblem, Level, LevelSpec};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_problems::{BoxedProblem, catalogue, problem};

/// Follower's answers with values this close count as equally good.
const TIE: f64 = 1e-8;
/// Violations up to here are rounding.
const FEASIBLE: f64 = 1e-9;

fn evaluate(problem: &dyn BilevelProblem, level: Level, x: &[f64], y: &[f64]) -> (f64, f64) {
    let mut g = Vec::new();
    let value = problem.evaluate(level, x, y, &mut g).unwrap();
    (problem.spec().violation(level, &g), value)
}

/// Points of a regular grid over a box.
fn grid(spec: &LevelSpec, points: usize) -> Vec<Vec<f64>> {
    let per_side = (points as f64).powf(1.0 / spec.dim() as f64).round() as usize | 1;
    let mut all = vec![vec![]];
    for &(low, high) in &spec.bounds {
        let at = |i: usize| low + (high - low) * i as f64 / (per_side - 1) as f64;
        all = all.iter().flat_map(|p| (0..per_side).map(|i| [&p[..], &[at(i)]].concat())).collect();
    }
    all
}

/// Less violation first, then the smaller value.
fn better(a: (f64, f64), b: (f64, f64)) -> bool {
    let (a, b) = ((a.0.max(FEASIBLE), a.1), (b.0.max(FEASIBLE), b.1));
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// Random steps from a point, longer after a success and shorter after a failure.
fn climb(problem: &dyn BilevelProblem, x: &[f64], start: &[f64], stream: &mut Stream) -> (Vec<f64>, (f64, f64)) {
    let bounds = &problem.spec().lower.bounds;
    let (mut y, mut at) = (start.to_vec(), evaluate(problem, Level::Lower, x, start));
    let mut scale = 0.1;
    for _ in 0..600 {
        let moved: Vec<f64> =
            y.iter().zip(bounds).map(|(v, (l, h))| (v + scale * (h - l) * stream.normal()).clamp(*l, *h)).collect();
        let there = evaluate(problem, Level::Lower, x, &moved);
        scale *= if better(there, at) { 1.7 } else { 0.88 };
        if better(there, at) {
            (y, at) = (moved, there);
        }
        if scale < 1e-12 {
            break;
        }
    }
    (y, at)
}

/// The best F over the equally good answers to x, if any is feasible at both levels.
fn optimistic(problem: &dyn BilevelProblem, x: &[f64], answers: &[Vec<f64>], stream: &mut Stream) -> Option<f64> {
    const STARTS: usize = 6;
    let mut seen: Vec<(Vec<f64>, (f64, f64))> =
        answers.iter().map(|y| (y.clone(), evaluate(problem, Level::Lower, x, y))).collect();
    seen.sort_by(|a, b| (a.1.0.max(FEASIBLE), a.1.1).partial_cmp(&(b.1.0.max(FEASIBLE), b.1.1)).unwrap());
    let climbed: Vec<_> = seen.iter().take(STARTS).map(|(y, _)| climb(problem, x, y, stream)).collect();
    seen.extend(climbed);
    let best = seen.iter().filter(|(_, at)| at.0 <= FEASIBLE).map(|(_, at)| at.1).fold(f64::INFINITY, f64::min);
    seen.iter()
        .filter(|(_, at)| at.0 <= FEASIBLE && at.1 <= best + TIE)
        .map(|(y, _)| evaluate(problem, Level::Upper, x, y))
        .filter(|(violation, _)| *violation <= FEASIBLE)
        .map(|(_, value)| value)
        .reduce(f64::min)
}

fn collection() -> Vec<(&'static str, BoxedProblem)> {
    let names = catalogue().map(|info| info.name).filter(|name| name.starts_with("basblib/"));
    names.map(|name| (name, problem(name, None).unwrap())).collect()
}

#[test]
fn no_decision_on_a_grid_is_better_than_the_best_known() {
    for (number, (name, problem)) in collection().into_iter().enumerate() {
        let spec = problem.spec();
        let known = spec.best_known[0].upper;
        let mut stream = Streams::new(5).open(Purpose::Sample, 0, number as u64);
        let answers = grid(&spec.lower, 400);
        let found = grid(&spec.upper, 250)
            .iter()
            .filter_map(|x| optimistic(&*problem, x, &answers, &mut stream))
            .fold(f64::INFINITY, f64::min);
        let slack = 2e-3 * (1.0 + known.abs());
        assert!(found >= known - slack, "{name}: {found} is better than the known {known}");
    }
}

#[test]
fn the_search_finds_the_best_known_where_the_grid_has_it() {
    // The check above could not fail if its follower never found an answer.
    for (number, (name, problem)) in collection().into_iter().enumerate() {
        let known = problem.spec().best_known[0].upper;
        let mut answers = grid(&problem.spec().lower, 400);
        let (x, y) = bilevo_problems::optima(name, None).remove(0);
        answers.push(y);
        let mut stream = Streams::new(6).open(Purpose::Sample, 0, number as u64);
        let found = optimistic(&*problem, &x, &answers, &mut stream).expect(name);
        assert!((found - known).abs() <= 2e-3 * (1.0 + known.abs()), "{name}: {found}, known {known}");
    }
}

#[test]
fn there_are_thirty() {
    assert_eq!(collection().len(), 30);
    assert!(collection().iter().all(|(_, problem)| !problem.spec().best_known.is_empty()));
}
