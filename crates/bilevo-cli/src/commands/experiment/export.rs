//! `bilevo experiment export`: rows and curves for other programs.

use super::report::refuse_store;
use super::rows::{Curves, RowArgs};
use crate::Exit;
use crate::output::{self, say, warn};
use anyhow::bail;
use bilevo::files;
use bilevo_lab::export;
use bilevo_lab::store::Store;
use clap::ValueEnum;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;

/// Write the rows or the convergence curves of a store for other programs
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    rows: RowArgs,
    /// Output format
    #[arg(long, value_enum)]
    format: ExportFormat,
    /// Where to write: a file, which may be an earlier export, or a new folder for ioh [default: stdout]
    #[arg(long, value_name = "PATH", required_if_eq("format", "ioh"))]
    out: Option<PathBuf>,
    /// Include convergence curves (jsonl; ioh always has them, csv never)
    #[arg(long)]
    traces: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// One line per run, for pandas, R and spreadsheets
    Csv,
    /// One JSON object per run, with its complete configuration
    Jsonl,
    /// The curves as IOHprofiler data, for IOHanalyzer
    Ioh,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    if args.traces && args.format == ExportFormat::Csv {
        bail!("CSV cannot hold convergence curves\nhint: use --format jsonl --traces, or --format ioh");
    }
    let store = Store::read(&args.rows.store)?;
    output::warn_of_missing_log(&store);
    let curves = if args.traces || args.format == ExportFormat::Ioh { Curves::Load } else { Curves::Leave };
    let rows = args.rows.rows(&store, curves)?;
    if rows.is_empty() {
        warn("W403", "the store has no finished runs");
    }
    let write = |out: &mut dyn Write| match args.format {
        ExportFormat::Csv => export::csv(&rows, out),
        ExportFormat::Jsonl => export::json_lines(&rows, out),
        ExportFormat::Ioh => Ok(()),
    };
    let Some(path) = &args.out else {
        // Data as it is for a program, and as text for a terminal.
        let mut out: Box<dyn Write> = match std::io::stdout().is_terminal() {
            true => Box::new(output::stdout()),
            false => Box::new(BufWriter::new(std::io::stdout().lock())),
        };
        write(&mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    refuse_store(path, &store)?;
    let (count, what) = match args.format {
        ExportFormat::Ioh => (export::ioh_folder(&rows, path)?, "curves"),
        ExportFormat::Csv => (files::write(path, &export::CSV, write).map(|()| rows.len())?, "rows"),
        ExportFormat::Jsonl => (files::write(path, &export::JSON_LINES, write).map(|()| rows.len())?, "rows"),
    };
    say(format_args!("{count} {what} in {}", path.display()));
    Ok(Exit::Done)
}
