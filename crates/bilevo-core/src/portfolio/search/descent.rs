//! A local descent of both levels from one point, on one surrogate of the follower.
//!
//! All lower evaluations lie in one space (x, y), so a surrogate of the follower's function around the current point
//! learns from every x tried, and predicts the answer at the next one. The leader steps on a surrogate of F along the
//! response.
//!
//! 1. The follower is solved at the start point, then at one point along each upper variable.
//! 2. The leader proposes an x: the minimiser of its surrogate or, if the data say too little about the minimiser, a
//!    point that teaches more.
//! 3. The follower's search starts at the predicted answer, and ends when the predicted minimiser and its doubt are
//!    within a tenth of the leader's step.
//! 4. F is evaluated there. If nothing improves on the base, the base may owe its value to an inaccurate answer: it
//!    is settled to the current tolerance and judged again.
//! 5. If steps fail although the minimiser is in doubt, one more point is evaluated along each variable, close by.
//! 6. At the end, the answer is made as exact as the numbers allow: the leader gains from every error of the
//!    follower, so an inaccurate answer would make the decision look better than it is.

use super::leader::{Answer, Leader, Proposal, RADIUS};
use super::{End, Goal, Ground, Rows, Search, Shape, Wanted};
use crate::portfolio::archive::{Archive, Learner};
use crate::portfolio::claim::Claim;
use crate::portfolio::follower::{Effort, Follower, Knowledge, apart};
use crate::portfolio::merit::Merit;
use crate::problem::Level;
use serde::{Deserialize, Serialize};

/// The first length of the kernel.
const LENGTH: f64 = 0.3;
/// The radius of the first follower's search.
const FIRST_RADIUS: f64 = 0.1;
/// The smallest tolerance of a follower's answer on the way, and at the end.
const FINEST: f64 = 1e-5;
const POLISHED: f64 = 1e-7;
/// The lower evaluations of the first follower and of the others: this many, or this many for each variable.
const FIRST: (usize, usize) = (100, 24);
const OTHERS: (usize, usize) = (30, 7);
/// Steps and radii below which a descent usually ends.
pub(in crate::portfolio) const STILL: f64 = 5e-6;
/// Steps below this are short; and how many short steps in a row may lack an answer.
const SHORT: f64 = 1e-3;
const LOST: usize = 3;

/// The purpose of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Phase {
    /// Lower: the follower's search at a proposed x.
    Follow(Proposal),
    /// Upper: judges the proposal.
    Judge(Proposal),
    /// Lower: settles the base's follower to a tolerance, after a step of this length failed.
    Settle(f64),
    /// Upper: judges the base again.
    Correct(f64),
    Ended(End),
}

/// Where a descent starts, and what it may do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Start {
    /// The point (x, y).
    pub(in crate::portfolio) point: Vec<f64>,
    /// The length of the first steps relative to the usual ones: smaller if the start is nearly right.
    pub(in crate::portfolio) size: f64,
    /// The maximum number of evaluations.
    pub(in crate::portfolio) budget: u64,
    /// It ends when steps and radii are below this. If this is more than usual, the answer is not made exact at the
    /// end.
    pub(in crate::portfolio) still: f64,
    /// Where it may end early.
    pub(in crate::portfolio) goal: Option<Goal>,
}

/// The descent: plain data, so it can be saved between any two batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Descent {
    m: usize,
    start: Start,
    spent: u64,
    knowledge: Knowledge,
    leader: Leader,
    follower: Follower,
    phase: Phase,
    wanted: Wanted,
    /// The number of short steps in a row whose follower was not solved.
    astray: usize,
}

impl Descent {
    /// A descent. Its evaluations go into `archive`.
    pub(in crate::portfolio) fn new(shape: Shape, archive: &Archive, start: Start) -> Self {
        let (m, n) = (shape.upper[0], shape.lower[0]);
        let (x, y) = (start.point[..m].to_vec(), start.point[m..].to_vec());
        let radius = start.size * FIRST_RADIUS;
        let mut wanted = Wanted::new(m + n);
        wanted.push(&x, &y);
        for i in 0..n {
            let mut y = y.clone();
            y[i] += if y[i] > 0.5 { -radius } else { radius };
            wanted.push(&x, &y);
        }
        let merit = Merit::new(shape.lower[1], shape.lower[2]);
        let effort = Effort { radius, tolerance: start.size * 0.1 * RADIUS, evaluations: FIRST.0.max(FIRST.1 * n) };
        let kinked = shape.outputs(Level::Lower) > 1;
        let sizes = (start.size, start.still);
        Descent {
            m,
            spent: 0,
            knowledge: Knowledge { learner: Learner::new(vec![LENGTH; m + n], archive.lower.len()), merit },
            leader: Leader::new(shape.upper, n, kinked, archive.upper.len(), sizes),
            follower: Follower::new(x.clone(), y.clone(), Vec::new(), effort),
            phase: Phase::Follow(Proposal::first(x, y)),
            wanted,
            astray: 0,
            start,
        }
    }

    /// Skips the points that teach the first surrogates: the archive has others, which count as its own.
    pub(in crate::portfolio) fn informed(mut self) -> Self {
        self.wanted.points.truncate(self.wanted.dim);
        self.leader.skip_first_points(self.m);
        self
    }

    pub(in crate::portfolio) fn start(&self) -> &Start {
        &self.start
    }

    /// The points it waits for.
    pub(in crate::portfolio) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// Whether its surrogates say nothing about the follower: early in the descent, it repeatedly finds no answers to
    /// nearby decisions. Late in a descent, that may only mean that the values differ in too few digits.
    fn is_lost(&self) -> bool {
        self.astray >= LOST && self.spent < self.start.budget / 4
    }

    /// Evaluations so far.
    pub(in crate::portfolio) fn spent(&self) -> u64 {
        self.spent
    }

    /// Ends it.
    pub(in crate::portfolio) fn finish(&mut self, end: End) {
        self.phase = Phase::Ended(end);
        self.wanted.points.clear();
    }

    /// Takes the values of the points it waited for, which are already in the archive.
    pub(in crate::portfolio) fn take(&mut self, archive: &Archive, rows: &Rows) {
        self.spent += rows.len() as u64;
        let first = rows.first().map_or(&[][..], |row| row);
        match std::mem::replace(&mut self.phase, Phase::Ended(End::Spent)) {
            Phase::Judge(proposal) => self.judge(archive, proposal, first),
            Phase::Correct(length) => {
                self.leader.correct(self.answer(), first, length);
                self.settle_or_go_on(archive, length);
            }
            phase => {
                for (point, row) in self.wanted.iter().zip(rows) {
                    self.follower.tell(&point[self.m..], row, &self.knowledge.merit);
                }
                self.phase = phase;
                self.follow(archive);
            }
        }
        if self.has_arrived() {
            self.finish(End::Arrived);
        } else if self.spent >= self.start.budget && !matches!(self.phase, Phase::Ended(_)) {
            self.finish(End::Spent);
        } else if let Phase::Ended(end) = self.phase {
            self.finish(end);
        }
    }

    /// Whether it is close to the claim near which it may end.
    fn has_arrived(&self) -> bool {
        let Some((goal, answer)) = self.start.goal.as_ref().zip(self.leader.answers.get(self.leader.base)) else {
            return false;
        };
        let at = |value: &f64| goal.is_reached(self.leader.x(), &answer.y, *value);
        answer.settled && self.leader.row().first().is_some_and(at)
    }

    /// Continues with the follower's search, or with what comes after it.
    fn follow(&mut self, archive: &Archive) {
        if let Some(y) = self.follower.next(&archive.lower, &mut self.knowledge) {
            self.want(Level::Lower, y);
            return;
        }
        let phase = std::mem::replace(&mut self.phase, Phase::Ended(End::Spent));
        match phase {
            // Nothing could be evaluated there.
            Phase::Follow(proposal) if self.follower.row.is_empty() => return self.judge(archive, proposal, &[]),
            Phase::Follow(proposal) => self.phase = Phase::Judge(proposal),
            Phase::Settle(length) => {
                if apart(&self.leader.answer().y, &self.follower.y) > 0.5 * self.follower.tolerance {
                    self.phase = Phase::Correct(length);
                } else {
                    self.leader.confirm(self.follower.tolerance, self.follower.settled);
                    self.propose(archive);
                    return;
                }
            }
            _ => return,
        }
        self.want(Level::Upper, self.follower.y.clone());
    }

    fn want(&mut self, level: Level, y: Vec<f64>) {
        self.wanted.clear(level);
        self.wanted.push(&self.follower.x, &y);
    }

    fn answer(&self) -> Answer {
        let Follower { y, row, tolerance, settled, .. } = &self.follower;
        Answer { y: y.clone(), row: row.clone(), tolerance: *tolerance, settled: *settled }
    }

    fn judge(&mut self, archive: &Archive, proposal: Proposal, row: &[f64]) {
        let better = self.leader.judge(&proposal, self.answer(), row);
        if self.leader.answers.is_empty() {
            return;
        }
        let astray = !self.follower.settled && proposal.length < SHORT;
        self.astray = if astray { self.astray + 1 } else { 0 };
        if self.is_lost() {
            self.phase = Phase::Ended(End::Lost);
        } else if better {
            self.propose(archive);
        } else {
            self.settle_or_go_on(archive, proposal.length);
        }
    }

    /// Settles the base to the current tolerance, if it was judged with a larger one.
    fn settle_or_go_on(&mut self, archive: &Archive, length: f64) {
        let tolerance = tolerance(length);
        let old = self.leader.answer().tolerance;
        if old <= 1.01 * tolerance {
            self.propose(archive);
            return;
        }
        let effort = Effort { radius: 4.0 * tolerance.max(0.1 * old), tolerance, evaluations: self.effort() };
        self.settle(archive, effort, length);
    }

    fn settle(&mut self, archive: &Archive, effort: Effort, length: f64) {
        let Answer { y, row, .. } = self.leader.answer().clone();
        self.follower = Follower::new(self.leader.x().to_vec(), y, row, effort);
        self.phase = Phase::Settle(length);
        self.follow(archive);
    }

    /// The lower evaluations of a follower.
    fn effort(&self) -> usize {
        OTHERS.0.max(OTHERS.1 * (self.wanted.dim - self.m))
    }

    /// The leader's next point and where its follower starts, or the end.
    fn propose(&mut self, archive: &Archive) {
        match self.leader.propose(&archive.upper, &archive.lower, &mut self.knowledge) {
            Some(mut proposal) => {
                let y = proposal.y.clone();
                let tolerance = tolerance(proposal.length);
                let radius = (0.5 * proposal.length).max(4.0 * tolerance);
                let effort = Effort { radius, tolerance, evaluations: self.effort() };
                let follower = Follower::new(proposal.x.clone(), y.clone(), Vec::new(), effort);
                self.follower = follower.or(proposal.instead.take());
                self.phase = Phase::Follow(proposal);
                self.want(Level::Lower, y);
            }
            None if self.leader.answer().tolerance <= POLISHED || self.start.still > STILL => {
                self.phase = Phase::Ended(End::Converged);
            }
            None => {
                let radius = 0.4 * self.leader.answer().tolerance;
                self.settle(archive, Effort { radius, tolerance: POLISHED, evaluations: self.effort() }, 0.0);
            }
        }
    }
}

impl Search for Descent {
    fn ask(&mut self, _ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clone_from(&self.wanted);
    }

    fn tell(&mut self, ground: &Ground<'_>, _wanted: &Wanted, rows: &Rows) {
        self.take(ground.archive, rows);
    }

    fn claim(&self) -> Option<Claim> {
        let answer = self.leader.answers.get(self.leader.base)?;
        Some(Claim {
            x: self.leader.x().to_vec(),
            y: answer.y.clone(),
            upper: self.leader.row().to_vec(),
            lower: answer.row.clone(),
            settled: answer.settled,
        })
    }

    fn end(&self) -> Option<End> {
        match self.phase {
            Phase::Ended(end) => Some(end),
            _ => None,
        }
    }

    fn cut(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Ended(End::Spent));
        self.wanted.points.clear();
        match phase {
            Phase::Follow(proposal) if !self.follower.row.is_empty() => {
                self.phase = Phase::Judge(proposal);
                self.want(Level::Upper, self.follower.y.clone());
            }
            Phase::Judge(_) | Phase::Correct(_) => {
                self.phase = phase;
                self.want(Level::Upper, self.follower.y.clone());
            }
            _ => {}
        }
    }

    fn reach(&self) -> (f64, f64) {
        (self.leader.radius(), 1.0)
    }
}

/// The accuracy of the follower's answer that a step of this length needs.
fn tolerance(length: f64) -> f64 {
    (0.1 * length).max(FINEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    mod trace;

    #[test]
    fn it_is_lost_if_answers_close_by_are_not_found_early_on() {
        let shape = Shape { upper: [1, 0, 0], lower: [1, 0, 0] };
        let start = Start { point: vec![0.5; 2], size: 1.0, budget: 400, still: STILL, goal: None };
        let mut descent = Descent::new(shape, &shape.archive(), start);
        (descent.astray, descent.spent) = (LOST - 1, 50);
        assert!(!descent.is_lost());
        descent.astray = LOST;
        assert!(descent.is_lost());
        // Late steps fail because the values have too few digits.
        descent.spent = 100;
        assert!(!descent.is_lost());
    }

    #[test]
    fn followers_with_more_variables_may_spend_more() {
        let effort = |n: usize| {
            let shape = Shape { upper: [1, 0, 0], lower: [n, 0, 0] };
            let start = Start { point: vec![0.5; 1 + n], size: 1.0, budget: 400, still: STILL, goal: None };
            Descent::new(shape, &shape.archive(), start).effort()
        };
        assert_eq!([effort(1), effort(4), effort(10)], [30, 30, 70]);
    }

    #[test]
    fn an_answer_is_as_exact_as_the_step_needs() {
        assert_eq!([tolerance(0.2), tolerance(1e-9)], [0.1 * 0.2, FINEST]);
    }
}
