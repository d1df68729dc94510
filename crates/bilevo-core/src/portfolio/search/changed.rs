//! Descents of a changed problem: ties, exact ends and borders.
//!
//! - *Leaning*: the follower minimises f + w F. Where it is indifferent, the leader may hope for the answer
//!   it likes best, and such a decision can be a single point: next to it the follower has a will of its
//!   own, and F jumps. Leaning makes the point a region whose size goes with w. As long as the follower
//!   leans, the leader gets at least what it gets in truth.
//! - *Exact*: min F(x, y) over (x, y) subject to f(x, y) <= f(x, z), g <= 0, z the follower's answer at x:
//!   the value-function form (Outrata, 1990; Ye and Zhu, 1995). The leader owns x and y, and a second
//!   answer z says what the first could have been. F does not depend on z, so nothing is tied.
//! - *Regret*: min f(x, y) - f(x, z) over (x, y) subject to F(x, y) <= a level, g <= 0, z the follower's answer at x.
//!   Where the follower is indifferent at a single decision only, the constraint of the exact form has no inside and
//!   no gradient where it holds. What the follower loses by the answer that the leader hopes for is smooth, and
//!   vanishes at that decision: what is a thin set there is a minimum here.
//! - *Border*: min F(x, y) subject to f(x, y) <= f(x, r) for every rival r, where y is a local minimum of
//!   the follower: what the leader can have with an answer that the follower gives to some decisions only
//!   lies at the border to the others.
//! - *Tracked*: the same with a rival that follows: the last one is a second local minimum of the follower, found
//!   at every x beside the first. Rivals on constraints that move with x need that.
//! - *Feasible*: the leader's constraints and the follower's. Where no answer is feasible, the follower's
//!   violation is the leader's doing.
//!
//! Rivals are answers that a verdict preferred to what was claimed. They stay where they are: answers at
//! corners do, and for others the error goes with the square of the leader's way, so that a few rounds of
//! search and verdict are enough (cutting planes of the value function; Mitsos et al., 2008).
//!
//! A point of the changed problem stands for a few points of the true one. Those that the run's archive
//! does not have are asked for; once all are known, the descent is told what they come to.

mod change;

pub(in crate::portfolio) use change::{Change, Rivals};

use super::descent::{Descent, Start};
use super::{End, Ground, Rows, Search, Shape, Wanted};
use crate::portfolio::archive::Archive;
use crate::portfolio::claim::Claim;
use crate::problem::Level;
use change::row_at;
use serde::{Deserialize, Serialize};

/// What the follower may lose where an exact end begins, in units of what f changes by. More than that is no tie.
const TIED: f64 = 4.0;
/// The same where an exact end loses its way, or a regret cannot be made smaller: more than that is no claim.
const NEARLY_TIED: f64 = 0.01;
const REGRET: f64 = 1e-4;
/// After one in so many of its evaluations, a search for a follower without regret must have made it this share of what
/// it was.
const PART: u64 = 4;
const HOPE: f64 = 0.1;
/// Evaluations at both levels that a leaning descent begins with, at most.
const KNOWN: usize = 300;

/// A descent of the changed problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Changed {
    change: Change,
    shape: Shape,
    /// What the changed problem's points came to.
    archive: Archive,
    /// Where it may start instead, once they are evaluated.
    starts: Vec<Vec<f64>>,
    descent: Descent,
}

impl Changed {
    /// A descent from `start`, a point of the changed problem. It goes on from others if it is `informed`.
    pub(in crate::portfolio) fn new(shape: Shape, run: &Archive, change: Change, start: Start, informed: bool) -> Self {
        let changed = change.shape(shape);
        let mut archive = changed.archive();
        // What others evaluated around an elite would hold a leaning descent there.
        if informed {
            let first = run.upper.len().saturating_sub(KNOWN);
            for i in first..run.upper.len() {
                let point = run.upper.point(i);
                let (Some(above), Some(below)) = (run.upper.row(i), row_at(run, Level::Lower, point)) else { continue };
                if !below.is_empty() && point != start.point {
                    archive.upper.push(point, above);
                    archive.lower.push(point, &change.leaned(below, above));
                }
            }
        }
        let descent = Descent::new(changed, &archive, start);
        let descent = if informed { descent.informed() } else { descent };
        Changed { change, shape, archive, starts: Vec::new(), descent }
    }

    /// It starts at the best of these points that break no constraint: where a branch of answers ends, which is where
    /// the leader may like it best, a descent slides off it.
    pub(in crate::portfolio) fn or_from(self, starts: Vec<Vec<f64>>) -> Self {
        Changed { starts, ..self }
    }

    /// The start: the best of those that break no constraint, otherwise its own; or the points that are still to be
    /// evaluated.
    fn choose_start(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        if !self.all_known(ground.archive, Level::Upper, self.starts.iter().map(Vec::as_slice), wanted) {
            return;
        }
        let shape = self.change.shape(self.shape);
        let row = |point: &Vec<f64>| self.change.row(self.shape, ground.archive, Level::Upper, point);
        let keeps = |row: &Vec<f64>| row[1..=shape.upper[1]].iter().all(|c| *c <= 0.0);
        let judged = self.starts.iter().filter_map(|point| Some((point, row(point).filter(keeps)?[0])));
        if let Some((point, _)) = judged.min_by(|a, b| a.1.total_cmp(&b.1)) {
            let start = Start { point: point.clone(), ..self.descent.start().clone() };
            self.descent = Descent::new(shape, &self.archive, start);
        }
        self.starts.clear();
    }

    /// Whether the true points are known that some points stand for; asks for those that are not.
    fn all_known<'a>(
        &self,
        run: &Archive,
        level: Level,
        points: impl Iterator<Item = &'a [f64]> + Clone,
        wanted: &mut Wanted,
    ) -> bool {
        for needed in [Level::Lower, Level::Upper] {
            wanted.clear(needed);
            for point in points.clone() {
                for (of, true_point) in self.change.points(self.shape, level, point) {
                    let asked = wanted.iter().any(|p| p == true_point);
                    if of == needed && !asked && run.level(of).find(&true_point).is_none() {
                        wanted.points.extend(true_point);
                    }
                }
            }
            if !wanted.is_empty() {
                return false;
            }
        }
        true
    }

    /// Whether the follower is not indifferent anywhere near.
    fn is_hopeless(&self) -> bool {
        let Change::Regret(..) = self.change else { return false };
        let first = (0..self.archive.upper.len()).find_map(|i| self.archive.upper.row(i)).map(|row| row[0]);
        let (spent, budget) = (self.descent.spent(), self.descent.start().budget);
        self.descent.claim().zip(first).is_some_and(|(claim, first)| loses_still(spent, budget, claim.value(), first))
    }

    /// What the points that the descent waits for come to; or the points that are still to be evaluated.
    fn known(&self, run: &Archive, wanted: &mut Wanted) -> Option<Rows> {
        let level = self.descent.wanted().level;
        if !self.all_known(run, level, self.descent.wanted().iter(), wanted) {
            return None;
        }
        let row = |point: &[f64]| self.change.row(self.shape, run, level, point).unwrap_or_default();
        Some(self.descent.wanted().iter().map(row).collect())
    }
}

/// Whether a follower still loses much of what it lost at first, after a part of the evaluations.
fn loses_still(spent: u64, budget: u64, now: f64, first: f64) -> bool {
    spent >= budget / PART && now > HOPE * first
}

impl Search for Changed {
    fn ask(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        if !self.starts.is_empty() {
            self.choose_start(ground, wanted);
        }
        while wanted.is_empty() && self.descent.end().is_none() {
            let Some(rows) = self.known(ground.archive, wanted) else { return };
            let level = self.descent.wanted().level;
            for (point, row) in self.descent.wanted().iter().zip(&rows) {
                self.archive.push(level, point, row);
            }
            let first = level == Level::Upper && self.archive.upper.len() == 1;
            self.descent.take(&self.archive, &rows);
            if first && self.change.costs_more(TIED, self.shape, &rows[0]) {
                self.descent.finish(End::Lost);
            } else if level == Level::Upper && rows.iter().any(|row| self.change.is_reached(self.shape, row)) {
                self.descent.finish(End::Converged);
            } else if self.is_hopeless() {
                self.descent.finish(End::Lost);
            }
        }
    }

    fn tell(&mut self, _ground: &Ground<'_>, _wanted: &Wanted, _rows: &Rows) {}

    /// A claim of the true problem; unless the follower is the true one it is not settled, as its answer is
    /// the follower's only perhaps.
    fn claim(&self) -> Option<Claim> {
        let changed = self.descent.claim()?;
        let nearly = match self.change {
            Change::Regret(..) => Some(REGRET),
            _ => Some(NEARLY_TIED).filter(|_| self.end() == Some(End::Lost)),
        };
        if nearly.is_some_and(|nearly| self.change.costs_more(nearly, self.shape, &changed.upper)) {
            return None;
        }
        let (m, n) = (self.shape.upper[0], self.shape.lower[0]);
        let point = [&changed.x[..], &changed.y[..]].concat();
        Some(Claim {
            x: point[..m].to_vec(),
            y: point[m..m + n].to_vec(),
            upper: changed.upper,
            lower: changed.lower,
            settled: self.change == Change::Feasible && changed.settled,
        })
    }

    fn end(&self) -> Option<End> {
        self.descent.end()
    }

    fn cut(&mut self) {
        self.descent.cut();
    }

    fn reach(&self) -> (f64, f64) {
        self.descent.reach()
    }
}

/// The rows of the true problem in place of those of the changed one.
pub(in crate::portfolio) fn with_true_rows(mut claim: Claim, run: &Archive) -> Option<Claim> {
    let point = claim.point();
    claim.upper = row_at(run, Level::Upper, &point).filter(|row| !row.is_empty())?.to_vec();
    claim.lower = row_at(run, Level::Lower, &point).filter(|row| !row.is_empty())?.to_vec();
    Some(claim)
}

#[cfg(test)]
mod tests;
