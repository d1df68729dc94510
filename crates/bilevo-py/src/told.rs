//! Answers to an open batch by ask and tell, in any order and in parts.

use bilevo::{Batch, Failure, FailureKind, OracleAnswer, ProblemSpec, Replies};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The objective in the problem's own direction, and the constraint values.
    Value(f64, Vec<f64>),
    /// The answer of the follower's own solver.
    Given(OracleAnswer),
    /// Why there is no answer.
    Failed(String),
}

/// Answers to some points of the open batch, by their index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    answers: BTreeMap<usize, Answer>,
}

impl Told {
    /// Whether a point has been answered.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.answers.contains_key(&index)
    }

    /// Adds answers to the points with these ids: all, or none if one of them does not fit.
    pub(crate) fn add(&mut self, batch: &Batch, answers: Vec<(u64, Answer)>) -> Result<(), String> {
        let before = self.answers.clone();
        for (id, answer) in answers {
            let index = id.checked_sub(batch.id(0)).map(|index| index as usize).filter(|&index| index < batch.len());
            let refused = match index {
                None => Some(format!(
                    "point {id} was not asked for\nhint: the open batch has the ids {} to {}",
                    batch.id(0),
                    batch.id(batch.len() - 1)
                )),
                Some(index) => {
                    self.answers.insert(index, answer).map(|_| format!("point {id} has been answered already"))
                }
            };
            if let Some(message) = refused {
                self.answers = before;
                return Err(message);
            }
        }
        Ok(())
    }

    /// Whether no point has been answered.
    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Whether all answers belong to points of the batch, and some point has none.
    pub(crate) fn fits(&self, batch: &Batch) -> bool {
        self.answers.keys().all(|&index| index < batch.len()) && self.answers.len() < batch.len()
    }

    /// Whether every point of the batch has been answered.
    pub(crate) fn complete(&self, batch: &Batch) -> bool {
        self.answers.len() == batch.len()
    }

    /// Returns the answers in the order of the batch.
    pub(crate) fn take(&mut self, spec: &ProblemSpec, replies: &mut Replies) {
        for answer in std::mem::take(&mut self.answers).into_values() {
            match answer {
                Answer::Value(value, constraints) => replies.push(spec, value, &constraints),
                Answer::Given(answer) => replies.push_answer(spec, answer),
                Answer::Failed(message) => replies.push_failure(Failure::new(FailureKind::Error, message)),
            }
        }
    }
}
