//! The user's own solver for the follower, the *oracle*.
//!
//! Given a decision x, it returns an answer y of any length, with f if it knows it and anything else that the
//! leader's function needs. The engine asks for it in separate batches ([`Batch::asks_follower`]), one lower
//! evaluation for each decision, and passes the whole answer on to the leader's function. If the problem has a
//! lower level too, the oracle's answer is a starting point that a search may improve.
//!
//! An oracle that contradicts itself would mislead every search, so it is called twice at one decision in a run
//! (`Memory::repeat`).

use crate::batch::{Answers, Batch};
use crate::problem::{Failure, FailureKind, ProblemSpec};
use serde::{Deserialize, Serialize};

/// How the follower's answers are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Follower {
    /// A search over y.
    #[default]
    Search,
    /// The user's own solver.
    Oracle,
}

/// The answer of an oracle to a decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OracleAnswer {
    /// The follower's answer.
    pub y: Vec<f64>,
    /// f at that answer, as the problem defines it, if known.
    pub value: Option<f64>,
    /// Anything else that the leader's function needs (prices, say), in a format chosen by the user.
    pub info: Option<Vec<u8>>,
}

impl OracleAnswer {
    /// An answer that consists of y alone.
    pub fn new(y: impl Into<Vec<f64>>) -> Self {
        OracleAnswer { y: y.into(), ..OracleAnswer::default() }
    }

    /// Adds the follower's objective.
    pub fn with_value(mut self, value: f64) -> Self {
        self.value = Some(value);
        self
    }

    /// Adds information for the leader's function.
    pub fn with_info(mut self, info: impl Into<Vec<u8>>) -> Self {
        self.info = Some(info.into());
        self
    }

    /// Returns the answer if it can be used.
    ///
    /// # Errors
    /// There is no y, a number is not finite, or y lies outside the problem's lower level, if it has
    /// one.
    pub fn check(&self, spec: &ProblemSpec) -> Result<(), Failure> {
        let refuse = |kind, message: String| Err(Failure::new(kind, message));
        let dim = spec.lower.dim();
        if self.y.is_empty() {
            return refuse(FailureKind::WrongShape, "the follower's own answer is empty".into());
        }
        if dim > 0 && self.y.len() != dim {
            let words = format!("the follower's own answer has {} values, but y has {dim} variables", self.y.len());
            return refuse(FailureKind::WrongShape, words);
        }
        if let Some((index, y)) = self.y.iter().enumerate().find(|(_, y)| !y.is_finite()) {
            return refuse(FailureKind::NotFinite, format!("the follower's own answer has y[{index}] = {y}"));
        }
        let held = spec.lower.space.iter().zip(&self.y).enumerate();
        if let Some((index, (_, y))) = held.into_iter().find(|(_, (variable, y))| !variable.contains(**y)) {
            let words = format!("the follower's own answer has y[{index}] = {y}, which that variable cannot take");
            return refuse(FailureKind::WrongShape, words);
        }
        if let Some(value) = self.value.filter(|value| !value.is_finite()) {
            return refuse(FailureKind::NotFinite, format!("the follower's own answer has f = {value}"));
        }
        Ok(())
    }
}

/// How many answers are kept to be passed on to the leader's function.
const KEPT: usize = 1000;
/// Two answers to the same decision are different if they differ by more than this, relative to the larger.
const SAME: f64 = 1e-6;

/// What the engine remembers of an oracle's answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Decisions with their answers, the latest last.
    known: Vec<(Vec<f64>, OracleAnswer)>,
    /// Whether the open batch ends with a decision that was asked before.
    repeats: bool,
    /// The relative difference between the two answers to that decision, once both are known.
    pub(crate) difference: Option<f64>,
}

impl Memory {
    /// Adds a decision that was answered before to the second batch of decisions.
    pub(crate) fn repeat(&mut self, batch: &mut Batch) {
        let due = batch.asks_follower() && !batch.is_empty() && self.difference.is_none() && !self.repeats;
        if let Some((x, _)) = self.known.first().filter(|_| due) {
            batch.push(x);
            self.repeats = true;
        }
    }

    /// Whether the open batch ends with a decision that was asked before.
    pub(crate) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Records the answers to `batch`. The repeated decision is removed from the batch, and its answer from the
    /// answers, which are returned.
    pub(crate) fn take<'a>(&mut self, batch: &mut Batch, answers: Answers<'a>) -> Answers<'a> {
        let mut answers = answers;
        if std::mem::take(&mut self.repeats) {
            let last = batch.len() - 1;
            let again = answers.given.get(last).filter(|_| !answers.outcomes[last].is_failed());
            if let (Some((_, first)), Some(again)) = (self.known.first(), again) {
                self.difference = Some(difference(&first.y, &again.y));
            }
            batch.truncate(last);
            answers = answers.first(last);
        }
        for (index, answer) in answers.given.iter().enumerate() {
            if !answers.outcomes[index].is_failed() {
                self.known.push((batch.x(index).to_vec(), answer.clone()));
            }
        }
        let surplus = self.known.len().saturating_sub(KEPT);
        self.known.drain(..surplus);
        answers
    }

    /// Completes the pairs (x, y) of an upper batch with what else the oracle answered.
    pub(crate) fn complete(&self, batch: &mut Batch) {
        batch.complete(|x, y| {
            let known = self.known.iter().rev().find(|(known, answer)| known == x && answer.y == y);
            known.map(|(_, answer)| answer.clone())
        });
    }

    /// Whether two answers to the same decision differ.
    pub(crate) fn differs(&self) -> bool {
        self.difference.is_some_and(|difference| difference > SAME)
    }
}

/// Largest difference between two answers, relative to the largest of their values.
fn difference(first: &[f64], second: &[f64]) -> f64 {
    if first.len() != second.len() {
        return f64::INFINITY;
    }
    let size = first.iter().chain(second).fold(f64::MIN_POSITIVE, |size, y| y.abs().max(size));
    first.iter().zip(second).fold(0.0, |most, (a, b)| (a - b).abs().max(most)) / size
}
