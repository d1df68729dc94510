//! How far a function is from convex on a box: a rigorous bound of the smallest eigenvalue.
//!
//! With radii r and D = diag(r), every Hessian H of the box satisfies wᵀ D H D w ≥ −α |w|². The interval
//! matrix D H D is M ± Δ, so α ≥ ‖Δ‖∞ − λ where λ ≤ λ_min(M). A guess of λ comes from Jacobi's rotations;
//! that M − λ I is positive definite is then *verified* by a Cholesky factorisation in intervals, which
//! can only end if it is. Otherwise Gershgorin's circles give λ.

use crate::interval::Interval;
use crate::problem::Row;
use crate::work::Work;

/// A symmetric matrix, row by row.
struct Matrix {
    n: usize,
    cells: Vec<f64>,
}

impl Matrix {
    fn at(&self, i: usize, j: usize) -> f64 {
        self.cells[i * self.n + j]
    }

    /// λ ≤ λ_min by circles around the diagonal.
    fn gershgorin(&self) -> f64 {
        let circle = |i: usize| {
            let others = (0..self.n).filter(|&j| j != i).map(|j| Interval::point(self.at(i, j).abs()));
            (Interval::point(self.at(i, i)) - others.fold(Interval::ZERO, |sum, a| sum + a)).lo
        };
        (0..self.n).map(circle).fold(f64::INFINITY, f64::min)
    }

    /// Whether M − shift · I is certainly positive definite.
    fn is_definite(&self, shift: f64) -> bool {
        let n = self.n;
        let mut factor = vec![Interval::ZERO; n * n];
        for j in 0..n {
            for i in j..n {
                let mut rest = Interval::point(self.at(i, j));
                if i == j {
                    rest = rest - Interval::point(shift);
                }
                for k in 0..j {
                    let product =
                        if i == j { factor[i * n + k].power(2) } else { factor[i * n + k] * factor[j * n + k] };
                    rest = rest - product;
                }
                if i == j {
                    if !(rest.lo > 0.0 && rest.is_finite()) {
                        return false;
                    }
                    factor[i * n + i] = rest.sqrt();
                } else {
                    factor[i * n + j] = rest / factor[j * n + j];
                }
            }
        }
        true
    }

    /// The smallest eigenvalue, approximately, by Jacobi's rotations.
    fn smallest_eigenvalue(&self) -> f64 {
        let n = self.n;
        let mut a = self.cells.clone();
        for _ in 0..20 {
            let mut largest = 0.0f64;
            for p in 0..n {
                for q in p + 1..n {
                    largest = largest.max(a[p * n + q].abs());
                    rotate(&mut a, n, p, q);
                }
            }
            if largest <= 1e-14 * a.iter().fold(0.0f64, |m, v| m.max(v.abs())) {
                break;
            }
        }
        (0..n).map(|i| a[i * n + i]).fold(f64::INFINITY, f64::min)
    }
}

/// Makes the entry (p, q) zero.
fn rotate(a: &mut [f64], n: usize, p: usize, q: usize) {
    if a[p * n + q] == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
    let t = if theta == 0.0 { 1.0 } else { theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt()) };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
}

/// λ ≤ λ_min(M), verified; at least `wanted` if that can be shown.
fn eigenvalue_bound(matrix: &Matrix, wanted: f64) -> f64 {
    let circles = matrix.gershgorin();
    if circles >= wanted {
        return circles;
    }
    let size = matrix.cells.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let guess = matrix.smallest_eigenvalue() - 1e-10 * size * matrix.n as f64;
    let candidates = if guess > wanted { [wanted, guess] } else { [guess, guess - 1e-6 * size] };
    candidates.into_iter().find(|&shift| shift > circles && matrix.is_definite(shift)).unwrap_or(circles)
}

/// α ≥ 0 with wᵀ D H D w ≥ −α |w|² over the region, for the free variables and their radii; infinite if
/// nothing can be said.
pub(crate) fn alpha(work: &mut Work<'_>, row: &Row, region: &[Interval], free: &[usize], radii: &[f64]) -> f64 {
    let Some(entries) = work.hessian(row, region) else { return f64::INFINITY };
    let n = free.len();
    work.spent += (n * n * n) as u64;
    let place = |variable: usize| free.binary_search(&variable).ok();
    let mut matrix = Matrix { n, cells: vec![0.0; n * n] };
    let mut spread = vec![Interval::ZERO; n];
    for (i, j, second) in entries {
        let (Some(i), Some(j)) = (place(i), place(j)) else { continue };
        let scaled = second * (Interval::point(radii[i]) * Interval::point(radii[j]));
        if !scaled.is_finite() || scaled.is_empty() {
            return f64::INFINITY;
        }
        let middle = scaled.middle();
        let distance = Interval::point((scaled - Interval::point(middle)).magnitude());
        matrix.cells[i * n + j] = middle;
        matrix.cells[j * n + i] = middle;
        spread[i] = spread[i] + distance;
        if i != j {
            spread[j] = spread[j] + distance;
        }
    }
    let spread = spread.iter().map(|row| row.hi).fold(0.0, f64::max);
    let eigenvalue = eigenvalue_bound(&matrix, spread);
    (Interval::point(spread) - Interval::point(eigenvalue)).hi.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_lie_below_known_eigenvalues_and_close() {
        // Eigenvalues of tridiag(−1, 2, −1) of size n: 2 − 2 cos(kπ/(n+1))
        for n in 2..9 {
            let cell = |i: usize, j: usize| match i.abs_diff(j) {
                0 => 2.0,
                1 => -1.0,
                _ => 0.0,
            };
            let cells = (0..n * n).map(|k| cell(k / n, k % n)).collect();
            let matrix = Matrix { n, cells };
            let exact = 2.0 - 2.0 * (std::f64::consts::PI / (n as f64 + 1.0)).cos();
            let bound = eigenvalue_bound(&matrix, f64::INFINITY);
            assert!(bound <= exact + 1e-12 && bound > exact - 1e-7, "{n}: {bound} {exact}");
            assert!(!matrix.is_definite(exact + 1e-9));
        }
    }

    #[test]
    fn nothing_indefinite_passes_for_definite() {
        let mut state = 7u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for _ in 0..500 {
            let mut cells = vec![0.0; 16];
            for i in 0..4 {
                for j in 0..=i {
                    cells[i * 4 + j] = random();
                    cells[j * 4 + i] = cells[i * 4 + j];
                }
            }
            let matrix = Matrix { n: 4, cells };
            let bound = eigenvalue_bound(&matrix, 0.0);
            // A Rayleigh quotient is at least the smallest eigenvalue.
            for _ in 0..50 {
                let w: Vec<f64> = (0..4).map(|_| random()).collect();
                let form: f64 = (0..16).map(|k| matrix.cells[k] * w[k / 4] * w[k % 4]).sum();
                assert!(form >= bound * w.iter().map(|v| v * v).sum::<f64>() - 1e-12);
            }
        }
    }
}
