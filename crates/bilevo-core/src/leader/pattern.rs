//! The end of a search if no model helps: it polls both sides of every variable, and halves the step if neither
//! side is better.
//!
//! At the edge of a step, or at a kink, a smooth model points nowhere, but comparing values still leads to the edge
//! (Hooke and Jeeves, 1961). One poll is one batch. A variable is left alone if the value is exactly the same on
//! both of its sides. An edge may run diagonally (it may depend on the sum of two tolls); then no single variable
//! leads anywhere, and two are moved together. A pattern that begins close to an earlier end, along the variables
//! that matter, ends there: it has nothing to add.

use super::Point;
use crate::order;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// The maximum number of polls.
const POLLS: usize = 200;
/// Two variables are moved together each time that steps have become this much shorter, and at most this often for
/// one length.
const TOGETHER: (f64, usize) = (0.1, 2);
/// If the ranges of two variables differ by more than this factor, each is moved by a share of its own range.
const ALIKE: f64 = 10.0;

/// The poll in progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pattern {
    best: Point,
    /// The best point of the poll in progress.
    found: Option<Point>,
    /// Along each variable.
    steps: Vec<Step>,
    /// Shorter steps are not worth a call of the solver.
    shortest: f64,
    /// Whether variables are moved together.
    together: bool,
    /// The length at which they were last moved together, how often, and whether they are now.
    moved: (f64, usize),
    is_moving: bool,
    polls: usize,
    /// Whether there has been a poll along single variables.
    polled: bool,
    /// An earlier end, as long as it is not known whether this is the same.
    earlier: Option<Earlier>,
}

/// The step along a variable, and what the poll in progress found along it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Step {
    length: f64,
    better: bool,
    /// The number of points requested, minus those whose value is that of the centre.
    unlike: usize,
}

/// An earlier end at which a pattern may have arrived.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Earlier {
    pub(super) index: usize,
    pub(super) point: Point,
    /// Values that differ by less count as the same.
    pub(super) same: f64,
    /// Whether the pattern has arrived there, and whether it began far from there along variables that do not matter.
    arrived: bool,
    far: bool,
}

impl Earlier {
    pub(super) fn new(index: usize, point: Point, same: f64) -> Self {
        Earlier { index, point, same, arrived: false, far: false }
    }

    /// A point at the end's place along the variables in which it is close, and at its own place along the others:
    /// those do not matter where the function has steps.
    fn beside(&self, at: &[f64], length: f64) -> Vec<f64> {
        let nearer = |(own, end): (&f64, &f64)| if (own - end).abs() <= length { *end } else { *own };
        at.iter().zip(&self.point.at).map(nearer).collect()
    }
}

impl Pattern {
    /// A pattern around a point with steps from one length down to another; whole numbers move by at least one.
    pub(super) fn new(best: Point, (length, shortest): (f64, f64), together: bool, space: &Space) -> Self {
        let step = |index: usize| match space.variable(index) {
            whole if whole.is_whole() => length.max(1.0 / whole.width().max(1.0)),
            _ => length,
        };
        let steps = (0..best.at.len()).map(|i| Step { length: step(i), better: true, unlike: 0 }).collect();
        let moved = (f64::INFINITY, 0);
        Pattern {
            found: None,
            steps,
            shortest,
            together,
            moved,
            is_moving: false,
            best,
            polls: 0,
            polled: false,
            earlier: None,
        }
    }

    /// The same along one variable alone.
    pub(super) fn along(mut self, variable: usize) -> Self {
        let others = self.steps.iter_mut().enumerate().filter(|(index, _)| *index != variable);
        others.for_each(|(_, step)| step.length = 0.0);
        self
    }

    /// The same, unless it is already at an earlier end.
    pub(super) fn unless_at(mut self, earlier: Option<Earlier>) -> Self {
        self.earlier = earlier;
        self
    }

    /// The earlier end at which it arrived.
    pub(super) fn arrived(&self) -> Option<usize> {
        self.earlier.as_ref().filter(|earlier| earlier.arrived).map(|earlier| earlier.index)
    }

    /// Whether the earlier end at which it arrived is another place.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.earlier.as_ref().is_some_and(|earlier| earlier.arrived && earlier.far)
    }

    pub(super) fn best(&self) -> &Point {
        &self.best
    }

    /// The longest step.
    pub(super) fn length(&self) -> f64 {
        self.steps.iter().fold(0.0, |longest, step| longest.max(step.length))
    }

    /// The next poll; none when all steps are short.
    pub(super) fn next(&mut self, space: &Space) -> Vec<Vec<f64>> {
        let failed = self.found.is_none() && self.polled;
        if let Some(found) = self.found.take() {
            self.best = found;
        }
        self.polls += 1;
        if let Some(beside) = self.compare() {
            return vec![beside];
        }
        if failed && self.together && self.polls <= POLLS {
            let poll = self.move_together(space);
            if !poll.is_empty() {
                return poll;
            }
        }
        (self.is_moving, self.polled) = (false, true);
        let mut poll = Vec::new();
        for index in 0..self.steps.len() {
            let Step { length, better, unlike } = &mut self.steps[index];
            if !std::mem::take(better) {
                *length = if *unlike == 0 { 0.0 } else { *length / 2.0 };
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
            *unlike = poll.len() - some;
            if *unlike == 0 {
                // A whole number, or a box of one value.
                *length = 0.0;
            }
        }
        poll
    }

    /// Points at which two variables are moved, by the same length if their ranges are similar, in all directions;
    /// none if that was tried for about this length.
    fn move_together(&mut self, space: &Space) -> Vec<Vec<f64>> {
        let (length, dim) = (self.length(), self.steps.len());
        if length < self.shortest || dim < 2 {
            return Vec::new();
        }
        if length <= TOGETHER.0 * self.moved.0 {
            self.moved = (length, 0);
        }
        // Pairs each variable with one a few places on, another one each time.
        let apart = self.moved.1 + 1;
        if apart > TOGETHER.1 || 2 * apart > dim {
            return Vec::new();
        }
        self.moved.1 = apart;
        self.is_moving = true;
        let pairs = if 2 * apart == dim { apart } else { dim };
        let mut poll = Vec::new();
        for (first, sign) in
            (0..pairs).flat_map(|first| [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|s| (first, s)))
        {
            let second = (first + apart) % dim;
            let ratio = space.variable(first).width() / space.variable(second).width();
            let ratio = if (1.0 / ALIKE..=ALIKE).contains(&ratio) { ratio } else { 1.0 };
            let mut at = self.best.at.clone();
            at[first] = (at[first] + sign.0 * length / ratio.max(1.0)).clamp(0.0, 1.0);
            at[second] = (at[second] + sign.1 * length * ratio.min(1.0)).clamp(0.0, 1.0);
            space.snap(&mut at);
            if at != self.best.at {
                poll.push(at);
            }
        }
        poll
    }

    /// Whether this is an earlier end, as long as that is open: a point to ask about first, or none if it is.
    fn compare(&mut self) -> Option<Vec<f64>> {
        let length = self.length();
        let earlier = self.earlier.as_mut()?;
        if self.polls == 1 && !order::better(&self.best.outcome, &earlier.point.outcome) {
            let beside = earlier.beside(&self.best.at, length);
            earlier.far = beside != earlier.point.at;
            earlier.arrived = !earlier.far;
            if !earlier.arrived && beside != self.best.at {
                return Some(beside);
            }
        }
        let better = order::better(&self.best.outcome, &earlier.point.outcome)
            && (self.best.outcome.value - earlier.point.outcome.value).abs() > earlier.same;
        if !earlier.arrived || better {
            self.earlier = None;
        } else if self.polls <= 2 {
            self.steps.iter_mut().for_each(|step| step.length = 0.0);
        }
        None
    }

    /// Takes the values of a point.
    pub(super) fn tell(&mut self, told: &Point) {
        let Some(index) = self.best.at.iter().zip(&told.at).position(|(a, b)| a != b) else { return };
        if let Some(earlier) = self.earlier.as_mut().filter(|_| self.polls == 1) {
            let end = earlier.point.outcome;
            earlier.arrived = told.outcome.is_feasible() == end.is_feasible()
                && (told.outcome.value - end.value).abs() <= earlier.same;
        }
        if !self.is_moving {
            self.steps[index].unlike -= usize::from(told.row == self.best.row && self.steps[index].unlike > 0);
        }
        if order::better(&told.outcome, &self.best.outcome) {
            // A joint move may continue in the same way, and so may each of its variables alone.
            self.moved.1 = if self.is_moving { 0 } else { self.moved.1 };
            let better = if self.is_moving { &mut self.steps[..] } else { &mut self.steps[index..=index] };
            better.iter_mut().for_each(|step| step.better = true);
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
    fn variables_along_which_nothing_changes_are_let_be() {
        let cliff = |at: &[f64]| if at[0] < 0.3 { -at[0] } else { 1.0 };
        let (_, alone) = end(cliff, &[0.28]);
        let (end, calls) = end(cliff, &[0.28, 0.5, 0.5]);
        assert!(end.row[0] + 0.3 < 2e-6, "{end:?}");
        assert_eq!(calls, alone + 4);
    }

    #[test]
    fn close_to_an_earlier_end_along_what_matters_it_has_come_there() {
        // The second variable does not matter.
        let cliff = |at: &[f64]| if at[0] < 0.3 { -at[0] } else { 1.0 };
        let point = |at: &[f64]| {
            let value = cliff(at);
            Point { at: at.to_vec(), row: vec![value], outcome: Outcome { value, violation: 0.0 } }
        };
        let space = Space::from(vec![(0.0, 1.0); 2]);
        let from = |start: &[f64]| {
            let earlier = Earlier::new(7, point(&[0.299_999, 0.2]), 1e-5);
            let mut pattern = Pattern::new(point(start), (0.05, 1e-6), false, &space).unless_at(Some(earlier));
            let mut calls = 0;
            loop {
                let poll = pattern.next(&space);
                if poll.is_empty() {
                    return (pattern.arrived(), calls, pattern.is_elsewhere());
                }
                calls += poll.len();
                poll.iter().for_each(|at| pattern.tell(&point(at)));
            }
        };
        assert_eq!(from(&[0.28, 0.9]), (Some(7), 1, true), "asked once whether the value is the same there");
        assert_eq!(from(&[0.28, 0.21]), (Some(7), 0, false), "it is the same point");
        let (arrived, calls, _) = from(&[0.1, 0.9]);
        assert!(arrived.is_none() && calls > 20, "too far away to say: {arrived:?}, {calls}");
        let (arrived, calls, _) = from(&[0.299_999_9, 0.9]);
        assert!(arrived.is_none() && calls > 0, "it is better: {arrived:?}, {calls}");
    }

    #[test]
    fn along_an_edge_that_lies_askew_two_variables_move_together() {
        // Both tolls may add up to one; the second is worth more.
        let tolls = |at: &[f64]| if at[0] + at[1] < 1.0 { -at[0] - 2.0 * at[1] } else { 0.0 };
        let space = Space::from(vec![(0.0, 1.0); 2]);
        let point = |at: &[f64]| {
            let value = tolls(at);
            Point { at: at.to_vec(), row: vec![value], outcome: Outcome { value, violation: 0.0 } }
        };
        let end = |together: bool| {
            let mut pattern = Pattern::new(point(&[0.73, 0.269]), (0.05, 1e-6), together, &space);
            loop {
                let poll = pattern.next(&space);
                if poll.is_empty() {
                    return pattern.best().row[0];
                }
                poll.iter().for_each(|at| pattern.tell(&point(at)));
            }
        };
        assert!(end(true) < -1.99 && end(false) > -1.9, "{} {}", end(true), end(false));
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
