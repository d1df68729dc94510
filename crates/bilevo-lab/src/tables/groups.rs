//! Runs that belong together: one method on one problem of one size, under one config and version.
//!
//! Rows of different configs or versions never mix; where a store holds several under one name,
//! their labels tell them apart.

use crate::row::RunRow;
use crate::stats;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Accuracies below this are shown, and compared, as this.
pub const ACCURACY_FLOOR: f64 = 1e-6;

/// A run without an answer is farther away than any other; the tests need a finite number.
const NO_ANSWER: f64 = f64::MAX;

/// What is measured of a run, in the order of the paper's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// |F - F*|, floored.
    UpperAccuracy,
    /// |f - f*|, floored.
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

    fn of(self, row: &RunRow) -> Option<f64> {
        let floored = |a: f64| if a.is_finite() { a.max(ACCURACY_FLOOR) } else { NO_ANSWER };
        match self {
            Measure::UpperAccuracy => row.upper_accuracy.map(floored),
            Measure::LowerAccuracy => row.lower_accuracy.map(floored),
            Measure::UpperEvals => Some(row.upper_evals as f64),
            Measure::LowerEvals => Some(row.lower_evals as f64),
            Measure::TotalEvals => Some(row.total_evals() as f64),
        }
    }
}

/// The runs of one method on one problem.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Problem with its size where a store holds several sizes of it.
    pub problem: String,
    /// Method with its settings.
    pub method: String,
    /// The runs.
    pub rows: Vec<&'a RunRow>,
}

impl Group<'_> {
    /// A measure of every run that has it.
    pub fn values(&self, measure: Measure) -> Vec<f64> {
        self.rows.iter().filter_map(|r| measure.of(r)).collect()
    }

    /// Median of a measure; none if no run has it.
    pub fn median(&self, measure: Measure) -> Option<f64> {
        stats::median(&self.values(measure)).ok().map(without_answer)
    }

    /// First and third quartile of a measure.
    pub fn quartiles(&self, measure: Measure) -> Option<(f64, f64)> {
        let summary = stats::Summary::of(&self.values(measure)).ok()?;
        Some((without_answer(summary.q1), without_answer(summary.q3)))
    }

    fn median_of(&self, value: fn(&RunRow) -> f64) -> Option<f64> {
        let values: Vec<f64> = self.rows.iter().map(|r| value(r)).filter(|v| v.is_finite()).collect();
        stats::median(&values).ok()
    }

    /// Median of a measure for a table: of the objectives where the optimum is unknown.
    pub fn shown(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::UpperAccuracy if !self.has_accuracy() => self.median_of(|r| r.upper_value),
            Measure::LowerAccuracy if !self.has_accuracy() => self.median_of(|r| r.lower_value),
            _ => self.median(measure),
        }
    }

    /// Whether the optimum of the problem is known.
    pub fn has_accuracy(&self) -> bool {
        self.rows.iter().any(|r| r.upper_accuracy.is_some())
    }

    /// Runs that solved the problem; none if its optimum is unknown.
    pub fn solved(&self) -> Option<usize> {
        self.has_accuracy().then(|| self.rows.iter().filter(|r| r.solved() == Some(true)).count())
    }

    /// `19/21`, a dash if the optimum is unknown.
    pub fn solved_text(&self) -> String {
        self.solved().map_or_else(|| "–".into(), |s| format!("{s}/{}", self.rows.len()))
    }

    /// Mean accuracy of the ranking model over the runs that have one.
    pub fn model_accuracy(&self) -> Option<f64> {
        let values: Vec<f64> = self.rows.iter().filter_map(|r| r.model_accuracy).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

fn without_answer(value: f64) -> f64 {
    // Between quartiles half of the farthest value is as far as the whole of it.
    if value > NO_ANSWER / 1e6 { f64::INFINITY } else { value }
}

/// Rows by problem and method, problems in natural order (`smd2` before `smd10`).
pub fn group(rows: &[RunRow]) -> Vec<Group<'_>> {
    let mut by_identity: BTreeMap<Identity<'_>, Vec<&RunRow>> = BTreeMap::new();
    for row in rows {
        by_identity.entry(Identity::of(row)).or_default().push(row);
    }
    let mut sizes: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    let mut configs: BTreeMap<Named<'_>, usize> = BTreeMap::new();
    for id in by_identity.keys() {
        let seen = sizes.entry(id.problem.0).or_default();
        if !seen.contains(&id.dims) {
            seen.push(id.dims);
        }
        *configs.entry(id.named()).or_default() += 1;
    }
    by_identity
        .into_iter()
        .map(|(id, rows)| {
            let several_sizes = sizes.get(id.problem.0).is_some_and(|s| s.len() > 1);
            let several_configs = configs.get(&id.named()).is_some_and(|&n| n > 1);
            Group { problem: id.problem_label(several_sizes), method: id.method_label(several_configs), rows }
        })
        .collect()
}

/// The group of a method on a problem.
pub fn find<'g, 'a>(groups: &'g [Group<'a>], method: &str, problem: &str) -> Option<&'g Group<'a>> {
    groups.iter().find(|g| g.method == method && g.problem == problem)
}

/// Headings of the first two measures: objectives stand in where an optimum is unknown.
pub fn value_titles<'g>(groups: impl Iterator<Item = &'g Group<'g>> + Clone) -> [&'static str; 2] {
    let mut known = groups.map(Group::has_accuracy);
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

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Identity<'a> {
    problem: Natural<'a>,
    dims: (usize, usize),
    method: Natural<'a>,
    settings: &'a str,
    problem_hash: &'a str,
    version: &'a str,
    config_hash: &'a str,
}

/// What a label says unless it has to tell configs apart: problem, size, method, settings.
type Named<'a> = (&'a str, (usize, usize), &'a str, &'a str);

impl<'a> Identity<'a> {
    fn named(&self) -> Named<'a> {
        (self.problem.0, self.dims, self.method.0, self.settings)
    }

    fn of(row: &'a RunRow) -> Self {
        Identity {
            problem: Natural(&row.problem),
            dims: (row.upper_dim, row.lower_dim),
            method: Natural(&row.method),
            settings: &row.settings,
            problem_hash: &row.problem_hash,
            version: &row.version,
            config_hash: &row.config_hash,
        }
    }

    fn problem_label(&self, with_size: bool) -> String {
        let (m, n) = self.dims;
        if with_size { format!("{} {m}+{n}", self.problem.0) } else { self.problem.0.to_string() }
    }

    fn method_label(&self, with_config: bool) -> String {
        let mut label = self.method.0.to_string();
        if !self.settings.is_empty() {
            label = format!("{label} {}", self.settings);
        }
        if with_config {
            let hash: String = self.config_hash.chars().take(8).collect();
            label = format!("{label} (version {}, config {hash})", self.version);
        }
        label
    }
}

/// A name ordered with its digits as numbers.
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

/// The leading non-digits, the digits behind them, and what is left.
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

    #[test]
    fn problems_come_in_natural_order() {
        let rows: Vec<RunRow> = ["smd10", "tp1", "smd2", "smd1", "a"].iter().map(|p| row("m", p, 1)).collect();
        assert_eq!(problems(&group(&rows)), ["a", "smd1", "smd2", "smd10", "tp1"]);
    }

    #[test]
    fn configs_versions_and_sizes_do_not_mix() {
        let mut rows = vec![row("m", "p", 1), row("m", "p", 2), row("m", "p", 3)];
        rows[1].config_hash = "feedfacecafe".into();
        rows[2].upper_dim = 5;
        let groups = group(&rows);
        assert_eq!(groups.len(), 3);
        let mut labels: Vec<String> = groups.iter().map(|g| format!("{}|{}", g.problem, g.method)).collect();
        labels.dedup();
        assert_eq!(labels.len(), 3);
        assert!(labels.iter().any(|l| l == "p 5+3|m"), "{labels:?}");
        assert!(labels.iter().any(|l| l.contains("feedface")), "{labels:?}");
    }

    #[test]
    fn a_run_without_an_answer_is_infinitely_far() {
        let mut rows = vec![row("m", "p", 1)];
        rows[0].upper_accuracy = Some(f64::NAN);
        assert_eq!(group(&rows)[0].median(Measure::UpperAccuracy), Some(f64::INFINITY));
    }
}
