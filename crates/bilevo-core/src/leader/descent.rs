//! One descent over the leader's decisions: a trust-region search, and a look around its end.

use super::End;
use crate::jq::descent::follower::{Follower, Knowledge};
use serde::{Deserialize, Serialize};

/// First trust radius.
const RADIUS: f64 = 0.2;
/// Accuracy to which the end is wanted.
const TOLERANCE: f64 = 1e-5;
/// Evaluations at most, for each variable and in addition.
const EFFORT: (usize, usize) = (40, 60);
/// How far along each variable a claim is looked at, and how often a better point starts it anew.
const LOOK: (f64, usize) = (0.03, 6);
/// A search this close to an earlier end, with steps this small, has arrived there.
const ARRIVED: (f64, f64) = (0.02, 0.1);

/// A descent; all points in unit coordinates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Descent {
    search: Follower,
    /// Values of its first point that did not fail.
    first: Vec<f64>,
    looks: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// Steps on the model.
    Steps,
    /// A look along every variable is under way.
    Looking,
    /// It ended, at an earlier end if one is given.
    Over(Option<usize>),
}

impl Descent {
    /// A descent from a point, whose values may be known; `looks` around its end if wanted.
    pub(super) fn new(start: Vec<f64>, row: Vec<f64>, looks: bool) -> Self {
        let effort = EFFORT.0 * start.len() + EFFORT.1;
        let search = Follower::new(Vec::new(), start, row.clone(), RADIUS, TOLERANCE, effort);
        Descent { search, first: row, looks: if looks { LOOK.1 } else { 0 }, state: State::Steps }
    }

    /// The best point and its values; the latter are empty if nothing succeeded.
    pub(super) fn best(&self) -> (&[f64], &[f64]) {
        (&self.search.y, &self.search.row)
    }

    /// By how much it got better.
    pub(super) fn gain(&self, knowledge: &Knowledge) -> f64 {
        knowledge.merit.of(&self.first) - knowledge.merit.of(&self.search.row)
    }

    /// Whether it ended, and at which earlier end if it came to one.
    pub(super) fn over(&self) -> Option<Option<usize>> {
        match self.state {
            State::Over(at) => Some(at),
            _ => None,
        }
    }

    pub(super) fn radius(&self) -> f64 {
        self.search.radius
    }

    /// The next points; none when it is over.
    pub(super) fn next(&mut self, knowledge: &mut Knowledge, ends: &[End]) -> Vec<Vec<f64>> {
        if self.over().is_some() {
            return Vec::new();
        }
        let near = |end: &End| {
            let close = end.point.iter().zip(&self.search.y).all(|(a, b)| (a - b).abs() <= ARRIVED.0);
            close && !self.search.row.is_empty() && knowledge.merit.of(&self.search.row) >= knowledge.merit.of(&end.row)
        };
        let arrived = ends.iter().position(near).filter(|_| self.search.radius <= ARRIVED.1);
        if arrived.is_some() {
            self.state = State::Over(arrived);
            return Vec::new();
        }
        if let Some(point) = self.search.next(knowledge) {
            self.state = State::Steps;
            return vec![point];
        }
        if self.looks == 0 || self.search.row.is_empty() || self.state == State::Looking {
            self.state = State::Over(None);
            return Vec::new();
        }
        self.looks -= 1;
        self.state = State::Looking;
        self.look_around()
    }

    /// A point to either side along every variable.
    fn look_around(&self) -> Vec<Vec<f64>> {
        let centre = &self.search.y;
        let beside = |(i, step): (usize, f64)| {
            let mut point = centre.clone();
            point[i] = (point[i] + step).clamp(0.0, 1.0);
            point
        };
        (0..centre.len()).flat_map(|i| [(i, LOOK.0), (i, -LOOK.0)]).map(beside).collect()
    }

    /// Takes the values of a point; an empty row is a failure.
    pub(super) fn tell(&mut self, point: &[f64], row: &[f64], knowledge: &Knowledge) {
        let before = self.search.row.clone();
        self.search.tell(point, row, knowledge);
        if self.first.is_empty() {
            self.first.clone_from(&self.search.row);
        }
        if self.state == State::Looking && self.search.row != before {
            // The model was blind for this: on from here.
            self.search.widen(LOOK.0);
            self.state = State::Steps;
        }
    }

    /// Takes notice that the point it wanted is known already.
    pub(super) fn refuse(&mut self) {
        self.search.refuse();
    }
}
