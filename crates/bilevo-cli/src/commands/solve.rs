//! `bilevo solve`: starts or resumes one run, watches it and prints its result.

mod files;
mod plot;
mod progress;
mod report;
mod resume;
mod sweep;
mod text;

use super::eval::Vector;
use super::interrupt;
use crate::args::{Duration, Format, SizeArgs, positive, whole_number};
use crate::output::{self, say};
use crate::{Exit, settings};
use anyhow::bail;
use bilevo::checkpoint::Saved;
use bilevo::config::SchemeKind;
use bilevo::known::{self, Recorder};
use bilevo::prove::ProveOptions;
use bilevo::solver::Ready;
use bilevo::source::{self, Named};
use bilevo::testing::{Faulty, Inject};
use bilevo::trace::TraceWriter;
use bilevo::{
    AfterFailure, AuditOptions, FailurePolicy, Observer, Position, Run, RunError, RunResult, Solver, Source, Start,
    Status, checkpoint, methods, problems,
};
use clap::ValueEnum;
use files::{default_checkpoint, is_stdout};
use plot::Plot;
use progress::Progress;
use report::Page;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What belongs to one run.
const ONE_RUN: [&str; 11] =
    ["x0", "known", "save_evaluations", "checkpoint", "resume", "trace", "plot", "report", "audit", "prove", "inject"];

/// Solve a problem
///
/// The exit code is 0 if the answer is good: it is feasible at both levels, the follower was rechecked,
/// the search finished (restarts agree, nothing improves any more, or the target is met), and an audit, if you
/// asked for one, confirmed it. Otherwise the exit code is 1, and a warning says what is wrong.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// A built-in problem (see `bilevo list problems`) or a problem file
    #[arg(required_unless_present = "resume")]
    problem: Option<String>,
    /// The method (see `bilevo list methods`) [default: auto, which chooses one that suits the problem: portfolio
    /// if all variables are real, exchange-cma-es if some are whole numbers]
    #[arg(long, short, value_name = "NAME")]
    method: Option<String>,
    /// Seed of all random numbers; the same seed gives the same answer [default: a random one, which is printed]
    #[arg(long, short, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// When the run has searched enough: `quick` stops earlier than `normal`, `thorough` later, `budget` only when
    /// the budget is spent, and `local` at the first verified answer, for a good --x0 (portfolio only)
    #[arg(long, value_name = "EFFORT", value_parser = ["local", "quick", "normal", "thorough", "budget"])]
    effort: Option<String>,
    /// Change one setting of the method, as in --set allocator.window=48 (see `bilevo explain`)
    #[arg(long, value_name = "KEY=VALUE", value_parser = settings::parse_assignment)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    size: SizeArgs,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Limit on the evaluations of both levels together, exact to within one batch [default: none]
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    max_evals: Option<u64>,
    /// Limit on upper evaluations; the current generation is finished first [default: depends on the number
    /// of variables]. You can raise it when you resume a run
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    max_upper_evals: Option<u64>,
    /// Limit on lower evaluations; the current batch is finished first [default: none]
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    max_lower_evals: Option<u64>,
    /// Limit on the wall time, as in 90s, 10m or 1h30m, including earlier sessions and the audit
    #[arg(help_heading = "Limits", long, value_name = "TIME", allow_negative_numbers = true)]
    time_limit: Option<Duration>,
    /// Whether reaching the best known value, if there is one, ends the run [default: both
    /// for portfolio, upper for the others]
    #[arg(help_heading = "Limits", long, value_enum, value_name = "WHEN")]
    target: Option<TargetArg>,
    /// Check the answer: solve the follower's problem again, with different methods, and compare
    #[arg(help_heading = "Checks of the answer", long)]
    audit: bool,
    /// Treat gaps in the follower's objective up to this as zero, relative to max(1, |f|) [default: the
    /// file's `position_tolerance`, or 1e-4]
    #[arg(help_heading = "Checks of the answer", long, value_name = "GAP", value_parser = positive)]
    audit_tolerance: Option<f64>,
    /// Limit on the lower evaluations of the audit, plus half as many for ties [default: 40 times
    /// those of one lower search]
    #[arg(help_heading = "Checks of the answer", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    audit_evals: Option<u64>,
    /// Prove that no decision is better, and adopt better ones found on the way; takes at most a minute
    /// or --time-limit, and works for problems given by formulas
    #[arg(help_heading = "Checks of the answer", long)]
    prove: bool,
    /// Which answer counts if several are equally good for the follower. Every lower evaluation then costs an
    /// upper one too, and the run ends with an audit [default: as in the problem file, if it says so]
    #[arg(help_heading = "Checks of the answer", long, value_enum, value_name = "WHICH")]
    position: Option<PositionArg>,
    /// Start at this decision of the leader: numbers separated by spaces or commas. If the follower has its own
    /// solver, you can give several
    #[arg(help_heading = "Starts and known evaluations", long, value_name = "NUMBERS", allow_hyphen_values = true)]
    x0: Vec<Vector>,
    /// Start at this answer of the follower: one for each --x0 [default: the middle of its box]
    #[arg(
        help_heading = "Starts and known evaluations",
        long,
        value_name = "NUMBERS",
        allow_hyphen_values = true,
        requires = "x0"
    )]
    y0: Vec<Vector>,
    /// Use the evaluations of earlier runs in this table, written by --save-evaluations: they are not repeated,
    /// and the default method learns from them. You can give several tables
    #[arg(help_heading = "Starts and known evaluations", long, value_name = "FILE.csv")]
    known: Vec<PathBuf>,
    /// Write every evaluation of the run to this table
    #[arg(help_heading = "Starts and known evaluations", long, value_name = "FILE.csv")]
    save_evaluations: Option<PathBuf>,
    /// Find the Pareto front of a leader with two goals, for a problem file with `minimize = ["...", "..."]`
    #[arg(help_heading = "Two goals and what-if", long, conflicts_with_all = ONE_RUN)]
    front: bool,
    /// Number of points on the front [default: 9]
    #[arg(help_heading = "Two goals and what-if", long, value_name = "N", requires = "front", value_parser = clap::value_parser!(u16).range(2..=1000), allow_negative_numbers = true)]
    points: Option<u16>,
    /// Solve a problem file for several values of one of its parameters, evenly spaced, as in demand=1:10:10;
    /// each run begins at the answer of the one before
    #[arg(help_heading = "Two goals and what-if", long, value_name = "NAME=FROM:TO:COUNT", conflicts_with = "front", conflicts_with_all = ONE_RUN)]
    sweep: Option<sweep::Values>,
    /// Number of evaluation threads; 0 means one per processor. The answer does not depend on it
    #[arg(help_heading = "Evaluations", long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=1024), allow_negative_numbers = true)]
    jobs: u16,
    /// What to do if an evaluation fails, after all retries
    #[arg(help_heading = "Evaluations", long, value_enum, default_value_t)]
    on_failure: OnFailure,
    /// How many times to retry a failed evaluation
    #[arg(help_heading = "Evaluations", long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000), allow_negative_numbers = true)]
    retries: u32,
    /// Save the run to this file, every two seconds and at the end
    #[arg(help_heading = "Files", long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue a saved run, and keep saving to the same file unless --checkpoint names another
    #[arg(help_heading = "Files", long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write one JSON line per generation; `-` is standard output
    #[arg(help_heading = "Files", long, value_name = "FILE.jsonl")]
    trace: Option<PathBuf>,
    /// Plot the accuracy (or F) and the evaluations at both levels, as SVG or, if the name ends in .png,
    /// as PNG; `-` is standard output
    #[arg(help_heading = "Files", long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Write an HTML report on the run: the answer, how certain it is and why, what lies around it, and what
    /// to try next. Takes a few more evaluations: a tenth of the run's, or two seconds' worth
    #[arg(help_heading = "Files", long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Evaluations the report may spend [default: see --report]
    #[arg(help_heading = "Files", long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true, requires = "report")]
    report_evals: Option<u64>,
    /// Make the problem misbehave, for tests: nan:7, panic:7, slow:1000, …
    #[arg(long, hide = true, value_name = "FAULT:N")]
    inject: Vec<Inject>,
}

/// The words of `stop.target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TargetArg {
    /// End as soon as F is within the tolerance of the best known value
    #[value(alias = "on")]
    Upper,
    /// End as soon as F, f and both violations are within their tolerances
    Both,
    /// Ignore the best known value
    Off,
}

impl TargetArg {
    fn word(self) -> &'static str {
        match self {
            TargetArg::Upper => "upper",
            TargetArg::Both => "both",
            TargetArg::Off => "off",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OnFailure {
    /// The point counts as the worst of all, and the run continues
    #[default]
    Worst,
    /// Save the run and end it with an error
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PositionArg {
    /// The one that is best for the leader
    Optimistic,
    /// The one that is worst for the leader
    Pessimistic,
}

impl PositionArg {
    fn meant(self) -> Position {
        match self {
            PositionArg::Optimistic => Position::Optimistic,
            PositionArg::Pessimistic => Position::Pessimistic,
        }
    }
}

impl Args {
    /// The audit that is wanted, if one is.
    fn audit(&self) -> Option<AuditOptions> {
        let wanted = self.audit || self.position.is_some() || self.audit_tolerance.is_some();
        wanted.then(|| AuditOptions {
            tolerance: self.audit_tolerance,
            max_lower_evals: self.audit_evals,
            ..AuditOptions::default()
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let stop = interrupt::flag()?;
    if args.front || args.sweep.is_some() {
        return sweep::run(args, &stop);
    }
    let saved = args.resume.as_deref().map(checkpoint::load).transpose()?;
    let source = match &saved {
        Some(saved) => resume::source(args, saved)?,
        None => open(args, args.problem.as_deref().unwrap_or_default(), args.size.dims())?,
    };
    let checkpoint = args.checkpoint.as_ref().or(args.resume.as_ref());
    files::refuse_clashes(args, checkpoint)?;
    let solver = match saved {
        Some(saved) => resume::solver(args, &*source, saved)?,
        None => started(args, &*source)?,
    };
    let policy = FailurePolicy {
        retries: args.retries,
        then: match args.on_failure {
            OnFailure::Worst => AfterFailure::Worst,
            OnFailure::Stop => AfterFailure::Stop,
        },
    };
    let solver = match args.audit() {
        Some(audit) => solver.audit(audit),
        None => solver,
    };
    let solver = if args.prove { solver.prove(proving(args, &*source, &stop)?) } else { solver };
    let ready = solver.jobs(args.jobs.into()).policy(policy).stop_flag(stop).ready();
    let mut ready = ready.map_err(|error| files::with_way_out(error, args))?;
    ready.options.saving = checkpoint.map(bilevo::Saving::to);
    ready.options.time_limit = args.time_limit.map(|limit| limit.0);
    ready.claim().map_err(|error| files::with_way_out(error, args))?;
    if args.seed.is_none() && args.resume.is_none() {
        let seed = ready.run.id().seed;
        say(format_args!("seed {seed} (random; --seed {seed} repeats this run)"));
    }
    let (spec, config) = (ready.run.engine().spec(), ready.run.engine().config());
    if spec.upper.equalities + spec.lower.equalities > 0 && config.scheme.kind == SchemeKind::Nested {
        output::warn("W204", "this method hardly ever satisfies an equality constraint; --method auto does");
    }
    watch(args, &mut ready)
}

/// How to prove the leader's value.
fn proving(args: &Args, source: &dyn Source, stop: &Arc<AtomicBool>) -> anyhow::Result<ProveOptions> {
    if source.formulas().is_none() {
        bail!("`--prove` needs formulas, and {} has none\nhint: write it as a problem file", source.id());
    }
    let default = ProveOptions::default();
    let time_limit = args.time_limit.map_or(default.time_limit, |limit| limit.0);
    Ok(ProveOptions { time_limit, stop: Arc::clone(stop), ..default })
}

/// Opens a problem, with faults if wanted.
fn open(args: &Args, name: &str, dims: Option<(usize, usize)>) -> anyhow::Result<Box<dyn Source>> {
    if args.inject.is_empty() {
        return Ok(source::open(name, dims)?);
    }
    let problem = problems::problem(name, dims)?;
    Ok(Box::new(Named::new(Box::new(Faulty::new(problem, args.inject.clone())), name, "")))
}

fn started<'a>(args: &Args, source: &'a dyn Source) -> anyhow::Result<Solver<'a>> {
    if args.target.is_some_and(|target| target != TargetArg::Off) && source.spec().best_known.is_empty() {
        bail!("`--target` needs a best known value, and {} has none\nhint: leave it out", source.id());
    }
    let solver = Solver::new(source).method(args.method.as_deref().unwrap_or(methods::AUTO));
    let mut solver = with_settings(args, solver)?.start_at(starts(args)?);
    for table in &args.known {
        solver = solver.known(known::read(table, source.spec())?);
    }
    Ok(match args.seed {
        Some(seed) => solver.seed(seed),
        None => solver,
    })
}

/// Where the run begins.
fn starts(args: &Args) -> anyhow::Result<Vec<Start>> {
    if !args.y0.is_empty() && args.y0.len() != args.x0.len() {
        let (decisions, answers) = (args.x0.len(), args.y0.len());
        bail!("`--x0` is given {decisions} times, `--y0` {answers} times\nhint: one answer for each decision, or none");
    }
    let start = |(index, x): (usize, &Vector)| Start { x: x.0.clone(), y: args.y0.get(index).map(|y| y.0.clone()) };
    Ok(args.x0.iter().enumerate().map(start).collect())
}

/// What `--set` and the flags change.
fn with_settings<'a>(args: &Args, mut solver: Solver<'a>) -> anyhow::Result<Solver<'a>> {
    let number = |count: Option<u64>| count.map(|count| count.to_string());
    let flags = [
        ("--max-evals", "stop.max_evals", number(args.max_evals)),
        ("--max-upper-evals", "stop.max_upper_evals", number(args.max_upper_evals)),
        ("--max-lower-evals", "stop.max_lower_evals", number(args.max_lower_evals)),
        ("--target", "stop.target", args.target.map(|target| target.word().into())),
        ("--position", "position.kind", args.position.map(|position| position.meant().to_string())),
        ("--effort", "portfolio.effort", args.effort.clone()),
    ];
    for (key, value) in &args.set {
        let twice = flags.iter().find(|(_, setting, given)| given.is_some() && setting == key);
        // A run that has started takes no new settings, so that nothing can contradict itself.
        if let Some((flag, ..)) = twice.filter(|_| args.resume.is_none()) {
            bail!("`{flag}` and `--set {key}` set the same thing\nhint: leave one of them out");
        }
        solver = solver.set(key, value);
    }
    for (_, key, value) in flags {
        solver = match value {
            Some(value) => solver.set(key, value),
            None => solver,
        };
    }
    Ok(solver)
}

/// Runs, and writes down what came of it.
fn watch(args: &Args, ready: &mut Ready<'_>) -> anyhow::Result<Exit> {
    let mut plot = args.plot.as_deref().map(Plot::new).transpose()?;
    let mut page = args.report.as_deref().map(Page::new).transpose()?;
    let mut recorder = args.save_evaluations.as_deref().map(recorder).transpose()?;
    let generations = ready.run.engine().summary().generations;
    let mut trace = match args.trace.as_deref() {
        Some(path) if is_stdout(path) => Some(TraceWriter::to(std::io::stdout(), "-")),
        Some(path) => Some(TraceWriter::open(path, generations)?),
        None => None,
    };
    let mut progress = Progress::new(ready.run.engine(), ready.options.time_limit);
    let mut observers: Vec<&mut dyn Observer> = vec![&mut progress];
    observers.extend(trace.as_mut().map(|t| t as &mut dyn Observer));
    observers.extend(plot.as_mut().map(|p| p as &mut dyn Observer));
    observers.extend(page.as_mut().map(|p| p as &mut dyn Observer));
    observers.extend(recorder.as_mut().map(|r| r as &mut dyn Observer));
    let ended = ready.go(&mut observers);
    progress.clear();
    let run = &ready.run;
    let written = [
        trace.map_or(Ok(()), |trace| trace.finish().map_err(Into::into)),
        plot.map_or(Ok(()), |plot| plot.finish(run)),
        args.save_evaluations.as_deref().zip(recorder).map_or(Ok(()), |(path, recorder)| {
            known::write(path, run.engine().spec(), &recorder.rows).map_err(Into::into)
        }),
        page.zip(ended.as_ref().ok()).map_or(Ok(()), |(page, result)| page.finish(args, ready, result)),
    ];
    let place = ready.options.saving.as_ref().map(|saving| saving.path.clone());
    match ended {
        Ok(result) => conclude(args, run, place, &result, written.into_iter().find_map(Result::err)),
        Err(error) => {
            written.into_iter().filter_map(Result::err).for_each(|error| output::warn("W401", error));
            if matches!(error, RunError::Evaluation { .. } | RunError::Evaluator(_)) {
                rescue(args, run, place);
            }
            Err(error.into())
        }
    }
}

/// What records all evaluations, once their place is known to be good.
fn recorder(path: &Path) -> anyhow::Result<Recorder> {
    known::prepare(path)?;
    Ok(Recorder::default())
}

/// Prints the result and finds the exit code. A file that was asked for and could not be written is
/// an error, though the result is there.
fn conclude(
    args: &Args,
    run: &Run,
    place: Option<PathBuf>,
    result: &RunResult,
    unwritten: Option<anyhow::Error>,
) -> anyhow::Result<Exit> {
    print(args, run, result)?;
    if let Some(error) = unwritten {
        if result.stop == Status::Interrupted {
            rescue(args, run, place);
        }
        return Err(error);
    }
    if result.stop == Status::Interrupted {
        return match rescue(args, run, place) {
            true => Ok(Exit::Interrupted),
            false => Err(anyhow::anyhow!("interrupted, and the run could not be saved")),
        };
    }
    if let Some(error) = &result.save_error {
        output::warn("W401", error);
        rescue(args, run, None);
        bail!("the run ended, but its last checkpoint could not be written to the file you asked for");
    }
    if result.stop == Status::TimeLimit
        && let Some(path) = &place
    {
        let args = Args { time_limit: None, ..args.clone() }; // it is used up
        say(format_args!("saved to `{}`; go on with: {}", path.display(), resume::command(&args, path)));
    }
    output::warn_of(&result.warnings);
    Ok(if result.success { Exit::Done } else { Exit::NotGood })
}

/// The result on stdout, unless that carries a trace or a plot: then text goes to stderr, and JSON
/// follows the trace as one more line.
fn print(args: &Args, run: &Run, result: &RunResult) -> anyhow::Result<()> {
    let taken = [&args.trace, &args.plot].into_iter().flatten().any(|path| is_stdout(path));
    match (args.format, taken) {
        (Format::Json, false) => output::json(result),
        (Format::Json, true) => output::json_line(result),
        (Format::Text, false) => text::print(&mut output::stdout(), run.engine(), result),
        (Format::Text, true) => text::print(&mut output::stderr(), run.engine(), result),
    }
}

/// Leaves a checkpoint of a run in the file it was saved to, or if there is none (or it cannot be
/// written) in one named after the run, and says how to go on; whether it could.
fn rescue(args: &Args, run: &Run, place: Option<PathBuf>) -> bool {
    let attempt = |path: &Path| -> bool {
        match run.save(path) {
            Ok(saved) => {
                let what = match saved {
                    Saved::Written => "saved to",
                    Saved::Kept(evaluations) if evaluations > run.header().evaluations => {
                        "this run has been saved further on before, in"
                    }
                    Saved::Kept(_) => "saved to",
                };
                say(format_args!("{what} `{}`; go on with: {}", path.display(), resume::command(args, path)));
                true
            }
            Err(error) => {
                output::warn("W401", error);
                false
            }
        }
    };
    place.is_some_and(|path| attempt(&path)) || attempt(&default_checkpoint(run))
}
