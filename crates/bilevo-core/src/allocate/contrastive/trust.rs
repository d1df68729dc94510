//! Whether the model is in charge.
use crate::config::TrustRule;
use serde::{Deserialize, Serialize};

/// Running accuracy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trust {
    rule: TrustRule,
    correct: f64,
    pairs: f64,
    floor: f64,
    memory: f64,
}
impl Trust {
    /// New.
    pub fn new(rule: TrustRule) -> Self {
        Trust { rule, correct: 0.0, pairs: 0.0, floor: 0.6, memory: 60.0 }
    }
    /// Observe.
    pub fn observe(&mut self, correct: f64, pairs: f64) {
        let keep = libm::exp(-pairs / self.memory);
        self.correct = keep * self.correct + correct;
        self.pairs = keep * self.pairs + pairs;
    }
    /// Is it earned.
    pub fn is_earned(&self) -> bool {
        self.rule == TrustRule::Always || self.pairs == 0.0 || self.correct / self.pairs >= self.floor
    }
}
