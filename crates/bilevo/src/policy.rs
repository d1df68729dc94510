//! What happens to an evaluation that failed: try again, then count it as worst or stop the run.

use crate::evaluate::{Evaluator, EvaluatorError};
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::problem::{Failure, Outcome};

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

/// Tries the failed points of `replies` again, at most `retries` times each.
///
/// # Errors
/// The evaluator gave up.
pub(crate) fn retry(
    evaluator: &mut dyn Evaluator,
    batch: &Batch,
    replies: &mut Replies,
    retries: u32,
) -> Result<(), EvaluatorError> {
    if retries == 0 || replies.failures().is_empty() {
        return Ok(());
    }
    let mut second = Replies::default();
    second.start(batch.level());
    let mut failures = replies.failures().iter().cloned().peekable();
    for (index, outcome) in replies.outcomes().iter().enumerate() {
        match failures.next_if(|(failed, _)| *failed == index) {
            None => second.push_checked(Ok(*outcome)),
            Some((_, failure)) => {
                let (answer, tries) = retry_point(evaluator, batch, index, failure, retries)?;
                second.add_retries(tries);
                second.push_checked(answer);
            }
        }
    }
    *replies = second;
    Ok(())
}

fn retry_point(
    evaluator: &mut dyn Evaluator,
    batch: &Batch,
    index: usize,
    failure: Failure,
    retries: u32,
) -> Result<(Result<Outcome, Failure>, u64), EvaluatorError> {
    let mut answer = Err(failure);
    let mut tries = 0;
    while answer.is_err() && tries < u64::from(retries) {
        answer = evaluator.evaluate_again(batch, index)?;
        tries += 1;
    }
    Ok((answer, tries))
}
