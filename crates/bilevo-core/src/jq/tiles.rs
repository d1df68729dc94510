//! Products of rows with four others at a time: the inner loop of factors and kernel matrices.
//!
//! Sixteen sums side by side keep the processor adding; every number that is read serves four of them.

/// Rows and columns that are worked on together.
pub(crate) const TILE: usize = 4;

/// One number for each of the columns.
pub(crate) type Tile = [f64; TILE];

/// The first `len` numbers of up to four rows of `stride` numbers, number after number; zeros in
/// place of rows that are not there.
pub(crate) fn gather(rows: &[f64], stride: usize, len: usize, into: &mut Vec<Tile>) {
    into.clear();
    into.resize(len, [0.0; TILE]);
    for (c, row) in rows.chunks_exact(stride.max(1)).take(TILE).enumerate() {
        into.iter_mut().zip(row).for_each(|(tile, value)| tile[c] = *value);
    }
}

/// Products of a row with the gathered ones.
#[inline(always)]
pub(crate) fn products(gathered: &[Tile], row: &[f64]) -> Tile {
    let mut sums = [0.0; TILE];
    for (tile, a) in gathered.iter().zip(row) {
        for c in 0..TILE {
            sums[c] += a * tile[c];
        }
    }
    sums
}

/// Products of four rows, which start `stride` numbers apart, with the gathered ones.
#[inline(always)]
pub(crate) fn products_of_four(gathered: &[Tile], rows: &[f64], stride: usize) -> [Tile; TILE] {
    let len = gathered.len();
    let [a, b, c, d] = [0, 1, 2, 3].map(|r| &rows[r * stride..r * stride + len]);
    let mut sums = [[0.0; TILE]; TILE];
    for ((((tile, a), b), c), d) in gathered.iter().zip(a).zip(b).zip(c).zip(d) {
        for (sums, value) in sums.iter_mut().zip([a, b, c, d]) {
            for c in 0..TILE {
                sums[c] += value * tile[c];
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_single_numbers() {
        let number = |i: usize, k: usize| (3 * i * i + 7 * k + i * k) as f64 % 11.0 - 5.0;
        for (stride, len) in [(5, 0), (5, 3), (9, 9)] {
            let rows: Vec<f64> = (0..8 * stride).map(|at| number(at / stride, at % stride)).collect();
            let (columns, below) = rows.split_at(3 * stride);
            let mut gathered = Vec::new();
            gather(columns, stride, len, &mut gathered);
            let four = products_of_four(&gathered, below, stride);
            for r in 0..4 {
                let one = products(&gathered, &below[r * stride..]);
                assert_eq!(four[r], one);
                for (c, product) in one.iter().enumerate() {
                    let plain: f64 = (0..len).map(|k| number(3 + r, k) * number(c, k)).sum();
                    assert_eq!(*product, if c < 3 { plain } else { 0.0 });
                }
            }
        }
    }
}
