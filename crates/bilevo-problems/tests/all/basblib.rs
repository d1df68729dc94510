//! The best known values of BASBLib, BOLIB and `examples/problems` against a search that knows nothing but
//! the values: no leader's decision on a grid, answered by a follower that searches its whole box, is
//! better.

use bilevo_core::config::PositionKind;
use bilevo_core::problem::{BilevelProblem, Level, LevelSpec, ProblemSpec};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_problems::file::{self, ProblemFile};
use bilevo_problems::{BoxedProblem, catalogue, optima, problem};

/// Follower's answers with values this close count as equally good.
const TIE: f64 = 1e-8;
/// Violations up to here are rounding.
const FEASIBLE: f64 = 1e-9;

fn evaluate(problem: &dyn BilevelProblem, level: Level, x: &[f64], y: &[f64]) -> (f64, f64) {
    let mut g = Vec::new();
    let value = problem.evaluate(level, x, y, &mut g).unwrap();
    (problem.spec().violation(level, &g), problem.spec().level(level).direction.flip(value))
}

/// Points of a regular grid over a box; drawn at random where a grid would be too coarse or too large.
fn grid(spec: &LevelSpec, points: usize) -> Vec<Vec<f64>> {
    if spec.dim() > 6 {
        let mut stream = Streams::new(4).open(Purpose::Sample, 0, 0);
        return (0..points).map(|_| spec.space.draw(&mut stream)).collect();
    }
    let per_side = (points as f64).powf(1.0 / spec.dim() as f64).round() as usize | 1;
    let mut all = vec![vec![]];
    for &(low, high) in spec.space.bounds() {
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
    let space = &problem.spec().lower.space;
    let (mut y, mut at) = (start.to_vec(), evaluate(problem, Level::Lower, x, start));
    let mut scale = 0.1;
    for _ in 0..600 {
        let moved: Vec<f64> =
            y.iter().zip(space.iter()).map(|(y, v)| v.clamp(y + scale * v.width() * stream.normal())).collect();
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

/// The one without an optimum.
const INFEASIBLE: &str = "bolib/jointc1";

/// Random steps get stuck in acute corners and on curved borders of these followers.
const STUCK: [&str; 6] = [
    "bolib/anetal2009",
    "bolib/benayedblair1990a",
    "bolib/floudaszlobec1998",
    "bolib/ludebsinha2016e",
    "bolib/niewangye2017ex61",
    "bolib/outrata1993ex32",
];

/// A problem with its best known F, minimised, and a point where it is reached.
struct Known {
    name: String,
    problem: BoxedProblem,
    value: f64,
    point: (Vec<f64>, Vec<f64>),
}

impl Known {
    fn new(name: &str, problem: BoxedProblem, point: (Vec<f64>, Vec<f64>)) -> Self {
        let spec = problem.spec();
        let value = spec.upper.direction.flip(spec.best_known[0].upper);
        Known { name: name.into(), problem, value, point }
    }

    fn slack(&self) -> f64 {
        2e-3 * (1.0 + self.value.abs())
    }
}

fn built_in(collection: &str) -> impl Iterator<Item = Known> {
    let names = catalogue().map(|info| info.name).filter(move |name| name.starts_with(collection));
    names
        .filter(|name| *name != INFEASIBLE)
        .map(|name| Known::new(name, problem(name, None).unwrap(), optima(name, None).remove(0)))
}

fn own() -> impl Iterator<Item = Known> {
    let folder = format!("{}/../../examples/problems", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| {
        let ProblemFile::Expressions(problem) = file::read(&path).unwrap() else { panic!("{path:?}") };
        let point = problem.optima().remove(0);
        Known::new(&path.file_stem().unwrap().to_string_lossy(), Box::new(problem), point)
    })
}

/// Those on which random steps find the answer that counts. Where an equation binds a follower of our
/// own or of BOLIB, or the worst of equally good answers counts, the file says why the value is right.
fn collection() -> impl Iterator<Item = Known> {
    let found = |spec: &ProblemSpec| spec.lower.equalities == 0 && spec.position == PositionKind::Any;
    let others = built_in("bolib/").filter(|known| !STUCK.contains(&&*known.name)).chain(own());
    built_in("basblib/").chain(others.filter(move |known| found(known.problem.spec())))
}

#[test]
fn the_stated_points_are_feasible_and_have_the_stated_values() {
    for known in built_in("basblib/").chain(built_in("bolib/")).chain(own()) {
        let (x, y) = &known.point;
        let [upper, lower] = [Level::Upper, Level::Lower].map(|level| evaluate(&*known.problem, level, x, y));
        assert!((upper.1 - known.value).abs() < 1e-4 * (1.0 + known.value.abs()), "{}: {upper:?}", known.name);
        assert!(upper.0 < 1e-6 && lower.0 < 1e-6, "{}: {upper:?} {lower:?}", known.name);
    }
}

#[test]
fn no_decision_on_a_grid_is_better_than_the_best_known() {
    let mut better = Vec::new();
    for (number, known) in collection().enumerate() {
        let (problem, spec) = (&*known.problem, known.problem.spec());
        let mut stream = Streams::new(5).open(Purpose::Sample, 0, number as u64);
        let answers = grid(&spec.lower, 400);
        let found = grid(&spec.upper, 250)
            .iter()
            .filter_map(|x| optimistic(problem, x, &answers, &mut stream))
            .fold(f64::INFINITY, f64::min);
        if found < known.value - known.slack() {
            better.push(format!("{}: {found} is better than {}", known.name, known.value));
        }
    }
    assert_eq!(better, Vec::<String>::new());
}

#[test]
fn the_search_finds_the_best_known_where_the_grid_has_it() {
    // The check above could not fail if its follower never found an answer.
    let mut missed = Vec::new();
    for (number, known) in collection().enumerate() {
        let mut answers = grid(&known.problem.spec().lower, 400);
        let (x, y) = known.point.clone();
        answers.push(y);
        let mut stream = Streams::new(6).open(Purpose::Sample, 0, number as u64);
        let found = optimistic(&*known.problem, &x, &answers, &mut stream);
        if !found.is_some_and(|found| (found - known.value).abs() <= known.slack()) {
            missed.push(format!("{}: {found:?}, known {}", known.name, known.value));
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}

#[test]
fn there_are_thirty_sixty_and_thirty_four() {
    let counts = ["basblib/", "bolib/"].map(|collection| built_in(collection).count());
    assert_eq!((counts, own().count()), ([30, 60], 34));
}

#[test]
fn no_answer_drawn_near_or_far_is_better_than_the_stated_one() {
    for (number, known) in built_in("bolib/").enumerate() {
        let (problem, (x, y)) = (&*known.problem, &known.point);
        let (_, best) = evaluate(problem, Level::Lower, x, y);
        let mut stream = Streams::new(8).open(Purpose::Sample, 0, number as u64);
        for draw in 0..6000 {
            let scale = [1e-6, 1e-4, 1e-2, 0.1, 1.0][draw % 5];
            let variables = y.iter().zip(problem.spec().lower.space.iter());
            let moved: Vec<f64> = variables.map(|(y, v)| v.clamp(y + scale * v.width() * stream.normal())).collect();
            let (violation, value) = evaluate(problem, Level::Lower, x, &moved);
            let slack = 1e-6 * (1.0 + best.abs());
            assert!(violation > 1e-12 || value >= best - slack, "{}: {value} < {best} at {moved:?}", known.name);
        }
    }
}

#[test]
fn the_infeasible_one_has_no_feasible_decision() {
    let problem = problem(INFEASIBLE, None).unwrap();
    let mut stream = Streams::new(7).open(Purpose::Sample, 0, 0);
    let answers = grid(&problem.spec().lower, 400);
    let feasible = |x: &&Vec<f64>| optimistic(&*problem, x, &answers, &mut stream).is_some();
    assert_eq!(grid(&problem.spec().upper, 250).iter().filter(feasible).count(), 0);
}
