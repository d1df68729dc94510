//! `bilevo experiment`: a grid of methods, problems and seeds in one store.

use super::{interrupt, present};
use crate::args::{Dims, Format};
use crate::output::{self, say, warn};
use crate::{Exit, settings, table};
use anyhow::{Context, bail};
use bilevo_lab::export;
use bilevo_lab::grid::{Grid, Task};
use bilevo_lab::runner::{GridReport, Progress, RunGridOptions, run_grid};
use bilevo_lab::stats::successes;
use bilevo_lab::store::{FailedRun, Filter, RunKey, Store};
use clap::{Subcommand, ValueEnum};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Run and evaluate grids of methods, problems and seeds
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: ExperimentCommand,
}

#[derive(Debug, Subcommand)]
enum ExperimentCommand {
    Run(RunArgs),
    Status(StatusArgs),
    Table(present::TableArgs),
    Report(present::ReportArgs),
    Export(ExportArgs),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        ExperimentCommand::Run(args) => run_experiment(args),
        ExperimentCommand::Status(args) => status(args),
        ExperimentCommand::Table(args) => present::table(args),
        ExperimentCommand::Report(args) => present::report(args),
        ExperimentCommand::Export(args) => export(args),
    }
}

/// For whoever presses Ctrl-C while a grid is running.
pub(super) const FINISHED_RUNS_ARE_SAFE: &str = "stopping; finished runs are in the store";

/// A grid, from a file or spelled out.
#[derive(clap::Args, Debug)]
struct GridArgs {
    /// A grid file: methods, problems and, if wanted, dims, runs, first_seed, settings
    grid: Option<PathBuf>,
    /// Methods, separated by commas
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', conflicts_with = "grid")]
    methods: Vec<String>,
    /// Problems, separated by commas
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', conflicts_with = "grid")]
    problems: Vec<String>,
    /// Sizes as in 2+3,5+5, for problems that come in several
    #[arg(long, value_name = "M+N", value_delimiter = ',', conflicts_with = "grid")]
    dims: Vec<Dims>,
    /// Change one setting of every method, as in --set stop.target=off
    #[arg(long, value_name = "KEY=VALUE", value_parser = settings::parse_assignment, conflicts_with = "grid")]
    set: Vec<(String, String)>,
    /// Runs of every combination [default: as in the grid file, or 21]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    runs: Option<u64>,
    /// Seed of the first run [default: as in the grid file, or 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    first_seed: Option<u64>,
}

impl GridArgs {
    /// The grid that is meant; none if neither a file nor names are given.
    fn grid(&self) -> anyhow::Result<Option<Grid>> {
        let mut grid = match &self.grid {
            Some(path) => {
                let text =
                    std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
                Grid::parse(&text).map_err(|e| anyhow::anyhow!("in `{}`: {e}", path.display()))?
            }
            None if self.methods.is_empty() && self.problems.is_empty() => return Ok(None),
            None => {
                let mut grid = Grid::new(self.methods.clone(), self.problems.clone());
                grid.dims = self.dims.iter().map(|dims| (dims.upper, dims.lower)).collect();
                grid.settings = vec![self.set.clone()];
                grid
            }
        };
        grid.runs = self.runs.unwrap_or(grid.runs);
        grid.first_seed = self.first_seed.unwrap_or(grid.first_seed);
        Ok(Some(grid))
    }
}

/// Run what is missing of a grid
///
/// Every finished run is one row of the store. Interrupted or killed, the same command goes on where
/// it was. Ends with exit code 1 if a run failed.
#[derive(clap::Args, Debug)]
struct RunArgs {
    #[command(flatten)]
    grid: GridArgs,
    /// The store [default: the grid file's name with `.db`, or experiment.db]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Runs at the same time; 0 takes one for each processor. The rows are the same with any number
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024), allow_negative_numbers = true)]
    jobs: u16,
    /// Text for people, or JSON for programs: one line for each run that ends
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn run_experiment(args: &RunArgs) -> anyhow::Result<Exit> {
    let Some(grid) = args.grid.grid()? else {
        bail!("there is nothing to run\nhint: give a grid file, or --methods and --problems");
    };
    let by_name = args.grid.grid.as_ref().map_or_else(|| "experiment.db".into(), |file| file.with_extension("db"));
    let path = args.store.clone().unwrap_or(by_name);
    grid.tasks()?;
    let passed_by = grid.passed_by();
    if !passed_by.is_empty() {
        say(format_args!("the sizes are not for {}: run in the only size there is", passed_by.join(", ")));
    }
    let mut store = Store::open(&path)?;
    let stop = interrupt::flag_saying(FINISHED_RUNS_ARE_SAFE)?;
    let mut watch = Watch::new(args.format);
    let options = RunGridOptions {
        jobs: args.jobs.into(),
        stop: stop.clone(),
        progress: Some(&mut |progress| watch.show(progress)),
        ..RunGridOptions::default()
    };
    let ended = run_grid(&grid, &mut store, options);
    watch.clear();
    let report = ended?;
    watch.written?;
    let GridReport { total, found, done, failed } = &report;
    say(format_args!("{done} runs done, {found} were there before, {total} in all: {}", path.display()));
    if report.missing() > failed.len() {
        say(format_args!("interrupted with {} runs to do; the same command goes on", report.missing()));
        return Ok(Exit::Interrupted);
    }
    if failed.is_empty() {
        return Ok(Exit::Done);
    }
    warn(format_args!("{} runs failed; the same command tries them again", failed.len()));
    Ok(Exit::TargetMissed)
}

/// Shows how a grid gets on: a line with the time left on a terminal, JSON lines on stdout if asked.
pub(super) struct Watch {
    bar: ProgressBar,
    format: Format,
    written: std::io::Result<()>,
}

#[derive(Serialize)]
struct ProgressLine<'a> {
    method: &'a str,
    problem: &'a str,
    upper_dim: usize,
    lower_dim: usize,
    seed: u64,
    done: usize,
    failed: usize,
    total: usize,
    seconds: f64,
    seconds_left: Option<f64>,
    failure: Option<&'a str>,
}

impl Watch {
    pub(super) fn new(format: Format) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos} of {len} runs{msg}") {
            bar.set_style(style);
        }
        Watch { bar, format, written: Ok(()) }
    }

    pub(super) fn show(&mut self, progress: &Progress<'_>) {
        let Progress { done, failed, total, elapsed, left, run, failure } = *progress;
        if let Some(FailedRun { key, message }) = failure {
            self.bar.suspend(|| warn(format_args!("{} failed: {message}", describe(key))));
        }
        self.bar.set_length(total as u64);
        self.bar.set_position((done + failed) as u64);
        let left_words = left.map(|left| format!(" · {:#} left", HumanDuration(left))).unwrap_or_default();
        self.bar.set_message(left_words);
        if let (Format::Json, Ok(()), Some(run)) = (self.format, &self.written, run) {
            let RunKey { ref method, ref problem, upper_dim, lower_dim, seed, .. } = *run;
            let (seconds, seconds_left) = (elapsed.as_secs_f64(), left.map(|left| left.as_secs_f64()));
            let failure = failure.map(|f| f.message.as_str());
            self.written = json_line(&ProgressLine {
                method,
                problem,
                upper_dim,
                lower_dim,
                seed,
                done,
                failed,
                total,
                seconds,
                seconds_left,
                failure,
            });
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Prints one JSON line at once.
fn json_line(value: &impl Serialize) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

fn describe(key: &RunKey) -> String {
    let RunKey { method, problem, upper_dim, lower_dim, seed, .. } = key;
    format!("{method} on {problem} {upper_dim}+{lower_dim}, seed {seed}")
}

/// Show what a store holds, and what a grid lacks
#[derive(clap::Args, Debug)]
struct StatusArgs {
    #[command(flatten)]
    grid: GridArgs,
    /// The store
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Status {
    rows: usize,
    cells: Vec<StatusCell>,
    failures: Vec<StatusFailure>,
    grid: Option<GridStatus>,
}

#[derive(Serialize)]
struct StatusCell {
    method: String,
    problem: String,
    upper_dim: usize,
    lower_dim: usize,
    settings: String,
    version: String,
    runs: usize,
    solved: Option<usize>,
}

#[derive(Serialize)]
struct StatusFailure {
    run: String,
    message: String,
}

#[derive(Serialize)]
struct GridStatus {
    total: usize,
    done: usize,
    missing: usize,
}

fn status(args: &StatusArgs) -> anyhow::Result<Exit> {
    let tasks: Option<Vec<Task>> = args.grid.grid()?.map(|grid| grid.tasks()).transpose()?;
    let store = Store::open_existing(&args.store)?;
    let status = read_status(&store, tasks.as_deref())?;
    if args.format == Format::Json {
        output::json(&status)?;
        return Ok(Exit::Done);
    }
    let mut out = output::stdout();
    let heading = ["problem", "size", "method", "settings", "version", "runs", "solved"];
    let mut lines = vec![heading.map(String::from).to_vec()];
    for cell in status.cells {
        let size = format!("{}+{}", cell.upper_dim, cell.lower_dim);
        let solved = cell.solved.map_or("–".into(), |n| n.to_string());
        lines.push(vec![cell.problem, size, cell.method, cell.settings, cell.version, cell.runs.to_string(), solved]);
    }
    table::columns(&mut out, &lines)?;
    for StatusFailure { run, message } in &status.failures {
        writeln!(out, "failed: {run}: {message}")?;
    }
    if let Some(GridStatus { total, done, missing }) = status.grid {
        writeln!(out, "{done} of {total} runs of the grid are done, {missing} are missing")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn read_status(store: &Store, tasks: Option<&[Task]>) -> anyhow::Result<Status> {
    let rows = store.rows(&Filter::all())?;
    let mut cells = BTreeMap::new();
    for row in &rows {
        let key = (&row.problem, row.upper_dim, row.lower_dim, &row.method, &row.settings, &row.version);
        cells.entry(key).or_insert_with(Vec::new).push(row);
    }
    let cells = cells.into_iter().map(|((problem, upper_dim, lower_dim, method, settings, version), rows)| {
        let counts = successes(rows);
        StatusCell {
            method: method.clone(),
            problem: problem.clone(),
            upper_dim,
            lower_dim,
            settings: settings.clone(),
            version: version.clone(),
            runs: counts.runs,
            solved: (counts.judged > 0).then_some(counts.solved),
        }
    });
    let failures = store.failures()?.into_iter().map(|f| StatusFailure { run: describe(&f.key), message: f.message });
    let grid = match tasks {
        None => None,
        Some(tasks) => {
            let stored = store.keys()?;
            let done = tasks.iter().filter(|task| stored.contains(&task.key())).count();
            Some(GridStatus { total: tasks.len(), done, missing: tasks.len() - done })
        }
    };
    Ok(Status { rows: rows.len(), cells: cells.collect(), failures: failures.collect(), grid })
}

/// Write the rows or the convergence curves of a store for other programs
#[derive(clap::Args, Debug)]
struct ExportArgs {
    /// The store
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// The form
    #[arg(long, value_enum)]
    format: ExportFormat,
    /// Where to; a new folder for ioh [default: stdout]
    #[arg(long, value_name = "PATH", required_if_eq("format", "ioh"))]
    out: Option<PathBuf>,
    /// Only these methods
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
    /// Only these problems
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',')]
    problems: Vec<String>,
    /// Rows of earlier versions and settings too, not only the newest
    #[arg(long)]
    all: bool,
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

fn export(args: &ExportArgs) -> anyhow::Result<Exit> {
    if args.traces && args.format == ExportFormat::Csv {
        bail!("CSV has no place for convergence curves\nhint: use --format jsonl --traces, or --format ioh");
    }
    let store = Store::open_existing(&args.store)?;
    let mut filter = if args.all { Filter::all() } else { Filter::default() };
    filter.methods.clone_from(&args.methods);
    filter.problems.clone_from(&args.problems);
    if args.traces || args.format == ExportFormat::Ioh {
        filter = filter.with_traces();
    }
    let rows = store.rows(&filter)?;
    if rows.is_empty() {
        warn("no row matches");
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
