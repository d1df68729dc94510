//! Quadratic functions and the smallest one through given points.
//!
//! [`smallest`] finds, for several functions evaluated at the same points, the quadratic
//! c + g'z + z'Hz/2 that balances closeness to the values against size: c² + |g|² weigh 1/a,
//! H_ii² ½ and H_ij² 1, and a point at distance d may be missed by a variance that grows as d⁶, so
//! near points count and far ones guide. That is regression with the kernel
//! a (1 + z'z̃) + (z'z̃)²/2, solved in whichever form is smaller: a system of as many unknowns as
//! there are points (works from a handful of them, no p³ anywhere), or as there are coefficients.

use crate::linalg::cholesky;
use crate::linalg::tiles::gram;
use crate::linalg::{add_scaled, long_dot as dot};
use serde::{Deserialize, Serialize};

/// Weight a of constant and gradient against curvature.
const LINEAR: f64 = 100.0;
/// Variance of the values in units of the kernel at the median distance, and its least share.
const NOISE: (f64, f64) = (1e-4, 1e-3);
/// Smallest ridge of the systems, relative.
const RIDGE: f64 = 1e-14;

/// c + g'z + z'Hz/2; an empty H means a linear function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quadratic {
    pub(crate) constant: f64,
    pub(crate) gradient: Vec<f64>,
    /// Row-major.
    pub(crate) hessian: Vec<f64>,
}

impl Quadratic {
    /// Its value at `z`.
    pub(crate) fn value(&self, z: &[f64]) -> f64 {
        let n = z.len();
        let mut value = self.constant + dot(&self.gradient, z);
        for (row, z_i) in self.hessian.chunks_exact(n.max(1)).zip(z) {
            value += 0.5 * z_i * dot(row, z);
        }
        value
    }

    /// Writes its gradient at `z`.
    pub(crate) fn gradient_at(&self, z: &[f64], into: &mut [f64]) {
        into.copy_from_slice(&self.gradient);
        for (into, row) in into.iter_mut().zip(self.hessian.chunks_exact(z.len().max(1))) {
            *into += dot(row, z);
        }
    }

    /// Adds another quadratic of the same size.
    pub(crate) fn add(&mut self, other: &Quadratic) {
        self.constant += other.constant;
        add_scaled(&mut self.gradient, 1.0, &other.gradient);
        add_scaled(&mut self.hessian, 1.0, &other.hessian);
    }

    /// Whether all its numbers are usable.
    pub(crate) fn is_finite(&self) -> bool {
        self.constant.is_finite() && self.gradient.iter().chain(&self.hessian).all(|v| v.is_finite())
    }

    /// The same function of new coordinates t, where z = `origin` + `matrix` t.
    pub(crate) fn substituted(&self, origin: &[f64], matrix: &[f64]) -> Quadratic {
        let d = origin.len();
        let mut slope = vec![0.0; d];
        self.gradient_at(origin, &mut slope);
        let mut gradient = vec![0.0; d];
        let mut half = vec![0.0; d * d];
        for (i, row) in matrix.chunks_exact(d).enumerate() {
            add_scaled(&mut gradient, slope[i], row);
            for k in 0..d {
                add_scaled(&mut half[k * d..(k + 1) * d], self.hessian[k * d + i], row);
            }
        }
        let mut hessian = vec![0.0; d * d];
        for (i, row) in matrix.chunks_exact(d).enumerate() {
            for (k, &factor) in row.iter().enumerate() {
                add_scaled(&mut hessian[k * d..(k + 1) * d], factor, &half[i * d..(i + 1) * d]);
            }
        }
        Quadratic { constant: self.value(origin), gradient, hessian }
    }

    /// As a function of the step from `z` in the coordinates from `from` on.
    pub(crate) fn seen_from(&self, z: &[f64], from: usize) -> Quadratic {
        let d = z.len();
        let mut gradient = vec![0.0; d];
        self.gradient_at(z, &mut gradient);
        let rows = self.hessian.chunks_exact(d).skip(from);
        Quadratic {
            constant: self.value(z),
            gradient: gradient.split_off(from),
            hessian: rows.flat_map(|row| &row[from..]).copied().collect(),
        }
    }
}

/// Values of several functions at points around the origin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// `dim` coordinates for each point.
    pub(crate) points: Vec<f64>,
    /// `outputs` values for each point.
    pub(crate) values: Vec<f64>,
    /// How much each point counts beyond what its distance says; 1 is usual.
    pub(crate) weights: Vec<f64>,
}

impl Sample {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.values.clear();
        self.weights.clear();
    }

    /// Number of points.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Variances of the values, growing with the distance.
    fn noise(&self, dim: usize) -> Vec<f64> {
        let squares: Vec<f64> = self.points.chunks_exact(dim).map(|z| dot(z, z)).collect();
        let median = median(&mut squares.clone()).max(1e-300);
        let typical = LINEAR * (1.0 + median) + 0.5 * median * median;
        let variance = |(square, weight): (&f64, &f64)| {
            let relative = square / median;
            typical * NOISE.0 * (NOISE.1 + relative * relative * relative) / weight
        };
        squares.iter().zip(&self.weights).map(variance).collect()
    }
}

/// The middle one of some numbers, which are reordered; 0 of none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// The smallest quadratics near the values, one for each function; none if the arithmetic breaks down.
pub(crate) fn smallest(dim: usize, outputs: usize, sample: &Sample) -> Option<Vec<Quadratic>> {
    let coefficients = 1 + dim + dim * (dim + 1) / 2;
    let quadratics = if sample.len() > coefficients {
        by_coefficients(dim, outputs, sample, coefficients)?
    } else {
        by_points(dim, outputs, sample)?
    };
    quadratics.iter().all(Quadratic::is_finite).then_some(quadratics)
}

/// One unknown for each point: (K + N) α = values.
fn by_points(dim: usize, outputs: usize, sample: &Sample) -> Option<Vec<Quadratic>> {
    let n = sample.len();
    let point = |i: usize| &sample.points[i * dim..(i + 1) * dim];
    let mut kernel = gram(&sample.points, dim);
    kernel.iter_mut().for_each(|k| *k = LINEAR * (1.0 + *k) + 0.5 * *k * *k);
    sample.noise(dim).iter().enumerate().for_each(|(i, noise)| kernel[i * n + i] += noise);
    let mut factor = Vec::new();
    if !cholesky::factor_with_ridge(n, &kernel, RIDGE, &mut factor) {
        return None;
    }
    let fit = |output: usize| {
        let mut alpha: Vec<f64> = sample.values.iter().skip(output).step_by(outputs).copied().collect();
        cholesky::solve(n, &factor, &mut alpha);
        let mut quadratic = Quadratic {
            constant: LINEAR * alpha.iter().sum::<f64>(),
            gradient: vec![0.0; dim],
            hessian: vec![0.0; dim * dim],
        };
        for (i, &alpha) in alpha.iter().enumerate() {
            add_scaled(&mut quadratic.gradient, LINEAR * alpha, point(i));
            for (row, z) in quadratic.hessian.chunks_exact_mut(dim).zip(point(i)) {
                add_scaled(row, alpha * z, point(i));
            }
        }
        quadratic
    };
    Some((0..outputs).map(fit).collect())
}

/// One unknown for each coefficient: (Φ'N⁻¹Φ + V⁻¹) β = Φ'N⁻¹ values, in columns of unit length.
fn by_coefficients(dim: usize, outputs: usize, sample: &Sample, p: usize) -> Option<Vec<Quadratic>> {
    let mut matrix = vec![0.0; p * p];
    let mut right = vec![0.0; outputs * p];
    let mut features = vec![0.0; p];
    for (i, noise) in sample.noise(dim).iter().enumerate() {
        write_features(&sample.points[i * dim..(i + 1) * dim], &mut features);
        for (r, row) in matrix.chunks_exact_mut(p).enumerate() {
            add_scaled(&mut row[..=r], features[r] / noise, &features[..=r]);
        }
        for (value, right) in sample.values[i * outputs..(i + 1) * outputs].iter().zip(right.chunks_exact_mut(p)) {
            add_scaled(right, value / noise, &features);
        }
    }
    // Variances: a for constant and gradient, then 2 and 1 for diagonal and other curvatures.
    let mut row = 1 + dim;
    (0..row).for_each(|i| matrix[i * p + i] += 1.0 / LINEAR);
    for i in 0..dim {
        for j in 0..=i {
            matrix[row * p + row] += if i == j { 0.5 } else { 1.0 };
            row += 1;
        }
    }
    let scale: Vec<f64> = (0..p).map(|i| matrix[i * p + i].sqrt()).collect();
    for (row, scale_r) in matrix.chunks_exact_mut(p).zip(&scale) {
        row.iter_mut().zip(&scale).for_each(|(v, scale_c)| *v /= scale_r * scale_c);
    }
    let mut factor = Vec::new();
    if !cholesky::factor_with_ridge(p, &matrix, RIDGE, &mut factor) {
        return None;
    }
    let fit = |beta: &mut [f64]| {
        beta.iter_mut().zip(&scale).for_each(|(b, s)| *b /= s);
        cholesky::solve(p, &factor, beta);
        beta.iter_mut().zip(&scale).for_each(|(b, s)| *b /= s);
        let mut hessian = vec![0.0; dim * dim];
        let mut rest = beta[1 + dim..].iter();
        for i in 0..dim {
            for (j, &curvature) in (0..=i).zip(rest.by_ref()) {
                (hessian[i * dim + j], hessian[j * dim + i]) = (curvature, curvature);
            }
        }
        Quadratic { constant: beta[0], gradient: beta[1..=dim].to_vec(), hessian }
    };
    Some(right.chunks_exact_mut(p).map(fit).collect())
}

/// 1, z, and the factors of the curvatures: z_i²/2 and z_i z_j.
fn write_features(z: &[f64], into: &mut [f64]) {
    let (linear, curved) = into.split_at_mut(1 + z.len());
    linear[0] = 1.0;
    linear[1..].copy_from_slice(z);
    let mut curved = curved.iter_mut();
    for (i, a) in z.iter().enumerate() {
        for (j, b) in z[..=i].iter().enumerate() {
            if let Some(into) = curved.next() {
                *into = if i == j { 0.5 * a * b } else { a * b };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream, Streams};

    fn stream(seed: u64) -> Stream {
        Streams::new(seed).open(Purpose::Start, 0, 0)
    }

    fn random_quadratic(dim: usize, stream: &mut Stream) -> Quadratic {
        let mut hessian = vec![0.0; dim * dim];
        for i in 0..dim {
            for j in 0..=i {
                let v = stream.normal();
                (hessian[i * dim + j], hessian[j * dim + i]) = (v, v);
            }
        }
        Quadratic { constant: stream.normal(), gradient: (0..dim).map(|_| stream.normal()).collect(), hessian }
    }

    fn sample_of(functions: &[Quadratic], dim: usize, count: usize, stream: &mut Stream) -> Sample {
        let mut sample = Sample::default();
        for _ in 0..count {
            let z: Vec<f64> = (0..dim).map(|_| stream.normal()).collect();
            sample.values.extend(functions.iter().map(|f| f.value(&z)));
            sample.points.extend(z);
            sample.weights.push(1.0);
        }
        sample
    }

    fn close(a: &Quadratic, b: &Quadratic, tolerance: f64) -> bool {
        let all =
            |q: &Quadratic| -> Vec<f64> { q.gradient.iter().chain(&q.hessian).copied().chain([q.constant]).collect() };
        all(a).iter().zip(all(b)).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + b.abs()))
    }

    #[test]
    fn both_forms_are_one_regression() {
        for (dim, count) in [(2, 4), (3, 10), (3, 25), (5, 40)] {
            let mut stream = stream(count as u64);
            let functions = [random_quadratic(dim, &mut stream), random_quadratic(dim, &mut stream)];
            let mut sample = sample_of(&functions, dim, count, &mut stream);
            sample.values.iter_mut().for_each(|v| *v += 0.1 * stream.normal());
            sample.weights[0] = 0.1;
            let p = 1 + dim + dim * (dim + 1) / 2;
            let points = by_points(dim, 2, &sample).unwrap();
            let coefficients = by_coefficients(dim, 2, &sample, p).unwrap();
            for (a, b) in points.iter().zip(&coefficients) {
                assert!(close(a, b, 1e-6), "{dim} {count}: {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn enough_points_of_a_quadratic_give_it_back() {
        let mut stream = stream(7);
        let function = random_quadratic(4, &mut stream);
        let sample = sample_of(std::slice::from_ref(&function), 4, 60, &mut stream);
        let fitted = smallest(4, 1, &sample).unwrap();
        assert!(close(&fitted[0], &function, 5e-3), "{fitted:?} {function:?}");
    }

    #[test]
    fn a_few_points_of_a_line_give_a_line() {
        let mut stream = stream(8);
        let line = Quadratic { constant: 1.0, gradient: vec![2.0, -3.0, 0.5, 0.0, 1.0], hessian: vec![0.0; 25] };
        let sample = sample_of(std::slice::from_ref(&line), 5, 11, &mut stream);
        let fitted = smallest(5, 1, &sample).unwrap();
        assert!(fitted[0].gradient.iter().zip(&line.gradient).all(|(a, b)| (a - b).abs() < 0.1), "{fitted:?}");
        assert!(fitted[0].hessian.iter().all(|h| h.abs() < 0.1));
    }

    #[test]
    fn substitution_and_restriction_keep_values() {
        let mut stream = stream(9);
        let function = random_quadratic(4, &mut stream);
        let origin: Vec<f64> = (0..4).map(|_| stream.normal()).collect();
        let matrix: Vec<f64> = (0..16).map(|_| stream.normal()).collect();
        let t: Vec<f64> = (0..4).map(|_| stream.normal()).collect();
        let z: Vec<f64> = (0..4).map(|i| origin[i] + dot(&matrix[i * 4..(i + 1) * 4], &t)).collect();
        let substituted = function.substituted(&origin, &matrix);
        assert!((substituted.value(&t) - function.value(&z)).abs() < 1e-9);
        let seen = function.seen_from(&origin, 1);
        let mut there = origin.clone();
        there[1..].iter_mut().zip(&t).for_each(|(z, step)| *z += step);
        assert!((seen.value(&t[..3]) - function.value(&there)).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_finite_gives_no_model() {
        let mut sample = sample_of(&[random_quadratic(2, &mut stream(1))], 2, 5, &mut stream(2));
        sample.values[3] = f64::INFINITY;
        assert_eq!(smallest(2, 1, &sample), None);
    }
}
