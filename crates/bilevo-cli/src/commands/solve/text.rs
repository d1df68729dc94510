//! The result of a run for people.

use crate::output::{GOOD, PLAIN, WARN, best_known, counted, grouped, point, short};
use crate::table::{heading, line};
use bilevo::{Engine, RunId, RunResult, Status, StopReason};
use std::io::Write;

pub(super) fn print(out: &mut impl Write, engine: &Engine, result: &RunResult) -> anyhow::Result<()> {
    let RunId { problem, upper_dim, lower_dim, method, seed, .. } = &result.id;
    heading(out, format_args!("{problem} {upper_dim}+{lower_dim} · {method} · seed {seed}"))?;
    if let Some(notice) = &result.notice {
        line(out, "notice", notice)?;
    }
    solution(out, engine, result)?;
    let counts = &result.evaluations;
    let (upper, lower, total) = (grouped(counts.upper), grouped(counts.lower), grouped(counts.total()));
    // If the follower has its own solver, there are no lower searches.
    let by_solver = engine.spec().is_oracle_alone();
    match by_solver {
        true => line(out, "evaluations", format_args!("{lower} calls of the follower's solver, {upper} of F"))?,
        false => line(out, "evaluations", format_args!("{upper} upper + {lower} lower = {total}"))?,
    }
    let failed = counts.failed_upper + counts.failed_lower;
    if failed + counts.retried > 0 {
        let (upper, lower, again) =
            (grouped(counts.failed_upper), grouped(counts.failed_lower), grouped(counts.retried));
        line(out, "failed", format_args!("{WARN}{upper} upper, {lower} lower; {again} tried again{WARN:#}"))?;
    }
    if result.verification.is_none_or(|verification| verification.restarts == 0) {
        parts(out, result, by_solver)?;
    }
    match &result.verification {
        Some(found) if by_solver && found.restarts <= 1 => line(out, "answer", "by the follower's own solver")?,
        Some(found) if by_solver => {
            let (agreeing, searches) = (found.agreeing, found.restarts);
            line(out, "answer", format_args!("by the follower's own solver; {agreeing} of {searches} searches agree"))?;
        }
        Some(verification) => line(out, "answer", verification)?,
        None => {}
    }
    if let Some(noise) = &result.noise {
        line(out, "noise", format_args!("{WARN}{noise}{WARN:#}"))?;
    }
    if let Some(likeness) = &result.likeness {
        line(out, "likely", likeness)?;
    }
    if let Some(proof) = &result.proof {
        let style = if proof.is_refuted() { WARN } else { GOOD };
        // If the audit relies on the proof, it already says so.
        let said = |words: &str| result.audit.as_ref().is_some_and(|audit| audit.words.starts_with(words));
        for words in proof.words(result.names.as_ref()).into_iter().filter(|words| !said(words)) {
            line(out, "proof", format_args!("{style}{words}{style:#}"))?;
        }
    }
    if let Some(audit) = &result.audit {
        let style = if audit.passed() { GOOD } else { WARN };
        let spent = grouped(audit.evaluations.upper + audit.evaluations.lower);
        line(out, "audit", format_args!("{style}{}{style:#} ({spent} evaluations)", audit.words))?;
    }
    let missed = matches!(result.stop, Status::Finished(_)) && result.warnings.iter().any(|told| told.code == "W612");
    let end = format!("{}{}", result.stop, if missed { ", best known value not reached" } else { "" });
    let style = match result.stop {
        _ if missed => WARN,
        Status::Finished(StopReason::Target | StopReason::Agreed | StopReason::Exhausted) => GOOD,
        Status::Finished(StopReason::Flat | StopReason::Collapsed) => PLAIN,
        _ => WARN,
    };
    let (generations, seconds) = (counted(result.generations, "generation"), result.times.seconds);
    line(out, "end", format_args!("{style}{end}{style:#} after {generations}, {seconds:.2} s"))?;
    Ok(out.flush()?)
}

/// The lower searches and the ranking model of a published method, which does not restart.
fn parts(out: &mut impl Write, result: &RunResult, by_solver: bool) -> anyhow::Result<()> {
    let searches = &result.lower_searches;
    let (run, skipped, more) = (grouped(searches.run), grouped(searches.skipped), grouped(searches.resampled));
    if by_solver && searches.skipped > 0 {
        line(out, "decisions", format_args!("{run} asked about, {skipped} skipped by their rank, {more} resampled"))?;
    } else if searches.run > 0 && !by_solver {
        let refining = grouped(result.evaluations.refine_lower);
        line(out, "searches", format_args!("{run} run, {skipped} skipped, {more} candidates resampled"))?;
        line(out, "refinement", format_args!("{refining} of the lower evaluations"))?;
    }
    if let Some(accuracy) = result.model_accuracy {
        let percent = 100.0 * accuracy;
        let trainings = counted(result.trainings, "training");
        line(out, "model", format_args!("ordered {percent:.0}% of pairs correctly, {trainings}"))?;
    }
    Ok(())
}

fn solution(out: &mut impl Write, engine: &Engine, result: &RunResult) -> anyhow::Result<()> {
    let (Some(x), Some(y)) = (&result.x(), &result.y()) else {
        line(out, "F", "no answer")?;
        return Ok(());
    };
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let (upper_value, lower_value) = (number(result.upper_value()), number(result.lower_value()));
    let known = engine.spec().nearest_known(upper_value, lower_value);
    let off = |distance: Option<f64>, best: Option<f64>| match (distance, best) {
        (Some(distance), Some(best)) => format!("  ({} from the best known {})", short(distance), best_known(best)),
        _ => String::new(),
    };
    let accuracy = result.accuracy;
    let upper = off(accuracy.map(|a| a.upper), known.map(|k| k.upper));
    let lower = off(accuracy.and_then(|a| a.lower), known.and_then(|k| k.lower));
    line(out, "F", format_args!("{}{upper}", short(upper_value)))?;
    // The follower's own solver need not report f.
    if !lower_value.is_nan() {
        line(out, "f", format_args!("{}{lower}", short(lower_value)))?;
    }
    let names = result.names.as_ref();
    line(out, "x", point(names.map(|names| &names.x[..]), x))?;
    line(out, "y", point(names.map(|names| &names.y[..]), y))?;
    let (upper, lower) = (number(result.upper_violation()), number(result.lower_violation()));
    let style = if upper > 0.0 || lower > 0.0 { WARN } else { PLAIN };
    line(out, "violation", format_args!("{style}{} upper, {} lower{style:#}", short(upper), short(lower)))?;
    Ok(())
}
