//! What expressions depend on: mixed-up levels, players without influence, unused parts.

use super::{Part, Remarks};
use crate::file::ExpressionProblem;
use crate::file::levels::{Depends, Place};
use bilevo_core::problem::{BilevelProblem, Level};

pub(super) fn check(problem: &ExpressionProblem, remarks: &mut Remarks) {
    influence(problem, remarks);
    for level in [Level::Upper, Level::Lower] {
        constraints(problem, level, remarks);
    }
    unused(problem, remarks);
    fixed(problem, remarks);
}

/// Whether each player's decision matters to the other.
fn influence(problem: &ExpressionProblem, remarks: &mut Remarks) {
    let all = |level: Level| {
        let level = problem.level(level);
        let constraints = level.constraints.iter().map(|(_, depends)| *depends);
        constraints
            .chain([level.objective.1])
            .fold(Depends::default(), |a, b| Depends { upper: a.upper | b.upper, lower: a.lower | b.lower })
    };
    let (leader, follower) = (all(Level::Upper), all(Level::Lower));
    let objective = problem.level(Level::Lower).objective.1;
    if !objective.lower {
        remarks.warn(
            Part::Objective(Level::Lower),
            "the follower's objective does not depend on the follower's variables",
            "so every answer is equally good; are the two levels swapped?",
        );
    }
    if !follower.upper {
        remarks.warn(
            Part::Objective(Level::Lower),
            "the follower does not depend on the leader: neither its objective nor its constraints",
            "so its answer is always the same, and you could solve one level after the other",
        );
    }
    if !leader.lower {
        remarks.warn(
            Part::Objective(Level::Upper),
            "the leader does not depend on the follower: neither its objective nor its constraints",
            "so the follower's answer does not matter; this is an ordinary optimisation problem",
        );
    } else if !problem.level(Level::Upper).objective.1.upper && !problem.level(Level::Upper).objective.1.lower {
        remarks.warn(
            Part::Objective(Level::Upper),
            "the leader's objective is a constant",
            "write what the leader wants",
        );
    }
}

/// Constraints at the wrong level, or without variables. Those of one line are reported once.
fn constraints(problem: &ExpressionProblem, level: Level, remarks: &mut Remarks) {
    let compiled = problem.level(level);
    // The first value of each line, and what its values depend on.
    let mut lines: Vec<Option<(usize, Depends)>> = vec![None; compiled.places.len()];
    for (number, (place, depends)) in compiled.constraints.iter().enumerate() {
        let (_, line) = lines[*place].get_or_insert((number, Depends::default()));
        *line = line.or(*depends);
    }
    for (number, depends) in lines.into_iter().flatten() {
        let part = Part::Constraint(level, number);
        match (level, depends) {
            (_, Depends { upper: false, lower: false }) => {
                remarks.warn(part, "the constraint does not depend on any variable", "it is always met, or never");
            }
            (Level::Lower, Depends { lower: false, .. }) => remarks.warn(
                part,
                "the follower cannot influence this constraint: it depends on the leader's variables only",
                "move it to [upper] if the leader should meet it",
            ),
            (Level::Upper, Depends { upper: false, .. }) => remarks.warn(
                part,
                "the leader's constraint depends on the follower's variables only",
                "fine if the leader has to decide so that the follower's own answer meets it; if it binds the \
                 follower, move it to [lower]",
            ),
            _ => {}
        }
    }
}

/// Variables that have no effect; those declared together are reported once.
fn unused(problem: &ExpressionProblem, remarks: &mut Remarks) {
    let (upper, lower) = (problem.level(Level::Upper), problem.level(Level::Lower));
    let used = upper.used.iter().zip(&lower.used).map(|(above, below)| *above || *below);
    let mut open: Option<(&Place, usize)> = None;
    for (place, used) in upper.variables.iter().chain(&lower.variables).zip(used) {
        open = match (used, open) {
            (true, open) => open,
            (false, Some((first, more))) if first.span == place.span => Some((first, more + 1)),
            (false, before) => {
                remarks.unused_variable(problem, before);
                Some((place, 0))
            }
        };
    }
    remarks.unused_variable(problem, open);
}

/// Variables with a single value; those of one line are reported once.
fn fixed(problem: &ExpressionProblem, remarks: &mut Remarks) {
    for level in [Level::Upper, Level::Lower] {
        let variables = problem.level(level).variables.iter().zip(problem.spec().level(level).space.iter());
        let mut told: Option<&Place> = None;
        for (place, variable) in variables.filter(|(_, variable)| variable.is_fixed()) {
            if told.is_none_or(|told| told.span != place.span) {
                remarks.fixed_variable(problem, place, variable.low);
            }
            told = Some(place);
        }
    }
}
