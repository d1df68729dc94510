//! The minimiser of a modelled function under modelled constraints, within a ball and a box.
//!
//! We wrote our own because of what `trials/minimisers` measured on surrogates of 3 to 20 variables with 1 to 4
//! constraints. The crate `slsqp` ends equally well, but takes twice the model evaluations because it uses no second
//! derivatives; and it does not return multipliers, which we need for the uncertainty and the price of a constraint.
//! `cobyla` is far behind. Neither handles kinks.

mod ball;
mod doubt;
#[cfg(test)]
pub(crate) mod formula;
mod landscape;
mod quadratic;
mod sequential;

pub(crate) use doubt::doubt;
pub(crate) use landscape::{Landscape, Slice};

use crate::linalg::dot;
use ball::Search;
use sequential::Sequential;

/// Where to look for the minimiser, relative to the model's centre.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// Radius of the ball around the centre; with constraints, of the box around that ball.
    pub(crate) radius: f64,
    /// Lower bounds.
    pub(crate) low: Vec<f64>,
    /// Upper bounds.
    pub(crate) high: Vec<f64>,
}

impl Region {
    /// A ball around a point of the unit box.
    pub(crate) fn around(point: &[f64], radius: f64) -> Self {
        let (low, high) = (point.iter().map(|v| -v).collect(), point.iter().map(|v| 1.0 - v).collect());
        Region { radius, low, high }
    }
}

/// Which of the model's functions are constraints: all but the first, equalities last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraints<'a> {
    /// How many are of the form c <= 0.
    pub(crate) inequalities: usize,
    /// Their values at the model's centre.
    pub(crate) centre: &'a [f64],
}

impl Constraints<'_> {
    /// Violation of constraint `i` when its value is `c`.
    pub(crate) fn excess(&self, i: usize, c: f64) -> f64 {
        if i < self.inequalities { c.max(0.0) } else { c.abs() }
    }
}

/// A minimiser and what is known about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// The point, relative to the centre.
    pub(crate) z: Vec<f64>,
    /// The functions' predicted differences to the centre.
    pub(crate) values: Vec<f64>,
    /// One multiplier for each constraint.
    pub(crate) multipliers: Vec<f64>,
    /// For each constraint, the weight of its square; zero if it is inactive.
    pub(crate) penalties: Vec<f64>,
    /// Hessian of the Lagrangian.
    pub(crate) curvature: Vec<f64>,
    /// The same, plus the penalties of the active constraints.
    pub(crate) augmented: Vec<f64>,
    /// Gradient of the Lagrangian: zero except for the variables at a side of the box.
    pub(crate) slopes: Vec<f64>,
    /// The variables that are not at a side of the box.
    pub(crate) free: Vec<usize>,
}

impl Step {
    /// Its length.
    pub(crate) fn length(&self) -> f64 {
        norm(&self.z)
    }
}

/// Euclidean length.
pub(crate) fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

/// Minimises the model's first function from `start` (relative to the centre), subject to the others; `multipliers`
/// are a first guess.
pub(crate) fn minimise<L: Landscape>(
    model: &mut L,
    region: &Region,
    constraints: Constraints,
    start: &[f64],
    multipliers: &[f64],
) -> Step {
    if model.outputs() > 1 || model.kinked() {
        Sequential::new(model, region, constraints, start, multipliers).run()
    } else {
        Search::new(model, region, start).run()
    }
}

#[cfg(test)]
mod tests;
