//! The `bilevo` program: arguments as typed ([`args`]) become what is meant in the command that
//! they belong to ([`commands`]); this file only maps the end of a command to an exit code.
//!
//! Exit codes: 0 done, and the answer is good; 1 there is no answer, or it is not good, or runs of an
//! experiment failed; 2 error, also if a result is there but a file could not be written; 130 interrupted.

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
    /// As it should.
    Done,
    /// There is no answer, or it is not good; or runs of an experiment failed.
    NotGood,
    /// A file that was to be checked has mistakes, which have been told.
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
