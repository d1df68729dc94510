//! Descents of a changed problem: ties, exact ends and borders.
//!
//! - *Leaning*: the follower minimises f + w F. Where it is indifferent, the leader may hope for the answer
//!   it likes best, and such a decision can be a single point: next to it the follower has a will of its
//!   own, and F jumps. Leaning makes the point a region whose size goes with w. As long as the follower
//!   leans, the leader gets at least what it gets in truth.
//! - *Exact*: min F(x, y) over (x, y) subject to f(x, y) <= f(x, z), g <= 0, z the follower's answer at x:
//!   the value-function form (Outrata, 1990; Ye and Zhu, 1995). The leader owns x and y, and a second
//!   answer z says what the first could have been. F does not depend on z, so nothing is tied.
//! - *Border*: min F(x, y) subject to f(x, y) <= f(x, z), where y and z are two local minima of the
//!   follower: what the leader can have with an answer that the follower gives to some decisions only
//!   lies at the border to the others. The follower minimises f(x, y) + f(x, z) over both.
//!
//! A point of the changed problem stands for a few points of the true one. Those that the run's archive
//! does not have are asked for; once all are known, the descent is told what they come to.

use super::descent::{Descent, Start};
use super::{End, Ground, Rows, Search, Shape, Wanted};
use crate::portfolio::archive::Archive;
use crate::portfolio::claim::{Claim, Scales};
use crate::problem::Level;
use serde::{Deserialize, Serialize};

/// Price of violation in a leaning follower, in units of F's scale.
const PRICE: f64 = 10.0;
/// Evaluations at both levels that a leaning descent begins with, at most.
const KNOWN: usize = 300;

/// How the problem is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) enum Change {
    /// Weight of F against f, in units of their scales.
    Lean(f64, Scales),
    Exact,
    Border,
}

/// A descent of the changed problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Changed {
    change: Change,
    shape: Shape,
    /// What the changed problem's points came to.
    archive: Archive,
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
        Changed { change, shape, archive, descent }
    }

    /// What the points that the descent waits for come to; or the points that are still to be evaluated.
    fn known(&self, run: &Archive, wanted: &mut Wanted) -> Option<Rows> {
        let level = self.descent.wanted().level;
        for needed in [Level::Lower, Level::Upper] {
            wanted.clear(needed);
            for point in self.descent.wanted().iter() {
                for (of, true_point) in self.change.points(self.shape, level, point) {
                    let asked = wanted.iter().any(|p| p == true_point);
                    if of == needed && !asked && run.level(of).find(&true_point).is_none() {
                        wanted.points.extend(true_point);
                    }
                }
            }
            if !wanted.is_empty() {
                return None;
            }
        }
        let row = |point: &[f64]| self.change.row(self.shape, run, level, point).unwrap_or_default();
        Some(self.descent.wanted().iter().map(row).collect())
    }
}

/// The values at a point that was evaluated; empty if that failed.
fn row_at<'a>(run: &'a Archive, level: Level, point: &[f64]) -> Option<&'a [f64]> {
    let points = run.level(level);
    points.find(point).map(|i| points.row(i).unwrap_or(&[]))
}

impl Change {
    /// Sizes of the changed problem.
    fn shape(&self, Shape { upper, lower }: Shape) -> Shape {
        let ([m, gi, ge], [n, li, le]) = (upper, lower);
        match self {
            Change::Lean(..) => Shape { upper, lower },
            Change::Exact => Shape { upper: [m + n, gi + 1 + li, ge + le], lower },
            Change::Border => Shape { upper: [m, gi + 1, ge], lower: [2 * n, 2 * li, 2 * le] },
        }
    }

    /// The true points that a point of the changed problem stands for.
    fn points(&self, shape: Shape, level: Level, point: &[f64]) -> Vec<(Level, Vec<f64>)> {
        let (m, n) = (shape.upper[0], shape.lower[0]);
        let first = point[..m + n].to_vec();
        if let Change::Lean(..) = self {
            return vec![(Level::Lower, first.clone()), (Level::Upper, first)];
        }
        let second = [&point[..m], &point[m + n..]].concat();
        match (self, level) {
            (Change::Exact, Level::Lower) => vec![(Level::Lower, second)],
            (_, Level::Lower) => vec![(Level::Lower, first), (Level::Lower, second)],
            (_, Level::Upper) => vec![(Level::Lower, first.clone()), (Level::Lower, second), (Level::Upper, first)],
        }
    }

    /// f + w F in the scale of f.
    fn leaned(&self, below: &[f64], above: &[f64]) -> Vec<f64> {
        let mut row = below.to_vec();
        if let Change::Lean(weight, scales) = self {
            let liked = above[0] / scales.leader() + PRICE * scales.upper_violation(above);
            row[0] += weight * scales.follower() * liked;
        }
        row
    }

    /// Values of the changed problem; none if an evaluation failed.
    fn row(&self, shape: Shape, run: &Archive, level: Level, point: &[f64]) -> Option<Vec<f64>> {
        let true_points = self.points(shape, level, point);
        let mut rows = true_points.iter().map(|(of, p)| row_at(run, *of, p).filter(|row| !row.is_empty()));
        let (gi, li) = (shape.upper[1], shape.lower[1]);
        let first = rows.next()??;
        match (self, level) {
            (Change::Exact, Level::Lower) => Some(first.to_vec()),
            (Change::Lean(..), Level::Lower) => Some(self.leaned(first, rows.next()??)),
            (Change::Lean(..), Level::Upper) => Some(rows.next()??.to_vec()),
            (Change::Border, Level::Lower) => {
                let second = rows.next()??;
                let sum = [first[0] + second[0]];
                let (a, b) = (&first[1..], &second[1..]);
                Some([&sum, &a[..li], &b[..li], &a[li..], &b[li..]].concat())
            }
            (_, Level::Upper) => {
                let (second, above) = (rows.next()??, rows.next()??);
                let gap = [first[0] - second[0]];
                let (own, below) = (&above[1..], &first[1..]);
                Some(match self {
                    Change::Exact => [&above[..1], &own[..gi], &gap, &below[..li], &own[gi..], &below[li..]].concat(),
                    _ => [&above[..1], &own[..gi], &gap, &own[gi..]].concat(),
                })
            }
        }
    }
}

impl Search for Changed {
    fn ask(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        while self.descent.end().is_none() {
            let Some(rows) = self.known(ground.archive, wanted) else { return };
            let level = self.descent.wanted().level;
            for (point, row) in self.descent.wanted().iter().zip(&rows) {
                self.archive.push(level, point, row);
            }
            self.descent.take(&self.archive, &rows);
        }
    }

    fn tell(&mut self, _ground: &Ground<'_>, _wanted: &Wanted, _rows: &Rows) {}

    /// A claim of the true problem; it is not settled, as its answer is the follower's only perhaps.
    fn claim(&self) -> Option<Claim> {
        let changed = self.descent.claim()?;
        let (m, n) = (self.shape.upper[0], self.shape.lower[0]);
        let point = [&changed.x[..], &changed.y[..]].concat();
        Some(Claim {
            x: point[..m].to_vec(),
            y: point[m..m + n].to_vec(),
            upper: changed.upper,
            lower: changed.lower,
            settled: false,
        })
    }

    fn end(&self) -> Option<End> {
        self.descent.end()
    }

    fn cut(&mut self) {
        self.descent.cut();
    }
}

/// The rows of the true problem in place of those of the changed one.
pub(in crate::portfolio) fn with_true_rows(mut claim: Claim, run: &Archive) -> Option<Claim> {
    let point = claim.point();
    claim.upper = row_at(run, Level::Upper, &point).filter(|row| !row.is_empty())?.to_vec();
    claim.lower = row_at(run, Level::Lower, &point).filter(|row| !row.is_empty())?.to_vec();
    Some(claim)
}
