//! Rows and traces for other programs: CSV and JSON lines (pandas), IOHprofiler folders
//! (IOHanalyzer).
//!
//! In CSV, text that a spreadsheet would take for a formula gets an apostrophe in front; numbers
//! are written in full precision, missing ones as empty cells.

mod ioh;

pub use ioh::{ExportError, ioh_folder};

use crate::row::RunRow;
use std::io::{self, Write};

/// One value of a CSV line.
enum CsvCell<'a> {
    Text(&'a str),
    Whole(u64),
    Real(f64),
    Maybe(Option<f64>),
    Truth(Option<bool>),
    Vector(&'a [f64]),
}

/// The columns of a CSV file, in order.
fn columns(row: &RunRow) -> [(&'static str, CsvCell<'_>); 33] {
    use CsvCell::{Maybe, Real, Text, Truth, Vector, Whole};
    [
        ("method", Text(&row.method)),
        ("problem", Text(&row.problem)),
        ("upper_dim", Whole(row.upper_dim as u64)),
        ("lower_dim", Whole(row.lower_dim as u64)),
        ("settings", Text(&row.settings)),
        ("seed", Whole(row.seed)),
        ("solved", Truth(row.solved())),
        ("upper_value", Real(row.upper_value)),
        ("lower_value", Real(row.lower_value)),
        ("upper_accuracy", Maybe(row.upper_accuracy)),
        ("lower_accuracy", Maybe(row.lower_accuracy)),
        ("upper_violation", Real(row.upper_violation)),
        ("lower_violation", Real(row.lower_violation)),
        ("upper_evals", Whole(row.upper_evals)),
        ("lower_evals", Whole(row.lower_evals)),
        ("total_evals", Whole(row.total_evals())),
        ("refine_lower_evals", Whole(row.refine_lower_evals)),
        ("failed_upper", Whole(row.failed_upper)),
        ("failed_lower", Whole(row.failed_lower)),
        ("searches_run", Whole(row.searches_run)),
        ("searches_skipped", Whole(row.searches_skipped)),
        ("searches_resampled", Whole(row.searches_resampled)),
        ("model_accuracy", Maybe(row.model_accuracy)),
        ("trainings", Whole(row.trainings)),
        ("generations", Whole(row.generations)),
        ("stop", Text(&row.stop)),
        ("seconds", Real(row.seconds)),
        ("training_seconds", Real(row.training_seconds)),
        ("x", Vector(&row.x)),
        ("y", Vector(&row.y)),
        ("version", Text(&row.version)),
        ("config_hash", Text(&row.config_hash)),
        ("problem_hash", Text(&row.problem_hash)),
    ]
}

/// Writes rows as CSV with a header; config and trace are left to the other forms.
///
/// # Errors
/// Whatever `out` reports.
pub fn csv(rows: &[RunRow], out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let header: Vec<&str> = columns(first).iter().map(|(name, _)| *name).collect();
    writeln!(out, "{}", header.join(","))?;
    for row in rows {
        let cells: Vec<String> = columns(row).into_iter().map(|(_, cell)| cell_text(&cell)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

fn cell_text(cell: &CsvCell<'_>) -> String {
    match *cell {
        CsvCell::Text(text) => csv_text(text),
        CsvCell::Whole(value) => value.to_string(),
        CsvCell::Real(value) => real(value),
        CsvCell::Maybe(value) => value.map(real).unwrap_or_default(),
        CsvCell::Truth(value) => value.map(|v| if v { "True" } else { "False" }.to_string()).unwrap_or_default(),
        CsvCell::Vector(values) => {
            let items: Vec<String> = values.iter().map(|v| real(*v)).collect();
            quoted(&format!("[{}]", items.join(",")))
        }
    }
}

/// A number that reads back as the same bits; nothing for NaN.
fn real(value: f64) -> String {
    if value.is_nan() { String::new() } else { format!("{value:?}") }
}

/// Text as a CSV cell that no spreadsheet executes: quoted where needed, and with an apostrophe in
/// front of what would start a formula.
pub fn csv_text(text: &str) -> String {
    let formula =
        text.trim_start_matches(' ').starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    if formula { quoted(&format!("'{text}")) } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

/// Writes rows as JSON, one object on each line, with `solved` and `total_evals` added; numbers that
/// are not finite become `null`, and `trace` is there only if it was loaded.
///
/// # Errors
/// Whatever `out` reports.
pub fn json_lines(rows: &[RunRow], out: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        let mut value = serde_json::to_value(row)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("solved".into(), row.solved().into());
            object.insert("total_evals".into(), row.total_evals().into());
            if row.trace.is_empty() {
                object.remove("trace");
            }
        }
        serde_json::to_writer(&mut *out, &value)?;
        writeln!(out)?;
    }
    Ok(())
}
