//! When a run ends.

use crate::allocate::Solved;
use crate::config::{StopConfig, Target};
use crate::problem::{Budget, ProblemSpec};
use crate::record::{Evaluations, StopReason};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Generations in a row without one successful upper evaluation that end a run.
const PATIENCE: u64 = 3;

/// Budgets, and what the run has shown of progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StopWatch {
    upper_evals: u64,
    lower_evals: u64,
    window: u64,
    first: Option<f64>,
    /// (upper evaluations, F of the elite) after each generation, as far back as the window.
    history: VecDeque<(u64, f64)>,
    fruitless: u64,
}

impl StopWatch {
    /// A watch at the start of a run.
    pub(crate) fn new(config: &StopConfig, budget: &Budget) -> Self {
        StopWatch {
            upper_evals: budget.upper_evals,
            lower_evals: config.max_lower_evals.unwrap_or(u64::MAX),
            window: budget.upper_window,
            first: None,
            history: VecDeque::new(),
            fruitless: 0,
        }
    }

    /// Whether no further lower evaluation may be asked for.
    pub(crate) fn lower_budget_is_spent(&self, evaluations: &Evaluations) -> bool {
        evaluations.lower >= self.lower_evals
    }

    /// Whether a solution meets the target, where one is known and asked for.
    pub(crate) fn target_is_met(&self, config: &StopConfig, spec: &ProblemSpec, solution: &Solved) -> bool {
        let Some(best) = spec.best_known else { return false };
        let tolerance = config.target_tolerance;
        let upper = (spec.upper.direction.flip(solution.upper.value) - best.upper).abs() < tolerance;
        let lower = || {
            let value = spec.lower.direction.flip(solution.lower.value);
            best.lower.is_none_or(|lower| (value - lower).abs() < config.lower_target_tolerance)
        };
        let feasible = || solution.upper.violation <= tolerance && solution.lower.violation <= tolerance;
        match config.target {
            Target::Off => false,
            Target::Upper => upper,
            Target::Both => upper && lower() && feasible(),
        }
    }

    /// Looks at the run after a generation.
    pub(crate) fn reason(
        &mut self,
        config: &StopConfig,
        evaluations: &Evaluations,
        elite: Option<&Solved>,
        all_failed: bool,
    ) -> Option<StopReason> {
        self.fruitless = if all_failed { self.fruitless + 1 } else { 0 };
        let flat = elite.is_some_and(|elite| self.is_flat(config.flat_tolerance, evaluations.upper, elite.upper.value));
        if self.fruitless >= PATIENCE {
            Some(StopReason::AllFailed)
        } else if evaluations.upper >= self.upper_evals {
            Some(StopReason::UpperBudget)
        } else if self.lower_budget_is_spent(evaluations) {
            Some(StopReason::LowerBudget)
        } else {
            flat.then_some(StopReason::Flat)
        }
    }

    /// Whether F of the elite changed by less than the tolerance, absolute and relative to
    /// |F_first| + |F_now|, over the last window of upper *evaluations*. (Counted in generations,
    /// an allocator that halves a generation would halve the patience.)
    fn is_flat(&mut self, tolerance: f64, evaluations: u64, value: f64) -> bool {
        let first = *self.first.get_or_insert(value);
        self.history.push_back((evaluations, value));
        let start = evaluations.saturating_sub(self.window);
        while self.history.get(1).is_some_and(|&(at, _)| at <= start) {
            self.history.pop_front();
        }
        match self.history.front() {
            Some(&(at, then)) if at <= start && evaluations >= self.window => {
                let change = (value - then).abs();
                // No change at all is flat even at F = 0, where no change is relatively small.
                change == 0.0 || change < tolerance && change < tolerance * (first.abs() + value.abs())
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> StopWatch {
        let budget = Budget { upper_evals: 1000, upper_window: 50, lower_evals: 1, lower_window: 1 };
        StopWatch::new(&StopConfig::default(), &budget)
    }

    #[test]
    fn flat_counts_evaluations_not_generations() {
        for step in [1, 10, 25] {
            let mut watch = watch();
            let mut at = 0;
            let end = loop {
                at += step;
                if watch.is_flat(1e-6, at, 7.0) {
                    break at;
                }
            };
            assert!((50..=50 + step).contains(&end), "step {step}: {end}");
        }
    }

    #[test]
    fn slow_change_is_not_flat() {
        let mut watch = watch();
        assert!((1..100).all(|i| !watch.is_flat(1e-6, 10 * i, 1e-6 * i as f64)));
    }

    #[test]
    fn failing_generations_end_the_run() {
        let mut watch = watch();
        let config = StopConfig::default();
        let evaluations = Evaluations::default();
        assert_eq!(watch.reason(&config, &evaluations, None, true), None);
        assert_eq!(watch.reason(&config, &evaluations, None, true), None);
        assert_eq!(watch.reason(&config, &evaluations, None, true), Some(StopReason::AllFailed));
    }
}
