//! A search for noisy values: both levels are smoothed over a region that moves and shrinks.
//!
//! 1. Points all over the region are evaluated at both levels.
//! 2. Each level's model accounts for the noise: it smooths all values of the region instead of passing through them.
//! 3. The best decision on the models, with the answer that they predict, becomes the middle of the next region. If
//!    it lies well inside and is known well, the region shrinks. The search ends when the noise hides all that is
//!    left.
//! 4. The last middle is evaluated several times, and the claim gets the means.
//!
//! Randomness: `Purpose::Noise`, one stream for each round of each search.

use super::response::Response;
use super::{End, Ground, Rows, Search, Shape, Wanted};
use crate::minimise::{self, Region, Slice};
use crate::portfolio::archive::Points;
use crate::portfolio::claim::Claim;
use crate::portfolio::merit::Merit;
use crate::problem::Level;
use crate::rng::{Purpose, Streams};
use crate::surrogate::Surrogate;
use serde::{Deserialize, Serialize};

/// Half the width of the first region, as a share of the box.
const REGION: f64 = 0.5;
/// The number of rounds, and of points in one, in addition to the coefficients of a quadratic function.
const ROUNDS: u64 = 20;
const MORE: usize = 6;
/// A model sees the points of this many rounds, but at most this many points, and this much beyond the region.
const SEEN: (usize, usize) = (8, 300);
const BEYOND: f64 = 1.5;
/// The region shrinks to this share if the next middle is nearer than the second number, and its error less than the
/// third.
const SHRINK: (f64, f64, f64) = (0.6, 0.5, 0.25);
/// The evaluations of the claim at each level.
const REPEATS: usize = 8;
/// The noise of exact values, as a share of their variance: if one level is noisy, the models of the other are
/// smoothed too.
const EXACT: f64 = 1e-9;
/// The rounds in which the scale of a function is learnt together with its noise.
const LEARNT: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// The points of a round.
    Region,
    /// The claim, repeatedly.
    Claim,
    Ended(End),
}

/// The search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Smooth {
    m: usize,
    /// For the random streams.
    number: u64,
    round: u64,
    centre: Vec<f64>,
    radius: f64,
    merits: [Merit; 2],
    stage: Stage,
    wanted: Wanted,
    /// Lower means of the claim, and the claim.
    lower: Vec<f64>,
    claim: Option<Claim>,
}

impl Smooth {
    /// A search from a point (x, y); `size` is that of the first region relative to the largest.
    pub(in crate::portfolio) fn new(shape: Shape, point: Vec<f64>, size: f64, number: u64, streams: &Streams) -> Self {
        let merits =
            [shape.upper, shape.lower].map(|[_, inequalities, equalities]| Merit::new(inequalities, equalities));
        let mut new = Smooth {
            m: shape.upper[0],
            number,
            round: 0,
            centre: point,
            radius: size * REGION,
            merits,
            stage: Stage::Region,
            wanted: Wanted::new(shape.dim()),
            lower: Vec::new(),
            claim: None,
        };
        new.sample(streams);
        new
    }

    /// Points of a round.
    fn count(&self) -> usize {
        let dim = self.centre.len();
        1 + dim + dim * (dim + 1) / 2 + MORE
    }

    /// The points of the next round.
    fn sample(&mut self, streams: &Streams) {
        let mut stream = streams.open(Purpose::Noise, self.number, self.round);
        self.wanted.clear(Level::Lower);
        for _ in 0..self.count() {
            let near = |c: &f64| (c + self.radius * (2.0 * stream.uniform() - 1.0)).clamp(0.0, 1.0);
            self.wanted.points.extend(self.centre.iter().map(near));
        }
        self.round += 1;
    }

    /// The model of one level, and its values at the middle.
    fn model(&self, points: &Points, noise: f64) -> Option<(Surrogate, Vec<f64>)> {
        let limit = (SEEN.0 * self.count()).min(SEEN.1);
        let (mut sample, mut row) = points.within(&self.centre, BEYOND * self.radius, limit);
        let dim = self.centre.len();
        if sample.len < dim + 2 {
            return None;
        }
        let lengths = vec![self.radius; dim];
        sample.noise = 1.0;
        let mut model = Surrogate::with_lengths(&sample, row.len(), &lengths);
        for _ in 0..LEARNT {
            sample.noise = (noise * noise / model.variance(0)).max(EXACT);
            model = Surrogate::with_lengths(&sample, row.len(), &lengths);
        }
        row.iter_mut().zip(model.offsets()).for_each(|(value, offset)| *value += offset);
        Some((model, row))
    }

    /// The middle moves to the best decision on the models.
    fn step(&mut self, ground: &Ground<'_>) -> bool {
        let [upper, lower] = [(&ground.archive.upper, 0), (&ground.archive.lower, 1)]
            .map(|(points, level): (&Points, usize)| self.model(points, ground.archive.noise[level]));
        let (Some((upper, above)), Some((lower, below))) = (upper, lower) else { return false };
        let (x, y) = self.centre.split_at(self.m);
        let (here, answers) = (Region::around(x, self.radius), Region::around(y, self.radius));
        let [leader, follower] = &mut self.merits;
        let constraints = follower.constraints(&below);
        let start = vec![0.0; self.m];
        let mut response = Response::new(&upper, &lower, answers.clone(), constraints, follower.multipliers());
        let step = minimise::minimise(&mut response, &here, leader.constraints(&above), &start, leader.multipliers());
        leader.learn(&above, &response, &step);
        let answer = response.answer(&step.z).to_vec();
        let error = minimise::doubt(&mut response, &step).size;
        let mut slice = Slice::new(&lower, &step.z);
        let own = minimise::minimise(&mut slice, &answers, constraints, &answer, follower.multipliers());
        follower.learn(&below, &slice, &own);
        let error = error.max(minimise::doubt(&mut slice, &own).size);
        let moved = minimise::norm(&step.z).max(minimise::norm(&answer));
        self.centre.iter_mut().zip(step.z.iter().chain(&answer)).for_each(|(c, z)| *c = (*c + z).clamp(0.0, 1.0));
        if moved <= SHRINK.1 * self.radius && error <= SHRINK.2 * self.radius {
            self.radius *= SHRINK.0;
        }
        true
    }

    /// After a round: another one, or the claim.
    fn go_on(&mut self, ground: &Ground<'_>) {
        if !self.step(ground) {
            return self.finish(End::Lost);
        }
        if self.round < ROUNDS {
            return self.sample(&ground.streams);
        }
        self.stage = Stage::Claim;
        self.wanted.clear(Level::Lower);
        (0..REPEATS).for_each(|_| self.wanted.points.extend_from_slice(&self.centre));
    }

    fn finish(&mut self, end: End) {
        self.stage = Stage::Ended(end);
        self.wanted.points.clear();
    }
}

impl Search for Smooth {
    fn ask(&mut self, _ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clone_from(&self.wanted);
    }

    fn tell(&mut self, ground: &Ground<'_>, wanted: &Wanted, rows: &Rows) {
        match (self.stage, wanted.level) {
            (Stage::Region, Level::Lower) => self.wanted.level = Level::Upper,
            (Stage::Region, Level::Upper) => self.go_on(ground),
            (Stage::Claim, Level::Lower) => {
                self.lower = means(rows);
                self.wanted.level = Level::Upper;
            }
            (Stage::Claim, Level::Upper) => {
                let (upper, lower) = (means(rows), std::mem::take(&mut self.lower));
                let (x, y) = self.centre.split_at(self.m);
                let (x, y, sound) = (x.to_vec(), y.to_vec(), !upper.is_empty() && !lower.is_empty());
                self.claim = sound.then_some(Claim { x, y, upper, lower, settled: true });
                self.finish(if sound { End::Converged } else { End::Lost });
            }
            (Stage::Ended(_), _) => {}
        }
    }

    fn claim(&self) -> Option<Claim> {
        self.claim.clone()
    }

    fn end(&self) -> Option<End> {
        match self.stage {
            Stage::Ended(end) => Some(end),
            _ => None,
        }
    }

    fn cut(&mut self) {
        self.finish(End::Spent);
    }

    fn reach(&self) -> (f64, f64) {
        (self.radius, 1.0)
    }
}

/// The means of all values that did not fail; `None` if all did. They are added up in order of size, because equal
/// points may come back in any order.
fn means(rows: &Rows) -> Vec<f64> {
    let sound: Vec<&Vec<f64>> = rows.iter().filter(|row| !row.is_empty()).collect();
    let outputs = sound.first().map_or(0, |row| row.len());
    let mean = |output: usize| {
        let mut values: Vec<f64> = sound.iter().map(|row| row[output]).collect();
        values.sort_by(f64::total_cmp);
        values.iter().sum::<f64>() / values.len() as f64
    };
    (0..outputs).map(mean).collect()
}

#[cfg(test)]
mod tests;
