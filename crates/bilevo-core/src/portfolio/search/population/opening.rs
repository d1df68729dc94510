//! The opening of a generation: sample, allocate, open the followers.

use super::{Population, STEP, Stage, TOLERANCES};
use crate::allocate::{Allocation, Sampled};
use crate::candidate::Candidate;
use crate::cma::Cma;
use crate::portfolio::follower::{Effort, Follower, apart, predict};
use crate::portfolio::search::Ground;
use crate::rng::{Purpose, Stream};

/// The share of the coordinates outside the box that move to the bound; the others move halfway to it. Optima often
/// lie on bounds.
const AT_BOUND: f64 = 0.5;

impl Population {
    /// The spread of the leader's variables.
    pub(super) fn spread(&self) -> f64 {
        let d = self.cma.mean.len();
        let sum: f64 = (0..self.m).map(|i| self.cma.cov[i * d + i]).sum();
        (self.cma.step_size * (sum / self.m as f64).sqrt()).min(STEP)
    }

    /// Samples and chooses candidates, and starts their followers.
    pub(super) fn open(&mut self, ground: &Ground<'_>) {
        self.generation += 1;
        let chosen = self.choose(ground);
        let (spread, n) = (self.spread(), self.params.dim - self.m);
        let tolerance = (TOLERANCES.0 * spread).max(1e-7);
        self.followers.clear();
        self.starts.clear();
        for candidate in chosen {
            let nearest =
                self.judged.iter().min_by(|a, b| apart(&a.x, &candidate.x).total_cmp(&apart(&b.x, &candidate.x)));
            // In every other population, the samples alone choose the basin of the follower.
            let base = nearest.filter(|_| self.number.is_multiple_of(2)).cloned();
            let (y, instead, radius) = match base {
                Some(base) => {
                    let far = apart(&base.x, &candidate.x);
                    let lower = &ground.archive.lower;
                    let (y, instead) = predict(&base, &candidate.x, tolerance, lower, &mut self.knowledge);
                    (y, Some(instead), 0.5 * far)
                }
                None => (candidate.guess, None, spread),
            };
            let effort = Effort { radius: radius.max(4.0 * tolerance), tolerance, evaluations: 10 + 4 * n };
            self.followers.push(Follower::new(candidate.x, y.clone(), Vec::new(), effort).or(instead));
            self.starts.push(y);
        }
        self.stage = Stage::Follow;
    }

    /// Samples until the allocator is content.
    fn choose(&mut self, ground: &Ground<'_>) -> Vec<Candidate> {
        let population = self.params.population;
        let mut candidates = Vec::new();
        let mut point = vec![0.0; self.params.dim];
        let mut round = 0;
        let run = loop {
            let mut stream = ground.streams.open(Purpose::Sample, self.generation, round);
            for _ in 0..population {
                sample(&self.cma, &mut stream, &mut point);
                candidates.push(Candidate { x: point[..self.m].to_vec(), guess: point[self.m..].to_vec() });
            }
            let mut stream = ground.streams.open(Purpose::Allocate, self.generation, round);
            let sampled = Sampled { candidates: &candidates, population, round: round as usize };
            match self.allocator.allocate(&sampled, &mut stream) {
                Allocation::Run(run) => break run,
                Allocation::Resample => round += 1,
            }
        };
        self.searches.run += run.len() as u64;
        self.searches.skipped += (population - run.len().min(population)) as u64;
        self.searches.resampled += round * population as u64;
        run.iter().map(|&index| candidates[index].clone()).collect()
    }
}

/// Draws a point; each coordinate outside the box moves to the bound or halfway to it.
fn sample(cma: &Cma, stream: &mut Stream, point: &mut [f64]) {
    cma.draw(stream, point);
    for (coordinate, &mean) in point.iter_mut().zip(&cma.mean) {
        if !(0.0..=1.0).contains(coordinate) {
            let bound = if *coordinate < 0.0 { 0.0 } else { 1.0 };
            let halfway = (0.5 * mean + 0.5 * bound).clamp(0.0, 1.0);
            *coordinate = if stream.uniform() < AT_BOUND { bound } else { halfway };
        }
    }
}

#[cfg(test)]
mod tests;
