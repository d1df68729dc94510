//! `bilevo reproduce`: the whole published study, with the published figures next to ours.

use super::experiment::{FINISHED_RUNS_ARE_SAFE, Watch, conclude};
use super::interrupt;
use crate::Exit;
use crate::args::Format;
use crate::output::{self, say};
use anyhow::{Context, bail};
use bilevo::RunId;
use bilevo_lab::paper;
use bilevo_lab::paper::folder::Contents;
use bilevo_lab::paper::study::{self, Comparison, Part};
use bilevo_lab::row::Row;
use bilevo_lab::runner::{RunGridOptions, run_tasks, solve_task};
use bilevo_lab::store::{Filter, Store};
use bilevo_lab::tables::Format as TableFormat;
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

/// Run the published study again and compare its figures with ours
///
/// Writes tables, figures and report.html into a folder and prints the conclusions. Finished runs
/// are kept in the store: after an interruption, the same command continues where it stopped. A folder
/// holds one study: one with more runs or parts replaces a smaller one; anything else needs another folder.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Runs of every method on every problem
    #[arg(long, short, value_name = "N", default_value_t = 21, allow_negative_numbers = true)]
    runs: u64,
    /// Seed of the first run; the others follow
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    first_seed: u64,
    /// Only these parts, separated by commas
    #[arg(long, value_enum, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<PartArg>,
    /// Number of runs at the same time; 0 means one per processor. The results do not depend on it
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = crate::args::jobs, allow_negative_numbers = true)]
    jobs: u16,
    /// The store [default: study.db in the folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// The folder
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PartArg {
    /// Five pairs of methods on SMD1 to SMD12
    Smd,
    /// One pair of methods on TP1 to TP10
    Tp,
    /// Random and one-shot allocation instead of the whole method
    Ablation,
    /// Gold mining and decision making
    Applications,
    /// What the ranking model contributes: the same methods without it
    Controls,
    /// What the paper's text may mean
    Readings,
    /// Beyond the paper: the default method, the steps to our ranking, capped searches
    Beyond,
}

impl PartArg {
    fn meant(self) -> Part {
        match self {
            PartArg::Smd => Part::Smd,
            PartArg::Tp => Part::Tp,
            PartArg::Ablation => Part::Ablation,
            PartArg::Applications => Part::Applications,
            PartArg::Controls => Part::Controls,
            PartArg::Readings => Part::Readings,
            PartArg::Beyond => Part::Beyond,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let chosen: Vec<Part> = args.only.iter().map(|p| p.meant()).collect();
    let comparisons = study::comparisons(if chosen.is_empty() { &Part::ALL } else { &chosen });
    let tasks = study::tasks(&comparisons, args.first_seed, args.runs)?;
    let path = args.store.clone().unwrap_or_else(|| args.out.join("study.db"));
    let contents = Contents::new(&comparisons, args.first_seed, args.runs);
    contents.check(&args.out)?;
    if Contents::owns(&args.out, &path) {
        bail!("`{}` is reserved for files of the study\nhint: give another store", path.display());
    }
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make `{}`", args.out.display()))?;
    let mut store = Store::open(&path)?;
    output::warn_of_missing_log(&store);
    let mut watch = Watch::new(Format::Text);
    let options = RunGridOptions {
        jobs: args.jobs.into(),
        stop: interrupt::flag_saying(FINISHED_RUNS_ARE_SAFE)?,
        progress: Some(&mut |progress| watch.show(progress)),
        ..RunGridOptions::default()
    };
    let ended = run_tasks(&tasks, &mut store, &solve_task, options);
    let done = watch.end(ended)?;
    let exit = conclude(&done);
    if exit == Exit::Interrupted {
        return Ok(exit);
    }
    let wanted: BTreeSet<&RunId> = tasks.iter().map(|task| &task.id).collect();
    let mut rows = store.rows(&Filter::all().with_traces())?;
    rows.retain(|row| wanted.contains(row.id()));
    present(args, contents, &comparisons, &rows)?;
    Ok(exit)
}

/// Writes the files and prints the conclusions.
fn present(args: &Args, contents: Contents, comparisons: &[Comparison], rows: &[Row]) -> anyhow::Result<()> {
    let report = paper::report(comparisons, rows, &super::command_line())?;
    let files = contents.write(&report, &args.out)?;
    let mut out = output::stdout();
    for (_, table) in &report.summary {
        writeln!(out, "{}", table.write(TableFormat::Text))?;
    }
    out.flush()?;
    let page = args.out.join(bilevo_lab::report::PAGE);
    say(format_args!("{} runs, {files} files; open {}", rows.len(), page.display()));
    Ok(())
}
