//! Differential evolution as functions: one operator serves the DE and the multiobjective search.

use crate::cma::Bounds;
use crate::rng::Stream;

/// The four points a trial is made of.
#[derive(Clone, Copy, Debug)]
pub struct Parents<'a> {
    /// The point to improve.
    pub target: &'a [f64],
    /// A good point to move towards.
    pub guide: &'a [f64],
    /// Start and ...
    pub plus: &'a [f64],
    /// ... end of the difference, reversed.
    pub minus: &'a [f64],
}

/// Writes a trial: v = target + s (guide - target) + s (plus - minus), crossed with the target
/// coordinate by coordinate at `rate`, one coordinate for sure; a coordinate outside its box
/// becomes the midpoint of the target's and the bound.
pub fn trial(parents: Parents<'_>, scale: f64, rate: f64, bounds: &Bounds, stream: &mut Stream, trial: &mut [f64]) {
    let Parents { target, guide, plus, minus } = parents;
    let sure = stream.below(target.len());
    for (k, coordinate) in trial.iter_mut().enumerate() {
        let crossed = stream.uniform() < rate || k == sure;
        *coordinate = if crossed {
            let moved = target[k] + scale * (guide[k] - target[k]) + scale * (plus[k] - minus[k]);
            repair(moved, target[k], bounds[k])
        } else {
            target[k]
        };
    }
}

/// Back into the box, to the midpoint of `inside` and the violated bound.
fn repair(value: f64, inside: f64, (low, high): (f64, f64)) -> f64 {
    if value < low {
        0.5 * (inside + low)
    } else if value > high {
        0.5 * (inside + high)
    } else {
        value
    }
}

/// Success-history memory of crossover rate and scale.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SuccessMemory {
    rates: Vec<f64>,
    scales: Vec<f64>,
    next: usize,
}

/// One success: the parameters used and how much they gained.
#[derive(Clone, Copy, Debug)]
pub struct Success {
    /// Crossover rate.
    pub rate: f64,
    /// Scale.
    pub scale: f64,
    /// Improvement.
    pub gain: f64,
}

impl SuccessMemory {
    /// A memory of `size` pairs, all one half.
    pub fn new(size: usize) -> Self {
        SuccessMemory { rates: vec![0.5; size], scales: vec![0.5; size], next: 0 }
    }

    /// Draws (rate, scale): rate ~ N(remembered, 0.1) in [0, 1], scale ~ Cauchy(remembered, 0.1)
    /// in (0, 1].
    pub fn draw(&self, stream: &mut Stream) -> (f64, f64) {
        let slot = stream.below(self.rates.len());
        let rate = (self.rates[slot] + 0.1 * stream.normal()).clamp(0.0, 1.0);
        let scale = loop {
            let scale = stream.cauchy(self.scales[slot], 0.1);
            if scale > 0.0 {
                break scale.min(1.0);
            }
        };
        (rate, scale)
    }

    /// Remembers the gain-weighted Lehmer means of what succeeded.
    pub fn learn(&mut self, successes: &[Success]) {
        if successes.is_empty() {
            return;
        }
        let lehmer = |of: fn(&Success) -> f64| {
            let total: f64 = successes.iter().map(|s| s.gain).sum();
            let usable = total > 0.0 && total.is_finite();
            let weight = |s: &Success| if usable { s.gain / total } else { 1.0 };
            let squares: f64 = successes.iter().map(|s| weight(s) * of(s) * of(s)).sum();
            let plain: f64 = successes.iter().map(|s| weight(s) * of(s)).sum();
            if plain > 0.0 { squares / plain } else { 0.0 }
        };
        self.rates[self.next] = lehmer(|s| s.rate);
        self.scales[self.next] = lehmer(|s| s.scale).max(1e-3);
        self.next = (self.next + 1) % self.rates.len();
    }

    /// Replaces the memory by a weighted mean of memories.
    pub fn blend<'a>(mixture: impl Iterator<Item = (f64, &'a SuccessMemory)>, own: &SuccessMemory) -> SuccessMemory {
        let mut blended =
            SuccessMemory { rates: vec![0.0; own.rates.len()], scales: vec![0.0; own.scales.len()], next: own.next };
        for (weight, memory) in mixture {
            crate::linalg::add_scaled(&mut blended.rates, weight, &memory.rates);
            crate::linalg::add_scaled(&mut blended.scales, weight, &memory.scales);
        }
        blended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    #[test]
    fn trials_stay_in_the_box_and_change_something() {
        let mut stream = Streams::new(1).open(Purpose::Lower, 0, 0);
        let bounds = [(-1.0, 1.0); 4];
        let points = [[0.9, -0.9, 0.0, 0.5], [1.0, -1.0, 1.0, -1.0], [1.0; 4], [-1.0; 4]];
        let parents = Parents { target: &points[0], guide: &points[1], plus: &points[2], minus: &points[3] };
        let mut child = [0.0; 4];
        for _ in 0..200 {
            trial(parents, 1.0, 0.2, &bounds, &mut stream, &mut child);
            assert!(child.iter().all(|c| (-1.0..=1.0).contains(c)));
            assert_ne!(child, points[0]);
        }
    }

    #[test]
    fn memory_follows_success() {
        let mut memory = SuccessMemory::new(2);
        memory.learn(&[Success { rate: 0.9, scale: 0.8, gain: 3.0 }, Success { rate: 0.1, scale: 0.1, gain: 1.0 }]);
        // Lehmer mean: (3/4 0.81 + 1/4 0.01) / (3/4 0.9 + 1/4 0.1)
        assert!((memory.rates[0] - 0.61 / 0.7).abs() < 1e-12, "{memory:?}");
        memory.learn(&[]);
        assert_eq!(memory.next, 1);
        memory.learn(&[Success { rate: 0.3, scale: 0.4, gain: f64::INFINITY }]);
        assert!((memory.rates[1] - 0.3).abs() < 1e-12 && memory.next == 0);
    }
}
