//! The follower's search at one x: steps on the surrogate until the answer is known well enough.
//!
//! A step is the minimiser of the surrogate of f under the surrogates of g within a trust radius. If the data say too
//! little about the minimiser (its *doubt* is the root mean square error that the surrogate's posterior leaves), the
//! search evaluates a point that teaches more instead. The answer is settled when the step and its doubt together are
//! below the required tolerance.
//!
//! Sources: trust regions on Gaussian processes (Eriksson et al., 2019, TuRBO; Wild and Shoemaker, 2013,
//! ORBIT for the geometry of the points). No randomness.

use super::archive::{Learner, Points};
use super::claim::Claim;
use super::merit::Merit;
use crate::minimise::{self, Region, Slice};
use crate::surrogate::Surrogate;
use serde::{Deserialize, Serialize};

/// If a step is shorter than this share of the doubt, a point that reduces the doubt is evaluated instead.
pub(super) const GEOMETRY: f64 = 0.5;
/// A point closer than this teaches little about a slope, because rounding hides the differences.
pub(super) const TEACH: f64 = 1e-4;
/// Steps up to this length may be rounding errors, when there is nothing left to learn.
const ROUNDING: f64 = 1e-6;
/// Points of other searches count if they lie within this many trust radii.
pub(super) const NEAR: f64 = 2.0;

/// One search; all points are in the unit box. Without x it searches over y alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Follower {
    pub(crate) x: Vec<f64>,
    /// The best point so far.
    pub(crate) y: Vec<f64>,
    /// Its values; empty until an evaluation succeeds.
    pub(crate) row: Vec<f64>,
    /// The accuracy that the answer needs.
    pub(crate) tolerance: f64,
    /// Whether the answer has that accuracy.
    pub(crate) settled: bool,
    pub(crate) radius: f64,
    left: usize,
    sign: f64,
    /// Length and promised decrease of the step that is being evaluated; `None` for other points.
    expected: Option<(f64, f64)>,
    /// Where it starts if its first point turns out to be worse than this start promises.
    instead: Option<Promise>,
}

/// A point with its promised value.
pub(crate) type Promise = (Vec<f64>, f64);

/// What a search may spend, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Effort {
    /// The first trust radius.
    pub(crate) radius: f64,
    /// The required accuracy.
    pub(crate) tolerance: f64,
    /// The maximum number of evaluations.
    pub(crate) evaluations: usize,
}

/// What the followers of one search share: what they have learnt, and how they judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Knowledge {
    pub(crate) learner: Learner,
    pub(crate) merit: Merit,
}

impl Follower {
    /// A search from y, whose values may be known.
    pub(crate) fn new(x: Vec<f64>, y: Vec<f64>, row: Vec<f64>, effort: Effort) -> Self {
        let Effort { radius, tolerance, evaluations } = effort;
        let (settled, left) = (false, evaluations);
        Follower { x, y, row, tolerance, settled, radius, left, sign: 1.0, expected: None, instead: None }
    }

    /// With another start: a predicted answer may lie on a pole of f, where no surrogate finds a way out.
    pub(crate) fn or(self, instead: Option<Promise>) -> Self {
        Follower { instead, ..self }
    }

    /// Takes the values of an evaluated point; an empty row is a failure.
    pub(crate) fn tell(&mut self, y: &[f64], row: &[f64], merit: &Merit) {
        self.left = self.left.saturating_sub(1);
        let gain = if self.row.is_empty() {
            if row.is_empty() { f64::NEG_INFINITY } else { f64::INFINITY }
        } else {
            merit.of(&self.row) - merit.of(row)
        };
        if let Some((length, promise)) = self.expected.take() {
            self.radius = trust(self.radius, length, gain / promise.max(1e-300));
        }
        if gain > 0.0 {
            self.y.copy_from_slice(y);
            self.row.clear();
            self.row.extend_from_slice(row);
        }
    }

    /// Steps are to be at least this long again.
    pub(crate) fn widen(&mut self, radius: f64) {
        self.radius = self.radius.max(radius);
        self.settled = false;
    }

    /// The point it asks for is already known: this counts as a failed step.
    pub(crate) fn refuse(&mut self) {
        self.left = self.left.saturating_sub(1);
        let length = self.expected.take().map_or(self.radius, |(length, _)| length);
        self.radius = trust(self.radius, length, -1.0);
    }

    /// The next point to evaluate, or none when the search is over.
    pub(crate) fn next(&mut self, points: &Points, knowledge: &mut Knowledge) -> Option<Vec<f64>> {
        if self.left == 0 {
            return None;
        }
        if let Some((y, worth)) = self.instead.take()
            && knowledge.merit.of(&self.row) > worth
            && apart(&y, &self.y) > TEACH
        {
            return Some(y);
        }
        if self.row.is_empty() {
            return None;
        }
        let (m, n) = (self.x.len(), self.y.len());
        let centre = [&self.x[..], &self.y[..]].concat();
        let model = knowledge.learner.model(points, &centre, &self.row, NEAR * self.radius);
        let region = Region::around(&self.y, self.radius);
        let merit = &mut knowledge.merit;
        let mut slice = Slice::new(&model, &vec![0.0; m]);
        let constraints = merit.constraints(&self.row);
        let step = minimise::minimise(&mut slice, &region, constraints, &vec![0.0; n], merit.multipliers());
        merit.learn(&self.row, &slice, &step);
        let length = step.length();
        let doubt = minimise::doubt(&mut slice, &step);
        let size = doubt.size.min(10.0 * self.radius);
        if length + size <= self.tolerance {
            self.settled = true;
            return None;
        }
        if self.radius < 0.1 * self.tolerance {
            return None;
        }
        let target: Vec<f64> = self.y.iter().zip(&step.z).map(|(y, s)| (y + s).clamp(0.0, 1.0)).collect();
        if length < GEOMETRY * size.min(self.radius) || length < 0.2 * self.tolerance {
            self.sign = -self.sign;
            let reach = self.sign * size.min(self.radius).max(self.tolerance).max(self.radius.min(TEACH));
            let point = teaching_point(&target, &doubt.direction, reach);
            let is_new = |y: &Vec<f64>| !points.has_lately(&[&self.x[..], y].concat());
            let point = point.filter(is_new);
            // There is nothing left to learn: the remaining doubt comes from rounding.
            self.settled = point.is_none() && length <= self.tolerance.max(ROUNDING);
            return point;
        }
        self.expected = Some((length, merit.predicted(&self.row, &step)));
        Some(target)
    }
}

/// The trust radius after a step of this length that gained `ratio` times the promised decrease. It never shrinks
/// after a step that ended inside.
pub(super) fn trust(radius: f64, length: f64, ratio: f64) -> f64 {
    if ratio > 0.7 && length > 0.9 * radius {
        (2.5 * radius).min(1.0)
    } else if ratio >= 0.1 {
        radius
    } else {
        (0.4 * length).min(0.5 * radius)
    }
}

/// A point at distance `reach` from `from` along a direction, in the unit box; on the other side if the box cuts most
/// of the way off, and none if it does so on both sides.
pub(super) fn teaching_point(from: &[f64], direction: &[f64], reach: f64) -> Option<Vec<f64>> {
    let point =
        |reach: f64| -> Vec<f64> { from.iter().zip(direction).map(|(v, d)| (v + reach * d).clamp(0.0, 1.0)).collect() };
    [reach, -reach].into_iter().map(point).find(|p| apart(p, from) > 0.3 * reach.abs())
}

/// Euclidean distance.
pub(super) fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// What a surrogate around a known answer `y` with values `row` predicts for that answer after a change of x.
pub(super) fn promise(y: &[f64], row: &[f64], change: &[f64], model: &Surrogate, merit: &Merit) -> Promise {
    let mut values = vec![0.0; row.len()];
    model.values(&[change, &vec![0.0; y.len()]].concat(), &mut values);
    (y.to_vec(), merit.of_sum(row, &values))
}

/// The answer at `x` that the surrogate around a known answer predicts, within twice the change of x plus `slack`,
/// and what it predicts for the known answer itself.
pub(super) fn predict(
    base: &Claim,
    x: &[f64],
    slack: f64,
    points: &Points,
    knowledge: &mut Knowledge,
) -> (Vec<f64>, Promise) {
    let change: Vec<f64> = x.iter().zip(&base.x).map(|(x, b)| x - b).collect();
    let reach = 2.0 * minimise::norm(&change) + slack;
    let model = knowledge.learner.model(points, &base.point(), &base.lower, NEAR * reach);
    let mut slice = Slice::new(&model, &change);
    let merit = &knowledge.merit;
    let region = Region::around(&base.y, reach);
    let start = vec![0.0; base.y.len()];
    let step = minimise::minimise(&mut slice, &region, merit.constraints(&base.lower), &start, merit.multipliers());
    let y = base.y.iter().zip(&step.z).map(|(y, s)| (y + s).clamp(0.0, 1.0)).collect();
    (y, promise(&base.y, &base.lower, &change, &model, merit))
}

#[cfg(test)]
mod tests;
