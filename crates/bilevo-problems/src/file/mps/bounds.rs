//! Bounds that follow from the rows: instances often leave them to the constraints, and a search needs a box.
//!
//! What is the follower's is bounded by its own rows alone: a row of the leader does not bind it. What is the
//! leader's must meet every row.

use super::auxiliary::Lower;
use super::rows::{Column, Instance, Row};

/// Rounds over all rows.
const ROUNDS: usize = 20;

/// Narrows open bounds as far as the rows say.
pub(super) fn tighten(instance: &mut Instance, lower: &Lower) {
    let Instance { rows, columns, .. } = instance;
    for _ in 0..ROUNDS {
        let mut changed = false;
        for (row, own) in rows.iter().zip(&lower.rows) {
            for &index in row.terms.keys() {
                if *own || !lower.columns.contains_key(&index) {
                    changed |= narrow(row, columns, index);
                }
            }
        }
        if !changed {
            break;
        }
    }
}

/// Narrows the open bounds of a column by one row; whether that changed anything.
fn narrow(row: &Row, columns: &mut [Column], index: usize) -> bool {
    let weight = row.terms[&index];
    if weight == 0.0 || columns[index].low.is_finite() && columns[index].high.is_finite() {
        return false;
    }
    // Least and most that all the others come to.
    let (mut least, mut most) = (0.0, 0.0);
    for (&other, a) in row.terms.iter().filter(|(other, a)| **other != index && **a != 0.0) {
        let ends = [a * columns[other].low, a * columns[other].high];
        least += ends[0].min(ends[1]);
        most += ends[0].max(ends[1]);
    }
    let ends = [(row.low - most) / weight, (row.high - least) / weight];
    let (low, high) = if weight > 0.0 { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    let column = &mut columns[index];
    // An end of a whole number that rounding made a little too small is not lost.
    let round = |value: f64, up: f64| if column.whole { value + up * 1e-9 } else { value };
    let mut changed = false;
    if column.low == f64::NEG_INFINITY && low.is_finite() {
        (column.low, changed) = (round(low, -1.0), true);
    }
    if column.high == f64::INFINITY && high.is_finite() {
        (column.high, changed) = (round(high, 1.0), true);
    }
    changed
}
