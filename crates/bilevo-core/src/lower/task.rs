//! What all lower searches share: the rules they stop by, and the record of one task.

use crate::config::{LowerConfig, Settings};
use crate::order;
use crate::problem::{Outcome, ProblemSpec};
use serde::{Deserialize, Serialize};

/// Box, sizes and stop rules of a lower search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LowerRules {
    /// Box of the lower variables.
    pub bounds: Vec<(f64, f64)>,
    /// Points of a task in a generation.
    pub population: usize,
    /// Generations of a task at most.
    pub max_generations: usize,
    /// Lower evaluations over which a CMA-ES task must not change to have converged.
    pub window_evals: u64,
    /// Tasks that count as neighbours.
    pub neighbours: usize,
    /// Change that counts as none, relative ...
    pub relative_tolerance: f64,
    /// ... or absolute.
    pub absolute_tolerance: f64,
}

impl LowerRules {
    /// The rules of the main lower search.
    pub fn new(spec: &ProblemSpec, config: &LowerConfig, settings: &Settings) -> Self {
        LowerRules {
            bounds: spec.lower.bounds.clone(),
            population: settings.lower_population,
            max_generations: settings.lower_generations,
            window_evals: settings.budget.lower_window,
            neighbours: config.neighbours,
            relative_tolerance: config.relative_tolerance,
            absolute_tolerance: config.absolute_tolerance,
        }
    }

    /// The rules of the refining search: an independent CMA-ES of the usual population.
    pub fn refining(spec: &ProblemSpec, config: &LowerConfig, settings: &Settings) -> Self {
        LowerRules {
            population: settings.refine_population,
            max_generations: settings.refine_generations,
            ..LowerRules::new(spec, config, settings)
        }
    }

    /// Generations over which a CMA-ES task must not change to have converged.
    pub fn window(&self) -> usize {
        (self.window_evals as usize).div_ceil(self.population.max(1)).max(1)
    }
}

/// The follower's answer to one decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LowerAnswer {
    /// Best y found.
    pub y: Vec<f64>,
    /// Its lower objective and violation.
    pub outcome: Outcome,
    /// Whether the search ended because it had settled.
    pub converged: bool,
}

/// When a task may count as settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settling {
    /// First generation in which it may.
    pub(crate) earliest: usize,
    /// Generations, the present one included, over which the record must stand still.
    pub(crate) window: usize,
}

impl Settling {
    /// Not before the generation after the first full window.
    pub(crate) const fn after(window: usize) -> Self {
        Settling { earliest: window + 1, window }
    }

    /// As soon as there is a full window.
    pub(crate) const fn within(window: usize) -> Self {
        Settling { earliest: window, window }
    }

    /// Never.
    pub(crate) const NEVER: Settling = Settling { earliest: usize::MAX, window: 1 };
}

/// State of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// Still searching.
    Open,
    /// Settled.
    Converged,
    /// Out of generations.
    Spent,
}

/// One task: the decision, the best answer so far and how it came about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub(crate) x: Vec<f64>,
    pub(crate) best_y: Vec<f64>,
    pub(crate) best: Outcome,
    pub(crate) status: Status,
    /// r(1), r(2), ...: best value after each generation.
    records: Vec<f64>,
}

impl Task {
    /// A task nobody has searched for yet; `guess` stands until something is evaluated.
    pub(crate) fn new(x: &[f64], guess: &[f64]) -> Self {
        Task { x: x.to_vec(), best_y: guess.to_vec(), best: Outcome::FAILED, status: Status::Open, records: Vec::new() }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.status == Status::Open
    }

    /// Generations finished.
    pub(crate) fn generation(&self) -> usize {
        self.records.len()
    }

    /// Keeps a point if it is better than all before.
    pub(crate) fn offer(&mut self, y: &[f64], outcome: &Outcome) {
        if order::better(outcome, &self.best) {
            self.best = *outcome;
            self.best_y.copy_from_slice(y);
        }
    }

    /// Ends a generation: writes the record and closes the task if it has settled or used up its
    /// generations.
    pub(crate) fn end_generation(&mut self, settling: Settling, rules: &LowerRules) {
        self.records.push(self.best.value);
        if self.has_settled(settling, rules) {
            self.status = Status::Converged;
        } else if self.generation() >= rules.max_generations {
            self.status = Status::Spent;
        }
    }

    /// |r(g) - r(g-w+1)| small, relative to |r(1)| + |r(g)| or absolute.
    pub(crate) fn has_settled(&self, settling: Settling, rules: &LowerRules) -> bool {
        let g = self.generation();
        if g < settling.earliest.max(settling.window) {
            return false;
        }
        let change = (self.records[g - 1] - self.records[g - settling.window]).abs();
        change < rules.absolute_tolerance || change / self.scale() < rules.relative_tolerance
    }

    /// Relative change of the record over the last `window` generations.
    pub(crate) fn recent_change(&self, window: usize) -> f64 {
        let g = self.generation();
        if g < window { f64::INFINITY } else { (self.records[g - 1] - self.records[g - window]).abs() / self.scale() }
    }

    /// |r(1)| + |r(g)|
    fn scale(&self) -> f64 {
        self.records.first().map_or(0.0, |r| r.abs()) + self.records.last().map_or(0.0, |r| r.abs())
    }

    pub(crate) fn answer(&self) -> LowerAnswer {
        LowerAnswer { y: self.best_y.clone(), outcome: self.best, converged: self.status == Status::Converged }
    }
}
