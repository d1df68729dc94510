//! The share of candidates that are searched follows the measured accuracy of the model.
//!
//! Every generation shows how well the model ordered solutions it had not seen. A new model is first tested while
//! every candidate is still searched. After that, the share falls linearly from `keep_max`, at an accuracy of one
//! half (no better than a coin toss), to `keep_min`, at 0.85 and above. Accuracy is an average over about the last
//! sixty pairs, so a model that becomes outdated loses its influence within a few generations.
//!
//! With a poor model the share is larger, but not all candidates are searched: such a model does little harm as
//! long as more than half are searched, and smaller generations allow more of them within the same budget.

use super::ShareRule;
use crate::allocate::{Rounding, kept};
use crate::config::Config;
use serde::{Deserialize, Serialize};

/// Accuracy of a coin toss.
const COIN: f64 = 0.5;
/// From this accuracy on, the share is smallest.
const ACCURATE: f64 = 0.85;
/// Pairs on which a new model is tested before it decides anything: two full generations of eight.
const TEST: f64 = 50.0;
/// After this many pairs, an observation has lost most of its weight.
const MEMORY: f64 = 60.0;

/// The share, and the record of the model on which it depends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    rule: ShareRule,
    fixed: f64,
    rounding: Rounding,
    max: f64,
    min: f64,
    /// Correct pairs and all pairs, with fading weights.
    correct: f64,
    pairs: f64,
    /// All pairs judged so far.
    tested: f64,
}

impl Share {
    /// No record yet.
    pub fn new(config: &Config) -> Self {
        Share {
            rule: config.contrastive.share,
            fixed: config.allocator.keep,
            rounding: config.allocator.rounding,
            max: config.contrastive.keep_max,
            min: config.contrastive.keep_min,
            correct: 0.0,
            pairs: 0.0,
            tested: 0.0,
        }
    }

    /// Records how many of some new pairs the model ordered correctly.
    pub fn observe(&mut self, correct: f64, pairs: f64) {
        let fading = libm::exp(-pairs / MEMORY);
        self.correct = fading * self.correct + correct;
        self.pairs = fading * self.pairs + pairs;
        self.tested += pairs;
    }

    /// Number of candidates to search out of `population`.
    pub fn keep(&self, population: usize) -> usize {
        let rounding = match self.rule {
            ShareRule::Fixed => self.rounding,
            ShareRule::Adaptive => Rounding::Nearest,
        };
        kept(self.value(), population, rounding)
    }

    /// Share of the candidates to search.
    pub fn value(&self) -> f64 {
        match self.rule {
            ShareRule::Fixed => self.fixed,
            ShareRule::Adaptive if self.tested < TEST => 1.0,
            ShareRule::Adaptive => {
                let worth = ((self.correct / self.pairs - COIN) / (ACCURATE - COIN)).clamp(0.0, 1.0);
                self.max + worth * (self.min - self.max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ContrastiveConfig;

    fn after(observations: &[(f64, f64)]) -> f64 {
        let mut share = Share::new(&Config::default());
        observations.iter().for_each(|&(correct, pairs)| share.observe(correct, pairs));
        share.value()
    }

    #[test]
    fn a_new_model_decides_nothing() {
        assert_eq!(after(&[]), 1.0);
        assert_eq!(after(&[(28.0, 28.0)]), 1.0);
        assert!(after(&[(28.0, 28.0), (28.0, 28.0)]) < 0.5);
    }

    #[test]
    fn the_share_falls_with_accuracy() {
        let config = ContrastiveConfig::default();
        assert_eq!(after(&[(30.0, 60.0)]), config.keep_max);
        assert_eq!(after(&[(6.0, 60.0)]), config.keep_max);
        assert_eq!(after(&[(60.0, 60.0)]), config.keep_min);
        let shares: Vec<f64> = (30..60).map(|correct| after(&[(f64::from(correct), 60.0)])).collect();
        assert!(shares.windows(2).all(|w| w[1] <= w[0]));
    }

    #[test]
    fn a_model_that_loses_touch_loses_its_say() {
        let good = (60.0, 60.0);
        let bad = (1.5, 3.0);
        assert_eq!(after(&[good, good]), ContrastiveConfig::default().keep_min);
        let mut history = vec![good, good];
        history.extend([bad; 60]);
        assert!(after(&history) > 0.55, "{}", after(&history));
    }

    #[test]
    fn a_fixed_share_stays() {
        let mut config = Config { contrastive: ContrastiveConfig::published(), ..Config::default() };
        let mut share = Share::new(&config);
        assert_eq!((share.value(), share.keep(7)), (0.5, 4));
        share.observe(0.0, 100.0);
        assert_eq!(share.value(), 0.5);
        config.allocator.rounding = Rounding::Down;
        assert_eq!(Share::new(&config).keep(7), 3);
    }
}
