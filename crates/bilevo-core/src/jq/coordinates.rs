//! Units in which the joint model works: those of the upper distribution over (x, y).
//!
//! With the covariance σ²C in blocks, u = Lu⁻¹ (x − mean) whitens the decision, and
//! w = Lc⁻¹ (y − E[y|x]) whitens what is left of the answer once the linear response
//! E[y|x] = mean + K (x − mean), K = C_lu C_uu⁻¹, is taken away. Lc factors a mixture of the
//! conditional covariance and the marginal one, so that a response which only looks exact does not
//! shut the follower in. All radii are in these units: nothing depends on the scales of a problem.

use crate::cma::Cma;
use crate::linalg::cholesky;
use crate::linalg::dot;
use serde::{Deserialize, Serialize};

/// Share of the conditional covariance in the units of y.
const CONDITIONAL: f64 = 0.8;
/// Smallest ridge of the factors, relative.
const RIDGE: f64 = 1e-13;

/// A change of coordinates (x, y) <-> (u, w).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Coordinates {
    upper_dim: usize,
    lower_dim: usize,
    mean: Vec<f64>,
    /// Lu, row-major.
    upper: Vec<f64>,
    /// K, one row for each lower variable.
    response: Vec<f64>,
    /// Lc, row-major.
    pub(crate) lower: Vec<f64>,
}

impl Coordinates {
    /// The units of a distribution over (x, y) with `upper_dim` upper variables.
    pub(crate) fn new(cma: &Cma, upper_dim: usize) -> Self {
        let (d, m) = (cma.mean.len(), upper_dim);
        let n = d - m;
        let variance = cma.step_size * cma.step_size;
        let block = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> Vec<f64> {
            rows.flat_map(|i| columns.clone().map(move |j| (i, j)))
                .map(|(i, j)| cma.cov[i * d + j] * variance)
                .collect()
        };
        let upper = factor(m, &block(0..m, 0..m));
        let cross = block(m..d, 0..m);
        let mut response = cross.clone();
        response.chunks_exact_mut(m).for_each(|row| cholesky::solve(m, &upper, row));
        let mut mixed = block(m..d, m..d);
        for i in 0..n {
            for j in 0..=i {
                let explained = dot(&response[i * m..(i + 1) * m], &cross[j * m..(j + 1) * m]);
                mixed[i * n + j] -= CONDITIONAL * explained;
                mixed[j * n + i] = mixed[i * n + j];
            }
        }
        if !response.iter().all(|r| r.is_finite()) {
            response.fill(0.0);
        }
        let lower = factor(n, &mixed);
        Coordinates { upper_dim: m, lower_dim: n, mean: cma.mean.clone(), upper, response, lower }
    }

    /// Units for a follower alone: `share` of the width of its box in each direction.
    pub(crate) fn of_box(upper_dim: usize, bounds: &[(f64, f64)], share: f64) -> Self {
        let (m, n) = (upper_dim, bounds.len());
        let diagonal = |size: usize, value: &dyn Fn(usize) -> f64| {
            let mut matrix = vec![0.0; size * size];
            (0..size).for_each(|i| matrix[i * size + i] = value(i));
            matrix
        };
        Coordinates {
            upper_dim: m,
            lower_dim: n,
            mean: vec![0.0; m + n],
            upper: diagonal(m, &|_| 1.0),
            response: vec![0.0; n * m],
            lower: diagonal(n, &|i| share * (bounds[i].1 - bounds[i].0)),
        }
    }

    /// Number of variables of both levels.
    pub(crate) fn dim(&self) -> usize {
        self.upper_dim + self.lower_dim
    }

    /// Number of upper variables.
    pub(crate) fn upper_dim(&self) -> usize {
        self.upper_dim
    }

    /// E[y|x].
    pub(crate) fn expected(&self, x: &[f64]) -> Vec<f64> {
        let from_mean: Vec<f64> = x.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let rows = self.response.chunks_exact(self.upper_dim);
        self.mean[self.upper_dim..].iter().zip(rows).map(|(mean, row)| mean + dot(row, &from_mean)).collect()
    }

    /// How the answer moves when the decision moves by `dx`, to first order.
    pub(crate) fn response(&self, dx: &[f64]) -> Vec<f64> {
        self.response.chunks_exact(self.upper_dim).map(|row| dot(row, dx)).collect()
    }

    /// (x, y) -> (u, w)
    pub(crate) fn whiten(&self, point: &[f64], into: &mut [f64]) {
        let m = self.upper_dim;
        let (u, w) = into.split_at_mut(m);
        u.iter_mut().zip(point.iter().zip(&self.mean)).for_each(|(u, (x, mean))| *u = x - mean);
        for (i, w) in w.iter_mut().enumerate() {
            *w = point[m + i] - self.mean[m + i] - dot(&self.response[i * m..(i + 1) * m], u);
        }
        cholesky::forward(m, &self.upper, u);
        cholesky::forward(self.lower_dim, &self.lower, w);
    }

    /// x -> u
    pub(crate) fn whiten_upper(&self, x: &[f64], u: &mut [f64]) {
        u.iter_mut().zip(x.iter().zip(&self.mean)).for_each(|(u, (x, mean))| *u = x - mean);
        cholesky::forward(self.upper_dim, &self.upper, u);
    }

    /// A step in y at fixed x -> step in w, in place.
    pub(crate) fn whiten_step(&self, dy: &mut [f64]) {
        cholesky::forward(self.lower_dim, &self.lower, dy);
    }

    /// Lu, the columns of which are the steps in x of unit length in u.
    pub(crate) fn upper_factor(&self) -> &[f64] {
        &self.upper
    }

    /// Covariance of y at given x, times `scale`².
    pub(crate) fn lower_covariance(&self, scale: f64) -> Vec<f64> {
        let n = self.lower_dim;
        let row = |i: usize| &self.lower[i * n..i * n + i + 1];
        let entry = |k: usize| {
            let (i, j) = (k / n, k % n);
            scale * scale * dot(row(i.min(j)), row(i.max(j)))
        };
        (0..n * n).map(entry).collect()
    }

    /// The affine map from these coordinates to `other`: where the origin goes, and a matrix whose
    /// column k is the image of the unit step k.
    pub(crate) fn map_into(&self, other: &Coordinates) -> (Vec<f64>, Vec<f64>) {
        let (d, m, n) = (self.dim(), self.upper_dim, self.lower_dim);
        let mut origin = vec![0.0; d];
        other.whiten(&self.mean, &mut origin);
        let mut matrix = vec![0.0; d * d];
        let mut image = vec![0.0; d];
        for k in 0..d {
            let mut point = self.mean.clone();
            if k < m {
                let dx: Vec<f64> = (0..m).map(|i| if i >= k { self.upper[i * m + k] } else { 0.0 }).collect();
                let dy = self.response(&dx);
                point.iter_mut().zip(dx.iter().chain(&dy)).for_each(|(p, step)| *p += step);
            } else {
                (k - m..n).for_each(|i| point[m + i] += self.lower[i * n + k - m]);
            }
            other.whiten(&point, &mut image);
            (0..d).for_each(|i| matrix[i * d + k] = image[i] - origin[i]);
        }
        (origin, matrix)
    }
}

/// `y` + L `w`, held in the box.
pub(crate) fn moved(y: &[f64], factor: &[f64], w: &[f64], bounds: &[(f64, f64)]) -> Vec<f64> {
    let n = y.len();
    (0..n).map(|i| inside(y[i] + dot(&factor[i * n..=i * n + i], w), bounds[i])).collect()
}

/// The nearest value within bounds; their middle for what is not a number.
pub(crate) fn inside(value: f64, (low, high): (f64, f64)) -> f64 {
    if value.is_nan() { 0.5 * low + 0.5 * high } else { value.clamp(low, high) }
}

/// Lower factor, or the identity if the numbers have run out.
fn factor(n: usize, matrix: &[f64]) -> Vec<f64> {
    let mut factor = Vec::new();
    if !cholesky::factor_with_ridge(n, matrix, RIDGE, &mut factor) {
        factor = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cma::{CmaParams, Scratch};
    use crate::rng::{Purpose, Streams};

    fn learnt() -> Cma {
        let mut cma = Cma::round(vec![1.0, -2.0, 0.5, 3.0, 0.0], 0.7);
        let mut stream = Streams::new(5).open(Purpose::Start, 0, 0);
        let params = CmaParams::new(5, 8);
        for _ in 0..20 {
            let points: Vec<Vec<f64>> = (0..4)
                .map(|_| {
                    let (a, b) = (stream.normal(), stream.normal());
                    vec![1.0 + a, -2.0 + b, 0.5 + 2.0 * a, 3.0 - b + 0.1 * stream.normal(), stream.normal()]
                })
                .collect();
            cma.update(&params, points.iter().map(Vec::as_slice), &mut Scratch::default());
        }
        cma
    }

    #[test]
    fn whitened_points_have_their_expected_answer_at_zero() {
        let coordinates = Coordinates::new(&learnt(), 2);
        let x = [0.3, 0.9];
        let y = coordinates.expected(&x);
        let mut z = vec![0.0; 5];
        coordinates.whiten(&[&x[..], &y[..]].concat(), &mut z);
        assert!(z[2..].iter().all(|w| w.abs() < 1e-12), "{z:?}");
        let mut u = vec![0.0; 2];
        coordinates.whiten_upper(&x, &mut u);
        assert_eq!(u, z[..2]);
        // A step by the factor's first column is one unit of w.
        let moved = moved(&y, &coordinates.lower, &[1.0, 0.0, 0.0], &[(-1e9, 1e9); 3]);
        coordinates.whiten(&[&x[..], &moved[..]].concat(), &mut z);
        assert!((z[2] - 1.0).abs() < 1e-12 && z[3].abs() < 1e-12);
    }

    #[test]
    fn the_units_are_those_of_the_distribution() {
        let cma = learnt();
        let coordinates = Coordinates::new(&cma, 2);
        let d = coordinates.lower_covariance(1.0);
        let variance = cma.step_size * cma.step_size;
        // The third lower variable does not depend on x: its conditional variance is its own.
        let own = cma.cov[24] * variance;
        assert!(d[8] <= own * (1.0 + 1e-9) && d[8] > 0.2 * own);
        assert!(d[0] < 0.9 * cma.cov[12] * variance, "the first one follows x");
    }

    #[test]
    fn maps_compose_with_whitening() {
        let (a, b) = (Coordinates::new(&learnt(), 2), Coordinates::new(&Cma::round(vec![0.1; 5], 0.3), 2));
        let point = [0.4, -0.2, 1.5, 0.3, -0.7];
        let (mut za, mut zb) = (vec![0.0; 5], vec![0.0; 5]);
        a.whiten(&point, &mut za);
        b.whiten(&point, &mut zb);
        let (origin, matrix) = a.map_into(&b);
        for i in 0..5 {
            let image = origin[i] + dot(&matrix[i * 5..(i + 1) * 5], &za);
            assert!((image - zb[i]).abs() < 1e-9, "{image} {}", zb[i]);
        }
    }
}
