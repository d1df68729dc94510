//! Rows and traces for other programs: CSV and JSON lines (pandas), IOHprofiler folders
//! (IOHanalyzer).
//!
//! Both formats hold the fields of [`bilevo::RunResult`] under their own names. In CSV, a nested field joins both
//! names (`evaluations_upper`), and text that a spreadsheet would take for a formula gets an apostrophe in front.
//! Numbers are written in full precision, missing ones as empty cells.

mod flat;
mod ioh;

pub use ioh::{ExportError, ioh_folder};

use crate::csv;
use crate::row::{Row, TracePoint};
use bilevo::RunResult;
use bilevo::files::Kind;
use flat::Field;
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::{self, Write};

/// How to recognise files that [`csv`] writes; an empty one comes from an empty store.
pub const CSV: Kind = Kind {
    name: "table of rows",
    description: "a CSV export of bilevo",
    is_ours: |start| start.is_empty() || start.starts_with(b"problem,problem_hash,upper_dim,lower_dim,method,"),
};

/// How to recognise files that [`json_lines`] writes.
pub const JSON_LINES: Kind = Kind {
    name: "list of rows",
    description: "a JSON lines export of bilevo",
    is_ours: |start| start.is_empty() || start.starts_with(b"{\"problem\":") && contains(start, b"\"problem_hash\":"),
};

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Writes the results of rows as CSV with a header; config and trace are left to the other formats.
///
/// # Errors
/// Whatever `out` reports.
pub fn csv(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let lines = rows.iter().map(|row| flat::fields(&row.result)).collect::<Result<Vec<_>, _>>()?;
    // A field that is null in one row may be an object in another.
    let columns = flat::columns(&lines);
    if !columns.is_empty() {
        out.write_all(csv::line(columns.iter().map(|name| csv::text(name))).as_bytes())?;
    }
    for line in &lines {
        let cell = |name: &String| line.iter().find(|(own, _)| own == name).map(|(_, field)| csv_cell(field));
        out.write_all(csv::line(columns.iter().map(|name| cell(name).unwrap_or_default())).as_bytes())?;
    }
    Ok(())
}

fn csv_cell(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Text(text) => csv::text(text),
        // As pandas and R expect it.
        Field::Truth(truth) => if *truth { "True" } else { "False" }.into(),
        Field::Json(json) => csv::quoted(json),
    }
}

/// Writes rows as JSON, one object on each line: the fields of the result, the `config`, and the
/// `trace` if it was loaded.
///
/// # Errors
/// Whatever `out` reports, or a config that is no JSON.
pub fn json_lines(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        #[serde(flatten)]
        result: &'a RunResult,
        config: &'a RawValue,
        #[serde(skip_serializing_if = "<[TracePoint]>::is_empty")]
        trace: &'a [TracePoint],
    }
    for Row { result, config, trace } in rows {
        let config = if config.is_empty() { RawValue::NULL } else { serde_json::from_str(config)? };
        serde_json::to_writer(&mut *out, &Line { result, config, trace })?;
        writeln!(out)?;
    }
    Ok(())
}
