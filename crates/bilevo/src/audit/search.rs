//! Searches for the follower's best answer from many starts, without knowing where the reported one came from: a
//! sample of the whole box, CMA-ES over the whole box, and a local search from every promising point.

use super::Ended;
use super::follower::{Follower, Point};
use super::local::{Local, Row};
use bilevo_core::cma::{Cma, CmaParams, Scratch};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_core::space::Space;

/// When CMA-ES hands over to the local search: its relative spread of values, and its step size.
const SETTLED: f64 = 1e-5;
/// The smallest gain that counts as new, as a share of the usual variation of f.
const BETTER: f64 = 1e-7;
/// The search ends after this many starts in a row that find nothing new.
const QUIET_STARTS: usize = 5;

/// Where the starts of the search ended. (The follower holds the best point.)
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// Ends of local searches.
    pub(super) ends: Vec<Point>,
    /// The sample of the box.
    pub(super) sample: Vec<Point>,
    /// Searches started.
    pub(super) starts: u64,
}

/// Searches from the reported answer, from the best points of a sample, and with up to `starts` runs of CMA-ES over
/// the whole box.
///
/// # Errors
/// The search was interrupted; `trail` and the follower's best remain valid.
pub(super) fn search(
    follower: &mut Follower<'_>,
    reported: &[f64],
    starts: usize,
    seed: u64,
    trail: &mut Trail,
) -> Result<(), Ended> {
    let streams = Streams::new(seed);
    let n = follower.dim();
    let mut sample = vec![reported.to_vec()];
    sample.extend(follower.seen());
    sample.extend(latin(n, 20 + 10 * n, &mut streams.open(Purpose::Start, 0, 0)));
    sample.truncate(usize::try_from(follower.left()).unwrap_or(usize::MAX).max(1));
    let found: Vec<Point> = follower.lower(&sample)?.into_iter().flatten().collect();
    follower.measure(&found);
    let mut penalty = first_penalty(&found);
    if let Some(point) = found.iter().find(|point| point.u == reported) {
        fine(follower, point.clone(), 0.01, trail)?;
    }
    trail.sample.clone_from(&found);
    for point in well_apart(&found, penalty) {
        fine(follower, point, 0.2, trail)?;
    }
    let mut quiet = 0;
    for start in 0..starts {
        let before = follower.best.clone();
        let mut stream = streams.open(Purpose::Lower, start as u64, 0);
        if let Some(point) = evolve(follower, start, penalty, &mut stream)? {
            if !follower.is_feasible(&point) {
                penalty *= 10.0;
            }
            fine(follower, point, 0.05, trail)?;
        }
        quiet = if improved(follower, before.as_ref()) { 0 } else { quiet + 1 };
        if quiet >= QUIET_STARTS {
            break;
        }
    }
    Ok(())
}

/// Whether the best answer has improved by more than rounding.
fn improved(follower: &Follower<'_>, before: Option<&Point>) -> bool {
    match (before, &follower.best) {
        (Some(before), Some(now)) => {
            follower.is_feasible(now) != follower.is_feasible(before)
                || now.row.value < before.row.value - BETTER * follower.scale
        }
        (before, now) => before.is_some() != now.is_some(),
    }
}

/// A local search from `point`.
fn fine(follower: &mut Follower<'_>, point: Point, radius: f64, trail: &mut Trail) -> Result<(), Ended> {
    trail.starts += 1;
    let end = descend(follower, point, radius, &|follower, points| follower.lower(points))?;
    trail.ends.extend(end);
    Ok(())
}

/// The objective of a local search: points with their values.
pub(super) type Objective<'a> = &'a dyn Fn(&mut Follower<'_>, &[Vec<f64>]) -> Result<Vec<Option<Point>>, Ended>;

/// A local search on a given objective; returns the last point it evaluated.
///
/// # Errors
/// The audit has to end.
pub(super) fn descend(
    follower: &mut Follower<'_>,
    point: Point,
    radius: f64,
    objective: Objective<'_>,
) -> Result<Option<Point>, Ended> {
    let local = Local { inequalities: follower.inequalities(), radius, steps: 100 };
    let mut seen = vec![point.clone()];
    let mut evaluate = |points: &[Vec<f64>]| -> Result<Vec<Option<Row>>, Ended> {
        let found = objective(follower, points)?;
        seen.extend(found.iter().flatten().cloned());
        Ok(found.into_iter().map(|point| point.map(|point| point.row)).collect())
    };
    let (u, _) = local.search(point.u, point.row, &mut evaluate)?;
    Ok(seen.into_iter().rev().find(|point| point.u == u))
}

/// One run of CMA-ES from a random point of the box; returns its best point by penalised value.
fn evolve(
    follower: &mut Follower<'_>,
    start: usize,
    penalty: f64,
    stream: &mut Stream,
) -> Result<Option<Point>, Ended> {
    let n = follower.dim();
    // Every third run has a larger population, which sees more of a rugged objective.
    let population = (4 + (3.0 * libm::log(n as f64)) as usize) << (start % 3);
    let params = CmaParams::new(n, population);
    let unit = Space::from(vec![(0.0, 1.0); n]);
    let mut cma = Cma::round((0..n).map(|_| stream.uniform()).collect(), 0.3);
    let mut scratch = Scratch::default();
    let mut best: Option<Point> = None;
    for _ in 0..100 + 50 * n {
        let mut points = vec![vec![0.0; n]; population];
        points.iter_mut().for_each(|point| cma.sample(stream, &unit, point));
        let mut found: Vec<Point> = follower.lower(&points)?.into_iter().flatten().collect();
        found.sort_by(|a, b| merit(a, penalty).total_cmp(&merit(b, penalty)));
        let (Some(first), Some(last)) = (found.first(), found.last()) else { continue };
        let spread = merit(last, penalty) - merit(first, penalty);
        if best.as_ref().is_none_or(|best| merit(first, penalty) < merit(best, penalty)) {
            best = Some(first.clone());
        }
        let settled = spread <= SETTLED * follower.scale || cma.step_size < SETTLED;
        cma.update(&params, found.iter().map(|point| &point.u[..]), &mut scratch);
        if settled {
            break;
        }
    }
    Ok(best)
}

fn merit(point: &Point, penalty: f64) -> f64 {
    point.row.value + penalty * point.violation
}

/// Sets the penalty so that a typical violation is as bad as a typical difference in value.
fn first_penalty(found: &[Point]) -> f64 {
    let values = spread(found.iter().map(|point| point.row.value));
    let violations = spread(found.iter().map(|point| point.violation));
    if violations > 0.0 && values > 0.0 { (10.0 * values / violations).clamp(1e-6, 1e12) } else { 1.0 }
}

/// The distance between the quartiles.
pub(super) fn spread(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    let at = |share: usize| numbers.get(numbers.len() * share / 4).copied().unwrap_or(0.0);
    at(3) - at(1)
}

/// The three best points that are not close together.
fn well_apart(found: &[Point], penalty: f64) -> Vec<Point> {
    let mut sorted: Vec<&Point> = found.iter().collect();
    sorted.sort_by(|a, b| merit(a, penalty).total_cmp(&merit(b, penalty)));
    let mut chosen: Vec<Point> = Vec::new();
    for point in sorted {
        if chosen.len() < 3 && chosen.iter().all(|other| distance(&other.u, &point.u) > 0.1) {
            chosen.push(point.clone());
        }
    }
    chosen
}

/// The largest difference in a coordinate.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
}

/// A Latin hypercube: every coordinate is spread evenly.
fn latin(dim: usize, count: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let columns: Vec<Vec<usize>> = (0..dim).map(|_| stream.choose(count, count)).collect();
    let place = |row: usize, stream: &mut Stream| -> Vec<f64> {
        columns.iter().map(|column| (column[row] as f64 + stream.uniform()) / count as f64).collect()
    };
    (0..count).map(|row| place(row, stream)).collect()
}
