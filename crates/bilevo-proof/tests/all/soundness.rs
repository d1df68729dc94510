//! Nothing false is proven: random problems against brute force.

use crate::{brute, families};
use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_problems::file::ExpressionProblem;
use bilevo_proof::testing::narrow;
use bilevo_proof::{Decision, FollowerVerdict, LeaderVerdict, Limits, Problem, follower, leader};
use families::Random;

/// What the checks of one problem found.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) claims: u64,
    pub(crate) proven: u64,
    pub(crate) true_claims: u64,
    pub(crate) points: u64,
    pub(crate) wrong: Vec<String>,
}

/// Tries false claims on a problem with one variable at each level, and regions around its answers.
pub(crate) fn check(text: &str, seed: u64, tally: &mut Tally) {
    let file = families::read(text);
    let problem = Problem::new(&file).expect("a box of numbers");
    let limits = Limits::work(1_000_000);
    let mut random = Random(seed);
    if let Some((best, x, y)) = brute::leader(&file) {
        for shift in [0.002, 0.02, 0.2] {
            // There is a decision better than this claim by more than the tolerance.
            let scale = best.abs().max(1.0);
            let proof = leader(&problem, best + shift * scale, 1e-4, &limits);
            tally.claims += 1;
            if proof.verdict == LeaderVerdict::Proven {
                tally.wrong.push(format!("F = {best} at {x}, {y} is better than what was proven:\n{text}"));
            }
            if proof.bound > best + 0.0019 * scale {
                tally.wrong.push(format!("the bound {} lies above F = {best}:\n{text}", proof.bound));
            }
            if let Some(Decision { x, y, .. }) = proof.better
                && !is_answer(&file, x[0], y[0])
            {
                tally.wrong.push(format!("at {x:?} the follower does not answer {y:?}:\n{text}"));
            }
        }
        // Right up to what the grid of brute force misses.
        tally.true_claims += 1;
        tally.proven += u64::from(
            leader(&problem, best - 0.02 * best.abs().max(1.0), 1e-2, &limits).verdict == LeaderVerdict::Proven,
        );
    }
    for _ in 0..4 {
        let x = anywhere(&file, Level::Upper, &mut random);
        let answers = brute::answers(&file, x);
        let Some(&(f, y)) = answers.first() else { continue };
        false_answers(&file, &problem, (x, f), &mut random, tally);
        for &(_, y) in answers.iter().chain([&(f, y)]) {
            lost_point(&file, &problem, (x, y), text, &mut random, tally);
        }
    }
}

/// Whether no answer at x is clearly better than y.
fn is_answer(file: &ExpressionProblem, x: f64, y: f64) -> bool {
    let f = file.evaluate(Level::Lower, &[x], &[y], &mut Vec::new()).unwrap_or(f64::NAN);
    brute::answers(file, x).first().is_none_or(|&(least, _)| f <= least + 2e-4 * least.abs().max(1.0))
}

/// A decision or an answer.
fn anywhere(file: &ExpressionProblem, at: Level, random: &mut Random) -> f64 {
    let space = &file.spec().level(at).space;
    let (lo, hi) = space.bounds()[0];
    let value = random.within(lo, hi);
    if space.iter().all(|variable| variable.is_whole()) { value.round() } else { value }
}

/// Answers that are worse than the best one are never proven.
fn false_answers(
    file: &ExpressionProblem,
    problem: &Problem,
    (x, f): (f64, f64),
    random: &mut Random,
    tally: &mut Tally,
) {
    for _ in 0..3 {
        let y = anywhere(file, Level::Lower, random);
        let mut g = Vec::new();
        let value = file.evaluate(Level::Lower, &[x], &[y], &mut g).unwrap_or(f64::NAN);
        let shortfall = 1e-3 * value.abs().max(1.0);
        if value > f + 2.0 * shortfall && value.is_finite() {
            tally.claims += 1;
            let proof = follower(problem, &[x], &[y], 1e-3, &Limits::work(300_000));
            if proof.verdict == FollowerVerdict::Proven {
                tally.wrong.push(format!("x = {x}: y = {y} with f = {value} was proven, but f = {f} is possible"));
            }
        }
    }
}

/// A region around an answer of the follower keeps it.
fn lost_point(
    file: &ExpressionProblem,
    problem: &Problem,
    (x, y): (f64, f64),
    text: &str,
    random: &mut Random,
    tally: &mut Tally,
) {
    const SLACK: f64 = 3e-3;
    let mut g = Vec::new();
    let value = file.evaluate(Level::Upper, &[x], &[y], &mut g).unwrap_or(f64::NAN);
    if !value.is_finite() || g.iter().any(|g| *g > 0.0 || g.is_nan()) {
        return;
    }
    let boxes = [Level::Upper, Level::Lower].map(|at| file.spec().level(at).space.bounds()[0]);
    // A jump at a simple number may lie just at the edge of a region.
    let simple = y * 4.0 == (y * 4.0).round();
    for trial in 0..3 {
        let scale = 3.0 * 10f64.powf(-3.0 * random.unit());
        let mut around = |v: f64, (lo, hi): (f64, f64)| {
            let (below, above) = (scale * random.unit() + SLACK, scale * random.unit() + SLACK);
            ((v - below).max(lo), (v + above).min(hi))
        };
        let mut region = [around(x, boxes[0]), around(y, boxes[1])];
        match trial {
            1 if simple => region[1].0 = y,
            2 if simple => region[1].1 = y,
            _ => {}
        }
        tally.points += 1;
        let left = narrow(problem, &region, value + 1e-2 * value.abs().max(1.0));
        let kept = left
            .as_ref()
            .is_some_and(|left| [x, y].iter().zip(left).all(|(v, (lo, hi))| *v >= lo - SLACK && *v <= hi + SLACK));
        if !kept {
            tally.wrong.push(format!("({x}, {y}) was lost from {region:?}, left {left:?}:\n{text}"));
        }
    }
}

fn family(name: &str, problem: fn(u64) -> String, seeds: std::ops::Range<u64>) {
    let mut tally = Tally::default();
    for seed in seeds {
        check(&problem(seed), seed, &mut tally);
    }
    assert!(tally.wrong.is_empty(), "{name}: {}\n{}", tally.wrong.len(), tally.wrong[0]);
    assert!(tally.claims > 100 && tally.points > 100, "{tally:?}");
    assert!(2 * tally.proven > tally.true_claims, "{name}: {} of {}", tally.proven, tally.true_claims);
}

#[test]
fn nothing_false_is_proven_of_general_problems() {
    family("general", families::general, 0..40);
}

#[test]
fn nothing_false_is_proven_of_degenerate_problems() {
    family("degenerate", families::degenerate, 0..32);
}

#[test]
fn nothing_false_is_proven_of_problems_with_jumps() {
    family("jumps", families::jumps, 0..40);
}

#[test]
fn nothing_false_is_proven_of_problems_with_whole_numbers() {
    family("whole", families::whole, 0..32);
}

/// From a claim that is far off, the best decision is found and proven.
#[test]
fn better_decisions_are_found_until_none_is_left() {
    for seed in 0..12 {
        let file = families::read(&families::indefinite(1, 1, seed));
        let problem = Problem::new(&file).expect("a box of numbers");
        let proof = leader(&problem, 100.0, 1e-2, &Limits::work(20_000_000));
        let (best, ..) = brute::leader(&file).expect("every x has an answer");
        let found = proof.better.expect("a better decision");
        assert!((found.value - best).abs() < 2e-2 * best.abs().max(1.0), "{seed}: {found:?} {best}");
        assert!(proof.stopped.is_none() && proof.bound <= best + 1e-9, "{seed}: {:?} {best}", proof.bound);
    }
}
