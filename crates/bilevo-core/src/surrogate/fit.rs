//! One fit of a process, with lengths that may turn out worse than others.

use super::{Sample, kernel};
use crate::linalg::cholesky;
use crate::linalg::long_dot as dot;
use crate::linalg::tiles::gram;
use crate::linalg::{buffer::Buffer, widest};

/// Added to the diagonal of the kernel matrix, as a share of it.
pub(super) const JITTER: f64 = 1e-12;
/// Variance of the functions' values at the centre, if the sample is noisy.
pub(super) const OFFSET: f64 = super::LINEAR;
/// The smallest diagonal element by which a kernel matrix is scaled.
const SMALLEST: f64 = 1e-120;

/// s = Σ z_i z'_i / ℓ_i² for all pairs of points, for one choice of lengths.
pub(super) struct Products {
    lengths: Vec<f64>,
    /// Points divided by the lengths, `dim` numbers each.
    points: Buffer,
    /// Lower triangle, row-major.
    matrix: Buffer,
}

/// A kernel matrix with its factor, and how well it explains the sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    pub(super) lengths: Vec<f64>,
    /// Inverse square roots of the kernel's diagonal.
    pub(super) scales: Vec<f64>,
    /// Cholesky factor L of the kernel matrix with unit diagonal; below it, for each function, L⁻¹
    /// (values as scaled).
    pub(super) rows: Buffer,
    pub(super) variances: Vec<f64>,
    /// Minus infinity if there is no factor or there are no points.
    pub(super) likelihood: f64,
    /// Scratch: the points' coordinates by one variable.
    column: Vec<f64>,
}

impl Products {
    pub(super) fn new(sample: &Sample, lengths: &[f64]) -> Self {
        let dim = lengths.len();
        let mut points = Buffer::default();
        points.extend_from_slice(&sample.points);
        for point in points.chunks_exact_mut(dim) {
            point.iter_mut().zip(lengths).for_each(|(z, l)| *z /= l);
        }
        let matrix = gram(&points, dim);
        Products { lengths: lengths.to_vec(), points, matrix }
    }

    /// How s changes with the lengths: to `factor` s + `weight` u u', where u are the coordinates in one variable,
    /// given here by its index. `None` if more than one length changes, and not all by the same factor.
    fn change(&self, lengths: &[f64]) -> Option<(f64, f64, usize)> {
        let ratios = || self.lengths.iter().zip(lengths).map(|(old, new)| (old / new) * (old / new));
        let first = ratios().next()?;
        if ratios().all(|r| (r - first).abs() <= 1e-14 * first) {
            return Some((first, 0.0, 0));
        }
        let mut changed = ratios().enumerate().filter(|(_, r)| *r != 1.0);
        let (variable, ratio) = changed.next()?;
        changed.next().is_none().then_some((1.0, ratio - 1.0, variable))
    }
}

impl Trial {
    /// Fits with given lengths; `products` belong to the same sample, but perhaps to other lengths.
    pub(super) fn run(&mut self, sample: &Sample, outputs: usize, products: &Products, lengths: &[f64]) {
        let Some(change) = products.change(lengths) else {
            self.run(sample, outputs, &Products::new(sample, lengths), lengths);
            return;
        };
        self.lengths.clear();
        self.lengths.extend_from_slice(lengths);
        self.variances.clear();
        self.variances.resize(outputs, 0.0);
        self.likelihood = f64::NEG_INFINITY;
        let mut ridge = 0.0;
        while ridge < 1e8 && sample.len > 0 {
            self.fill(sample, outputs, products, change);
            (0..sample.len).for_each(|i| self.rows[i * sample.len + i] = 1.0 + JITTER + ridge);
            if sample.noise > 0.0 {
                self.blur(sample);
            }
            if cholesky::factor(sample.len, &mut self.rows) {
                self.judge(sample.len);
                return;
            }
            ridge = (10.0 * ridge).max(1e-14);
        }
    }

    /// The kernel matrix without its diagonal, and the values below it.
    fn fill(&mut self, sample: &Sample, outputs: usize, products: &Products, change: (f64, f64, usize)) {
        let (len, dim) = (sample.len, self.lengths.len());
        let (factor, weight, variable) = change;
        let Trial { scales, rows, column, .. } = self;
        column.clear();
        column.extend(products.points.iter().skip(variable).step_by(dim));
        let diagonal = |i: usize| kernel(factor * products.matrix[i * len + i] + weight * column[i] * column[i]);
        scales.clear();
        scales.extend((0..len).map(|i| 1.0 / diagonal(i).max(SMALLEST).sqrt()));
        if rows.len() != (len + outputs) * len {
            *rows = Buffer::of_anything((len + outputs) * len);
        }
        fill_triangle((factor, weight), &products.matrix, column, scales, rows);
        let whitened = rows[len * len..].chunks_exact_mut(len).zip(sample.values.chunks_exact(len));
        for (row, values) in whitened {
            row.iter_mut().zip(values.iter().zip(&*scales)).for_each(|(row, (v, scale))| *row = v * scale);
        }
    }

    /// Adds the variance of the functions at the centre, and the noise of each point.
    fn blur(&mut self, sample: &Sample) {
        let Trial { scales, rows, .. } = self;
        for (i, row) in rows.chunks_exact_mut(sample.len).take(sample.len).enumerate() {
            row.iter_mut().zip(&scales[..=i]).for_each(|(k, scale)| *k += OFFSET * scales[i] * scale);
            row[i] += sample.noise * scales[i] * scales[i];
        }
    }

    /// The functions' variances and the likelihood of the factor.
    fn judge(&mut self, len: usize) {
        // Logarithms are expensive, so we take those of several factors at once.
        let root = |i: usize| self.rows[i * len + i] / self.scales[i];
        let part = |from: usize| libm::log((from..(from + 4).min(len)).map(root).product());
        let log_root: f64 = (0..len).step_by(4).map(part).sum();
        self.likelihood = 0.0;
        for (variance, v) in self.variances.iter_mut().zip(self.rows[len * len..].chunks_exact(len)) {
            *variance = dot(v, v) / len as f64 + 1e-300;
            self.likelihood -= 0.5 * len as f64 * libm::log(*variance) + log_root;
        }
    }
}

/// Kernels of `change`.0 s + `change`.1 u u' for s in the triangle of a matrix below its diagonal, scaled.
fn fill_triangle(change: (f64, f64), matrix: &[f64], column: &[f64], scales: &[f64], into: &mut [f64]) {
    widest!(
        WIDE,
        (change: (f64, f64), matrix: &[f64], column: &[f64], scales: &[f64], into: &mut [f64]),
        {
            let len = column.len();
            let rows = matrix.chunks_exact(len).zip(into.chunks_exact_mut(len));
            for (i, (known, row)) in rows.enumerate() {
                let (slope, scale) = (change.1 * column[i], scales[i]);
                let known = known.iter().zip(&column[..i]).zip(&scales[..i]);
                for (k, ((s, u), scale_j)) in row.iter_mut().zip(known) {
                    *k = kernel(change.0 * s + slope * u) * (scale * scale_j);
                }
            }
        }
    );
}
