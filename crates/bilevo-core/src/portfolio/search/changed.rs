//! Descents of a changed problem: ties, exact ends and borders.
//!
//! - *Leaning*: the follower minimises f + w F. Where it is indifferent, the leader may hope for the answer that
//!   suits it best. Such a decision can be a single point: next to it, the follower has a preference again, and F
//!   jumps. Leaning turns the point into a region whose size grows with w. As long as the follower leans, the leader
//!   gets at least what it really gets.
//! - *Exact*: min F(x, y) over (x, y) subject to f(x, y) <= f(x, z), g <= 0, where z is the follower's answer at x:
//!   the value-function form (Outrata, 1990; Ye and Zhu, 1995). The leader controls x and y, and z says what y could
//!   have been. F does not depend on z, so nothing is tied.
//! - *Regret*: min f(x, y) - f(x, z) over (x, y) subject to F(x, y) <= a level, g <= 0, where z is the follower's
//!   answer at x. If the follower is indifferent at a single decision only, the constraint of the exact form has no
//!   interior, and no gradient where it holds. But what the follower loses by the answer that the leader hopes for is
//!   smooth, and vanishes at that decision: a thin set there is a minimum here.
//! - *Border*: min F(x, y) subject to f(x, y) <= f(x, r) for every rival r, where y is a local minimum of the
//!   follower. If the follower gives an answer at some decisions only, the best of them for the leader lies at the
//!   border to the other decisions.
//! - *Tracked*: the same with a rival that follows x: the last one is a second local minimum of the follower, solved
//!   at every x next to the first. Rivals on constraints that move with x need that.
//! - *Feasible*: the leader obeys the follower's constraints as well as its own. If no answer is feasible, the leader
//!   is to blame for the follower's violation.
//!
//! Rivals are answers that a verdict preferred to the claimed one. They stay where they are. For answers at corners
//! that is exact; for others the error grows with the square of the leader's steps, so a few rounds of search and
//! verdict are enough (cutting planes of the value function; Mitsos et al., 2008).
//!
//! A point of the changed problem stands for a few points of the true one. Those that are not in the run's archive
//! are requested; once all are known, the descent is told the resulting values.

mod change;

pub(in crate::portfolio) use change::{Change, Rivals};

use super::descent::{Descent, Start};
use super::{End, Ground, Rows, Search, Shape, Wanted};
use crate::portfolio::archive::Archive;
use crate::portfolio::claim::Claim;
use crate::problem::Level;
use change::row_at;
use serde::{Deserialize, Serialize};

/// The most that the follower may lose where an exact end begins, relative to the usual variation of f: more than
/// that is no tie.
const TIED: f64 = 4.0;
/// The same where an exact end loses its way, or a regret cannot be made smaller: more than that is no claim.
const NEARLY_TIED: f64 = 0.01;
const REGRET: f64 = 1e-4;
/// After one in this many of its evaluations, a search for a follower without regret must have reduced the regret to
/// this share.
const PART: u64 = 4;
const HOPE: f64 = 0.1;
/// The maximum number of known evaluations, at both levels, with which a leaning descent begins.
const KNOWN: usize = 300;

/// A descent of the changed problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Changed {
    change: Change,
    shape: Shape,
    /// The values of the changed problem's points.
    archive: Archive,
    /// Other places where it may start, once they are evaluated.
    starts: Vec<Vec<f64>>,
    descent: Descent,
}

impl Changed {
    /// A descent from `start`, a point of the changed problem. If it is `informed`, it starts with what others
    /// evaluated.
    pub(in crate::portfolio) fn new(shape: Shape, run: &Archive, change: Change, start: Start, informed: bool) -> Self {
        let changed = change.shape(shape);
        let mut archive = changed.archive();
        // Evaluations of others around an elite would keep a leaning descent there.
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

    /// It starts at the best of these points that violates no constraint: a descent slides off the end of a branch of
    /// answers, which is where the leader may like it best.
    pub(in crate::portfolio) fn or_from(self, starts: Vec<Vec<f64>>) -> Self {
        Changed { starts, ..self }
    }

    /// The start: the best of those points that violates no constraint, or else its own start; or the points that
    /// still have to be evaluated.
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

    /// Whether the true points are known for which some points stand; requests those that are not.
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

    /// Whether the follower is not indifferent anywhere nearby.
    fn is_hopeless(&self) -> bool {
        let Change::Regret(..) = self.change else { return false };
        let first = (0..self.archive.upper.len()).find_map(|i| self.archive.upper.row(i)).map(|row| row[0]);
        let (spent, budget) = (self.descent.spent(), self.descent.start().budget);
        self.descent.claim().zip(first).is_some_and(|(claim, first)| loses_still(spent, budget, claim.value(), first))
    }

    /// The values of the points that the descent waits for; or the points that still have to be evaluated.
    fn known(&self, run: &Archive, wanted: &mut Wanted) -> Option<Rows> {
        let level = self.descent.wanted().level;
        if !self.all_known(run, level, self.descent.wanted().iter(), wanted) {
            return None;
        }
        let row = |point: &[f64]| self.change.row(self.shape, run, level, point).unwrap_or_default();
        Some(self.descent.wanted().iter().map(row).collect())
    }
}

/// Whether, after a part of the evaluations, the follower still loses much of what it lost at first.
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

    /// A claim of the true problem. Unless the follower is the true one, the claim is not settled, because its answer
    /// may not be the follower's.
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

/// The rows of the true problem instead of those of the changed one.
pub(in crate::portfolio) fn with_true_rows(mut claim: Claim, run: &Archive) -> Option<Claim> {
    let point = claim.point();
    claim.upper = row_at(run, Level::Upper, &point).filter(|row| !row.is_empty())?.to_vec();
    claim.lower = row_at(run, Level::Lower, &point).filter(|row| !row.is_empty())?.to_vec();
    Some(claim)
}

#[cfg(test)]
mod tests;
