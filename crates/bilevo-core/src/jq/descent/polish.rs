//! A nearly right answer at one x made exact, by steps on a model of its own.
//!
//! Where the leader gains from every error of its follower, a decision looks better than it is by
//! the error times F's slope: an answer whose f is right to 1e-10 may be off by 1e-5.

use super::archive::Data;
use super::follower::{Follower, Knowledge};
use super::merit::Merit;
use super::{LENGTH, POLISHED};
use crate::jq::follower::Answer;
use crate::problem::{Outcome, ProblemSpec};
use serde::{Deserialize, Serialize};

/// First trust radius and distance of the first points, in units of the box.
const RADIUS: f64 = 1e-3;

/// One search over y alone, in the unit box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Polish {
    start: Answer,
    knowledge: Knowledge,
    follower: Follower,
    /// Points to be evaluated next.
    wanted: Vec<Vec<f64>>,
}

impl Polish {
    /// A search from a known answer.
    pub(crate) fn new(spec: &ProblemSpec, start: Answer) -> Self {
        let n = spec.lower.dim();
        let y: Vec<f64> = start.y.iter().zip(spec.lower.space.bounds()).map(|(y, (l, h))| (y - l) / (h - l)).collect();
        let row = [&[start.outcome.value], &start.constraints[..]].concat();
        let mut data = Data::new(row.len(), vec![LENGTH; n]);
        data.archive.push(&y, &row);
        let neighbour = |i: usize| {
            let mut point = y.clone();
            point[i] += if point[i] > 0.5 { -RADIUS } else { RADIUS };
            point
        };
        let merit = Merit::new(spec.lower.inequalities, spec.lower.equalities);
        Polish {
            wanted: (0..n).map(neighbour).collect(),
            follower: Follower::new(Vec::new(), y, row, RADIUS, POLISHED, 20 + 10 * n),
            knowledge: Knowledge { data, merit },
            start,
        }
    }

    /// The answers to evaluate next; none when it is over.
    pub(crate) fn wanted(&self, spec: &ProblemSpec) -> Vec<Vec<f64>> {
        self.wanted.iter().map(|point| scaled(spec, point)).collect()
    }

    /// Takes the values of the answers asked for.
    pub(crate) fn tell(&mut self, told: impl Iterator<Item = Answer>) {
        for (point, answer) in std::mem::take(&mut self.wanted).into_iter().zip(told) {
            let row = match answer.outcome.is_failed() {
                true => Vec::new(),
                false => [&[answer.outcome.value], &answer.constraints[..]].concat(),
            };
            self.knowledge.data.archive.push(&point, &row);
            self.follower.tell(&point, &row, &self.knowledge);
        }
        self.wanted.extend(self.follower.next(&mut self.knowledge));
    }

    /// The best answer.
    pub(crate) fn answer(&self, spec: &ProblemSpec) -> Answer {
        let Follower { y, row, settled, .. } = &self.follower;
        if row[0] == self.start.outcome.value && row[1..] == self.start.constraints {
            return Answer { settled: *settled, ..self.start.clone() };
        }
        let outcome = Outcome { value: row[0], violation: spec.violation(crate::problem::Level::Lower, &row[1..]) };
        Answer { y: scaled(spec, y), outcome, constraints: row[1..].to_vec(), settled: *settled }
    }
}

fn scaled(spec: &ProblemSpec, point: &[f64]) -> Vec<f64> {
    point.iter().zip(spec.lower.space.bounds()).map(|(u, (l, h))| (l + (h - l) * u).clamp(*l, *h)).collect()
}
