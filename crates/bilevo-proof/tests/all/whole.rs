//! Whole numbers: everything can be tried, so that both questions have exact answers.

use crate::families::{self, Random};
use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_problems::file::ExpressionProblem;
use bilevo_proof::{FollowerVerdict, LeaderVerdict, Limits, Problem, follower, leader};

/// Two whole numbers at each level; every fourth follower has constraints that no x meets alone.
fn random_problem(random: &mut Random, index: u64) -> String {
    let names = ["x1", "x2", "y1", "y2"];
    let mut number = |size: f64| format!("({:.1})", random.within(-size, size));
    let mut quadratic = || {
        let mut terms: Vec<String> = names.iter().map(|v| format!("{}*{v}", number(3.0))).collect();
        for (i, a) in names.iter().enumerate() {
            terms.extend(names[i..].iter().map(|b| format!("{}*{a}*{b}", number(1.0))));
        }
        terms.join(" + ")
    };
    let (upper, lower) = (quadratic(), quadratic());
    let below = match index % 4 {
        0 => vec!["y1 + y2 <= 3"],
        1 => vec!["2*y1 - y2 <= x1", "y1*y2 <= 4"],
        2 => vec!["y1 + y2 == x2"],
        _ => vec!["abs(y1 - x1) <= 1.5", "floor(y2/2) <= 0.5"],
    };
    let boxes = "[0, 3]";
    format!(
        "[upper]\nminimize = \"{upper}\"\nvariables = {{ x1 = {{ integer = {boxes} }}, x2 = {{ integer = {boxes} }} }}\n\
         subject_to = [\"x1 + y1 <= 5\"]\n\
         [lower]\nminimize = \"{lower}\"\nvariables = {{ y1 = {{ integer = {boxes} }}, y2 = {{ integer = {boxes} }} }}\n\
         subject_to = {below:?}\n"
    )
}

/// Value of a level where its constraints are met, else infinite.
fn value(file: &ExpressionProblem, at: Level, x: &[f64], y: &[f64]) -> f64 {
    let mut g = Vec::new();
    let value = file.evaluate(at, x, y, &mut g).unwrap();
    if file.spec().violation(at, &g) <= 0.0 { value } else { f64::INFINITY }
}

fn pairs() -> impl Iterator<Item = [f64; 2]> {
    (0..16u8).map(|k| [f64::from(k / 4), f64::from(k % 4)])
}

#[test]
fn both_questions_are_answered_as_by_trying_everything() {
    let mut random = Random(4);
    let limits = Limits::work(20_000_000);
    let mut refuted = 0;
    for index in 0..40 {
        let text = random_problem(&mut random, index);
        let file = families::read(&text);
        let problem = Problem::new(&file).unwrap();
        let mut best = f64::INFINITY;
        for x in pairs() {
            let least = pairs().map(|y| value(&file, Level::Lower, &x, &y)).fold(f64::INFINITY, f64::min);
            for y in pairs() {
                let f = value(&file, Level::Lower, &x, &y);
                // Ties may differ by rounding; all else differs by far more.
                let is_best = f < f64::INFINITY && f <= least + 1e-9;
                if is_best {
                    best = best.min(value(&file, Level::Upper, &x, &y));
                }
                // Not all are asked about: some of the right ones, fewer of the others.
                if f < f64::INFINITY && (is_best || random.unit() < 0.1) && random.unit() < 0.3 {
                    let proof = follower(&problem, &x, &y, 1e-6, &limits);
                    let right = if is_best { FollowerVerdict::Proven } else { FollowerVerdict::Refuted };
                    assert_eq!(proof.verdict, right, "{x:?} {y:?}: {proof:?}\n{text}");
                    refuted += usize::from(!is_best);
                }
            }
        }
        if best < f64::INFINITY {
            let proof = leader(&problem, best, 1e-6, &limits);
            assert_eq!(proof.verdict, LeaderVerdict::Proven, "{best}: {proof:?}\n{text}");
            let proof = leader(&problem, best + 0.5, 1e-6, &limits);
            let found = proof.better.as_ref().map(|better| better.value);
            assert!(proof.verdict == LeaderVerdict::Better && proof.stopped.is_none(), "{proof:?}\n{text}");
            assert!(found.is_some_and(|found| (found - best).abs() < 1e-5), "{best}: {proof:?}\n{text}");
        } else {
            // Nobody answers: no value is ever reached.
            assert_eq!(leader(&problem, 1e6, 1e-6, &limits).verdict, LeaderVerdict::Proven, "{text}");
        }
    }
    assert!(refuted > 20, "{refuted}");
}

/// An answer between two whole numbers is none, however small its f.
#[test]
fn answers_between_whole_numbers_are_refuted() {
    let file = families::read(
        "[upper]\nminimize = \"x\"\nvariables = { x = [0, 1] }\n\
         [lower]\nminimize = \"(y - 1.5)^2\"\nvariables = { y = { integer = [0, 3] } }\n",
    );
    let problem = Problem::new(&file).unwrap();
    let verdict = |y: f64| follower(&problem, &[0.5], &[y], 1e-6, &Limits::work(1_000_000)).verdict;
    assert_eq!([1.0, 1.5, 2.0, 3.0].map(verdict), {
        use FollowerVerdict::{Proven, Refuted};
        [Proven, Refuted, Proven, Refuted]
    });
}

/// The problems with whole numbers that come with the program: none of their optima is beaten, and no false claim
/// is proven.
#[test]
fn integer_problems_keep_their_optima() {
    for file in crate::files::folder("crates/bilevo-problems/integer") {
        let spec = file.spec();
        let (Ok(problem), Some(best)) = (Problem::new(&file), spec.best_known.first()) else { continue };
        let limits = Limits::work(2_000_000);
        for (x, y) in &file.optima() {
            let proof = follower(&problem, x, y, 1e-6, &limits);
            assert_ne!(proof.verdict, FollowerVerdict::Refuted, "{}: {proof:?}", spec.name);
        }
        let proof = leader(&problem, best.upper, 1e-4, &limits);
        assert_ne!(proof.verdict, LeaderVerdict::Better, "{}: {proof:?}", spec.name);
        for shift in [0.002, 0.02, 0.2] {
            let claim = best.upper + spec.upper.direction.flip(shift * best.upper.abs().max(1.0));
            let proof = leader(&problem, claim, 1e-4, &Limits::work(500_000));
            assert_ne!(proof.verdict, LeaderVerdict::Proven, "{} with {shift}: {proof:?}", spec.name);
        }
    }
}
