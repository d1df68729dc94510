//! The end of a run: what is printed, the exit code, and the final checkpoint.

use super::files::{default_checkpoint, is_stdout};
use super::{Args, resume, text};
use crate::Exit;
use crate::args::Format;
use crate::output::{self, say};
use anyhow::bail;
use bilevo::checkpoint::Saved;
use bilevo::{Run, RunResult, Status};
use std::path::{Path, PathBuf};

/// Prints the result and determines the exit code. If a requested file could not be written, that is an error
/// although there is a result.
pub(super) fn conclude(
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

/// Prints the result to stdout, unless that carries a trace or a plot: then text goes to stderr, and JSON follows the
/// trace as one more line.
fn print(args: &Args, run: &Run, result: &RunResult) -> anyhow::Result<()> {
    let taken = [&args.trace, &args.plot].into_iter().flatten().any(|path| is_stdout(path));
    match (args.format, taken) {
        (Format::Json, false) => output::json(result),
        (Format::Json, true) => output::json_line(result),
        (Format::Text, false) => text::print(&mut output::stdout(), run.engine(), result),
        (Format::Text, true) => text::print(&mut output::stderr(), run.engine(), result),
    }
}

/// Leaves a checkpoint in the file of the run. If there is none, or it cannot be written, uses a file named after the
/// run. Says how to continue; returns whether it succeeded.
pub(super) fn rescue(args: &Args, run: &Run, place: Option<PathBuf>) -> bool {
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
