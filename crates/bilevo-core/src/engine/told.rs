//! What the engine is told: whether it fits what was asked, and what it counts as.

use super::Engine;
use crate::batch::{Batch, Replies};
use crate::problem::Level;

/// Why a reply was refused; the engine is unchanged.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TellError {
    /// No batch is open.
    #[error("no batch is open, so there is nothing to answer")]
    NothingAsked,
    /// The reply has the wrong number of answers.
    #[error("{asked} points were asked for, but {told} answers came")]
    Length {
        /// Points in the open batch.
        asked: usize,
        /// Answers in the reply.
        told: usize,
    },
    /// The reply is for the other level.
    #[error("the answers are for the {told} level, but the {asked} level was asked")]
    Level {
        /// Level of the open batch.
        asked: Level,
        /// Level of the reply.
        told: Level,
    },
    /// The reply has values although answers of the follower's own solver were requested, or the other way round.
    #[error("{}", if *.asked {"the follower's own answers were asked for, but values came"}
        else {"values were asked for, but answers of the follower's own solver came"})]
    Answers {
        /// Whether answers were requested.
        asked: bool,
    },
    /// The answers have a different number of constraint values than the problem has constraints.
    #[error("the answers have {told} constraint values each, but the {level} level has {asked}")]
    Constraints {
        /// The level.
        level: Level,
        /// Constraints of that level.
        asked: usize,
        /// Constraint values of each answer.
        told: usize,
    },
}

impl Engine {
    pub(super) fn check_replies(&self, replies: &Replies) -> Result<(), TellError> {
        let open = self.asked();
        if open.is_empty() {
            return Err(TellError::NothingAsked);
        }
        if replies.level() != open.level() {
            return Err(TellError::Level { asked: open.level(), told: replies.level() });
        }
        let (asked, told) = (open.len(), replies.outcomes().len());
        if asked != told {
            return Err(TellError::Length { asked, told });
        }
        if replies.to_decisions() != open.asks_follower() {
            return Err(TellError::Answers { asked: open.asks_follower() });
        }
        let (level, told) = (replies.level(), replies.width());
        let asked = if replies.to_decisions() { 0 } else { self.spec.level(level).constraints() };
        if asked == told { Ok(()) } else { Err(TellError::Constraints { level, asked, told }) }
    }

    /// The points that are waiting for answers.
    pub(super) fn asked(&self) -> &Batch {
        match &self.outside {
            Some(outside) if outside.is_open() => outside.asked(),
            _ => &self.batch,
        }
    }

    pub(super) fn count(&mut self, replies: &Replies) {
        let (count, failed) = (self.asked().len() as u64, replies.failures().len() as u64);
        self.issued += count;
        let evaluations = &mut self.evaluations;
        evaluations.retried += replies.retries();
        match replies.level() {
            Level::Upper => {
                self.leaning.count(count, &self.config.position);
                evaluations.upper += count;
                evaluations.failed_upper += failed;
            }
            Level::Lower => {
                self.latest = count;
                evaluations.lower += count;
                evaluations.failed_lower += failed;
            }
        }
        if self.scheme.is_refining() && !self.leaning.is_waiting() && !self.repeats.is_open() {
            evaluations.refine_lower += count;
        }
    }
}
