//! A Gaussian process around a known point, for several functions that were evaluated together.
//!
//! Kernel k(z, z') = b1 s + b2 s²/2 + s³/6 + s⁴/24 with s = Σ z_i z'_i / ℓ_i², where z is the difference from the
//! centre. It describes functions that are zero at the centre and mostly linear, then quadratic; the cubic and
//! quartic terms absorb deviations far from the centre. The same formula serves few points (the smallest model
//! through them) and many. The functions share the kernel matrix, so one factor serves the objective and all
//! constraints; each function has its own scale.

mod fit;

use crate::linalg::buffer::Buffer;
use crate::linalg::long_dot as dot;
use crate::linalg::{cholesky, widest};
use fit::{Products, Trial};

/// Weight of the linear part against the cubic one.
const LINEAR: f64 = 300.0;
/// Weight of the quadratic part.
const QUADRATIC: f64 = 30.0;
/// Ratio of neighbouring lengths that a fit tries.
const LENGTH_STEP: f64 = 1.5;
/// From this many points on, a sample is large.
const LARGE: usize = 40;
/// Lengths stay within these, in units of the box.
const LENGTH_RANGE: (f64, f64) = (0.02, 3.0);
/// Points that are processed together.
const LANES: usize = 16;

/// One number for each point of a group.
type Lanes = [f64; LANES];

/// Points around a centre, with the functions' differences from their values there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// Differences from the centre, `dim` for each point.
    pub(crate) points: Buffer,
    /// Differences of the values, one function after another: `outputs` rows of one value per point.
    pub(crate) values: Vec<f64>,
    /// Number of points.
    pub(crate) len: usize,
    /// Variance of the noise, as a share of the variance of the functions; 0 if the values are exact. With noise, the
    /// functions are not zero at the centre.
    pub(crate) noise: f64,
}

/// The fitted model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surrogate {
    dim: usize,
    len: usize,
    outputs: usize,
    lengths: Vec<f64>,
    /// Points divided by the lengths, in groups of `dim` lanes; zero if there is no point.
    points: Vec<Lanes>,
    /// Coefficients of the kernels at the points, in groups of `outputs` lanes.
    coefficients: Vec<Lanes>,
    /// Inverse square roots of the kernel's diagonal.
    scales: Vec<f64>,
    /// Cholesky factor of the kernel matrix with unit diagonal; more numbers may follow it.
    factor: Buffer,
    /// For each function, the square of its scale.
    variances: Vec<f64>,
    /// For each function, its value at the centre; empty if the values are exact, because it is then zero.
    offsets: Vec<f64>,
}

/// Kernel as a function of s.
#[inline(always)]
fn kernel(s: f64) -> f64 {
    s * (LINEAR + s * (QUADRATIC / 2.0 + s * (1.0 / 6.0 + s * (1.0 / 24.0))))
}

/// Its first derivative.
#[inline(always)]
fn kernel_slope(s: f64) -> f64 {
    LINEAR + s * (QUADRATIC + s * (0.5 + s * (1.0 / 6.0)))
}

/// Its second derivative.
#[inline(always)]
fn kernel_curvature(s: f64) -> f64 {
    QUADRATIC + s * (1.0 + s * 0.5)
}

impl Surrogate {
    /// Fits with the current lengths, or with neighbouring ones that explain the sample better: all of them longer or
    /// shorter, or one of them, in turn according to `tick`. Large samples, whose fits are expensive and whose
    /// lengths are known by then, try one change at a time; so do `seasoned` lengths.
    pub(crate) fn fit(
        sample: &Sample,
        outputs: usize,
        lengths: &mut Vec<f64>,
        tick: usize,
        seasoned: bool,
    ) -> Surrogate {
        let dim = lengths.len();
        let products = Products::new(sample, lengths);
        let mut best = Trial::default();
        best.run(sample, outputs, &products, lengths);
        let changes =
            [(true, LENGTH_STEP), (true, 1.0 / LENGTH_STEP), (false, LENGTH_STEP), (false, 1.0 / LENGTH_STEP)];
        let large = seasoned || sample.len > LARGE;
        let one = if large { tick / changes.len() } else { tick } % dim;
        let (mut trial, mut tried) = (Trial::default(), lengths.clone());
        for (k, (all, factor)) in changes.into_iter().enumerate() {
            if sample.len < dim || large && k != tick % changes.len() {
                continue;
            }
            tried.copy_from_slice(lengths);
            let changed = if all { &mut tried[..] } else { &mut tried[one..=one] };
            changed.iter_mut().for_each(|l| *l = (*l * factor).clamp(LENGTH_RANGE.0, LENGTH_RANGE.1));
            if tried != *lengths {
                trial.run(sample, outputs, &products, &tried);
                if trial.likelihood > best.likelihood {
                    std::mem::swap(&mut best, &mut trial);
                }
            }
        }
        lengths.clone_from(&best.lengths);
        Surrogate::of_trial(sample, outputs, best)
    }

    /// Fits with given lengths.
    pub(crate) fn with_lengths(sample: &Sample, outputs: usize, lengths: &[f64]) -> Surrogate {
        let mut trial = Trial::default();
        trial.run(sample, outputs, &Products::new(sample, lengths), lengths);
        Surrogate::of_trial(sample, outputs, trial)
    }

    /// The model with the lengths of a trial.
    fn of_trial(sample: &Sample, outputs: usize, trial: Trial) -> Surrogate {
        let (dim, len) = (trial.lengths.len(), sample.len);
        let groups = len.div_ceil(LANES);
        let mut points = vec![[0.0; LANES]; groups * dim];
        for (p, point) in sample.points.chunks_exact(dim).enumerate() {
            let group = &mut points[p / LANES * dim..];
            for (lanes, (z, l)) in group.iter_mut().zip(point.iter().zip(&trial.lengths)) {
                lanes[p % LANES] = z / l;
            }
        }
        let Trial { lengths, scales, rows: factor, variances, likelihood, .. } = trial;
        let mut coefficients = vec![[0.0; LANES]; groups * outputs];
        if likelihood > f64::NEG_INFINITY {
            let mut v = vec![0.0; len];
            for (o, row) in factor[len * len..].chunks_exact(len).enumerate() {
                v.copy_from_slice(row);
                cholesky::backward(len, &factor, &mut v);
                for (p, (v, scale)) in v.iter().zip(&scales).enumerate() {
                    coefficients[p / LANES * outputs + o][p % LANES] = v * scale;
                }
            }
        }
        let offset = |o: usize| {
            let weights = coefficients.chunks_exact(outputs).map(|group| group[o].iter().sum::<f64>());
            fit::OFFSET * weights.sum::<f64>()
        };
        let offsets = if sample.noise > 0.0 { (0..outputs).map(offset).collect() } else { Vec::new() };
        Surrogate { dim, len, outputs, lengths, points, coefficients, scales, factor, variances, offsets }
    }

    /// The functions' values at the centre, if the sample is noisy.
    pub(crate) fn offsets(&self) -> &[f64] {
        &self.offsets
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

    /// The groups of points, each with s at `z` and its coefficients.
    #[inline(always)]
    fn groups<'a>(&'a self, z: &'a [f64]) -> impl Iterator<Item = (&'a [Lanes], Lanes, &'a [Lanes])> {
        let groups = self.points.chunks_exact(self.dim).zip(self.coefficients.chunks_exact(self.outputs));
        groups.map(move |(points, coefficients)| {
            let mut s = [0.0; LANES];
            for ((lanes, z), l) in points.iter().zip(z).zip(&self.lengths).filter(|((_, z), _)| **z != 0.0) {
                let factor = z / l;
                s.iter_mut().zip(lanes).for_each(|(s, v)| *s += factor * v);
            }
            (points, s, coefficients)
        })
    }

    /// The predicted differences of all functions from their values at the centre, at `z`.
    pub(crate) fn values(&self, z: &[f64], into: &mut [f64]) {
        let model = self;
        widest!(WIDE, (model: &Surrogate, z: &[f64], into: &mut [f64]), model.find_values(z, into));
    }

    #[inline(always)]
    fn find_values(&self, z: &[f64], into: &mut [f64]) {
        into.fill(0.0);
        for (_, s, coefficients) in self.groups(z) {
            let k = of_each(s, kernel);
            into.iter_mut().zip(coefficients).for_each(|(into, c)| *into += dot(c, &k));
        }
    }

    /// Predicted gradients in the variables from `from` on, one function after another.
    pub(crate) fn gradients(&self, z: &[f64], from: usize, into: &mut [f64]) {
        let model = self;
        widest!(WIDE, (model: &Surrogate, z: &[f64], from: usize, into: &mut [f64]), model.find_gradients(z, from, into));
    }

    #[inline(always)]
    fn find_gradients(&self, z: &[f64], from: usize, into: &mut [f64]) {
        let n = self.dim - from;
        into.fill(0.0);
        for (points, s, coefficients) in self.groups(z) {
            let k = of_each(s, kernel_slope);
            for (into, c) in into.chunks_exact_mut(n).zip(coefficients) {
                let weights = times(c, &k);
                into.iter_mut().zip(&points[from..]).for_each(|(g, lanes)| *g += dot(lanes, &weights));
            }
        }
        for into in into.chunks_exact_mut(n) {
            into.iter_mut().zip(&self.lengths[from..]).for_each(|(g, l)| *g /= l);
        }
    }

    /// Predicted Hessian of Σ weight_o · function_o by the variables from `from` on.
    pub(crate) fn hessian(&self, z: &[f64], from: usize, weights: &[f64], into: &mut [f64]) {
        let model = self;
        widest!(
            WIDE,
            (model: &Surrogate, z: &[f64], from: usize, weights: &[f64], into: &mut [f64]),
            model.find_hessian(z, from, weights, into)
        );
    }

    #[inline(always)]
    fn find_hessian(&self, z: &[f64], from: usize, weights: &[f64], into: &mut [f64]) {
        let n = self.dim - from;
        into.fill(0.0);
        for (points, s, coefficients) in self.groups(z) {
            let mut k = [0.0; LANES];
            for (c, w) in coefficients.iter().zip(weights) {
                k.iter_mut().zip(c).for_each(|(k, c)| *k += w * c);
            }
            let k = times(&k, &of_each(s, kernel_curvature));
            let points = &points[from..];
            for (i, (row, point)) in into.chunks_exact_mut(n).zip(points).enumerate() {
                let weighted = times(&k, point);
                row[..=i].iter_mut().zip(points).for_each(|(h, lanes)| *h += dot(lanes, &weighted));
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
        let mut columns = Buffer::of_anything(n * self.len);
        for (i, column) in columns.chunks_exact_mut(self.len.max(1)).enumerate() {
            let unit = LINEAR / self.lengths[from + i];
            for (p, (c, scale)) in column.iter_mut().zip(&self.scales).enumerate() {
                *c = unit * scale * self.points[p / LANES * self.dim + from + i][p % LANES];
            }
        }
        cholesky::forward_rows(self.len, &self.factor, &mut columns);
        let column = |i: usize| &columns[i * self.len..(i + 1) * self.len];
        let mut covariance = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let value = -dot(column(i), column(j));
                (covariance[i * n + j], covariance[j * n + i]) = (value, value);
            }
            let length = self.lengths[from + i];
            covariance[i * n + i] = (covariance[i * n + i] + LINEAR / (length * length)).max(0.0);
        }
        covariance
    }
}

/// Applies a function to each number.
#[inline(always)]
fn of_each(mut s: Lanes, function: impl Fn(f64) -> f64) -> Lanes {
    s.iter_mut().for_each(|s| *s = function(*s));
    s
}

/// a_i b_i
#[inline(always)]
fn times(a: &Lanes, b: &Lanes) -> Lanes {
    let mut product = *a;
    product.iter_mut().zip(b).for_each(|(a, b)| *a *= b);
    product
}

#[cfg(test)]
mod tests;
