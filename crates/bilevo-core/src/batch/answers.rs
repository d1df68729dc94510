//! Answers in the form that algorithms read, and the one place where answers of user code are checked.

use crate::oracle::OracleAnswer;
use crate::problem::{Failure, FailureKind, Level, Outcome, ProblemSpec};

/// Outcomes with their constraint values, point by point: what algorithms see of [`Replies`](super::Replies).
#[derive(Clone, Copy, Debug)]
pub struct Answers<'a> {
    /// Minimised values and summed violations.
    pub outcomes: &'a [Outcome],
    pub(crate) constraints: &'a [f64],
    pub(crate) width: usize,
    /// For decisions: the answers of the follower's own solver.
    pub given: &'a [OracleAnswer],
}

impl<'a> Answers<'a> {
    /// Answers of a level without constraints, or answers of which only the summed violations are needed.
    pub fn without_constraints(outcomes: &'a [Outcome]) -> Self {
        Answers { outcomes, constraints: &[], width: 0, given: &[] }
    }

    /// The first `len` answers.
    pub(crate) fn first(self, len: usize) -> Self {
        let constraints = &self.constraints[..(len * self.width).min(self.constraints.len())];
        Answers { outcomes: &self.outcomes[..len], constraints, given: &self.given[..len], ..self }
    }

    /// Constraint values of one answer, inequalities first; empty if there are none, NaN if the
    /// evaluation failed.
    pub fn constraints(&self, index: usize) -> &'a [f64] {
        self.constraints.get(index * self.width..(index + 1) * self.width).unwrap_or_default()
    }
}

/// Turns one answer of user code into an [`Outcome`].
///
/// # Errors
/// A wrong number of constraint values, or a value that is not finite.
#[inline]
pub fn check_reply(spec: &ProblemSpec, level: Level, value: f64, constraints: &[f64]) -> Result<Outcome, Failure> {
    let level_spec = spec.level(level);
    let expected = level_spec.constraints();
    if constraints.len() != expected || !value.is_finite() || !constraints.iter().all(|c| c.is_finite()) {
        return Err(refusal(level, expected, value, constraints));
    }
    let violation = if expected == 0 { 0.0 } else { spec.violation(level, constraints) };
    Ok(Outcome { value: level_spec.direction.flip(value), violation })
}

/// What is wrong with an answer that cannot be used.
#[cold]
fn refusal(level: Level, expected: usize, value: f64, constraints: &[f64]) -> Failure {
    if constraints.len() != expected {
        let message =
            format!("the {level} level returned {} constraint values instead of {expected}", constraints.len());
        return Failure::new(FailureKind::WrongShape, message);
    }
    let message = match constraints.iter().enumerate().find(|(_, c)| !c.is_finite()) {
        Some((index, c)) if value.is_finite() => format!("{level} constraint {index} is {c}"),
        _ => format!("the {level} objective is {value}"),
    };
    Failure::new(FailureKind::NotFinite, message)
}
