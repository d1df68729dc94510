//! A run with an audit of its answer: what the audit objects goes back into the run.

use super::{Run, RunError, RunOptions};
use crate::audit::{self, Audit, AuditOptions, Counts, Position};
use crate::checkpoint::Slot;
use crate::evaluate::{Evaluator, TimeLimits, Within};
use crate::observe::Observer;
use crate::result::{RunResult, Status};
use bilevo_core::record::Solution;
use std::sync::Arc;
use std::time::Instant;

/// The share of the time, and of the evaluations, that is reserved for an audit, if one is requested.
const AUDIT_SHARE: f64 = 0.2;
/// How often a run continues because an audit found a better answer for the follower.
const OBJECTIONS: u32 = 8;

impl Run {
    /// Continues like [`Run::go`] and then checks the answer, if asked to ([`mod@crate::audit`]). If the follower has
    /// a better answer, the run continues with it, up to three times ([`object`](bilevo_core::engine::Engine::object)). The audit uses the run's
    /// seed, position and stop flag unless `audit` says otherwise.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn go_audited(
        &mut self,
        evaluator: &mut dyn Evaluator,
        options: &RunOptions,
        audit: Option<&AuditOptions>,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunResult, RunError> {
        let slot = self.claim(options)?;
        self.go_audited_with(slot, evaluator, options, audit, observers)
    }

    pub(crate) fn go_audited_with(
        &mut self,
        mut slot: Option<Slot>,
        evaluator: &mut dyn Evaluator,
        options: &RunOptions,
        audit: Option<&AuditOptions>,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunResult, RunError> {
        let total = self.engine.config().stop.max_evals;
        let held = total.filter(|_| audit.is_some()).map_or(0, |total| (total as f64 * AUDIT_SHARE) as u64);
        self.engine.hold_back(held);
        let Some(wanted) = audit else { return self.go_with(slot.as_mut(), evaluator, options, observers) };
        let deadline = self.end_of(options.time_limit);
        let time_limit = options.time_limit.map(|limit| limit.mul_f64(1.0 - AUDIT_SHARE));
        let searching = RunOptions { time_limit, ..options.clone() };
        let mut earlier = Counts::default();
        let mut objections = 0;
        loop {
            let mut result = self.go_with(slot.as_mut(), evaluator, &searching, observers)?;
            let Some(solution) = result.solution.as_ref().filter(|_| result.stop != Status::Interrupted) else {
                return Ok(result);
            };
            let start = Instant::now();
            evaluator.limit(TimeLimits { end: deadline, each: options.eval_timeout });
            let rest = |most: u64, spent: u64| most.saturating_sub(spent + earlier.total());
            let left = total.map(|total| rest(total, result.evaluations.total()));
            let max_evals = wanted.max_evals.map(|most| rest(most, 0)).into_iter().chain(left).min();
            let wanted = AuditOptions { deadline, max_evals, stop: Arc::clone(&options.stop), ..wanted.clone() };
            let (mut finding, position) = self.audit(evaluator, solution, wanted);
            finding.evaluations = finding.evaluations.and(earlier);
            earlier = finding.evaluations;
            self.engine.hold_back(held + earlier.total());
            // The limit includes the audit.
            self.times.seconds += start.elapsed().as_secs_f64();
            let in_time = self.end_of(time_limit).is_none_or(|end| Instant::now() < end);
            let better = finding.objection().filter(|_| objections < OBJECTIONS && in_time);
            if !better.is_some_and(|response| self.engine.object(&response.y)) {
                result.times = self.times;
                result.audited(finding, position, &self.engine);
                return Ok(result);
            }
            objections += 1;
        }
    }

    /// The audit of a solution, and the position that it assumes.
    fn audit(
        &self,
        evaluator: &mut dyn Evaluator,
        solution: &Solution,
        wanted: AuditOptions,
    ) -> (Audit, Option<Position>) {
        let position = wanted.position.or(Position::of(self.engine.config()));
        let (seed, seen) = (self.engine.seed(), self.engine.follower_seen(&solution.x));
        let wanted = AuditOptions { seed, position, seen, ..wanted };
        let searched = self.engine.searched();
        // If the run has shrunk the box, it may have lost the follower's true answer.
        let smaller = searched.is_some() && !self.engine.spec().is_open();
        let finding = audit::audit(&mut Within::new(evaluator, searched), solution, &wanted);
        if !smaller || !finding.passed() {
            return (finding, position);
        }
        let rest = wanted.max_evals.map(|most| most.saturating_sub(finding.evaluations.total()));
        let mut wide = audit::audit(evaluator, solution, &AuditOptions { max_evals: rest, ..wanted });
        let evaluations = finding.evaluations.and(wide.evaluations);
        wide.evaluations = evaluations;
        let finding = if wide.objection().is_some() { wide } else { Audit { evaluations, ..finding } };
        (finding, position)
    }
}
