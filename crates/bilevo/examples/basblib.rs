//! The tables of the guide's page on BASBLib: every problem by the default method with seeds 1 to 3.
//! With the name of a folder, that of the problem files in it.

use bilevo::{AuditOptions, RunResult, Solver, problems, source};

/// Whether a run found the best known F, feasible at both levels, with an answer that stands.
fn solved(result: &RunResult, best: f64) -> bool {
    let at_most = |value: Option<f64>, limit: f64| value.is_some_and(|value| value <= limit);
    at_most(result.upper_value().map(|value| (value - best).abs()), (0.01 * best.abs()).max(0.01))
        && at_most(result.upper_violation(), 1e-4)
        && at_most(result.lower_violation(), 1e-4)
        && at_most(gap(result), 1e-2)
}

/// The problem files in the folder that was named, or BASBLib.
fn names() -> std::io::Result<Vec<String>> {
    let Some(folder) = std::env::args().nth(1) else {
        return Ok(problems::names().filter(|name| name.starts_with("basblib/")).map(str::to_string).collect());
    };
    let paths: Result<Vec<_>, _> = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut names: Vec<String> = paths?.iter().map(|path| path.display().to_string()).collect();
    names.retain(|name| name.ends_with(".toml"));
    names.sort();
    Ok(names)
}

fn gap(result: &RunResult) -> Option<f64> {
    result.audit.as_ref().and_then(|audit| audit.gap)
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| problem | best known F | F | solved | evaluations | audit gap |\n|---|---|---|---|---|---|");
    let mut enough = 0;
    let names = names()?;
    for name in &names {
        let problem = source::open(name, None)?;
        let best = problem.spec().best_known.first().map_or(f64::NAN, |known| known.upper);
        let run =
            |seed| Solver::new(&*problem).seed(seed).set("stop.target", "off").audit(AuditOptions::default()).run();
        let mut results = [run(1)?, run(2)?, run(3)?];
        let count = results.iter().filter(|result| solved(result, best)).count();
        enough += usize::from(count >= 2);
        let worst = results.iter().filter_map(gap).fold(0.0, f64::max);
        results.sort_by(|a, b| a.upper_value().unwrap_or(f64::NAN).total_cmp(&b.upper_value().unwrap_or(f64::NAN)));
        let value = results[1].upper_value().unwrap_or(f64::NAN);
        results.sort_by_key(|result| result.evaluations.upper + result.evaluations.lower);
        let evaluations = results[1].evaluations.upper + results[1].evaluations.lower;
        // Rounded, and without a minus in front of a zero.
        let short = |value: f64| (value * 1e4).round() / 1e4 + 0.0;
        let name = problem.id().trim_start_matches("basblib/");
        println!("| {name} | {} | {} | {count} of 3 | {evaluations} | {worst:.0e} |", short(best), short(value));
    }
    println!("\n{enough} of {} are solved in at least two of three runs.", names.len());
    Ok(())
}
