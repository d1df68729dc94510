//! The tables of the guide's pages on BASBLib and BOLIB: every problem by the default method with seeds 1 to 3.
//! With the name of a suite (`basblib`, `bolib`) or of a folder, that of the problems in it.

use bilevo::{AuditOptions, RunError, RunResult, Solver, Source, problems, source};
use rayon::prelude::*;
use std::path::Path;

/// Limit on the evaluations of a run.
const LIMIT: u64 = 60_000;

/// Problems with more variables, both levels together, take minutes and are left out.
const LARGEST: usize = 15;

/// How far F may be from the best known value: a hundredth, relative above 1.
fn tolerance(best: f64) -> f64 {
    0.01 * best.abs().max(1.0)
}

/// Whether a run found the best known F, feasible at both levels, with an answer that the audit confirms.
fn right(result: &RunResult, best: f64) -> bool {
    let at_most = |value: Option<f64>, limit: f64| value.is_some_and(|value| value <= limit);
    at_most(result.upper_value().map(|value| (value - best).abs()), tolerance(best))
        && at_most(result.upper_violation(), 1e-4)
        && at_most(result.lower_violation(), 1e-4)
        && at_most(gap(result), 1e-2)
}

/// The problems of the suite or folder that was named, or BASBLib.
fn names() -> std::io::Result<Vec<String>> {
    let named = std::env::args().nth(1).unwrap_or_else(|| "basblib".into());
    if !Path::new(&named).is_dir() {
        let prefix = format!("{named}/");
        return Ok(problems::names().filter(|name| name.starts_with(&prefix)).map(str::to_string).collect());
    }
    let paths: Result<Vec<_>, _> = std::fs::read_dir(named)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut names: Vec<String> = paths?.iter().map(|path| path.display().to_string()).collect();
    names.retain(|name| name.ends_with(".toml"));
    names.sort();
    Ok(names)
}

fn gap(result: &RunResult) -> Option<f64> {
    result.audit.as_ref().and_then(|audit| audit.gap)
}

/// Expected evaluations until F and f are known as well as a right answer knows them, where a run ends there.
fn expected(problem: &dyn Source, best: f64) -> Result<String, RunError> {
    let (mut spent, mut solved) = (0, 0);
    for seed in 1..=3 {
        let lower = problem.spec().best_known.first().and_then(|known| known.lower);
        let run = Solver::new(problem)
            .seed(seed)
            .set("stop.max_evals", LIMIT)
            .set("stop.target_tolerance", tolerance(best))
            .set("stop.lower_target_tolerance", tolerance(lower.unwrap_or(0.0)))
            .run()?;
        spent += run.evaluations.total();
        solved += u64::from(run.target_met == Some(true));
    }
    Ok(u64::checked_div(spent, solved).map_or("none".into(), |mean| mean.to_string()))
}

/// A line of the table, and how many of three runs are right; `None` for a problem that is left out.
fn row(name: &str) -> Result<Option<(String, usize)>, String> {
    let problem = source::open(name, None).map_err(|error| error.to_string())?;
    let spec = problem.spec();
    let known = spec.best_known.first().filter(|_| spec.dim() <= LARGEST);
    let Some(best) = known.map(|known| known.upper) else { return Ok(None) };
    let run = |seed| {
        let solver = Solver::new(&*problem).seed(seed).set("stop.target", "off").set("stop.max_evals", LIMIT);
        solver.audit(AuditOptions::default()).run()
    };
    let results: Result<Vec<RunResult>, RunError> = (1..=3).map(run).collect();
    let mut results = results.map_err(|error| error.to_string())?;
    let count = results.iter().filter(|result| right(result, best)).count();
    let worst = results.iter().filter_map(gap).fold(0.0, f64::max);
    results.sort_by(|a, b| a.upper_value().unwrap_or(f64::NAN).total_cmp(&b.upper_value().unwrap_or(f64::NAN)));
    let value = results[1].upper_value().unwrap_or(f64::NAN);
    results.sort_by_key(|result| result.evaluations.total());
    let evaluations = results[1].evaluations.total();
    // Rounded, and without a minus in front of a zero.
    let short = |value: f64| (value * 1e4).round() / 1e4 + 0.0;
    let name = problem.id().split('/').next_back().unwrap_or_default();
    let size = format!("{}+{}", spec.upper.dim(), spec.lower.dim());
    let target = expected(&*problem, best).map_err(|error| error.to_string())?;
    let (best, value) = (short(best), short(value));
    let gap = if worst == 0.0 { "0".to_string() } else { format!("{worst:.0e}") };
    let line = format!("| {name} | {size} | {best} | {value} | {count} of 3 | {evaluations} | {target} | {gap} |");
    Ok(Some((line, count)))
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows: Result<Vec<_>, String> = names()?.par_iter().map(|name| row(name)).collect();
    let rows: Vec<(String, usize)> = rows?.into_iter().flatten().collect();
    println!("| problem | size | best known F | F | right | evaluations | with a target | audit gap |");
    println!("|---|---|---|---|---|---|---|---|");
    rows.iter().for_each(|(line, _)| println!("{line}"));
    let right: usize = rows.iter().map(|(_, right)| right).sum();
    let enough = rows.iter().filter(|(_, right)| *right >= 2).count();
    let (runs, problems) = (3 * rows.len(), rows.len());
    println!(
        "\n{right} of {runs} runs are right; {enough} of {problems} problems are right in at least two of three runs."
    );
    Ok(())
}
