//! A leader's decision before and after its lower search.

use crate::problem::{Outcome, ProblemSpec};
use crate::record::Solution;
use serde::{Deserialize, Serialize};

/// A leader's decision that may get a lower search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The decision.
    pub x: Vec<f64>,
    /// The answer that the upper level expects.
    pub guess: Vec<f64>,
}

/// A leader's decision with the follower's answer, and the values of both in the engine's terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solved {
    /// The decision.
    pub x: Vec<f64>,
    /// The answer.
    pub y: Vec<f64>,
    /// F and the violation that counts at the upper level.
    pub upper: Outcome,
    /// Values of the upper constraints.
    pub upper_constraints: Vec<f64>,
    /// f and the violation of the lower constraints.
    pub lower: Outcome,
    /// Whether the lower search had converged.
    pub converged: bool,
}

impl Solved {
    /// Records the upper evaluation.
    pub fn judge(&mut self, spec: &ProblemSpec, upper: &Outcome, constraints: &[f64]) {
        let violation = spec.upper_violation(upper.violation, self.lower.violation);
        self.upper = Outcome { value: upper.value, violation };
        self.upper_constraints.clear();
        self.upper_constraints.extend_from_slice(constraints);
    }

    /// The values in the problem's own direction.
    pub fn as_seen(&self, spec: &ProblemSpec) -> Solution {
        Solution {
            x: self.x.clone(),
            y: self.y.clone(),
            upper_value: spec.upper.direction.flip(self.upper.value),
            lower_value: spec.lower.direction.flip(self.lower.value),
            upper_violation: self.upper.violation,
            lower_violation: self.lower.violation,
        }
    }
}
