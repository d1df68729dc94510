//! `bilevo experiment table` and `bilevo experiment report`: what a store holds, for reading.

use crate::Exit;
use crate::output::{self, say};
use anyhow::{Context, anyhow, bail};
use bilevo::config::{did_you_mean, nearest};
use bilevo_lab::report::{self, Input};
use bilevo_lab::row::RunRow;
use bilevo_lab::store::{Filter, RunKey, Store};
use bilevo_lab::tables::{self, general};
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Which rows of a store, and what they are tested against.
#[derive(clap::Args, Debug)]
struct RowArgs {
    /// The store
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// Test the other methods against this one
    #[arg(long, value_name = "METHOD")]
    reference: Option<String>,
    /// Correct the p-values for the number of tests (Holm)
    #[arg(long, requires = "reference")]
    holm: bool,
    /// Only these methods
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
    /// Only these problems
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',')]
    problems: Vec<String>,
    /// Rows of earlier versions and settings too, not only the newest
    #[arg(long)]
    all: bool,
}

impl RowArgs {
    fn rows(&self, traces: bool) -> anyhow::Result<Vec<RunRow>> {
        let mut filter = if self.all { Filter::all() } else { Filter::default() };
        filter.methods.clone_from(&self.methods);
        filter.problems.clone_from(&self.problems);
        let filter = if traces { filter.with_traces() } else { filter };
        let store = Store::open_existing(&self.store)?;
        let rows = store.rows(&filter)?;
        if rows.is_empty() && store.count()? > 0 {
            return Err(self.nothing_matches(&store.keys()?));
        }
        Ok(rows)
    }

    /// Says which name the store does not know, or that the names do not meet.
    fn nothing_matches(&self, stored: &BTreeSet<RunKey>) -> anyhow::Error {
        let methods: BTreeSet<&str> = stored.iter().map(|key| key.method.as_str()).collect();
        let problems: BTreeSet<&str> = stored.iter().map(|key| key.problem.as_str()).collect();
        for (what, given, known) in [("method", &self.methods, methods), ("problem", &self.problems, problems)] {
            if let Some(name) = given.iter().find(|name| !known.contains(name.as_str())) {
                let question = did_you_mean(&nearest(name, known.iter().copied()));
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                return anyhow!(
                    "no run matches: the store has none with the {what} `{name}`{question}\nhint: it holds {known}"
                );
            }
        }
        let store = self.store.display();
        anyhow!("no run matches all the names\nhint: `bilevo experiment status --store {store}` shows what is there")
    }

    fn options(&self) -> general::Options {
        general::Options { reference: self.reference.clone(), holm: self.holm }
    }
}

/// Print medians, marks and expected running times of a store
#[derive(clap::Args, Debug)]
pub(super) struct TableArgs {
    #[command(flatten)]
    rows: RowArgs,
    /// The form
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// Columns for people
    #[default]
    Text,
    /// A GitHub table
    Markdown,
    /// A booktabs table
    Latex,
    /// For spreadsheets and programs
    Csv,
}

impl TableFormat {
    fn meant(self) -> tables::Format {
        match self {
            TableFormat::Text => tables::Format::Text,
            TableFormat::Markdown => tables::Format::Markdown,
            TableFormat::Latex => tables::Format::Latex,
            TableFormat::Csv => tables::Format::Csv,
        }
    }
}

pub(super) fn table(args: &TableArgs) -> anyhow::Result<Exit> {
    let table = general::table(&args.rows.rows(false)?, &args.rows.options())?;
    let mut out = output::stdout();
    out.write_all(table.write(args.format.meant()).as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Write one HTML page about a store: table and convergence curves
///
/// Without --reference, the methods are tested against their base if the store holds exactly one
/// base algorithm.
#[derive(clap::Args, Debug)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    rows: RowArgs,
    /// Where to
    #[arg(long, value_name = "FILE.html", default_value = "report.html")]
    out: PathBuf,
    /// Heading of the page
    #[arg(long, value_name = "TEXT", default_value = "Experiment")]
    title: String,
}

pub(super) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    check_target(&args.out, &Store::open_existing(&args.rows.store)?)?;
    let rows = args.rows.rows(true)?;
    let mut options = args.rows.options();
    options.reference = options.reference.or_else(|| general::only_base(&rows));
    let html = report::html(&Input {
        title: &args.title,
        rows: &rows,
        comparisons: &[],
        options: &options,
        differences: &[],
        command: &super::command_line(),
    })?;
    let path = args.out.display();
    std::fs::write(&args.out, html).with_context(|| format!("cannot write `{path}`"))?;
    say(format_args!("{} runs in {path}", rows.len()));
    Ok(Exit::Done)
}

/// Refuses to write a report over the store or over anything that is not a report.
pub(super) fn check_target(out: &Path, store: &Store) -> anyhow::Result<()> {
    let path = out.display();
    if store.owns(out) {
        bail!("`{path}` belongs to the store; nothing was written\nhint: give another file with --out");
    }
    let context = || format!("cannot write `{path}`");
    let is_file = match out.metadata() {
        Ok(found) => found.is_file(),
        Err(e) if e.kind() == ErrorKind::NotFound => false,
        Err(e) => return Err(e).with_context(context),
    };
    if is_file {
        let mut start = Vec::new();
        File::open(out).and_then(|file| file.take(1024).read_to_end(&mut start)).with_context(context)?;
        if !report::is_report(&start) {
            bail!(
                "`{path}` is there and is no report of bilevo; it is left as it is\nhint: give another file with --out, or remove this one"
            );
        }
    }
    Ok(())
}
