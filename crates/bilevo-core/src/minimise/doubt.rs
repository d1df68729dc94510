//! How accurately the data determine a minimiser.

use super::{Landscape, Step, norm};
use crate::linalg::cholesky;
use crate::linalg::dot;

/// By how many standard deviations a slope must differ from zero for its sign to be certain.
const CERTAIN: f64 = 2.0;

/// The uncertainty of a minimiser: its root mean square distance, and the unit direction in which most of it lies.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    /// √tr(H⁻¹ Cov(g) H⁻¹)
    pub(crate) size: f64,
    pub(crate) direction: Vec<f64>,
}

/// How well the data determine the minimiser `step`: H⁻¹ Cov(g) H⁻¹ over the free variables, where g is the gradient
/// of the Lagrangian and H its Hessian plus the penalties of the active constraints.
pub(crate) fn doubt<L: Landscape>(model: &mut L, step: &Step) -> Doubt {
    let n = model.dim();
    let covariance = model.gradient_covariance();
    let scale = model.variance(0)
        + step.multipliers.iter().enumerate().map(|(i, l)| l * l * model.variance(i + 1)).sum::<f64>();
    // A bound holds a variable only if the slope towards it is certain.
    let certain = |i: usize| step.slopes[i].abs() > CERTAIN * (scale * covariance[i * n + i]).sqrt();
    let free: Vec<usize> = (0..n).filter(|i| step.free.contains(i) || !certain(*i)).collect();
    let f = free.len();
    let mut direction = vec![0.0; n];
    if f == 0 {
        return Doubt { size: 0.0, direction };
    }
    let pick = |matrix: &[f64]| -> Vec<f64> {
        free.iter().flat_map(|&i| free.iter().map(move |&j| (i, j))).map(|(i, j)| matrix[i * n + j]).collect()
    };
    let (mut hessian, spread) = (pick(&step.augmented), pick(&covariance));
    // Directions without curvature would stay unknown forever, so the curvature is at least a thousandth of the
    // largest.
    let largest = free.iter().map(|&i| step.curvature[i * n + i].abs()).fold(1e-300, f64::max);
    (0..f).for_each(|i| hessian[i * f + i] += 1e-3 * largest);
    let mut factor = Vec::with_capacity(f * f);
    if !cholesky::factor_with_ridge(f, &hessian, 0.0, &mut factor) {
        return Doubt { size: f64::INFINITY, direction };
    }
    let half = solve_columns(f, &factor, &spread);
    let matrix = solve_columns(f, &factor, &half);
    let size = (scale * (0..f).map(|i| matrix[i * f + i].max(0.0)).sum::<f64>()).sqrt();
    for (v, &i) in main_direction(f, &matrix).iter().zip(&free) {
        direction[i] = *v;
    }
    Doubt { size, direction }
}

/// (A⁻¹ B)', given a factor of A and a matrix B. Applied twice, it gives A⁻¹ B A⁻¹ for a symmetric B.
fn solve_columns(n: usize, factor: &[f64], b: &[f64]) -> Vec<f64> {
    let mut rows = vec![0.0; n * n];
    for (j, row) in rows.chunks_exact_mut(n).enumerate() {
        row.iter_mut().enumerate().for_each(|(i, v)| *v = b[i * n + j]);
        cholesky::solve(n, factor, row);
    }
    rows
}

/// The eigenvector of the largest eigenvalue, by power iteration.
fn main_direction(n: usize, matrix: &[f64]) -> Vec<f64> {
    let mut v: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * i as f64).collect();
    let mut next = vec![0.0; n];
    for _ in 0..30 {
        next.iter_mut().zip(matrix.chunks_exact(n)).for_each(|(next, row)| *next = dot(row, &v));
        let length = norm(&next);
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        v.iter_mut().zip(&next).for_each(|(v, c)| *v = c / length);
    }
    let length = norm(&v);
    v.iter().map(|c| c / length).collect()
}

#[cfg(test)]
mod tests;
