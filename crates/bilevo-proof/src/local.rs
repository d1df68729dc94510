//! Finding answers of the follower: a local search in floating-point numbers. What it finds proves nothing,
//! but a good answer makes strong cuts, and a better one refutes a claim once it is verified.

use crate::problem::{Problem, Row};
use crate::work::Work;

/// Rounds of the augmented Lagrangian, and steps within one.
const ROUNDS: usize = 8;

/// f(x, ·) + ½ρ Σ (max(0, gᵢ + mᵢ + μᵢ/ρ)² + (hᵢ + νᵢ/ρ)²) and its state.
struct Merit<'m> {
    margins: &'m [f64],
    multipliers: Vec<f64>,
    penalty: f64,
}

/// A local minimiser of f(x, ·) from `start`, with distance `margins` to the inequalities.
pub(crate) fn answer(work: &mut Work<'_>, x: &[f64], start: &[f64], margins: &[f64], steps: usize) -> Vec<f64> {
    let problem = work.problem;
    let nx = problem.nx;
    let constraints = problem.lower_inequalities.len() + problem.lower_equalities.len();
    let mut point: Vec<f64> = x.iter().chain(start).copied().collect();
    clamp(work, &mut point);
    let mut merit = Merit { margins, multipliers: vec![0.0; constraints], penalty: 10.0 };
    for _ in 0..if constraints == 0 { 1 } else { ROUNDS } {
        descend(work, &merit, &mut point, steps);
        if merit.update(work, &point) {
            break;
        }
    }
    point[nx..].to_vec()
}

/// Into the box; whole numbers are rounded.
fn clamp(work: &Work<'_>, point: &mut [f64]) {
    let problem = work.problem;
    for (j, value) in point.iter_mut().enumerate().skip(problem.nx) {
        let rounded = if problem.whole[j] { value.round() } else { *value };
        *value = rounded.max(problem.bounds[j].lo).min(problem.bounds[j].hi);
    }
}

/// The follower's constraints with their margins, and whether they are inequalities, which come first.
fn rows<'r>(problem: &'r Problem, margins: &'r [f64]) -> impl Iterator<Item = (usize, &'r Row, f64, bool)> {
    let inequalities = problem.lower_inequalities.iter().map(|row| (row, true));
    let all = inequalities.chain(problem.lower_equalities.iter().map(|row| (row, false)));
    all.enumerate().map(|(i, (row, one_sided))| (i, row, margins.get(i).copied().unwrap_or(0.0), one_sided))
}

impl Merit<'_> {
    /// Value and, into `gradient`, the derivatives by y.
    fn value(&self, work: &mut Work<'_>, point: &[f64], gradient: &mut [f64]) -> f64 {
        let problem = work.problem;
        let nx = problem.nx;
        let mut value = work.float_gradient(&problem.lower, point);
        for (j, slope) in gradient.iter_mut().enumerate() {
            *slope = work.float_slope(&problem.lower, nx + j);
        }
        for (i, row, margin, one_sided) in rows(work.problem, self.margins) {
            let g = work.float_gradient(row, point) + margin;
            let force = self.multipliers[i] + self.penalty * g;
            let force = if one_sided { force.max(0.0) } else { force };
            value += 0.5 * force * force / self.penalty;
            if g.is_nan() {
                value = f64::NAN;
            }
            if force != 0.0 {
                for (j, slope) in gradient.iter_mut().enumerate() {
                    *slope += force * work.float_slope(row, nx + j);
                }
            }
        }
        if value.is_nan() { f64::INFINITY } else { value }
    }

    /// New multipliers; true once all constraints are met closely.
    fn update(&mut self, work: &mut Work<'_>, point: &[f64]) -> bool {
        let mut worst = 0.0f64;
        for (i, row, margin, one_sided) in rows(work.problem, self.margins) {
            let g = work.float(row, point) + margin;
            let force = self.multipliers[i] + self.penalty * g;
            worst = worst.max(if one_sided { g.max(-self.multipliers[i] / self.penalty).abs() } else { g.abs() });
            self.multipliers[i] = if one_sided { force.max(0.0) } else { force };
        }
        self.penalty = (self.penalty * 4.0).min(1e6);
        worst < 1e-11 || !worst.is_finite()
    }
}

/// Projected gradient steps of Barzilai and Borwein's length, halved until the merit falls.
fn descend(work: &mut Work<'_>, merit: &Merit<'_>, point: &mut Vec<f64>, steps: usize) {
    let problem = work.problem;
    let (nx, ny) = (problem.nx, problem.ny());
    let mut gradient = vec![0.0; ny];
    let mut value = merit.value(work, point, &mut gradient);
    let largest = gradient.iter().fold(0.0f64, |m, g| m.max(g.abs()));
    let mut length = 0.1 / (1.0 + largest);
    let (mut trial, mut trial_gradient) = (point.clone(), vec![0.0; ny]);
    for _ in 0..steps {
        let mut accepted = false;
        for _ in 0..20 {
            for j in 0..ny {
                let fixed = problem.whole[nx + j] || gradient[j].is_nan();
                let step = if fixed { 0.0 } else { length * gradient[j] };
                let bounds = problem.bounds[nx + j];
                trial[nx + j] = (point[nx + j] - step).max(bounds.lo).min(bounds.hi);
            }
            let new = merit.value(work, &trial, &mut trial_gradient);
            if new < value {
                value = new;
                accepted = true;
                break;
            }
            length *= 0.25;
        }
        if !accepted {
            return;
        }
        let (mut ss, mut sy) = (0.0, 0.0);
        for j in 0..ny {
            let (s, y) = (trial[nx + j] - point[nx + j], trial_gradient[j] - gradient[j]);
            ss += s * s;
            sy += s * y;
        }
        std::mem::swap(point, &mut trial);
        std::mem::swap(&mut gradient, &mut trial_gradient);
        if ss < 1e-26 {
            return;
        }
        length = if sy > 1e-30 { ss / sy } else { 2.0 * length };
    }
}
