//! The `bilevo` program. [`args`] are the arguments as typed, and each command in [`commands`] interprets its own;
//! this file only maps the end of a command to an exit code.
//!
//! Exit codes: 0 done, and the answer is good; 1 there is no answer, it is not good, or runs of an experiment failed;
//! 2 error, even if there is a result but a file could not be written; 130 interrupted.

mod args;
mod commands;
mod output;
mod settings;
mod table;

use clap::Parser;
use std::process::ExitCode;

/// How a command ended, if not by an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Successfully.
    Done,
    /// There is no answer, or it is not good; or runs of an experiment failed.
    NotGood,
    /// A checked file has mistakes, which were reported.
    Mistakes,
    /// By Ctrl-C; the run was saved.
    Interrupted,
}

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            output::say_usage(&error);
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match commands::run(cli.command) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::NotGood) => ExitCode::from(1),
        Ok(Exit::Mistakes) => ExitCode::from(2),
        Ok(Exit::Interrupted) => ExitCode::from(130),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::say_error(&error);
            ExitCode::from(2)
        }
    }
}
