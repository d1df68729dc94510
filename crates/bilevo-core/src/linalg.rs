//! Small dense kernels: the symmetric eigen-decomposition and a few loops around it.
//!
//! Matrices are row-major slices of n * n. The decomposition reduces the matrix to tridiagonal
//! form by reflections and finishes with implicitly shifted QR sweeps; it writes the eigenvectors
//! as *rows*, so that sampling, whitening and the sweeps themselves run along memory. Reflections
//! that start at the top leave the small numbers at the bottom, where QR settles first: QL would
//! need up to half as many sweeps again. The decomposition allocates nothing and gives up after a
//! bounded number of sweeps. `cargo xtask bench` compares it with a
//! library's.

/// QR sweeps for one eigenvalue before giving up; three or four are usual.
const MAX_SWEEPS: usize = 60;

/// The value of an expression in the dimension `$n`, compiled once more for each of the usual small
/// dimensions: there, short loops of unknown length would cost more than the arithmetic in them.
/// Functions that the expression calls must be `#[inline(always)]` to profit.
macro_rules! for_known_size {
    ($n:ident, $value:expr) => {
        match $n {
            2 => {
                let $n = 2;
                $value
            }
            3 => {
                let $n = 3;
                $value
            }
            5 => {
                let $n = 5;
                $value
            }
            _ => $value,
        }
    };
}
pub(crate) use for_known_size;

/// Dot product.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `into += factor * from`
#[inline(always)]
pub fn add_scaled(into: &mut [f64], factor: f64, from: &[f64]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into += factor * from;
    }
}

/// Eigen-decomposition of the symmetric `matrix` (n * n, destroyed). `vectors` receives the
/// eigenvectors as rows, `values` the eigenvalues in no particular order, `off` is scratch of n.
/// Returns false, with unusable output, if a number is not finite or the sweeps do not converge.
pub fn symmetric_eigen(n: usize, matrix: &mut [f64], vectors: &mut [f64], values: &mut [f64], off: &mut [f64]) -> bool {
    for_known_size!(n, eigen(n, &mut matrix[..n * n], &mut vectors[..n * n], &mut values[..n], &mut off[..n]))
}

#[inline(always)]
fn eigen(n: usize, matrix: &mut [f64], vectors: &mut [f64], values: &mut [f64], off: &mut [f64]) -> bool {
    // Scaling to a largest entry of one keeps squares away from overflow and underflow.
    let largest = matrix.iter().fold(0.0_f64, |m, v| if v.is_finite() { m.max(v.abs()) } else { f64::INFINITY });
    if !largest.is_finite() {
        return false;
    }
    vectors.fill(0.0);
    (0..n).for_each(|i| vectors[i * n + i] = 1.0);
    if largest == 0.0 {
        values.fill(0.0);
        return true;
    }
    matrix.iter_mut().for_each(|v| *v /= largest);
    tridiagonalise(n, matrix, vectors, values, off);
    if !diagonalise(n, vectors, values, off) {
        return false;
    }
    values.iter_mut().for_each(|v| *v *= largest);
    true
}

/// Turns `matrix` into a tridiagonal one with diagonal `diag`, where `off[i]` stands between i - 1
/// and i; multiplies the reflections onto the rows of `vectors`.
#[inline(always)]
fn tridiagonalise(n: usize, matrix: &mut [f64], vectors: &mut [f64], diag: &mut [f64], off: &mut [f64]) {
    for k in 0..n.saturating_sub(2) {
        // Row k beyond the diagonal becomes (norm, 0, ..., 0) under I - 2 v v' / (v' v).
        let (head, trailing) = matrix.split_at_mut((k + 1) * n);
        let v = &mut head[k * n + k + 1..];
        let tail: f64 = v[1..].iter().map(|c| c * c).sum();
        if tail == 0.0 {
            off[k + 1] = v[0];
            continue;
        }
        let norm = (v[0] * v[0] + tail).sqrt();
        off[k + 1] = if v[0] > 0.0 { -norm } else { norm };
        v[0] -= off[k + 1];
        let half = 0.5 * (v[0] * v[0] + tail);
        reflect_both_sides(n, k + 1, v, half, trailing, diag);
        // The k-th reflection acts on the rows k+1.. of the accumulated product.
        reflect_rows(n, k + 1, v, half, vectors, diag);
    }
    if n >= 2 {
        off[n - 1] = matrix[(n - 2) * n + n - 1];
    }
    off[0] = 0.0;
    for (i, d) in diag.iter_mut().enumerate() {
        *d = matrix[i * n + i];
    }
}

/// A <- H A H on the block that starts at `from`, with H = I - v v' / half. `rows` holds the
/// matrix from row `from` on; `p` is scratch.
#[inline(always)]
fn reflect_both_sides(n: usize, from: usize, v: &[f64], half: f64, rows: &mut [f64], p: &mut [f64]) {
    let size = n - from;
    for i in 0..size {
        p[i] = dot(&rows[i * n + from..(i + 1) * n], v) / half;
    }
    let shift = dot(&p[..size], v) / (2.0 * half);
    add_scaled(&mut p[..size], -shift, v);
    for i in 0..size {
        let row = &mut rows[i * n + from..(i + 1) * n];
        for j in 0..size {
            row[j] -= v[i] * p[j] + p[i] * v[j];
        }
    }
}

/// Q <- H Q for the rows from `from` on: row_i -= v_i / half * sum_k v_k row_k.
#[inline(always)]
fn reflect_rows(n: usize, from: usize, v: &[f64], half: f64, q: &mut [f64], sum: &mut [f64]) {
    let rows = &mut q[from * n..];
    sum.fill(0.0);
    for (row, &weight) in rows.chunks_exact(n).zip(v) {
        add_scaled(sum, weight, row);
    }
    for (row, &weight) in rows.chunks_exact_mut(n).zip(v) {
        add_scaled(row, -weight / half, sum);
    }
}

/// Implicitly shifted QR on a tridiagonal matrix, rotating the rows of `vectors` along.
#[inline(always)]
fn diagonalise(n: usize, vectors: &mut [f64], diag: &mut [f64], off: &mut [f64]) -> bool {
    for last in (0..n).rev() {
        let mut sweeps = 0;
        loop {
            let first = block_start(last, diag, off);
            if first == last {
                break;
            }
            sweeps += 1;
            if sweeps > MAX_SWEEPS {
                return false;
            }
            sweep(n, first, last, vectors, diag, off);
        }
    }
    true
}

/// Start of the unreduced block that ends at `last`: behind the nearest negligible element.
#[inline(always)]
fn block_start(last: usize, diag: &[f64], off: &[f64]) -> usize {
    let negligible = |i: usize| off[i].abs() <= f64::EPSILON * (diag[i - 1].abs() + diag[i].abs());
    let mut first = last;
    while first > 0 && !negligible(first) {
        first -= 1;
    }
    first
}

/// One sweep of rotations from the top to the bottom of the block, with Wilkinson's shift.
#[inline(always)]
fn sweep(n: usize, first: usize, last: usize, vectors: &mut [f64], diag: &mut [f64], off: &mut [f64]) {
    let half_gap = (diag[last - 1] - diag[last]) / (2.0 * off[last]);
    let root = (half_gap * half_gap + 1.0).sqrt().copysign(half_gap);
    let mut bulge = diag[first] - diag[last] + off[last] / (half_gap + root);
    let (mut sine, mut cosine, mut carry) = (1.0, 1.0, 0.0);
    for i in first..last {
        let (f, b) = (sine * off[i + 1], cosine * off[i + 1]);
        let radius = (f * f + bulge * bulge).sqrt();
        off[i] = radius;
        if radius == 0.0 {
            // The block fell apart early: close what is done and let the caller look again.
            diag[i] -= carry;
            off[first] = 0.0;
            return;
        }
        (sine, cosine) = (f / radius, bulge / radius);
        let d = diag[i] - carry;
        let mixed = (diag[i + 1] - d) * sine + 2.0 * cosine * b;
        carry = sine * mixed;
        diag[i] = d + carry;
        bulge = cosine * mixed - b;
        let (upper, lower) = vectors[i * n..(i + 2) * n].split_at_mut(n);
        for (u, l) in upper.iter_mut().zip(lower) {
            (*u, *l) = (cosine * *u + sine * *l, cosine * *l - sine * *u);
        }
    }
    diag[last] -= carry;
    off[last] = bulge;
    off[first] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn check(n: usize, matrix: &[f64]) {
        let (mut work, mut vectors) = (matrix.to_vec(), vec![0.0; n * n]);
        let (mut values, mut off) = (vec![0.0; n], vec![0.0; n]);
        assert!(symmetric_eigen(n, &mut work, &mut vectors, &mut values, &mut off));
        let largest = matrix.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let tolerance = 40.0 * n as f64 * f64::EPSILON;
        for i in 0..n {
            for j in 0..n {
                let rebuilt: f64 = (0..n).map(|k| vectors[k * n + i] * values[k] * vectors[k * n + j]).sum();
                assert!((rebuilt - matrix[i * n + j]).abs() <= tolerance * largest, "{rebuilt} {}", matrix[i * n + j]);
                let product = dot(&vectors[i * n..(i + 1) * n], &vectors[j * n..(j + 1) * n]);
                assert!((product - f64::from(i == j)).abs() <= tolerance);
            }
        }
    }

    fn random_symmetric(n: usize, seed: u64, scale: f64) -> Vec<f64> {
        let mut stream = Streams::new(seed).open(Purpose::Start, 0, 0);
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let value = scale * stream.normal();
                (matrix[i * n + j], matrix[j * n + i]) = (value, value);
            }
        }
        matrix
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn recomposes_to_the_input(n in 1_usize..25, seed in 0_u64..1000, exponent in -100_i32..100) {
            check(n, &random_symmetric(n, seed, 10_f64.powi(exponent)));
        }
    }

    #[test]
    fn special_shapes() {
        check(3, &[0.0; 9]);
        check(2, &[1.0, 0.0, 0.0, 1.0]);
        check(3, &[2.0, 0.0, 0.0, 0.0, 1e-12, 0.0, 0.0, 0.0, 1e6]);
        let ones = vec![1.0; 40 * 40];
        check(40, &ones);
    }

    #[test]
    fn refuses_what_is_not_finite() {
        let (mut vectors, mut values, mut off) = (vec![0.0; 4], vec![0.0; 2], vec![0.0; 2]);
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(!symmetric_eigen(2, &mut [1.0, bad, bad, 1.0], &mut vectors, &mut values, &mut off));
        }
    }
}
