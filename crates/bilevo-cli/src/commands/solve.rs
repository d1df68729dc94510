//! `bilevo solve`: starts or resumes a run, watches it and prints its result.

mod args;
mod conclude;
mod files;
mod plot;
mod progress;
mod report;
mod resume;
mod sweep;
mod text;

pub(crate) use args::Args;

use super::eval::Vector;
use super::interrupt;
use crate::Exit;
use crate::output::{self, say};
use anyhow::bail;
use args::{OnFailure, TargetArg};
use bilevo::config::SchemeKind;
use bilevo::known::{self, Recorder};
use bilevo::prove::ProveOptions;
use bilevo::solver::Ready;
use bilevo::source::{self, Named};
use bilevo::testing::Faulty;
use bilevo::trace::TraceWriter;
use bilevo::{AfterFailure, FailurePolicy, Observer, RunError, Solver, Source, Start, methods, problems};
use conclude::{conclude, rescue};
use files::is_stdout;
use plot::Plot;
use progress::Progress;
use report::Page;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let stop = interrupt::flag()?;
    if args.front || args.sweep.is_some() {
        return sweep::run(args, &stop);
    }
    let saved = args.resume.as_deref().map(resume::load).transpose()?;
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
    watch(args, &mut ready)
}

/// Says which seed repeats the run, and what speaks against its method.
fn announce(args: &Args, ready: &Ready<'_>) {
    if args.seed.is_none() && args.resume.is_none() {
        let seed = ready.run.id().seed;
        say(format_args!("seed {seed} (random; --seed {seed} repeats this run)"));
    }
    let (spec, config) = (ready.run.engine().spec(), ready.run.engine().config());
    if spec.upper.equalities + spec.lower.equalities > 0 && config.scheme.kind == SchemeKind::Nested {
        output::warn("W204", "this method hardly ever satisfies an equality constraint; --method auto does");
    }
}

/// Options of the proof of the leader's value.
fn proving(args: &Args, source: &dyn Source, stop: &Arc<AtomicBool>) -> anyhow::Result<ProveOptions> {
    if source.formulas().is_none() {
        bail!("`--prove` needs formulas, and {} has none\nhint: write it as a problem file", source.id());
    }
    let default = ProveOptions::default();
    let time_limit = args.time_limit.map_or(default.time_limit, |limit| limit.0);
    Ok(ProveOptions { time_limit, stop: Arc::clone(stop), ..default })
}

/// Opens a problem, with injected faults if requested.
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

/// Where the run starts.
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
        // A run that has started accepts no new settings, so that nothing can contradict itself.
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

/// Runs, and writes the requested files.
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
    // Only now is it certain that the run begins.
    announce(args, ready);
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

/// The recorder of all evaluations, once we know that its file can be written.
fn recorder(path: &Path) -> anyhow::Result<Recorder> {
    known::prepare(path)?;
    Ok(Recorder::default())
}
