//! Whether an answer is good: the one rule behind `success`, the warnings of a result and the exit code.
//!
//! An answer is good if there is no doubt about it: it is feasible at both levels, the follower was rechecked,
//! the search finished (restarts agree or, for a method that does not restart, the search no longer improves) or
//! met its target, and no audit found fault with it. Every doubt becomes a warning.
//!
//! A published method rechecks its follower by refinement: every new elite gets one more lower search with new
//! random numbers. It ends when its elite has not changed for a while, or its distribution has shrunk to a point.

use crate::audit::Audit;
use crate::calibration::Likeness;
use crate::codes;
use crate::prove::{LeaderVerdict, Proof};
use crate::result::{RunResult, Status};
use bilevo_core::Engine;
use bilevo_core::problem::Level;
use bilevo_core::record::StopReason;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A reason to doubt an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// There is no answer: the run ended before its first generation did.
    TooShort,
    /// There is no answer: every evaluation failed at a level.
    AllFailed {
        /// The level.
        level: Level,
        /// Evaluations at that level.
        evaluations: u64,
    },
    /// There is no answer: F failed at every decision for which the follower had an answer.
    NoDecision {
        /// Failed evaluations of both levels.
        failed: u64,
        /// All evaluations.
        evaluations: u64,
    },
    /// The follower has no answer that meets its constraints.
    LowerInfeasible {
        /// The smallest violation found.
        violation: f64,
    },
    /// The follower's answer does not meet the leader's constraints.
    UpperInfeasible {
        /// The smallest violation found.
        violation: f64,
    },
    /// An audit did not confirm the answer.
    Audit {
        /// Its finding.
        words: String,
    },
    /// A proof from the formulas found a better answer of the follower.
    Refuted {
        /// Its finding.
        words: String,
    },
    /// A proof of the leader's value was asked for and did not succeed.
    Unproven {
        /// Its finding.
        words: String,
    },
    /// The follower was not rechecked.
    NotRechecked {
        /// Whether the search for the answer had converged.
        settled: bool,
    },
    /// Test runs that ended in the same way were wrong too often.
    Unlikely {
        /// How often they were right.
        likeness: Likeness,
        /// Whether the run searched another box than the given one, which was far too wide.
        wide: bool,
    },
    /// The follower's own solver gave two different answers to the same decision.
    AnswersDiffer {
        /// By how much, relative to the largest value.
        difference: f64,
    },
    /// Best values lie at an open edge of the box that was searched.
    AtEdge {
        /// The variables.
        names: Vec<String>,
    },
    /// The search was cut short.
    Unfinished {
        /// What ended the run.
        stop: Status,
        /// Whether the method restarts.
        restarts: bool,
    },
    /// The best known optimum is the target and was not reached.
    TargetMissed {
        /// F and f found.
        found: (f64, f64),
        /// F and f known.
        known: (f64, Option<f64>),
    },
}

/// A doubt, as part of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Its stable code ([`codes::WARNINGS`]).
    pub code: String,
    /// What is wrong; after a line break, what to do about it.
    pub message: String,
}

impl From<&Doubt> for Warning {
    fn from(doubt: &Doubt) -> Self {
        Warning { code: codes::warning(doubt).into(), message: doubt.to_string() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// All reasons to doubt the answer of a run; an answer without doubts is good.
pub fn doubts(result: &RunResult, engine: &Engine) -> Vec<Doubt> {
    let Some(solution) = &result.solution else { return vec![no_answer(result)] };
    let tolerance = engine.config().stop.violation_tolerance;
    let mut doubts = Vec::new();
    let (upper, lower) = (solution.upper_violation, solution.lower_violation);
    // The leader's violation may include the follower's.
    if lower > tolerance || lower.is_nan() {
        doubts.push(Doubt::LowerInfeasible { violation: lower });
    } else if upper > tolerance || upper.is_nan() {
        doubts.push(Doubt::UpperInfeasible { violation: upper });
    }
    let audit = result.audit.as_ref();
    if let Some(audit) = audit.filter(|audit| !audit.passed()) {
        doubts.push(Doubt::Audit { words: audit.words.clone() });
    }
    let edges = engine.summary().edges;
    if !edges.is_empty() {
        doubts.push(Doubt::AtEdge { names: edges });
    }
    doubts.extend(engine.summary().answers_differ.map(|difference| Doubt::AnswersDiffer { difference }));
    let proof = result.proof.as_ref();
    if let Some(follower) = proof.and_then(Proof::refuted_answer).filter(|_| audit.is_none_or(Audit::passed)) {
        doubts.push(Doubt::Refuted { words: follower.words(result.names.as_ref()) });
    }
    if result.target_met == Some(true) {
        return doubts;
    }
    if let Some((proof, leader)) = proof.and_then(|proof| Some((proof, proof.leader.as_ref()?)))
        && leader.verdict != LeaderVerdict::Proven
    {
        doubts.push(Doubt::Unproven { words: leader.words(proof.upper_value, result.names.as_ref()) });
    }
    let verification = result.verification.unwrap_or_default();
    // If only the follower's own solver knows y, there is nothing to recheck.
    let searched = !engine.spec().is_oracle_alone();
    let confirmed = audit.is_some_and(Audit::passed) || proof.is_some_and(Proof::is_answer_proven);
    if searched && !verification.rechecked && !confirmed {
        doubts.push(Doubt::NotRechecked { settled: verification.settled });
    }
    let by_itself = proof.is_some_and(Proof::is_value_proven)
        || match result.stop {
            Status::Finished(StopReason::Agreed | StopReason::Exhausted | StopReason::Collapsed) => true,
            // Restarts that find nothing better but do not agree prove little.
            Status::Finished(StopReason::Flat) => verification.restarts == 0 || !searched,
            _ => false,
        };
    if !by_itself && !verification.agreed && result.stop != Status::Finished(StopReason::Target) {
        doubts.push(Doubt::Unfinished { stop: result.stop, restarts: verification.restarts > 0 });
    }
    // If something else refutes the answer, that is enough.
    let unlikely = result.likeness.filter(|likeness| doubts.is_empty() && likeness.is_poor());
    let proven = proof.is_some_and(|proof| proof.is_answer_proven() && proof.is_value_proven());
    let wide = result.searched.is_some();
    doubts.extend(unlikely.filter(|_| !proven).map(|likeness| Doubt::Unlikely { likeness, wide }));
    if result.target_met == Some(false)
        && let Some(known) = engine.spec().nearest_known(solution.upper_value, solution.lower_value)
    {
        let found = (solution.upper_value, solution.lower_value);
        let known = (known.upper, known.lower);
        let stop = &engine.config().stop;
        // If F is flat, x and therefore f may be slightly off. What matters is that y is the follower's answer.
        let verified = confirmed || verification.agreed;
        let reached = is_near(found.0, known.0, stop.target_tolerance)
            && (verified || known.1.is_none_or(|known| is_near(found.1, known, stop.lower_target_tolerance)));
        if !reached {
            doubts.push(Doubt::TargetMissed { found, known });
        }
    }
    doubts
}

/// Whether a value equals a known one, within a tolerance that is relative above 1: known values have a limited
/// number of digits.
fn is_near(found: f64, known: f64, tolerance: f64) -> bool {
    (found - known).abs() <= tolerance * known.abs().max(1.0)
}

fn no_answer(result: &RunResult) -> Doubt {
    let counts = result.evaluations;
    let failed = counts.failed_upper + counts.failed_lower;
    if counts.none_worked(Level::Lower) {
        Doubt::AllFailed { level: Level::Lower, evaluations: counts.lower }
    } else if counts.none_worked(Level::Upper) {
        Doubt::AllFailed { level: Level::Upper, evaluations: counts.upper }
    } else if result.generations > 0 && failed > 0 {
        Doubt::NoDecision { failed, evaluations: counts.total() }
    } else {
        Doubt::TooShort
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::TooShort => f.write_str(
                "there is no answer: the run ended before its first generation did\n\
                 hint: give it more time or a larger budget",
            ),
            Doubt::AllFailed { level, evaluations } => {
                let function = if *level == Level::Upper { "F" } else { "f" };
                write!(
                    f,
                    "there is no answer: all {evaluations} evaluations of {function} failed\n\
                     hint: evaluate it at a point where it should work, and look at the error"
                )
            }
            Doubt::NoDecision { failed, evaluations } => write!(
                f,
                "there is no answer: F could not be evaluated at any decision with its follower's answer; \
                 {failed} of {evaluations} evaluations failed\n\
                 hint: find out why they fail, or leave out the part of the box in which they do"
            ),
            Doubt::LowerInfeasible { violation } => write!(
                f,
                "no decision was found at which the follower has an answer that meets its own constraints; \
                 the smallest violation was {}",
                number(*violation)
            ),
            Doubt::UpperInfeasible { violation } => write!(
                f,
                "no decision was found at which the follower's answer meets the leader's constraints; \
                 the smallest violation was {}",
                number(*violation)
            ),
            Doubt::Audit { words } => write!(f, "audit: {words}"),
            Doubt::Refuted { words } => f.write_str(words),
            Doubt::Unproven { words } => {
                write!(f, "the leader's value is not proven: {words}\nhint: give it more time")
            }
            Doubt::NotRechecked { settled: true } => f.write_str(
                "the follower's answer was searched only once\n\
                 hint: check it with an audit, or give the run a larger budget",
            ),
            Doubt::NotRechecked { settled: false } => f.write_str(
                "the search for the follower's answer was not finished\n\
                 hint: check it with an audit, or give the run a larger budget",
            ),
            Doubt::Unlikely { likeness, wide } => {
                let hint = match wide {
                    true => "solve again with bounds that lie closer around this answer",
                    false => "`--effort thorough` (Python: `effort=\"thorough\"`) searches longer",
                };
                write!(f, "{likeness}: there may be a better answer\nhint: {hint}")
            }
            Doubt::AnswersDiffer { difference } => write!(
                f,
                "the follower's own solver was asked twice about one decision, and its answers differ by \
                 {difference:.1e} of their size\nhint: give it a fixed seed, a fixed start and a tighter tolerance"
            ),
            Doubt::AtEdge { names } => write!(
                f,
                "the best answer lies at an open edge of the box that was searched ({}): the optimum \
                 may lie further out, or there may be none\n\
                 hint: give these variables bounds, or the run a larger budget",
                names.join(", ")
            ),
            Doubt::Unfinished { stop, restarts } => unfinished(f, *stop, *restarts),
            Doubt::TargetMissed { found, known } => {
                let missed = |name: &str, found: f64, known: f64| {
                    format!("{name} = {} is {} from {}", number(found), number((found - known).abs()), number(known))
                };
                write!(f, "the best known optimum was not reached: {}", missed("F", found.0, known.0))?;
                known.1.iter().try_for_each(|lower| write!(f, ", {}", missed("f", found.1, *lower)))
            }
        }
    }
}

fn unfinished(f: &mut fmt::Formatter<'_>, stop: Status, restarts: bool) -> fmt::Result {
    if stop == Status::Finished(StopReason::Flat) {
        return f.write_str(
            "many restarts found nothing better, but too few of them ended at this value: there may be a better answer\n\
             hint: `--effort thorough` (Python: `effort=\"thorough\"`) searches longer",
        );
    }
    let rest = if restarts { "the restarts agreed" } else { "the search converged" };
    match stop {
        Status::Running => return f.write_str("the run has not ended"),
        Status::Interrupted => write!(f, "the run was interrupted before {rest}")?,
        Status::Observer => write!(f, "the run was stopped before {rest}")?,
        Status::TimeLimit => write!(f, "the time ran out before {rest}")?,
        Status::Finished(StopReason::UpperBudget) => write!(f, "the upper budget was spent before {rest}")?,
        Status::Finished(StopReason::LowerBudget) => write!(f, "the lower budget was spent before {rest}")?,
        Status::Finished(StopReason::Budget) => write!(f, "the budget was spent before {rest}")?,
        Status::Finished(reason) => write!(f, "the run ended before {rest}: {reason}")?,
    }
    f.write_str(": there may be a better answer\nhint: ")?;
    f.write_str(if stop == Status::TimeLimit { "give it more time" } else { "give it a larger budget" })
}

/// A number with four digits.
fn number(value: f64) -> String {
    let short: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    format!("{short:?}")
}
