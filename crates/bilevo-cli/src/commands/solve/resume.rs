//! `solve --resume`: a saved run keeps its problem, method, seed and settings; only budgets may grow.

use super::files::quoted_path;
use super::{Args, OnFailure, open, with_settings};
use crate::args::Format;
use crate::output::coded;
use anyhow::{Context, bail};
use bilevo::checkpoint::{self, CheckpointError};
use bilevo::files::FileError;
use bilevo::{Checkpoint, Config, Position, RunError, Solver, Source, source};
use std::path::Path;

/// Reads a saved run.
pub(super) fn load(file: &Path) -> anyhow::Result<Checkpoint> {
    checkpoint::load(file).map_err(|error| match error {
        // Elsewhere the file would be in the way; here it is simply the wrong one.
        CheckpointError::File(FileError::Foreign { path, .. }) => {
            let hint = "give a file that `bilevo solve … --checkpoint FILE` wrote";
            coded("E501", format!("`{}` is not a bilevo checkpoint\nhint: {hint}", path.display()))
        }
        error => error.into(),
    })
}

/// The problem of a saved run; flags that contradict the run are refused.
pub(super) fn source(args: &Args, saved: &Checkpoint) -> anyhow::Result<Box<dyn Source>> {
    let (header, id) = (&saved.header, &saved.header.id);
    let file = args.resume.as_deref().unwrap_or(Path::new("")).display();
    let clash = |flag: &str, given: Option<String>, holds: &str| -> anyhow::Result<()> {
        match given.filter(|given| given != holds) {
            None => Ok(()),
            Some(given) => bail!(
                "`{flag}` is {given}, but `{file}` holds a run with {holds}\nhint: leave `{flag}` out to continue that run"
            ),
        }
    };
    clash("--method", args.method.clone(), &id.method)?;
    clash("--seed", args.seed.map(|seed| seed.to_string()), &id.seed.to_string())?;
    let dims = args.size.dims().map(|(upper, lower)| format!("{upper}+{lower}"));
    clash("--dims", dims, &format!("{}+{}", id.upper_dim, id.lower_dim))?;
    let place = args.problem.as_deref().unwrap_or(&header.source);
    let dims = Some((id.upper_dim, id.lower_dim));
    let opened = if args.inject.is_empty() {
        source::reopen(place, dims, &id.problem).map_err(Into::into)
    } else {
        open(args, place, dims)
    };
    let opened = match &args.problem {
        // If the user named a file, only its own error matters.
        Some(_) => opened?,
        None => opened.with_context(|| {
            let hint = "if its file was renamed, give the new name: `bilevo solve NEW.toml --resume FILE`";
            format!("the problem of the checkpoint `{file}` cannot be found\nhint: {hint}")
        })?,
    };
    // The same file is accepted under another name or in another folder.
    if opened.hash().is_empty() || opened.hash() != id.problem_hash {
        clash("PROBLEM", args.problem.clone(), &header.source)?;
    }
    Ok(opened)
}

/// The saved run, with the budgets that the flags ask for.
pub(super) fn solver<'a>(args: &Args, source: &'a dyn Source, saved: Checkpoint) -> anyhow::Result<Solver<'a>> {
    refuse_other_settings(args, saved.engine.config())?;
    with_settings(args, Solver::new(source).resume(saved))
}

/// The settings of a run that has started cannot change; flags may repeat them.
fn refuse_other_settings(args: &Args, saved: &Config) -> anyhow::Result<()> {
    let refuse = |flag: &str| -> anyhow::Result<()> {
        bail!("`{flag}` cannot be changed in a run that has started\nhint: leave it out, or start a new run")
    };
    if !args.x0.is_empty() {
        refuse("--x0")?;
    }
    if !args.known.is_empty() {
        refuse("--known")?;
    }
    for (key, value) in &args.set {
        let mut wanted = saved.clone();
        wanted.set(key, value)?;
        if wanted != *saved && !key.starts_with("stop.max_") {
            refuse("--set")?;
        }
    }
    let words = [
        ("--target", "stop.target", args.target.map(|target| target.word())),
        ("--effort", "portfolio.effort", args.effort.as_deref()),
    ];
    for (flag, key, word) in words {
        let mut wanted = saved.clone();
        if let Some(word) = word {
            wanted.set(key, word)?;
        }
        if wanted != *saved {
            refuse(flag)?;
        }
    }
    if args.position.is_some_and(|position| Some(position.meant()) != Position::of(saved)) {
        refuse("--position")?;
    }
    Ok(())
}

/// A budget below that of the saved run, named as the flag.
pub(super) fn budget_words(error: &RunError) -> Option<String> {
    let RunError::Config(bilevo::ConfigError::Invalid { field, reason, .. }) = error else { return None };
    let flag = match field.as_str() {
        "stop.max_upper_evals" => "--max-upper-evals",
        "stop.max_lower_evals" => "--max-lower-evals",
        "stop.max_evals" => "--max-evals",
        _ => return None,
    };
    Some(format!("`{flag}` cannot be changed to less in a run that has started\nhint: {reason}"))
}

/// The command that continues a saved run in the same way.
pub(super) fn command(args: &Args, path: &Path) -> String {
    let mut command = format!("bilevo solve --resume {}", quoted_path(path));
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            command.push_str(&format!(" --{flag} {value}"));
        }
    };
    add("trace", args.trace.as_deref().map(quoted_path));
    add("plot", args.plot.as_deref().map(quoted_path));
    add("report", args.report.as_deref().map(quoted_path));
    add("report-evals", args.report_evals.map(|count| count.to_string()));
    add("time-limit", args.time_limit.map(|limit| limit.to_string()));
    add("jobs", (args.jobs != 1).then(|| args.jobs.to_string()));
    add("on-failure", (args.on_failure == OnFailure::Stop).then(|| "stop".into()));
    add("retries", (args.retries > 0).then(|| args.retries.to_string()));
    add("position", args.position.map(|position| position.meant().to_string()));
    add("audit-evals", args.audit_evals.map(|count| count.to_string()));
    add("audit-tolerance", args.audit_tolerance.map(|tolerance| tolerance.to_string()));
    add("format", (args.format == Format::Json).then(|| "json".into()));
    if args.audit {
        command.push_str(" --audit");
    }
    command
}
