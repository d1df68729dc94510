//! The follower's search at one x: steps on the joint model until the answer is known well enough.

use super::archive::Data;
use super::merit::Merit;
use super::{teaching_point, trust};
use crate::minimise::{self as step, Region, Slice};
use serde::{Deserialize, Serialize};

/// A step shorter than this share of the doubt gives way to a point that reduces the doubt.
pub(super) const GEOMETRY: f64 = 0.5;

/// One search; all points in the unit box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Follower {
    pub(crate) x: Vec<f64>,
    /// Best point so far.
    pub(crate) y: Vec<f64>,
    /// Its values; empty before the first success.
    pub(crate) row: Vec<f64>,
    /// To what accuracy the answer is wanted.
    pub(crate) tolerance: f64,
    /// Whether that was reached.
    pub(crate) settled: bool,
    pub(crate) radius: f64,
    left: usize,
    sign: f64,
    /// Length and promise of the step that is being evaluated; none for other points.
    expected: Option<(f64, f64)>,
}

/// What the searches have in common: the evaluations they learn from, and how they judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Knowledge {
    pub(crate) data: Data,
    pub(crate) merit: Merit,
}

impl Follower {
    pub(crate) fn new(x: Vec<f64>, y: Vec<f64>, row: Vec<f64>, radius: f64, tolerance: f64, cap: usize) -> Self {
        Follower { x, y, row, tolerance, settled: false, radius, left: cap, sign: 1.0, expected: None }
    }

    /// Takes the values of an evaluated point.
    pub(crate) fn tell(&mut self, y: &[f64], row: &[f64], knowledge: &Knowledge) {
        self.left = self.left.saturating_sub(1);
        let gain = if self.row.is_empty() {
            if row.is_empty() { f64::NEG_INFINITY } else { f64::INFINITY }
        } else {
            knowledge.merit.of(&self.row) - knowledge.merit.of(row)
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

    /// The point it wanted is known already: a step that failed.
    pub(crate) fn refuse(&mut self) {
        self.left = self.left.saturating_sub(1);
        let length = self.expected.take().map_or(self.radius, |(length, _)| length);
        self.radius = trust(self.radius, length, -1.0);
    }

    /// The next point to evaluate, or none when the search is over.
    pub(crate) fn next(&mut self, knowledge: &mut Knowledge) -> Option<Vec<f64>> {
        if self.left == 0 || self.row.is_empty() {
            return None;
        }
        let (m, n) = (self.x.len(), self.y.len());
        let centre = [&self.x[..], &self.y[..]].concat();
        let model = knowledge.data.model(&centre, &self.row);
        let region = Region::around(&self.y, self.radius);
        let merit = &mut knowledge.merit;
        let mut slice = Slice::new(&model, &vec![0.0; m]);
        let step =
            step::minimise(&mut slice, &region, merit.constraints(&self.row), &vec![0.0; n], merit.multipliers());
        merit.learn(&self.row, &slice, &step);
        let length = step.length();
        let doubt = step::doubt(&mut slice, &step);
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
            let reach = self.sign * size.min(self.radius).max(self.tolerance);
            let point = teaching_point(&target, &doubt.direction, reach);
            self.settled = point.is_none() && length <= self.tolerance;
            return point;
        }
        self.expected = Some((length, merit.predicted(&self.row, &step)));
        Some(target)
    }
}
