//! The leader's model: F and all constraints along the follower's response.
//!
//! A quadratic in u alone around the incumbent, from the decisions judged so far; answers that were
//! not settled count little. Its minimiser under the modelled constraints is a candidate of the
//! next generation.

use super::coordinates::{Coordinates, inside, moved};
use super::minimiser::{Constraint, minimise, walls};
use super::quadratic::{Sample, smallest};
use super::solution::Solution;
use crate::candidate::Candidate;
use crate::problem::{LowerConstraints, ProblemSpec};

/// Weight of a decision whose answer was not settled.
const UNSETTLED: f64 = 0.1;
/// Steps shorter than this bring nothing new.
const SHORTEST: f64 = 0.02;
/// First radius of a step.
pub(crate) const RADIUS: f64 = 2.0;

/// Decisions the model remembers, for `dim` upper variables.
pub(crate) fn memory(dim: usize) -> usize {
    40 + 4 * coefficients(dim)
}

fn coefficients(dim: usize) -> usize {
    1 + dim + dim * (dim + 1) / 2
}

/// Decisions the model learns from: enough for all coefficients and half as many again, or in many
/// variables a few more than the variables.
fn nearest(dim: usize) -> usize {
    (5 * coefficients(dim) / 2).min(41 + 4 * dim)
}

/// The minimiser of the model within `radius` of the incumbent, with a guess of the answer.
pub(crate) fn propose(
    spec: &ProblemSpec,
    coordinates: &Coordinates,
    judged: &[Solution],
    incumbent: &Solution,
    radius: f64,
) -> Option<Candidate> {
    let m = spec.upper.dim();
    let shared = spec.lower_constraints == LowerConstraints::Shared;
    let lower = if shared { 0 } else { spec.lower.constraints() };
    let outputs = 1 + spec.upper.constraints() + lower;
    let row = |s: &Solution| -> Vec<f64> {
        [s.upper.value].iter().chain(&s.constraints).chain(&s.answer.constraints[..lower]).copied().collect()
    };
    let mut centre = vec![0.0; m];
    coordinates.whiten_upper(&incumbent.x, &mut centre);
    let mut points = Vec::new();
    for solution in judged.iter().filter(|s| !s.upper.is_failed()) {
        let mut u = vec![0.0; m];
        coordinates.whiten_upper(&solution.x, &mut u);
        u.iter_mut().zip(&centre).for_each(|(u, c)| *u -= c);
        let distance: f64 = u.iter().map(|u| u * u).sum();
        points.push((distance, u, solution));
    }
    if points.len() < coefficients(m).min(2 * m + 2) + 2 {
        return None;
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.truncate(nearest(m));
    let base = row(incumbent);
    let mut sample = Sample::default();
    for (_, u, solution) in &points {
        sample.points.extend(u);
        sample.values.extend(row(solution).iter().zip(&base).map(|(a, b)| a - b));
        sample.weights.push(if solution.answer.settled { 1.0 } else { UNSETTLED });
    }
    let mut functions = smallest(m, outputs, &sample)?.into_iter();
    let objective = functions.next()?;
    let equality = |k: usize| {
        let upper = spec.upper.constraints();
        if k < upper { k >= spec.upper.inequalities } else { k - upper >= spec.lower.inequalities }
    };
    let mut constraints: Vec<Constraint> =
        functions.enumerate().map(|(k, function)| Constraint { function, equality: equality(k) }).collect();
    constraints.iter_mut().zip(&base[1..]).for_each(|(k, value)| k.function.constant += value);
    let modelled = constraints.len();
    let factor = coordinates.upper_factor();
    constraints.extend(walls(&incumbent.x, factor, spec.upper.space.bounds(), radius));
    let found = minimise(&objective, &constraints, modelled, radius)?;
    let length = found.step.iter().map(|s| s * s).sum::<f64>().sqrt();
    if length <= SHORTEST {
        return None;
    }
    let x = moved(&incumbent.x, factor, &found.step, spec.upper.space.bounds());
    let dx: Vec<f64> = x.iter().zip(&incumbent.x).map(|(a, b)| a - b).collect();
    let response = coordinates.response(&dx);
    let answer = incumbent.answer.y.iter().zip(&response).zip(spec.lower.space.bounds());
    Some(Candidate { guess: answer.map(|((y, dy), b)| inside(y + dy, *b)).collect(), x })
}
