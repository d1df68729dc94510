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

use super::descent::{Descent, Start};
use super::{End, Ground, Rows, Search, Shape, Wanted};
use crate::portfolio::archive::Archive;
use crate::portfolio::claim::{Claim, Scales};
use crate::problem::Level;
use serde::{Deserialize, Serialize};

/// Price of violation in a leaning follower, in units of F's scale.
const PRICE: f64 = 10.0;
/// What the follower may lose where an exact end begins, in units of what f changes by. More than that is no tie.
const TIED: f64 = 4.0;
/// The same where an exact end loses its way, or a regret cannot be made smaller: more than that is no claim.
const NEARLY_TIED: f64 = 0.01;
const REGRET: f64 = 1e-4;
/// What the follower loses is nothing below this.
const NOTHING: f64 = 1e-9;
/// After one in so many of its evaluations, a search for a follower without regret must have made it this share of what
/// it was.
const PART: u64 = 4;
const HOPE: f64 = 0.1;
/// Evaluations at both levels that a leaning descent begins with, at most.
const KNOWN: usize = 300;

/// How the problem is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) enum Change {
    /// Weight of F against f, in units of their scales.
    Lean(f64, Scales),
    Exact(Rivals),
    /// With the level of F, and what f changes by.
    Regret(f64, f64),
    Border(Rivals),
    Tracked(Rivals),
    Feasible,
}

/// Answers that the claimed one must not be worse than, and what values are measured by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Rivals {
    pub(in crate::portfolio) answers: Vec<Vec<f64>>,
    pub(in crate::portfolio) scales: Scales,
    /// What f changes by: over the archive, or over the answers to one decision if that is more.
    pub(in crate::portfolio) range: f64,
}

impl Rivals {
    /// f of a rival. One that breaks constraints is no rival, the less the more it does.
    fn value(&self, row: &[f64]) -> Option<f64> {
        let price = PRICE * self.scales.follower();
        Some(row.first()? + price * self.scales.lower_violation(row))
    }
}

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

/// The values of two followers side by side: the sum of f, then the inequalities and the equalities of both.
fn both(a: &[f64], b: &[f64], inequalities: usize) -> Vec<f64> {
    let ((ai, ae), (bi, be)) = (a[1..].split_at(inequalities), b[1..].split_at(inequalities));
    [&[a[0] + b[0]][..], ai, bi, ae, be].concat()
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
            Change::Feasible => Shape { upper: [m, gi + li, ge + le], lower },
            Change::Exact(rivals) => Shape { upper: [m + n, gi + 1 + rivals.answers.len() + li, ge + le], lower },
            Change::Regret(..) => Shape { upper: [m + n, gi + 1 + li, ge + le], lower },
            Change::Border(rivals) => Shape { upper: [m, gi + rivals.answers.len(), ge], lower },
            Change::Tracked(rivals) => {
                Shape { upper: [m, gi + rivals.answers.len(), ge], lower: lower.map(|count| 2 * count) }
            }
        }
    }

    /// The true points that a point of the changed problem stands for.
    fn points(&self, shape: Shape, level: Level, point: &[f64]) -> Vec<(Level, Vec<f64>)> {
        let (m, n) = (shape.upper[0], shape.lower[0]);
        let first = point[..m + n].to_vec();
        let with = |y: &[f64]| (Level::Lower, [&point[..m], y].concat());
        let mut points = match (self, level) {
            (Change::Exact(_) | Change::Regret(..), Level::Lower) => return vec![with(&point[m + n..])],
            (Change::Border(_) | Change::Feasible, Level::Lower) => return vec![(Level::Lower, first)],
            (Change::Tracked(_), Level::Lower) => return vec![(Level::Lower, first), with(&point[m + n..])],
            _ => vec![(Level::Upper, first.clone()), (Level::Lower, first)],
        };
        match self {
            Change::Lean(..) | Change::Feasible => {}
            Change::Exact(rivals) => {
                points.push(with(&point[m + n..]));
                points.extend(rivals.answers.iter().map(|y| with(y)));
            }
            Change::Regret(..) => points.push(with(&point[m + n..])),
            Change::Border(rivals) => points.extend(rivals.answers.iter().map(|y| with(y))),
            Change::Tracked(rivals) => {
                points.extend(rivals.answers.iter().rev().skip(1).map(|y| with(y)));
                points.push(with(&point[m + n..]));
            }
        }
        points
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

    /// Whether the answer that the leader hopes for costs the follower more than so many times what f changes by.
    fn costs_more(&self, than: f64, shape: Shape, row: &[f64]) -> bool {
        match self {
            Change::Exact(rivals) => {
                let gaps = row.iter().skip(1 + shape.upper[1]).take(1 + rivals.answers.len());
                gaps.fold(0.0, |a: f64, b| a.max(*b)) > than * rivals.range
            }
            Change::Regret(_, range) => row.first().is_none_or(|regret| *regret > than * range),
            _ => false,
        }
    }

    /// Whether the follower loses nothing any more, and F is what it is to be.
    fn is_reached(&self, shape: Shape, row: &[f64]) -> bool {
        let Change::Regret(_, range) = self else { return false };
        row.get(1 + shape.upper[1]).is_some_and(|above| *above <= 0.0) && row[0] <= NOTHING * range
    }

    /// Values of the changed problem; none if an evaluation failed.
    fn row(&self, shape: Shape, run: &Archive, level: Level, point: &[f64]) -> Option<Vec<f64>> {
        let true_points = self.points(shape, level, point);
        let mut rows = true_points.iter().map(|(of, p)| row_at(run, *of, p).unwrap_or(&[]));
        let sound = |row: Option<&'_ [f64]>| row.filter(|row| !row.is_empty()).map(<[f64]>::to_vec);
        let first = sound(rows.next())?;
        if level == Level::Lower {
            return match self {
                Change::Lean(..) => Some(self.leaned(&sound(rows.next())?, &first)),
                Change::Tracked(_) => Some(both(&first, &sound(rows.next())?, shape.lower[1])),
                _ => Some(first),
            };
        }
        let below = sound(rows.next())?;
        let (gi, li) = (shape.upper[1], shape.lower[1]);
        let gap = |rivals: &Rivals, row: &[f64]| {
            rivals.value(row).map_or(-rivals.scales.follower(), |value| below[0] - value)
        };
        match self {
            Change::Lean(..) => Some(first),
            Change::Feasible => {
                let (above, below) = (&first[1..], &below[1..]);
                Some([&first[..1], &above[..gi], &below[..li], &above[gi..], &below[li..]].concat())
            }
            Change::Exact(rivals) => {
                let own = below[0] - sound(rows.next())?[0];
                let gaps: Vec<f64> = std::iter::once(own).chain(rows.map(|row| gap(rivals, row))).collect();
                let (above, below) = (&first[1..], &below[1..]);
                Some([&first[..1], &above[..gi], &gaps, &below[..li], &above[gi..], &below[li..]].concat())
            }
            Change::Regret(level, _) => {
                let own = below[0] - sound(rows.next())?[0];
                let (above, below) = (&first[1..], &below[1..]);
                let rest = [&above[..gi], &[first[0] - level], &below[..li], &above[gi..], &below[li..]].concat();
                Some([vec![own], rest].concat())
            }
            Change::Border(rivals) | Change::Tracked(rivals) => {
                let gaps: Vec<f64> = rows.map(|row| gap(rivals, row)).collect();
                Some([&first[..=gi], &gaps, &first[1 + gi..]].concat())
            }
        }
    }
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
mod tests {
    use super::*;
    use crate::problem::{LevelSpec, ProblemSpec};

    /// One variable each, with one inequality each: F = x + y, G = x - y, f = x * y, g = y - 0.5.
    fn run(points: &[[f64; 2]]) -> (Shape, Archive, Scales) {
        let level = || LevelSpec { inequalities: 1, ..LevelSpec::boxed(vec![(0.0, 1.0)]) };
        let spec = ProblemSpec::new("scripted", level(), level());
        let shape = Shape::of(&spec);
        let mut archive = shape.archive();
        for [x, y] in points {
            archive.push(Level::Upper, &[*x, *y], &[x + y, x - y]);
            archive.push(Level::Lower, &[*x, *y], &[x * y, y - 0.5]);
        }
        let scales = Scales::new(&spec, &archive);
        (shape, archive, scales)
    }

    #[test]
    fn leaning_adds_what_the_leader_likes() {
        let (shape, archive, scales) = run(&[[0.0, 0.5], [0.25, 0.5], [0.5, 0.5], [1.0, 0.25]]);
        let change = Change::Lean(0.5, scales.clone());
        let row = change.row(shape, &archive, Level::Lower, &[0.25, 0.5]).unwrap();
        let expected = 0.125 + 0.5 * scales.follower() * 0.75 / scales.leader();
        assert!((row[0] - expected).abs() < 1e-15 && row[1] == 0.0, "{row:?}");
        // A violation above costs: G = 0.75 at the last point.
        let row = change.row(shape, &archive, Level::Lower, &[1.0, 0.25]).unwrap();
        assert!(row[0] > 0.25 + 0.5 * scales.follower() * 1.25 / scales.leader());
        assert_eq!(change.row(shape, &archive, Level::Upper, &[0.25, 0.5]), Some(vec![0.75, -0.25]));
        assert_eq!(change.row(shape, &archive, Level::Upper, &[0.3, 0.5]), None);
    }

    #[test]
    fn an_exact_end_bounds_f_by_the_answer_and_its_rivals() {
        let (shape, archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.5, 1.0], [0.5, 0.0]]);
        let rivals = Rivals { answers: vec![vec![0.0], vec![1.0]], scales, range: 1.0 };
        let price = PRICE * rivals.scales.follower() * rivals.scales.lower_violation(&[0.5, 0.5]);
        let change = Change::Exact(rivals);
        assert_eq!(change.shape(shape), Shape { upper: [2, 5, 0], lower: [1, 1, 0] });
        // The point is (x, y, z).
        let row = change.row(shape, &archive, Level::Upper, &[0.5, 0.25, 0.5]).unwrap();
        // F, G, f - f(z), f - f of both rivals (the second breaks g), g.
        assert_eq!(row, [0.75, 0.25, -0.125, 0.125, 0.125 - (0.5 + price), -0.25]);
        assert!(price > 0.0);
        assert_eq!(change.row(shape, &archive, Level::Lower, &[0.5, 0.25, 0.5]), Some(vec![0.25, 0.0]));
    }

    #[test]
    fn a_regret_is_what_the_follower_loses_below_a_level_of_f() {
        let (shape, archive, _) = run(&[[0.5, 0.25], [0.5, 0.5]]);
        let change = Change::Regret(0.7, 2.0);
        assert_eq!(change.shape(shape), Shape { upper: [2, 3, 0], lower: [1, 1, 0] });
        // The point is (x, y, z): f - f(z), G, F above the level, g.
        let row = change.row(shape, &archive, Level::Upper, &[0.5, 0.5, 0.25]).unwrap();
        assert_eq!((row.len(), row[0], row[1], row[3]), (4, 0.125, 0.0, 0.0));
        assert!((row[2] - 0.3).abs() < 1e-15, "F = 1");
        assert_eq!(change.row(shape, &archive, Level::Lower, &[0.5, 0.5, 0.25]), Some(vec![0.125, -0.25]));
        assert!(change.costs_more(0.06, shape, &row) && !change.costs_more(0.07, shape, &row), "of 2");
        let reached = |regret: f64, above: f64| change.is_reached(shape, &[regret, 9.0, above, 9.0]);
        assert!(reached(1e-9, 0.0) && !reached(1e-8, 0.0) && !reached(1e-9, 0.1));
    }

    #[test]
    fn a_follower_that_still_loses_much_after_a_quarter_of_the_evaluations_is_not_indifferent() {
        assert!(loses_still(25, 100, 0.2, 1.0) && !loses_still(24, 100, 0.2, 1.0), "it has only begun");
        assert!(!loses_still(25, 100, 0.05, 1.0), "it is on its way");
    }

    #[test]
    fn an_answer_that_costs_the_follower_a_lot_is_no_tie() {
        let (shape, _, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.5, 1.0], [0.5, 0.0]]);
        let scale = scales.follower();
        let change =
            Change::Exact(Rivals { answers: vec![vec![0.0]], range: scales.follower(), scales: scales.clone() });
        // F, G, then what the follower loses against its answer and against a rival, g.
        let lost = |own: f64, rival: f64| change.costs_more(TIED, shape, &[0.0, 9.0, own * scale, rival * scale, 9.0]);
        assert!(lost(4.1, 0.0) && lost(0.0, 4.1) && !lost(3.9, 3.9));
        let border = Change::Border(Rivals { answers: vec![vec![0.0]], scales, range: 1.0 });
        assert!(!border.costs_more(TIED, shape, &[0.0, 9.0, 9.0 * scale]));
    }

    /// A border between the answers 0.25 and 0.5, from where the first is worse, with other places to begin.
    fn border(starts: Vec<Vec<f64>>) -> Vec<f64> {
        let (shape, archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.75, 0.75]]);
        let change = Change::Border(Rivals { answers: vec![vec![0.5]], scales: scales.clone(), range: 1.0 });
        let start = Start { point: vec![0.75, 0.75], size: 0.25, budget: 100, still: 1e-3, goal: None };
        let mut search = Changed::new(shape, &archive, change, start, false).or_from(starts);
        let level = || LevelSpec { inequalities: 1, ..LevelSpec::boxed(vec![(0.0, 1.0)]) };
        let spec = ProblemSpec::new("scripted", level(), level());
        let streams = crate::rng::Streams::new(1);
        let ground = Ground { spec: &spec, archive: &archive, scales: &scales, streams };
        search.ask(&ground, &mut Wanted::new(2));
        search.descent.start().point.clone()
    }

    #[test]
    fn a_border_begins_at_the_best_decision_that_keeps_it() {
        // G = x - y and f(x, y) <= f(x, 0.5) hold at the first and the third alone.
        assert_eq!(border(vec![vec![0.5, 0.5], vec![0.5, 0.25], vec![0.25, 0.5]]), [0.25, 0.5]);
        assert_eq!(border(vec![vec![0.5, 0.25]]), [0.75, 0.75], "none does");
        assert_eq!(border(Vec::new()), [0.75, 0.75]);
    }

    #[test]
    fn a_feasible_descent_sees_the_constraints_of_both() {
        let (shape, archive, _) = run(&[[0.5, 0.25]]);
        assert_eq!(Change::Feasible.shape(shape), Shape { upper: [1, 2, 0], ..shape });
        assert_eq!(Change::Feasible.row(shape, &archive, Level::Upper, &[0.5, 0.25]), Some(vec![0.75, 0.25, -0.25]));
        assert_eq!(Change::Feasible.row(shape, &archive, Level::Lower, &[0.5, 0.25]), Some(vec![0.125, -0.25]));
    }

    #[test]
    fn along_a_border_the_follower_is_the_true_one() {
        let (shape, archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [1.0, 0.0]]);
        let change = Change::Border(Rivals { answers: vec![vec![0.5]], scales, range: 1.0 });
        assert_eq!(change.shape(shape), Shape { upper: [1, 2, 0], ..shape });
        assert_eq!(change.row(shape, &archive, Level::Lower, &[0.5, 0.25]), Some(vec![0.125, -0.25]));
        assert_eq!(change.row(shape, &archive, Level::Upper, &[0.5, 0.25]), Some(vec![0.75, 0.25, -0.125]));
        // Three true evaluations are wanted for one above, one for one below.
        assert_eq!(change.points(shape, Level::Upper, &[0.5, 0.25]).len(), 3);
        assert_eq!(change.points(shape, Level::Lower, &[0.5, 0.25]), [(Level::Lower, vec![0.5, 0.25])]);
    }

    #[test]
    fn a_tracked_rival_is_a_second_answer() {
        let (shape, archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.5, 1.0]]);
        let change = Change::Tracked(Rivals { answers: vec![vec![1.0], vec![0.5]], scales, range: 1.0 });
        assert_eq!(change.shape(shape), Shape { upper: [1, 3, 0], lower: [2, 2, 0] });
        // The point is (x, y, z): the sum of f, and g of both.
        assert_eq!(change.row(shape, &archive, Level::Lower, &[0.5, 0.25, 0.5]), Some(vec![0.375, -0.25, 0.0]));
        // F, G, f less that of the rival that stays (at a price, as it breaks g), f less that of the one that goes along.
        let row = change.row(shape, &archive, Level::Upper, &[0.5, 0.25, 0.5]).unwrap();
        assert_eq!((row[0], row[1], row[3], row.len()), (0.75, 0.25, -0.125, 4));
        assert!(row[2] < 0.125 - 0.5, "{row:?}");
    }
}
