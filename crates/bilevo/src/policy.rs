//! What happens to an evaluation that failed: try again, then count it as worst or stop the run.

use crate::evaluate::Evaluator;
use crate::result::Names;
use crate::run::RunError;
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::engine::TellError;
use bilevo_core::problem::{Failure, FailureKind, Level, ProblemSpec};

/// What a run does about failed evaluations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailurePolicy {
    /// How often to retry a failed evaluation.
    pub retries: u32,
    /// What to do if it still fails.
    pub then: AfterFailure,
}

/// What to do about an evaluation that failed after all retries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterFailure {
    /// The point ranks behind all others, and the run continues.
    #[default]
    Worst,
    /// Save the run and end it with an error.
    Stop,
}

/// If this many points, spread over the box, fail in the same way, that counts as a bug in the function.
pub const SAME_FAILURES: usize = 20;

/// Distinguishes a bug in a function from a function that fails in part of the box: a bug fails with the same message
/// at all of the first points, which are spread over the box. Values that are not finite, and time-outs, do not count
/// as bugs.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    upper: Seen,
    lower: Seen,
}

/// The points of a level so far.
#[derive(Debug, Default)]
struct Seen {
    points: usize,
    /// The first failure, and where.
    first: Option<(Vec<f64>, Vec<f64>, Failure)>,
    /// Whether one of them worked, or failed in another way.
    differ: bool,
}

impl Mistakes {
    /// Records the answers to points that are spread over the box.
    ///
    /// # Errors
    /// All of many failed in the same way.
    pub(crate) fn note(&mut self, spec: &ProblemSpec, batch: &Batch, replies: &Replies) -> Result<(), RunError> {
        let level = batch.level();
        let seen = if level == Level::Upper { &mut self.upper } else { &mut self.lower };
        seen.differ |= replies.failures().len() < batch.len();
        for (index, failure) in replies.failures() {
            let (x, y) = (batch.x(*index).to_vec(), batch.y(*index).to_vec());
            let (_, _, first) = seen.first.get_or_insert_with(|| (x, y, failure.clone()));
            seen.differ |= first.message != failure.message || is_expected(failure.kind);
            seen.points += 1;
        }
        match &seen.first {
            Some((x, y, failure)) if seen.points >= SAME_FAILURES && !seen.differ => {
                let (x, y, failure) = (x.clone(), y.clone(), failure.clone());
                let names = Names::of(spec).map(Box::new);
                Err(RunError::Mistake { level, points: seen.points, x, y, names, failure })
            }
            _ => Ok(()),
        }
    }
}

/// Whether a correct function may fail in this way anywhere.
fn is_expected(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::NotFinite | FailureKind::Timeout)
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

/// Evaluates a batch and makes sure that every point has an answer. An empty batch is not passed on.
///
/// # Errors
/// The evaluator gave up or left points without an answer.
pub(crate) fn evaluate_whole(
    evaluator: &mut dyn Evaluator,
    batch: &Batch,
    replies: &mut Replies,
) -> Result<(), RunError> {
    replies.start_on(evaluator.spec(), batch);
    if batch.is_empty() {
        return Ok(());
    }
    evaluator.evaluate(batch, replies)?;
    let (asked, told) = (batch.len(), replies.outcomes().len());
    if asked == told { Ok(()) } else { Err(TellError::Length { asked, told }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::EvaluatorError;
    use bilevo_core::problem::LevelSpec;

    /// An evaluator that must not be called.
    struct Gone(ProblemSpec);

    impl Evaluator for Gone {
        fn spec(&self) -> &ProblemSpec {
            &self.0
        }

        fn evaluate(&mut self, _: &Batch, _: &mut Replies) -> Result<(), EvaluatorError> {
            Err(EvaluatorError::new("nobody is here"))
        }
    }

    #[test]
    fn nobody_is_asked_about_nothing() {
        let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
        let mut gone = Gone(ProblemSpec::new("gone", level(), level()));
        let batch =
            |points: &[(&[f64], &[f64])]| Batch::from_points(&gone.0, Level::Lower, points.iter().copied()).unwrap();
        let (none, one) = (batch(&[]), batch(&[(&[0.5], &[0.5])]));
        let mut replies = Replies::default();
        assert!(evaluate_whole(&mut gone, &none, &mut replies).is_ok());
        assert!(evaluate_whole(&mut gone, &one, &mut replies).is_err());
    }
}
