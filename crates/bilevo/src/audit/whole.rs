//! Followers with whole numbers: all answers if there are few, otherwise the neighbourhood of the best one.

use super::Ended;
use super::follower::{Follower, Point};
use super::search::Trail;
use bilevo_core::space::Space;

/// Up to this many answers, all are tried.
pub(super) const ENUMERATED: u64 = 10_000;
/// Answers that are evaluated together.
const CHUNK: usize = 500;
/// How many answers are kept as ends and as a sample.
const KEPT: usize = 50;

/// Tries every answer of the follower.
///
/// # Errors
/// The audit has to end.
pub(super) fn enumerate(follower: &mut Follower<'_>, space: &Space, trail: &mut Trail) -> Result<(), Ended> {
    follower.extend(space.combinations());
    let mut all = space.enumerate(&space.middle()).map(|y| space.to_unit(&y)).peekable();
    trail.starts = 1;
    while all.peek().is_some() {
        let points: Vec<Vec<f64>> = all.by_ref().take(CHUNK).collect();
        let found: Vec<Point> = follower.lower(&points)?.into_iter().flatten().collect();
        trail.sample.extend(found.iter().take(KEPT.saturating_sub(trail.sample.len())).cloned());
        trail.ends.extend(found.into_iter().filter(|point| follower.is_feasible(point)));
        trail.ends.sort_by(|a, b| a.row.value.total_cmp(&b.row.value));
        trail.ends.truncate(KEPT);
    }
    follower.measure_steps(&trail.ends);
    Ok(())
}

/// Moves and exchanges whole numbers of the best answer until no change improves it.
///
/// # Errors
/// The audit has to end.
pub(super) fn climb(follower: &mut Follower<'_>, space: &Space) -> Result<(), Ended> {
    while let Some(best) = follower.best.clone() {
        let y = space.from_unit(&best.u);
        let near: Vec<Vec<f64>> = space.moves(&y).chain(space.exchanges(&y)).map(|y| space.to_unit(&y)).collect();
        for points in near.chunks(CHUNK) {
            let found: Vec<Point> = follower.lower(points)?.into_iter().flatten().collect();
            follower.measure_steps(&found);
        }
        if follower.best.as_ref().is_none_or(|now| !follower.prefers(now, &best)) {
            break;
        }
    }
    Ok(())
}
