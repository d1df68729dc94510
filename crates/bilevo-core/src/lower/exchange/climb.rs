//! One task: climbs by steps of real variables, moves and exchanges, from one start after another.

use super::{Answered, EFFORT, End, Place, Shared, WELLS, near};
use crate::batch::Answers;
use crate::lower::task::{LowerRules, Status, Task};
use crate::order;
use crate::portfolio::follower::{Effort, Follower};
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::space::Space;
use crate::whole::{self, key};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Maximum number of variables that a kick changes.
const KICKED: usize = 3;
/// Points drawn for a kick of the real variables: a nonconvex follower has several basins, and the best of a few
/// points is probably in a deep one.
const DRAWN: usize = 5;
/// After this many steps to a known point, a search over the real variables ends.
const AGAIN: usize = 3;
/// With real variables, which meet a constraint only approximately, violations up to this count as none.
const NEARLY: f64 = 1e-7;

/// The neighbourhood to try next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Next {
    Reals,
    Moves,
    Exchanges,
    Kick,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Climb {
    pub(super) task: Task,
    /// Its current answer.
    current: (Vec<f64>, Outcome),
    place: Place,
    /// The required accuracy of the real variables.
    pub(super) tolerance: f64,
    /// Starts that were not searched yet, and where the searches from others ended, best first.
    pub(super) starts: Vec<Vec<f64>>,
    ends: Vec<End>,
    /// The search over the real variables.
    reals: Option<Follower>,
    /// What it requests in this round.
    pub(super) queue: Vec<Vec<f64>>,
    asked: BTreeSet<Vec<u64>>,
    next: Next,
    pub(super) kicks: usize,
    stream: Stream,
}

impl Climb {
    /// A task that starts at a guess.
    pub(super) fn new(x: &[f64], guess: &[f64], place: Place, tolerance: f64, kicks: usize, stream: Stream) -> Self {
        Climb {
            task: Task::new(x, guess),
            current: (guess.to_vec(), Outcome::FAILED),
            place,
            tolerance,
            starts: Vec::new(),
            ends: Vec::new(),
            reals: None,
            queue: Vec::new(),
            asked: BTreeSet::new(),
            next: Next::Reals,
            kicks,
            stream,
        }
    }

    /// Queues the points that were not requested before.
    pub(super) fn enqueue(&mut self, points: impl IntoIterator<Item = Vec<f64>>) {
        for point in points {
            if self.asked.insert(key(&point)) {
                self.queue.push(point);
            }
        }
    }

    /// Fills an empty queue with the next neighbourhood that has something new; if there is none, the task ends.
    pub(super) fn plan(&mut self, rules: &LowerRules, shared: &mut Shared) {
        while self.queue.is_empty() && self.task.is_open() {
            let from = self.current.0.clone();
            match self.next {
                Next::Reals => {
                    if !self.step(shared) {
                        self.next = Next::Moves;
                    }
                }
                Next::Moves => {
                    let near: Vec<Vec<f64>> = match rules.tries_all() && shared.mixed.reals() > 0 {
                        true => rules.space.enumerate(&from).collect(),
                        false => rules.space.whole_moves(&from).collect(),
                    };
                    self.try_all(near, shared);
                    self.next = Next::Exchanges;
                }
                Next::Exchanges => {
                    self.try_all(rules.space.exchanges(&from).collect(), shared);
                    self.next = Next::Kick;
                }
                Next::Kick if !self.starts.is_empty() => {
                    self.note_end(&rules.space);
                    let start = self.starts.remove(0);
                    if !self.asked.contains(&key(&start)) {
                        self.stand(start.clone(), Outcome::FAILED, &[]);
                        self.enqueue([start]);
                    }
                }
                Next::Kick if self.kicks > 0 => {
                    self.note_end(&rules.space);
                    self.kicks -= 1;
                    let drawn = if shared.mixed.reals() > 0 { DRAWN } else { 1 };
                    let kicked: Vec<Vec<f64>> = (0..drawn).map(|_| self.kicked(&rules.space)).collect();
                    self.stand(kicked[0].clone(), Outcome::FAILED, &[]);
                    self.enqueue(kicked);
                }
                Next::Kick => {
                    self.note_end(&rules.space);
                    self.task.status = Status::Converged;
                }
            }
        }
    }

    /// The best answer with a few variables redrawn.
    fn kicked(&mut self, space: &Space) -> Vec<f64> {
        let mut kicked = self.task.best_y.clone();
        for index in self.stream.choose(kicked.len(), KICKED) {
            kicked[index] = space.variable(index).draw(&mut self.stream);
        }
        kicked
    }

    /// Remembers its current answer as an end, if it differs from the earlier ones.
    fn note_end(&mut self, space: &Space) {
        let (y, outcome) = self.current.clone();
        let same = |end: &End| near(space, &end.y, &y) && (end.y == y || !space.has_whole());
        match self.ends.iter_mut().find(|end| same(end)) {
            _ if outcome.is_failed() => {}
            Some(end) if !order::better(&outcome, &end.outcome) => {}
            Some(end) => *end = End { y, row: self.place.row.clone(), outcome },
            None => self.ends.push(End { y, row: self.place.row.clone(), outcome }),
        }
        self.ends.sort_by(|a, b| order::compare(&a.outcome, &b.outcome));
        // With real variables, whole numbers are searched from every end anyway.
        self.ends.truncate(if space.has_whole() { 1 } else { WELLS });
    }

    /// Where it ended.
    pub(super) fn answered(&self) -> Answered {
        let mut ends = self.ends.clone();
        if ends.first().is_none_or(|end| end.y != self.task.best_y) {
            ends.insert(0, End { y: self.task.best_y.clone(), row: Vec::new(), outcome: self.task.best });
        }
        ends.truncate(self.ends.len().max(1));
        Answered { x: self.task.x.clone(), ends }
    }

    /// Continues from a point.
    fn stand(&mut self, y: Vec<f64>, outcome: Outcome, row: &[f64]) {
        self.current = (y, outcome);
        self.place.row = row.to_vec();
        self.reals = None;
        self.next = Next::Reals;
    }

    fn try_all(&mut self, mut near: Vec<Vec<f64>>, shared: &mut Shared) {
        shared.adapt(&self.current.0, &mut near, &self.place, &self.place.x);
        self.enqueue(near);
    }

    /// Queues the next point of the search over the real variables, if there is one.
    fn step(&mut self, shared: &mut Shared) -> bool {
        if shared.mixed.reals() == 0 || self.place.row.is_empty() {
            return false;
        }
        let (whole, real) = shared.mixed.split(&self.current.0);
        let evaluations = EFFORT.0 * shared.mixed.reals() + EFFORT.1;
        let effort = Effort { radius: whole::REACH, tolerance: self.tolerance, evaluations };
        let held = [&self.place.x[..], &whole].concat();
        let (row, from) = (self.place.row.clone(), self.current.0.clone());
        let reals = self.reals.get_or_insert_with(|| Follower::new(held, real, row, effort));
        for _ in 0..AGAIN {
            let Some(unit) = reals.next(&shared.points, &mut shared.knowledge) else { return false };
            let y = shared.mixed.with_reals(&from, &unit);
            if self.asked.insert(key(&y)) {
                self.queue.push(y);
                return true;
            }
            reals.tell(&unit, &[], &shared.knowledge.merit);
        }
        false
    }

    /// Takes the outcomes of the queued points.
    pub(super) fn tell(&mut self, first: usize, answers: Answers<'_>, rules: &LowerRules, shared: &mut Shared) {
        let has_reals = shared.mixed.reals() > 0;
        for (i, y) in std::mem::take(&mut self.queue).into_iter().enumerate() {
            let Some(outcome) = answers.outcomes.get(first + i) else { break };
            let mut outcome = *outcome;
            if has_reals && outcome.violation <= NEARLY {
                outcome.violation = 0.0;
            }
            self.task.offer(&y, &outcome);
            let row = match outcome.is_failed() {
                true => Vec::new(),
                false => [&[outcome.value], answers.constraints(first + i)].concat(),
            };
            if has_reals {
                let unit = shared.mixed.unit(&y);
                shared.points.push(&[&self.place.x[..], &unit].concat(), &row);
                if let Some(reals) = self.reals.as_mut().filter(|_| self.next == Next::Reals) {
                    reals.tell(&unit[shared.mixed.wholes..], &row, &shared.knowledge.merit);
                    if order::better(&outcome, &self.current.1) {
                        self.current = (y, outcome);
                        self.place.row = row;
                    }
                    continue;
                }
            }
            if order::better(&outcome, &self.current.1) {
                self.stand(y, outcome, &row);
            }
        }
        self.task.end_round(rules);
        self.plan(rules, shared);
    }
}
