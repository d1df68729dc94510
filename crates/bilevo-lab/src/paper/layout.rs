//! The table in the paper's layout: medians of the runs, marks against a reference, savings.
//!
//! As in the paper, every line except the reference's has a mark: `+` says that the reference (the version with
//! contrastive ranking) is significantly better in that column. Three columns are our own: how many runs solved the
//! problem at both levels, and the accuracy of the ranking model, on pairs of one generation and across generations.

use super::compared::{Compared, Line};
use crate::stats::SIGNIFICANCE;
use crate::tables::groups::{self, Measure};
use crate::tables::{Cell, Table};

/// The table; methods that were not run are left out.
pub fn table(compared: &Compared<'_>) -> Table {
    let [first, second] = groups::value_titles(compared.shown().map(|line| line.group));
    let columns =
        ["Problem", "Method", first, second, "FEs_u", "FEs_l", "FEs_t", "R_rs %", "Solved", "Model accuracy", "across"];
    let mut table = Table::new(compared.comparison.title, 2, &columns);
    table.rows = compared.shown().map(cells).collect();
    if !table.is_empty() {
        table.footer = compared.comparison.methods.iter().filter_map(|m| closing_line(compared, m)).collect();
        table.note = note(compared);
    }
    table
}

fn note(compared: &Compared<'_>) -> String {
    let counts = compared.shown().map(|line| line.group.rows.len());
    let (low, high) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
    let runs = if low == high { format!("{low}") } else { format!("{low} to {high}") };
    let (reference, base) = (compared.comparison.reference, compared.comparison.base);
    let mut note = format!(
        "Medians of {runs} runs. Accuracies below 1E-06 are shown and tested as 1E-06. Marks as in the paper, from a rank-sum test at {SIGNIFICANCE}: + {reference} is significantly better than the method with the mark, ≈ no significant difference, − {reference} is significantly worse. R_rs: the share of the evaluations (FEs_t) of {base} that is saved. Model accuracy: the share of correctly ordered pairs of new solutions, within one generation and, as in the paper, across generations."
    );
    if compared.shown().any(|line| line.too_few_runs) {
        note.push_str(" There are no marks, because with so few runs no difference can be significant.");
    }
    note
}

fn cells(line: &Line<'_>) -> Vec<Cell> {
    let mut cells = vec![Cell::new(line.problem), Cell::new(line.method)];
    let measures = Measure::ALL.into_iter().zip(line.marks);
    cells.extend(measures.map(|(measure, mark)| Cell::sci(line.shown(measure)).marked(mark)));
    cells.push(Cell::fixed(line.saving, 1));
    cells.push(Cell::new(line.group.solved_text()));
    cells.push(Cell::fixed(line.group.model_accuracy(), 3));
    cells.push(Cell::fixed(line.group.model_accuracy_across(), 3));
    cells
}

fn closing_line(compared: &Compared<'_>, method: &str) -> Option<Vec<Cell>> {
    compared.of(method).next()?;
    let is_reference = method == compared.comparison.reference;
    let mut cells = vec![Cell::new(if is_reference { "Average" } else { "+/≈/−" }), Cell::new(method)];
    for measure in Measure::ALL {
        let counted = compared.tally(method, measure);
        cells.push(Cell::new(if counted.count() > 0 { counted.to_string() } else { String::new() }));
    }
    let or_nothing =
        |value: Option<f64>, decimals| value.map_or_else(Cell::default, |v| Cell::fixed(Some(v), decimals));
    cells.push(or_nothing(compared.average_saving(method), 1));
    let (solved, runs) = compared.solved(method);
    cells.push(Cell::new(if runs > 0 { format!("{solved}/{runs}") } else { String::new() }));
    cells.push(or_nothing(compared.average(method, |runs| runs.model_accuracy()), 3));
    cells.push(or_nothing(compared.average(method, |runs| runs.model_accuracy_across()), 3));
    Some(cells)
}
