//! `bilevo reproduce`: the whole published study, and the published figures beside ours.

use super::experiment::{FINISHED_RUNS_ARE_SAFE, Watch};
use super::interrupt;
use crate::Exit;
use crate::args::Format;
use crate::output::{self, say, warn};
use anyhow::{Context, bail};
use bilevo_lab::report::{Input, write_files};
use bilevo_lab::row::RunRow;
use bilevo_lab::runner::{RunGridOptions, run_tasks, solve_task};
use bilevo_lab::store::{Filter, RunKey, Store};
use bilevo_lab::study::{self, Part};
use bilevo_lab::tables::{Format as TableFormat, general, groups};
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

/// Run the published study again and set its figures beside ours
///
/// Writes tables, figures and report.html into a folder and prints the conclusions. Finished runs
/// are kept in the store: interrupted or killed, the same command goes on where it was.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Runs of every method on every problem
    #[arg(long, short, value_name = "N", default_value_t = 21, allow_negative_numbers = true)]
    runs: u64,
    /// Only these parts, separated by commas
    #[arg(long, value_enum, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<PartArg>,
    /// Runs at the same time; 0 takes one for each processor. The rows are the same with any number
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024), allow_negative_numbers = true)]
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
    /// Five pairs on SMD1 to SMD12
    Smd,
    /// One pair on TP1 to TP10
    Tp,
    /// Ablations, the literal preset, the ingredients and the cap control
    Ablation,
    /// Gold mining and decision making
    Applications,
}

impl PartArg {
    fn meant(self) -> Part {
        match self {
            PartArg::Smd => Part::Smd,
            PartArg::Tp => Part::Tp,
            PartArg::Ablation => Part::Ablation,
            PartArg::Applications => Part::Applications,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let chosen: Vec<Part> = args.only.iter().map(|p| p.meant()).collect();
    let comparisons = study::comparisons(if chosen.is_empty() { &Part::ALL } else { &chosen });
    let tasks = study::tasks(&comparisons, args.runs)?;
    let path = args.store.clone().unwrap_or_else(|| args.out.join("study.db"));
    if args.out.exists() && !args.out.is_dir() {
        bail!("`{}` is no folder; it is left as it is\nhint: give another folder with --out", args.out.display());
    }
    if path == args.out.join("report.html") {
        bail!("`{}` is where the report goes\nhint: give another store", path.display());
    }
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make `{}`", args.out.display()))?;
    let mut store = Store::open(&path)?;
    let mut watch = Watch::new(Format::Text);
    let options = RunGridOptions {
        jobs: args.jobs.into(),
        stop: interrupt::flag_saying(FINISHED_RUNS_ARE_SAFE)?,
        progress: Some(&mut |progress| watch.show(progress)),
        ..RunGridOptions::default()
    };
    let ended = run_tasks(&tasks, &mut store, &solve_task, options);
    watch.clear();
    let done = ended?;
    if done.missing() > done.failed.len() {
        say(format_args!("interrupted with {} runs to do; the same command goes on", done.missing()));
        return Ok(Exit::Interrupted);
    }
    let wanted: BTreeSet<RunKey> = tasks.iter().map(|task| task.key()).collect();
    let mut rows = store.rows(&Filter::all().with_traces())?;
    rows.retain(|row| wanted.contains(&RunKey::of(row)));
    present(args, &comparisons, &rows)?;
    if done.failed.is_empty() {
        return Ok(Exit::Done);
    }
    warn(format_args!("{} runs failed; the same command tries them again", done.failed.len()));
    Ok(Exit::TargetMissed)
}

/// Writes the files and prints the conclusions.
fn present(args: &Args, comparisons: &[study::Comparison], rows: &[RunRow]) -> anyhow::Result<()> {
    let input = Input {
        title: "The published study, measured again",
        rows,
        comparisons,
        options: &general::Options::default(),
        differences: &study::DIFFERENCES,
        command: &super::command_line(),
    };
    let files = write_files(&input, &args.out)?;
    let mut out = output::stdout();
    let summary = study::summary(comparisons, &groups::group(rows));
    out.write_all(summary.write(TableFormat::Text).as_bytes())?;
    out.flush()?;
    let report = args.out.join("report.html");
    say(format_args!("{} runs, {files} files; open {}", rows.len(), report.display()));
    Ok(())
}
