//! `bilevo experiment report`: one HTML page about a store.

use super::rows::{Curves, RowArgs, TestArgs};
use crate::Exit;
use crate::output::say;
use anyhow::{Context, bail};
use bilevo_lab::report::{self, general};
use bilevo_lab::store::Store;
use std::fs::File;
use std::io::{ErrorKind, Read};
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
    /// Where to
    #[arg(long, value_name = "FILE.html", default_value = "report.html")]
    out: PathBuf,
    /// Heading of the page
    #[arg(long, value_name = "TEXT", default_value = "Experiment")]
    title: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let store = Store::read(&args.rows.store)?;
    check_target(&args.out, &store)?;
    let rows = args.rows.rows(&store, Curves::Load)?;
    let command = crate::commands::command_line();
    let html = general::report(&rows, &args.tests.options(), &args.title, &command)?.html()?;
    let path = args.out.display();
    std::fs::write(&args.out, html).with_context(|| format!("cannot write `{path}`"))?;
    say(format_args!("{} runs in {path}", rows.len()));
    Ok(Exit::Done)
}

/// Refuses to write a report over the store or over anything that is not a report.
fn check_target(out: &Path, store: &Store) -> anyhow::Result<()> {
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
