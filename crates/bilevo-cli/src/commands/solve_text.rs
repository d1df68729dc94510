//! The result of a run for people.

use crate::output::{self, GOOD, WARN, best_known, counted, grouped, short, vector};
use crate::table::{heading, line};
use bilevo::{Engine, Report, SolveResult, Status, StopReason};
use std::io::Write;

pub(crate) fn print(engine: &Engine, result: &SolveResult, report: &Report) -> anyhow::Result<()> {
    let out = &mut output::stdout();
    let (m, n) = (result.dims.upper, result.dims.lower);
    heading(out, format_args!("{} {m}+{n} · {} · seed {}", result.problem, result.method, result.seed))?;
    solution(out, engine, report)?;
    let counts = &result.evaluations;
    let (upper, lower, total) = (grouped(counts.upper), grouped(counts.lower), grouped(counts.total));
    let refining = grouped(counts.refine_lower);
    line(out, "evaluations", format_args!("{upper} upper + {lower} lower ({refining} of them refining) = {total}"))?;
    let failed = counts.failed_upper + counts.failed_lower;
    if failed + counts.retried > 0 {
        let (upper, lower, again) =
            (grouped(counts.failed_upper), grouped(counts.failed_lower), grouped(counts.retried));
        line(out, "failed", format_args!("{WARN}{upper} upper, {lower} lower; {again} tried again{WARN:#}"))?;
    }
    let searches = &result.lower_searches;
    let (run, skipped, more) = (grouped(searches.run), grouped(searches.skipped), grouped(searches.resampled));
    line(out, "searches", format_args!("{run} run, {skipped} skipped, {more} candidates resampled"))?;
    if let Some(accuracy) = result.model_accuracy {
        let percent = 100.0 * accuracy;
        line(
            out,
            "model",
            format_args!("ordered {percent:.0}% of pairs correctly, {}", counted(result.trainings, "training")),
        )?;
    }
    let end = match report.status {
        Status::Finished(reason) if result.target_met == Some(false) => {
            format!("{reason}, best known value not reached")
        }
        Status::Finished(reason) => reason.to_string(),
        Status::Interrupted => "interrupted".into(),
        _ => result.stop.replace('_', " "),
    };
    let style = if report.status == Status::Finished(StopReason::Target) { GOOD } else { WARN };
    let (generations, seconds) = (counted(result.generations, "generation"), result.seconds);
    line(out, "end", format_args!("{style}{end}{style:#} after {generations}, {seconds:.2} s"))?;
    Ok(out.flush()?)
}

fn solution(out: &mut impl Write, engine: &Engine, report: &Report) -> anyhow::Result<()> {
    let Some(best) = &report.summary.solution else {
        line(out, "F", "no solution yet: the run ended before its first generation did")?;
        return Ok(());
    };
    let known = engine.spec().nearest_known(best.upper_value, best.lower_value);
    let off = |distance: Option<f64>, best: Option<f64>| match (distance, best) {
        (Some(distance), Some(best)) => format!("  ({} from the best known {})", short(distance), best_known(best)),
        _ => String::new(),
    };
    let accuracy = report.summary.accuracy;
    let upper = off(accuracy.map(|a| a.upper), known.map(|k| k.upper));
    let lower = off(accuracy.and_then(|a| a.lower), known.and_then(|k| k.lower));
    line(out, "F", format_args!("{}{upper}", short(best.upper_value)))?;
    line(out, "f", format_args!("{}{lower}", short(best.lower_value)))?;
    line(out, "x", vector(&best.x))?;
    line(out, "y", vector(&best.y))?;
    let style = if best.upper_violation > 0.0 || best.lower_violation > 0.0 { WARN } else { anstyle::Style::new() };
    let (upper, lower) = (short(best.upper_violation), short(best.lower_violation));
    line(out, "violation", format_args!("{style}{upper} upper, {lower} lower{style:#}"))?;
    Ok(())
}
