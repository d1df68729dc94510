//! `bilevo experiment report`: one HTML page about a store.

use super::rows::{Curves, RowArgs, TestArgs};
use crate::Exit;
use crate::output::{self, say};
use anyhow::bail;
use bilevo::files;
use bilevo_lab::report::{KIND, general};
use bilevo_lab::store::Store;
use std::path::{Path, PathBuf};

/// Write one HTML page about a store: table and convergence curves
///
/// Without --reference, the methods are tested against their base if the store holds exactly one
/// base algorithm.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    tests: TestArgs,
    /// The file to write
    #[arg(long, value_name = "FILE.html", default_value = "report.html")]
    out: PathBuf,
    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "Experiment")]
    title: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let store = Store::read(&args.rows.store)?;
    output::warn_of_missing_log(&store);
    refuse_store(&args.out, &store)?;
    files::prepare(&args.out, &KIND)?;
    let rows = args.rows.rows(&store, Curves::Load)?;
    let command = crate::commands::command_line();
    let html = general::report(&rows, &args.tests.options(), &args.title, &command)?.html()?;
    files::write(&args.out, &KIND, |out| out.write_all(html.as_bytes()))?;
    say(format_args!("{} runs in {}", rows.len(), args.out.display()));
    Ok(Exit::Done)
}

/// The store and its companion files must never be overwritten.
pub(super) fn refuse_store(out: &Path, store: &Store) -> anyhow::Result<()> {
    if store.owns(out) {
        let path = out.display();
        bail!("`{path}` belongs to the store; nothing was written\nhint: give another name with --out");
    }
    Ok(())
}
