//! The finding of an audit in words.

use super::{Audit, Ended, Finding, Position, Response, Verdict};

/// The verdict, what a better answer would change, and ties.
pub(super) fn of(audit: &Audit, finding: &Finding<'_>) -> String {
    let mut words = verdict(audit, finding);
    if let Some(ties) = &audit.ties {
        let value = |response: &Response| number(response.upper_value);
        words += &format!(
            "; several answers are equally good for the follower: the leader gets F = {} from the best of them and {} from the worst",
            value(&ties.optimistic),
            value(&ties.pessimistic)
        );
        let counts = match finding.options.position {
            Some(Position::Optimistic) => ", and the best counts",
            Some(Position::Pessimistic) => ", and the worst counts",
            None => ", and nothing decides which counts",
        };
        words += counts;
    }
    match &finding.broken {
        Some(Ended::Interrupted) => words += "; the audit was interrupted",
        Some(Ended::Lost(message)) => words += &format!("; the audit was broken off: {message}"),
        Some(Ended::Budget) | None => {}
    }
    words
}

fn verdict(audit: &Audit, finding: &Finding<'_>) -> String {
    let effort = format!("{} searches and {} evaluations", audit.starts, audit.evaluations.lower);
    match (audit.verdict, &audit.best) {
        (Verdict::Stands, _) => format!("the follower's answer stands: {effort} found no better one"),
        (Verdict::BetterAnswer, Some(best)) => format!(
            "the follower has a better answer: f = {} instead of {}, a gap of {:.3e}; {}",
            best.lower_value,
            finding.solution.lower_value,
            audit.gap.unwrap_or_default(),
            consequence(best, finding)
        ),
        (Verdict::Infeasible, Some(best)) => format!(
            "the follower's answer is infeasible (violation {:.3e}), and others are feasible, as one with f = {}; {}",
            finding.solution.lower_violation,
            best.lower_value,
            consequence(best, finding)
        ),
        (Verdict::NoFeasibleAnswer, Some(best)) => format!(
            "no feasible answer of the follower was found in {effort}; the least violation was {:.3e}",
            best.lower_violation
        ),
        _ => "the audit found nothing out".into(),
    }
}

/// What a better answer would mean to the leader.
fn consequence(best: &Response, finding: &Finding<'_>) -> String {
    let reported = finding.solution.upper_value;
    match best.upper_value {
        None => "what the leader would get with it could not be evaluated".into(),
        Some(value) if (value - reported).abs() <= finding.options.tolerance * reported.abs().max(1.0) => {
            format!("it would not change the leader's F = {reported}")
        }
        Some(value) => format!("with it the leader would get F = {value} instead of {reported}"),
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or("?".into(), |value| value.to_string())
}
