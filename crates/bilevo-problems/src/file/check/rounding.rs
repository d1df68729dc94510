//! Whether rounding would be good enough: compares the follower's real-valued answer, rounded, with its best
//! whole-number answer.

use super::directions;
use super::samples::{Effort, Probe};
use crate::file::ProblemFile;
use bilevo_core::problem::{Level, ProblemSpec};
use bilevo_core::space::Space;
use serde::Serialize;

/// Number of decisions at which it is tried.
const DECISIONS: usize = 12;
/// Up to this many answers, the best whole one is found by trying all.
const ENUMERATED: u64 = 2_000;
/// Evaluations of one search among real numbers.
const STEPS: usize = 2_000;
/// Maximum number of rounds of moves and exchanges from the rounded answer.
const ROUNDS: usize = 20;
/// By which part of the variation of f an answer is clearly worse.
const CLEARLY: f64 = 0.01;

/// The result of rounding the follower's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rounding {
    /// Number of decisions at which it was tried.
    pub decisions: usize,
    /// At how many of them the rounded answer violates a constraint that a whole one meets.
    pub infeasible: usize,
    /// At how many others it is clearly worse than the best whole answer found.
    pub worse: usize,
}

/// Tries it; `None` if the follower has real variables, or if evaluations are slow.
pub fn rounding(file: &ProblemFile) -> Option<Rounding> {
    let ProblemFile::Expressions(problem) = file else { return None };
    let spec = file.spec();
    let space = &spec.lower.space;
    let effort = Effort::for_steps(problem.steps(Level::Upper) + problem.steps(Level::Lower));
    if effort.steps == 0 || !space.is_finite() {
        return None;
    }
    let mut relaxed = spec.clone();
    relaxed.lower.space = Space::from(space.bounds().to_vec());
    let mut evaluate = |level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>| {
        use bilevo_core::problem::BilevelProblem;
        problem.evaluate(level, x, y, constraints)
    };
    let mut probe = Probe::new(&relaxed, &mut evaluate, Effort { steps: STEPS, ..effort });
    let mut found = Rounding { decisions: 0, infeasible: 0, worse: 0 };
    for _ in 0..DECISIONS {
        let x = probe.draw(Level::Upper);
        let Some(mut rounded) = directions::answer(&mut probe, &x, spec.lower.direction) else { continue };
        space.round(&mut rounded);
        let (from, best, spread) = beside(&mut probe, spec, &x, &rounded);
        // If no whole answer is feasible, rounding is not to blame.
        if best.0 > 0.0 || !from.1.is_finite() {
            continue;
        }
        found.decisions += 1;
        found.infeasible += usize::from(from.0 > 0.0);
        found.worse += usize::from(from.0 <= 0.0 && from.1 - best.1 > CLEARLY * spread);
    }
    (found.decisions > 0).then_some(found)
}

/// Violation and value, minimised.
type Key = (f64, f64);

/// The values of a rounded answer and of the best whole answer found from there, and the variation of f.
fn beside(probe: &mut Probe, spec: &ProblemSpec, x: &[f64], rounded: &[f64]) -> (Key, Key, f64) {
    let space = &spec.lower.space;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut worth = |y: &[f64]| -> Key {
        let seen = probe.at(Level::Lower, x, y);
        if !seen.value.is_finite() || seen.constraints.iter().any(|value| !value.is_finite()) {
            return (f64::INFINITY, f64::INFINITY);
        }
        (low, high) = (low.min(seen.value), high.max(seen.value));
        (spec.violation(Level::Lower, &seen.constraints), spec.lower.direction.flip(seen.value))
    };
    let from = worth(rounded);
    let mut best = from;
    if space.combinations() <= ENUMERATED {
        for y in space.enumerate(rounded) {
            let there = worth(&y);
            best = if there < best { there } else { best };
        }
        return (from, best, high - low);
    }
    let mut at = rounded.to_vec();
    for _ in 0..ROUNDS {
        let near: Vec<Vec<f64>> = space.moves(&at).chain(space.exchanges(&at)).collect();
        let before = best;
        for y in near {
            let there = worth(&y);
            if there < best {
                (best, at) = (there, y);
            }
        }
        if before == best {
            break;
        }
    }
    (from, best, high - low)
}
