//! The minimiser under constraints: a sequence of quadratic problems with soft constraints.
//!
//! Each subproblem uses the Hessian of the Lagrangian and linearised constraints, within the box around the ball. A
//! step must decrease f + Σ ν_i · violation_i; otherwise it is halved. At a kink, the halved step finds a slope on
//! the other side that was not visible before. That slope joins the next subproblem as one more soft constraint, so
//! that the search can follow the kink.

use super::quadratic::{Memory, Quadratic};
use super::{Constraints, Landscape, Region, Step, norm};
use crate::linalg::cholesky;
use crate::linalg::{add_scaled, dot};

/// Maximum number of quadratic problems.
const ROUNDS: usize = 15;
/// Maximum number of halvings of a step.
const HALVINGS: usize = 6;
/// A step below this share of the radius ends the search.
const STILL: f64 = 1e-7;
/// A step below this share of the radius need not decrease the merit visibly.
const FINE: f64 = 1e-3;
/// How much more a constraint weighs than its expected multiplier.
const WEIGHT: f64 = 100.0;

/// A slope of the objective on the other side of a kink.
struct Kink {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// Its share in the slope at the solution of the latest quadratic problem.
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
    /// How much the objective varies over the region.
    spread: f64,
    weights: Vec<f64>,
    /// Prices of violations in the judgement of steps. They are lower, because a step along a bent constraint gains
    /// little and misses the constraint a little.
    prices: Vec<f64>,
    kinks: Vec<Kink>,
    /// The latest quadratic problem, whose memory is reused.
    problem: Quadratic,
    memory: Memory,
    /// Its rows that are constraints: which ones, and the units of their multipliers.
    owners: Vec<(usize, f64)>,
    shift: Vec<f64>,
    /// Weights of the functions in the Lagrangian, values and point of a trial, a matrix.
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    weights: Vec<f64>,
    values: Vec<f64>,
    point: Vec<f64>,
    matrix: Vec<f64>,
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
            problem: Quadratic::default(),
            memory: Memory::default(),
            owners: Vec::new(),
            shift: vec![0.0; n],
            scratch: Scratch { values: vec![0.0; outputs], ..Scratch::default() },
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
            if !self.solve() {
                break;
            }
            let known = self.kinks.len();
            let moved = self.advance();
            if moved < STILL * self.radius && (self.kinks.len() == known || norm(&self.shift) < STILL * self.radius) {
                break;
            }
        }
        self.finish()
    }

    /// Gradients and the Hessian of the Lagrangian at the current point.
    fn expand(&mut self) {
        self.model.gradients(&self.z, &mut self.gradients);
        let weights = &mut self.scratch.weights;
        weights.clear();
        weights.push(1.0);
        weights.extend_from_slice(&self.multipliers);
        self.model.hessian(&self.z, weights, &mut self.hessian);
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

    /// The quadratic problem at the current point, in units of the radius and of the objective's spread.
    fn pose(&self, problem: &mut Quadratic, owners: &mut Vec<(usize, f64)>) {
        let (n, r, spread) = (self.n, self.radius, self.spread);
        self.augment(&mut problem.hessian, |_, _| {});
        problem.hessian.iter_mut().for_each(|h| *h = *h * r * r / spread);
        refill(&mut problem.gradient, self.gradients[..n].iter().map(|g| g * r / spread));
        refill(&mut problem.low, self.low.iter().zip(&self.z).map(|(l, z)| ((l - z) / r).min(-1e-9)));
        refill(&mut problem.high, self.high.iter().zip(&self.z).map(|(h, z)| ((h - z) / r).max(1e-9)));
        [&mut problem.rows, &mut problem.offsets, &mut problem.weights].into_iter().for_each(Vec::clear);
        owners.clear();
        for i in 0..self.weights.len() {
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
    }

    /// Finds the step of the quadratic problem and its multipliers; false if there is none.
    fn solve(&mut self) -> bool {
        let (mut problem, mut owners) = (std::mem::take(&mut self.problem), std::mem::take(&mut self.owners));
        self.pose(&mut problem, &mut owners);
        make_convex(self.n, &mut problem.hessian, &mut self.scratch.matrix);
        (self.problem, self.owners) = (problem, owners);
        let (owners, r) = (&self.owners, self.radius);
        let Some(solution) = self.problem.solve(&mut self.memory) else { return false };
        self.multipliers.fill(0.0);
        for ((i, unit), multiplier) in owners.iter().zip(solution.multipliers) {
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
        refill(&mut self.shift, solution.shift.iter().map(|s| s * r));
        true
    }

    /// Shortens the step until the merit decreases; returns its length.
    fn advance(&mut self) -> f64 {
        let present = self.merit(&self.values);
        let full = norm(&self.shift);
        let rounding = if full < FINE * self.radius { 1e-13 * self.merit_size() } else { 0.0 };
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            let Scratch { point, values, .. } = &mut self.scratch;
            refill(point, (0..self.n).map(|i| (self.z[i] + share * self.shift[i]).max(self.low[i]).min(self.high[i])));
            self.model.values(point, values);
            if self.merit(&self.scratch.values) < present + rounding {
                self.z.copy_from_slice(&self.scratch.point);
                self.values.copy_from_slice(&self.scratch.values);
                return share * full;
            }
            if self.model.kinked() {
                self.look_behind(self.scratch.point.clone(), self.scratch.values[0]);
            }
            share *= 0.5;
        }
        0.0
    }

    /// Keeps the slope of the objective at a point where the objective is higher than predicted here.
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

    /// The Hessian plus the penalties of the active constraints. It is positive definite at a true minimiser, and
    /// leaves steps unchanged that keep those constraints active. Also reports each penalty.
    fn augment(&self, into: &mut Vec<f64>, mut tell: impl FnMut(usize, f64)) {
        refill(into, self.hessian.iter().copied());
        let size = self.spread / (self.radius * self.radius);
        for i in 0..self.weights.len() {
            if i < self.constraints.inequalities && self.multipliers[i] <= 0.0 {
                continue;
            }
            let gradient = self.gradient(i);
            let penalty = (10.0 * size / dot(gradient, gradient).max(1e-300)).min(1e250);
            for (row, g) in into.chunks_exact_mut(self.n).zip(gradient) {
                add_scaled(row, penalty * g, gradient);
            }
            tell(i, penalty);
        }
    }

    /// Adds to a Hessian the fact that a minimiser on a kink is held there.
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
        let mut augmented = Vec::with_capacity(self.n * self.n);
        self.augment(&mut augmented, |i, penalty| penalties[i] = penalty);
        self.hold_kinks(&mut augmented);
        let slope = |i: usize| {
            self.gradients[i] + self.multipliers.iter().enumerate().map(|(k, l)| l * self.gradient(k)[i]).sum::<f64>()
        };
        let near = 1e-9 * self.radius;
        let slopes: Vec<f64> = (0..self.n).map(slope).collect();
        // Only the box holds a variable; a point at the edge of the region would move on.
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

/// Replaces the content of a vector.
fn refill(into: &mut Vec<f64>, with: impl Iterator<Item = f64>) {
    into.clear();
    into.extend(with);
}

/// Adds to the diagonal until the matrix is positive definite; leaves its factor in `factor`.
fn make_convex(n: usize, matrix: &mut [f64], factor: &mut Vec<f64>) {
    let largest = (0..n).map(|i| matrix[i * n + i].abs()).fold(1e-9, f64::max);
    let (mut ridge, mut added) = (1e-9, 0.0);
    while ridge < 1e9 {
        (0..n).for_each(|i| matrix[i * n + i] += (ridge - added) * largest);
        // Without a square root of a negative number there is no factor.
        if (0..n).all(|i| matrix[i * n + i] > 0.0) {
            factor.clear();
            factor.extend_from_slice(matrix);
            if cholesky::factor(n, factor) {
                return;
            }
        }
        (ridge, added) = (4.0 * ridge, ridge);
    }
}

#[cfg(test)]
mod tests;
