//! The runs of one problem.

use super::{Options, table};
use crate::clock::clock;
use anyhow::{Context, Result};
use bilevo_core::batch::Replies;
use bilevo_core::config::SchemeKind;
use bilevo_core::methods;
use bilevo_core::problem::{BilevelProblem, ProblemSpec};
use bilevo_core::record::Solution;
use bilevo_core::solved::{Tolerances, solved};
use bilevo_core::{Ask, Engine};
use rayon::prelude::*;
use std::io::Write;

/// The best published totals at 1e-6 on SMD; there is none for SMD10.
const SMD: [f64; 12] =
    [6.33e3, 5.38e3, 6.44e3, 6.60e3, 6.73e3, 1.68e4, 7.61e3, 2.04e4, 6.50e3, f64::NAN, 3.65e4, 3.04e4];
/// The published totals of CR-TLEA-CMA-ES on TP.
const TP: [f64; 10] = [6.97e4, 4.53e4, 6.14e4, 4.69e4, 4.13e4, 2.71e4, 8.09e4, 5.14e4, 3.51e4, 6.18e4];

/// The results of the runs on one problem.
pub(super) struct Row {
    pub(super) problem: String,
    pub(super) runs: u64,
    pub(super) solved: u64,
    /// Evaluations of all runs together, and of the upper level.
    pub(super) total: u64,
    pub(super) upper: u64,
    pub(super) median: u64,
    /// Evaluations in a batch.
    pub(super) width: f64,
    /// The published total.
    published: Option<f64>,
    /// The processor's time for an evaluation.
    pub(super) micros: f64,
    /// Seed and distance of runs that missed the optimum.
    pub(super) missed: Vec<String>,
}

impl Row {
    /// Evaluations of all runs per solved run; infinite if there are none.
    pub(super) fn ert(&self) -> f64 {
        self.total as f64 / self.solved as f64
    }

    /// The expected evaluations over the published total.
    pub(super) fn ratio(&self) -> Option<f64> {
        self.published.map(|best| self.ert() / best)
    }
}

struct Run {
    seed: u64,
    solved: bool,
    upper: u64,
    total: u64,
    batches: u64,
    seconds: f64,
    /// How far the solution is from the optimum: F, f, and the larger violation.
    missed: String,
}

/// Runs every problem by a method, with seeds from a first one on, and prints each line when it is ready.
pub(super) fn problems(options: &Options, set: (&str, u64), out: &mut impl Write) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for name in &options.problems {
        let row = measure(options, name, set)?;
        table::line(&row, out)?;
        rows.push(row);
    }
    Ok(rows)
}

fn measure(options: &Options, name: &str, (method, first): (&str, u64)) -> Result<Row> {
    let (base, dims) = match name.split_once('@') {
        Some((base, dims)) => {
            let (m, n) = dims.split_once('+').context("sizes are written m+n")?;
            (base, Some((m.parse()?, n.parse()?)))
        }
        None => (name, None),
    };
    let each_its_own = base.ends_with("-rotated");
    let once = |seed: u64| {
        let instance = if each_its_own { format!("{base}:{seed}") } else { base.into() };
        let problem = bilevo_problems::problem(&instance, dims)?;
        run(options, &*problem, (method, seed), &tolerances(base, problem.spec()))
    };
    let runs: Vec<Run> = (first..first + options.runs).into_par_iter().map(once).collect::<Result<_>>()?;
    let mut totals: Vec<u64> = runs.iter().map(|r| r.total).collect();
    totals.sort_unstable();
    let total = totals.iter().sum::<u64>();
    let missed = runs.iter().filter(|r| !r.solved).map(|r| format!("{}:{}", r.seed, r.missed));
    Ok(Row {
        problem: name.into(),
        runs: options.runs,
        solved: runs.iter().filter(|r| r.solved).count() as u64,
        total,
        upper: runs.iter().map(|r| r.upper).sum(),
        median: totals[totals.len() / 2],
        width: total as f64 / runs.iter().map(|r| r.batches).sum::<u64>() as f64,
        published: published(base).filter(|best| dims.is_none() && best.is_finite()),
        micros: runs.iter().map(|r| r.seconds).sum::<f64>() * 1e6 / total as f64,
        missed: missed.collect(),
    })
}

fn published(name: &str) -> Option<f64> {
    let plain = name.split_once("-rotated").map_or(name, |(plain, _)| plain);
    let number = |prefix: &str| plain.strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
    number("smd").and_then(|n| SMD.get(n - 1)).or(number("tp").and_then(|n| TP.get(n - 1))).copied()
}

/// SMD has the usual tolerances; the values of other problems differ in size.
fn tolerances(name: &str, spec: &ProblemSpec) -> Tolerances {
    let plain = Tolerances::default();
    let Some(known) = spec.best_known.first() else { return plain };
    let lower = |least: f64| known.lower.map_or(1.0, |f| f.abs().max(least));
    if name.starts_with("tp") {
        Tolerances { upper: 1e-3 * known.upper.abs().max(0.1), lower: 1e-2 * lower(1.0), ..plain }
    } else if name.starts_with("basblib/") {
        Tolerances { upper: 1e-2 * known.upper.abs().max(1.0), lower: 1e-2 * lower(1.0), violation: 1e-4 }
    } else {
        plain
    }
}

fn run(
    options: &Options,
    problem: &dyn BilevelProblem,
    (method, seed): (&str, u64),
    tolerances: &Tolerances,
) -> Result<Run> {
    let spec = problem.spec();
    let start = clock();
    let mut config = methods::choose(method, spec, &[])?.config;
    if options.budget.is_some() {
        config.stop.max_upper_evals = options.budget;
    }
    config.set("stop.target", "off")?;
    if options.target {
        // The budget ends other methods anyway.
        if config.scheme.kind == SchemeKind::Portfolio {
            config.set("portfolio.effort", "budget")?;
        }
    }
    options.settings.iter().try_for_each(|(path, value)| config.set(path, value))?;
    let mut engine = Engine::new(spec.clone(), config, seed)?;
    let mut replies = Replies::default();
    let mut constraints = Vec::new();
    let mut batches = 0;
    let is_solved = |solution: &Option<Solution>| {
        solution.as_ref().and_then(|s| solved(spec, s, true, tolerances)).unwrap_or(false)
    };
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
        seed,
        solved: is_solved(&solution),
        upper: summary.evaluations.upper,
        total: summary.evaluations.total(),
        batches,
        seconds: clock() - start,
        missed: solution.map_or("none".into(), |s| missed(spec, &s)),
    })
}

fn missed(spec: &ProblemSpec, solution: &Solution) -> String {
    let known = spec.nearest_known(solution.upper_value, solution.lower_value);
    let off = |value: f64, known: Option<f64>| known.map_or("–".into(), |known| format!("{:.1e}", value - known));
    let upper = off(solution.upper_value, known.map(|known| known.upper));
    let lower = off(solution.lower_value, known.and_then(|known| known.lower));
    format!("{upper}/{lower}/{:.0e}", solution.upper_violation.max(solution.lower_violation))
}
