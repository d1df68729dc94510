//! The report: one HTML file with everything inside, readable without a network and without
//! scripts.
//!
//! Tables and figures are written into the page as they stand; a small script adds hovering, axis
//! switches and the choice of problems and methods. A page stays below a few megabytes: curves are
//! sampled more coarsely the more there are, and what would still be too much is left out with a
//! word about it.

mod files;
mod page;

pub use files::{FilesError, write_files};

use crate::figures::{bars, convergence};
use crate::row::RunRow;
use crate::study::{self, Comparison};
use crate::tables::groups::{self, Group};
use crate::tables::{Table, against, general};

/// What a report is made from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// The runs.
    pub rows: &'a [RunRow],
    /// The comparisons to show; without any, the report shows every method on every problem.
    pub comparisons: &'a [Comparison],
    /// Reference and correction of the general table.
    pub options: &'a general::Options,
    /// Where the figures differ from the published ones and why: headings with a paragraph each.
    pub differences: &'a [(&'a str, &'a str)],
    /// Command that makes the report.
    pub command: &'a str,
}

/// Why no report could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Nothing to report, or an unknown reference.
    #[error(transparent)]
    Table(#[from] general::TableError),
    /// The page could not be put together.
    #[error("the page could not be written: {0}")]
    Page(#[from] askama::Error),
}

/// Points of all curves together.
const POINT_BUDGET: usize = 24_000;
/// Curves at most.
const CURVES: usize = 1_000;
/// Lines of a table at most.
const LINES: usize = 2_000;

/// The page.
///
/// # Errors
/// No rows, or a reference that is not among the methods.
pub fn html(input: &Input<'_>) -> Result<String, ReportError> {
    let groups = groups::group(input.rows);
    if groups.is_empty() {
        return Err(general::TableError::Empty.into());
    }
    let parts = if input.comparisons.is_empty() { general_parts(input, &groups)? } else { study_parts(input, &groups) };
    page::write(input, &groups, parts)
}

/// Whether a page was made by [`html`], judged by its first bytes; a kilobyte is enough.
pub fn is_report(start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(start);
    start.starts_with("<!DOCTYPE html>") && start.contains("<meta name=\"generator\" content=\"bilevo\">")
}

/// A card at the top of the page.
struct Tile {
    name: String,
    value: String,
    detail: String,
    verdict: String,
}

/// Convergence curves under one heading.
struct Curves {
    title: String,
    methods: Vec<String>,
    panels: Vec<convergence::Panel>,
}

/// What the page is put together from.
struct Parts {
    tiles: Vec<Tile>,
    summary: Option<Table>,
    curves: Vec<Curves>,
    savings: Vec<bars::Bars>,
    models: Vec<bars::Bars>,
    tables: Vec<Table>,
    left_out: Vec<String>,
}

fn study_parts(input: &Input<'_>, groups: &[Group<'_>]) -> Parts {
    let all = input.comparisons;
    let points = points(all.iter().map(|c| c.layout.methods.len() * c.layout.problems.len()).sum());
    let curves = all.iter().map(|c| Curves {
        title: c.layout.title.clone(),
        methods: c.layout.methods.clone(),
        panels: c.panels(groups, points),
    });
    Parts {
        tiles: all.iter().filter_map(|c| tile(c, groups)).collect(),
        summary: Some(study::summary(all, groups)).filter(|t| !t.is_empty()),
        curves: curves.filter(|c| !c.panels.is_empty()).collect(),
        savings: all.iter().filter_map(|c| c.savings(groups)).collect(),
        models: all.iter().filter_map(|c| c.model_accuracy(groups)).collect(),
        tables: all.iter().flat_map(|c| c.tables(groups)).map(|(_, table)| table).collect(),
        left_out: Vec::new(),
    }
}

fn tile(comparison: &Comparison, groups: &[Group<'_>]) -> Option<Tile> {
    let finding = against::Finding::of(&comparison.layout, comparison.published_as.as_deref()?, groups);
    let published = finding.published_saving.map_or_else(|| "nothing".into(), |p| format!("{p:.1}\u{a0}%"));
    Some(Tile {
        name: comparison.layout.title.clone(),
        value: format!("{:.1}\u{a0}%", finding.saving?),
        detail: format!("average saving; published {published}"),
        verdict: finding.conclusion().word().to_string(),
    })
}

fn general_parts(input: &Input<'_>, groups: &[Group<'_>]) -> Result<Parts, ReportError> {
    let mut table = general::table(input.rows, input.options)?;
    let methods: Vec<String> = groups::methods(groups).into_iter().map(String::from).collect();
    let mut problems: Vec<String> = groups::problems(groups).into_iter().map(String::from).collect();
    let mut left_out = Vec::new();
    let shown = (CURVES / methods.len().max(1)).max(1);
    if problems.len() > shown {
        left_out.push(format!("Curves of {} further problems are left out.", problems.len() - shown));
        problems.truncate(shown);
    }
    let mut methods = methods;
    methods.truncate(CURVES);
    let points = points(problems.len() * methods.len());
    let panels = problems.iter().filter_map(|p| convergence::Panel::new(p, &methods, groups, points)).collect();
    let curves = Curves { title: "All methods".into(), methods, panels };
    if table.rows.len() > LINES {
        left_out.push(format!(
            "{} further lines of the table are left out; `bilevo experiment table` prints them.",
            table.rows.len() - LINES
        ));
        table.rows.truncate(LINES);
    }
    Ok(Parts {
        tiles: Vec::new(),
        summary: None,
        curves: Some(curves).filter(|c| !c.panels.is_empty()).into_iter().collect(),
        savings: Vec::new(),
        models: Vec::new(),
        tables: vec![table],
        left_out,
    })
}

fn points(curves: usize) -> usize {
    (POINT_BUDGET / curves.max(1)).clamp(6, convergence::POINTS)
}
