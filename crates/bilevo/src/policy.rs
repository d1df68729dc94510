//! What happens to an evaluation that failed: try again, then count it as worst or stop the run.

use crate::evaluate::Evaluator;
use crate::run::RunError;
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::engine::TellError;

/// What a run does about failed evaluations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailurePolicy {
    /// How often a failed evaluation is tried again.
    pub retries: u32,
    /// What follows if it still fails.
    pub then: AfterFailure,
}

/// What follows an evaluation that failed for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterFailure {
    /// It counts as the worst of all and the run goes on.
    #[default]
    Worst,
    /// The run is saved and ends with an error.
    Stop,
}

/// Tries the failed points of `replies` again, all together, at most `retries` times.
///
/// # Errors
/// The evaluator gave up or left points without an answer.
pub(crate) fn retry(
    evaluator: &mut dyn Evaluator,
    batch: &Batch,
    replies: &mut Replies,
    retries: u32,
) -> Result<(), RunError> {
    let mut second = Replies::default();
    for _ in 0..retries {
        let failed: Vec<usize> = replies.failures().iter().map(|(index, _)| *index).collect();
        if failed.is_empty() {
            break;
        }
        evaluate_whole(evaluator, &batch.subset(&failed), &mut second)?;
        replies.amend(&failed, &second);
    }
    Ok(())
}

/// Evaluates a batch and makes sure that every point has its answer.
///
/// # Errors
/// The evaluator gave up or left points without an answer.
pub(crate) fn evaluate_whole(
    evaluator: &mut dyn Evaluator,
    batch: &Batch,
    replies: &mut Replies,
) -> Result<(), RunError> {
    replies.start_on(evaluator.spec(), batch);
    evaluator.evaluate(batch, replies)?;
    let (asked, told) = (batch.len(), replies.outcomes().len());
    if asked == told { Ok(()) } else { Err(TellError::Length { asked, told }.into()) }
}
