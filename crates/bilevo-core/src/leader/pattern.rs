//! The end of a search where no model helps: a poll to either side along every variable, with steps that
//! are halved where neither side is better.
//!
//! At the edge of a step, or at a kink, a smooth model points nowhere; comparing values still leads to the
//! edge (Hooke and Jeeves, 1961). One poll is one batch. Where a function has steps, the end is looked at
//! along every variable over its whole range too: another step may be better.

use super::Point;
use crate::order;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// Polls at most.
const POLLS: usize = 200;
/// Points along every variable of a look over its whole range.
const SCAN: usize = 24;

/// The poll under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pattern {
    best: Point,
    /// The best point of the poll under way.
    found: Option<Point>,
    /// Step along each variable, and whether the poll under way found something better along it.
    steps: Vec<(f64, bool)>,
    /// Shorter steps are not worth a call of the solver.
    shortest: f64,
    /// Whether the end is looked at over the whole range of every variable.
    scans: bool,
    /// What was best when the latest such look began, and whether it is under way.
    scanned: Option<Point>,
    is_scanning: bool,
    polls: usize,
}

impl Pattern {
    /// A pattern around a point with steps from a length down to another; whole numbers are moved by one at
    /// least.
    pub(super) fn new(best: Point, (length, shortest): (f64, f64), scans: bool, space: &Space) -> Self {
        let step = |index: usize| match space.variable(index) {
            whole if whole.is_whole() => length.max(1.0 / whole.width().max(1.0)),
            _ => length,
        };
        let steps = (0..best.at.len()).map(|i| (step(i), true)).collect();
        Pattern { found: None, steps, shortest, scans, scanned: None, is_scanning: false, best, polls: 0 }
    }

    pub(super) fn best(&self) -> &Point {
        &self.best
    }

    /// The longest step.
    pub(super) fn length(&self) -> f64 {
        self.steps.iter().fold(0.0, |longest, step| longest.max(step.0))
    }

    /// The next poll; none when all steps are short.
    pub(super) fn next(&mut self, space: &Space) -> Vec<Vec<f64>> {
        match self.found.take() {
            Some(found) => self.best = found,
            // A look over the whole range found nothing.
            None if self.is_scanning => self.steps.iter_mut().for_each(|step| step.0 = 0.0),
            None => {}
        }
        self.is_scanning = false;
        self.polls += 1;
        let mut poll = Vec::new();
        for index in 0..self.steps.len() {
            let (length, better) = &mut self.steps[index];
            if !std::mem::take(better) {
                *length /= 2.0;
            }
            if *length < self.shortest || self.polls > POLLS {
                continue;
            }
            let beside = |step: f64| {
                let mut at = self.best.at.clone();
                at[index] = (at[index] + step).clamp(0.0, 1.0);
                space.snap(&mut at);
                at
            };
            let sides = [beside(*length), beside(-*length)];
            let some = poll.len();
            poll.extend(sides.into_iter().filter(|side| *side != self.best.at));
            if poll.len() == some {
                // A whole number, or a box of one value.
                *length = 0.0;
            }
        }
        if poll.is_empty() && self.scans && self.polls <= POLLS { self.scan(space) } else { poll }
    }

    /// Points along every variable, the first time and whenever the end is a better one; what is found
    /// better is followed.
    fn scan(&mut self, space: &Space) -> Vec<Vec<f64>> {
        if self.scanned.as_ref().is_some_and(|before| !order::better(&self.best.outcome, &before.outcome)) {
            return Vec::new();
        }
        self.scanned = Some(self.best.clone());
        self.is_scanning = true;
        let step = 0.5 / SCAN as f64;
        let mut points = Vec::new();
        for index in 0..self.steps.len() {
            self.steps[index] = (step, false);
            for part in 0..SCAN {
                let mut at = self.best.at.clone();
                at[index] = (2 * part + 1) as f64 * step;
                space.snap(&mut at);
                points.push(at);
            }
        }
        points
    }

    /// Takes the values of a point.
    pub(super) fn tell(&mut self, told: &Point) {
        let moved = self.best.at.iter().zip(&told.at).position(|(a, b)| a != b);
        if let Some(index) = moved.filter(|_| order::better(&told.outcome, &self.best.outcome)) {
            self.steps[index].1 = true;
            if self.found.as_ref().is_none_or(|found| order::better(&told.outcome, &found.outcome)) {
                self.found = Some(told.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Outcome;

    /// Follows a pattern to its end; the end and the number of evaluations.
    fn end(function: impl Fn(&[f64]) -> f64, start: &[f64]) -> (Point, usize) {
        let space = Space::from(vec![(0.0, 1.0); start.len()]);
        let point = |at: &[f64]| {
            let value = function(at);
            Point { at: at.to_vec(), row: vec![value], outcome: Outcome { value, violation: 0.0 } }
        };
        let mut pattern = Pattern::new(point(start), (0.02, 1e-6), false, &space);
        let mut calls = 0;
        loop {
            let poll = pattern.next(&space);
            if poll.is_empty() {
                return (pattern.best().clone(), calls);
            }
            calls += poll.len();
            poll.iter().for_each(|at| pattern.tell(&point(at)));
        }
    }

    #[test]
    fn it_walks_to_the_edge_of_a_step() {
        // Better and better towards 0.3 and 0.7, where the value jumps.
        let cliff = |at: &[f64]| {
            let (a, b) = (if at[0] < 0.3 { -at[0] } else { 1.0 }, if at[1] < 0.7 { -at[1] } else { 1.0 });
            a + b
        };
        let (end, calls) = end(cliff, &[0.28, 0.66]);
        assert!(end.row[0] + 1.0 < 4e-6, "{end:?}");
        assert!(calls < 130, "{calls}");
    }

    #[test]
    fn a_kink_is_found_exactly() {
        let (end, _) = end(|at| (at[0] - 0.123_456_7).abs(), &[0.13]);
        assert!(end.row[0] < 1e-6, "{end:?}");
    }

    #[test]
    fn whole_numbers_move_by_one() {
        let space = Space::new().whole("n", 0.0, 1000.0);
        let point = |n: f64| Point {
            at: vec![n / 1000.0],
            row: vec![(n - 503.0).abs()],
            outcome: Outcome { value: (n - 503.0).abs(), violation: 0.0 },
        };
        let mut pattern = Pattern::new(point(500.0), (1e-3, 1e-6), false, &space);
        loop {
            let poll = pattern.next(&space);
            if poll.is_empty() {
                break;
            }
            poll.iter().for_each(|at| pattern.tell(&point((at[0] * 1000.0).round())));
        }
        assert_eq!(pattern.best().row, [0.0]);
    }
}
