//! The command line as typed.

use crate::commands::Command;
use bilevo::problems;
use clap::{Args, Parser, ValueEnum};

/// Solves bilevel (leader-follower) optimisation problems by evolution and compares the methods that do
#[derive(Debug, Parser)]
#[command(name = "bilevo", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 the best known value was the target and was not reached, or runs of \
an experiment failed; 2 error; 130 interrupted (the run was saved).";

/// Text for people or JSON for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Numbers of upper and lower variables, as in `2+3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dims {
    pub(crate) upper: usize,
    pub(crate) lower: usize,
}

impl std::str::FromStr for Dims {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected two whole numbers from 1 on, as in 2+3".to_string();
        let (upper, lower) = text.split_once('+').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&n| n > 0).ok_or_else(wrong);
        let dims = Dims { upper: number(upper)?, lower: number(lower)? };
        if dims.upper.max(dims.lower) > LARGEST_DIM {
            return Err(format!("more than {LARGEST_DIM} variables at a level"));
        }
        Ok(dims)
    }
}

/// A whole number, with its range in the message about what is not one.
pub(crate) fn whole_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// More variables at one level than this fit no ordinary memory: the upper strategy keeps a few
/// square matrices over all of them.
const LARGEST_DIM: usize = 1000;

/// A problem by name and size.
#[derive(Args, Debug)]
pub(crate) struct SizeArgs {
    /// Upper and lower variables, as in 2+3, for problems that come in several sizes
    #[arg(long, value_name = "M+N", allow_hyphen_values = true)]
    pub(crate) dims: Option<Dims>,
}

impl SizeArgs {
    /// The problem of that name in this size.
    pub(crate) fn problem(&self, name: &str) -> anyhow::Result<problems::BoxedProblem> {
        Ok(problems::problem(name, self.dims.map(|dims| (dims.upper, dims.lower)))?)
    }
}
