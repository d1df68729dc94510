//! A table of any experiment: every method on every problem, with quartiles, expected running time
//! and, against a chosen reference, marks and effect sizes.

use super::groups::{self, Group, Measure, methods};
use super::marks::{MEASURES, Test, Tested, test_all};
use super::{Cell, Table, Tally, sci};
use crate::stats::{self, SIGNIFICANCE};
use bilevo::methods::BASES;

/// What a general table shows besides the plain figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Method that the others are tested against.
    pub reference: Option<String>,
    /// Whether p-values are corrected for the number of tests in a column (Holm).
    pub holm: bool,
}

/// Why no table could be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The store has no such method.
    #[error("no run of the reference `{name}` is in the store\nhint: it holds {known}")]
    UnknownReference {
        /// Name given.
        name: String,
        /// Methods in the store.
        known: String,
    },
    /// Nothing to show.
    #[error("the store has no finished runs\nhint: `bilevo experiment run` adds some")]
    Empty,
}

/// The table of some groups.
///
/// # Errors
/// No groups, or a reference that is not among the methods.
pub fn table(groups: &[Group<'_>], options: &Options) -> Result<Table, TableError> {
    if groups.is_empty() {
        return Err(TableError::Empty);
    }
    let known = methods(groups);
    if let Some(name) = options.reference.as_ref().filter(|name| !known.contains(&name.as_str())) {
        return Err(TableError::UnknownReference { name: name.clone(), known: known.join(", ") });
    }
    let [first, second] = groups::value_titles(groups.iter());
    let mut columns = vec![
        "Problem",
        "Method",
        "Runs",
        first,
        second,
        "FEs_u",
        "FEs_l",
        "FEs_t",
        "FEs_t quartiles",
        "Solved",
        "ERT",
        "Model accuracy",
    ];
    if options.reference.is_some() {
        columns.extend(["p FEs_t", "A12 FEs_t"]);
    }
    let mut table = Table::new("Medians of the runs", 2, &columns);
    let tests = options.reference.as_ref().map(|reference| test_all(groups, reference, options.holm));
    let tested = |k: usize| tests.as_ref().and_then(|tests| tests.get(k));
    table.rows = groups.iter().enumerate().map(|(k, group)| line(group, tested(k))).collect();
    table.footer = tests.as_ref().map(|tests| closing_lines(groups, tests, columns.len())).unwrap_or_default();
    table.note = note(groups, options, tests.as_deref().unwrap_or_default());
    Ok(table)
}

/// The base algorithm among the methods, if there is exactly one and something to test against it.
pub fn only_base(groups: &[Group<'_>]) -> Option<String> {
    let names = methods(groups);
    let mut bases = names.iter().filter(|name| BASES.iter().any(|base| base.name == **name));
    let base = bases.next().filter(|_| names.len() > 1)?;
    bases.next().is_none().then(|| base.to_string())
}

fn note(groups: &[Group<'_>], options: &Options, tests: &[Tested]) -> String {
    let mut sentences = Vec::new();
    if let Some(reference) = &options.reference {
        let corrected = if options.holm { ", p-values corrected by Holm over each column" } else { "" };
        sentences.push(format!(
            "Rank-sum test at {SIGNIFICANCE} against {reference}{corrected}: + the method of the line is significantly better than {reference}, ≈ no significant difference, − the method of the line is significantly worse than {reference}. A12: chance that a run of the method of the line needs more evaluations than a run of {reference}."
        ));
        if tests.iter().flatten().flatten().any(|test| !test.enough_runs) {
            sentences
                .push("Too few runs: no difference between so few could be significant, so there is no mark.".into());
        }
    } else if methods(groups).len() > 1 {
        sentences.push("Nothing is tested: --reference METHOD names the method to test the others against.".into());
    }
    sentences.push(
        "Acc_u, Acc_l: distance of F and f from the best known values. FEs_u, FEs_l, FEs_t: evaluations of the upper \
         level, of the lower level, and of both. ERT: the evaluations of all runs, divided by the number of solved runs."
            .into(),
    );
    sentences.extend(groups::remarks(groups));
    sentences.join(" ")
}

fn line(group: &Group<'_>, tested: Option<&Tested>) -> Vec<Cell> {
    let mut cells = vec![Cell::new(&group.problem), Cell::new(&group.method), Cell::new(group.rows.len().to_string())];
    for (k, measure) in Measure::ALL.into_iter().enumerate() {
        let mark = tested.and_then(|tests| tests[k]?.mark());
        cells.push(Cell::sci(group.shown(measure)).marked(mark));
    }
    let quartiles = group.quartiles(Measure::TotalEvals);
    cells.push(Cell::new(quartiles.map_or_else(|| "–".into(), |(q1, q3)| format!("{} to {}", sci(q1), sci(q3)))));
    cells.push(Cell::new(group.solved_text()));
    cells.push(Cell::sci(stats::expected_running_time(group.rows.iter().copied())));
    cells.push(Cell::fixed(group.model_accuracy(), 3));
    if let Some(tests) = tested {
        let total = tests[MEASURES - 1];
        cells.push(total.map_or_else(|| Cell::new("–"), |test| Cell::new(probability(&test))));
        cells.push(Cell::fixed(total.map(|test| test.rank_sum.a12()), 2));
    }
    cells
}

fn probability(test: &Test) -> String {
    match test.p {
        _ if !test.enough_runs => "too few runs".into(),
        p if p < 1e-3 => sci(p),
        p => format!("{p:.3}"),
    }
}

/// Marks of each method, column by column.
fn closing_lines(groups: &[Group<'_>], tests: &[Tested], width: usize) -> Vec<Vec<Cell>> {
    let mut lines = Vec::new();
    for method in methods(groups) {
        let own = || groups.iter().zip(tests).filter(|(group, _)| group.method == method);
        let tally = |k: usize| own().map(|(_, tested)| tested[k]?.mark()).collect::<Tally>();
        let tallies: [Tally; MEASURES] = std::array::from_fn(tally);
        if tallies[MEASURES - 1].count() == 0 {
            continue;
        }
        let mut cells = vec![Cell::default(); width];
        cells[0] = Cell::new("+/≈/−");
        cells[1] = Cell::new(method);
        for (k, counted) in tallies.iter().enumerate() {
            cells[3 + k] = Cell::new(if counted.count() > 0 { counted.to_string() } else { String::new() });
        }
        lines.push(cells);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;
    use crate::tables::groups::group;
    use crate::tables::{Format, Mark};
    use crate::testing::row;
    use bilevo::Accuracy;

    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for problem in ["smd1", "<b>"] {
            for method in ["bl-cma-es", "cr-bl-cma-es"] {
                rows.extend((1..=11).map(|seed| row(method, problem, seed)));
            }
        }
        rows
    }

    #[test]
    fn the_reference_gets_no_mark_and_the_others_do() {
        let options = Options { reference: Some("cr-bl-cma-es".into()), holm: false };
        let table = table(&group(&rows()), &options).unwrap();
        assert_eq!(table.rows.len(), 4);
        let total = 7;
        assert_eq!(table.rows[2][1].text, "bl-cma-es");
        assert_eq!(table.rows[2][total].mark, Some(Mark::Worse), "the line's method is dearer");
        assert_eq!(table.rows[2][3].mark, Some(Mark::Similar));
        assert!(table.rows[3].iter().all(|c| c.mark.is_none()));
        assert_eq!(table.footer.len(), 1);
        assert_eq!(table.footer[0][total].text, "0/0/2");
        assert!(table.rows.iter().chain(&table.footer).all(|l| l.len() == table.columns.len()));
    }

    #[test]
    fn a_mark_speaks_about_the_method_of_its_line() {
        let options = Options { reference: Some("bl-cma-es".into()), holm: false };
        let table = table(&group(&rows()), &options).unwrap();
        assert_eq!((table.rows[3][1].text.as_str(), table.rows[3][7].mark), ("cr-bl-cma-es", Some(Mark::Better)));
        assert_eq!(table.footer[0][7].text, "2/0/0");
        assert!(table.rows[3][13].text.parse::<f64>().unwrap() < 0.5);
        assert!(table.note.contains("+ the method of the line is significantly better than bl-cma-es"));
    }

    #[test]
    fn one_base_among_several_methods_is_the_reference() {
        let of = |names: &[&str]| only_base(&group(&names.iter().map(|m| row(m, "smd1", 1)).collect::<Vec<_>>()));
        assert_eq!(of(&["cr-boc", "boc"]), Some("boc".into()));
        assert_eq!(of(&["cr-boc", "boc", "motea"]), None);
        assert_eq!(of(&["cr-boc", "cr-motea"]), None);
        assert_eq!(of(&["boc"]), None);
    }

    #[test]
    fn accuracies_are_shown_and_tested_as_they_are() {
        let mut rows = rows();
        for row in rows.iter_mut().filter(|r| r.id().method == "cr-bl-cma-es") {
            row.result.accuracy = Some(Accuracy { upper: 1e-9, lower: Some(2e-6) });
        }
        let table = table(&group(&rows), &Options { reference: Some("bl-cma-es".into()), holm: false }).unwrap();
        assert_eq!((table.rows[3][3].text.as_str(), table.rows[3][3].mark), ("1.00E-09", Some(Mark::Better)));
    }

    #[test]
    fn too_few_runs_are_called_so() {
        let mut rows = rows();
        rows.retain(|r| r.id().seed <= 3);
        let table = table(&group(&rows), &Options { reference: Some("bl-cma-es".into()), holm: false }).unwrap();
        assert!(table.rows.iter().flatten().all(|cell| cell.mark.is_none()));
        assert_eq!(table.rows[3][12].text, "too few runs");
        assert!(table.note.contains("no difference between so few could be significant"), "{}", table.note);
        assert!(table.footer.is_empty());
    }

    #[test]
    fn without_a_reference_the_table_says_that_nothing_is_tested() {
        assert!(table(&group(&rows()), &Options::default()).unwrap().note.contains("Nothing is tested: --reference"));
        let alone: Vec<Row> = (1..=2).map(|s| row("m", "p", s)).collect();
        assert!(!table(&group(&alone), &Options::default()).unwrap().note.contains("tested"));
    }

    #[test]
    fn expected_running_time_counts_failures() {
        let mut rows: Vec<Row> = (1..=2).map(|s| row("m", "p", s)).collect();
        rows[1].result.solved = Some(false);
        let spent = rows.iter().map(Row::total_evals).sum::<u64>() as f64;
        let table = table(&group(&rows), &Options::default()).unwrap();
        assert_eq!(table.rows[0][9].text, "1/2");
        assert_eq!(table.rows[0][10].text, sci(spent));
    }

    #[test]
    fn problems_without_a_known_optimum_show_the_objectives() {
        let mut rows: Vec<Row> = (1..=3).map(|s| row("m", "p", s)).collect();
        for row in &mut rows {
            (row.result.accuracy, row.result.solved) = (None, None);
            row.result.solution.as_mut().unwrap().upper_value = -314.0;
        }
        let table = table(&group(&rows), &Options::default()).unwrap();
        assert_eq!(table.columns[3].title, "F");
        assert_eq!(table.rows[0][3].text, "-3.14E+02");
        assert_eq!(table.rows[0][9].text, "–");
    }

    #[test]
    fn an_unknown_reference_and_an_empty_store_are_refused() {
        let unknown = table(&group(&rows()), &Options { reference: Some("boc".into()), holm: false });
        assert!(matches!(unknown, Err(TableError::UnknownReference { .. })));
        assert_eq!(table(&[], &Options::default()), Err(TableError::Empty));
    }

    #[test]
    fn every_format_holds_every_line() {
        let table = table(&group(&rows()), &Options::default()).unwrap();
        for format in Format::ALL {
            assert!(table.write(format).lines().count() > table.rows.len());
        }
    }
}
