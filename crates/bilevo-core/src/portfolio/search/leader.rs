//! The leader's side of a descent: what has been judged so far, and which x to try next.

use super::response::Response;
use crate::minimise::{self, Landscape, Region, Slice};
use crate::portfolio::archive::{Learner, Points};
use crate::portfolio::follower::{
    GEOMETRY, Knowledge, NEAR, Promise, TEACH, promise as promise_of, teaching_point, trust,
};
use crate::portfolio::merit::Merit;
use serde::{Deserialize, Serialize};

/// The first trust radius.
pub(super) const RADIUS: f64 = 0.4;
/// The first distance of the points along each variable, and the distance in the second round.
const SPREAD: f64 = 0.2;
const SPREAD_ANEW: f64 = 1e-3;
/// The first length of the kernels.
const LENGTH: f64 = 0.3;
/// The first length of the leader's kernel in the follower's variables: along the response, they say little that x
/// does not say.
const LONG: f64 = 3.0;

/// The follower's answer at a judged x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) y: Vec<f64>,
    /// Lower values at (x, y).
    pub(super) row: Vec<f64>,
    /// The required accuracy.
    pub(super) tolerance: f64,
    /// Whether it was reached.
    pub(super) settled: bool,
}

/// The purpose of a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Aim {
    /// The promised decrease of the merit.
    Better(f64),
    /// To teach.
    Teach,
    /// To teach, as one of the points along each variable.
    Round,
}

/// A point that the leader wants to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposal {
    pub(super) x: Vec<f64>,
    /// The predicted answer, and what is predicted there for the base's answer.
    pub(super) y: Vec<f64>,
    pub(super) instead: Option<Promise>,
    /// The distance to the base.
    pub(super) length: f64,
    aim: Aim,
    /// The merit there, as predicted by the surrogate along the response and by the joint one.
    predicted: [f64; 2],
}

impl Proposal {
    /// The start point.
    pub(super) fn first(x: Vec<f64>, y: Vec<f64>) -> Self {
        Proposal { x, y, instead: None, length: 0.0, aim: Aim::Teach, predicted: [f64::NAN; 2] }
    }
}

/// Points along each variable that teach the first surrogates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Round {
    /// 1 for the first points, 2 for those close to an uncertain end.
    number: u8,
    /// Variables along which a point has been requested.
    seen: usize,
    /// The distance of the points.
    spread: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Leader {
    /// Each judged x with its upper values (one row for each answer below), and what they teach.
    along: Points,
    along_learner: Learner,
    /// What all judged points (x, y) in the archive teach.
    joint: Learner,
    /// Which of the two has predicted better recently: below zero, the first.
    score: f64,
    merit: Merit,
    /// The answers to which the rows of `along` belong.
    pub(super) answers: Vec<Answer>,
    /// The best of them, from which steps start.
    pub(super) base: usize,
    radius: f64,
    round: Round,
    sign: f64,
    failures: usize,
    /// The descent ends when steps and radii are below this.
    still: f64,
}

impl Leader {
    /// `shape` is that of the upper level: variables, inequalities, equalities. `kinked` says whether the response
    /// may have kinks, and `since` where the upper points that others evaluated begin.
    pub(super) fn new(shape: [usize; 3], n: usize, kinked: bool, since: usize, (size, still): (f64, f64)) -> Self {
        let [m, inequalities, equalities] = shape;
        Leader {
            along: Points::new(m, 1 + inequalities + equalities),
            along_learner: Learner::new(vec![LENGTH; m], 0),
            joint: Learner::new([vec![LENGTH; m], vec![LONG; n]].concat(), since),
            score: if kinked { 1.0 } else { -1.0 },
            merit: Merit::new(inequalities, equalities),
            answers: Vec::new(),
            base: 0,
            radius: size * RADIUS,
            round: Round { number: 1, seen: 0, spread: size * SPREAD },
            sign: 1.0,
            failures: 0,
            still,
        }
    }

    /// The joint surrogate is known well enough from the start.
    pub(super) fn skip_first_points(&mut self, m: usize) {
        self.round.seen = m;
        self.score = 2.0;
    }

    /// The base's x.
    pub(super) fn x(&self) -> &[f64] {
        self.along.point(self.base)
    }

    /// The base's answer.
    pub(super) fn answer(&self) -> &Answer {
        &self.answers[self.base]
    }

    /// The base's upper values.
    pub(super) fn row(&self) -> &[f64] {
        self.along.row(self.base).unwrap_or(&[])
    }

    /// The next x with its predicted answer, or `None` when the descent is over.
    pub(super) fn propose(&mut self, upper: &Points, lower: &Points, follower: &mut Knowledge) -> Option<Proposal> {
        let base = [self.x(), &self.answer().y[..]].concat();
        let row = self.row().to_vec();
        let m = self.x().len();
        let Answer { row: lower_row, tolerance, .. } = self.answer().clone();
        let reach = NEAR * self.radius;
        let lower = follower.learner.model(lower, &base, &lower_row, reach);
        let joint = self.joint.model(upper, &base, &row, reach);
        let along = self.along_learner.model(&self.along, &base[..m], &row, reach);
        let (constraints, multipliers) = (follower.merit.constraints(&lower_row), follower.merit.multipliers());
        let answers = Region::around(&base[m..], tolerance + 1e-6);
        let mut response = Response::new(&joint, &lower, answers, constraints, multipliers);
        let mut along = Slice::new(&along, &[]);
        let (x, aim) = if self.round.seen < m {
            (self.along_variable(&base[..m])?, Aim::Round)
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
        let instead = Some(promise_of(&base[m..], &lower_row, &from_base, &lower, &follower.merit));
        Some(Proposal { x, y, instead, length: minimise::norm(&from_base), aim, predicted })
    }

    /// The longest step.
    pub(super) fn radius(&self) -> f64 {
        self.radius
    }

    /// A point along the next variable; none if too many have failed.
    fn along_variable(&mut self, x: &[f64]) -> Option<Vec<f64>> {
        let mut x = x.to_vec();
        let v = &mut x[self.round.seen];
        *v = (*v + if *v > 0.5 { -self.round.spread } else { self.round.spread }).clamp(0.0, 1.0);
        self.round.seen += 1;
        (self.failures <= self.patience()).then_some(x)
    }

    /// The number of steps in a row that may fail.
    fn patience(&self) -> usize {
        4 + 3 * self.x().len()
    }

    /// The minimiser of a surrogate and the decrease it promises, or a point that teaches more about it.
    fn step<L: Landscape>(&mut self, model: &mut L, x: &[f64], row: &[f64]) -> Option<(Vec<f64>, Aim)> {
        let m = x.len();
        let region = Region::around(x, self.radius);
        let constraints = self.merit.constraints(row);
        let step = minimise::minimise(model, &region, constraints, &vec![0.0; m], self.merit.multipliers());
        self.merit.learn(row, model, &step);
        let length = step.length();
        let doubt = minimise::doubt(model, &step);
        let size = doubt.size.min(10.0 * self.radius);
        let still = length + size < self.still;
        if still || self.radius < self.still || self.failures > self.patience() {
            if still || self.round.number > 1 || self.still > SPREAD_ANEW {
                return None;
            }
            // Steps that fail although the minimiser is in doubt: the points are badly placed.
            self.round = Round { number: 2, seen: 0, spread: SPREAD_ANEW };
            (self.failures, self.radius) = (0, 2.0 * SPREAD_ANEW);
            return Some((self.along_variable(x)?, Aim::Round));
        }
        let target: Vec<f64> = x.iter().zip(&step.z).map(|(x, s)| (x + s).clamp(0.0, 1.0)).collect();
        if length < GEOMETRY * size.min(self.radius) || length < 0.5 * self.still {
            self.sign = -self.sign;
            let reach = self.sign * size.min(self.radius).max(self.still).max(self.radius.min(TEACH));
            return Some((teaching_point(&target, &doubt.direction, reach)?, Aim::Teach));
        }
        Some((target, Aim::Better(self.merit.predicted(row, &step))))
    }

    /// Takes the upper values of a proposal; returns whether it became the base.
    pub(super) fn judge(&mut self, proposal: &Proposal, answer: Answer, row: &[f64]) -> bool {
        let merit = self.merit.of(row);
        let gain = match self.answers.len() {
            0 => f64::INFINITY,
            _ => self.merit.of(self.row()) - merit,
        };
        if let Aim::Better(promise) = proposal.aim {
            self.radius = trust(self.radius, proposal.length, gain / promise.max(1e-300));
        }
        if merit.is_finite() && self.answers.len() > 1 {
            let [along, joint] = proposal.predicted.map(|p| (p - merit).abs() + 1e-12 * merit.abs() + 1e-300);
            self.score = 0.7 * self.score + libm::log(along / joint).clamp(-2.0, 2.0);
        }
        let kept = !row.is_empty();
        if kept {
            self.along.push(&proposal.x, row);
            self.answers.push(answer);
        } else if proposal.aim == Aim::Round {
            // Again along the same variable, closer and on the other side.
            self.round.seen -= 1;
            self.round.spread *= -0.5;
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

    /// Takes a more accurate answer for the base, if it does not move the base.
    pub(super) fn confirm(&mut self, tolerance: f64, settled: bool) {
        let answer = &mut self.answers[self.base];
        (answer.tolerance, answer.settled) = (tolerance, settled);
    }

    /// Takes the upper values of the base with a better answer; another point may become the base.
    pub(super) fn correct(&mut self, answer: Answer, row: &[f64], length: f64) {
        let before = self.merit.of(self.row());
        if row.is_empty() {
            self.answers[self.base].tolerance = answer.tolerance;
        } else {
            self.along.set_row(self.base, row);
            self.answers[self.base] = answer;
        }
        let merit = |i: usize| self.along.row(i).map_or(f64::INFINITY, |row| self.merit.of(row));
        self.base = (0..self.answers.len()).min_by(|a, b| merit(*a).total_cmp(&merit(*b))).unwrap_or(0);
        if before != merit(self.base) {
            self.failures = 0;
            self.radius = self.radius.max(length);
        }
    }
}

#[cfg(test)]
mod tests;
