//! One finished run as the store keeps it: its result, the config it was run with, and its curve.

use bilevo::{Accuracy, RunId, RunResult};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One point of a convergence curve: the elite after a generation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Upper evaluations so far.
    pub upper_evals: u64,
    /// Lower evaluations so far.
    pub lower_evals: u64,
    /// F of the elite.
    pub upper_value: f64,
    /// |F - F*| of the elite, if F* is known.
    pub accuracy: Option<f64>,
}

impl TracePoint {
    /// Upper and lower evaluations together.
    pub fn total_evals(&self) -> u64 {
        self.upper_evals.saturating_add(self.lower_evals)
    }
}

/// One finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The result.
    pub result: RunResult,
    /// The whole config as JSON; rows with the same config share it.
    pub config: Arc<str>,
    /// The elite over the run: a step function, each point valid until the next. Empty when rows
    /// were loaded without traces.
    pub trace: Vec<TracePoint>,
}

impl Row {
    /// The identity of the run.
    pub fn id(&self) -> &RunId {
        &self.result.id
    }

    /// Upper and lower evaluations together.
    pub fn total_evals(&self) -> u64 {
        self.result.evaluations.total()
    }

    /// Distance from the best known values, if they are known and the run has an answer.
    pub fn accuracy(&self) -> Option<Accuracy> {
        self.result.accuracy
    }

    /// Whether the problem was solved; `None` if its optimum is unknown.
    pub fn solved(&self) -> Option<bool> {
        self.result.solved
    }
}
