//! A Gaussian process around a known point, for several functions that were evaluated together.
//!
//! Kernel k(z, z') = b1 s + b2 s²/2 + s³/6 + s⁴/24 with s = Σ z_i z'_i / ℓ_i², z the difference to
//! the centre: functions that are zero at the centre, mostly linear, then quadratic; the cubic and
//! quartic terms take up what far points deviate by. One formula for few points (the smallest model
//! through them) and for many. The functions share the kernel matrix, so one factor serves the
//! objective and all constraints; each has a scale of its own.

use super::cholesky;
use crate::linalg::{add_scaled, long_dot as dot};

/// Weight of the linear part against the cubic one.
const LINEAR: f64 = 300.0;
/// Weight of the quadratic part.
const QUADRATIC: f64 = 30.0;
/// Added to the diagonal of the kernel matrix, as a share of it.
const JITTER: f64 = 1e-12;
/// Factor between the lengths that a fit tries.
const LENGTH_STEP: f64 = 1.5;
/// Points from which on a sample is large.
const LARGE: usize = 40;
/// Lengths stay within these, in units of the box.
const LENGTH_RANGE: (f64, f64) = (0.02, 3.0);

/// Points around a centre with the functions' differences to their values there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// Differences to the centre, `dim` for each point.
    pub(crate) points: Vec<f64>,
    /// Differences of the values, function after function: `outputs` rows of one value a point.
    pub(crate) values: Vec<f64>,
    /// Number of points.
    pub(crate) len: usize,
}

/// The fitted model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    dim: usize,
    len: usize,
    outputs: usize,
    lengths: Vec<f64>,
    /// Points divided by the lengths.
    scaled: Vec<f64>,
    /// Square roots of the kernel's diagonal.
    diagonal: Vec<f64>,
    /// Cholesky factor of the kernel matrix with unit diagonal.
    factor: Vec<f64>,
    /// For each function, the coefficients of the kernels at the points.
    coefficients: Vec<f64>,
    /// For each function, the square of its scale.
    variances: Vec<f64>,
    likelihood: f64,
}

/// Kernel and its first two derivatives by s.
fn kernel(s: f64) -> [f64; 3] {
    let square = s * s;
    [
        LINEAR * s + QUADRATIC * square / 2.0 + square * s / 6.0 + square * square / 24.0,
        LINEAR + QUADRATIC * s + square / 2.0 + square * s / 6.0,
        QUADRATIC + s + square / 2.0,
    ]
}

impl Process {
    /// Fits with the present lengths or with neighbouring ones that explain the sample better: all of
    /// them longer or shorter, or one of them, in turn by `tick`. Large samples, whose fits are dear
    /// and whose lengths are known by then, try one change at a time.
    pub(crate) fn fit(sample: &Sample, outputs: usize, lengths: &mut Vec<f64>, tick: usize) -> Process {
        let dim = lengths.len();
        let mut best = Process::with_lengths(sample, outputs, lengths);
        if sample.len < dim {
            return best;
        }
        let changes =
            [(true, LENGTH_STEP), (true, 1.0 / LENGTH_STEP), (false, LENGTH_STEP), (false, 1.0 / LENGTH_STEP)];
        let large = sample.len > LARGE;
        let one = if large { tick / changes.len() } else { tick } % dim;
        for (k, (all, factor)) in changes.into_iter().enumerate() {
            if large && k != tick % changes.len() {
                continue;
            }
            let mut tried = lengths.clone();
            for (i, length) in tried.iter_mut().enumerate() {
                if all || i == one {
                    *length = (*length * factor).clamp(LENGTH_RANGE.0, LENGTH_RANGE.1);
                }
            }
            let process = Process::with_lengths(sample, outputs, &tried);
            if process.likelihood > best.likelihood {
                best = process;
            }
        }
        lengths.clone_from(&best.lengths);
        best
    }

    /// Fits with given lengths.
    pub(crate) fn with_lengths(sample: &Sample, outputs: usize, lengths: &[f64]) -> Process {
        let (dim, len) = (lengths.len(), sample.len);
        let scaled: Vec<f64> =
            sample.points.chunks_exact(dim).flat_map(|z| z.iter().zip(lengths).map(|(z, l)| z / l)).collect();
        let row = |i: usize| &scaled[i * dim..(i + 1) * dim];
        let diagonal: Vec<f64> = (0..len).map(|i| kernel(dot(row(i), row(i)))[0].sqrt().max(1e-150)).collect();
        let mut matrix = vec![0.0; len * len];
        for i in 0..len {
            for j in 0..i {
                matrix[i * len + j] = kernel(dot(row(i), row(j)))[0] / (diagonal[i] * diagonal[j]);
            }
            matrix[i * len + i] = 1.0 + JITTER;
        }
        let mut factor = Vec::with_capacity(len * len);
        let sound = cholesky::factor_with_ridge(len, &matrix, 0.0, &mut factor);
        let mut coefficients = Vec::with_capacity(len * outputs);
        let mut variances = Vec::with_capacity(outputs);
        let mut likelihood = 0.0;
        if sound {
            let log_root: f64 = (0..len).map(|i| libm::log(factor[i * len + i] * diagonal[i])).sum();
            for values in sample.values.chunks_exact(len.max(1)) {
                let mut v: Vec<f64> = values.iter().zip(&diagonal).map(|(v, d)| v / d).collect();
                cholesky::forward(len, &factor, &mut v);
                let variance = dot(&v, &v) / len as f64 + 1e-300;
                cholesky::backward(len, &factor, &mut v);
                coefficients.extend(v.iter().zip(&diagonal).map(|(v, d)| v / d));
                variances.push(variance);
                likelihood -= 0.5 * len as f64 * libm::log(variance) + log_root;
            }
        }
        if !sound || len == 0 {
            coefficients = vec![0.0; len * outputs];
            variances = vec![0.0; outputs];
            likelihood = f64::NEG_INFINITY;
        }
        Process {
            dim,
            len,
            outputs,
            lengths: lengths.to_vec(),
            scaled,
            diagonal,
            factor,
            coefficients,
            variances,
            likelihood,
        }
    }

    /// Number of functions.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of variables.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// Square of a function's scale.
    pub(crate) fn variance(&self, output: usize) -> f64 {
        self.variances[output]
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.scaled.chunks_exact(self.dim)
    }

    /// Differences of all functions to their values at the centre, predicted at `z`.
    pub(crate) fn values(&self, z: &[f64], into: &mut [f64]) {
        into.fill(0.0);
        for (p, row) in self.rows().enumerate() {
            let k = kernel(self.product(row, z))[0];
            for (o, into) in into.iter_mut().enumerate() {
                *into += self.coefficients[o * self.len + p] * k;
            }
        }
    }

    /// Σ row_i z_i / ℓ_i; the row is scaled already.
    fn product(&self, row: &[f64], z: &[f64]) -> f64 {
        row.iter().zip(z).zip(&self.lengths).map(|((r, z), l)| r * z / l).sum()
    }

    /// Predicted gradients by the variables from `from` on, function after function.
    pub(crate) fn gradients(&self, z: &[f64], from: usize, into: &mut [f64]) {
        let n = self.dim - from;
        into.fill(0.0);
        for (p, row) in self.rows().enumerate() {
            let k = kernel(self.product(row, z))[1];
            for (o, into) in into.chunks_exact_mut(n).enumerate() {
                add_scaled(into, self.coefficients[o * self.len + p] * k, &row[from..]);
            }
        }
        for into in into.chunks_exact_mut(n) {
            into.iter_mut().zip(&self.lengths[from..]).for_each(|(g, l)| *g /= l);
        }
    }

    /// Predicted Hessian of Σ weight_o · function_o by the variables from `from` on.
    pub(crate) fn hessian(&self, z: &[f64], from: usize, weights: &[f64], into: &mut [f64]) {
        let n = self.dim - from;
        into.fill(0.0);
        for (p, row) in self.rows().enumerate() {
            let weight: f64 = weights.iter().enumerate().map(|(o, w)| w * self.coefficients[o * self.len + p]).sum();
            let k = weight * kernel(self.product(row, z))[2];
            for (i, into) in into.chunks_exact_mut(n).enumerate() {
                add_scaled(&mut into[..=i], k * row[from + i], &row[from..]);
            }
        }
        for i in 0..n {
            for j in 0..=i {
                let value = into[i * n + j] / (self.lengths[from + i] * self.lengths[from + j]);
                (into[i * n + j], into[j * n + i]) = (value, value);
            }
        }
    }

    /// Posterior covariance of a gradient at the centre, by the variables from `from` on, for a
    /// function of variance one.
    pub(crate) fn gradient_covariance(&self, from: usize) -> Vec<f64> {
        let n = self.dim - from;
        let columns: Vec<f64> = (0..n)
            .flat_map(|i| {
                let mut column: Vec<f64> = self
                    .rows()
                    .zip(&self.diagonal)
                    .map(|(row, d)| LINEAR * row[from + i] / (self.lengths[from + i] * d))
                    .collect();
                cholesky::forward(self.len, &self.factor, &mut column);
                column
            })
            .collect();
        let column = |i: usize| &columns[i * self.len..(i + 1) * self.len];
        let mut covariance = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                covariance[i * n + j] = -dot(column(i), column(j));
            }
            let length = self.lengths[from + i];
            covariance[i * n + i] = (covariance[i * n + i] + LINEAR / (length * length)).max(0.0);
        }
        covariance
    }
}

#[cfg(test)]
mod tests;
