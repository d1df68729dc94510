//! Measures the local descent alone: runs with restarts from random points until the known optimum
//! is met, one line for each problem. Not a test: `descent smd1 smd2@5+5 tp3 --seeds 1..=21`.

use anyhow::{Context, Result, bail};
use bilevo::problems::{self, BoxedProblem};
use bilevo_core::jq::descent::Descent;
use bilevo_core::problem::{BilevelProblem, Level, Outcome, ProblemSpec};
use bilevo_core::rng::{Purpose, Streams};
use std::io::Write;
use std::time::Instant;

/// What is measured.
struct Options {
    first_seed: u64,
    seeds: u64,
    /// Evaluations of a run.
    budget: u64,
    /// Evaluations of one descent.
    cap: u64,
    /// Upper, lower and violation tolerances; relative for the first two if asked for.
    tolerances: [f64; 3],
    relative: bool,
    each: bool,
}

/// One run: descents until the optimum is met or the budget is spent.
struct Run {
    solved: bool,
    upper: u64,
    lower: u64,
    descents: Vec<u64>,
    last: (f64, f64, f64),
}

fn main() -> Result<()> {
    let mut options = Options {
        first_seed: 1,
        seeds: 21,
        budget: 20_000,
        cap: 1000,
        tolerances: [1e-6, 1e-4, 1e-6],
        relative: false,
        each: false,
    };
    let mut names = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--seed" => options.first_seed = value()?.parse()?,
            "--runs" => options.seeds = value()?.parse()?,
            "--budget" => options.budget = value()?.parse()?,
            "--cap" => options.cap = value()?.parse()?,
            "--upper" => options.tolerances[0] = value()?.parse()?,
            "--lower" => options.tolerances[1] = value()?.parse()?,
            "--violation" => options.tolerances[2] = value()?.parse()?,
            "--relative" => options.relative = true,
            "--each" => options.each = true,
            _ if arg.starts_with("--") => bail!("there is no option `{arg}`"),
            _ => names.push(arg),
        }
    }
    let mut out = std::io::stdout().lock();
    for name in &names {
        let problem = open(name)?;
        let start = Instant::now();
        let runs: Vec<Run> = (0..options.seeds).map(|i| run(&problem, options.first_seed + i, &options)).collect();
        let solved = runs.iter().filter(|r| r.solved).count();
        let first = runs.iter().filter(|r| r.solved && r.descents.len() == 1).count();
        let total: u64 = runs.iter().map(|r| r.upper + r.lower).sum();
        let upper: u64 = runs.iter().map(|r| r.upper).sum();
        let mut costs: Vec<u64> = runs.iter().map(|r| r.upper + r.lower).collect();
        costs.sort_unstable();
        let mut ends: Vec<u64> =
            runs.iter().flat_map(|r| &r.descents[..r.descents.len() - usize::from(r.solved)]).copied().collect();
        ends.sort_unstable();
        writeln!(
            out,
            "{name:14} solved {solved}/{} ERT {:.0} median {} upper {} | first {first} failed descents {} of median {} | {:.0} us/eval",
            options.seeds,
            total as f64 / solved as f64,
            costs[costs.len() / 2],
            upper / options.seeds,
            ends.len(),
            ends.get(ends.len() / 2).unwrap_or(&0),
            start.elapsed().as_secs_f64() * 1e6 / total as f64,
        )?;
        if options.each {
            for r in &runs {
                let (f, g, v) = r.last;
                writeln!(
                    out,
                    "  {} {}+{} F {f:.8} f {g:.8} violation {v:.1e} {:?}",
                    r.solved,
                    r.upper,
                    r.lower,
                    &r.descents[..r.descents.len().min(10)]
                )?;
            }
        }
    }
    Ok(())
}

/// `name` or `name@m+n`.
fn open(text: &str) -> Result<BoxedProblem> {
    let Some((name, dims)) = text.split_once('@') else { return Ok(problems::problem(text, None)?) };
    let (m, n) = dims.split_once('+').context("a size is written m+n")?;
    Ok(problems::problem(name, Some((m.parse()?, n.parse()?)))?)
}

fn run(problem: &BoxedProblem, seed: u64, options: &Options) -> Run {
    let spec = problem.spec();
    let mut run = Run { solved: false, upper: 0, lower: 0, descents: Vec::new(), last: (f64::NAN, f64::NAN, f64::NAN) };
    let bounds: Vec<(f64, f64)> = spec.upper.bounds.iter().chain(&spec.lower.bounds).copied().collect();
    for restart in 1.. {
        let mut stream = Streams::new(seed).open(Purpose::Start, restart, 77);
        let start: Vec<f64> = bounds.iter().map(|(l, h)| l + (h - l) * stream.uniform()).collect();
        let before = run.upper + run.lower;
        let mut descent = Descent::new(spec, &start, options.cap);
        while !descent.finished() && !run.solved {
            step(problem.as_ref(), &mut descent, &mut run);
            if let Some(best) = descent.incumbent() {
                let violation =
                    spec.violation(Level::Upper, &best.upper[1..]) + spec.violation(Level::Lower, &best.lower[1..]);
                run.last = (best.upper[0], best.lower[0], violation);
                run.solved = met(spec, best.upper[0], best.lower[0], violation, options);
            }
        }
        run.descents.push(run.upper + run.lower - before);
        if run.solved || run.upper + run.lower >= options.budget {
            break;
        }
    }
    run
}

/// Whether the known optimum is met.
fn met(spec: &ProblemSpec, upper: f64, lower: f64, violation: f64, options: &Options) -> bool {
    let Some(best) = spec.best_known else { return false };
    let within = |value: f64, target: f64, tolerance: f64| {
        let scale = if options.relative { target.abs().max(0.1) } else { 1.0 };
        (value - target).abs() <= tolerance * scale
    };
    within(spec.upper.direction.flip(upper), best.upper, options.tolerances[0])
        && best.lower.is_none_or(|f| within(spec.lower.direction.flip(lower), f, options.tolerances[1]))
        && violation <= options.tolerances[2]
}

/// Evaluates what the descent wants.
fn step(problem: &(dyn BilevelProblem + Send + Sync), descent: &mut Descent, run: &mut Run) {
    let spec = problem.spec();
    let (level, m) = (descent.level(), spec.upper.dim());
    let (mut outcomes, mut values) = (Vec::new(), Vec::new());
    for point in descent.wanted() {
        let mut row = Vec::new();
        let value = problem.evaluate(level, &point[..m], &point[m..], &mut row).unwrap_or(f64::NAN);
        let sound = value.is_finite() && row.iter().all(|c| c.is_finite());
        outcomes.push(if sound {
            Outcome { value: spec.level(level).direction.flip(value), violation: spec.violation(level, &row) }
        } else {
            Outcome::FAILED
        });
        row.resize(spec.level(level).constraints(), f64::NAN);
        values.extend(row);
        match level {
            Level::Upper => run.upper += 1,
            Level::Lower => run.lower += 1,
        }
    }
    descent.tell(&outcomes, &values);
}
