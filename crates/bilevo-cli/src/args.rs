//! The command line as typed.

use crate::commands::Command;
use clap::{Args, Parser, ValueEnum};

/// Solve bilevel (leader-follower) optimisation problems, and compare the methods that solve them
#[derive(Debug, Parser)]
#[command(name = "bilevo", version, max_term_width = 100, after_help = AFTER)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "Start here:
  bilevo new toll --template toll   write a problem file
  bilevo check toll.toml            look for mistakes in it
  bilevo solve toll.toml --audit    solve it, and check the answer
  bilevo solve smd1                 or solve a built-in problem

Exit codes: 0 success; 1 no answer, an answer that a warning calls doubtful, or failed runs in an \
experiment; 2 an error, also if a file could not be written; 130 interrupted (the run was \
saved).";

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

/// A whole number; the message about anything else names its range.
pub(crate) fn whole_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// A number of threads or processes.
pub(crate) fn jobs(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|&number: &u16| number <= MOST_JOBS);
    number.ok_or_else(|| format!("expected a whole number from 0 to {MOST_JOBS}"))
}

/// The maximum number of threads or processes.
const MOST_JOBS: u16 = 1024;

/// A number above zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| *number > 0.0 && number.is_finite())
        .ok_or("expected a number above 0".into())
}

/// A number that is not NaN or an infinity.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or("expected a finite number".into())
}

/// The maximum number of variables at a level: with more, the square matrices of the upper strategy would not fit
/// into memory.
const LARGEST_DIM: usize = 1000;

/// A problem by name and size.
#[derive(Args, Clone, Debug)]
pub(crate) struct SizeArgs {
    /// Upper and lower variables, as in 2+3, for problems that come in several sizes
    #[arg(long, value_name = "M+N", allow_hyphen_values = true)]
    pub(crate) dims: Option<Dims>,
}

impl SizeArgs {
    /// The sizes as numbers.
    pub(crate) fn dims(&self) -> Option<(usize, usize)> {
        self.dims.map(|dims| (dims.upper, dims.lower))
    }
}

/// A time as in `90s`, `10m`, `1h30m` or `2.5` (seconds).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Duration(pub(crate) std::time::Duration);

impl std::str::FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected a time, as in 90s, 10m or 1h30m".to_string();
        let mut seconds = 0.0;
        let mut rest = text.trim();
        let mut last = f64::INFINITY;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number: f64 = rest[..end].parse().map_err(|_| wrong())?;
            let unit = match rest[end..].chars().next() {
                Some('d') => 86_400.0,
                Some('h') => 3600.0,
                Some('m') => 60.0,
                Some('s') | None => 1.0,
                Some(_) => return Err(wrong()),
            };
            // 30m1h or 5s5s is probably a typo, not a sum.
            if unit >= last {
                return Err(wrong());
            }
            last = unit;
            seconds += number * unit;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        let time = std::time::Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
        if text.trim().is_empty() { Err(wrong()) } else { Ok(Duration(time)) }
    }
}

/// The time in a form that can be typed again.
impl std::fmt::Display for Duration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}s", self.0.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_write_them() {
        let seconds = |text: &str| text.parse::<Duration>().ok().map(|time| time.0.as_secs_f64());
        for (text, expected) in
            [("90s", 90.0), ("10m", 600.0), ("1h30m", 5400.0), ("2.5", 2.5), ("1d", 86_400.0), ("0", 0.0)]
        {
            assert_eq!(seconds(text), Some(expected), "{text}");
            assert_eq!(seconds(&text.parse::<Duration>().unwrap().to_string()), Some(expected));
        }
        for text in ["", "s", "-5", "5 m", "5x", "30m1h", "5s5s", "1.2.3", "1e99", "99999999999999999999999h", "ä"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
