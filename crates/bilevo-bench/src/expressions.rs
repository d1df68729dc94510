//! The same problem compiled in Rust and read from a file.

use crate::Said;
use anyhow::{Result, bail};
use bilevo::problems::file::{self, ProblemFile};
use bilevo::{Level, problems};
use std::hint::black_box;
use std::time::Instant;

/// SMD1 as a problem file; `p`, `q` and `r` are put in front.
const SMD1: &str = r#"
[upper]
minimize = "sum(i in 1..p, a[i]^2) + sum(i in 1..q, c[i]^2) + sum(i in 1..r, b[i]^2) + sum(i in 1..r, (b[i] - tan(d[i]))^2)"
variables = { a = { size = "p", bounds = [-5, 10] }, b = { size = "r", bounds = [-5, 10] } }
[lower]
minimize = "sum(i in 1..p, a[i]^2) + sum(i in 1..q, c[i]^2) + sum(i in 1..r, (b[i] - tan(d[i]))^2)"
variables = { c = { size = "q", bounds = [-5, 10] }, d = { size = "r", bounds = ["-pi/2 + 1e-5", "pi/2 - 1e-5"] } }
"#;

/// SMD1 with m upper and n lower variables, from a file.
pub(crate) fn smd1((m, n): (usize, usize)) -> Result<problems::BoxedProblem> {
    let r = m / 2;
    let text = format!("[parameters]\np = {}\nq = {}\nr = {r}\n{SMD1}", m - r, n - r);
    match file::parse("smd1.toml", &text, &mut file::no_tables)? {
        ProblemFile::Expressions(problem) => Ok(Box::new(problem)),
        ProblemFile::Program { .. } => bail!("not a file with expressions"),
    }
}

/// Evaluates SMD1 so many times, a fifth of them at the upper level, at points that differ.
pub(crate) fn evaluate(form: &str, dims: (usize, usize), calls: usize) -> Result<Said> {
    let problem = match form {
        "rust" => problems::problem("smd1", Some(dims))?,
        "file" => smd1(dims)?,
        _ => bail!("there is no form `{form}`"),
    };
    const POINTS: usize = 64;
    let spread = |number: usize, dim: usize| (0..dim).map(move |i| 1.4 * ((number * 7 + i * 3) as f64).sin());
    let points: Vec<(Vec<f64>, Vec<f64>)> =
        (0..POINTS).map(|k| (spread(k, dims.0).collect(), spread(k + 1, dims.1).collect())).collect();
    let mut constraints = Vec::new();
    let (mut sum, start) = (0.0, Instant::now());
    for call in 0..calls {
        let (x, y) = black_box(&points[call % POINTS]);
        let level = if call % 5 == 0 { Level::Upper } else { Level::Lower };
        constraints.clear();
        sum += problem.evaluate(level, x, y, &mut constraints)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(vec![("calls", calls as f64), ("seconds", seconds), ("sum", sum)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_the_same_bits() {
        for dims in [(2, 3), (5, 5), (10, 10), (20, 20)] {
            let sum = |form| evaluate(form, dims, 200).map(|said| said[2].1.to_bits()).ok();
            assert!(sum("rust").is_some() && sum("rust") == sum("file"), "{dims:?}");
        }
    }
}
