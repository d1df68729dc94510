//! `bilevo experiment run`: does the missing runs of a grid.

use super::grid::GridArgs;
use super::watch::Watch;
use crate::Exit;
use crate::args::Format;
use crate::commands::interrupt;
use crate::output::{self, say, warn};
use anyhow::bail;
use bilevo_lab::runner::{GridReport, RunGridOptions, run_tasks, solve_task};
use bilevo_lab::store::Store;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The message on Ctrl-C while a grid is running.
pub(crate) const FINISHED_RUNS_ARE_SAFE: &str = "stopping; finished runs are safe in the store";

/// Run a grid of methods, problems and seeds, except for what the store already has
///
/// Every finished run is one row of the store. After an interruption, the same command continues where it
/// stopped. Exit code 1 means that a run failed.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    grid: GridArgs,
    /// The store [default: the grid file's name with `.db`, or experiment.db]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Number of runs at the same time; 0 means one per processor. The results do not depend on it
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = crate::args::jobs, allow_negative_numbers = true)]
    jobs: u16,
    /// Text for people, or JSON for programs: one line per finished run
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(grid) = args.grid.grid()? else {
        bail!("there is nothing to run\nhint: give a grid file, or --methods and --problems");
    };
    let by_name = args.grid.grid.as_ref().map_or_else(|| "experiment.db".into(), |file| file.with_extension("db"));
    let path = args.store.clone().unwrap_or(by_name);
    let tasks = grid.tasks()?;
    let passed_by = grid.passed_by(&tasks);
    if !passed_by.is_empty() {
        say(format_args!("the sizes do not apply to {}: it comes in one size only", passed_by.join(", ")));
    }
    let notices: BTreeSet<&String> = tasks.iter().filter_map(|task| task.notice.as_ref()).collect();
    notices.into_iter().for_each(say);
    let mut store = Store::open(&path)?;
    output::warn_of_missing_log(&store);
    let mut watch = Watch::new(args.format);
    let options = RunGridOptions {
        jobs: args.jobs.into(),
        stop: interrupt::flag_saying(FINISHED_RUNS_ARE_SAFE)?,
        progress: Some(&mut |progress| watch.show(progress)),
        ..RunGridOptions::default()
    };
    let ended = run_tasks(&tasks, &mut store, &solve_task, options);
    let report = watch.end(ended)?;
    let GridReport { total, found, done, .. } = report;
    say(format_args!("{done} runs done, {found} were there before, {total} in all: {}", path.display()));
    Ok(conclude(&report))
}

/// Says what is left to do, and determines the exit code.
pub(crate) fn conclude(report: &GridReport) -> Exit {
    let failed = report.failed.len();
    if report.missing() > failed {
        say(format_args!("interrupted with {} runs left; the same command continues", report.missing()));
        return Exit::Interrupted;
    }
    if failed == 0 {
        return Exit::Done;
    }
    warn("W303", format_args!("{failed} runs failed; the same command tries them again"));
    Exit::NotGood
}
