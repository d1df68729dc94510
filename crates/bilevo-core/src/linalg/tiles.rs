//! Products of rows with four others at a time: the inner loop of factorisations and kernel matrices.
//!
//! Sixteen sums run side by side (thirty-two if the processor adds four numbers at once), so the processor is always
//! adding, and every number is used four times once it is read.

use super::buffer::Buffer;
use super::widest;

/// Rows and columns that are processed together.
pub(crate) const TILE: usize = 4;

/// Maximum number of rows that are processed together.
const MOST: usize = 2 * TILE;

/// One number for each of the columns.
pub(crate) type Tile = [f64; TILE];

/// The first `len` numbers of up to four rows of `stride` numbers, interleaved; missing rows are zero.
pub(crate) fn gather(rows: &[f64], stride: usize, len: usize, into: &mut Vec<Tile>) {
    into.clear();
    if let Some([a, b, c, d]) = four(rows, stride, len) {
        into.extend(a.iter().zip(b).zip(c).zip(d).map(|(((a, b), c), d)| [*a, *b, *c, *d]));
        return;
    }
    into.resize(len, [0.0; TILE]);
    for (c, row) in rows.chunks_exact(stride).enumerate() {
        into.iter_mut().zip(row).for_each(|(tile, value)| tile[c] = *value);
    }
}

/// The first `len` numbers of four rows of `stride` numbers; `None` if there are fewer rows.
#[inline(always)]
fn four(rows: &[f64], stride: usize, len: usize) -> Option<[&[f64]; TILE]> {
    let (a, rest) = rows.split_at_checked(stride)?;
    let (b, rest) = rest.split_at_checked(stride)?;
    let (c, rest) = rest.split_at_checked(stride)?;
    let d = rest.get(..stride)?;
    Some([a.get(..len)?, b.get(..len)?, c.get(..len)?, d.get(..len)?])
}

/// Products of a row with the gathered rows.
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

/// Products of four rows of `stride` numbers with the gathered ones; `None` if there are fewer rows.
#[inline(always)]
pub(crate) fn products_of_four(gathered: &[Tile], rows: &[f64], stride: usize) -> Option<[Tile; TILE]> {
    let [a, b, c, d] = four(rows, stride, gathered.len())?;
    let mut sums = [[0.0; TILE]; TILE];
    for ((((tile, a), b), c), d) in gathered.iter().zip(a).zip(b).zip(c).zip(d) {
        for i in 0..TILE {
            sums[0][i] += a * tile[i];
            sums[1][i] += b * tile[i];
            sums[2][i] += c * tile[i];
            sums[3][i] += d * tile[i];
        }
    }
    Some(sums)
}

/// Products of twice as many rows.
#[inline(always)]
fn products_of_eight(gathered: &[Tile], rows: &[f64], stride: usize) -> Option<[Tile; MOST]> {
    let (above, below) = rows.split_at_checked(TILE * stride)?;
    let [a, b, c, d] = four(above, stride, gathered.len())?;
    let [e, f, g, h] = four(below, stride, gathered.len())?;
    let mut sums = [[0.0; TILE]; MOST];
    for ((((((((tile, a), b), c), d), e), f), g), h) in
        gathered.iter().zip(a).zip(b).zip(c).zip(d).zip(e).zip(f).zip(g).zip(h)
    {
        for i in 0..TILE {
            sums[0][i] += a * tile[i];
            sums[1][i] += b * tile[i];
            sums[2][i] += c * tile[i];
            sums[3][i] += d * tile[i];
            sums[4][i] += e * tile[i];
            sums[5][i] += f * tile[i];
            sums[6][i] += g * tile[i];
            sums[7][i] += h * tile[i];
        }
    }
    Some(sums)
}

/// Products of the first rows with the gathered ones. Returns how many rows were processed at once.
#[inline(always)]
fn first_products<const WIDE: bool>(gathered: &[Tile], rows: &[f64], stride: usize, into: &mut [Tile; MOST]) -> usize {
    if WIDE && let Some(sums) = products_of_eight(gathered, rows, stride) {
        *into = sums;
        MOST
    } else if let Some(sums) = products_of_four(gathered, rows, stride) {
        into[..TILE].copy_from_slice(&sums);
        TILE
    } else {
        into[0] = products(gathered, rows);
        1
    }
}

/// Products of each row of `stride` numbers with the gathered ones, passed to `each` together with the row.
#[inline(always)]
pub(crate) fn for_products<const WIDE: bool>(
    gathered: &[Tile],
    rows: &mut [f64],
    stride: usize,
    mut each: impl FnMut(&mut [f64], Tile),
) {
    let (mut rest, mut sums) = (rows, [[0.0; TILE]; MOST]);
    while rest.len() >= stride {
        let count = first_products::<WIDE>(gathered, rest, stride, &mut sums);
        let (group, behind) = rest.split_at_mut(count * stride);
        group.chunks_exact_mut(stride).zip(&sums).for_each(|(row, sums)| each(row, *sums));
        rest = behind;
    }
}

/// Products of all pairs of rows of `stride` numbers: the lower triangle of a symmetric matrix. The part above it is
/// arbitrary.
pub(crate) fn gram(rows: &[f64], stride: usize) -> Buffer {
    widest!(WIDE, (rows: &[f64], stride: usize) -> Buffer, gram_of::<WIDE>(rows, stride))
}

#[inline(always)]
fn gram_of<const WIDE: bool>(rows: &[f64], stride: usize) -> Buffer {
    let len = rows.len() / stride.max(1);
    let mut matrix = Buffer::of_anything(len * len);
    let mut gathered = Vec::with_capacity(stride);
    let mut sums = [[0.0; TILE]; MOST];
    for from in (0..len).step_by(TILE) {
        gather(&rows[from * stride..(from + TILE).min(len) * stride], stride, stride, &mut gathered);
        let mut i = from;
        while i < len {
            let count = first_products::<WIDE>(&gathered, &rows[i * stride..], stride, &mut sums);
            for (sums, row) in sums[..count].iter().zip(matrix[i * len..].chunks_exact_mut(len)) {
                row[from..].iter_mut().zip(sums).for_each(|(into, sum)| *into = *sum);
            }
            i += count;
        }
    }
    matrix
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
            assert!(products_of_four(&gathered, &below[2 * stride..], stride).is_none());
            assert!(products_of_eight(&gathered, &rows[1..], stride).is_none());
            let eight = products_of_eight(&gathered, &rows, stride).unwrap();
            for (r, products_of_one) in eight.iter().enumerate() {
                assert_eq!(*products_of_one, products(&gathered, &rows[r * stride..]));
            }
            let four = products_of_four(&gathered, below, stride).unwrap();
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
    #[test]
    fn a_gram_matrix_has_the_products_of_all_pairs() {
        for (len, stride) in [(0, 2), (1, 3), (4, 1), (6, 5), (13, 2)] {
            let rows: Vec<f64> = (0..len * stride).map(|at| (at * at % 7) as f64 - 3.0).collect();
            let matrix = gram(&rows, stride);
            for i in 0..len {
                for j in 0..=i {
                    let plain: f64 = (0..stride).map(|k| rows[i * stride + k] * rows[j * stride + k]).sum();
                    assert_eq!(matrix[i * len + j], plain);
                }
            }
        }
    }
}
