//! `bilevo experiment table`: the table of a store.

use super::rows::{Curves, RowArgs, TestArgs};
use crate::Exit;
use crate::output;
use anyhow::anyhow;
use bilevo_lab::store::Store;
use bilevo_lab::tables::{self, general, groups};
use clap::ValueEnum;
use std::io::Write;

/// Print medians, marks of significance and expected running times of a store
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    tests: TestArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Print only the closing lines: how often each method got each mark
    #[arg(long, requires = "reference")]
    closing: bool,
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
    /// For spreadsheets and programs: one line per method and problem, no closing lines
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

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let store = Store::read(&args.rows.store)?;
    output::warn_of_missing_log(&store);
    let rows = args.rows.rows(&store, Curves::Leave)?;
    let groups = groups::group(&rows);
    let mut table = general::table(&groups, &args.tests.options())?;
    if args.closing {
        table = table.closing().ok_or_else(|| {
            anyhow!("there are no marks\nhint: there are too few runs, or the reference shares no problem with another method")
        })?;
    }
    // CSV has no room for a note.
    if args.format == TableFormat::Csv {
        groups::remarks(&groups).iter().for_each(|remark| output::warn("W404", output::plain(remark)));
    }
    let mut out = output::stdout();
    out.write_all(table.write(args.format.meant()).as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}
