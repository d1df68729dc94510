//! Which answer counts if several are equally good for the follower.
//!
//! A follower that is indifferent between answers leaves the leader's objective open. Under a position, and
//! whenever a scheme wants it (`RunView::lean`), the engine asks for F at every point of a lower batch too and
//! tells the search f + w F (optimistic) or f - w F (pessimistic) instead of f. If the follower has a clear
//! preference, that moves its answer by O(w) and f by O(w^2) only; if it is indifferent, the leader's objective
//! decides. Only evaluations change, so this works with every scheme and search.
//!
//! w is a weight times the ratio of the spreads of f and F over a sample of both boxes, taken once. Violations of
//! upper constraints count as part of F, since the leader would not choose an answer that it may not accept. What
//! a run reports as f is the follower's own objective. Where in the loop: between the answers to a lower batch
//! and the scheme. Randomness: `Purpose::Position` for the sample. Source: the classical perturbation of the
//! follower's objective (Molodtsov, 1976).

use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::Config;
use crate::engine::SchemeKind;
use crate::lower::LowerKind;
use crate::problem::{Level, Outcome, ProblemSpec};
use crate::rng::{Purpose, Streams};
use crate::settings::{choice, number, settings, words};
use serde::{Deserialize, Serialize};

choice! {
    /// Which answer counts if several are equally good for the follower.
    pub enum PositionKind {
        /// The one that the problem file names; if it names none, whichever the search finds.
        Any,
        /// The one that is best for the leader (optimistic).
        Optimistic,
        /// The one that is worst for the leader (pessimistic).
        Pessimistic,
    }
}

settings! {
    /// Ties between answers of the follower.
    pub struct PositionConfig in position as "position";

    /// Which answer counts if several are equally good for the follower. Unless `any`, every lower
    /// evaluation costs an upper one too.
    kind: PositionKind = PositionKind::Any, |_| words(PositionKind::ALL);
    /// Weight of the leader's objective in the follower's, relative to the spread of both; if null,
    /// 1e-5 if a model solves the followers, 1e-6 if exchanges do, and 1e-2 otherwise.
    weight: Option<f64> = None, |_| number(1e-9, 1.0), if "position.kind = optimistic or pessimistic" |c| {
        c.position.kind != PositionKind::Any
    };
}

/// The weight for whole numbers: they are compared exactly, and answers that differ even a little in f are not tied.
const EXCHANGED: f64 = 1e-6;

/// The signed weight of a config's position; 0 without a position.
pub(crate) fn weight(config: &Config) -> f64 {
    let usual = match config.lower.kind {
        LowerKind::Exchange if config.scheme.kind == SchemeKind::Nested => EXCHANGED,
        _ => config.scheme.kind.facts().position,
    };
    let size = config.position.weight.unwrap_or(usual);
    match config.position.kind {
        PositionKind::Any => 0.0,
        PositionKind::Optimistic => size,
        PositionKind::Pessimistic => -size,
    }
}

/// Points of the sample at the start.
const SAMPLE: usize = 40;
/// A typical upper violation in the sample counts as this many times the spread of F.
const VIOLATION: f64 = 10.0;

/// The weights of both objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leaning {
    /// Signed and relative to the spreads; 0 means that the follower decides alone.
    pub(crate) weight: f64,
    scale: Option<Scale>,
    /// Lower answers that are waiting for F at the same points.
    waiting: Option<Waiting>,
    /// Upper evaluations that were only needed for ties.
    pub(crate) spent: u64,
}

/// The weights of F and of a violation in the follower's objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Scale {
    value: f64,
    violation: f64,
}

/// A lower batch with its answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) batch: Batch,
    outcomes: Vec<Outcome>,
    constraints: Vec<f64>,
    width: usize,
}

impl Leaning {
    /// The position of a config.
    pub(crate) fn new(config: &Config) -> Self {
        Leaning { weight: weight(config), scale: None, waiting: None, spent: 0 }
    }

    /// Forgets the spreads, which belong to a box.
    pub(crate) fn begin_anew(&mut self, config: &Config) {
        *self = Leaning { spent: self.spent, ..Leaning::new(config) };
    }

    /// Whether lower answers are weighted.
    pub(crate) fn is_on(&self) -> bool {
        self.weight != 0.0
    }

    /// Whether a sample is needed first.
    pub(crate) fn lacks_scale(&self) -> bool {
        self.is_on() && self.scale.is_none()
    }

    /// Fills the batch with the sample.
    pub(crate) fn sample(&self, spec: &ProblemSpec, streams: &Streams, batch: &mut Batch) {
        let mut stream = streams.open(Purpose::Position, 0, 0);
        for _ in 0..SAMPLE {
            let x = spec.upper.space.draw(&mut stream);
            let y = spec.lower.space.draw(&mut stream);
            batch.push(&x).copy_from_slice(&y);
        }
    }

    /// Keeps the answers to a lower batch, and asks for F at its points.
    pub(crate) fn keep(&mut self, batch: Batch, answers: Answers<'_>, ask: &mut Batch) {
        for index in 0..batch.len() {
            ask.push(batch.x(index)).copy_from_slice(batch.y(index));
        }
        let (outcomes, constraints) = (answers.outcomes.to_vec(), answers.constraints.to_vec());
        self.waiting = Some(Waiting { batch, outcomes, constraints, width: answers.width });
    }

    /// Drops the waiting batch.
    pub(crate) fn forget(&mut self) {
        self.waiting = None;
    }

    /// Whether upper answers belong to the points of a lower batch.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Counts upper evaluations that are made only for ties: F at lower points, and everything that a search without
    /// a position asks for while it leans towards the leader.
    pub(crate) fn count(&mut self, evaluations: u64, config: &PositionConfig) {
        if self.is_waiting() || self.is_on() && config.kind == PositionKind::Any {
            self.spent += evaluations;
        }
    }

    /// Takes F at the lower points. Returns the lower batch with the answers that the search should see, or `None` if
    /// it was the sample.
    pub(crate) fn weigh(&mut self, views: &[Outcome]) -> Option<Waiting> {
        let mut waiting = self.waiting.take()?;
        let Some(scale) = self.scale else {
            self.scale = Some(Scale::measure(&waiting.outcomes, views));
            return None;
        };
        for (outcome, view) in waiting.outcomes.iter_mut().zip(views) {
            // If F could not be evaluated at a point, only the follower counts.
            if !outcome.is_failed() && !view.is_failed() {
                outcome.value += self.weight * scale.of(view.value, view.violation);
            }
        }
        Some(waiting)
    }

    /// How much the objective that the search sees differs from the follower's own at a solution, for a given weight.
    pub(crate) fn of(&self, spec: &ProblemSpec, solved: &Solved, weight: f64) -> f64 {
        let violation = spec.violation(Level::Upper, &solved.upper_constraints);
        match self.scale {
            Some(scale) if !solved.upper.is_failed() => weight * scale.of(solved.upper.value, violation),
            _ => 0.0,
        }
    }
}

impl Scale {
    /// Sets the weights so that a typical difference of F counts like a typical difference of f, and a typical
    /// violation more.
    fn measure(lower: &[Outcome], upper: &[Outcome]) -> Self {
        let good = |outcomes: &[Outcome]| outcomes.iter().filter(|o| !o.is_failed()).copied().collect::<Vec<_>>();
        let (lower, upper) = (good(lower), good(upper));
        let values = spread(upper.iter().map(|o| o.value));
        let ratio = spread(lower.iter().map(|o| o.value)) / values;
        let value = if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 };
        let violated: Vec<f64> = upper.iter().map(|o| o.violation).filter(|v| *v > 0.0).collect();
        let typical = violated.iter().sum::<f64>() / violated.len().max(1) as f64;
        let ratio = VIOLATION * values.max(f64::MIN_POSITIVE) / if typical > 0.0 { typical } else { 1.0 };
        Scale { value, violation: if ratio.is_finite() { value * ratio } else { 0.0 } }
    }

    fn of(self, value: f64, violation: f64) -> f64 {
        let lean = self.value * value + self.violation * violation;
        if lean.is_finite() { lean } else { 0.0 }
    }
}

impl Waiting {
    pub(crate) fn answers(&self) -> Answers<'_> {
        Answers { outcomes: &self.outcomes, constraints: &self.constraints, width: self.width, given: &[] }
    }
}

/// The distance between the quartiles.
fn spread(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    let at = |share: usize| numbers.get(numbers.len() * share / 4).copied().unwrap_or(0.0);
    at(3) - at(1)
}
