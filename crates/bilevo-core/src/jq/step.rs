//! The minimiser of a modelled function under modelled constraints, within a ball and a box.
//!
//! Augmented Lagrangian: f + Σ (max(0, λ + ρ c)² − λ²) / 2ρ over the inequalities c <= 0, and
//! λ h + ρ h² / 2 over the equalities h = 0; the multipliers λ are moved towards those of the
//! solution. Inner minimisation: Newton steps damped until the function falls, on the variables
//! that are not held by the box, drawn back onto the ball.

use super::cholesky;
use super::process::Process;
use crate::linalg::dot;

/// Updates of the multipliers.
const OUTER: usize = 12;
/// Newton steps for given multipliers.
const INNER: usize = 40;
/// Tries to find a damping that makes the function fall.
const TRIES: usize = 14;
/// Tries to end a step on the ball.
const ON_BALL: usize = 20;
/// A step below this share of the radius ends the inner minimisation.
const STILL: f64 = 1e-6;
/// A step below this share of the radius need not make the function fall visibly.
const FINE: f64 = 1e-3;

/// Where the minimiser is looked for, relative to the model's centre. Variables before `from` stay
/// as they are in the start point; the ball and the box hold those from `from` on.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// First variable that moves.
    pub(crate) from: usize,
    /// Radius of the ball around the centre.
    pub(crate) radius: f64,
    /// Lower bounds.
    pub(crate) low: Vec<f64>,
    /// Upper bounds.
    pub(crate) high: Vec<f64>,
}

/// The constraints among the model's functions: all but the first, equalities last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraints<'a> {
    /// How many are c <= 0.
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

/// A minimiser and what is known of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// The point, relative to the centre.
    pub(crate) z: Vec<f64>,
    /// The functions' predicted differences to the centre.
    pub(crate) values: Vec<f64>,
    /// One for each constraint.
    pub(crate) multipliers: Vec<f64>,
    /// Hessian of the Lagrangian by the moving variables.
    pub(crate) curvature: Vec<f64>,
    /// The same with the penalties of the active constraints.
    pub(crate) augmented: Vec<f64>,
    /// Which of the moving variables are not held by the box.
    pub(crate) free: Vec<usize>,
}

impl Step {
    /// Length of the step over the moving variables.
    pub(crate) fn length(&self, from: usize) -> f64 {
        norm(&self.z[from..])
    }
}

/// Euclidean length.
pub(crate) fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

/// Minimises the model's first function from `start` (relative to the centre) under the others as
/// constraints; `multipliers` are a first guess.
pub(crate) fn minimise(
    model: &Process,
    region: &Region,
    constraints: Constraints,
    start: &[f64],
    multipliers: &[f64],
) -> Step {
    let mut search = Search::new(model, region, constraints, start, multipliers);
    let mut left = f64::INFINITY;
    for _ in 0..OUTER {
        search.descend();
        if search.multipliers.is_empty() {
            break;
        }
        let now = search.update_multipliers();
        if now <= 1e-12 {
            break;
        }
        if now > 0.25 * left {
            search.penalties.iter_mut().for_each(|p| *p *= 10.0);
        }
        left = left.min(now);
    }
    search.finish()
}

struct Search<'a> {
    model: &'a Process,
    region: &'a Region,
    constraints: Constraints<'a>,
    n: usize,
    z: Vec<f64>,
    multipliers: Vec<f64>,
    penalties: Vec<f64>,
    /// What a constraint changes by over the ball.
    spreads: Vec<f64>,
    values: Vec<f64>,
    gradients: Vec<f64>,
    weights: Vec<f64>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    factor: Vec<f64>,
    shift: Vec<f64>,
    trial: Vec<f64>,
    free: Vec<usize>,
    damping: f64,
    /// Size of the terms of the latest value.
    magnitude: f64,
}

impl<'a> Search<'a> {
    fn new(
        model: &'a Process,
        region: &'a Region,
        constraints: Constraints<'a>,
        start: &[f64],
        multipliers: &[f64],
    ) -> Self {
        let (n, outputs) = (model.dim() - region.from, model.outputs());
        let mut search = Search {
            model,
            region,
            constraints,
            n,
            z: start.to_vec(),
            multipliers: multipliers.to_vec(),
            penalties: vec![0.0; outputs - 1],
            spreads: vec![0.0; outputs - 1],
            values: vec![0.0; outputs],
            gradients: vec![0.0; outputs * n],
            weights: vec![0.0; outputs],
            gradient: vec![0.0; n],
            hessian: vec![0.0; n * n],
            factor: vec![0.0; n * n],
            shift: vec![0.0; n],
            trial: start.to_vec(),
            free: Vec::with_capacity(n),
            damping: 0.0,
            magnitude: 0.0,
        };
        search.project_start();
        search.choose_penalties();
        search
    }

    fn project_start(&mut self) {
        let mut trial = std::mem::take(&mut self.trial);
        trial.copy_from_slice(&self.z);
        self.project(&mut trial);
        self.z.copy_from_slice(&trial);
        self.trial = trial;
    }

    /// Penalties with which f and the constraints weigh about the same over the ball.
    fn choose_penalties(&mut self) {
        if self.penalties.is_empty() {
            return;
        }
        let radius = self.region.radius;
        self.model.gradients(&self.z, self.region.from, &mut self.gradients);
        self.weights.fill(0.0);
        self.weights[0] = 1.0;
        self.model.hessian(&self.z, self.region.from, &self.weights, &mut self.hessian);
        let curvature = (0..self.n).map(|i| self.hessian[i * self.n + i].abs()).fold(0.0, f64::max);
        let objective = norm(&self.gradients[..self.n]) * radius + 0.5 * curvature * radius * radius;
        for (i, gradient) in self.gradients[self.n..].chunks_exact(self.n).enumerate() {
            let spread = norm(gradient) * radius + 1e-300;
            self.spreads[i] = spread;
            self.penalties[i] = (10.0 * objective.max(1e-300) / (spread * spread)).min(1e200);
        }
    }

    /// Value of the augmented Lagrangian at `z`; leaves the functions' values and weights behind.
    fn value(&mut self, z: &[f64]) -> f64 {
        self.model.values(z, &mut self.values);
        let mut sum = self.values[0];
        self.magnitude = sum.abs();
        self.weights[0] = 1.0;
        for (i, (lambda, rho)) in self.multipliers.iter().zip(&self.penalties).enumerate() {
            let c = self.constraints.centre[i] + self.values[i + 1];
            let mut force = lambda + rho * c;
            if i < self.constraints.inequalities {
                force = force.max(0.0);
            }
            self.weights[i + 1] = force;
            sum += (force * force - lambda * lambda) / (2.0 * rho);
            self.magnitude += (force * force + lambda * lambda) / (2.0 * rho);
        }
        sum
    }

    /// Gradient and Hessian at the present point.
    fn differentiate(&mut self) {
        let (n, from) = (self.n, self.region.from);
        self.model.gradients(&self.z, from, &mut self.gradients);
        self.model.hessian(&self.z, from, &self.weights, &mut self.hessian);
        self.gradient.fill(0.0);
        for (row, weight) in self.gradients.chunks_exact(n).zip(&self.weights) {
            crate::linalg::add_scaled(&mut self.gradient, *weight, row);
        }
        add_penalties(self.constraints, &self.weights, &self.penalties, &self.gradients, n, &mut self.hessian);
    }

    /// Finds the variables that the box does not hold against the gradient.
    fn find_free(&mut self) {
        let Region { from, low, high, .. } = self.region;
        self.free.clear();
        for i in 0..self.n {
            let (at, slope) = (self.z[from + i], self.gradient[i]);
            if !(at <= low[i] && slope > 0.0 || at >= high[i] && slope < 0.0) {
                self.free.push(i);
            }
        }
    }

    /// Puts the moving variables of `z` into the box and the ball.
    fn project(&self, z: &mut [f64]) {
        let Region { from, radius, low, high } = self.region;
        let moving = &mut z[*from..];
        moving.iter_mut().zip(low.iter().zip(high)).for_each(|(z, (l, h))| *z = z.max(*l).min(*h));
        let length = norm(moving);
        if length > *radius {
            moving.iter_mut().for_each(|z| *z *= radius / length);
        }
    }

    /// Damped Newton steps for the present multipliers.
    fn descend(&mut self) {
        let mut trial = std::mem::take(&mut self.trial);
        let mut present = {
            let z = self.z.clone();
            self.value(&z)
        };
        self.damping = 0.0;
        for _ in 0..INNER {
            self.differentiate();
            self.find_free();
            if self.free.is_empty() {
                break;
            }
            let Some((moved, value)) = self.newton(present, &mut trial) else { break };
            present = value;
            if moved < STILL * self.region.radius.min(1.0) {
                break;
            }
        }
        self.trial = trial;
    }

    /// One step that makes the function fall: how far it went and the new value.
    fn newton(&mut self, present: f64, trial: &mut [f64]) -> Option<(f64, f64)> {
        let n = self.n;
        let unit = (0..n)
            .map(|i| self.hessian[i * n + i].abs())
            .fold(1e-300, f64::max)
            .max(0.1 * norm(&self.gradient) / self.region.radius);
        for _ in 0..TRIES {
            if !self.aim(self.damping * unit, trial) {
                self.damping = (4.0 * self.damping).max(1e-4);
                continue;
            }
            self.project(trial);
            let value = self.value(trial);
            let moved = trial.iter().zip(&self.z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            // Near the minimum the gain drowns in rounding: there Newton's step is right anyway.
            let rounding = if moved < FINE * self.region.radius { 1e-13 * self.magnitude } else { 0.0 };
            if value < present + rounding {
                self.z.copy_from_slice(trial);
                self.damping = if self.damping < 5e-5 { 0.0 } else { 0.2 * self.damping };
                return Some((moved, value));
            }
            self.damping = (4.0 * self.damping).max(1e-3);
        }
        let z = self.z.clone();
        self.value(&z);
        None
    }

    /// Newton's point for a damped Hessian, at most on the ball: solves (H + damping) s = -g, and if
    /// that leads out of the ball, (H + damping + μ) s = -g - μ z with the μ that ends on it.
    fn aim(&mut self, damping: f64, trial: &mut [f64]) -> bool {
        let radius = self.region.radius;
        let Some(mut length) = self.shifted(damping, 0.0, trial) else { return false };
        if length <= radius {
            return true;
        }
        let diagonal = (0..self.n).map(|i| self.hessian[i * self.n + i].abs()).fold(0.0, f64::max);
        let (mut low, mut high) = (0.0, damping + diagonal + norm(&self.gradient) / radius);
        for _ in 0..ON_BALL {
            let middle = if low == 0.0 { 0.1 * high } else { (low * high).sqrt() };
            match self.shifted(damping, middle, trial) {
                Some(reached) => length = reached,
                None => return false,
            }
            if length > radius {
                low = middle;
            } else if length < 0.999 * radius {
                high = middle;
            } else {
                break;
            }
            if low == 0.0 && high < 1e-12 * diagonal {
                break;
            }
        }
        true
    }

    /// Writes z + s into `trial` and returns the length of its moving part.
    fn shifted(&mut self, damping: f64, ball: f64, trial: &mut [f64]) -> Option<f64> {
        let (n, from, f) = (self.n, self.region.from, self.free.len());
        for (row, &i) in self.free.iter().enumerate() {
            for (column, &j) in self.free.iter().enumerate() {
                self.factor[row * f + column] = self.hessian[i * n + j];
            }
            self.factor[row * f + row] += damping + ball;
            self.shift[row] = -self.gradient[i] - ball * self.z[from + i];
        }
        if !cholesky::factor(f, &mut self.factor[..f * f]) {
            return None;
        }
        cholesky::solve(f, &self.factor[..f * f], &mut self.shift[..f]);
        trial.copy_from_slice(&self.z);
        for (row, &i) in self.free.iter().enumerate() {
            trial[from + i] += self.shift[row];
        }
        Some(norm(&trial[from..]))
    }

    /// Moves the multipliers; returns how far the constraints are from being met, as a share of
    /// what they change by over the ball.
    fn update_multipliers(&mut self) -> f64 {
        let mut worst = 0.0_f64;
        for (i, lambda) in self.multipliers.iter_mut().enumerate() {
            let c = self.constraints.centre[i] + self.values[i + 1];
            let force = self.weights[i + 1];
            // An inactive inequality is met when its multiplier is zero.
            let gap = if i < self.constraints.inequalities { c.max(-*lambda / self.penalties[i]) } else { c };
            worst = worst.max(gap.abs() / self.spreads[i]);
            *lambda = force.clamp(-1e200, 1e200);
        }
        worst
    }

    fn finish(mut self) -> Step {
        let z = self.z.clone();
        self.value(&z);
        self.differentiate();
        self.find_free();
        let mut curvature = vec![0.0; self.n * self.n];
        self.model.hessian(&self.z, self.region.from, &self.weights, &mut curvature);
        Step {
            z: self.z,
            values: self.values,
            multipliers: self.multipliers,
            curvature,
            augmented: self.hessian,
            free: self.free,
        }
    }
}

/// Adds ρ a a' for each active constraint with gradient a.
fn add_penalties(
    constraints: Constraints,
    weights: &[f64],
    penalties: &[f64],
    gradients: &[f64],
    n: usize,
    hessian: &mut [f64],
) {
    for (i, rho) in penalties.iter().enumerate() {
        if i < constraints.inequalities && weights[i + 1] <= 0.0 {
            continue;
        }
        let gradient = &gradients[(i + 1) * n..(i + 2) * n];
        for (row, g) in hessian.chunks_exact_mut(n).zip(gradient) {
            crate::linalg::add_scaled(row, rho * g, gradient);
        }
    }
}

/// What is not known of a minimiser: root mean square distance, and the unit direction in which
/// most of it lies.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    /// √tr(H⁻¹ Cov(g) H⁻¹)
    pub(crate) size: f64,
    /// By the moving variables.
    pub(crate) direction: Vec<f64>,
}

/// How well the data pin down the minimiser `step`: H⁻¹ Cov(g) H⁻¹ over the free variables, with g
/// the gradient of the Lagrangian and H its Hessian with the penalties of the active constraints.
pub(crate) fn doubt(model: &Process, step: &Step, from: usize) -> Doubt {
    let n = model.dim() - from;
    let covariance = model.gradient_covariance(from);
    let scale = model.variance(0)
        + step.multipliers.iter().enumerate().map(|(i, l)| l * l * model.variance(i + 1)).sum::<f64>();
    let f = step.free.len();
    let mut direction = vec![0.0; n];
    if f == 0 {
        return Doubt { size: 0.0, direction };
    }
    let pick = |matrix: &[f64]| -> Vec<f64> {
        step.free.iter().flat_map(|&i| step.free.iter().map(move |&j| (i, j))).map(|(i, j)| matrix[i * n + j]).collect()
    };
    let (mut hessian, spread) = (pick(&step.augmented), pick(&covariance));
    // Directions without curvature would be unknown for ever: a thousandth of the largest one.
    let largest = step.free.iter().map(|&i| step.curvature[i * n + i].abs()).fold(1e-300, f64::max);
    (0..f).for_each(|i| hessian[i * f + i] += 1e-3 * largest);
    let mut factor = Vec::with_capacity(f * f);
    if !cholesky::factor_with_ridge(f, &hessian, 0.0, &mut factor) {
        return Doubt { size: f64::INFINITY, direction };
    }
    let half = solve_columns(f, &factor, &spread);
    let matrix = solve_columns(f, &factor, &half);
    let size = (scale * (0..f).map(|i| matrix[i * f + i].max(0.0)).sum::<f64>()).sqrt();
    for (v, &i) in main_direction(f, &matrix).iter().zip(&step.free) {
        direction[i] = *v;
    }
    Doubt { size, direction }
}

/// (A⁻¹ B)' for a factor of A and a matrix B, so that twice gives A⁻¹ B A⁻¹ for symmetric B.
fn solve_columns(n: usize, factor: &[f64], b: &[f64]) -> Vec<f64> {
    let mut rows = vec![0.0; n * n];
    for (j, row) in rows.chunks_exact_mut(n).enumerate() {
        row.iter_mut().enumerate().for_each(|(i, v)| *v = b[i * n + j]);
        cholesky::solve(n, factor, row);
    }
    rows
}

/// Eigenvector of the largest eigenvalue, by powers.
fn main_direction(n: usize, matrix: &[f64]) -> Vec<f64> {
    let mut v: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * i as f64).collect();
    for _ in 0..30 {
        let next: Vec<f64> = matrix.chunks_exact(n).map(|row| dot(row, &v)).collect();
        let length = norm(&next);
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        v = next.iter().map(|c| c / length).collect();
    }
    let length = norm(&v);
    v.iter().map(|c| c / length).collect()
}

#[cfg(test)]
mod tests;
