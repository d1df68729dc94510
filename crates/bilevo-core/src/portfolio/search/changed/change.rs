//! What a changed problem is: its sizes, the true points for which one of its points stands, and its values there.

use crate::portfolio::archive::Archive;
use crate::portfolio::claim::Scales;
use crate::portfolio::search::Shape;
use crate::problem::Level;
use serde::{Deserialize, Serialize};

/// The price of violation for a leaning follower, in units of F's scale.
pub(super) const PRICE: f64 = 10.0;
/// If the follower loses less than this, it loses nothing.
const NOTHING: f64 = 1e-9;

/// How the problem is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) enum Change {
    /// The weight of F against f, in units of their scales.
    Lean(f64, Scales),
    Exact(Rivals),
    /// With the level of F, and the usual variation of f.
    Regret(f64, f64),
    Border(Rivals),
    Tracked(Rivals),
    Feasible,
}

/// Answers that the claimed one must not be worse than, and the units in which values are judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Rivals {
    pub(in crate::portfolio) answers: Vec<Vec<f64>>,
    pub(in crate::portfolio) scales: Scales,
    /// The usual variation of f: over the archive, or over the answers to one decision if that is larger.
    pub(in crate::portfolio) range: f64,
}

impl Rivals {
    /// f of a rival. The more a rival violates constraints, the less it counts.
    fn value(&self, row: &[f64]) -> Option<f64> {
        let price = PRICE * self.scales.follower();
        Some(row.first()? + price * self.scales.lower_violation(row))
    }
}

/// The values of two followers side by side: the sum of f, then the inequalities and the equalities of both.
fn both(a: &[f64], b: &[f64], inequalities: usize) -> Vec<f64> {
    let ((ai, ae), (bi, be)) = (a[1..].split_at(inequalities), b[1..].split_at(inequalities));
    [&[a[0] + b[0]][..], ai, bi, ae, be].concat()
}

/// The values at an evaluated point; empty if the evaluation failed.
pub(super) fn row_at<'a>(run: &'a Archive, level: Level, point: &[f64]) -> Option<&'a [f64]> {
    let points = run.level(level);
    points.find(point).map(|i| points.row(i).unwrap_or(&[]))
}

impl Change {
    /// Sizes of the changed problem.
    pub(super) fn shape(&self, Shape { upper, lower }: Shape) -> Shape {
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

    /// The true points for which a point of the changed problem stands.
    pub(super) fn points(&self, shape: Shape, level: Level, point: &[f64]) -> Vec<(Level, Vec<f64>)> {
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
    pub(super) fn leaned(&self, below: &[f64], above: &[f64]) -> Vec<f64> {
        let mut row = below.to_vec();
        if let Change::Lean(weight, scales) = self {
            let liked = above[0] / scales.leader() + PRICE * scales.upper_violation(above);
            row[0] += weight * scales.follower() * liked;
        }
        row
    }

    /// Whether the answer that the leader hopes for costs the follower more than this many times the usual variation
    /// of f.
    pub(super) fn costs_more(&self, than: f64, shape: Shape, row: &[f64]) -> bool {
        match self {
            Change::Exact(rivals) => {
                let gaps = row.iter().skip(1 + shape.upper[1]).take(1 + rivals.answers.len());
                gaps.fold(0.0, |a: f64, b| a.max(*b)) > than * rivals.range
            }
            Change::Regret(_, range) => row.first().is_none_or(|regret| *regret > than * range),
            _ => false,
        }
    }

    /// Whether the follower no longer loses anything, and F has reached its level.
    pub(super) fn is_reached(&self, shape: Shape, row: &[f64]) -> bool {
        let Change::Regret(_, range) = self else { return false };
        row.get(1 + shape.upper[1]).is_some_and(|above| *above <= 0.0) && row[0] <= NOTHING * range
    }

    /// Values of the changed problem; none if an evaluation failed.
    pub(super) fn row(&self, shape: Shape, run: &Archive, level: Level, point: &[f64]) -> Option<Vec<f64>> {
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
