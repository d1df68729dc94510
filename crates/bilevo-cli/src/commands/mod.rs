//! The commands, one file each: its arguments as typed, what they mean, and what is done.

mod completions;
mod eval;
mod experiment;
mod explain;
mod interrupt;
mod list;
mod man;
mod solve;
mod solve_text;

use crate::Exit;
use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Solve(Box<solve::Args>),
    Eval(eval::Args),
    List(list::Args),
    Explain(explain::Args),
    Experiment(Box<experiment::Args>),
    Completions(completions::Args),
    Man(man::Args),
}

/// Does it.
pub(crate) fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Solve(args) => solve::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::List(args) => list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Experiment(args) => experiment::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
