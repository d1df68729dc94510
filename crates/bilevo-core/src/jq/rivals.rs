//! Answers that once beat another one at the same x: followers with several basins.
//!
//! A leader that searches in one basin of the follower never learns that another is deeper. So
//! answers found by exposure are kept over restarts, and every search spends one evaluation on the
//! rival that is nearest in x and differs in y.

use serde::{Deserialize, Serialize};

/// Rivals remembered.
const MEMORY: usize = 12;
/// Share of the box by which some variable of a rival must differ ...
pub(crate) const DIFFERENT: f64 = 0.05;
/// ... where it matters which of equally good answers counts.
pub(crate) const FINER: f64 = 1e-3;

/// Known answers (x, y), the oldest first, and how many there ever were.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rivals(Vec<(Vec<f64>, Vec<f64>)>, u64);

impl Rivals {
    /// Remembers an answer.
    pub(crate) fn push(&mut self, x: &[f64], y: &[f64]) {
        if self.0.iter().any(|(known_x, known_y)| known_x == x && known_y == y) {
            return;
        }
        self.0.push((x.to_vec(), y.to_vec()));
        self.1 += 1;
        if self.0.len() > MEMORY {
            self.0.remove(0);
        }
    }

    /// How many there ever were.
    pub(crate) fn count(&self) -> u64 {
        self.1
    }

    /// All their answers.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.0.iter().map(|(_, y)| y)
    }

    /// The answer of the rival nearest in x that differs from `y`.
    pub(crate) fn nearest(
        &self,
        (x, y): (&[f64], &[f64]),
        upper: &[(f64, f64)],
        lower: &[(f64, f64)],
        apart: f64,
    ) -> Option<&[f64]> {
        let distance = |rival: &Vec<f64>| -> f64 {
            rival.iter().zip(x).zip(upper).map(|(pair, b)| share(pair, b)).map(|s| s * s).sum()
        };
        let candidates = self.0.iter().filter(|(_, rival)| differs_by(apart, rival, y, lower));
        candidates.min_by(|a, b| distance(&a.0).total_cmp(&distance(&b.0))).map(|(_, rival)| rival.as_slice())
    }
}

/// Difference as a share of the box.
fn share((a, b): (&f64, &f64), (low, high): &(f64, f64)) -> f64 {
    (a - b).abs() / (high - low)
}

/// Whether two answers are not the same.
pub(crate) fn differs(a: &[f64], b: &[f64], bounds: &[(f64, f64)]) -> bool {
    differs_by(DIFFERENT, a, b, bounds)
}

/// Whether some variable of two answers differs by more than a share of its box.
pub(crate) fn differs_by(apart: f64, a: &[f64], b: &[f64], bounds: &[(f64, f64)]) -> bool {
    a.iter().zip(b).zip(bounds).any(|(pair, b)| share(pair, b) > apart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_that_differs() {
        let mut rivals = Rivals::default();
        let bounds = [(0.0, 10.0)];
        let ask =
            |rivals: &Rivals, x: f64, y: f64| rivals.nearest((&[x], &[y]), &bounds, &bounds, DIFFERENT).map(|y| y[0]);
        assert_eq!(ask(&rivals, 1.0, 1.0), None);
        rivals.push(&[1.0], &[5.0]);
        rivals.push(&[9.0], &[7.0]);
        assert_eq!((ask(&rivals, 2.0, 1.0), ask(&rivals, 8.0, 1.0)), (Some(5.0), Some(7.0)));
        assert_eq!(ask(&rivals, 2.0, 5.4), Some(7.0), "the same basin is no rival");
    }

    #[test]
    fn memory_is_bounded_and_without_doubles() {
        let mut rivals = Rivals::default();
        (0..40).for_each(|i| rivals.push(&[0.0], &[f64::from(i)]));
        (0..40).for_each(|_| rivals.push(&[0.0], &[39.0]));
        assert_eq!(rivals.answers().count(), MEMORY);
    }
}
