//! `bilevo solve`: starts or resumes one run, watches it and prints its result.

use super::plot::Plot;
use super::solve_files::{self, default_checkpoint, quoted_path, refuse_other_runs, same_file};
use super::{interrupt, solve_text};
use crate::args::{Format, SizeArgs, whole_number};
use crate::output::{self, say};
use crate::progress::Progress;
use crate::{Exit, settings};
use anyhow::{Context, bail};
use bilevo::config::Target;
use bilevo::problems::BoxedProblem;
use bilevo::testing::{Faulty, Inject};
use bilevo::trace::TraceWriter;
use bilevo::{
    AfterFailure, Config, Engine, Evaluator, FailurePolicy, Observer, Run, RunError, RunOptions, RunResult, Saving,
    Serial, Status, Threads, checkpoint,
};
use clap::ValueEnum;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

/// Solve a problem
///
/// Ends with exit code 1 if the problem's best value is known, the target is not switched off, and
/// the run ends without reaching it.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A built-in problem (see `bilevo list problems`)
    #[arg(required_unless_present = "resume")]
    problem: Option<String>,
    /// The method (see `bilevo list methods`) [default: cr-tlea-cma-es]
    #[arg(long, short, value_name = "NAME")]
    method: Option<String>,
    /// Seed of all random numbers; the same seed gives the same answer [default: drawn and printed]
    #[arg(long, short, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    seed: Option<u64>,
    #[command(flatten)]
    size: SizeArgs,
    /// Upper evaluations at most; the generation in progress is finished [default: by the number of variables]
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    max_upper_evals: Option<u64>,
    /// Lower evaluations at most; the batch in progress is finished [default: no limit]
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    max_lower_evals: Option<u64>,
    /// Whether the best known value, if there is one, ends the run [default: on]
    #[arg(long, value_enum, value_name = "WHEN")]
    target: Option<TargetArg>,
    /// Change one setting of the method, as in --set allocator.window=48 (see `bilevo explain`)
    #[arg(long, value_name = "KEY=VALUE", value_parser = settings::parse_assignment)]
    set: Vec<(String, String)>,
    /// Threads that evaluate; 0 takes one for each processor. The answer is the same with any number
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=1024), allow_negative_numbers = true)]
    jobs: u16,
    /// What an evaluation does that fails for good
    #[arg(long, value_enum, default_value_t)]
    on_failure: OnFailure,
    /// How often a failed evaluation is tried again
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000), allow_negative_numbers = true)]
    retries: u32,
    /// Save the run into this file, every two seconds and at the end
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Go on with a saved run, and keep saving into the same file unless --checkpoint names another
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write one JSON line for each generation
    #[arg(long, value_name = "FILE.jsonl")]
    trace: Option<PathBuf>,
    /// Draw accuracy (or F) and the evaluations at both levels, from here on; as PNG if it ends so
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Make the problem misbehave, for tests: nan:7, panic:7, slow:1000, …
    #[arg(long, hide = true, value_name = "FAULT:N")]
    inject: Vec<Inject>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TargetArg {
    /// End as soon as F is within the tolerance of the best known value
    On,
    /// Never mind the best known value
    Off,
    /// End as soon as F, f and both violations are within their tolerances
    Both,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OnFailure {
    /// It counts as the worst of all and the run goes on
    #[default]
    Worst,
    /// The run is saved and ends with an error
    Stop,
}

const DEFAULT_METHOD: &str = "cr-tlea-cma-es";

/// What is meant: a run, the problem it evaluates, and where it is saved.
struct Job {
    run: Run,
    problem: BoxedProblem,
    saving: Option<Saving>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let stop = interrupt::flag()?;
    let Job { mut run, problem, saving } = match &args.resume {
        Some(path) => resumed(args, path)?,
        None => started(args)?,
    };
    let policy = FailurePolicy {
        retries: args.retries,
        then: match args.on_failure {
            OnFailure::Worst => AfterFailure::Worst,
            OnFailure::Stop => AfterFailure::Stop,
        },
    };
    solve_files::refuse_same_files([
        ("--trace", args.trace.as_deref()),
        ("--plot", args.plot.as_deref()),
        ("--checkpoint", saving.as_ref().map(|saving| saving.path.as_path())),
        ("--resume", args.resume.as_deref()),
    ])?;
    let mut plot = args.plot.as_deref().map(Plot::new).transpose()?;
    let summary = run.engine().summary();
    let trace = args.trace.as_deref().map(|path| TraceWriter::open(path, summary.generations));
    let mut trace = trace.transpose()?;
    let options = RunOptions { policy, saving, stop, ..RunOptions::default() };
    let ended = watch(&mut run, &mut *evaluator(args, problem)?, &options, trace.as_mut(), plot.as_mut());
    if let Some(Err(error)) = trace.map(TraceWriter::finish) {
        output::warn(error);
    }
    if let Some(Err(error)) = plot.map(|plot| plot.finish(&run)) {
        output::warn(error);
    }
    match ended {
        Ok(result) => conclude(args, &run, &options, &result),
        Err(error) => {
            if matches!(error, RunError::Evaluation { .. } | RunError::Evaluator(_)) {
                rescue(args, &run, &options);
            }
            Err(error.into())
        }
    }
}

fn started(args: &Args) -> anyhow::Result<Job> {
    let name = args.problem.as_deref().unwrap_or_default();
    let problem = args.size.problem(name)?;
    let method = args.method.as_deref().unwrap_or(DEFAULT_METHOD);
    let config = config(args, method)?;
    if args.target.is_some_and(|target| target != TargetArg::Off) && problem.spec().best_known.is_empty() {
        bail!("`--target` needs a best known value, and {name} has none\nhint: leave it out");
    }
    let seed = args.seed.unwrap_or_else(draw_seed);
    let engine = Engine::new(problem.spec().clone(), config, seed)?;
    if args.seed.is_none() {
        say(format_args!("seed {seed} (drawn; --seed {seed} repeats this run)"));
    }
    let run = Run::new(engine, method);
    if let Some(path) = &args.checkpoint {
        refuse_other_runs(path, &run)?;
    }
    Ok(Job { run, problem, saving: args.checkpoint.as_ref().map(Saving::to) })
}

/// The method's settings with what `--set` and the flags change.
fn config(args: &Args, method: &str) -> anyhow::Result<Config> {
    let mut config = Config::named(method)?;
    let flags = [
        ("--max-upper-evals", "stop.max_upper_evals", args.max_upper_evals.is_some()),
        ("--max-lower-evals", "stop.max_lower_evals", args.max_lower_evals.is_some()),
        ("--target", "stop.target", args.target.is_some()),
    ];
    for (key, value) in &args.set {
        if let Some((flag, ..)) = flags.iter().find(|(_, setting, given)| *given && setting == key) {
            bail!("`{flag}` and `--set {key}` set the same thing\nhint: leave one of them out");
        }
        config.set(key, value)?;
    }
    apply_flags(args, &mut config);
    Ok(config)
}

fn apply_flags(args: &Args, config: &mut Config) {
    let stop = &mut config.stop;
    stop.max_upper_evals = args.max_upper_evals.or(stop.max_upper_evals);
    stop.max_lower_evals = args.max_lower_evals.or(stop.max_lower_evals);
    stop.target = match args.target {
        None => stop.target,
        Some(TargetArg::On) => Target::Upper,
        Some(TargetArg::Off) => Target::Off,
        Some(TargetArg::Both) => Target::Both,
    };
}

/// Thirty-two bits are enough to tell runs apart and short enough to type again.
fn draw_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

fn resumed(args: &Args, path: &Path) -> anyhow::Result<Job> {
    let saved = checkpoint::load(path)?;
    let header = &saved.header;
    let id = &header.id;
    let (upper, lower) = (id.upper_dim, id.lower_dim);
    let clash = |flag: &str, given: String, holds: String| -> anyhow::Result<()> {
        if given == holds {
            return Ok(());
        }
        bail!(
            "`{flag}` is {given}, but `{}` holds a run with {holds}\nhint: leave `{flag}` out to go on with that run",
            path.display()
        )
    };
    if let Some(problem) = &args.problem {
        clash("PROBLEM", problem.clone(), header.source.clone())?;
    }
    if let Some(method) = &args.method {
        clash("--method", method.clone(), id.method.clone())?;
    }
    if let Some(seed) = args.seed {
        clash("--seed", seed.to_string(), id.seed.to_string())?;
    }
    if let Some(dims) = args.size.dims {
        clash("--dims", format!("{}+{}", dims.upper, dims.lower), format!("{upper}+{lower}"))?;
    }
    refuse_other_settings(args, saved.engine.config())?;
    let problem = bilevo::problems::problem(&header.source, Some((upper, lower)))
        .with_context(|| format!("the problem of the checkpoint `{}` cannot be found", path.display()))?;
    let saving = Saving::to(args.checkpoint.as_deref().unwrap_or(path));
    let run = Run::resume(saved);
    if let Some(other) = args.checkpoint.as_ref().filter(|other| !same_file(other, path)) {
        refuse_other_runs(other, &run)?;
    }
    Ok(Job { run, problem, saving: Some(saving) })
}

/// The settings of a run that has started stay; flags may repeat them.
fn refuse_other_settings(args: &Args, saved: &Config) -> anyhow::Result<()> {
    let refuse = |flag: &str| -> anyhow::Result<()> {
        bail!("`{flag}` cannot be changed in a run that has started\nhint: leave it out, or start a new run")
    };
    let mut wanted = saved.clone();
    for (key, value) in &args.set {
        wanted.set(key, value)?;
    }
    if wanted != *saved {
        refuse("--set")?;
    }
    apply_flags(args, &mut wanted);
    let (wanted, saved) = (&wanted.stop, &saved.stop);
    if wanted.max_upper_evals != saved.max_upper_evals {
        refuse("--max-upper-evals")?;
    }
    if wanted.max_lower_evals != saved.max_lower_evals {
        refuse("--max-lower-evals")?;
    }
    if wanted.target != saved.target {
        refuse("--target")?;
    }
    Ok(())
}

fn evaluator(args: &Args, problem: BoxedProblem) -> anyhow::Result<Box<dyn Evaluator>> {
    let problem: BoxedProblem =
        if args.inject.is_empty() { problem } else { Box::new(Faulty::new(problem, args.inject.clone())) };
    Ok(match args.jobs {
        1 => Box::new(Serial::new(problem)),
        jobs => Box::new(Threads::new(problem, usize::from(jobs))?),
    })
}

fn watch(
    run: &mut Run,
    evaluator: &mut dyn Evaluator,
    options: &RunOptions,
    trace: Option<&mut TraceWriter>,
    plot: Option<&mut Plot>,
) -> Result<RunResult, RunError> {
    let budget = run.engine().config().check(run.engine().spec()).map_or(0, |settings| settings.budget.upper_evals);
    let mut progress = Progress::new(budget);
    let mut observers: Vec<&mut dyn Observer> = vec![&mut progress];
    observers.extend(trace.map(|t| t as &mut dyn Observer));
    observers.extend(plot.map(|p| p as &mut dyn Observer));
    let ended = run.go(evaluator, options, &mut observers);
    progress.clear();
    ended
}

/// Prints the result and finds the exit code.
fn conclude(args: &Args, run: &Run, options: &RunOptions, result: &RunResult) -> anyhow::Result<Exit> {
    match args.format {
        Format::Json => output::json(result)?,
        Format::Text => solve_text::print(run.engine(), result)?,
    }
    if result.stop == Status::Interrupted {
        return if rescue(args, run, options) {
            Ok(Exit::Interrupted)
        } else {
            Err(anyhow::anyhow!("interrupted, and the run could not be saved"))
        };
    }
    if let Some(error) = &result.save_error {
        output::warn(error);
    }
    Ok(if result.target_met == Some(false) { Exit::TargetMissed } else { Exit::Done })
}

/// Leaves a checkpoint of a run that did not end by itself and says how to go on; whether it could.
fn rescue(args: &Args, run: &Run, options: &RunOptions) -> bool {
    let path = match &options.saving {
        Some(saving) => saving.path.clone(),
        None => default_checkpoint(run),
    };
    match run.save(&path) {
        Ok(()) => {
            say(format_args!("saved to `{}`; go on with: {}", path.display(), resume_command(args, &path)));
            true
        }
        Err(error) => {
            output::warn(error);
            false
        }
    }
}

/// The command that goes on with a saved run in the way this one was run.
fn resume_command(args: &Args, path: &Path) -> String {
    let mut command = format!("bilevo solve --resume {}", quoted_path(path));
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            command.push_str(&format!(" --{flag} {value}"));
        }
    };
    add("trace", args.trace.as_deref().map(quoted_path));
    add("plot", args.plot.as_deref().map(quoted_path));
    add("jobs", (args.jobs != 1).then(|| args.jobs.to_string()));
    add("on-failure", (args.on_failure == OnFailure::Stop).then(|| "stop".into()));
    add("retries", (args.retries > 0).then(|| args.retries.to_string()));
    add("format", (args.format == Format::Json).then(|| "json".into()));
    command
}
