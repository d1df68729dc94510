//! Runs every suite again without each part of the default method.

use super::table::Row;
use super::{Options, measure, stored};
use crate::parts;
use anyhow::Result;
use std::io::Write;

/// One row per part, as soon as its runs are done.
pub(super) fn print(options: &Options, out: &mut impl Write) -> Result<()> {
    let mut kept = stored::Writer::of(options)?;
    head(options, out)?;
    for part in parts::each() {
        let mut options = options.clone();
        options.settings.push(part.setting());
        let mut rows = Vec::new();
        for suite in &options.suites {
            let runs = measure(&options, suite, &super::Scales::PLAIN)?;
            if let Some(kept) = &mut kept {
                kept.keep(suite, part.name, &runs)?;
            }
            rows.push(Row::new(suite, "", &runs));
        }
        line(options.markdown, part.name, &rows.iter().map(Row::brief).collect::<Vec<_>>(), out)?;
    }
    Ok(())
}

fn head(options: &Options, out: &mut impl Write) -> Result<()> {
    let suites: Vec<String> = options.suites.iter().map(|suite| super::suites::short(suite).into()).collect();
    line(options.markdown, "without", &suites, out)?;
    if options.markdown {
        writeln!(out, "|{}", "---|".repeat(1 + suites.len()))?;
    }
    Ok(())
}

fn line(markdown: bool, first: &str, cells: &[String], out: &mut impl Write) -> Result<()> {
    if markdown {
        writeln!(out, "| {first} | {} |", cells.join(" | "))?;
    } else {
        let cells: String = cells.iter().map(|cell| format!(" {cell:>19}")).collect();
        writeln!(out, "{first:25}{cells}")?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_row_and_every_suite_a_column() {
        let arguments = ["--ablation", "--markdown", "--seeds", "1", "--set", "stop.max_upper_evals=20", "tp6", "tp7"];
        let options = Options::read(arguments.map(String::from).into_iter()).unwrap();
        let mut out = Vec::new();
        print(&options, &mut out).unwrap();
        let printed = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines[..2], ["| without | tp6 | tp7 |", "|---|---|---|"]);
        let parts: Vec<&str> = parts::each().map(|part| part.name).collect();
        assert_eq!(lines.len(), 2 + parts.len());
        for (line, part) in lines[2..].iter().zip(parts) {
            assert!(line.starts_with(&format!("| {part} |")) && line.matches('|').count() == 4, "{line}");
        }
    }
}
