//! Solved runs and expected running times of a method, one line for each problem.
//!
//! `ert [--method M] [--runs N] [--seed N] [--budget N] [--no-target] [--set PATH=VALUE]... [--ablation] PROBLEM...`
//!
//! A problem is a name, a name with sizes (`smd1@5+5`), or a suite (`smd`, `tp`). The expected
//! running time is all evaluations of all runs over the number of runs that solved the problem; the
//! ratio compares it with the best published total (TP: that of CR-TLEA-CMA-ES). Runs on TP count as
//! solved within a relative 1e-3. With `--ablation` all problems are run once more without each part
//! of the default method, and one line a part says what that costs.

use anyhow::{Context, Result, bail};
use bilevo_core::batch::Replies;
use bilevo_core::problem::{BilevelProblem, ProblemSpec};
use bilevo_core::record::Solution;
use bilevo_core::solved::{Tolerances, solved};
use bilevo_core::{Ask, Config, Engine};
use rayon::prelude::*;
use std::io::Write;

/// The best published totals at 1e-6 on SMD; none for SMD10.
const SMD: [f64; 12] =
    [6.33e3, 5.38e3, 6.44e3, 6.60e3, 6.73e3, 1.68e4, 7.61e3, 2.04e4, 6.50e3, f64::NAN, 3.65e4, 3.04e4];
/// The published totals of CR-TLEA-CMA-ES on TP.
const TP: [f64; 10] = [6.97e4, 4.53e4, 6.14e4, 4.69e4, 4.13e4, 2.71e4, 8.09e4, 5.14e4, 3.51e4, 6.18e4];

struct Options {
    method: String,
    runs: u64,
    seed: u64,
    /// Evaluations of both levels; by default the budgets of the method.
    budget: Option<u64>,
    target: bool,
    ablation: bool,
    settings: Vec<(String, String)>,
    problems: Vec<String>,
}

struct Run {
    solved: bool,
    upper: u64,
    total: u64,
    batches: u64,
    /// How far the solution is from the optimum: F, f, and the larger violation.
    missed: String,
}

/// Parts of the default method, and the setting that takes each away.
const PARTS: [(&str, &str, &str); 9] = [
    ("lower model", "jq.model", "off"),
    ("descents", "jq.descent", "0"),
    ("contrastive allocator", "allocator.kind", "all"),
    ("conditional start", "jq.start", "guess"),
    ("whole guess in turn", "jq.start", "expected"),
    ("injection", "jq.injection", "off"),
    ("penalty adaptation", "jq.adapt_penalty", "off"),
    ("discovery", "jq.discovery", "off"),
    ("box-wide rechecks", "jq.rechecks", "0"),
];

fn main() -> Result<()> {
    let mut options = read(std::env::args().skip(1))?;
    let mut out = std::io::stdout().lock();
    if !options.ablation {
        return table(&options, &mut out);
    }
    writeln!(out, "{:24} {:>6} {:>6}  solved of {} runs, where not all", "without", "ratio", "mean", options.runs)?;
    let nothing = ("nothing", "jq.model", "on");
    for (part, path, value) in std::iter::once(nothing).chain(PARTS) {
        options.settings.push((path.into(), value.into()));
        let mut lines = Vec::new();
        table(&options, &mut lines)?;
        options.settings.pop();
        let text = String::from_utf8(lines)?;
        let mut lost = Vec::new();
        let mut sum = 0.0;
        for words in text.lines().skip(1).map(|l| l.split_whitespace().collect::<Vec<_>>()) {
            let [problem, solved, ert, ..] = words[..] else { continue };
            if let Some((count, runs)) = solved.split_once('/') {
                sum += ert.parse::<f64>().unwrap_or(f64::INFINITY);
                lost.extend((count != runs).then(|| format!("{problem} {count}")));
            }
        }
        let mean = sum / options.problems.len() as f64;
        let ratio = text.lines().last().and_then(|l| l.rsplit(' ').next()).unwrap_or_default();
        writeln!(out, "{part:24} {ratio:>6} {mean:6.0}  {}", lost.join(", "))?;
    }
    Ok(())
}

/// One line for each problem, then the geometric mean.
fn table(options: &Options, out: &mut impl Write) -> Result<()> {
    let mut ratios = Vec::new();
    writeln!(
        out,
        "{:12} {:>7} {:>8} {:>8} {:>7} {:>6} {:>6} {:>7}",
        "problem", "solved", "ERT", "median", "upper", "width", "ratio", "µs/eval"
    )?;
    for name in &options.problems {
        let ratio = measure(options, name, out)?;
        ratios.extend(Some(ratio).filter(|r| r.is_finite()));
    }
    let logs: f64 = ratios.iter().map(|r| r.ln()).sum();
    writeln!(out, "geometric mean of {} ratios: {:.3}", ratios.len(), (logs / ratios.len() as f64).exp())?;
    Ok(())
}

fn read(mut args: impl Iterator<Item = String>) -> Result<Options> {
    let mut options = Options {
        method: "auto".into(),
        runs: 21,
        seed: 1,
        budget: None,
        target: true,
        ablation: false,
        settings: Vec::new(),
        problems: Vec::new(),
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--method" => options.method = value()?,
            "--runs" => options.runs = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--budget" => options.budget = Some(value()?.parse()?),
            "--no-target" => options.target = false,
            "--ablation" => options.ablation = true,
            "--set" => {
                let text = value()?;
                let (path, value) = text.split_once('=').context("--set takes PATH=VALUE")?;
                options.settings.push((path.into(), value.into()));
            }
            "smd" => options.problems.extend((1..=12).map(|i| format!("smd{i}"))),
            "tp" => options.problems.extend((1..=10).map(|i| format!("tp{i}"))),
            name if name.starts_with('-') => bail!("there is no option {name}"),
            name => options.problems.push(name.into()),
        }
    }
    Ok(options)
}

/// Runs one problem, prints its line, returns its ratio.
fn measure(options: &Options, name: &str, out: &mut impl Write) -> Result<f64> {
    let (base, dims) = match name.split_once('@') {
        Some((base, dims)) => {
            let (m, n) = dims.split_once('+').context("sizes are written m+n")?;
            (base, Some((m.parse()?, n.parse()?)))
        }
        None => (name, None),
    };
    let problem = bilevo_problems::problem(base, dims)?;
    let mut tolerances = Tolerances::default();
    if let (true, Some(known)) = (base.starts_with("tp"), problem.spec().best_known.first()) {
        tolerances.upper = 1e-3 * known.upper.abs().max(0.1);
        tolerances.lower = 1e-2 * known.lower.map_or(1.0, |f| f.abs().max(1.0));
    }
    let start = std::time::Instant::now();
    let seeds = options.seed..options.seed + options.runs;
    let runs: Result<Vec<Run>> = seeds.into_par_iter().map(|seed| run(options, &*problem, seed, &tolerances)).collect();
    let runs = runs?;
    let count = runs.iter().filter(|r| r.solved).count();
    let all: u64 = runs.iter().map(|r| r.total).sum();
    let mut totals: Vec<u64> = runs.iter().map(|r| r.total).collect();
    totals.sort_unstable();
    let ert = all as f64 / count as f64;
    let number = |prefix: &str| base.strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
    let published = number("smd").and_then(|n| SMD.get(n - 1)).or(number("tp").and_then(|n| TP.get(n - 1)));
    let ratio = published.filter(|_| dims.is_none()).map_or(f64::NAN, |best| ert / best);
    let upper = runs.iter().map(|r| r.upper).sum::<u64>() / options.runs;
    let width = all as f64 / runs.iter().map(|r| r.batches).sum::<u64>() as f64;
    let micros = start.elapsed().as_secs_f64() * 1e6 / all as f64;
    let missed: Vec<&str> = runs.iter().filter(|r| !r.solved).map(|r| r.missed.as_str()).take(4).collect();
    let solved = format!("{count}/{}", options.runs);
    let median = totals[totals.len() / 2];
    writeln!(
        out,
        "{name:12} {solved:>7} {ert:8.0} {median:8} {upper:7} {width:6.1} {ratio:6.3} {micros:7.0}  {}",
        missed.join(" ")
    )?;
    Ok(ratio)
}

fn run(options: &Options, problem: &dyn BilevelProblem, seed: u64, tolerances: &Tolerances) -> Result<Run> {
    let spec = problem.spec();
    let mut config = Config::named(&options.method)?;
    if options.budget.is_some() {
        config.stop.max_upper_evals = options.budget;
    }
    config.set("stop.target", "off")?;
    if options.target {
        config.set("jq.effort", "budget").or_else(|e| if options.method == "auto" { Err(e) } else { Ok(()) })?;
    }
    options.settings.iter().try_for_each(|(path, value)| config.set(path, value))?;
    let mut engine = Engine::new(spec.clone(), config, seed)?;
    let mut replies = Replies::default();
    let mut constraints = Vec::new();
    let mut batches = 0;
    let is_solved =
        |solution: &Option<Solution>| solution.as_ref().and_then(|s| solved(spec, s, tolerances)).unwrap_or(false);
    while let Ask::Evaluate(batch) = engine.ask() {
        batches += 1;
        replies.start(spec, batch.level());
        for i in 0..batch.len() {
            constraints.clear();
            let value = problem.evaluate(batch.level(), batch.x(i), batch.y(i), &mut constraints);
            replies.push_result(spec, value, &constraints);
        }
        engine.tell(&replies)?;
        let summary = engine.summary();
        if options.budget.is_some_and(|budget| summary.evaluations.total() > budget)
            || (options.target && is_solved(&summary.solution))
        {
            break;
        }
    }
    let summary = engine.summary();
    let solution = summary.solution;
    Ok(Run {
        solved: is_solved(&solution),
        upper: summary.evaluations.upper,
        total: summary.evaluations.total(),
        batches,
        missed: solution.map_or("none".into(), |s| missed(spec, &s)),
    })
}

fn missed(spec: &ProblemSpec, solution: &Solution) -> String {
    let nearest = spec.nearest_known(solution.upper_value, solution.lower_value);
    let (upper, lower) = nearest.map_or((f64::NAN, f64::NAN), |known| {
        (solution.upper_value - known.upper, solution.lower_value - known.lower.unwrap_or(f64::NAN))
    });
    format!("{upper:.1e}/{lower:.1e}/{:.0e}", solution.upper_violation.max(solution.lower_violation))
}
