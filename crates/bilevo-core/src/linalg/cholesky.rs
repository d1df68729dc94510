//! Cholesky factors of small dense matrices, row-major, in place.

use super::tiles::{TILE, Tile, for_products, gather};
use crate::linalg::{add_scaled, long_dot as dot, widest};

/// A diagonal block of L, with the inverses of its diagonal; zeros after the last row.
#[derive(Default)]
struct Corner {
    rows: [Tile; TILE],
    inverses: Tile,
}

impl Corner {
    /// Solves (block) v = row - products in place.
    #[inline(always)]
    fn finish(&self, row: &mut Tile, products: Tile) {
        for i in 0..TILE {
            row[i] -= products[i];
            for j in 0..i {
                row[i] -= self.rows[i][j] * row[j];
            }
            row[i] *= self.inverses[i];
        }
    }

    /// Computes row `i` of the block from that of the matrix, minus products; false if the matrix is not positive
    /// definite.
    fn add(&mut self, row: &mut [f64], i: usize, products: Tile) -> bool {
        let mut found = [0.0; TILE];
        found[..=i].copy_from_slice(&row[..=i]);
        let mut pivot = found[i] - products[i];
        self.finish(&mut found, products);
        found[..i].iter().for_each(|v| pivot -= v * v);
        found[i] = pivot.sqrt();
        row[..=i].copy_from_slice(&found[..=i]);
        self.set(i, &found[..=i]);
        pivot > 0.0 && pivot.is_finite()
    }

    /// Copies row `i` of the block.
    fn set(&mut self, i: usize, row: &[f64]) {
        self.rows[i][..=i].copy_from_slice(row);
        self.inverses[i] = 1.0 / row[i];
    }
}

/// Overwrites the lower triangle of the symmetric `a` (n * n) with its factor L, a = L L'. Further
/// rows b' of n numbers below the matrix become (L⁻¹ b)'.
/// Returns false, with unusable output, unless the matrix is positive definite.
pub(crate) fn factor(n: usize, a: &mut [f64]) -> bool {
    if n < 2 * TILE {
        return factor_small(n, a);
    }
    widest!(WIDE, (n: usize, a: &mut [f64]) -> bool, factor_tiles::<WIDE>(n, a))
}

#[inline(always)]
fn factor_tiles<const WIDE: bool>(n: usize, a: &mut [f64]) -> bool {
    let mut gathered = Vec::with_capacity(n);
    for from in (0..n).step_by(TILE) {
        let (head, below) = a.split_at_mut((from + TILE).min(n) * n);
        let block = &mut head[from * n..];
        gather(block, n, from, &mut gathered);
        let (mut corner, mut i, mut sound) = (Corner::default(), 0, true);
        for_products::<false>(&gathered, block, n, |row, products| {
            sound &= corner.add(&mut row[from..], i, products);
            i += 1;
        });
        if !sound {
            return false;
        }
        eliminate::<WIDE>(n, from, &gathered, &corner, below);
    }
    true
}

/// The same without tiles, which do not pay off here.
fn factor_small(n: usize, a: &mut [f64]) -> bool {
    for i in 0..a.len() / n.max(1) {
        let (head, row) = a.split_at_mut(i * n);
        let row = &mut row[..n];
        for j in 0..i.min(n) {
            let above = &head[j * n..j * n + n];
            let mut rest = row[j];
            row[..j].iter().zip(above).for_each(|(row, above)| rest -= row * above);
            row[j] = rest / above[j];
        }
        if i < n {
            let mut pivot = row[i];
            row[..i].iter().for_each(|v| pivot -= v * v);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            row[i] = pivot.sqrt();
        }
    }
    true
}

/// Solves L v = b in place for every row b' of n numbers.
pub(crate) fn forward_rows(n: usize, l: &[f64], rows: &mut [f64]) {
    widest!(WIDE, (n: usize, l: &[f64], rows: &mut [f64]), forward_tiles::<WIDE>(n, l, rows));
}

#[inline(always)]
fn forward_tiles<const WIDE: bool>(n: usize, l: &[f64], rows: &mut [f64]) {
    let mut gathered = Vec::with_capacity(n);
    for from in (0..n).step_by(TILE) {
        let block = &l[from * n..(from + TILE).min(n) * n];
        gather(block, n, from, &mut gathered);
        let mut corner = Corner::default();
        block.chunks_exact(n).enumerate().for_each(|(i, row)| corner.set(i, &row[from..=from + i]));
        eliminate::<WIDE>(n, from, &gathered, &corner, rows);
    }
}

/// Computes the numbers from `from` on of the rows below a block of L; `gathered` is the part left of its corner.
#[inline(always)]
fn eliminate<const WIDE: bool>(n: usize, from: usize, gathered: &[Tile], corner: &Corner, below: &mut [f64]) {
    for_products::<WIDE>(gathered, below, n, |row, products| {
        if let Some(row) = row[from..].first_chunk_mut::<TILE>() {
            corner.finish(row, products);
        } else {
            let row = &mut row[from..];
            let mut padded = [0.0; TILE];
            padded.iter_mut().zip(&*row).for_each(|(p, v)| *p = *v);
            corner.finish(&mut padded, products);
            row.iter_mut().zip(padded).for_each(|(v, p)| *v = p);
        }
    });
}

/// Solves L v = b in place.
pub(crate) fn forward(n: usize, l: &[f64], b: &mut [f64]) {
    for i in 0..n {
        b[i] = (b[i] - dot(&l[i * n..i * n + i], &b[..i])) / l[i * n + i];
    }
}

/// Solves L' v = b in place.
pub(crate) fn backward(n: usize, l: &[f64], b: &mut [f64]) {
    if n < 2 * TILE {
        return backward_any(n, l, b);
    }
    widest!(WIDE, (n: usize, l: &[f64], b: &mut [f64]), backward_any(n, l, b));
}

#[inline(always)]
fn backward_any(n: usize, l: &[f64], b: &mut [f64]) {
    for i in (0..n).rev() {
        let (above, rest) = b.split_at_mut(i);
        rest[0] /= l[i * n + i];
        add_scaled(above, -rest[0], &l[i * n..]);
    }
}

/// Solves L L' v = b in place.
pub(crate) fn solve(n: usize, l: &[f64], b: &mut [f64]) {
    forward(n, l, b);
    backward(n, l, b);
}

/// The factor of `a` + ridge * I, written to `into`. The ridge starts at `ridge` (relative to the largest diagonal
/// element) and grows tenfold until the factorisation succeeds. Returns false if `a` is not finite.
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

    /// L from its formula, number by number.
    fn plain(n: usize, a: &[f64]) -> Vec<f64> {
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let rest = a[i * n + j] - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>();
                l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
            }
        }
        l
    }

    #[test]
    fn blocks_change_nothing() {
        for n in 1..22 {
            let a = positive(n, n as u64);
            let mut stream = Streams::new(9).open(Purpose::Start, 0, 0);
            let rows: Vec<f64> = (0..n * (n % 7)).map(|_| stream.normal()).collect();
            let mut factored = [&a[..], &rows].concat();
            assert!(factor(n, &mut factored));
            let (l, carried) = factored.split_at(n * n);
            for (at, expected) in plain(n, &a).iter().enumerate().filter(|(at, _)| at % n <= at / n) {
                assert!((l[at] - expected).abs() < 1e-12, "n {n} at {at}: {} {expected}", l[at]);
            }
            let mut solved = rows.clone();
            forward_rows(n, l, &mut solved);
            let mut one_by_one = rows.clone();
            one_by_one.chunks_exact_mut(n).for_each(|row| forward(n, l, row));
            for ((a, b), expected) in carried.iter().zip(&solved).zip(&one_by_one) {
                assert!((a - expected).abs() < 1e-11 && (b - expected).abs() < 1e-11, "n {n}: {a} {b} {expected}");
            }
        }
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
