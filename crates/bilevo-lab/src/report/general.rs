//! The report of any experiment: one table, and the curves of every method on every problem.

use super::{Curves, Report, ReportError, facts, lead, points};
use crate::figures::convergence::Panel;
use crate::row::Row;
use crate::tables::general::{self, Options};
use crate::tables::groups;

/// Maximum number of curves.
const CURVES: usize = 1_000;
/// Maximum number of lines in a table.
const LINES: usize = 2_000;

/// The report of some rows (loaded with traces) under a title; `command` says how it was made.
/// Without a reference in the options, the others are tested against the base algorithm if there is
/// exactly one.
///
/// # Errors
/// No rows, or a reference that is not among the methods.
pub fn report(rows: &[Row], options: &Options, title: &str, command: &str) -> Result<Report, ReportError> {
    let groups = groups::group(rows);
    let mut options = options.clone();
    options.reference = options.reference.or_else(|| general::only_base(&groups));
    let mut table = general::table(&groups, &options)?;
    let mut left_out = Vec::new();
    if table.rows.len() > LINES {
        let more = table.rows.len() - LINES;
        left_out
            .push(format!("{more} further lines of the table are left out; `bilevo experiment table` prints them."));
        table.rows.truncate(LINES);
    }
    let mut methods: Vec<String> = groups::methods(&groups).into_iter().map(String::from).collect();
    let mut problems = groups::problems(&groups);
    let shown = (CURVES / methods.len().max(1)).max(1);
    if problems.len() > shown {
        left_out.push(format!("Curves of {} further problems are left out.", problems.len() - shown));
        problems.truncate(shown);
    }
    methods.truncate(CURVES);
    let points = points(problems.len() * methods.len());
    let panels: Vec<Panel> = problems.iter().filter_map(|p| Panel::new(p, &methods, &groups, points)).collect();
    let curves = Curves { name: "convergence".into(), title: "All methods".into(), methods, panels };
    Ok(Report {
        title: title.into(),
        lead: lead(rows, &groups),
        curves: Some(curves).filter(|c| !c.panels.is_empty()).into_iter().collect(),
        tables: vec![("table".into(), table)],
        left_out,
        facts: facts(rows, &groups, command),
        ..Report::default()
    })
}
