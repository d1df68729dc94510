//! The minimiser of a smooth function without constraints, within a ball and a box.
//!
//! It takes Newton steps, damped until the function decreases, in the variables that are not at a side of the box. A
//! step that leaves the ball is replaced by the minimiser on its surface.

use super::{Landscape, Region, Step, norm};
use crate::linalg::cholesky;
use crate::linalg::dot;

/// Maximum number of Newton steps.
const ROUNDS: usize = 40;
/// Maximum number of dampings tried until the function decreases.
const TRIES: usize = 14;
/// Maximum number of tries to end a step on the surface of the ball, and by which share of the radius it may miss it:
/// enough for the next step to be short.
const ON_BALL: (usize, f64) = (20, 1e-7);
/// A step below this share of the radius ends the search.
const STILL: f64 = 1e-6;
/// A step below this share of the radius need not decrease the function visibly.
const FINE: f64 = 1e-3;

pub(super) struct Search<'a, L> {
    model: &'a mut L,
    region: &'a Region,
    n: usize,
    z: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    factor: Vec<f64>,
    shift: Vec<f64>,
    trial: Vec<f64>,
    free: Vec<usize>,
    damping: f64,
    /// μ of the latest step.
    ball: f64,
}

impl<'a, L: Landscape> Search<'a, L> {
    pub(super) fn new(model: &'a mut L, region: &'a Region, start: &[f64]) -> Self {
        let n = model.dim();
        let mut search = Search {
            model,
            region,
            n,
            z: start.to_vec(),
            value: 0.0,
            gradient: vec![0.0; n],
            hessian: vec![0.0; n * n],
            factor: vec![0.0; n * n],
            shift: vec![0.0; n],
            trial: start.to_vec(),
            free: Vec::with_capacity(n),
            damping: 0.0,
            ball: 0.0,
        };
        search.project();
        search.z.copy_from_slice(&search.trial);
        search.value = search.trial_value();
        search
    }

    /// Minimises.
    pub(super) fn run(mut self) -> Step {
        for _ in 0..ROUNDS {
            self.differentiate();
            if self.free.is_empty() {
                break;
            }
            match self.newton() {
                Some(moved) if moved >= STILL * self.region.radius.min(1.0) => {}
                _ => break,
            }
        }
        self.differentiate();
        Step {
            z: self.z,
            values: vec![self.value],
            curvature: self.hessian.clone(),
            augmented: self.hessian,
            slopes: self.gradient,
            free: self.free,
            ..Step::default()
        }
    }

    fn trial_value(&mut self) -> f64 {
        let mut value = [0.0];
        self.model.values(&self.trial, &mut value);
        value[0]
    }

    /// Gradient and Hessian at the current point, and the variables that the box does not hold against the gradient.
    fn differentiate(&mut self) {
        self.model.gradients(&self.z, &mut self.gradient);
        self.model.hessian(&self.z, &[1.0], &mut self.hessian);
        let Region { low, high, .. } = self.region;
        self.free.clear();
        for i in 0..self.n {
            let (at, slope) = (self.z[i], self.gradient[i]);
            if !(at <= low[i] && slope > 0.0 || at >= high[i] && slope < 0.0) {
                self.free.push(i);
            }
        }
    }

    /// Moves the trial point into the box and the ball.
    fn project(&mut self) {
        let Region { radius, low, high } = self.region;
        self.trial.iter_mut().zip(low.iter().zip(high)).for_each(|(z, (l, h))| *z = z.max(*l).min(*h));
        let length = norm(&self.trial);
        if length > *radius {
            self.trial.iter_mut().for_each(|z| *z *= radius / length);
        }
    }

    /// One step that decreases the function; returns its length.
    fn newton(&mut self) -> Option<f64> {
        let n = self.n;
        let unit = (0..n)
            .map(|i| self.hessian[i * n + i].abs())
            .fold(1e-300, f64::max)
            .max(0.1 * norm(&self.gradient) / self.region.radius);
        for _ in 0..TRIES {
            if !self.aim(self.damping * unit) {
                self.damping = (4.0 * self.damping).max(1e-4);
                continue;
            }
            self.project();
            let value = self.trial_value();
            let moved = self.trial.iter().zip(&self.z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            // Near the minimum the gain drowns in rounding, but there Newton's step is right anyway.
            let rounding = if moved < FINE * self.region.radius { 1e-13 * value.abs() } else { 0.0 };
            if value < self.value + rounding {
                self.z.copy_from_slice(&self.trial);
                self.value = value;
                self.damping = if self.damping < 5e-5 { 0.0 } else { 0.2 * self.damping };
                return Some(moved);
            }
            self.damping = (4.0 * self.damping).max(1e-3);
        }
        None
    }

    /// Newton's point for a damped Hessian, inside the ball or on its surface: solves (H + damping) s = -g. If that
    /// leaves the ball or has no solution, it solves (H + damping + μ) s = -g - μ z, with the μ that ends on the
    /// surface. The latest μ is tried first.
    fn aim(&mut self, damping: f64) -> bool {
        let radius = self.region.radius;
        let diagonal = (0..self.n).map(|i| self.hessian[i * self.n + i].abs()).fold(0.0, f64::max);
        // The first μ is too small (unless negative), the second too large.
        let (mut low, mut high) = (-1.0, damping + diagonal + norm(&self.gradient) / radius);
        self.ball = self.ball.min(0.5 * high);
        let mut sound = false;
        for _ in 0..ON_BALL.0 {
            let length = self.shifted(damping, self.ball);
            sound = length.is_some();
            let mut next = f64::NAN;
            if let Some(length) = length {
                if (length - radius).abs() <= ON_BALL.1 * radius || length < radius && self.ball <= 1e-12 * diagonal {
                    break;
                }
                // Newton's step for 1/length, which is nearly linear in μ.
                next = self.ball + length * (length - radius) / (radius * self.fall(length));
            }
            *(if length.is_some_and(|l| l < radius) { &mut high } else { &mut low }) = self.ball;
            if next <= 0.0 && low < 0.0 {
                next = 0.0;
            } else if !(next > low && next < high) {
                next = if low <= 0.0 { 0.1 * high } else { (low * high).sqrt() };
            }
            self.ball = next;
        }
        sound
    }

    /// Writes z + s into the trial point and returns its length.
    fn shifted(&mut self, damping: f64, ball: f64) -> Option<f64> {
        let (n, f) = (self.n, self.free.len());
        for (row, &i) in self.free.iter().enumerate() {
            let (into, from) = (&mut self.factor[row * f..(row + 1) * f], &self.hessian[i * n..(i + 1) * n]);
            into[..=row].iter_mut().zip(&self.free).for_each(|(into, &j)| *into = from[j]);
            into[row] += damping + ball;
            self.shift[row] = -self.gradient[i] - ball * self.z[i];
        }
        if !cholesky::factor(f, &mut self.factor[..f * f]) {
            return None;
        }
        cholesky::solve(f, &self.factor[..f * f], &mut self.shift[..f]);
        self.trial.copy_from_slice(&self.z);
        for (row, &i) in self.free.iter().enumerate() {
            self.trial[i] += self.shift[row];
        }
        Some(norm(&self.trial))
    }

    /// How fast the trial point's length decreases with μ: t = z + s solves (H + damping + μ) t = const, so |t|' =
    /// -t'(H + damping + μ)⁻¹ t / |t|.
    /// |t|' = -t'(H + damping + μ)⁻¹ t / |t|.
    fn fall(&mut self, length: f64) -> f64 {
        let f = self.free.len();
        for (row, &i) in self.free.iter().enumerate() {
            self.shift[row] = self.trial[i];
        }
        cholesky::forward(f, &self.factor[..f * f], &mut self.shift[..f]);
        dot(&self.shift[..f], &self.shift[..f]) / length
    }
}

#[cfg(test)]
mod tests;
