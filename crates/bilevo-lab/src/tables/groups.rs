//! Runs that belong together: one method on one problem of one size, under one config and version.
//!
//! Rows of different configs or versions are never mixed. A label says only what is needed to distinguish the groups
//! of a store: sizes and settings only if there are several, version and config only if everything else is the same.
//! [`remarks`] says what the labels leave out.

use crate::row::Row;
use crate::stats;
use bilevo::RunId;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A run without an answer counts as farther away than any other; the tests need a finite number.
const NO_ANSWER: f64 = f64::MAX;

/// What is measured in a run, in the order of the paper's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// |F - F*|
    UpperAccuracy,
    /// |f - f*|
    LowerAccuracy,
    /// Upper evaluations.
    UpperEvals,
    /// Lower evaluations.
    LowerEvals,
    /// All evaluations.
    TotalEvals,
}

impl Measure {
    /// All, in the order of the paper's columns.
    pub const ALL: [Measure; 5] =
        [Measure::UpperAccuracy, Measure::LowerAccuracy, Measure::UpperEvals, Measure::LowerEvals, Measure::TotalEvals];

    /// The measure of a run; `None` if it needs an optimum that is unknown.
    fn of(self, row: &Row) -> Option<f64> {
        let distance = |value: Option<f64>| value.filter(|v| v.is_finite()).unwrap_or(NO_ANSWER);
        match self {
            Measure::UpperAccuracy => row.solved().map(|_| distance(row.accuracy().map(|a| a.upper))),
            Measure::LowerAccuracy => match row.accuracy() {
                Some(accuracy) => accuracy.lower.map(|lower| distance(Some(lower))),
                None => row.solved().map(|_| NO_ANSWER),
            },
            Measure::UpperEvals => Some(row.result.evaluations.upper as f64),
            Measure::LowerEvals => Some(row.result.evaluations.lower as f64),
            Measure::TotalEvals => Some(row.total_evals() as f64),
        }
    }

    /// Whether it is a distance from the optimum.
    pub fn is_accuracy(self) -> bool {
        matches!(self, Measure::UpperAccuracy | Measure::LowerAccuracy)
    }
}

/// The runs of one method on one problem.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Problem, with its size if it was run in several sizes.
    pub problem: String,
    /// Method, with its settings if it was run with several.
    pub method: String,
    /// The runs.
    pub rows: Vec<&'a Row>,
}

impl Group<'_> {
    /// A measure of every run that has it.
    pub fn values(&self, measure: Measure) -> Vec<f64> {
        self.rows.iter().filter_map(|r| measure.of(r)).collect()
    }

    /// Median of a measure; `None` if no run has it.
    pub fn median(&self, measure: Measure) -> Option<f64> {
        middle(&self.values(measure))
    }

    /// First and third quartile of a measure.
    pub fn quartiles(&self, measure: Measure) -> Option<(f64, f64)> {
        let summary = stats::Summary::of(&self.values(measure)).ok()?;
        Some((without_answer(summary.q1), without_answer(summary.q3)))
    }

    fn median_of(&self, value: fn(&Row) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.rows.iter().filter_map(|r| value(r)).filter(|v| v.is_finite()).collect();
        stats::median(&values).ok()
    }

    /// The median of a measure for a table: of the objectives if the optimum is unknown.
    pub fn shown(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::UpperAccuracy if !self.has_optimum() => self.median_of(|r| r.result.upper_value()),
            Measure::LowerAccuracy if !self.has_optimum() => self.median_of(|r| r.result.lower_value()),
            _ => self.median(measure),
        }
    }

    /// Whether the optimum of the problem is known.
    pub fn has_optimum(&self) -> bool {
        self.rows.iter().any(|r| r.solved().is_some())
    }

    /// Runs that solved the problem; `None` if its optimum is unknown.
    pub fn solved(&self) -> Option<usize> {
        self.has_optimum().then(|| self.rows.iter().filter(|r| r.solved() == Some(true)).count())
    }

    /// `19/21`, a dash if the optimum is unknown.
    pub fn solved_text(&self) -> String {
        self.solved().map_or_else(|| "–".into(), |s| format!("{s}/{}", self.rows.len()))
    }

    /// Mean accuracy of the ranking model over the runs that have one.
    pub fn model_accuracy(&self) -> Option<f64> {
        self.mean_of(|r| r.result.model_accuracy)
    }

    /// The same on pairs across generations.
    pub fn model_accuracy_across(&self) -> Option<f64> {
        self.mean_of(|r| r.result.model_accuracy_across)
    }

    fn mean_of(&self, value: fn(&Row) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.rows.iter().filter_map(|r| value(r)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// The median of some values of a measure, infinite if the middle one has no answer; `None` without any values.
pub fn middle(values: &[f64]) -> Option<f64> {
    stats::median(values).ok().map(without_answer)
}

fn without_answer(value: f64) -> f64 {
    // Half of the farthest value, between quartiles, counts as the whole of it.
    if value > NO_ANSWER / 1e6 { f64::INFINITY } else { value }
}

/// Rows by problem and method, problems in natural order (`smd2` before `smd10`).
pub fn group(rows: &[Row]) -> Vec<Group<'_>> {
    let mut by_cell: BTreeMap<Cell<'_>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        by_cell.entry(Cell::of(row.id())).or_default().push(row);
    }
    let labels = Labels::of(by_cell.keys());
    by_cell
        .into_iter()
        .map(|(cell, rows)| Group { problem: labels.problem(&cell), method: labels.method(&cell), rows })
        .collect()
}

/// What readers of tables must know and labels do not say: settings that all runs of a method share, and versions
/// that are compared.
pub fn remarks(groups: &[Group<'_>]) -> Vec<String> {
    let rows = || groups.iter().flat_map(|g| &g.rows).map(|row| row.id());
    let mut remarks = Vec::new();
    let versions: BTreeSet<&str> = rows().map(|id| id.version.as_str()).collect();
    if versions.len() > 1 {
        let versions: Vec<&str> = versions.into_iter().collect();
        remarks.push(format!(
            "Runs of different versions of bilevo stand side by side ({}): differences may come from the program.",
            versions.join(", ")
        ));
    }
    let mut settings: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for id in rows() {
        settings.entry(&id.method).or_default().insert(&id.settings);
    }
    let mut methods_by_settings: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (method, own) in &settings {
        if let (Some(only), 1) = (own.first(), own.len())
            && !only.is_empty()
        {
            methods_by_settings.entry(only).or_default().push(method);
        }
    }
    for (only, methods) in methods_by_settings {
        let who = if methods.len() == settings.len() { "every method".to_string() } else { methods.join(", ") };
        remarks.push(format!("Settings of {who}: {only}."));
    }
    remarks
}

/// The group of a method on a problem.
pub fn find<'g, 'a>(groups: &'g [Group<'a>], method: &str, problem: &str) -> Option<&'g Group<'a>> {
    groups.iter().find(|g| g.method == method && g.problem == problem)
}

/// Headings of the first two measures: the objectives if an optimum is unknown.
pub fn value_titles<'g>(groups: impl Iterator<Item = &'g Group<'g>> + Clone) -> [&'static str; 2] {
    let mut known = groups.map(Group::has_optimum);
    match (known.clone().any(|k| k), known.any(|k| !k)) {
        (true, false) => ["Acc_u", "Acc_l"],
        (true, true) => ["Acc_u or F", "Acc_l or f"],
        (false, _) => ["F", "f"],
    }
}

/// Each problem once, in the order of the groups.
pub fn problems<'g>(groups: &'g [Group<'_>]) -> Vec<&'g str> {
    let mut names: Vec<&str> = groups.iter().map(|g| g.problem.as_str()).collect();
    names.dedup();
    names
}

/// Each method once, in natural order.
pub fn methods<'g>(groups: &'g [Group<'_>]) -> Vec<&'g str> {
    let mut names: Vec<&str> = groups.iter().map(|g| g.method.as_str()).collect();
    names.sort_by(|a, b| Natural(a).cmp(&Natural(b)));
    names.dedup();
    names
}

/// The identity of a run without its seed, in the order of tables.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Cell<'a> {
    problem: Natural<'a>,
    dims: (usize, usize),
    method: Natural<'a>,
    settings: &'a str,
    origin: Origin<'a>,
}

/// Problem, size, method, settings.
type Named<'a> = (&'a str, (usize, usize), &'a str, &'a str);

/// Hash of the problem's file, version, hash of the config.
type Origin<'a> = (&'a str, &'a str, &'a str);

impl<'a> Cell<'a> {
    fn of(id: &'a RunId) -> Self {
        Cell {
            problem: Natural(&id.problem),
            dims: (id.upper_dim, id.lower_dim),
            method: Natural(&id.method),
            settings: &id.settings,
            origin: (&id.problem_hash, &id.version, &id.config_hash),
        }
    }

    /// What a label says at most, unless it has to distinguish origins.
    fn named(&self) -> Named<'a> {
        (self.problem.0, self.dims, self.method.0, self.settings)
    }
}

/// What occurs several times, so that labels must distinguish it.
struct Labels<'a> {
    sizes: BTreeMap<&'a str, BTreeSet<(usize, usize)>>,
    settings: BTreeMap<&'a str, BTreeSet<&'a str>>,
    origins: BTreeMap<Named<'a>, BTreeSet<Origin<'a>>>,
}

impl<'a> Labels<'a> {
    fn of<'c>(cells: impl Iterator<Item = &'c Cell<'a>>) -> Self
    where
        'a: 'c,
    {
        let mut labels = Labels { sizes: BTreeMap::new(), settings: BTreeMap::new(), origins: BTreeMap::new() };
        for cell in cells {
            labels.sizes.entry(cell.problem.0).or_default().insert(cell.dims);
            labels.settings.entry(cell.method.0).or_default().insert(cell.settings);
            labels.origins.entry(cell.named()).or_default().insert(cell.origin);
        }
        labels
    }

    fn problem(&self, cell: &Cell<'_>) -> String {
        let (m, n) = cell.dims;
        let several = self.sizes.get(cell.problem.0).is_some_and(|sizes| sizes.len() > 1);
        if several { format!("{} {m}+{n}", cell.problem.0) } else { cell.problem.0.to_string() }
    }

    fn method(&self, cell: &Cell<'_>) -> String {
        let mut label = cell.method.0.to_string();
        let several = self.settings.get(cell.method.0).is_some_and(|settings| settings.len() > 1);
        if several && !cell.settings.is_empty() {
            label = format!("{label} {}", cell.settings);
        }
        if self.origins.get(&cell.named()).is_some_and(|origins| origins.len() > 1) {
            let (file, version, config) = cell.origin;
            let start = |hash: &str| hash.chars().take(8).collect::<String>();
            let file = if file.is_empty() { String::new() } else { format!(", file {}", start(file)) };
            label = format!("{label} (version {version}, config {}{file})", start(config));
        }
        label
    }
}

/// A name, ordered with its digits as numbers.
#[derive(PartialEq, Eq)]
struct Natural<'a>(&'a str);

impl PartialOrd for Natural<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut a, mut b) = (self.0, other.0);
        while !a.is_empty() && !b.is_empty() {
            let ((word_a, number_a, rest_a), (word_b, number_b, rest_b)) = (chunk(a), chunk(b));
            let order = word_a
                .cmp(word_b)
                .then_with(|| number_a.trim_start_matches('0').len().cmp(&number_b.trim_start_matches('0').len()))
                .then_with(|| number_a.trim_start_matches('0').cmp(number_b.trim_start_matches('0')));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (rest_a, rest_b);
        }
        a.len().cmp(&b.len()).then_with(|| self.0.cmp(other.0))
    }
}

/// The leading non-digits, the digits after them, and the rest.
fn chunk(text: &str) -> (&str, &str, &str) {
    let word = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
    let (head, tail) = text.split_at(word);
    let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
    let (number, rest) = tail.split_at(digits);
    (head, number, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::row;
    use bilevo::Accuracy;

    #[test]
    fn problems_come_in_natural_order() {
        let rows: Vec<Row> = ["smd10", "tp1", "smd2", "smd1", "a"].iter().map(|p| row("m", p, 1)).collect();
        assert_eq!(problems(&group(&rows)), ["a", "smd1", "smd2", "smd10", "tp1"]);
    }

    fn labels(rows: &[Row]) -> Vec<String> {
        group(rows).iter().map(|g| format!("{}|{}", g.problem, g.method)).collect()
    }

    #[test]
    fn configs_versions_and_sizes_do_not_mix() {
        let mut rows = vec![row("m", "p", 1), row("m", "p", 2), row("m", "p", 3), row("m", "p", 4)];
        rows[1].result.id.config_hash = "feedfacecafe".into();
        rows[2].result.id.upper_dim = 5;
        rows[3].result.id.problem_hash = "edited".into();
        let mut labels = labels(&rows);
        labels.dedup();
        assert_eq!(labels.len(), 4);
        assert!(labels.iter().any(|l| l == "p 5+3|m"), "{labels:?}");
        assert!(labels.iter().any(|l| l.contains("feedface")), "{labels:?}");
        assert!(labels.iter().any(|l| l.contains("file edited")), "{labels:?}");
    }

    #[test]
    fn settings_that_all_runs_of_a_method_have_are_no_part_of_its_name() {
        let mut rows = vec![row("a", "p", 1), row("b", "p", 1)];
        rows.iter_mut().for_each(|r| r.result.id.settings = "stop.target=off".into());
        assert_eq!(labels(&rows), ["p|a", "p|b"]);
        assert_eq!(remarks(&group(&rows)), ["Settings of every method: stop.target=off."]);
        rows.push(row("b", "p", 1));
        assert_eq!(labels(&rows), ["p|a", "p|b", "p|b stop.target=off"]);
        assert_eq!(remarks(&group(&rows)), ["Settings of a: stop.target=off."]);
    }

    #[test]
    fn versions_side_by_side_are_mentioned() {
        let mut rows = vec![row("a", "p", 1), row("b", "p", 1)];
        assert!(remarks(&group(&rows)).is_empty());
        rows[1].result.id.version = "0.2.0".into();
        let said = remarks(&group(&rows));
        assert!(said.len() == 1 && said[0].contains("(0.1.0, 0.2.0)"), "{said:?}");
    }

    #[test]
    fn accuracies_are_as_measured() {
        let mut rows = vec![row("m", "p", 1)];
        rows[0].result.accuracy = Some(Accuracy { upper: 3e-9, lower: Some(0.0) });
        let group = &group(&rows)[0];
        assert_eq!(
            (group.median(Measure::UpperAccuracy), group.shown(Measure::LowerAccuracy)),
            (Some(3e-9), Some(0.0))
        );
    }

    #[test]
    fn a_run_without_an_answer_is_infinitely_far() {
        let mut rows = vec![row("m", "p", 1)];
        rows[0].result.accuracy = None;
        rows[0].result.solved = Some(false);
        let group = &group(&rows)[0];
        for measure in [Measure::UpperAccuracy, Measure::LowerAccuracy] {
            assert_eq!(group.median(measure), Some(f64::INFINITY));
        }
    }
}
