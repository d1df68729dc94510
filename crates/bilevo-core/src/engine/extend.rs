//! Continues a run that has ended: with a larger budget, or because the follower has a better answer.

use super::Engine;
use super::boxes::Look;
use super::known::free;
use crate::candidate::Solved;
use crate::config::{Config, ConfigError};
use crate::record::StopReason;
use crate::stop::Budgets;

impl Engine {
    /// Raises the given budgets of a run; if the run ended because they were used up, it continues. With a larger
    /// upper budget, the result is the same, bit for bit, as if the run had started with it.
    ///
    /// # Errors
    /// A budget that is no larger than before or out of range; the run is unchanged then.
    pub fn extend(&mut self, wanted: Budgets) -> Result<(), ConfigError> {
        let mut config = self.config.clone();
        let before = &self.config.stop;
        let (lower, total) = (before.max_lower_evals.unwrap_or(u64::MAX), before.max_evals.unwrap_or(u64::MAX));
        let stop = &mut config.stop;
        let budgets = [
            (wanted.upper, &mut stop.max_upper_evals, self.sizes.budget.upper_evals, "stop.max_upper_evals"),
            (wanted.lower, &mut stop.max_lower_evals, lower, "stop.max_lower_evals"),
            (wanted.total, &mut stop.max_evals, total, "stop.max_evals"),
        ];
        for (wanted, budget, before, field) in budgets {
            let Some(wanted) = wanted.filter(|wanted| *wanted != before) else { continue };
            if wanted < before {
                let started = if before == u64::MAX { "without this limit".into() } else { format!("with {before}") };
                let reason = format!("the run was started {started}, and a budget can only be raised");
                return Err(ConfigError::Invalid { field: field.into(), got: wanted.to_string(), reason });
            }
            *budget = Some(wanted);
        }
        self.apply(config)
    }

    /// Reserves evaluations of the total budget for what follows the search: an audit.
    pub fn hold_back(&mut self, evals: u64) {
        self.watch.hold_back(&self.config.stop, evals);
    }

    /// Continues a run that has ended by itself, because the follower may prefer the answer `y` to the reported one.
    /// The method checks `y`, and searches on if `y` is indeed better. Returns false, and changes nothing, if the
    /// method cannot do that or no evaluations are left.
    pub fn object(&mut self, y: &[f64]) -> bool {
        let by_itself = matches!(self.stop, Some(StopReason::Agreed | StopReason::Flat));
        let own = |(best, elite): (Solved, &Solved)| best.x == elite.x;
        let reported = self.scheme.rechecked().zip(self.elite.as_ref()).is_some_and(own);
        if !by_itself || !reported || self.watch.spent(&self.budgeted()).is_some() {
            return false;
        }
        let y = free(&self.spec().lower.space, y);
        if let Some(larger) = self.boxes.reaching(&self.spec, &y) {
            // The box had become too small: the run continues in a larger one, from that answer.
            let Some(best) = self.elite.clone() else { return false };
            self.go_on_in(larger, Look::Whole, &Solved { y, ..best });
        } else if !self.scheme.object(&self.spec, &y) {
            return false;
        }
        self.stop = None;
        self.boxes.former = None;
        true
    }

    /// Call this when the run was interrupted: a solution that looks better but was never rechecked is not its
    /// answer.
    pub fn settle(&mut self) {
        self.elite = self.scheme.rechecked().or(self.elite.take());
    }

    fn apply(&mut self, config: Config) -> Result<(), ConfigError> {
        let sizes = config.check(&self.spec)?;
        self.watch.set_budgets(&config.stop, &sizes.budget);
        (self.config, self.sizes) = (config, sizes);
        let ended_by_budget =
            matches!(self.stop, Some(StopReason::UpperBudget | StopReason::LowerBudget | StopReason::Budget));
        if ended_by_budget && self.watch.spent(&self.budgeted()).is_none() {
            // If something else ended the run in the same generation, it stays ended. What the scheme makes of this
            // shows after one more generation.
            let flat = self.watch.stands_still(self.config.stop.flat_tolerance);
            self.stop = flat.then_some(StopReason::Flat);
        }
        Ok(())
    }
}
