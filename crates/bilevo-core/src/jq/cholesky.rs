//! Cholesky factors of small dense matrices, row-major, in place.

use crate::linalg::long_dot as dot;

/// Overwrites the lower triangle of the symmetric `a` (n * n) with its factor L, a = L L'.
/// Returns false, with unusable output, unless `a` is positive definite.
pub(crate) fn factor(n: usize, a: &mut [f64]) -> bool {
    for i in 0..n {
        let (head, row) = a.split_at_mut(i * n);
        for j in 0..i {
            let above = &head[j * n..];
            row[j] = (row[j] - dot(&row[..j], &above[..j])) / above[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        row[i] = pivot.sqrt();
    }
    true
}

/// Solves L v = b in place.
pub(crate) fn forward(n: usize, l: &[f64], b: &mut [f64]) {
    for i in 0..n {
        b[i] = (b[i] - dot(&l[i * n..i * n + i], &b[..i])) / l[i * n + i];
    }
}

/// Solves L' v = b in place.
pub(crate) fn backward(n: usize, l: &[f64], b: &mut [f64]) {
    for i in (0..n).rev() {
        b[i] /= l[i * n + i];
        let value = b[i];
        for (b, l) in b[..i].iter_mut().zip(&l[i * n..]) {
            *b -= value * l;
        }
    }
}

/// Solves L L' v = b in place.
pub(crate) fn solve(n: usize, l: &[f64], b: &mut [f64]) {
    forward(n, l, b);
    backward(n, l, b);
}

/// Factor of `a` + ridge * I in `into`, the ridge growing tenfold from `ridge` (relative to the
/// largest diagonal element) until there is one. Returns false if `a` is not finite.
pub(crate) fn factor_with_ridge(n: usize, a: &[f64], mut ridge: f64, into: &mut Vec<f64>) -> bool {
    let largest = (0..n).map(|i| a[i * n + i].abs()).fold(1e-300, f64::max);
    while ridge < 1e8 {
        into.clear();
        into.extend_from_slice(&a[..n * n]);
        (0..n).for_each(|i| into[i * n + i] += ridge * largest);
        if factor(n, into) {
            return true;
        }
        ridge = (10.0 * ridge).max(1e-14);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    /// B B' + I for a random B.
    fn positive(n: usize, seed: u64) -> Vec<f64> {
        let mut stream = Streams::new(seed).open(Purpose::Start, 0, 0);
        let b: Vec<f64> = (0..n * n).map(|_| stream.normal()).collect();
        (0..n * n)
            .map(|at| dot(&b[at / n * n..][..n], &b[at % n * n..][..n]) + f64::from(u8::from(at / n == at % n)))
            .collect()
    }

    #[test]
    fn solves_what_it_factored() {
        for n in 1..12 {
            let a = positive(n, n as u64);
            let truth: Vec<f64> = (0..n).map(|i| i as f64 - 1.5).collect();
            let mut b: Vec<f64> = (0..n).map(|i| dot(&a[i * n..][..n], &truth)).collect();
            let mut l = a.clone();
            assert!(factor(n, &mut l));
            solve(n, &l, &mut b);
            for (b, t) in b.iter().zip(&truth) {
                assert!((b - t).abs() < 1e-10, "{b} {t}");
            }
        }
    }

    #[test]
    fn indefinite_needs_a_ridge_and_nan_has_none() {
        let mut into = Vec::new();
        let indefinite = [1.0, 2.0, 2.0, 1.0];
        assert!(!factor(2, &mut indefinite.clone()));
        assert!(factor_with_ridge(2, &indefinite, 0.0, &mut into));
        assert!(!factor_with_ridge(2, &[f64::NAN, 0.0, 0.0, 1.0], 0.0, &mut into));
    }
}
