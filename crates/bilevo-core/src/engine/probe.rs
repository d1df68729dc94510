//! Finds out how far from a point, along each variable, the objectives change by as much as their own values.

use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::problem::Level;
use crate::problem::ProblemSpec;
use serde::{Deserialize, Serialize};

/// The distances that are tried: a tenth of the box, a hundredth, and so on.
const SIZES: i32 = 7;

/// Points at several distances from a given one, and the values there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Probe {
    pub(super) base: Solved,
    /// f and F at the point itself and at all others; NaN if an evaluation failed.
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Probe {
    pub(super) fn new(base: Solved) -> Probe {
        Probe { base, lower: Vec::new(), upper: Vec::new() }
    }

    /// The level whose values are needed next; `None` if all are known.
    pub(super) fn wants(&self) -> Option<Level> {
        match () {
            () if self.lower.is_empty() => Some(Level::Lower),
            () if self.upper.is_empty() => Some(Level::Upper),
            () => None,
        }
    }

    /// Appends the points.
    pub(super) fn ask(&self, spec: &ProblemSpec, batch: &mut Batch) {
        let mut push = |x: &[f64], y: &[f64]| batch.push(x).copy_from_slice(y);
        push(&self.base.x, &self.base.y);
        let moved = |space: &crate::space::Space, point: &[f64], i: usize, size: i32| {
            let (mut moved, v) = (point.to_vec(), space.variable(i));
            let away = if point[i] > v.middle() { -1.0 } else { 1.0 };
            moved[i] = v.nearest(point[i] + away * v.width() * libm::pow(10.0, -f64::from(size)));
            moved
        };
        for i in 0..spec.upper.dim() {
            (1..=SIZES).for_each(|size| push(&moved(&spec.upper.space, &self.base.x, i, size), &self.base.y));
        }
        for i in 0..spec.lower.dim() {
            (1..=SIZES).for_each(|size| push(&self.base.x, &moved(&spec.lower.space, &self.base.y, i, size)));
        }
    }

    /// Takes the values.
    pub(super) fn tell(&mut self, level: Level, answers: Answers<'_>) {
        let values = answers.outcomes.iter().map(|o| if o.is_failed() { f64::NAN } else { o.value }).collect();
        match level {
            Level::Lower => self.lower = values,
            Level::Upper => self.upper = values,
        }
    }

    /// For each variable, upper ones first: the distance from which F and f change by more than their own values; 1
    /// if neither tells. If only one of them tells, the other does not depend on this variable, or is zero.
    pub(super) fn sizes(&self) -> Vec<f64> {
        let count = (self.lower.len().saturating_sub(1)) / SIZES as usize;
        let both = |i: usize| [&self.lower, &self.upper].into_iter().filter_map(move |values| size(values, i));
        (0..count).map(|i| both(i).reduce(f64::max).unwrap_or(1.0)).collect()
    }
}

/// The largest distance within which a value changes by no more than itself; `None` if that holds everywhere or
/// nowhere.
fn size(values: &[f64], variable: usize) -> Option<f64> {
    let base = values[0];
    let of = &values[1 + variable * SIZES as usize..][..SIZES as usize];
    // From the smallest distance on.
    let near = of.iter().rev().take_while(|value| (*value - base).abs() <= base.abs()).count() as i32;
    (1..SIZES).contains(&near).then(|| libm::pow(10.0, f64::from(near - 1 - SIZES)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Outcome;

    #[test]
    fn the_size_is_where_a_value_changes_by_as_much_as_it_is() {
        let base = Solved {
            x: vec![0.0],
            y: vec![0.0],
            upper: Outcome::FAILED,
            upper_constraints: Vec::new(),
            lower: Outcome::FAILED,
            converged: true,
        };
        // F = 1 + (1e4 u)^2, f = 2 + (1e3 v)^2 + 1e5 u
        let sizes = || (1..=SIZES).map(|k| libm::pow(10.0, -f64::from(k)));
        let upper = [1.0].into_iter().chain(sizes().map(|u| 1.0 + 1e8 * u * u)).chain(sizes().map(|_| 1.0));
        let lower = [2.0].into_iter().chain(sizes().map(|u| 2.0 + 1e5 * u)).chain(sizes().map(|v| 2.0 + 1e6 * v * v));
        let probe = Probe { base, upper: upper.collect(), lower: lower.collect() };
        let found = probe.sizes();
        assert!((found[0] / 1e-4 - 1.0).abs() < 1e-9, "{found:?}");
        assert!((found[1] / 1e-3 - 1.0).abs() < 1e-9, "F does not change: {found:?}");
        assert_eq!(size(&[1.0; 8], 0), None);
        assert_eq!(size(&[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 0), None, "a value of zero");
    }
}
