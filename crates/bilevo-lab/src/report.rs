//! The report: one HTML file with everything inside, readable without a network and without
//! scripts, and the same tables and figures as files.
//!
//! A [`Report`] holds every table and figure once, for the page, the files and the terminal. [`general::report`]
//! makes one for any experiment. Tables and figures are static; a small script adds tooltips, axis switches and the
//! choice of problems and methods. A page stays below a few megabytes: the more curves there are, the more coarsely
//! they are sampled, and anything that would still be too much is left out, with a note.

pub mod general;
pub(crate) mod page;

use crate::figures::bars::Bars;
use crate::figures::{PngError, Scene, convergence};
use crate::row::Row;
use crate::tables::groups::{self, Group};
use crate::tables::{Format, Table};
use bilevo::files::Kind;
use bilevo::printable::grouped;
use std::collections::BTreeSet;

/// The contents of a report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Title of the page.
    pub title: String,
    /// What was run, in a sentence or two.
    pub lead: String,
    /// Cards at the top of the page.
    pub tiles: Vec<Tile>,
    /// The tables below them, each with a name for its file.
    pub summary: Vec<(String, Table)>,
    /// Convergence curves.
    pub curves: Vec<Curves>,
    /// Bar charts by what they show.
    pub charts: Vec<Charts>,
    /// The tables, each with a name for its file.
    pub tables: Vec<(String, Table)>,
    /// What is not shown.
    pub left_out: Vec<String>,
    /// Remarks on the figures.
    pub remarks: Remarks,
    /// How the report was made.
    pub facts: Vec<(&'static str, String)>,
}

/// A card at the top of the page.
#[derive(Clone, Debug)]
pub struct Tile {
    /// What it is about.
    pub name: String,
    /// The number.
    pub value: String,
    /// What the number is.
    pub detail: String,
    /// The claim that the number decides.
    pub claim: &'static str,
    /// Whether the claim holds.
    pub verdict: String,
}

/// Paragraphs under one heading.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remarks {
    /// The heading.
    pub title: &'static str,
    /// Headings with a paragraph each; without any, the section is left out.
    pub paragraphs: &'static [(&'static str, &'static str)],
}

/// Convergence curves under one heading.
#[derive(Clone, Debug)]
pub struct Curves {
    /// Name for a file.
    pub name: String,
    /// The heading.
    pub title: String,
    /// The methods, in the order of their colours.
    pub methods: Vec<String>,
    /// One panel for each problem.
    pub panels: Vec<convergence::Panel>,
}

/// Bar charts under one heading.
#[derive(Clone, Debug)]
pub struct Charts {
    /// Name of the section within the page.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// What the bars are.
    pub words: &'static str,
    /// The charts, each with a name for its file.
    pub charts: Vec<(String, Bars)>,
}

/// Why no report could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Nothing to report, or an unknown reference.
    #[error(transparent)]
    Table(#[from] crate::tables::general::TableError),
    /// The page could not be built.
    #[error("the page could not be written: {0}")]
    Page(#[from] askama::Error),
    /// A figure could not be painted.
    #[error(transparent)]
    Png(#[from] PngError),
}

/// A file of a report: its path within the folder and its bytes.
pub type ReportFile = (String, Vec<u8>);

/// The page's name within the folder.
pub const PAGE: &str = "report.html";

/// Pages as files.
pub const KIND: Kind = Kind { name: "report", description: "a report of bilevo", is_ours: is_report };

impl Report {
    /// The page.
    ///
    /// # Errors
    /// The page cannot be built.
    pub fn html(&self) -> Result<String, ReportError> {
        page::write(self)
    }

    /// Everything as files: the page, tables in every format, figures as SVG and PNG.
    ///
    /// # Errors
    /// The page or a figure cannot be made.
    pub fn files(&self) -> Result<Vec<ReportFile>, ReportError> {
        let mut files = vec![(PAGE.to_string(), self.html()?.into_bytes())];
        for (name, table) in self.summary.iter().chain(&self.tables) {
            let mut add = |name: &str, table: &Table, format: Format| {
                files.push((format!("tables/{name}.{}", format.extension()), table.write(format).into_bytes()));
            };
            Format::ALL.into_iter().for_each(|format| add(name, table, format));
            if let Some(closing) = table.closing() {
                add(&format!("{name}-closing"), &closing, Format::Csv);
            }
        }
        for (name, scene) in self.figures() {
            files.push((format!("figures/{name}.svg"), scene.svg("figure").into_bytes()));
            files.push((format!("figures/{name}.png"), scene.png()?));
        }
        Ok(files)
    }

    fn figures(&self) -> Vec<(String, Scene)> {
        let sheet = |c: &Curves| (c.name.clone(), convergence::sheet(&c.title, &c.methods, &c.panels));
        let bars = self.charts.iter().flat_map(|section| &section.charts);
        self.curves.iter().map(sheet).chain(bars.map(|(name, bars)| (name.clone(), bars.scene()))).collect()
    }
}

/// Whether a page was made by [`Report::html`], judged by its first bytes; a kilobyte is enough.
pub fn is_report(start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(start);
    start.starts_with("<!DOCTYPE html>") && start.contains("<meta name=\"generator\" content=\"bilevo\">")
}

/// Points of all curves together.
const POINT_BUDGET: usize = 24_000;

/// Points of each curve, if there are this many.
pub(crate) fn points(curves: usize) -> usize {
    (POINT_BUDGET / curves.max(1)).clamp(6, convergence::POINTS)
}

/// What was run, and what to know before comparing it.
pub(crate) fn lead(rows: &[Row], groups: &[Group<'_>]) -> String {
    let (methods, problems) = (groups::methods(groups).len(), groups::problems(groups).len());
    let first = format!("{} runs of {methods} methods on {problems} problems.", grouped(rows.len() as u64));
    std::iter::once(first).chain(groups::remarks(groups)).collect::<Vec<_>>().join(" ")
}

/// Where some runs come from.
pub(crate) fn facts(rows: &[Row], groups: &[Group<'_>], command: &str) -> Vec<(&'static str, String)> {
    let versions: BTreeSet<&str> = rows.iter().map(|r| r.id().version.as_str()).collect();
    let seeds = || rows.iter().map(|r| r.id().seed);
    let evals: u64 = rows.iter().map(Row::total_evals).sum();
    let seconds: f64 = rows.iter().map(|r| r.result.times.seconds).filter(|s| s.is_finite()).sum();
    vec![
        ("Command", command.to_string()),
        ("Version of bilevo", versions.into_iter().collect::<Vec<_>>().join(", ")),
        ("Runs", grouped(rows.len() as u64)),
        ("Seeds", format!("{} to {}", seeds().min().unwrap_or(0), seeds().max().unwrap_or(0))),
        ("Methods", groups::methods(groups).join(", ")),
        ("Problems", groups::problems(groups).join(", ")),
        ("Evaluations in all runs", grouped(evals)),
        ("Time of all runs", format!("{seconds:.1} s on one core")),
    ]
}
