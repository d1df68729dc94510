//! A comparison of the study with its runs: groups, tests and savings, computed once for all tables and figures.
//!
//! As in the paper, accuracies below [`ACCURACY_FLOOR`] count as that value, in medians and in tests.

use super::study::Comparison;
use crate::stats;
use crate::tables::groups::{self, Group, Measure, find};
use crate::tables::marks::MEASURES;
use crate::tables::{Mark, Tally};

/// Accuracies below this count as this: the published runs stop there.
pub const ACCURACY_FLOOR: f64 = 1e-6;

/// A comparison and its results.
#[derive(Clone, Debug)]
pub struct Compared<'g> {
    /// What is compared.
    pub comparison: Comparison,
    /// One line for each problem and method that was run, problem by problem.
    pub lines: Vec<Line<'g>>,
}

/// One method on one problem.
#[derive(Clone, Debug)]
pub struct Line<'g> {
    /// Problem.
    pub problem: &'static str,
    /// Method.
    pub method: &'static str,
    /// Its runs.
    pub group: &'g Group<'g>,
    /// The verdict on the reference against this method; `None` for the reference itself, and if there are too few
    /// runs.
    pub marks: [Option<Mark>; MEASURES],
    /// R_rs in percent: how much of the base's total evaluations the method saves, by medians; `None` for the base
    /// itself.
    pub saving: Option<f64>,
    /// Whether there are too few runs to test it against the reference.
    pub too_few_runs: bool,
}

/// A measure of every run, with accuracies floored.
fn values(group: &Group<'_>, measure: Measure) -> Vec<f64> {
    let mut values = group.values(measure);
    if measure.is_accuracy() {
        values.iter_mut().for_each(|v| *v = v.max(ACCURACY_FLOOR));
    }
    values
}

impl<'g> Line<'g> {
    fn new(
        comparison: &Comparison,
        problem: &'static str,
        method: &'static str,
        groups: &'g [Group<'g>],
    ) -> Option<Self> {
        let group = find(groups, method, problem)?;
        let other = |name: &str| if name == method { None } else { find(groups, name, problem) };
        let (reference, base) = (other(comparison.reference), other(comparison.base));
        let verdict = |measure| stats::verdict(&values(reference?, measure), &values(group, measure)).ok().flatten();
        let total = |group: &Group<'_>| group.median(Measure::TotalEvals);
        let saving = |base: f64, own: f64| (base > 0.0).then(|| 100.0 * (base - own) / base);
        let marks = Measure::ALL.map(verdict);
        Some(Line {
            problem,
            method,
            group,
            marks,
            saving: base.and_then(|base| saving(total(base)?, total(group)?)),
            too_few_runs: reference.is_some() && marks[MEASURES - 1].is_none(),
        })
    }

    /// The median of a measure for a table: of the objectives if the optimum is unknown.
    pub fn shown(&self, measure: Measure) -> Option<f64> {
        match measure.is_accuracy() && self.group.has_optimum() {
            true => groups::middle(&values(self.group, measure)),
            false => self.group.shown(measure),
        }
    }

    /// Median of the total evaluations.
    pub fn total(&self) -> Option<f64> {
        self.group.median(Measure::TotalEvals)
    }
}

impl<'g> Compared<'g> {
    /// The comparison on some groups.
    pub fn new(comparison: Comparison, groups: &'g [Group<'g>]) -> Self {
        let mut lines = Vec::new();
        for problem in comparison.on.names {
            lines.extend(comparison.all_methods().filter_map(|method| Line::new(&comparison, problem, method, groups)));
        }
        Compared { comparison, lines }
    }

    /// The lines of a method.
    pub fn of(&self, method: &str) -> impl Iterator<Item = &Line<'g>> + Clone {
        let method = method.to_string();
        self.lines.iter().filter(move |line| line.method == method)
    }

    /// The lines of the methods that tables show.
    pub fn shown(&self) -> impl Iterator<Item = &Line<'g>> + Clone {
        self.lines.iter().filter(|line| self.comparison.methods.contains(&line.method))
    }

    /// The line of a method on a problem.
    pub fn line(&self, method: &str, problem: &str) -> Option<&Line<'g>> {
        self.lines.iter().find(|line| line.method == method && line.problem == problem)
    }

    /// Mean of the savings of a method over the problems on which both it and the base were run.
    pub fn average_saving(&self, method: &str) -> Option<f64> {
        mean(self.of(method).filter_map(|line| line.saving))
    }

    /// How many runs of a method solved their problem, and how many could be judged.
    pub fn solved(&self, method: &str) -> (usize, usize) {
        let judged = self.of(method).filter_map(|line| Some((line.group.solved()?, line.group.rows.len())));
        judged.fold((0, 0), |(a, b), (solved, runs)| (a + solved, b + runs))
    }

    /// Mean over the problems of what the runs of a method have.
    pub fn average(&self, method: &str, value: fn(&Group<'_>) -> Option<f64>) -> Option<f64> {
        mean(self.of(method).filter_map(|line| value(line.group)))
    }

    /// Marks of a method against the reference over all problems, in one measure.
    pub fn tally(&self, method: &str, measure: Measure) -> Tally {
        let place = Measure::ALL.iter().position(|m| *m == measure);
        self.of(method).map(|line| line.marks[place?]).collect()
    }
}

/// The mean of some values, if there are any.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
