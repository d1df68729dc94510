//! The one CMA-ES kernel of both levels.
//!
//! | symbol | field | meaning |
//! |---|---|---|
//! | m | `mean` | centre of the distribution |
//! | sigma | `step_size` | its overall size |
//! | C | `cov` | its shape, n * n |
//! | p_c, p_s | `path_cov`, `path_step` | evolution paths |
//! | B', D | `axes`, `scales` | rows of unit axes of C and the roots of its eigenvalues |
//! Equation numbers are those of Hansen's tutorial (arXiv:1604.00772, appendix A). Deviations: no negative weights;
//! no h_sigma test in eq. 45 and 47; sigma changes by at most a factor of e per generation; steps are shortened to
//! [`CmaParams::longest_step`]; a sampled coordinate outside its box becomes the midpoint of the mean and the
//! violated bound; whole numbers keep a margin; the weights (see [`CmaParams`]). After every update, C is symmetric
//! and positive definite, with a condition number of at most 1e14. Cost: O(n^3) per generation.

mod margin;
mod params;

pub use params::CmaParams;

use crate::linalg::{add_scaled, dot, for_known_size, symmetric_eigen};
use crate::rng::Stream;
use crate::space::Space;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Largest factor by which the step size is folded into C.
const MAX_FOLD: f64 = 1e100;
/// Largest condition number of C.
const MAX_CONDITION: f64 = 1e14;

/// A search distribution and its memory. The axes are saved too, because they cannot be rebuilt to the last bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cma {
    /// Centre.
    pub mean: Vec<f64>,
    /// Overall step size.
    pub step_size: f64,
    /// Covariance matrix, row-major.
    pub cov: Vec<f64>,
    /// Path of the covariance.
    pub path_cov: Vec<f64>,
    /// Path of the step size.
    pub path_step: Vec<f64>,
    axes: Vec<f64>,
    scales: Vec<f64>,
}

/// Buffers of one update, shared by all distributions of the same size.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    steps: Vec<f64>,
    step: Vec<f64>,
    matrix: Vec<f64>,
    vector: Vec<f64>,
}

impl Scratch {
    fn fit(&mut self, dim: usize) {
        self.step.resize(dim, 0.0);
        self.vector.resize(dim, 0.0);
        self.matrix.resize(dim * dim, 0.0);
    }
}

impl Cma {
    /// A round distribution.
    pub fn round(mean: Vec<f64>, step_size: f64) -> Self {
        let n = mean.len();
        let mut identity = vec![0.0; n * n];
        (0..n).for_each(|i| identity[i * n + i] = 1.0);
        Cma {
            mean,
            step_size,
            axes: identity.clone(),
            cov: identity,
            path_cov: vec![0.0; n],
            path_step: vec![0.0; n],
            scales: vec![1.0; n],
        }
    }

    /// A distribution along the axes, with its own deviation for each coordinate.
    pub fn along_axes(mean: Vec<f64>, deviations: &[f64]) -> Self {
        let n = mean.len();
        let mut cma = Cma::round(mean, 1.0);
        deviations.iter().enumerate().for_each(|(i, deviation)| cma.cov[i * n + i] = deviation * deviation);
        cma.scales.copy_from_slice(deviations);
        cma
    }

    /// Ratio of the longest to the shortest axis.
    pub fn axis_ratio(&self) -> f64 {
        let (low, high) = extremes(&self.scales);
        high / low
    }

    /// Draws one point of `space` into `point`: x = m + sigma B D z with z ~ N(0, I) (eq. 38-40).
    pub fn sample(&self, stream: &mut Stream, space: &Space, point: &mut [f64]) {
        let n = self.mean.len();
        for_known_size!(n, self.sample_in(n, stream, space, &mut point[..n]));
    }

    /// Draws one point without regard to the box.
    pub(crate) fn draw(&self, stream: &mut Stream, point: &mut [f64]) {
        point.copy_from_slice(&self.mean);
        for (axis, scale) in self.axes.chunks_exact(self.mean.len()).zip(&self.scales) {
            add_scaled(point, self.step_size * scale * stream.normal(), axis);
        }
    }

    /// Length of the longest axis.
    pub(crate) fn reach(&self) -> f64 {
        self.step_size * extremes(&self.scales).1
    }

    #[inline(always)]
    fn sample_in(&self, n: usize, stream: &mut Stream, space: &Space, point: &mut [f64]) {
        let mean = &self.mean[..n];
        point.copy_from_slice(mean);
        for (axis, scale) in self.axes[..n * n].chunks_exact(n).zip(&self.scales[..n]) {
            add_scaled(point, self.step_size * scale * stream.normal(), axis);
        }
        space.repair(point, mean);
    }

    /// Moves the distribution towards `parents`, best first; at most mu of them are used. Without parents, nothing
    /// happens.
    pub fn update<'a>(&mut self, params: &CmaParams, parents: impl Iterator<Item = &'a [f64]>, scratch: &mut Scratch) {
        if self.take(params, parents, scratch) {
            self.decompose(scratch);
        }
    }

    /// The same if some variables are whole numbers: those keep a margin.
    pub fn update_within<'a>(
        &mut self,
        space: &Space,
        params: &CmaParams,
        parents: impl Iterator<Item = &'a [f64]>,
        scratch: &mut Scratch,
    ) {
        if self.take(params, parents, scratch) {
            if space.has_whole() {
                self.keep_margin(space, 1.0 / (params.dim * params.population) as f64);
            }
            self.decompose(scratch);
        }
    }

    /// Learns from the parents, if there are any; axes and scales stay as they are.
    fn take<'a>(
        &mut self,
        params: &CmaParams,
        parents: impl Iterator<Item = &'a [f64]>,
        scratch: &mut Scratch,
    ) -> bool {
        scratch.fit(params.dim);
        scratch.steps.clear();
        parents.take(params.weights.len()).for_each(|parent| scratch.steps.extend_from_slice(parent));
        let any = !scratch.steps.is_empty();
        if any {
            self.learn(params, scratch);
        }
        any
    }

    /// Moves mean, paths, covariance and step size towards the parents in `scratch.steps`.
    fn learn(&mut self, params: &CmaParams, scratch: &mut Scratch) {
        let n = params.dim;
        for_known_size!(n, self.learn_in(n, params, scratch));
    }

    #[inline(always)]
    fn learn_in(&mut self, n: usize, params: &CmaParams, scratch: &mut Scratch) {
        let (mean_step, steps) = (&mut scratch.step[..n], &mut scratch.steps);
        self.to_steps(n, params, steps);
        let (weights, effective) = params.for_parents(steps.len() / n);
        // <y>_w = sum w_i y_i (eq. 41), m <- m + sigma <y>_w (eq. 42 with c_m = 1)
        mean_step.fill(0.0);
        weights.zip(steps.chunks_exact(n)).for_each(|(w, step)| add_scaled(mean_step, w, step));
        add_scaled(&mut self.mean[..n], self.step_size, mean_step);

        // p_s <- (1 - c_s) p_s + sqrt(c_s (2 - c_s) mu_eff) C^(-1/2) <y>_w (eq. 43)
        let (c_s, c_c) = (params.path_step_rate, params.path_cov_rate);
        let path_step = &mut self.path_step[..n];
        path_step.iter_mut().for_each(|p| *p *= 1.0 - c_s);
        let gain = (c_s * (2.0 - c_s) * effective).sqrt();
        for (axis, scale) in self.axes[..n * n].chunks_exact(n).zip(&self.scales[..n]) {
            add_scaled(path_step, gain * dot(axis, mean_step) / scale, axis);
        }
        let length = dot(path_step, path_step).sqrt();
        // p_c <- (1 - c_c) p_c + sqrt(c_c (2 - c_c) mu_eff) <y>_w (eq. 45)
        let path_cov = &mut self.path_cov[..n];
        path_cov.iter_mut().for_each(|p| *p *= 1.0 - c_c);
        add_scaled(path_cov, (c_c * (2.0 - c_c) * effective).sqrt(), mean_step);

        self.update_cov(n, params, steps);
        // sigma <- sigma exp(c_s / d_s (|p_s| / chi - 1)) (eq. 44)
        self.step_size *= libm::exp((c_s / params.damping * (length / params.expected_length - 1.0)).min(1.0));
    }

    /// Turns each parent into (parent - mean) / sigma, shortened if need be.
    #[inline(always)]
    fn to_steps(&self, n: usize, params: &CmaParams, parents: &mut [f64]) {
        let (mean, axes, scales) = (&self.mean[..n], &self.axes[..n * n], &self.scales[..n]);
        for step in parents.chunks_exact_mut(n) {
            step.iter_mut().zip(mean).for_each(|(s, m)| *s = (*s - m) / self.step_size);
            let whitened = axes.chunks_exact(n).zip(scales).map(|(axis, scale)| dot(axis, step) / scale);
            let length = whitened.map(|v| v * v).sum::<f64>().sqrt();
            if length > params.longest_step {
                step.iter_mut().for_each(|s| *s *= params.longest_step / length);
            }
        }
    }

    /// C <- (1 - c_1 - c_mu) C + c_1 p_c p_c' + c_mu sum w_i y_i y_i' (eq. 47)
    #[inline(always)]
    fn update_cov(&mut self, n: usize, params: &CmaParams, steps: &[f64]) {
        let (cov, path_cov) = (&mut self.cov[..n * n], &self.path_cov[..n]);
        let keep = 1.0 - params.rank_one - params.rank_mu;
        cov.iter_mut().for_each(|c| *c *= keep);
        add_outer(n, cov, params.rank_one, path_cov);
        let (weights, _) = params.for_parents(steps.len() / n);
        weights.zip(steps.chunks_exact(n)).for_each(|(w, step)| add_outer(n, cov, w * params.rank_mu, step));
    }

    /// Replaces C by a mixture of shapes and the mean by a mixture of means; `mixture` yields
    /// weights that sum to 1.
    pub(crate) fn blend<'a>(&mut self, mixture: impl Iterator<Item = (f64, &'a Cma)> + Clone, scratch: &mut Scratch) {
        scratch.fit(self.mean.len());
        scratch.matrix.fill(0.0);
        scratch.vector.fill(0.0);
        for (weight, cma) in mixture {
            add_scaled(&mut scratch.matrix, weight, &cma.cov);
            add_scaled(&mut scratch.vector, weight, &cma.mean);
        }
        self.cov.copy_from_slice(&scratch.matrix);
        self.mean.copy_from_slice(&scratch.vector);
        self.decompose(scratch);
    }

    /// Updates the axes and scales of C; keeps its condition number and the step size within the range of f64.
    fn decompose(&mut self, scratch: &mut Scratch) {
        let n = self.mean.len();
        scratch.matrix.copy_from_slice(&self.cov);
        let done = symmetric_eigen(n, &mut scratch.matrix, &mut self.axes, &mut self.scales, &mut scratch.vector);
        if !done || self.scales.iter().all(|&v| v <= 0.0) || !self.step_size.is_finite() || self.step_size == 0.0 {
            // Numbers overflowed or vanished: continue with a round distribution, at the old size if that is usable.
            let step_size = if self.step_size.is_finite() { self.step_size.max(f64::MIN_POSITIVE) } else { 1.0 };
            *self = Cma::round(std::mem::take(&mut self.mean), step_size);
            return;
        }
        let (low, high) = extremes(&self.scales);
        if low * MAX_CONDITION < high {
            let lift = high / MAX_CONDITION - low;
            self.scales.iter_mut().for_each(|v| *v += lift);
            (0..n).for_each(|i| self.cov[i * n + i] += lift);
        }
        self.scales.iter_mut().for_each(|v| *v = v.sqrt());
        let (_, longest) = extremes(&self.scales);
        let factor = self.step_size / longest;
        // Beyond this limit the squares would leave f64; there, the step size may stay as it is.
        if (1e7..MAX_FOLD).contains(&factor) {
            self.cov.iter_mut().for_each(|c| *c *= factor * factor);
            self.path_cov.iter_mut().for_each(|p| *p *= factor);
            self.scales.iter_mut().for_each(|s| *s *= factor);
            self.step_size = longest;
        }
    }

    /// Replaces centre and shape, keeping step size and paths.
    pub(crate) fn reshape(&mut self, mean: &[f64], cov: &[f64], scratch: &mut Scratch) {
        scratch.fit(self.mean.len());
        self.mean.copy_from_slice(mean);
        self.cov.copy_from_slice(cov);
        self.decompose(scratch);
    }

    /// The distribution of a range of coordinates alone, with a fresh step-size path.
    pub fn marginal(&self, range: Range<usize>, scratch: &mut Scratch) -> Cma {
        let n = self.mean.len();
        let mut block = Cma::round(self.mean[range.clone()].to_vec(), self.step_size);
        let rows = self.cov.chunks_exact(n).skip(range.start).take(range.len());
        block.cov = rows.flat_map(|row| row[range.clone()].iter().copied()).collect();
        block.path_cov.copy_from_slice(&self.path_cov[range]);
        scratch.fit(block.mean.len());
        block.decompose(scratch);
        block
    }

    /// Mahalanobis distance of two points, in steps.
    pub fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let along = |axis: &[f64]| axis.iter().zip(a.iter().zip(b)).map(|(axis, (a, b))| axis * (a - b)).sum::<f64>();
        let parts = self.axes.chunks_exact(self.mean.len()).zip(&self.scales);
        parts.map(|(axis, scale)| along(axis) / (scale * self.step_size)).map(|d| d * d).sum::<f64>().sqrt()
    }
}

/// `matrix += weight * v v'`
#[inline(always)]
fn add_outer(n: usize, matrix: &mut [f64], weight: f64, v: &[f64]) {
    for (row, &c) in matrix.chunks_exact_mut(n).zip(v) {
        add_scaled(row, weight * c, v);
    }
}

/// Smallest and largest number.
fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}
