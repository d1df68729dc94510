//! Evaluates formulas over boxes and at points, reusing memory, and counts the operations.

#[cfg(test)]
mod tests;

use crate::graph::{Grade, Id};
use crate::interval::Interval;
use crate::problem::{Problem, Row};

/// A part of the search space: one interval for every variable, x first.
pub(crate) type Region = Vec<Interval>;

/// Maximum number of contraction passes over all formulas.
const PASSES: usize = 4;

/// Memory for evaluations.
pub(crate) struct Work<'a> {
    pub(crate) problem: &'a Problem,
    values: Vec<Interval>,
    grades: Vec<Grade>,
    needed: Vec<bool>,
    floats: Vec<f64>,
    /// Operations done so far: the same on every machine, unlike time.
    pub(crate) spent: u64,
}

/// A range with its grade.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) value: Interval,
    pub(crate) grade: Grade,
}

impl Range {
    pub(crate) fn is_lipschitz(self) -> bool {
        self.grade >= Grade::Lipschitz
    }
}

impl<'a> Work<'a> {
    pub(crate) fn new(problem: &'a Problem) -> Self {
        let nodes = problem.graph.len();
        Work {
            problem,
            values: vec![Interval::ZERO; nodes],
            grades: vec![Grade::Partial; nodes],
            needed: vec![false; nodes],
            floats: vec![0.0; nodes],
            spent: 0,
        }
    }

    fn forward(&mut self, list: &[Id], region: &[Interval]) {
        self.spent += list.len() as u64;
        self.problem.graph.forward(list, region, &mut self.values, &mut self.grades);
    }

    fn at(&self, id: Id) -> Range {
        Range { value: self.values[id as usize], grade: self.grades[id as usize] }
    }

    /// The range of a formula over a region.
    pub(crate) fn range(&mut self, row: &Row, region: &[Interval]) -> Range {
        self.forward(&row.list, region);
        self.at(row.root)
    }

    /// The range of f with all of its terms.
    pub(crate) fn full_lower(&mut self, region: &[Interval]) -> Interval {
        self.forward(&self.problem.full_lower_list, region);
        self.at(self.problem.full_lower).value
    }

    /// The range of a formula, and those of its derivatives.
    pub(crate) fn gradient(&mut self, row: &Row, region: &[Interval]) -> (Range, Vec<Interval>) {
        self.forward(&row.gradient_list, region);
        (self.at(row.root), row.gradient.iter().map(|&id| self.values[id as usize]).collect())
    }

    /// Second derivatives over a region, if the formula is smooth on it.
    pub(crate) fn hessian(&mut self, row: &Row, region: &[Interval]) -> Option<Vec<(usize, usize, Interval)>> {
        let entries = row.hessian.as_ref()?;
        self.forward(&row.hessian_list, region);
        let smooth = self.at(row.root).grade == Grade::Smooth;
        let value = |&(i, j, id): &(usize, usize, Id)| (i, j, self.values[id as usize]);
        smooth.then(|| entries.iter().map(value).collect())
    }

    /// An upper bound of a formula over a region: the better of its range and of the mean value form φ(z) ∈ φ(c) + Σⱼ
    /// ∂ⱼφ(Z) (zⱼ − cⱼ). `None` if it may be undefined somewhere.
    pub(crate) fn supremum(&mut self, row: &Row, region: &[Interval]) -> Option<f64> {
        let natural = self.range(row, region);
        if natural.grade < Grade::Defined {
            return None;
        }
        if !natural.is_lipschitz() || region.iter().all(|i| i.is_point()) {
            return Some(natural.value.hi);
        }
        let (_, gradient) = self.gradient(row, region);
        let centre: Region = region.iter().map(|i| Interval::point(i.middle())).collect();
        let mut mean = self.range(row, &centre).value;
        for (j, slope) in gradient.into_iter().enumerate() {
            if !region[j].is_point() {
                mean = mean + slope * (region[j] - centre[j]);
            }
        }
        Some(if mean.is_empty() { natural.value.hi } else { natural.value.hi.min(mean.hi) })
    }

    /// Narrows a region by the ranges that formulas must lie in; false if nothing is left.
    pub(crate) fn contract(&mut self, with_slopes: bool, targets: &[(Id, Interval)], region: &mut Region) -> bool {
        let problem = self.problem;
        let list = if with_slopes { &problem.all_with_slopes } else { &problem.all };
        for _ in 0..PASSES {
            let before: Vec<f64> = region.iter().map(|i| i.width()).collect();
            self.forward(list, region);
            self.spent += list.len() as u64;
            if !problem.graph.backward(list, targets, region, &mut self.values, &mut self.needed)
                || !whole_numbers(problem, region)
            {
                return false;
            }
            if !shrank(&before, region, 0.8) {
                break;
            }
        }
        true
    }

    /// The value of a formula at a point, in floating-point numbers.
    pub(crate) fn float(&mut self, row: &Row, point: &[f64]) -> f64 {
        self.spent += row.list.len() as u64 / 4;
        self.problem.graph.point(&row.list, point, &mut self.floats);
        self.floats[row.root as usize]
    }

    /// The same with the derivatives by y, times `factor`, added to `gradient`.
    pub(crate) fn float_gradient(&mut self, row: &Row, point: &[f64]) -> f64 {
        self.spent += row.gradient_list.len() as u64 / 4;
        self.problem.graph.point(&row.gradient_list, point, &mut self.floats);
        self.floats[row.root as usize]
    }

    /// A derivative after [`Work::float_gradient`].
    pub(crate) fn float_slope(&self, row: &Row, variable: usize) -> f64 {
        self.floats[row.gradient[variable] as usize]
    }
}

/// Rounds whole-number variables inwards; false if nothing is left.
fn whole_numbers(problem: &Problem, region: &mut Region) -> bool {
    for (interval, _) in region.iter_mut().zip(&problem.whole).filter(|(_, whole)| **whole) {
        *interval = Interval::new(interval.lo.ceil(), interval.hi.floor());
        if interval.is_empty() {
            return false;
        }
    }
    true
}

/// Whether some variable lost more than a share of its width.
pub(crate) fn shrank(before: &[f64], region: &Region, share: f64) -> bool {
    region.iter().zip(before).any(|(i, &old)| old > 0.0 && i.width() < share * old)
}
