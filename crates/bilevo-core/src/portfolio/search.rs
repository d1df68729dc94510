//! Searches: each asks for points, is told their values, and ends with a claim.
//!
//! All work in unit coordinates. Whatever a search evaluates is in the archive by the time the search is told of it.
//! Beyond that it remembers only its own course, not what other searches found.

pub(super) mod changed;
pub(super) mod descent;
pub(super) mod edge;
mod leader;
pub(super) mod population;
mod response;
pub(super) mod sample;
pub(super) mod smooth;
pub(super) mod survey;

use super::archive::{Archive, distance};
use super::claim::{Claim, Scales};
use crate::problem::{Level, ProblemSpec};
use crate::rng::{Stream, Streams};
use serde::{Deserialize, Serialize};

/// A claim near which a restart may end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Goal {
    pub(super) claim: Claim,
    /// How near, in every variable.
    pub(super) near: f64,
    /// How much worse its F may be, and how much better: a decision that is better by more is not at the same
    /// optimum.
    pub(super) above: f64,
    pub(super) below: f64,
}

impl Goal {
    /// Whether a decision with its answer is close enough.
    fn is_reached(&self, x: &[f64], y: &[f64], value: f64) -> bool {
        let excess = value - self.claim.value();
        excess <= self.above
            && excess >= -self.below
            && distance(x, &self.claim.x) <= self.near
            && distance(y, &self.claim.y) <= self.near
    }
}

/// What a search sees of the run.
pub(super) struct Ground<'a> {
    pub(super) spec: &'a ProblemSpec,
    pub(super) archive: &'a Archive,
    pub(super) scales: &'a Scales,
    pub(super) streams: Streams,
}

/// The sizes of a problem: variables, inequalities and equalities of both levels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) upper: [usize; 3],
    pub(super) lower: [usize; 3],
}

impl Shape {
    pub(super) fn of(spec: &ProblemSpec) -> Self {
        let of = |level: Level| {
            let level = spec.level(level);
            [level.dim(), level.inequalities, level.equalities]
        };
        Shape { upper: of(Level::Upper), lower: of(Level::Lower) }
    }

    pub(super) fn dim(&self) -> usize {
        self.upper[0] + self.lower[0]
    }

    /// The length of a row of values.
    pub(super) fn outputs(&self, level: Level) -> usize {
        let [_, inequalities, equalities] = if level == Level::Upper { self.upper } else { self.lower };
        1 + inequalities + equalities
    }

    pub(super) fn archive(&self) -> Archive {
        Archive::new(self.dim(), self.outputs(Level::Upper), self.outputs(Level::Lower))
    }
}

/// Points (x, y) of one level to be evaluated, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) level: Level,
    pub(super) dim: usize,
    pub(super) points: Vec<f64>,
}

impl Wanted {
    pub(super) fn new(dim: usize) -> Self {
        Wanted { level: Level::Lower, dim, points: Vec::new() }
    }

    pub(super) fn clear(&mut self, level: Level) {
        self.level = level;
        self.points.clear();
    }

    pub(super) fn push(&mut self, x: &[f64], y: &[f64]) {
        self.points.extend_from_slice(x);
        self.points.extend_from_slice(y);
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        self.points.chunks_exact(self.dim)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

/// The values of the points of a batch: a row for each, empty if the evaluation failed.
pub(super) type Rows = Vec<Vec<f64>>;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum End {
    /// At a point near which nothing is better.
    Converged,
    /// Close to a claim near which it may end.
    Arrived,
    /// Its evaluations are used up, or it was interrupted.
    Spent,
    /// Its surrogates say nothing about the follower.
    Lost,
}

/// This many points all over the unit box, one in every stripe of every variable.
fn latin_hypercube(count: usize, dim: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let orders: Vec<Vec<usize>> = (0..dim).map(|_| stream.choose(count, count)).collect();
    let mut point = |i: usize| orders.iter().map(|order| (order[i] as f64 + stream.uniform()) / count as f64).collect();
    (0..count).map(&mut point).collect()
}

/// One search.
pub(super) trait Search {
    /// Writes the next points; none if the search is over.
    fn ask(&mut self, ground: &Ground<'_>, wanted: &mut Wanted);

    /// Takes the values of the requested points.
    fn tell(&mut self, ground: &Ground<'_>, wanted: &Wanted, rows: &Rows);

    /// The best point it has found.
    fn claim(&self) -> Option<Claim>;

    /// How it ended; `None` while it continues.
    fn end(&self) -> Option<End>;

    /// Ends it with what it has, because no lower evaluations are left.
    fn cut(&mut self);

    /// How far it looks, as a share of the box, and how much farther in one direction than in another.
    fn reach(&self) -> (f64, f64) {
        (1.0, 1.0)
    }
}

#[cfg(test)]
pub(super) mod tests;
