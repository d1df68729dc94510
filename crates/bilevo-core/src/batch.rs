//! What crosses the border of the engine: a batch of points to evaluate, and the replies.
//!
//! Both are flat arrays that are reused from batch to batch, so that a cheap problem is not
//! drowned in allocations. A reply is checked in one place, [`Replies::push`].

use crate::problem::{Failure, FailureKind, Level, Outcome, ProblemSpec};
use serde::{Deserialize, Serialize};

/// Points (x, y) that wait for an evaluation at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    level: Level,
    upper_dim: usize,
    lower_dim: usize,
    first_id: u64,
    points: Vec<f64>,
}

impl Batch {
    /// An empty batch for a problem's sizes.
    pub fn new(spec: &ProblemSpec) -> Self {
        Batch {
            level: Level::Lower,
            upper_dim: spec.upper.dim(),
            lower_dim: spec.lower.dim(),
            first_id: 0,
            points: Vec::new(),
        }
    }

    pub(crate) fn start(&mut self, level: Level, first_id: u64) {
        self.level = level;
        self.first_id = first_id;
        self.points.clear();
    }

    /// Appends a point whose y the caller writes into the returned slice.
    pub(crate) fn push(&mut self, x: &[f64]) -> &mut [f64] {
        self.points.extend_from_slice(x);
        let start = self.points.len();
        self.points.resize(start + self.lower_dim, 0.0);
        &mut self.points[start..]
    }

    /// The level at which all points are to be evaluated.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len() / (self.upper_dim + self.lower_dim).max(1)
    }

    /// Whether there is nothing to evaluate.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Unique, consecutive number of a point within its run.
    pub fn id(&self, index: usize) -> u64 {
        self.first_id + index as u64
    }

    /// The leader's part of a point.
    pub fn x(&self, index: usize) -> &[f64] {
        let start = index * (self.upper_dim + self.lower_dim);
        &self.points[start..start + self.upper_dim]
    }

    /// The follower's part of a point.
    pub fn y(&self, index: usize) -> &[f64] {
        let start = index * (self.upper_dim + self.lower_dim) + self.upper_dim;
        &self.points[start..start + self.lower_dim]
    }
}

/// The answers to one batch, in the order of its points.
#[derive(Clone, Debug)]
pub struct Replies {
    level: Level,
    outcomes: Vec<Outcome>,
    failures: Vec<(usize, Failure)>,
    retries: u64,
}

impl Default for Replies {
    fn default() -> Self {
        Replies { level: Level::Lower, outcomes: Vec::new(), failures: Vec::new(), retries: 0 }
    }
}

impl Replies {
    /// Forgets everything and starts on a batch of `level`.
    pub fn start(&mut self, level: Level) {
        self.level = level;
        self.outcomes.clear();
        self.failures.clear();
        self.retries = 0;
    }

    /// Appends one answer in the problem's own direction, checking finiteness and shape.
    pub fn push(&mut self, spec: &ProblemSpec, value: f64, constraints: &[f64]) {
        match check_reply(spec, self.level, value, constraints) {
            Ok(outcome) => self.outcomes.push(outcome),
            Err(failure) => self.push_failure(failure),
        }
    }

    /// Appends one failed evaluation.
    pub fn push_failure(&mut self, failure: Failure) {
        self.failures.push((self.outcomes.len(), failure));
        self.outcomes.push(Outcome::FAILED);
    }

    /// Appends an answer that [`check_reply`] has seen already.
    pub fn push_checked(&mut self, reply: Result<Outcome, Failure>) {
        match reply {
            Ok(outcome) => self.outcomes.push(outcome),
            Err(failure) => self.push_failure(failure),
        }
    }

    /// Counts evaluations that were done again after a failure.
    pub fn add_retries(&mut self, count: u64) {
        self.retries += count;
    }

    /// Evaluations done again after a failure.
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// The level answered.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Answers so far, as the engine sees them.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Failed answers with their index in the batch.
    pub fn failures(&self) -> &[(usize, Failure)] {
        &self.failures
    }
}

/// Turns one answer of user code into an [`Outcome`].
///
/// # Errors
/// A wrong number of constraint values, or a value that is not finite.
pub fn check_reply(spec: &ProblemSpec, level: Level, value: f64, constraints: &[f64]) -> Result<Outcome, Failure> {
    let level_spec = spec.level(level);
    let expected = level_spec.constraints();
    if constraints.len() != expected {
        return Err(Failure::new(
            FailureKind::WrongShape,
            format!("the {level} level returned {} constraint values instead of {expected}", constraints.len()),
        ));
    }
    if !value.is_finite() {
        return Err(Failure::new(FailureKind::NotFinite, format!("the {level} objective is {value}")));
    }
    if let Some(index) = constraints.iter().position(|c| !c.is_finite()) {
        let message = format!("{level} constraint {index} is {}", constraints[index]);
        return Err(Failure::new(FailureKind::NotFinite, message));
    }
    let violation = if expected == 0 { 0.0 } else { spec.violation(level, constraints) };
    Ok(Outcome { value: level_spec.direction.flip(value), violation })
}
