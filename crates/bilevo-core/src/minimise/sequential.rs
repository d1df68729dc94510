//! The minimiser under constraints: a sequence of quadratic problems with soft constraints.
//!
//! Each replaces the functions by the Hessian of the Lagrangian and linear constraints, within the
//! box around the ball. A step must make f + Σ ν_i · violation_i fall, else it is halved. Where a
//! function has a kink, the halved step finds a slope beyond it that the first one did not show:
//! that slope joins the next quadratic problem as one more soft constraint, so that the search can
//! go along the kink.

use super::quadratic::Quadratic;
use super::{Constraints, Landscape, Region, Step, norm};
use crate::linalg::cholesky;
use crate::linalg::{add_scaled, dot};

/// Quadratic problems before the point is taken as it is.
const ROUNDS: usize = 15;
/// Halvings of one step.
const HALVINGS: usize = 6;
/// A step below this share of the radius ends the search.
const STILL: f64 = 1e-7;
/// A step below this share of the radius need not make the merit fall visibly.
const FINE: f64 = 1e-3;
/// How much more a constraint weighs than its multiplier is expected to be.
const WEIGHT: f64 = 100.0;

/// A slope of the objective beyond a kink.
struct Kink {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// Share of it in the slope of the latest quadratic problem's solution.
    share: f64,
}

pub(super) struct Sequential<'a, L> {
    model: &'a mut L,
    constraints: Constraints<'a>,
    region: &'a Region,
    radius: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    n: usize,
    z: Vec<f64>,
    multipliers: Vec<f64>,
    values: Vec<f64>,
    /// Of the objective, then of each constraint.
    gradients: Vec<f64>,
    hessian: Vec<f64>,
    /// What the objective changes by over the region.
    spread: f64,
    weights: Vec<f64>,
    /// Prices of violations by which steps are judged: lower, as a step along a constraint that bends gains
    /// little and misses it by a little.
    prices: Vec<f64>,
    kinks: Vec<Kink>,
}

impl<'a, L: Landscape> Sequential<'a, L> {
    pub(super) fn new(
        model: &'a mut L,
        region: &'a Region,
        constraints: Constraints<'a>,
        start: &[f64],
        multipliers: &[f64],
    ) -> Self {
        let (n, outputs, radius) = (model.dim(), model.outputs(), region.radius);
        let low: Vec<f64> = region.low.iter().map(|l| l.max(-radius)).collect();
        let high: Vec<f64> = region.high.iter().map(|h| h.min(radius)).collect();
        Sequential {
            model,
            constraints,
            region,
            radius,
            z: start.iter().zip(low.iter().zip(&high)).map(|(z, (l, h))| z.max(*l).min(*h)).collect(),
            low,
            high,
            n,
            multipliers: multipliers.to_vec(),
            values: vec![0.0; outputs],
            gradients: vec![0.0; outputs * n],
            hessian: vec![0.0; n * n],
            spread: 0.0,
            weights: vec![0.0; outputs - 1],
            prices: vec![0.0; outputs - 1],
            kinks: Vec::new(),
        }
    }

    /// Minimises.
    pub(super) fn run(mut self) -> Step {
        self.model.values(&self.z, &mut self.values);
        for round in 0..ROUNDS {
            self.expand();
            if round == 0 {
                self.choose_weights();
            }
            let Some(shift) = self.solve() else { break };
            let known = self.kinks.len();
            let moved = self.advance(&shift);
            if moved < STILL * self.radius && (self.kinks.len() == known || norm(&shift) < STILL * self.radius) {
                break;
            }
        }
        self.finish()
    }

    /// Gradients and the Hessian of the Lagrangian at the present point.
    fn expand(&mut self) {
        self.model.gradients(&self.z, &mut self.gradients);
        let mut weights = vec![1.0];
        weights.extend_from_slice(&self.multipliers);
        self.model.hessian(&self.z, &weights, &mut self.hessian);
    }

    fn gradient(&self, constraint: usize) -> &[f64] {
        &self.gradients[(constraint + 1) * self.n..(constraint + 2) * self.n]
    }

    fn choose_weights(&mut self) {
        let curvature = (0..self.n).map(|i| self.hessian[i * self.n + i].abs()).fold(0.0, f64::max);
        self.spread = (norm(&self.gradients[..self.n]) + 0.5 * curvature * self.radius) * self.radius;
        self.spread = self.spread.max(1e-250);
        for i in 0..self.weights.len() {
            let reach = norm(self.gradient(i)) * self.radius;
            self.weights[i] = if reach > 0.0 { (WEIGHT * self.spread / reach).min(1e250) } else { 0.0 };
            self.prices[i] = self.weights[i] / WEIGHT;
        }
    }

    /// f + Σ ν_i · violation_i for a row of values.
    fn merit(&self, values: &[f64]) -> f64 {
        let excess = |i: usize| self.constraints.excess(i, self.constraints.centre[i] + values[i + 1]);
        values[0] + self.prices.iter().enumerate().map(|(i, w)| w * excess(i)).sum::<f64>()
    }

    /// The step of the quadratic problem; leaves the multipliers behind.
    fn solve(&mut self) -> Option<Vec<f64>> {
        let (n, r, spread) = (self.n, self.radius, self.spread);
        let count = self.weights.len();
        // In units of the radius and of the objective's spread.
        let mut problem = Quadratic {
            hessian: self.augmented(&mut vec![0.0; count]).iter().map(|h| h * r * r / spread).collect(),
            gradient: self.gradients[..n].iter().map(|g| g * r / spread).collect(),
            low: self.low.iter().zip(&self.z).map(|(l, z)| ((l - z) / r).min(-1e-9)).collect(),
            high: self.high.iter().zip(&self.z).map(|(h, z)| ((h - z) / r).max(1e-9)).collect(),
            ..Quadratic::default()
        };
        let mut owners = Vec::new();
        for i in 0..count {
            let reach = norm(self.gradient(i)) * r;
            let value = self.constraints.centre[i] + self.values[i + 1];
            if reach <= 1e-14 * value.abs() || reach <= 0.0 {
                continue;
            }
            let signs: &[f64] = if i < self.constraints.inequalities { &[1.0] } else { &[1.0, -1.0] };
            for sign in signs {
                problem.rows.extend(self.gradient(i).iter().map(|g| sign * g * r / reach));
                problem.offsets.push(sign * value / reach);
                problem.weights.push((self.weights[i] * reach / spread).clamp(1e-3, 1e6));
                owners.push((i, sign * spread / reach));
            }
        }
        for kink in &self.kinks {
            let behind: f64 = kink.value
                + kink.gradient.iter().zip(self.z.iter().zip(&kink.point)).map(|(g, (z, p))| g * (z - p)).sum::<f64>()
                - self.values[0];
            problem.rows.extend(kink.gradient.iter().zip(&self.gradients).map(|(k, g)| (k - g) * r / spread));
            problem.offsets.push(behind / spread);
            problem.weights.push(1.0);
        }
        make_convex(n, &mut problem.hessian);
        let solution = problem.solve()?;
        self.multipliers.fill(0.0);
        for ((i, unit), multiplier) in owners.iter().zip(&solution.multipliers) {
            if *multiplier > 1e-7 {
                self.multipliers[*i] += unit * multiplier;
            }
        }
        for (price, multiplier) in self.prices.iter_mut().zip(&self.multipliers) {
            *price = price.max(2.0 * multiplier.abs());
        }
        for (kink, multiplier) in self.kinks.iter_mut().zip(&solution.multipliers[owners.len()..]) {
            kink.share = *multiplier;
        }
        Some(solution.shift.iter().map(|s| s * r).collect())
    }

    /// Follows a step until the merit falls; how far it went.
    fn advance(&mut self, shift: &[f64]) -> f64 {
        let present = self.merit(&self.values);
        let full = norm(shift);
        let rounding = if full < FINE * self.radius { 1e-13 * self.merit_size() } else { 0.0 };
        let mut values = vec![0.0; self.values.len()];
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            let point: Vec<f64> =
                (0..self.n).map(|i| (self.z[i] + share * shift[i]).max(self.low[i]).min(self.high[i])).collect();
            self.model.values(&point, &mut values);
            if self.merit(&values) < present + rounding {
                self.z = point;
                self.values.copy_from_slice(&values);
                return share * full;
            }
            if self.model.kinked() {
                self.look_behind(point, values[0]);
            }
            share *= 0.5;
        }
        0.0
    }

    /// Keeps the objective's slope at a point where it is higher than here suggests.
    fn look_behind(&mut self, point: Vec<f64>, value: f64) {
        let mut gradients = vec![0.0; self.gradients.len()];
        self.model.gradients(&point, &mut gradients);
        let gradient = gradients[..self.n].to_vec();
        let here = value + gradient.iter().zip(self.z.iter().zip(&point)).map(|(g, (z, p))| g * (z - p)).sum::<f64>();
        if here <= self.values[0] {
            self.kinks.push(Kink { point, value, gradient, share: 0.0 });
        }
    }

    fn merit_size(&self) -> f64 {
        self.values[0].abs()
            + self.prices.iter().enumerate().map(|(i, w)| w * self.constraints.centre[i].abs()).sum::<f64>()
    }

    /// Hessian with the penalties of the active constraints, which makes it definite whenever the
    /// minimiser is one and changes no step that keeps them active.
    fn augmented(&self, penalties: &mut [f64]) -> Vec<f64> {
        let mut hessian = self.hessian.clone();
        let size = self.spread / (self.radius * self.radius);
        for (i, penalty) in penalties.iter_mut().enumerate() {
            if i < self.constraints.inequalities && self.multipliers[i] <= 0.0 {
                continue;
            }
            let gradient = self.gradient(i);
            *penalty = (10.0 * size / dot(gradient, gradient).max(1e-300)).min(1e250);
            for (row, g) in hessian.chunks_exact_mut(self.n).zip(gradient) {
                add_scaled(row, *penalty * g, gradient);
            }
        }
        hessian
    }

    /// Adds to a Hessian that a minimiser on a kink is held there.
    fn hold_kinks(&self, hessian: &mut [f64]) {
        let size = self.spread / (self.radius * self.radius);
        for kink in self.kinks.iter().filter(|k| (0.01..0.99).contains(&k.share)) {
            let jump: Vec<f64> = kink.gradient.iter().zip(&self.gradients).map(|(k, g)| k - g).collect();
            let penalty = (10.0 * size / dot(&jump, &jump).max(1e-300)).min(1e250);
            for (row, j) in hessian.chunks_exact_mut(self.n).zip(&jump) {
                add_scaled(row, penalty * j, &jump);
            }
        }
    }

    fn finish(mut self) -> Step {
        self.expand();
        let mut penalties = vec![0.0; self.weights.len()];
        let mut augmented = self.augmented(&mut penalties);
        self.hold_kinks(&mut augmented);
        let slope = |i: usize| {
            self.gradients[i] + self.multipliers.iter().enumerate().map(|(k, l)| l * self.gradient(k)[i]).sum::<f64>()
        };
        let near = 1e-9 * self.radius;
        let slopes: Vec<f64> = (0..self.n).map(slope).collect();
        // Only the box holds a variable: what stops at the edge of the region would go on.
        let held = |i: &usize| {
            self.z[*i] <= self.region.low[*i] + near && slopes[*i] > 0.0
                || self.z[*i] >= self.region.high[*i] - near && slopes[*i] < 0.0
        };
        let free = (0..self.n).filter(|i| !held(i)).collect();
        Step {
            z: self.z,
            values: self.values,
            multipliers: self.multipliers,
            penalties,
            curvature: self.hessian,
            augmented,
            slopes,
            free,
        }
    }
}

/// Adds to the diagonal until the matrix is positive definite.
fn make_convex(n: usize, matrix: &mut [f64]) {
    let largest = (0..n).map(|i| matrix[i * n + i].abs()).fold(1e-9, f64::max);
    let (mut ridge, mut added) = (1e-9, 0.0);
    while ridge < 1e9 {
        (0..n).for_each(|i| matrix[i * n + i] += (ridge - added) * largest);
        if cholesky::factor(n, &mut matrix.to_vec()) {
            return;
        }
        (ridge, added) = (4.0 * ridge, ridge);
    }
}

#[cfg(test)]
mod tests;
