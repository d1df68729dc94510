//! Everything that was evaluated, at both levels, in unit coordinates.
//!
//! Nothing is ever dropped: what a model sees depends on distance. A search sees everything that it evaluated itself,
//! but only nearby points of other searches, because far points mislead a local model (handing whole archives on lost
//! 4 of 258 runs).

use crate::problem::Level;
use crate::surrogate::{Sample, Surrogate};
use serde::{Deserialize, Serialize};

/// Points whose value exceeds the centre's by more than this many times the (dim+2)-th smallest difference are left
/// out, because a pole would bend the whole model.
const POLE: f64 = 100.0;
/// Points that differ by at least this much in some variable tell about different parts of the box.
const APART: f64 = 0.05;
/// The maximum number of points from which scales are computed.
const SCALED: usize = 64;
/// The maximum number of points to look through, latest first: this many, plus this many for each variable.
const LATEST: (usize, usize) = (100, 1000);

/// The number of latest points among which a search looks for a point that it asks for again.
const LATELY: usize = 100;
/// A generous bound on the rounding error of a sum of squares.
const ROUNDED: f64 = 1.0 + 1e-9;
/// The number of fits after which the lengths are known and hardly change.
const SEASONED: usize = 40;

/// Points of one level, with a row of values each: the objective, then the constraints. The row of a failed
/// evaluation is NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Points {
    dim: usize,
    outputs: usize,
    points: Vec<f64>,
    rows: Vec<f64>,
    /// Valid points that lie apart from each other, in the order of their evaluation.
    apart: Vec<usize>,
}

impl Points {
    pub(crate) fn new(dim: usize, outputs: usize) -> Self {
        Points { dim, outputs, points: Vec::new(), rows: Vec::new(), apart: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len() / self.outputs
    }

    /// Appends a point; an empty row is a failure.
    pub(crate) fn push(&mut self, point: &[f64], row: &[f64]) {
        let sound = row.len() == self.outputs && row.iter().all(|v| v.is_finite());
        self.points.extend_from_slice(point);
        if sound {
            self.rows.extend_from_slice(row);
            let last = self.len() - 1;
            let far = |&i: &usize| distance(self.point(i), point) > APART;
            if self.apart.len() < SCALED && self.apart.iter().all(far) {
                self.apart.push(last);
            }
        } else {
            self.rows.resize(self.rows.len() + self.outputs, f64::NAN);
        }
    }

    pub(crate) fn point(&self, index: usize) -> &[f64] {
        &self.points[index * self.dim..(index + 1) * self.dim]
    }

    /// The values at a point; NaN if its evaluation failed.
    pub(crate) fn values(&self, index: usize) -> &[f64] {
        &self.rows[index * self.outputs..(index + 1) * self.outputs]
    }

    /// The values at a point; none if its evaluation failed.
    pub(crate) fn row(&self, index: usize) -> Option<&[f64]> {
        Some(self.values(index)).filter(|row| row[0].is_finite())
    }

    /// Changes the values of a point.
    pub(crate) fn set_row(&mut self, index: usize, row: &[f64]) {
        self.rows[index * self.outputs..(index + 1) * self.outputs].copy_from_slice(row);
    }

    /// Whether exactly this point is among the latest.
    pub(crate) fn has_lately(&self, point: &[f64]) -> bool {
        (self.len().saturating_sub(LATELY)..self.len()).any(|i| self.point(i) == point)
    }

    /// The latest evaluation of exactly this point.
    pub(crate) fn find(&self, point: &[f64]) -> Option<usize> {
        (0..self.len()).rev().find(|&i| self.point(i) == point)
    }

    /// The number of points that lie apart from each other, as far as we count them.
    pub(crate) fn spread(&self) -> usize {
        self.apart.len()
    }

    /// The usual variation of a function over the box: the difference of its quartiles at points that lie apart from
    /// each other, so that the many points near an optimum count as one.
    pub(crate) fn scale(&self, output: usize) -> f64 {
        let mut values: Vec<f64> = self.apart.iter().map(|i| self.rows[i * self.outputs + output]).collect();
        values.sort_by(f64::total_cmp);
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return 1.0 };
        let quartiles = values[3 * values.len() / 4] - values[values.len() / 4];
        let candidates = [quartiles, last - first, first.abs().max(last.abs())];
        candidates.into_iter().find(|s| *s > 0.0 && s.is_finite()).unwrap_or(1.0)
    }

    /// The latest points within `reach` of `centre` along every variable, at most `limit`, as differences from it and
    /// from the mean values, which are returned with them.
    pub(crate) fn within(&self, centre: &[f64], reach: f64, limit: usize) -> (Sample, Vec<f64>) {
        let near = |i: &usize| self.row(*i).is_some() && distance(self.point(*i), centre) <= reach;
        let near: Vec<usize> = (0..self.len()).rev().filter(near).take(limit).collect();
        let mut sample = Sample { len: near.len(), ..Sample::default() };
        for i in &near {
            sample.points.extend(self.point(*i).iter().zip(centre).map(|(p, c)| p - c));
        }
        let mut means = Vec::new();
        for output in 0..self.outputs {
            let values = || near.iter().map(|i| self.rows[i * self.outputs + output]);
            let mean = values().sum::<f64>() / near.len().max(1) as f64;
            sample.values.extend(values().map(|v| v - mean));
            means.push(mean);
        }
        (sample, means)
    }

    /// The points nearest to `centre` in units of the learner's lengths, at most `limit`, nearest first. Points of
    /// other searches must lie within `reach`.
    fn nearest(&self, centre: &[f64], learner: &Learner, limit: usize, reach: f64) -> Vec<(f64, usize)> {
        let latest = LATEST.0 * self.dim + LATEST.1;
        let first = self.len().saturating_sub(latest);
        let near_enough = |p: &[f64]| {
            // The first coordinate alone rules out most points.
            (p[0] - centre[0]).abs() <= reach && {
                let square: f64 = p.iter().zip(centre).map(|(p, c)| (p - c) * (p - c)).sum();
                square <= reach * reach
            }
        };
        let inverses: Vec<f64> = learner.lengths.iter().map(|l| 1.0 / l).collect();
        // Of equally near points the first, so that nothing depends on the sorting.
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let (mut near, mut bound) = (Vec::with_capacity(2 * limit), f64::INFINITY);
        // Latest first: those tend to be near, so the distance of most others soon turns out to be too large.
        for (i, p) in (first..self.len()).zip(self.points[first * self.dim..].chunks_exact(self.dim)).rev() {
            let foreign = i < learner.since;
            if foreign && !near_enough(p) || exceeds(p, centre, &inverses, bound) || self.row(i).is_none() {
                continue;
            }
            let lengths = &learner.lengths;
            let square = p.iter().zip(centre).zip(lengths).map(|((p, c), l)| ((p - c) / l) * ((p - c) / l)).sum();
            if square > 1e-24 {
                near.push((square, i));
            }
            if near.len() == 2 * limit && limit > 0 {
                bound = ROUNDED * near.select_nth_unstable_by(limit - 1, order).1.0;
                near.truncate(limit);
            }
        }
        near.sort_unstable_by(order);
        near.truncate(limit);
        near
    }

    /// The points nearest to `centre`, as differences from it.
    fn around(&self, centre: &[f64], row: &[f64], learner: &Learner, limit: usize, reach: f64) -> Sample {
        let mut near = self.nearest(centre, learner, limit, reach);
        let rise = |index: usize| self.rows[index * self.outputs] - row[0];
        let mut rises: Vec<f64> = near.iter().map(|(_, i)| rise(*i).abs()).collect();
        let rank = (self.dim + 1).min(rises.len().saturating_sub(1));
        let cut = match rank >= self.dim {
            true => POLE * *rises.select_nth_unstable_by(rank, f64::total_cmp).1,
            false => f64::INFINITY,
        };
        near.retain(|(_, i)| rise(*i) <= cut);
        let mut sample = Sample { len: near.len(), ..Sample::default() };
        for (_, i) in &near {
            sample.points.extend(self.point(*i).iter().zip(centre).map(|(p, c)| p - c));
        }
        for (output, centre) in row.iter().enumerate() {
            sample.values.extend(near.iter().map(|(_, i)| self.rows[i * self.outputs + output] - centre));
        }
        sample
    }
}

/// What a search has learnt about a surrogate: the lengths of its kernel, and which points are its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Learner {
    lengths: Vec<f64>,
    tick: usize,
    /// The search's own points begin here.
    since: usize,
    /// Fits after which the lengths hardly change.
    seasoned: usize,
}

impl Learner {
    pub(crate) fn new(lengths: Vec<f64>, since: usize) -> Self {
        Learner { lengths, tick: 0, since, seasoned: SEASONED }
    }

    /// A learner that never stops learning: it serves many searches, and all points are its own.
    pub(crate) fn lasting(lengths: Vec<f64>) -> Self {
        Learner { lengths, tick: 0, since: 0, seasoned: usize::MAX }
    }

    /// Model around a point with known values: of the nearest points, at most one and a half times
    /// as many as a quadratic function has coefficients. Points of others count within `reach`.
    pub(crate) fn model(&mut self, points: &Points, centre: &[f64], row: &[f64], reach: f64) -> Surrogate {
        let dim = self.lengths.len();
        let full = 1 + dim + dim * (dim + 1) / 2;
        let limit = (full * 3 / 2).min(40 + 4 * dim);
        let sample = points.around(centre, row, self, limit, reach);
        self.tick += 1;
        Surrogate::fit(&sample, row.len(), &mut self.lengths, self.tick, self.tick > self.seasoned)
    }
}

/// Both levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Archive {
    pub(crate) upper: Points,
    pub(crate) lower: Points,
    /// Standard deviations of the noise of F and f; zero if there is none.
    pub(crate) noise: [f64; 2],
}

impl Archive {
    /// An empty archive. The sizes are those of a row: one objective and the constraints.
    pub(crate) fn new(dim: usize, upper_outputs: usize, lower_outputs: usize) -> Self {
        let (upper, lower) = (Points::new(dim, upper_outputs), Points::new(dim, lower_outputs));
        Archive { upper, lower, noise: [0.0; 2] }
    }

    pub(crate) fn level(&self, level: Level) -> &Points {
        match level {
            Level::Upper => &self.upper,
            Level::Lower => &self.lower,
        }
    }

    pub(crate) fn push(&mut self, level: Level, point: &[f64], row: &[f64]) {
        match level {
            Level::Upper => self.upper.push(point, row),
            Level::Lower => self.lower.push(point, row),
        }
    }
}

/// Whether Σ ((a_i - b_i) w_i)² exceeds a bound, up to rounding.
#[inline(always)]
fn exceeds(a: &[f64], b: &[f64], weights: &[f64], bound: f64) -> bool {
    let square = |a: f64, b: f64, w: f64| ((a - b) * w) * ((a - b) * w);
    let ((fours, a), (b_fours, b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let (w_fours, weights) = weights.as_chunks::<4>();
    let mut sum = 0.0;
    for ((a, b), w) in fours.iter().zip(b_fours).zip(w_fours) {
        let part = |i: usize| square(a[i], b[i], w[i]);
        sum += (part(0) + part(1)) + (part(2) + part(3));
        if sum > bound {
            return true;
        }
    }
    a.iter().zip(b).zip(weights).for_each(|((a, b), w)| sum += square(*a, *b, *w));
    sum > bound
}

/// The largest distance along a variable.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
}

#[cfg(test)]
mod tests;
