//! The upper strategy: CMA-ES on the joint vector (x, y).
//!
//! It samples candidates (a decision x and a guess of the answer y), hands the lower part of its
//! distribution down to the lower searches, and moves towards the best solved candidates.
//! Randomness: `Purpose::Start` once, `Purpose::Sample` for every sampling round.

use crate::cma::{Cma, CmaParams, Scratch};
use crate::problem::ProblemSpec;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// A leader's decision that may get a lower search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The decision.
    pub x: Vec<f64>,
    /// The answer the upper distribution expects.
    pub guess: Vec<f64>,
}

/// What the upper level knows when lower searches start.
#[derive(Clone, Debug)]
pub struct LowerPrior {
    /// Distribution of the answers: where lower searches start from.
    pub lower: Cma,
    /// Distribution of the decisions: the metric in which tasks are near or far.
    pub upper: Cma,
}

/// State of the upper strategy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Upper {
    cma: Cma,
    params: CmaParams,
    bounds: Vec<(f64, f64)>,
    upper_dim: usize,
    #[serde(skip)]
    scratch: Scratch,
}

impl Upper {
    /// Starts at a uniform point of the box with a step of `initial_step` median box widths.
    pub fn new(spec: &ProblemSpec, population: usize, initial_step: f64, stream: &mut Stream) -> Self {
        let bounds: Vec<(f64, f64)> = spec.upper.bounds.iter().chain(&spec.lower.bounds).copied().collect();
        let mean = bounds.iter().map(|&(low, high)| low + (high - low) * stream.uniform()).collect();
        let mut widths: Vec<f64> = bounds.iter().map(|&(low, high)| high - low).collect();
        widths.sort_by(f64::total_cmp);
        let middle = widths.len() / 2;
        let median = if widths.len() % 2 == 1 { widths[middle] } else { 0.5 * (widths[middle - 1] + widths[middle]) };
        Upper {
            cma: Cma::round(mean, initial_step * median),
            params: CmaParams::new(bounds.len(), population),
            upper_dim: spec.upper.dim(),
            bounds,
            scratch: Scratch::default(),
        }
    }

    /// Draws a population of candidates.
    pub fn sample(&self, stream: &mut Stream) -> Vec<Candidate> {
        let mut point = vec![0.0; self.bounds.len()];
        let draw = |_| {
            self.cma.sample(stream, &self.bounds, &mut point);
            let (x, guess) = point.split_at(self.upper_dim);
            Candidate { x: x.to_vec(), guess: guess.to_vec() }
        };
        (0..self.params.population).map(draw).collect()
    }

    /// The distribution lower searches start from: the same for every x, as published.
    pub fn lower_prior(&mut self) -> LowerPrior {
        let (m, d) = (self.upper_dim, self.bounds.len());
        LowerPrior {
            upper: self.cma.marginal(0..m, &mut self.scratch),
            lower: self.cma.marginal(m..d, &mut self.scratch),
        }
    }

    /// Moves towards solved points (x, y), best first.
    pub fn update<'a>(&mut self, solved: impl Iterator<Item = (&'a [f64], &'a [f64])>) {
        let points: Vec<Vec<f64>> = solved.map(|(x, y)| [x, y].concat()).collect();
        self.cma.update(&self.params, points.iter().map(Vec::as_slice), &mut self.scratch);
    }

    /// Current step size.
    pub fn step_size(&self) -> f64 {
        self.cma.step_size
    }

    /// Ratio of the longest to the shortest axis.
    pub fn axis_ratio(&self) -> f64 {
        self.cma.axis_ratio()
    }

    /// Whether the distribution is too small to tell its points apart.
    pub fn is_collapsed(&self) -> bool {
        let reach = |i: usize| self.cma.step_size * self.cma.cov[i * (self.bounds.len() + 1)].sqrt();
        (0..self.bounds.len()).all(|i| self.cma.mean[i] + 0.1 * reach(i) == self.cma.mean[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::LevelSpec;
    use crate::rng::{Purpose, Streams};

    fn upper(widths: [f64; 4]) -> Upper {
        let level = |widths: &[f64]| LevelSpec::boxed(widths.iter().map(|&w| (0.0, w)).collect());
        let spec = ProblemSpec::new("boxes", level(&widths[..1]), level(&widths[1..]));
        Upper::new(&spec, 8, 0.3, &mut stream(0))
    }

    fn stream(index: u64) -> Stream {
        Streams::new(1).open(Purpose::Sample, 1, index)
    }

    #[test]
    fn the_first_step_is_a_share_of_the_median_width() {
        assert_eq!(upper([1.0, 100.0, 2.0, 4.0]).step_size(), 0.3 * 3.0);
        let mean = upper([1.0, 100.0, 2.0, 4.0]).cma.mean;
        assert!(mean.iter().zip([1.0, 100.0, 2.0, 4.0]).all(|(m, w)| (0.0..w).contains(m)));
    }

    #[test]
    fn candidates_are_split_and_inside() {
        let upper = upper([1.0, 100.0, 2.0, 4.0]);
        let candidates = upper.sample(&mut stream(1));
        assert_eq!(candidates.len(), 8);
        for Candidate { x, guess } in &candidates {
            assert_eq!((x.len(), guess.len()), (1, 3));
            assert!((0.0..=1.0).contains(&x[0]) && (0.0..=100.0).contains(&guess[0]));
        }
        assert_eq!(candidates, upper.sample(&mut stream(1)));
        assert_ne!(candidates, upper.sample(&mut stream(2)));
    }

    #[test]
    fn the_prior_is_the_distribution_in_two_parts() {
        let mut upper = upper([1.0, 100.0, 2.0, 4.0]);
        let solved = [([0.1], [3.0, 1.0, 1.0]), ([0.2], [4.0, 1.5, 2.0]), ([0.3], [9.0, 0.5, 3.0])];
        upper.update(solved.iter().map(|(x, y)| (x.as_slice(), y.as_slice())));
        let prior = upper.lower_prior();
        assert_eq!([&prior.upper.mean[..], &prior.lower.mean[..]].concat(), upper.cma.mean);
        assert_eq!((prior.upper.cov[0], prior.lower.cov[0]), (upper.cma.cov[0], upper.cma.cov[5]));
    }

    #[test]
    fn a_distribution_collapses_when_its_points_are_one() {
        let mut upper = upper([1.0, 1.0, 1.0, 1.0]);
        assert!(!upper.is_collapsed());
        upper.cma.mean = vec![0.5; 4];
        upper.cma.step_size = 1e-17;
        assert!(upper.is_collapsed());
        // One coordinate that still moves is enough to go on.
        upper.cma.mean[2] = 0.0;
        assert!(!upper.is_collapsed());
    }
}
