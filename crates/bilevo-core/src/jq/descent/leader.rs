//! The leader's side: what was judged so far, and the next x to try.

use super::archive::Archive;
use super::follower::GEOMETRY;
use super::merit::Merit;
use super::trust;
use crate::jq::process::Process;
use crate::jq::step::{self, Region, norm};
use serde::{Deserialize, Serialize};

/// First trust radius.
const RADIUS: f64 = 0.4;
/// Distance of the first points, one along each variable.
const SPREAD: f64 = 0.2;
/// Steps and radii below this end the descent.
const STILL: f64 = 5e-6;

/// The follower's answer at a judged x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) y: Vec<f64>,
    /// Lower values at (x, y).
    pub(super) row: Vec<f64>,
    /// Accuracy asked for.
    pub(super) tolerance: f64,
    /// Whether it was reached.
    pub(super) settled: bool,
}

/// A point the leader wants to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposal {
    pub(super) x: Vec<f64>,
    /// Distance to the base.
    pub(super) length: f64,
    /// Promised decrease of the merit; none for a point that is to teach.
    promise: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Leader {
    /// Judged x with their upper values.
    pub(super) archive: Archive,
    /// The answers they were judged with.
    pub(super) answers: Vec<Answer>,
    /// The best of them, from which steps go.
    pub(super) base: usize,
    pub(super) merit: Merit,
    lengths: Vec<f64>,
    tick: usize,
    radius: f64,
    /// Variables along which a first point was asked for.
    seen: usize,
    sign: f64,
    failures: usize,
}

impl Leader {
    pub(super) fn new(m: usize, length: f64, merit: Merit, outputs: usize) -> Self {
        Leader {
            archive: Archive::new(m, outputs),
            answers: Vec::new(),
            base: 0,
            merit,
            lengths: vec![length; m],
            tick: 0,
            radius: RADIUS,
            seen: 0,
            sign: 1.0,
            failures: 0,
        }
    }

    pub(super) fn x(&self) -> &[f64] {
        self.archive.point(self.base)
    }

    pub(super) fn answer(&self) -> &Answer {
        &self.answers[self.base]
    }

    /// Accuracy to which the first follower is wanted.
    pub(super) fn first_tolerance() -> f64 {
        0.1 * RADIUS
    }

    /// The next x, or none when the descent is over.
    pub(super) fn propose(&mut self) -> Option<Proposal> {
        let x = self.x().to_vec();
        let m = x.len();
        if self.seen < m {
            let mut next = x;
            let v = &mut next[self.seen];
            *v += if *v > 0.5 { -SPREAD } else { SPREAD };
            self.seen += 1;
            return Some(Proposal { x: next, length: SPREAD, promise: None });
        }
        let full = 1 + m + m * (m + 1) / 2;
        let row = self.archive.row(self.base);
        let sample = self.archive.around(&x, row, &self.lengths, (full * 3 / 2).min(40 + 4 * m));
        self.tick += 1;
        let model = Process::fit(&sample, row.len(), &mut self.lengths, self.tick);
        let region = Region {
            from: 0,
            radius: self.radius,
            low: x.iter().map(|x| -x).collect(),
            high: x.iter().map(|x| 1.0 - x).collect(),
        };
        let step =
            step::minimise(&model, &region, self.merit.constraints(row), &vec![0.0; m], self.merit.multipliers());
        self.merit.learn(row, &model, &step);
        let length = norm(&step.z);
        let doubt = step::doubt(&model, &step, 0);
        let size = doubt.size.min(10.0 * self.radius);
        if length + size < STILL || self.radius < STILL || self.failures > 4 + 3 * m {
            return None;
        }
        let teaches = length < GEOMETRY * size.min(self.radius) || length < 0.5 * STILL;
        let mut reach = 0.0;
        if teaches {
            self.sign = -self.sign;
            reach = self.sign * size.min(self.radius).max(STILL);
        }
        let next: Vec<f64> = (0..m).map(|i| (x[i] + step.z[i] + reach * doubt.direction[i]).clamp(0.0, 1.0)).collect();
        let length = next.iter().zip(&x).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let promise = (!teaches).then(|| self.merit.predicted(row, &step));
        Some(Proposal { x: next, length, promise })
    }

    /// Takes the upper values of a proposal; returns whether it became the base.
    pub(super) fn judge(&mut self, proposal: &Proposal, answer: Answer, row: &[f64]) -> bool {
        let gain = match self.archive.len() {
            0 => f64::INFINITY,
            _ => self.merit.of(self.archive.row(self.base)) - self.merit.of(row),
        };
        if let Some(promise) = proposal.promise {
            self.radius = trust(self.radius, proposal.length, gain / promise.max(1e-300));
        }
        let kept = self.archive.push(&proposal.x, row);
        if kept {
            self.answers.push(answer);
        }
        let better = kept && gain > 0.0;
        if better {
            self.base = self.archive.len() - 1;
            self.failures = 0;
        } else {
            self.failures += 1;
        }
        better
    }

    /// Takes a more accurate answer for the base that does not move it.
    pub(super) fn confirm(&mut self, answer: Answer) {
        self.answers[self.base] = answer;
    }

    /// Takes new upper values of the base, after its answer moved; the base may lose its place.
    pub(super) fn correct(&mut self, answer: Answer, row: &[f64], length: f64) {
        let before = (self.base, self.merit.of(self.archive.row(self.base)));
        self.answers[self.base] = answer;
        if row.iter().all(|v| v.is_finite()) && !row.is_empty() {
            self.archive.set_row(self.base, row);
        }
        let merit = |i: usize| self.merit.of(self.archive.row(i));
        self.base = (0..self.archive.len()).min_by(|a, b| merit(*a).total_cmp(&merit(*b))).unwrap_or(0);
        if before != (self.base, merit(self.base)) {
            self.failures = 0;
            self.radius = self.radius.max(length);
        }
    }
}

impl Proposal {
    /// The start point.
    pub(super) fn first(x: Vec<f64>) -> Self {
        Proposal { x, length: 0.0, promise: None }
    }
}
