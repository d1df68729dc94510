//! Text tables: columns aligned, nothing drawn around them.

use crate::output::{BOLD, DIM, PLAIN};
use std::io::{self, Write};

/// Writes rows with their columns aligned; the first row is the heading.
pub(crate) fn columns(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    for (number, row) in rows.iter().enumerate() {
        let style = if number == 0 { DIM } else { PLAIN };
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{style}{}{style:#}", cells.join("  ").trim_end())?;
    }
    Ok(())
}

/// Writes one `label  text` line of a result.
pub(crate) fn line(out: &mut impl Write, label: &str, text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(out, "  {DIM}{label:<12}{DIM:#} {text}")
}

/// Writes a heading.
pub(crate) fn heading(out: &mut impl Write, text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(out, "{BOLD}{text}{BOLD:#}")
}
