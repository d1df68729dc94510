//! A table of any experiment: every method on every problem, with quartiles, expected running time
//! and, against a chosen reference, marks and effect sizes.

use super::groups::{self, Group, Measure, find, group, methods};
use super::{Cell, Mark, Table, Tally, sci};
use crate::row::RunRow;
use crate::stats::{self, RankSum, SIGNIFICANCE, Verdict};
use bilevo::methods::BASES;

/// What a general table shows beside the plain figures.
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
    #[error("the store holds no finished run\nhint: `bilevo experiment run` makes some")]
    Empty,
}

/// The table.
///
/// # Errors
/// No rows, or a reference that is not among the methods.
pub fn table(rows: &[RunRow], options: &Options) -> Result<Table, TableError> {
    let groups = group(rows);
    if groups.is_empty() {
        return Err(TableError::Empty);
    }
    if let Some(name) = &options.reference {
        let known = methods(&groups);
        if !known.contains(&name.as_str()) {
            return Err(TableError::UnknownReference { name: name.clone(), known: known.join(", ") });
        }
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
    let tests = Tests::run(&groups, options);
    for (k, group) in groups.iter().enumerate() {
        table.rows.push(line(group, &tests.of(k), options));
    }
    if let Some(reference) = &options.reference {
        table.footer = closing_lines(&groups, &tests, columns.len());
        table.note = note(reference, options.holm);
    } else {
        table.note = "ERT: evaluations of all runs by the number of solved ones.".into();
    }
    Ok(table)
}

/// The base algorithm among the methods of some rows, if there is exactly one and something to test
/// against it.
pub fn only_base(rows: &[RunRow]) -> Option<String> {
    let groups = group(rows);
    let names = methods(&groups);
    let mut bases = names.iter().filter(|name| BASES.iter().any(|base| base.name == **name));
    let base = bases.next().filter(|_| names.len() > 1)?;
    bases.next().is_none().then(|| base.to_string())
}

fn note(reference: &str, holm: bool) -> String {
    let corrected = if holm { ", p-values corrected by Holm over each column" } else { "" };
    format!(
        "Rank-sum test at {SIGNIFICANCE} against {reference}{corrected}: + the method of the line is significantly better than {reference}, ≈ no significant difference, − the method of the line is significantly worse than {reference}. A12: chance that a run of the method of the line needs more evaluations than a run of {reference}. ERT: evaluations of all runs by the number of solved ones."
    )
}

/// Tests of every group against the reference on its problem, column by column.
struct Tests {
    /// By group and measure.
    results: Vec<[Option<(RankSum, f64)>; 5]>,
}

impl Tests {
    fn run(groups: &[Group<'_>], options: &Options) -> Tests {
        let Some(reference) = &options.reference else {
            return Tests { results: vec![[None; 5]; groups.len()] };
        };
        let tests = |group: &Group<'_>| {
            let other = find(groups, reference, &group.problem).filter(|o| o.method != group.method);
            Measure::ALL.map(|measure| {
                let test = stats::rank_sum(&group.values(measure), &other?.values(measure)).ok()?;
                Some((test, test.p))
            })
        };
        let mut results: Vec<[Option<(RankSum, f64)>; 5]> = groups.iter().map(tests).collect();
        if options.holm {
            for column in 0..Measure::ALL.len() {
                correct(&mut results, column);
            }
        }
        Tests { results }
    }

    fn of(&self, group: usize) -> [Option<(RankSum, f64)>; 5] {
        self.results.get(group).copied().unwrap_or([None; 5])
    }
}

fn correct(results: &mut [[Option<(RankSum, f64)>; 5]], column: usize) {
    let raw: Vec<f64> = results.iter().filter_map(|r| r[column].map(|(_, p)| p)).collect();
    let Ok(adjusted) = stats::holm(&raw) else { return };
    let tested = results.iter_mut().filter_map(|r| r[column].as_mut());
    for ((_, p), corrected) in tested.zip(adjusted) {
        *p = corrected;
    }
}

fn verdict(test: &Option<(RankSum, f64)>) -> Option<Mark> {
    test.as_ref().map(|(test, p)| Verdict::from_p(test, *p))
}

fn line(group: &Group<'_>, tests: &[Option<(RankSum, f64)>; 5], options: &Options) -> Vec<Cell> {
    let mut cells = vec![Cell::new(&group.problem), Cell::new(&group.method), Cell::new(group.rows.len().to_string())];
    for (measure, test) in Measure::ALL.into_iter().zip(tests) {
        cells.push(Cell::sci(group.shown(measure)).marked(verdict(test)));
    }
    let quartiles = group.quartiles(Measure::TotalEvals);
    cells.push(Cell::new(quartiles.map_or_else(|| "–".into(), |(q1, q3)| format!("{} to {}", sci(q1), sci(q3)))));
    cells.push(Cell::new(group.solved_text()));
    cells.push(Cell::sci(stats::expected_running_time(group.rows.iter().copied())));
    cells.push(Cell::fixed(group.model_accuracy(), 3));
    if options.reference.is_some() {
        cells.push(tests[4].map_or_else(|| Cell::new("–"), |(_, p)| Cell::new(probability(p))));
        cells.push(Cell::fixed(tests[4].map(|(test, _)| test.a12()), 2));
    }
    cells
}

fn probability(p: f64) -> String {
    if p < 1e-3 { sci(p) } else { format!("{p:.3}") }
}

/// Marks of each method, column by column.
fn closing_lines(groups: &[Group<'_>], tests: &Tests, width: usize) -> Vec<Vec<Cell>> {
    let mut lines = Vec::new();
    for method in methods(groups) {
        let own: Vec<usize> = (0..groups.len()).filter(|&k| groups[k].method == method).collect();
        let tally = |column: usize| own.iter().map(|&k| verdict(&tests.of(k)[column])).collect::<Tally>();
        if tally(4).count() == 0 {
            continue;
        }
        let mut cells = vec![Cell::default(); width];
        cells[0] = Cell::new("+/≈/−");
        cells[1] = Cell::new(method);
        for column in 0..Measure::ALL.len() {
            let counted = tally(column);
            cells[3 + column] = Cell::new(if counted.count() > 0 { counted.to_string() } else { String::new() });
        }
        lines.push(cells);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Format;
    use crate::testing::row;

    fn rows() -> Vec<RunRow> {
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
        let table = table(&rows(), &options).unwrap();
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
        let table = table(&rows(), &options).unwrap();
        assert_eq!((table.rows[3][1].text.as_str(), table.rows[3][7].mark), ("cr-bl-cma-es", Some(Mark::Better)));
        assert_eq!(table.footer[0][7].text, "2/0/0");
        assert!(table.rows[3][13].text.parse::<f64>().unwrap() < 0.5);
        assert!(table.note.contains("+ the method of the line is significantly better than bl-cma-es"));
    }

    #[test]
    fn one_base_among_several_methods_is_the_reference() {
        let of = |names: &[&str]| only_base(&names.iter().map(|m| row(m, "smd1", 1)).collect::<Vec<_>>());
        assert_eq!(of(&["cr-boc", "boc"]), Some("boc".into()));
        assert_eq!(of(&["cr-boc", "boc", "motea"]), None);
        assert_eq!(of(&["cr-boc", "cr-motea"]), None);
        assert_eq!(of(&["boc"]), None);
    }

    #[test]
    fn holm_makes_p_values_larger() {
        let plain = table(&rows(), &Options { reference: Some("cr-bl-cma-es".into()), holm: false }).unwrap();
        let holm = table(&rows(), &Options { reference: Some("cr-bl-cma-es".into()), holm: true }).unwrap();
        let p = |t: &Table, k: usize| t.rows[k][12].text.parse::<f64>().unwrap();
        assert!(p(&holm, 0) > p(&plain, 0));
    }

    #[test]
    fn expected_running_time_counts_failures() {
        let mut rows: Vec<RunRow> = (1..=2).map(|s| row("m", "p", s)).collect();
        rows[1].upper_accuracy = Some(1.0);
        let spent = rows.iter().map(RunRow::total_evals).sum::<u64>() as f64;
        let table = table(&rows, &Options::default()).unwrap();
        assert_eq!(table.rows[0][9].text, "1/2");
        assert_eq!(table.rows[0][10].text, sci(spent));
    }

    #[test]
    fn problems_without_a_known_optimum_show_the_objectives() {
        let mut rows: Vec<RunRow> = (1..=3).map(|s| row("m", "p", s)).collect();
        for row in &mut rows {
            (row.upper_accuracy, row.lower_accuracy, row.upper_value) = (None, None, -314.0);
        }
        let table = table(&rows, &Options::default()).unwrap();
        assert_eq!(table.columns[3].title, "F");
        assert_eq!(table.rows[0][3].text, "-3.14E+02");
        assert_eq!(table.rows[0][9].text, "–");
    }

    #[test]
    fn an_unknown_reference_and_an_empty_store_are_refused() {
        let unknown = table(&rows(), &Options { reference: Some("boc".into()), holm: false });
        assert!(matches!(unknown, Err(TableError::UnknownReference { .. })));
        assert_eq!(table(&[], &Options::default()), Err(TableError::Empty));
    }

    #[test]
    fn every_format_holds_every_line() {
        let table = table(&rows(), &Options::default()).unwrap();
        for format in Format::ALL {
            assert!(table.write(format).lines().count() > table.rows.len());
        }
    }
}
