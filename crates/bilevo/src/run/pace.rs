//! How many points of a slow batch to evaluate before checking anything else, given the time of earlier evaluations.
//! This decides only how a batch is divided, never the result.

use crate::evaluate::{Evaluator, question};
use crate::observe::PROGRESS_TIME;
use bilevo_core::batch::Batch;
use std::time::Duration;

/// The time that a piece may take.
const PIECE: Duration = Duration::from_millis(PROGRESS_TIME.as_millis() as u64 / 2);

/// The time of one evaluation, by kind of question.
#[derive(Debug, Default)]
pub(super) struct Pace {
    each: [Option<Duration>; 3],
}

impl Pace {
    /// The number of points of `batch` to evaluate next, given how many are left.
    pub(super) fn points(&self, evaluator: &dyn Evaluator, batch: &Batch, left: usize) -> usize {
        if !evaluator.is_one_by_one() {
            return left;
        }
        // The first point shows how expensive the others may be.
        let Some(each) = self.each[question(batch)] else { return left.min(1) };
        let points = PIECE.as_nanos() / each.as_nanos().max(1);
        left.min(usize::try_from(points).unwrap_or(usize::MAX).max(1))
    }

    pub(super) fn note(&mut self, batch: &Batch, points: usize, took: Duration) {
        self.each[question(batch)] = u32::try_from(points).ok().and_then(|points| took.checked_div(points));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Serial, Threads};
    use bilevo_core::problem::Level;

    #[test]
    fn slow_batches_are_cut_where_nothing_is_lost() {
        let problem = bilevo_problems::problem("smd1", None).unwrap();
        let points = [(&[0.0; 2][..], &[0.0; 3][..]); 100];
        let batch = |level| Batch::from_points(problem.spec(), level, points).unwrap();
        let (lower, upper) = (batch(Level::Lower), batch(Level::Upper));
        let (serial, threads) = (Serial::new(&*problem), Threads::new(&*problem, 2).unwrap());
        let mut pace = Pace::default();
        assert_eq!(pace.points(&serial, &lower, 100), 1, "the first tells what the others cost");
        pace.note(&lower, 1, Duration::from_millis(100));
        assert_eq!(pace.points(&serial, &lower, 100), 5);
        assert_eq!(pace.points(&serial, &lower, 3), 3);
        assert_eq!(pace.points(&serial, &upper, 100), 1, "the levels cost what they cost");
        pace.note(&upper, 10, Duration::from_secs(100));
        assert_eq!(pace.points(&serial, &upper, 100), 1);
        assert_eq!(pace.points(&threads, &upper, 100), 100, "threads would wait for each other");
        pace.note(&lower, 100, Duration::ZERO);
        assert_eq!(pace.points(&serial, &lower, 100), 100);
    }
}
