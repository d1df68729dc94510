//! Measures the local descent alone: runs with restarts from random points until the known optimum
//! is met, one line for each problem. Not a test: `descent smd1 smd2@5+5 tp3 --seeds 1..=21`.

use anyhow::{Context, Result, bail};
use bilevo::problems::{self, BoxedProblem};
use bilevo_core::jq::descent::Descent;
use bilevo_core::problem::{Level, ProblemSpec};
use bilevo_core::rng::{Purpose, Streams};
use bilevo_core::solved::Tolerances;
use bilevo_core::{Batch, Replies};
use std::io::Write;

/// What is measured.
struct Options {
    first_seed: u64,
    seeds: u64,
    /// Evaluations of a run.
    budget: u64,
    /// Evaluations of one descent.
    cap: u64,
    /// Upper, lower and violation tolerances; relative for the first two if asked for.
    tolerances: Tolerances,
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
        tolerances: Tolerances::default(),
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
            "--upper" => options.tolerances.upper = value()?.parse()?,
            "--lower" => options.tolerances.lower = value()?.parse()?,
            "--violation" => options.tolerances.violation = value()?.parse()?,
            "--relative" => options.relative = true,
            "--each" => options.each = true,
            _ if arg.starts_with("--") => bail!("there is no option `{arg}`"),
            _ => names.push(arg),
        }
    }
    let mut out = std::io::stdout().lock();
    for name in &names {
        let problem = open(name)?;
        let start = processor_seconds();
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
            (processor_seconds() - start) * 1e6 / total as f64,
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

/// Processor time of this process, where the system tells it.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1e-9
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
    let space = spec.upper.space.chain(&spec.lower.space);
    for restart in 1.. {
        let mut stream = Streams::new(seed).open(Purpose::Start, restart, 77);
        let start = space.draw(&mut stream);
        let before = run.upper + run.lower;
        let mut descent = Descent::new(spec, &start, options.cap);
        while !descent.finished() && !run.solved {
            step(problem, &mut descent, &mut run);
            if let Some(best) = descent.incumbent() {
                let violations =
                    [spec.violation(Level::Upper, &best.upper[1..]), spec.violation(Level::Lower, &best.lower[1..])];
                run.last = (best.upper[0], best.lower[0], violations[0].max(violations[1]));
                run.solved = met(spec, best.upper[0], best.lower[0], violations, options);
            }
        }
        run.descents.push(run.upper + run.lower - before);
        if run.solved || run.upper + run.lower >= options.budget {
            break;
        }
    }
    run
}

/// Whether a known optimum is met.
fn met(spec: &ProblemSpec, upper: f64, lower: f64, violations: [f64; 2], options: &Options) -> bool {
    let (upper, lower) = (spec.upper.direction.flip(upper), spec.lower.direction.flip(lower));
    let scale = |target: f64| if options.relative { target.abs().max(0.1) } else { 1.0 };
    spec.best_known.iter().any(|best| {
        let Tolerances { upper: u, lower: l, violation } = options.tolerances;
        let tolerances =
            Tolerances { upper: u * scale(best.upper), lower: l * best.lower.map_or(1.0, scale), violation };
        tolerances.accept(&best.distance(upper, lower), violations)
    })
}

/// Evaluates what the descent asks for.
fn step(problem: &BoxedProblem, descent: &mut Descent, run: &mut Run) {
    let spec = problem.spec();
    let mut batch = Batch::new(spec);
    descent.ask(&mut batch, 0);
    let mut replies = Replies::default();
    replies.start(spec, batch.level());
    let mut row = Vec::new();
    for i in 0..batch.len() {
        row.clear();
        let result = problem.evaluate(batch.level(), batch.x(i), batch.y(i), &mut row);
        replies.push_result(spec, result, &row);
    }
    match batch.level() {
        Level::Upper => run.upper += batch.len() as u64,
        Level::Lower => run.lower += batch.len() as u64,
    }
    descent.tell(replies.answers());
}
