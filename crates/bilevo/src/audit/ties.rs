//! Answers that are equally good for the follower but not for the leader.
//!
//! From every answer that is as good as the best one, a local search minimises f + epsilon F for the optimistic end,
//! and f - epsilon F for the pessimistic one. If the follower has a clear preference, that moves y by O(epsilon) and
//! f by O(epsilon^2) only; if it is indifferent, the leader's objective decides. A second search on f alone then
//! removes what the follower lost, without moving the answer in directions to which it is indifferent.

use super::follower::{Follower, Point, View};
use super::search::{descend, distance, spread};
use super::{Ended, Position};

/// An answer of the follower with the leader's values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tie {
    pub(super) point: Point,
    pub(super) view: View,
}

/// Weights of the leader's objective, relative to the spreads of both.
const EPSILONS: [f64; 2] = [1e-1, 1e-3];

/// The answers within `tolerance` of the follower's best that are best and worst for the leader.
///
/// # Errors
/// The audit has to end.
pub(super) fn search(
    follower: &mut Follower<'_>,
    starts: &[Point],
    sample: &[Point],
    tolerance: f64,
) -> Result<Option<(Tie, Tie)>, Ended> {
    let Some(best) = follower.best.clone() else { return Ok(None) };
    let limit = best.row.value + tolerance;
    let good = |follower: &Follower<'_>, point: &Point| follower.is_feasible(point) && point.row.value <= limit;
    if !follower.is_feasible(&best) {
        return Ok(None);
    }
    let mut tied: Vec<Point> = vec![best];
    for point in starts {
        if good(follower, point) && tied.iter().all(|other| distance(&other.u, &point.u) > 1e-4) {
            tied.push(point.clone());
        }
    }
    tied.truncate(5);
    let scale = scale(follower, sample)?;
    let mut ties = Vec::new();
    for start in tied {
        for position in [Position::Optimistic, Position::Pessimistic] {
            for point in lean(follower, start.clone(), position, scale)? {
                if good(follower, &point) {
                    ties.extend(viewed(follower, point)?);
                }
            }
        }
        ties.extend(viewed(follower, start)?);
    }
    Ok(ends(ties))
}

/// The same if every answer of the follower was tried, best first: there is nothing left to search.
///
/// # Errors
/// The audit has to end.
pub(super) fn among(follower: &mut Follower<'_>, all: &[Point], tolerance: f64) -> Result<Option<(Tie, Tie)>, Ended> {
    let limit = all.first().map_or(f64::NEG_INFINITY, |best| best.row.value + tolerance);
    let mut ties = Vec::new();
    for point in all.iter().take_while(|point| point.row.value <= limit) {
        ties.extend(viewed(follower, point.clone())?);
    }
    Ok(ends(ties))
}

/// The best and the worst of some answers for the leader.
fn ends(ties: Vec<Tie>) -> Option<(Tie, Tie)> {
    let best = ties.iter().cloned().reduce(|a, b| if leads(&b.view, &a.view) { b } else { a });
    let worst = ties.into_iter().reduce(|a, b| if leads(&a.view, &b.view) { b } else { a });
    best.zip(worst)
}

/// How much the follower's objective changes if the leader's changes by one.
fn scale(follower: &mut Follower<'_>, sample: &[Point]) -> Result<f64, Ended> {
    let sample = &sample[..sample.len().min(20)];
    let points: Vec<Vec<f64>> = sample.iter().map(|point| point.u.clone()).collect();
    let views = follower.upper(&points)?;
    follower.measure_leader(views.iter().flatten().map(|view| view.value));
    let upper = spread(views.iter().flatten().map(|view| view.value));
    let lower = spread(sample.iter().map(|point| point.row.value));
    Ok(if upper > 0.0 && lower > 0.0 { lower / upper } else { 1.0 })
}

fn viewed(follower: &mut Follower<'_>, point: Point) -> Result<Option<Tie>, Ended> {
    let view = follower.upper(std::slice::from_ref(&point.u))?.pop().flatten();
    Ok(view.map(|view| Tie { point, view }))
}

/// Whether the leader prefers `a`.
pub(super) fn leads(a: &View, b: &View) -> bool {
    // Rounding errors of binding constraints do not count as violations.
    let feasible = |view: &View| view.violation <= 1e-6;
    match (feasible(a), feasible(b)) {
        (true, true) => a.value < b.value,
        (false, false) => a.violation < b.violation,
        (a, _) => a,
    }
}

/// Searches in the leader's interest, or against it, and then on the follower's objective alone.
fn lean(follower: &mut Follower<'_>, start: Point, position: Position, scale: f64) -> Result<Vec<Point>, Ended> {
    let mut found = Vec::new();
    let mut from = start;
    for epsilon in EPSILONS {
        let weight = match position {
            Position::Optimistic => epsilon * scale,
            Position::Pessimistic => -epsilon * scale,
        };
        let leaning = |follower: &mut Follower<'_>, points: &[Vec<f64>]| {
            let lower = follower.lower(points)?;
            let upper = follower.upper(points)?;
            Ok(lower.into_iter().zip(upper).map(|(point, view)| blend(point?, &view?, weight)).collect::<Vec<_>>())
        };
        let first = leaning(follower, std::slice::from_ref(&from.u))?.pop().flatten();
        let Some(first) = first else { break };
        let Some(leant) = descend(follower, first, 0.05, &leaning)? else { break };
        let Some(own) = follower.lower(std::slice::from_ref(&leant.u))?.pop().flatten() else { break };
        let Some(content) = descend(follower, own, 1e-3, &|follower, points| follower.lower(points))? else { break };
        found.push(content.clone());
        from = content;
    }
    Ok(found)
}

fn blend(mut point: Point, view: &View, weight: f64) -> Option<Point> {
    point.row.value += weight * view.value;
    point.row.value.is_finite().then_some(point)
}
