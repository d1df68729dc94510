//! A run whose batches the caller answers: ask and tell instead of [`Run::go`].

use super::{Run, RunError, guarded};
use crate::result::{RunResult, Status};
use bilevo_core::batch::Replies;
use bilevo_core::engine::Ask;
use bilevo_core::record::GenerationRecord;

impl Run {
    /// The next batch; the same one until it is answered.
    ///
    /// # Errors
    /// [`RunError::Internal`] for a state that does not fit together.
    pub fn ask(&mut self) -> Result<Ask<'_>, RunError> {
        guarded(|| self.engine.ask())
    }

    /// Answers the open batch; returns a record if that completes a generation.
    ///
    /// # Errors
    /// Answers that do not fit the open batch.
    pub fn tell(&mut self, replies: &Replies) -> Result<Option<GenerationRecord>, RunError> {
        Ok(guarded(|| self.engine.tell(replies))??)
    }

    /// The result in the run's current state.
    pub fn result_so_far(&self) -> RunResult {
        self.result(self.engine.summary().stop.map_or(Status::Running, Status::Finished))
    }
}
