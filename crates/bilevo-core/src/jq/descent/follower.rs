//! The follower's search at one x: steps on the joint model until the answer is known well enough.

use super::archive::Archive;
use super::merit::Merit;
use super::trust;
use crate::jq::process::Process;
use crate::jq::step::{self, Region};
use serde::{Deserialize, Serialize};

/// A step shorter than this share of the doubt gives way to a point that reduces the doubt.
pub(super) const GEOMETRY: f64 = 0.5;

/// One search; all points in the unit box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Follower {
    pub(super) x: Vec<f64>,
    /// Best point so far.
    pub(super) y: Vec<f64>,
    /// Its values; empty before the first success.
    pub(super) row: Vec<f64>,
    /// To what accuracy the answer is wanted.
    pub(super) tolerance: f64,
    /// Whether that was reached.
    pub(super) settled: bool,
    radius: f64,
    left: usize,
    sign: f64,
    /// Length and promise of the step that is being evaluated; none for other points.
    expected: Option<(f64, f64)>,
}

/// The joint model's data and what is learnt along the way, common to all searches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Knowledge {
    pub(super) archive: Archive,
    pub(super) lengths: Vec<f64>,
    pub(super) tick: usize,
    pub(super) merit: Merit,
}

impl Knowledge {
    /// Model around a point.
    pub(super) fn model(&mut self, centre: &[f64], row: &[f64]) -> Process {
        let dim = self.lengths.len();
        let full = 1 + dim + dim * (dim + 1) / 2;
        let limit = (full * 3 / 2).min(40 + 4 * dim);
        let sample = self.archive.around(centre, row, &self.lengths, limit);
        self.tick += 1;
        Process::fit(&sample, row.len(), &mut self.lengths, self.tick)
    }
}

impl Follower {
    pub(super) fn new(x: Vec<f64>, y: Vec<f64>, row: Vec<f64>, radius: f64, tolerance: f64, cap: usize) -> Self {
        Follower { x, y, row, tolerance, settled: false, radius, left: cap, sign: 1.0, expected: None }
    }

    /// Takes the values of an evaluated point.
    pub(super) fn tell(&mut self, y: &[f64], row: &[f64], knowledge: &Knowledge) {
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

    /// The next point to evaluate, or none when the search is over.
    pub(super) fn next(&mut self, knowledge: &mut Knowledge) -> Option<Vec<f64>> {
        if self.left == 0 || self.row.is_empty() {
            return None;
        }
        let (m, n) = (self.x.len(), self.y.len());
        let centre = [&self.x[..], &self.y[..]].concat();
        let model = knowledge.model(&centre, &self.row);
        let region = Region {
            from: m,
            radius: self.radius,
            low: self.y.iter().map(|y| -y).collect(),
            high: self.y.iter().map(|y| 1.0 - y).collect(),
        };
        let merit = &mut knowledge.merit;
        let step =
            step::minimise(&model, &region, merit.constraints(&self.row), &vec![0.0; m + n], merit.multipliers());
        merit.learn(&self.row, &model, &step);
        let length = step.length(m);
        let doubt = step::doubt(&model, &step, m);
        let size = doubt.size.min(10.0 * self.radius);
        if length + size <= self.tolerance {
            self.settled = true;
            return None;
        }
        if self.radius < 0.1 * self.tolerance {
            return None;
        }
        let shift = &step.z[m..];
        if length < GEOMETRY * size.min(self.radius) || length < 0.2 * self.tolerance {
            self.sign = -self.sign;
            let reach = self.sign * size.min(self.radius).max(self.tolerance);
            let point = |i: usize| (self.y[i] + shift[i] + reach * doubt.direction[i]).clamp(0.0, 1.0);
            return Some((0..n).map(point).collect());
        }
        self.expected = Some((length, merit.predicted(&self.row, &step)));
        Some((0..n).map(|i| (self.y[i] + shift[i]).clamp(0.0, 1.0)).collect())
    }
}
