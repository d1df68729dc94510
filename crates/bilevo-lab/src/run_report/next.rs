//! What to try next.

use super::RunReport;
use bilevo::{Level, Status, StopReason};

/// A variable is at a bound if it is closer than this share of the box.
const AT_BOUND: f64 = 1e-6;

/// Where a variable of the answer lies in its box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It has no known box.
    Unknown,
    Inside,
    Fixed,
    AtLow,
    AtHigh,
}

pub(super) fn place(report: &RunReport<'_>, level: Level, index: usize) -> Place {
    let space = &report.spec.level(level).space;
    // The bounds of the follower's own solver are unknown.
    if index >= space.dim() {
        return Place::Unknown;
    }
    let (variable, value) = (space.variable(index), report.point(level)[index]);
    let near = AT_BOUND * variable.closed(None).width();
    match () {
        () if variable.is_fixed() => Place::Fixed,
        () if value - variable.low <= near => Place::AtLow,
        () if variable.high - value <= near => Place::AtHigh,
        () => Place::Inside,
    }
}

/// Advice, most urgent first.
pub(super) fn advice(report: &RunReport<'_>) -> Vec<String> {
    let result = report.result;
    let mut advice = Vec::new();
    if result.x().is_none() {
        advice.push("No decision could be judged. Check the functions with `bilevo check`.".into());
        return advice;
    }
    let cut_short = matches!(
        result.stop,
        Status::TimeLimit
            | Status::Interrupted
            | Status::Finished(StopReason::UpperBudget | StopReason::LowerBudget | StopReason::Budget)
    );
    if cut_short && !result.success {
        advice.push(
            "The run was cut short. Give it more evaluations or time; a saved run continues where it stopped.".into(),
        );
    }
    if report.is_infeasible() {
        advice
            .push("The answer violates constraints. Look at their values above: can all of them be met at all?".into());
    }
    if result.verification.as_ref().is_some_and(|v| v.corrected > 0) {
        let words = "Rechecks found better answers for the follower during this run, so it may have several local \
                     optima. Repeat the run with another seed, or with more effort (`--effort thorough`).";
        advice.push(words.into());
    }
    if let Some(words) = &report.around.broken_off {
        advice.push(format!("The evaluations around the answer were cut short: {words}."));
    }
    let oracle = report.spec.is_oracle_alone();
    // Nobody wants proof of an answer that cannot be used.
    let usable = !report.is_infeasible();
    if result.audit.is_none() && !oracle && usable {
        advice.push("Check the follower's answer independently: add `--audit` (`audit=True` in Python).".into());
    }
    if oracle && result.success && result.verification.as_ref().is_some_and(|found| found.restarts <= 1) {
        let words = "Only one search was made, and it may have ended at a local optimum: without `--effort quick` or \
                     `local` (`effort=` in Python), the run restarts until its searches agree.";
        advice.push(words.into());
    }
    if usable && result.proof.as_ref().is_some_and(|proof| proof.leader.is_none()) {
        advice.push("`bilevo prove` may be able to prove that no decision is better (`--prove` in a run).".into());
    }
    let space = &report.spec.upper.space;
    let edge: Vec<String> = (0..report.point(Level::Upper).len())
        .filter(|&i| matches!(place(report, Level::Upper, i), Place::AtLow | Place::AtHigh))
        // A choice between two whole numbers has no other values.
        .filter(|&i| !(space.variable(i).is_whole() && space.variable(i).closed(None).width() <= 1.0))
        .map(|i| report.name(Level::Upper, i))
        .collect();
    if !edge.is_empty() {
        let names = edge.join(", ");
        advice.push(format!(
            "The decision lies at the edge of its box ({names}). If the bounds are not real limits, widen them."
        ));
    }
    if advice.is_empty() {
        advice.push("Nothing in particular. Another seed is the cheapest second opinion.".into());
    }
    advice
}
