//! Whole numbers together with real variables: the order in which a model sees them, and the real values that it
//! predicts for other whole numbers.

use crate::minimise::{self, Region, Slice, Step};
use crate::portfolio::merit::Merit;
use crate::space::Space;
use crate::surrogate::Surrogate;
use serde::{Deserialize, Serialize};

/// Up to this width, a whole number has few values.
const FEW_VALUES: f64 = 3.0;

/// How far real variables move along with other whole numbers, in units of the box.
pub(crate) const REACH: f64 = 0.2;

/// The variables of a space in the order of a model: whole numbers first, real variables last, in unit coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mixed {
    pub(crate) space: Space,
    order: Vec<usize>,
    /// How many are whole numbers.
    pub(crate) wholes: usize,
}

impl Mixed {
    pub(crate) fn new(space: Space) -> Self {
        let (mut order, reals): (Vec<usize>, Vec<usize>) =
            (0..space.dim()).partition(|&i| space.variable(i).is_whole() || space.variable(i).is_fixed());
        let wholes = order.len();
        order.extend(reals);
        Mixed { space, order, wholes }
    }

    /// How many are real.
    pub(crate) fn reals(&self) -> usize {
        self.order.len() - self.wholes
    }

    /// The model's coordinates of a point.
    pub(crate) fn unit(&self, point: &[f64]) -> Vec<f64> {
        self.order.iter().map(|&i| self.space.variable(i).unit(point[i])).collect()
    }

    /// The point at the model's coordinates.
    pub(crate) fn point(&self, unit: &[f64]) -> Vec<f64> {
        let mut point = vec![0.0; unit.len()];
        self.order.iter().zip(unit).for_each(|(&i, &u)| point[i] = self.space.variable(i).at(u));
        point
    }

    /// The variables in the model's order.
    pub(crate) fn reordered(&self) -> Space {
        self.order.iter().map(|&i| self.space.variable(i)).collect()
    }

    /// Initial lengths of a model's kernel: a whole number with few values changes a lot or not at all.
    pub(crate) fn lengths(&self) -> Vec<f64> {
        let length = |&i: &usize| match self.space.variable(i) {
            v if v.is_whole() && v.width() <= FEW_VALUES => 1.0,
            _ => 0.3,
        };
        self.order.iter().map(length).collect()
    }

    /// `point` with its real variables at the model's coordinates.
    pub(crate) fn with_reals(&self, point: &[f64], unit: &[f64]) -> Vec<f64> {
        let mut moved = point.to_vec();
        for (&i, &u) in self.order[self.wholes..].iter().zip(unit) {
            moved[i] = self.space.variable(i).at(u);
        }
        moved
    }

    /// Unit coordinates of the whole numbers and of the real variables.
    pub(crate) fn split(&self, point: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut unit = self.unit(point);
        let reals = unit.split_off(self.wholes);
        (unit, reals)
    }

    /// Points that differ from `point` in one whole number, and their number; then those in which two are exchanged.
    pub(crate) fn neighbours(&self, point: &[f64]) -> (Vec<Vec<f64>>, usize) {
        let mut near: Vec<Vec<f64>> = self.space.whole_moves(point).collect();
        let moves = near.len();
        near.extend(self.space.exchanges(point));
        (near, moves)
    }
}

/// The model's step from its centre (where `row` was observed) if everything but the real variables changes by
/// `change`.
pub(crate) fn step(model: &Surrogate, merit: &Merit, row: &[f64], reals: &[f64], change: &[f64]) -> Step {
    let mut slice = Slice::new(model, change);
    let (region, start) = (Region::around(reals, REACH), vec![0.0; reals.len()]);
    minimise::minimise(&mut slice, &region, merit.constraints(row), &start, merit.multipliers())
}

/// The bits of a point, by which it is recognised.
pub(crate) fn key(point: &[f64]) -> Vec<u64> {
    point.iter().map(|v| v.to_bits()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_come_first_and_reals_move_alone() {
        let mixed = Mixed::new(Space::new().real("p", 0.0, 4.0).binary("a").real("q", 1.0, 3.0).whole("n", 0.0, 2.0));
        assert_eq!((mixed.wholes, mixed.reals()), (2, 2));
        assert_eq!(mixed.unit(&[1.0, 1.0, 2.0, 1.0]), [1.0, 0.5, 0.25, 0.5]);
        assert_eq!(mixed.with_reals(&[1.0, 1.0, 2.0, 1.0], &[0.5, 1.0]), [2.0, 1.0, 3.0, 1.0]);
        let (near, moves) = mixed.neighbours(&[1.0, 1.0, 2.0, 1.0]);
        assert_eq!(near[..moves], [[1.0, 0.0, 2.0, 1.0], [1.0, 1.0, 2.0, 0.0], [1.0, 1.0, 2.0, 2.0]]);
        assert_eq!(near[moves..], [[1.0, 0.0, 2.0, 2.0]]);
    }
}
