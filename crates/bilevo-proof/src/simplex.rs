//! The small linear programs behind relaxations and descent directions:
//!
//!   t = min over z in a box of max over i of (aᵢ·z − bᵢ),
//!
//! solved by the simplex method on its dual, which has a row for every variable and one more. With z
//! scaled to [0, 1] the dual is: maximise −b·λ − Σⱼ sⱼ subject to sⱼ ≥ −(Aᵀλ)ⱼ, Σᵢ λᵢ = 1, λ, s ≥ 0.
//! Nothing here is rigorous: the callers verify everything that follows from λ or z in intervals.

/// Rows aᵢ·z ≤ bᵢ.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) coefficients: Vec<f64>,
    pub(crate) bounds: Vec<f64>,
}

impl Rows {
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = f64>, bound: f64) {
        self.coefficients.extend(row);
        self.bounds.push(bound);
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.len()
    }

    pub(crate) fn row(&self, index: usize) -> &[f64] {
        let n = self.coefficients.len() / self.bounds.len();
        &self.coefficients[index * n..(index + 1) * n]
    }
}

/// The result of a linear program, unverified.
pub(crate) struct Answer {
    /// Above 0 if no z meets all rows (for the scaled rows: only the sign is meaningful).
    pub(crate) value: f64,
    /// Multipliers of the rows.
    pub(crate) multipliers: Vec<f64>,
    /// A best z.
    pub(crate) point: Vec<f64>,
}

/// Maximum number of pivots, and from when on the first suitable column is used, which cannot cycle.
const PIVOTS: usize = 400;
const CAREFUL: usize = 100;

struct Tableau {
    rows: usize,
    width: usize,
    cells: Vec<f64>,
    /// Reduced costs, and in the last column the value.
    costs: Vec<f64>,
    basis: Vec<usize>,
}

/// Solves it. `lo` and `hi` are the box.
pub(crate) fn solve(program: &Rows, lo: &[f64], hi: &[f64]) -> Answer {
    let (m, n) = (program.len(), lo.len());
    let (scaled, bounds, scales) = scale(program, lo, hi);
    let mut tableau = start(&scaled, &bounds, m, n);
    for pivot in 0..PIVOTS {
        let Some(column) = tableau.entering(pivot >= CAREFUL) else { break };
        let Some(row) = tableau.leaving(column) else { break };
        tableau.pivot(row, column);
    }
    let last = tableau.width - 1;
    let mut multipliers = vec![0.0; m];
    for (row, &column) in tableau.basis.iter().enumerate() {
        if column < m {
            multipliers[column] = tableau.cells[row * tableau.width + last].max(0.0) / scales[column];
        }
    }
    // The primal solution is in the reduced costs of the slacks.
    let point = (0..n).map(|j| lo[j] + (hi[j] - lo[j]) * (-tableau.costs[m + n + j]).clamp(0.0, 1.0)).collect();
    Answer { value: tableau.costs[last], multipliers, point }
}

/// Rows over [0, 1] with entries of at most 1, and what they were divided by.
fn scale(program: &Rows, lo: &[f64], hi: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let n = lo.len();
    let mut scaled = program.coefficients.clone();
    let (mut bounds, mut scales) = (program.bounds.clone(), vec![1.0; program.len()]);
    for (i, row) in scaled.chunks_mut(n.max(1)).enumerate() {
        let mut largest = 0.0f64;
        for (j, a) in row.iter_mut().enumerate() {
            bounds[i] -= *a * lo[j];
            *a *= hi[j] - lo[j];
            largest = largest.max(a.abs());
        }
        let size = largest.max(bounds[i].abs()).max(1e-300);
        row.iter_mut().for_each(|a| *a /= size);
        bounds[i] /= size;
        scales[i] = size;
    }
    (scaled, bounds, scales)
}

/// The first basis: all weight on the row that is worst at its best, and the slacks that make it feasible.
fn start(a: &[f64], b: &[f64], m: usize, n: usize) -> Tableau {
    let best = |i: usize| a[i * n..(i + 1) * n].iter().map(|v| v.min(0.0)).sum::<f64>() - b[i];
    let first = (0..m).fold(0, |worst, i| if best(i) > best(worst) { i } else { worst });
    let (rows, width) = (n + 1, m + 2 * n + 1);
    let mut cells = vec![0.0; rows * width];
    let mut basis = vec![first; rows];
    cells[..m].fill(1.0);
    cells[width - 1] = 1.0;
    for j in 0..n {
        // s_j − r_j = −(Aᵀλ)_j, with λ of the first row eliminated by Σλ = 1
        let pivot = a[first * n + j];
        let sign = if pivot < 0.0 { -1.0 } else { 1.0 };
        let row = &mut cells[(j + 1) * width..(j + 2) * width];
        for i in 0..m {
            row[i] = sign * (pivot - a[i * n + j]);
        }
        row[m + j] = -sign;
        row[m + n + j] = sign;
        row[width - 1] = sign * pivot;
        basis[j + 1] = if pivot < 0.0 { m + j } else { m + n + j };
    }
    let cost = |column: usize| match column {
        c if c < m => -b[c],
        c if c < m + n => -1.0,
        _ => 0.0,
    };
    let mut costs: Vec<f64> = (0..width).map(|column| if column + 1 < width { cost(column) } else { 0.0 }).collect();
    for (row, &basic) in basis.iter().enumerate() {
        let price = cost(basic);
        for (c, cell) in costs.iter_mut().zip(&cells[row * width..(row + 1) * width]) {
            *c -= price * cell;
        }
    }
    costs[width - 1] = -costs[width - 1];
    Tableau { rows, width, cells, costs, basis }
}

impl Tableau {
    fn entering(&self, careful: bool) -> Option<usize> {
        let improves = |c: &usize| self.costs[*c] > 1e-10;
        let mut columns = (0..self.width - 1).filter(improves);
        if careful {
            return columns.next();
        }
        columns.reduce(|best, c| if self.costs[c] > self.costs[best] { c } else { best })
    }

    fn leaving(&self, column: usize) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for row in 0..self.rows {
            let cells = &self.cells[row * self.width..(row + 1) * self.width];
            if cells[column] > 1e-11 {
                let ratio = cells[self.width - 1] / cells[column];
                let better = best.is_none_or(|(least, at)| {
                    ratio < least - 1e-14 || (ratio < least + 1e-14 && self.basis[row] < self.basis[at])
                });
                if better {
                    best = Some((ratio, row));
                }
            }
        }
        best.map(|(_, row)| row)
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let width = self.width;
        let divisor = self.cells[row * width + column];
        let pivot: Vec<f64> = self.cells[row * width..(row + 1) * width].iter().map(|c| c / divisor).collect();
        for (r, cells) in self.cells.chunks_mut(width).enumerate() {
            let factor = cells[column];
            if r == row {
                cells.copy_from_slice(&pivot);
            } else if factor != 0.0 {
                cells.iter_mut().zip(&pivot).for_each(|(cell, p)| *cell -= factor * p);
            }
        }
        let factor = self.costs[column];
        self.costs[..width - 1].iter_mut().zip(&pivot).for_each(|(cost, p)| *cost -= factor * p);
        self.costs[width - 1] += factor * pivot[width - 1];
        self.basis[row] = column;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(rows: &[(&[f64], f64)]) -> Rows {
        let mut all = Rows::default();
        for (row, bound) in rows {
            all.push(row.iter().copied(), *bound);
        }
        all
    }

    #[test]
    fn contradictions_have_multipliers_that_show_them() {
        // x + y ≤ −0.1 cannot be in [0, 1]²
        let answer = solve(&program(&[(&[1.0, 1.0], -0.1), (&[1.0, -1.0], 3.0)]), &[0.0; 2], &[1.0; 2]);
        assert!(answer.value > 0.0 && answer.multipliers[0] > 0.0 && answer.multipliers[1] == 0.0);
        // x ≥ 2 − y and x ≤ y − 1 and y ≤ 1.2 contradict one another together only
        let rows = [(&[-1.0, -1.0][..], -2.0), (&[1.0, -1.0], -1.0), (&[0.0, 1.0], 1.2)];
        let answer = solve(&program(&rows), &[0.0; 2], &[5.0; 2]);
        assert!(answer.value > 0.0 && answer.multipliers.iter().all(|l| *l > 0.0), "{:?}", answer.multipliers);
        let sum = |j: usize| (0..3).map(|i| answer.multipliers[i] * rows[i].0[j]).sum::<f64>();
        let bound: f64 = (0..3).map(|i| answer.multipliers[i] * rows[i].1).sum();
        assert!(5.0 * sum(0).min(0.0) + 5.0 * sum(1).min(0.0) - bound > 0.0);
    }

    #[test]
    fn points_meet_rows_that_can_be_met() {
        let rows = program(&[(&[-1.0, -1.0], -2.0), (&[1.0, -1.0], -0.5), (&[0.0, 1.0], 1.6)]);
        let answer = solve(&rows, &[0.0; 2], &[5.0; 2]);
        assert!(answer.value < 0.0);
        for i in 0..3 {
            let row = rows.row(i);
            assert!(row[0] * answer.point[0] + row[1] * answer.point[1] < rows.bounds[i]);
        }
    }
}
