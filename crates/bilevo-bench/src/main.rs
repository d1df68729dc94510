//! The program that `cargo xtask bench` runs, alone or under callgrind.
//!
//! Each command does some work a given number of times and prints `name value` lines.

mod expressions;
mod kernels;
mod programs;
mod runs;

use anyhow::{Context, Result, bail};
use std::io::Write;

/// The output of a command.
type Said = Vec<(&'static str, f64)>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut said = match args.as_slice() {
        ["engine", method, problem, m, n, upper_evals] => {
            runs::engine(method, problem, (number(m)?, number(n)?), number(upper_evals)? as u64)?
        }
        ["solve", method, problem, seeds] => runs::solve(method, problem, number(seeds)? as u64)?,
        ["own", problem, m, n, lower_evals, seeds] => {
            runs::own(problem, (number(m)?, number(n)?), number(lower_evals)? as u64, number(seeds)? as u64)?
        }
        ["evaluate", form, m, n, calls] => expressions::evaluate(form, (number(m)?, number(n)?), number(calls)?)?,
        ["serve", problem] => return programs::serve(problem).map(drop),
        ["program", problem, points] => programs::lists(problem, number(points)?)?,
        ["threads"] => runs::threads()?,
        ["kernel", kernel, n, calls] => kernels::kernel(kernel, number(n)?, number(calls)?)?,
        ["train", m, n, hidden, pool, times] => {
            kernels::train((number(m)?, number(n)?), number(hidden)?, number(pool)?, number(times)?)?
        }
        _ => bail!("this program is run by `cargo xtask bench`"),
    };
    said.extend(peak_kb().map(|kb| ("peak_kb", kb)));
    let mut out = std::io::stdout().lock();
    said.iter().try_for_each(|(name, value)| writeln!(out, "{name} {value}"))?;
    Ok(())
}

fn number(text: &str) -> Result<usize> {
    text.parse().with_context(|| format!("`{text}` is not a number"))
}

/// Peak memory of this process, if the system reports it.
fn peak_kb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
