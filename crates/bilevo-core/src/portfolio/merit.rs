//! The objective plus penalties: a step has to improve this.

use crate::minimise::{Constraints, Landscape, Step};
use serde::{Deserialize, Serialize};

/// f + Σ c_i · violation_i with a weight for each constraint, kept above its multiplier so that the
/// penalty is exact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Merit {
    inequalities: usize,
    weights: Vec<f64>,
    /// The multipliers of the latest step, from which the next one starts.
    multipliers: Vec<f64>,
}

impl Merit {
    pub(crate) fn new(inequalities: usize, equalities: usize) -> Self {
        let count = inequalities + equalities;
        Merit { inequalities, weights: vec![0.0; count], multipliers: vec![0.0; count] }
    }

    pub(crate) fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// The constraints of a row of values at a model's centre.
    pub(crate) fn constraints<'a>(&self, row: &'a [f64]) -> Constraints<'a> {
        Constraints { inequalities: self.inequalities, centre: &row[1..] }
    }

    /// The weighted violation of each constraint.
    fn penalty(&self, c: impl Iterator<Item = f64>) -> f64 {
        let constraints = Constraints { inequalities: self.inequalities, centre: &[] };
        c.zip(&self.weights).enumerate().map(|(i, (c, w))| w * constraints.excess(i, c)).sum()
    }

    /// Of a row of values; infinite if there is none.
    pub(crate) fn of(&self, row: &[f64]) -> f64 {
        match row.split_first() {
            Some((value, constraints)) => value + self.penalty(constraints.iter().copied()),
            None => f64::INFINITY,
        }
    }

    /// Of a row plus predicted differences.
    pub(crate) fn of_sum(&self, row: &[f64], change: &[f64]) -> f64 {
        row[0] + change[0] + self.penalty(row[1..].iter().zip(&change[1..]).map(|(c, d)| c + d))
    }

    /// The decrease that a step from a centre with values `row` promises.
    pub(crate) fn predicted(&self, row: &[f64], step: &Step) -> f64 {
        self.of(row) - self.of_sum(row, &step.values)
    }

    /// Weights that suit the multipliers of a step, so that a step towards feasibility counts as one.
    pub(crate) fn learn<L: Landscape>(&mut self, row: &[f64], model: &L, step: &Step) {
        let scale = |output: usize| model.variance(output).sqrt();
        for (i, (weight, multiplier)) in self.weights.iter_mut().zip(&step.multipliers).enumerate() {
            if *weight == 0.0 {
                *weight = (scale(0) / scale(i + 1)).clamp(0.0, 1e100);
                if !weight.is_finite() {
                    *weight = 0.0;
                }
            }
            *weight = weight.max((2.0 * multiplier.abs()).min(10.0 * *weight));
        }
        self.multipliers.clone_from(&step.multipliers);
        let relief = self.penalty(row[1..].iter().copied())
            - self.penalty(row[1..].iter().zip(&step.values[1..]).map(|(c, d)| c + d));
        let rise = step.values[0];
        if relief > 0.0 && rise > 0.75 * relief {
            let factor = (rise / (0.75 * relief)).min(100.0);
            self.weights.iter_mut().for_each(|w| *w *= factor);
        }
    }
}

#[cfg(test)]
mod tests;
