//! From what a user wrote to what a run needs: every number filled in and within its range.

use super::{Config, ConfigError, LowerKind};
use crate::problem::{Budget, ProblemSpec};
use serde::{Deserialize, Serialize};

impl Config {
    /// Fills in what depends on the problem and refuses what makes no sense.
    ///
    /// # Errors
    /// The first field that is out of range, or a problem that cannot be run.
    pub fn check(&self, spec: &ProblemSpec) -> Result<Settings, ConfigError> {
        spec.check()?;
        self.check_ranges()?;
        let own = spec.budget();
        let stop = &self.stop;
        let budget = Budget {
            upper_evals: stop.max_upper_evals.unwrap_or(own.upper_evals),
            upper_window: stop.upper_window.unwrap_or(own.upper_window),
            lower_evals: stop.lower_search_evals.unwrap_or(own.lower_evals),
            lower_window: stop.lower_window.unwrap_or(own.lower_window),
        };
        let usual = self.upper.population_rule.size(spec.lower.dim());
        let lower_population = self.lower.population.unwrap_or(match self.lower.kind {
            LowerKind::TransferDe => 4,
            LowerKind::Collaborative => 1,
            _ => usual,
        });
        let generations = |population: usize| (budget.lower_evals as usize).div_ceil(population).max(1);
        let lower_generations = self.lower.max_generations.unwrap_or(match self.lower.kind {
            LowerKind::Collaborative => 18,
            _ => generations(lower_population),
        });
        let refine_generations = self.refine.max_generations.unwrap_or(generations(usual));
        Ok(Settings {
            population: self.upper.population.unwrap_or(self.upper.population_rule.size(spec.dim())),
            budget,
            lower_population,
            lower_generations,
            refine_population: usual,
            refine_generations,
        })
    }

    fn check_ranges(&self) -> Result<(), ConfigError> {
        const MANY: usize = 1_000_000;
        let whole =
            |field, value: Option<usize>, low: usize| in_range(field, value.map(|v| v as f64), low as f64, MANY as f64);
        let evals = |field, value: Option<u64>| in_range(field, value.map(|v| v as f64), 1.0, 1e15);
        let share = |field, value: f64, low: f64, high: f64| in_range(field, Some(value), low, high);
        let (upper, lower, allocator, stop) = (&self.upper, &self.lower, &self.allocator, &self.stop);
        whole("upper.population", upper.population, 4)?;
        share("upper.initial_step", upper.initial_step, 1e-9, 1e3)?;
        let least = match lower.kind {
            LowerKind::Collaborative => {
                if lower.population.is_some_and(|p| p != 1) {
                    let reason = "a collaborative search has one solution for each task".into();
                    return Err(ConfigError::invalid("lower.population", &format!("{:?}", lower.population), reason));
                }
                1
            }
            _ => 4,
        };
        whole("lower.population", lower.population, least)?;
        whole("lower.max_generations", lower.max_generations, 1)?;
        whole("lower.neighbours", Some(lower.neighbours), 1)?;
        share("lower.relative_tolerance", lower.relative_tolerance, 0.0, 1.0)?;
        share("lower.absolute_tolerance", lower.absolute_tolerance, 0.0, 1e300)?;
        share("allocator.keep", allocator.keep, 0.01, 1.0)?;
        share("allocator.keep_doubted", allocator.keep_doubted, 0.01, 1.0)?;
        share("allocator.keep_proven", allocator.keep_proven, 0.01, 1.0)?;
        in_range("allocator.explore", Some(allocator.explore as f64), 0.0, 1000.0)?;
        in_range("allocator.recall", Some(allocator.recall as f64), 0.0, 1e6)?;
        in_range("allocator.resample_rounds", Some(allocator.resample_rounds as f64), 0.0, 1000.0)?;
        in_range("allocator.hidden", Some(allocator.hidden as f64), 1.0, 4096.0)?;
        whole("allocator.epochs", Some(allocator.epochs), 1)?;
        share("allocator.learning_rate", allocator.learning_rate, 1e-9, 1e3)?;
        in_range("allocator.window", Some(allocator.window as f64), 2.0, 10_000.0)?;
        in_range("allocator.first_training", Some(allocator.first_training as f64), 2.0, allocator.window as f64)?;
        whole("allocator.pairs_per_weight", Some(allocator.pairs_per_weight), 1)?;
        share("refine.probability", self.refine.probability, 0.0, 1.0)?;
        whole("refine.max_generations", self.refine.max_generations, 1)?;
        evals("stop.max_upper_evals", stop.max_upper_evals)?;
        evals("stop.max_lower_evals", stop.max_lower_evals)?;
        evals("stop.upper_window", stop.upper_window)?;
        evals("stop.lower_search_evals", stop.lower_search_evals)?;
        evals("stop.lower_window", stop.lower_window)?;
        share("stop.flat_tolerance", stop.flat_tolerance, 0.0, 1e300)?;
        share("stop.target_tolerance", stop.target_tolerance, 0.0, 1e300)?;
        share("stop.lower_target_tolerance", stop.lower_target_tolerance, 0.0, 1e300)
    }
}

/// The numbers that a config and a problem's size give together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Candidates in an upper generation.
    pub population: usize,
    /// Budgets of the run and of a lower search.
    pub budget: Budget,
    /// Points of a lower task in a generation.
    pub lower_population: usize,
    /// Generations of a lower task at most.
    pub lower_generations: usize,
    /// Points of a refining search in a generation.
    pub refine_population: usize,
    /// Generations of a refining search at most.
    pub refine_generations: usize,
}

fn in_range(field: &'static str, value: Option<f64>, low: f64, high: f64) -> Result<(), ConfigError> {
    match value {
        Some(got) if !(low..=high).contains(&got) => Err(ConfigError::OutOfRange { field, got, low, high }),
        _ => Ok(()),
    }
}
