//! The commands, one file each: arguments, their meaning, and what the command does.

mod check;
mod completions;
mod eval;
mod experiment;
mod explain;
mod interrupt;
mod list;
mod man;
mod new;
mod prove;
mod reproduce;
mod serve_problem;
mod solve;
mod watch;

use crate::Exit;
use clap::Subcommand;

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Solve(Box<solve::Args>),
    Eval(eval::Args),
    List(list::Args),
    Explain(explain::Args),
    New(new::Args),
    Check(check::Args),
    Prove(prove::Args),
    Experiment(Box<experiment::Args>),
    Reproduce(reproduce::Args),
    Watch(watch::Args),
    ServeProblem(serve_problem::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Executes the command.
pub(crate) fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Solve(args) => solve::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::List(args) => list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::New(args) => new::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Prove(args) => prove::run(&args),
        Command::Experiment(args) => experiment::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::ServeProblem(args) => serve_problem::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// The command as it was typed, for a report that says how it was made.
fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("bilevo".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word for a POSIX shell, quoted if necessary.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted("smd1-2+3.ckpt"), "smd1-2+3.ckpt");
        assert_eq!(quoted("my run"), "'my run'");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
