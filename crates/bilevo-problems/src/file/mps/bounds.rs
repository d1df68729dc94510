//! Bounds that follow from the rows: instances often leave them to the constraints, and a search needs a box.
//!
//! The follower's variables are bounded by its own rows only: the leader's rows do not bind the follower. The
//! leader's variables must meet every row.

use super::auxiliary::Lower;
use super::rows::{Column, Instance, Row};

/// Rounds over all rows.
const ROUNDS: usize = 20;
/// A bound that improves by less than this stays.
const SLACK: f64 = 1e-9;

/// Narrows open bounds as far as the rows allow.
pub(super) fn tighten(instance: &mut Instance, lower: &Lower) {
    let Instance { rows, columns, .. } = instance;
    let open: Vec<(bool, bool)> = columns.iter().map(|c| (c.low.is_infinite(), c.high.is_infinite())).collect();
    for _ in 0..ROUNDS {
        let mut changed = false;
        for (row, own) in rows.iter().zip(&lower.rows) {
            for &index in row.terms.keys() {
                if *own || !lower.columns.contains_key(&index) {
                    changed |= narrow(row, columns, index, open[index]);
                }
            }
        }
        if !changed {
            break;
        }
    }
    // Keeps an end of a whole number that rounding made slightly too small.
    for (column, (low, high)) in columns.iter_mut().zip(open).filter(|(column, _)| column.whole) {
        column.low -= if low { SLACK } else { 0.0 };
        column.high += if high { SLACK } else { 0.0 };
    }
}

/// Narrows the open bounds of a column by one row; returns whether anything changed.
fn narrow(row: &Row, columns: &mut [Column], index: usize, open: (bool, bool)) -> bool {
    let weight = row.terms[&index];
    if weight == 0.0 || !(open.0 || open.1) {
        return false;
    }
    // The smallest and largest sum of all the others.
    let (mut least, mut most) = (0.0, 0.0);
    for (&other, a) in row.terms.iter().filter(|(other, a)| **other != index && **a != 0.0) {
        let ends = [a * columns[other].low, a * columns[other].high];
        least += ends[0].min(ends[1]);
        most += ends[0].max(ends[1]);
    }
    let ends = [(row.low - most) / weight, (row.high - least) / weight];
    let (low, high) = if weight > 0.0 { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    let column = &mut columns[index];
    let lower = open.0 && low.is_finite() && low > column.low + SLACK;
    let upper = open.1 && high.is_finite() && high < column.high - SLACK;
    column.low = if lower { low } else { column.low };
    column.high = if upper { high } else { column.high };
    lower || upper
}
