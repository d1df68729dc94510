//! The finding of an audit in words.

use super::{Audit, Ended, Finding, Position, Response, Verdict};

/// The verdict, what a better answer would change, and ties.
pub(super) fn of(audit: &Audit, finding: &Finding<'_>) -> String {
    let mut words = verdict(audit, finding);
    if let Some(ties) = &audit.ties {
        words += &format!(
            "; several answers are equally good for the follower: the leader gets {} from the best of them and {} from the worst",
            gain(&ties.optimistic),
            gain(&ties.pessimistic)
        );
        let counts = match finding.options.position {
            Some(Position::Optimistic) => ", and the best counts",
            Some(Position::Pessimistic) => ", and the worst counts",
            None => ", and the best counts, as no position says otherwise",
        };
        words += counts;
    }
    match &finding.broken {
        Some(Ended::Interrupted) => words += "; the audit was interrupted",
        Some(Ended::OutOfTime) => words += "; the audit ran out of time",
        Some(Ended::Lost(message)) => words += &format!("; the audit was cut short: {message}"),
        Some(Ended::Budget) | None => {}
    }
    words
}

fn verdict(audit: &Audit, finding: &Finding<'_>) -> String {
    let effort = format!("{} searches and {} evaluations", audit.starts, audit.evaluations.lower);
    match (audit.verdict, &audit.best) {
        (Verdict::Stands, _) if audit.proven => {
            format!("the follower's answer is proven by enumeration of all {} answers", audit.evaluations.lower)
        }
        (Verdict::Stands, _) => format!("the follower's answer stands: {effort} found no better one"),
        (Verdict::BetterAnswer, Some(best)) => format!(
            "the follower has a better answer: f = {} instead of {}, a gap of {:.3e}; {}",
            number(best.lower_value),
            number(finding.solution.lower_value),
            audit.gap.unwrap_or_default(),
            consequence(best, finding)
        ),
        (Verdict::Infeasible, Some(best)) => format!(
            "the follower's answer is infeasible (violation {:.3e}), and others are feasible, such as one with f = {}; {}",
            finding.solution.lower_violation,
            number(best.lower_value),
            consequence(best, finding)
        ),
        (Verdict::NoFeasibleAnswer, Some(best)) => format!(
            "no feasible answer of the follower was found in {effort}; the least violation was {:.3e}",
            best.lower_violation
        ),
        _ => "the audit found nothing".into(),
    }
}

/// What a better answer would mean for the leader.
fn consequence(best: &Response, finding: &Finding<'_>) -> String {
    let reported = finding.solution.upper_value;
    match best.upper_value {
        None => "what the leader would get with it could not be evaluated".into(),
        Some(value) if (value - reported).abs() <= finding.same => {
            format!("it would not change the leader's F = {}", number(reported))
        }
        Some(_) => format!("with it the leader would get {} instead of {}", gain(best), number(reported)),
    }
}

/// What the leader gets from an answer.
fn gain(response: &Response) -> String {
    let value = response.upper_value.map_or("?".into(), number);
    match response.upper_violation {
        Some(violation) if violation > 1e-6 => format!("F = {value} (infeasible, violation {violation:.3e})"),
        _ => format!("F = {value}"),
    }
}

/// A number with seven digits.
fn number(value: f64) -> String {
    let short: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    format!("{short:?}")
}
