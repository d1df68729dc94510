//! The follower's problem at one decision of the leader, as the audit sees it: variables scaled to
//! [0, 1], evaluations counted, the best answer kept.

use super::local::Row;
use super::{AuditOptions, Counts, Ended};
use crate::evaluate::Evaluator;
use crate::policy::evaluate_whole;
use crate::run::RunError;
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::problem::{Level, ProblemSpec};
use bilevo_core::record::Solution;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// An answer of the follower with everything known about it; objectives minimised.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) u: Vec<f64>,
    pub(super) row: Row,
    pub(super) violation: f64,
}

/// Violations up to this are rounding errors.
const ROUNDING: f64 = 1e-9;
/// How many feasible answers determine the variation of f.
const FEW: usize = 8;
/// In a thin feasible set, f counts as varying by at least this share of its variation over the box.
const THIN: f64 = 1e-4;
/// If f hardly varies at this x, this share of its variation in the run counts.
const FLAT: f64 = 0.1;

/// The leader's values for an answer; objective minimised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    pub(super) value: f64,
    /// Violation of the upper constraints alone.
    pub(super) violation: f64,
}

/// The follower's problem at one x.
pub(super) struct Follower<'a> {
    evaluator: &'a mut dyn Evaluator,
    options: &'a AuditOptions,
    spec: ProblemSpec,
    x: Vec<f64>,
    /// Limits on lower evaluations, and on evaluations of both levels.
    budget: u64,
    total: u64,
    replies: Replies,
    pub(super) counts: Counts,
    pub(super) best: Option<Point>,
    /// Violations up to this are rounding errors. The value of an answer that violates constraints more than the
    /// reported one does not count as better.
    rounding: f64,
    /// The usual variation of f and of F.
    pub(super) scale: f64,
    pub(super) leader_scale: f64,
}

impl<'a> Follower<'a> {
    pub(super) fn new(evaluator: &'a mut dyn Evaluator, options: &'a AuditOptions, x: &[f64], budget: u64) -> Self {
        let spec = evaluator.spec().clone();
        let (replies, counts) = (Replies::default(), Counts::default());
        // One evaluation is reserved for the leader's values of the final answer.
        let total = options.max_evals.map_or(u64::MAX, |evals| evals.saturating_sub(1));
        let (x, best, rounding, scale) = (x.to_vec(), None, ROUNDING, 0.0);
        let leader_scale = 0.0;
        Follower { evaluator, options, spec, x, budget, total, replies, counts, best, rounding, scale, leader_scale }
    }

    /// Records the reported answer. Until more is known, its values determine the scales.
    pub(super) fn reported(&mut self, solution: &Solution) {
        let feasible = solution.lower_violation <= self.options.violation;
        self.rounding = if feasible { solution.lower_violation.max(ROUNDING) } else { ROUNDING };
        self.scale = solution.lower_value.abs().max(1.0);
        self.leader_scale = solution.upper_value.abs().max(1.0);
    }

    /// Learns the usual variation of f from a sample of answers. The variation in the run counts if it is smaller, as
    /// in a box that is far too wide; and a share of it counts if f hardly varies at this x, as for an indifferent
    /// follower.
    pub(super) fn measure(&mut self, sample: &[Point]) {
        let feasible: Vec<f64> = sample.iter().filter(|p| self.is_feasible(p)).map(|p| p.row.value).collect();
        let thin = feasible.len() < FEW;
        let values = if thin { sample.iter().map(|p| p.row.value).collect() } else { feasible };
        let here = usual_change(values);
        let seen = self.options.seen.scale.filter(|scale| *scale > 0.0);
        self.scale = match (here, seen) {
            // In a thin feasible set, answers may differ only by rounding.
            (Some(here), Some(seen)) if thin => here.min(seen).max(THIN * here),
            (Some(here), Some(seen)) => here.min(seen).max(FLAT * seen),
            (None, Some(seen)) => seen,
            (Some(here), None) => here,
            (None, None) => self.scale,
        };
    }

    /// The same from neighbouring whole-number answers, the closest that answers can be.
    pub(super) fn measure_steps(&mut self, near: &[Point]) {
        let Some(best) = &self.best else { return };
        let changes = near.iter().filter(|p| self.is_feasible(p)).map(|p| (p.row.value - best.row.value).abs());
        self.scale = changes.filter(|change| *change > 0.0).fold(self.scale, f64::min);
    }

    /// The same for F.
    pub(super) fn measure_leader(&mut self, views: impl Iterator<Item = f64>) {
        self.leader_scale = usual_change(views.collect()).unwrap_or(self.leader_scale);
    }

    /// Allows this many more lower evaluations.
    pub(super) fn extend(&mut self, more: u64) {
        self.budget = self.budget.max(self.counts.lower).saturating_add(more);
    }

    /// Releases the reserved evaluation.
    pub(super) fn spend_all(&mut self) {
        self.total = self.total.saturating_add(1);
    }

    /// Lower evaluations left.
    pub(super) fn left(&self) -> u64 {
        let Counts { upper, lower, .. } = self.counts;
        self.budget.saturating_sub(lower).min(self.total.saturating_sub(upper + lower))
    }

    /// Number of variables.
    pub(super) fn dim(&self) -> usize {
        self.spec.lower.dim()
    }

    /// Number of inequalities.
    pub(super) fn inequalities(&self) -> usize {
        self.spec.lower.inequalities
    }

    /// Whether an answer is feasible within the tolerance.
    pub(super) fn is_feasible(&self, point: &Point) -> bool {
        point.violation <= self.options.violation
    }

    /// Whether the follower prefers `a`. The tolerance gives no advantage: an answer that needs it ranks behind those
    /// that do not.
    pub(super) fn prefers(&self, a: &Point, b: &Point) -> bool {
        let class = |point: &Point| (point.violation > self.rounding, !self.is_feasible(point));
        match (class(a), class(b)) {
            (a_class, b_class) if a_class != b_class => a_class < b_class,
            ((_, true), _) => a.violation < b.violation,
            _ => a.row.value < b.row.value,
        }
    }

    /// The answer in the problem's own variables.
    pub(super) fn unscaled(&self, u: &[f64]) -> Vec<f64> {
        self.spec.lower.space.from_unit(u)
    }

    /// An answer in scaled variables.
    pub(super) fn scaled(&self, y: &[f64]) -> Vec<f64> {
        self.spec.lower.space.to_unit(y)
    }

    /// Answers that the run saw elsewhere, scaled.
    pub(super) fn seen(&self) -> Vec<Vec<f64>> {
        self.options.seen.answers.iter().map(|y| self.scaled(y)).collect()
    }

    /// Evaluates the follower's objective and constraints; `None` if that failed.
    ///
    /// # Errors
    /// The audit has to end.
    pub(super) fn lower(&mut self, points: &[Vec<f64>]) -> Result<Vec<Option<Point>>, Ended> {
        if self.left() == 0 {
            return Err(Ended::Budget);
        }
        let answers: Vec<Vec<f64>> = points.iter().map(|u| self.unscaled(u)).collect();
        self.evaluate(Level::Lower, &answers)?;
        let found: Vec<Option<Point>> = points
            .iter()
            .zip(self.replies.outcomes())
            .enumerate()
            .map(|(index, (u, outcome))| {
                let row = Row { value: outcome.value, constraints: self.replies.constraints(index).to_vec() };
                (!outcome.is_failed()).then(|| Point { u: u.clone(), row, violation: outcome.violation })
            })
            .collect();
        for point in found.iter().flatten() {
            if self.best.as_ref().is_none_or(|best| self.prefers(point, best)) {
                self.best = Some(point.clone());
            }
        }
        Ok(found)
    }

    /// Evaluates the leader's objective and constraints; `None` if that failed.
    ///
    /// # Errors
    /// The audit has to end.
    pub(super) fn upper(&mut self, points: &[Vec<f64>]) -> Result<Vec<Option<View>>, Ended> {
        if self.counts.upper + self.counts.lower >= self.total {
            return Err(Ended::Budget);
        }
        let answers: Vec<Vec<f64>> = points.iter().map(|u| self.unscaled(u)).collect();
        self.evaluate(Level::Upper, &answers)?;
        let outcomes = self.replies.outcomes().iter();
        Ok(outcomes.map(|o| (!o.is_failed()).then_some(View { value: o.value, violation: o.violation })).collect())
    }

    fn evaluate(&mut self, level: Level, answers: &[Vec<f64>]) -> Result<(), Ended> {
        if self.options.stop.load(Ordering::Relaxed) {
            return Err(Ended::Interrupted);
        }
        if self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Ended::OutOfTime);
        }
        let points = answers.iter().map(|y| (&self.x[..], &y[..]));
        let batch = Batch::from_points(&self.spec, level, points).map_err(|error| Ended::Lost(error.to_string()))?;
        let evaluated = evaluate_whole(self.evaluator, &batch, &mut self.replies);
        evaluated.map_err(|error| match error {
            RunError::Evaluator(error) if error.is_out_of_time => Ended::OutOfTime,
            error => Ended::Lost(error.to_string()),
        })?;
        let count = answers.len() as u64;
        match level {
            Level::Upper => self.counts.upper += count,
            Level::Lower => self.counts.lower += count,
        }
        self.counts.failed += self.replies.failures().len() as u64;
        Ok(())
    }
}

/// The distance between the quartiles of some values, or between their ends if that is zero; `None` if they differ
/// only by rounding.
fn usual_change(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (first, last) = values.first().zip(values.last())?;
    let rounding = 16.0 * f64::EPSILON * first.abs().max(last.abs()).max(1.0);
    let quartiles = values[3 * (values.len() - 1) / 4] - values[(values.len() - 1) / 4];
    [quartiles, last - first].into_iter().find(|change| *change > rounding)
}
