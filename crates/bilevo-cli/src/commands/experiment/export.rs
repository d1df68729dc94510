//! `bilevo experiment export`: rows and curves for other programs.

use super::rows::{Curves, RowArgs};
use crate::Exit;
use crate::output::{say, warn};
use anyhow::{Context, bail};
use bilevo_lab::export;
use bilevo_lab::store::Store;
use clap::ValueEnum;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Write the rows or the convergence curves of a store for other programs
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    rows: RowArgs,
    /// The form
    #[arg(long, value_enum)]
    format: ExportFormat,
    /// Where to; a new folder for ioh [default: stdout]
    #[arg(long, value_name = "PATH", required_if_eq("format", "ioh"))]
    out: Option<PathBuf>,
    /// Convergence curves too (jsonl; ioh always has them, csv never)
    #[arg(long)]
    traces: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// One line for each run, for pandas, R and spreadsheets
    Csv,
    /// One JSON object for each run, with its whole config
    Jsonl,
    /// The curves as IOHprofiler data, for IOHanalyzer
    Ioh,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    if args.traces && args.format == ExportFormat::Csv {
        bail!("CSV has no place for convergence curves\nhint: use --format jsonl --traces, or --format ioh");
    }
    let store = Store::read(&args.rows.store)?;
    let curves = if args.traces || args.format == ExportFormat::Ioh { Curves::Load } else { Curves::Leave };
    let rows = args.rows.rows(&store, curves)?;
    if rows.is_empty() {
        warn("the store holds no finished run");
    }
    let write = |out: &mut dyn Write| match args.format {
        ExportFormat::Csv => export::csv(&rows, out),
        ExportFormat::Jsonl => export::json_lines(&rows, out),
        ExportFormat::Ioh => Ok(()),
    };
    match &args.out {
        Some(folder) if args.format == ExportFormat::Ioh => {
            let runs = export::ioh_folder(&rows, folder)?;
            say(format_args!("{runs} curves in {}", folder.display()));
        }
        Some(path) => {
            let context = || format!("cannot write `{}`", path.display());
            let mut out = BufWriter::new(new_file(path, &store).with_context(context)?);
            write(&mut out).and_then(|()| out.flush()).with_context(context)?;
            say(format_args!("{} rows in {}", rows.len(), path.display()));
        }
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            write(&mut out)?;
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// Opens a file to write to, unless it belongs to the store.
fn new_file(path: &Path, store: &Store) -> anyhow::Result<File> {
    if store.owns(path) {
        bail!("it belongs to the store");
    }
    Ok(File::create(path)?)
}
