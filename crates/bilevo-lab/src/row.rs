//! One finished run: the row that the store keeps and that tables, figures and reports are made of.

use bilevo::{Accuracy, Tolerances};
use serde::{Deserialize, Serialize};

/// One point of a convergence curve: the elite after a generation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Upper evaluations so far.
    pub upper_evals: u64,
    /// Lower evaluations so far.
    pub lower_evals: u64,
    /// F of the elite.
    pub upper_value: f64,
    /// |F - F*| of the elite, where F* is known.
    pub accuracy: Option<f64>,
}

/// One finished run with its provenance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// Method, as in `cr-bl-cma-es`.
    pub method: String,
    /// Problem, as in `smd1`.
    pub problem: String,
    /// Hash of the problem's definition if it comes from a file; empty for a built-in problem,
    /// which the version identifies.
    #[serde(default)]
    pub problem_hash: String,
    /// Upper variables.
    pub upper_dim: usize,
    /// Lower variables.
    pub lower_dim: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Settings that differ from the method's own, as `path=value` joined by blanks; often empty.
    pub settings: String,
    /// Hash of the whole config.
    pub config_hash: String,
    /// The whole config as JSON.
    pub config: String,
    /// Version of bilevo that made the row.
    pub version: String,
    /// Leader's decision.
    pub x: Vec<f64>,
    /// Follower's answer.
    pub y: Vec<f64>,
    /// F.
    pub upper_value: f64,
    /// f.
    pub lower_value: f64,
    /// Violation at the upper level.
    pub upper_violation: f64,
    /// Violation at the lower level.
    pub lower_violation: f64,
    /// |F - F*|, where known.
    pub upper_accuracy: Option<f64>,
    /// |f - f*|, where known.
    pub lower_accuracy: Option<f64>,
    /// Upper evaluations.
    pub upper_evals: u64,
    /// Lower evaluations, refinement included.
    pub lower_evals: u64,
    /// Lower evaluations of refinement.
    pub refine_lower_evals: u64,
    /// Failed evaluations, upper level.
    pub failed_upper: u64,
    /// Failed evaluations, lower level.
    pub failed_lower: u64,
    /// Lower searches run.
    pub searches_run: u64,
    /// Lower searches skipped.
    pub searches_skipped: u64,
    /// Candidates sampled again.
    pub searches_resampled: u64,
    /// Mean accuracy of the ranking model, if any.
    pub model_accuracy: Option<f64>,
    /// Trainings of the ranking model.
    pub trainings: u64,
    /// Generations.
    pub generations: u64,
    /// Why the run ended (snake_case, as in the JSON of `solve`).
    pub stop: String,
    /// Wall time of the run.
    pub seconds: f64,
    /// Wall time of the trainings within it.
    pub training_seconds: f64,
    /// The elite over the run: a step function, each point valid until the next. Empty when rows
    /// were loaded without traces.
    pub trace: Vec<TracePoint>,
}

impl RunRow {
    /// Upper and lower evaluations together.
    pub fn total_evals(&self) -> u64 {
        self.upper_evals.saturating_add(self.lower_evals)
    }

    /// Whether the run found a known optimum, as everywhere ([`Tolerances::accept`]).
    pub fn solved(&self) -> Option<bool> {
        let distance = Accuracy { upper: self.upper_accuracy?, lower: self.lower_accuracy };
        Some(Tolerances::default().accept(&distance, [self.upper_violation, self.lower_violation]))
    }
}
