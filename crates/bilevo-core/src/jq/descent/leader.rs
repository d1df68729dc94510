//! The leader's side: what was judged so far, and the next x to try.

use super::archive::Data;
use super::follower::{GEOMETRY, Knowledge};
use super::merit::Merit;
use super::response::Response;
use super::{teaching_point, trust};
use crate::minimise::{self as step, Landscape, Region, Slice};
use serde::{Deserialize, Serialize};

/// First trust radius.
const RADIUS: f64 = 0.4;
/// First distance of the points along each variable, and that of a second round of them.
const SPREAD: f64 = 0.2;
const SPREAD_ANEW: f64 = 1e-3;
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
    /// The predicted answer.
    pub(super) y: Vec<f64>,
    /// Distance to the base.
    pub(super) length: f64,
    /// Promised decrease of the merit; none for a point that is to teach.
    promise: Option<f64>,
    /// The merit there, as the model along the response and the joint one predict it.
    predicted: [f64; 2],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Leader {
    /// Judged x with their upper values, one row for each answer below.
    along: Data,
    /// All judged points (x, y).
    joint: Data,
    /// Which of the two models predicted better of late: below zero the first.
    score: f64,
    merit: Merit,
    /// The answers that the rows of `along` belong to.
    pub(super) answers: Vec<Answer>,
    /// The best of them, from which steps go.
    pub(super) base: usize,
    radius: f64,
    /// Distance of the first points, one along each variable.
    spread: f64,
    /// Variables along which a first point was asked for.
    seen: usize,
    /// Whether there was a second round of them.
    renewed: bool,
    sign: f64,
    failures: usize,
}

impl Leader {
    pub(super) fn new(merit: Merit, along: Data, joint: Data, kinked: bool, size: f64) -> Self {
        Leader {
            along,
            joint,
            score: if kinked { 1.0 } else { -1.0 },
            merit,
            answers: Vec::new(),
            base: 0,
            radius: size * RADIUS,
            spread: size * SPREAD,
            seen: 0,
            renewed: false,
            sign: 1.0,
            failures: 0,
        }
    }

    /// The base's x.
    pub(super) fn x(&self) -> &[f64] {
        self.along.archive.point(self.base)
    }

    /// The base's answer.
    pub(super) fn answer(&self) -> &Answer {
        &self.answers[self.base]
    }

    /// The base's upper values.
    pub(super) fn row(&self) -> &[f64] {
        self.along.archive.row(self.base)
    }

    /// Accuracy to which the first follower is wanted.
    pub(super) fn first_tolerance() -> f64 {
        0.1 * RADIUS
    }

    /// The next x with its predicted answer, or none when the descent is over.
    pub(super) fn propose(&mut self, follower: &mut Knowledge) -> Option<Proposal> {
        let base = [self.x(), &self.answer().y[..]].concat();
        let row = self.row().to_vec();
        let m = self.x().len();
        let Answer { row: lower_row, tolerance, .. } = &self.answers[self.base];
        let lower = follower.data.model(&base, lower_row);
        let (joint, along) = (self.joint.model(&base, &row), self.along.model(&base[..m], &row));
        let lower_row = lower_row.clone();
        let (constraints, multipliers) = (follower.merit.constraints(&lower_row), follower.merit.multipliers());
        let answers = Region::around(&base[m..], tolerance + 1e-6);
        let mut response = Response::new(&joint, &lower, answers, constraints, multipliers);
        let mut along = Slice::new(&along, &[]);
        let (x, promise) = if self.seen < m {
            (self.along_variable(&base[..m]), None)
        } else if self.score < 0.0 {
            self.step(&mut along, &base[..m], &row)?
        } else {
            self.step(&mut response, &base[..m], &row)?
        };
        let from_base: Vec<f64> = x.iter().zip(&base).map(|(x, b)| x - b).collect();
        let mut predicted = [0.0; 2];
        let mut values = vec![0.0; row.len()];
        along.values(&from_base, &mut values);
        predicted[0] = self.merit.of_sum(&row, &values);
        response.values(&from_base, &mut values);
        predicted[1] = self.merit.of_sum(&row, &values);
        let answer = response.answer(&from_base);
        let y = answer.iter().zip(&base[m..]).map(|(a, b)| (a + b).clamp(0.0, 1.0)).collect();
        Some(Proposal { x, y, length: step::norm(&from_base), promise, predicted })
    }

    /// A point along the next variable.
    fn along_variable(&mut self, x: &[f64]) -> Vec<f64> {
        let mut x = x.to_vec();
        let v = &mut x[self.seen];
        *v += if *v > 0.5 { -self.spread } else { self.spread };
        self.seen += 1;
        x
    }

    /// The minimiser of a model and the decrease it promises, or a point that teaches more about it.
    fn step<L: Landscape>(&mut self, model: &mut L, x: &[f64], row: &[f64]) -> Option<(Vec<f64>, Option<f64>)> {
        let m = x.len();
        let region = Region::around(x, self.radius);
        let multipliers = self.merit.multipliers();
        let step = step::minimise(model, &region, self.merit.constraints(row), &vec![0.0; m], multipliers);
        self.merit.learn(row, model, &step);
        let length = step.length();
        let doubt = step::doubt(model, &step);
        let size = doubt.size.min(10.0 * self.radius);
        let still = length + size < STILL;
        if still || self.radius < STILL || self.failures > 4 + 3 * m {
            if still || self.renewed {
                return None;
            }
            // Steps that fail though the minimiser is in doubt: the points lie badly.
            (self.renewed, self.seen, self.failures) = (true, 0, 0);
            (self.spread, self.radius) = (SPREAD_ANEW, 2.0 * SPREAD_ANEW);
            return Some((self.along_variable(x), None));
        }
        let target: Vec<f64> = x.iter().zip(&step.z).map(|(x, s)| (x + s).clamp(0.0, 1.0)).collect();
        if length < GEOMETRY * size.min(self.radius) || length < 0.5 * STILL {
            self.sign = -self.sign;
            let point = teaching_point(&target, &doubt.direction, self.sign * size.min(self.radius).max(STILL))?;
            return Some((point, None));
        }
        Some((target, Some(self.merit.predicted(row, &step))))
    }

    /// Takes the upper values of a proposal; returns whether it became the base.
    pub(super) fn judge(&mut self, proposal: &Proposal, answer: Answer, row: &[f64]) -> bool {
        let merit = self.merit.of(row);
        let gain = match self.answers.len() {
            0 => f64::INFINITY,
            _ => self.merit.of(self.row()) - merit,
        };
        if let Some(promise) = proposal.promise {
            self.radius = trust(self.radius, proposal.length, gain / promise.max(1e-300));
        }
        if merit.is_finite() && self.answers.len() > 1 {
            let [along, joint] = proposal.predicted.map(|p| (p - merit).abs() + 1e-12 * merit.abs() + 1e-300);
            self.score = 0.7 * self.score + libm::log(along / joint).clamp(-2.0, 2.0);
        }
        let kept = self.along.archive.push(&proposal.x, row);
        if kept {
            self.joint.archive.push(&[&proposal.x[..], &answer.y[..]].concat(), row);
            self.answers.push(answer);
        }
        let better = kept && gain > 0.0;
        if better {
            self.base = self.answers.len() - 1;
            self.failures = 0;
        } else {
            self.failures += 1;
        }
        better
    }

    /// Takes a more accurate answer for the base that does not move it.
    pub(super) fn confirm(&mut self, tolerance: f64, settled: bool) {
        let answer = &mut self.answers[self.base];
        (answer.tolerance, answer.settled) = (tolerance, settled);
    }

    /// Takes the upper values of the base with a better answer; another point may become the base.
    pub(super) fn correct(&mut self, answer: Answer, row: &[f64], length: f64) {
        let before = self.merit.of(self.row());
        if self.joint.archive.push(&[self.x(), &answer.y[..]].concat(), row) {
            self.along.archive.set_row(self.base, row);
            self.answers[self.base] = answer;
        } else {
            self.answers[self.base].tolerance = answer.tolerance;
        }
        let merit = |i: usize| self.merit.of(self.along.archive.row(i));
        self.base = (0..self.answers.len()).min_by(|a, b| merit(*a).total_cmp(&merit(*b))).unwrap_or(0);
        if before != merit(self.base) {
            self.failures = 0;
            self.radius = self.radius.max(length);
        }
    }
}

impl Proposal {
    /// The start point.
    pub(super) fn first(x: Vec<f64>, y: Vec<f64>) -> Self {
        Proposal { x, y, length: 0.0, promise: None, predicted: [f64::NAN; 2] }
    }
}
