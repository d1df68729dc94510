//! Suspicious directions of the follower: its optimum is always in the same corner of the box, whereas the opposite
//! direction has one inside.

use super::samples::Probe;
use super::{Part, Remarks};
use bilevo_core::problem::{Direction, Level};

/// Number of decisions for which the follower's answer is examined.
const DECISIONS: usize = 12;

pub(super) fn check(probe: &mut Probe, remarks: &mut Remarks) {
    if probe.effort.steps == 0 {
        return;
    }
    let direction = probe.spec.lower.direction;
    let mut corners = [0; 2];
    let mut answers = 0;
    let mut first: Option<Vec<f64>> = None;
    for _ in 0..DECISIONS {
        let x = probe.draw(Level::Upper);
        let stated = answer(probe, &x, direction);
        let opposite = answer(probe, &x, opposite(direction));
        if let (Some(stated), Some(opposite)) = (stated, opposite) {
            answers += 1;
            // A follower that moves between corners responds to the leader, which is probably intended.
            let same = *first.get_or_insert_with(|| stated.clone()) == stated;
            corners[0] += usize::from(same && in_corner(probe, &stated));
            corners[1] += usize::from(is_inside(probe, &x, &opposite));
        }
    }
    if answers >= DECISIONS / 2 && corners == [answers; 2] {
        let (says, other) = words(direction);
        let message = format!("with `{says}` the follower's best answer is always the same corner of its box");
        let hint = format!("with `{other}` it would lie inside; is the direction right, and the box large enough?");
        remarks.warn(Part::Objective(Level::Lower), message, hint);
    }
}

/// The keyword of a direction, and that of the other one.
fn words(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Minimize => ("minimize", "maximize"),
        Direction::Maximize => ("maximize", "minimize"),
    }
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Minimize => Direction::Maximize,
        Direction::Maximize => Direction::Minimize,
    }
}

/// A good answer of the follower to `x` in a direction, by random steps from the best of a few points.
pub(super) fn answer(probe: &mut Probe, x: &[f64], direction: Direction) -> Option<Vec<f64>> {
    let mut best: Option<(Vec<f64>, (f64, f64))> = None;
    let mut scale = 0.3;
    let draws = probe.effort.steps / 8;
    for step in 0..probe.effort.steps {
        let y = match &best {
            Some((y, _)) if step >= draws => {
                let y = y.clone();
                probe.near(Level::Lower, &y, scale)
            }
            _ => probe.draw(Level::Lower),
        };
        let seen = probe.at(Level::Lower, x, &y);
        if !seen.value.is_finite() || seen.constraints.iter().any(|v| !v.is_finite()) {
            continue;
        }
        let key = (probe.spec.violation(Level::Lower, &seen.constraints), direction.flip(seen.value));
        let better = best.as_ref().is_none_or(|(_, before)| key < *before);
        if step >= draws {
            scale *= if better { 1.7 } else { 0.9 };
        }
        if better {
            best = Some((y, key));
        }
    }
    best.filter(|(_, (violation, _))| *violation <= 0.0).map(|(y, _)| y)
}

/// Whether every variable is at an end of its box.
fn in_corner(probe: &Probe, y: &[f64]) -> bool {
    y.iter().zip(probe.spec.lower.space.iter()).all(|(&y, v)| y == v.low || y == v.high)
}

/// Whether points all around are allowed too: neither the box nor a constraint holds it.
fn is_inside(probe: &mut Probe, x: &[f64], y: &[f64]) -> bool {
    const AROUND: usize = 8;
    (0..AROUND).all(|_| {
        let near = probe.near(Level::Lower, y, 1e-3);
        let clamped = near.iter().zip(probe.spec.lower.space.iter()).any(|(&y, v)| y == v.low || y == v.high);
        let seen = probe.at(Level::Lower, x, &near);
        !clamped && probe.spec.violation(Level::Lower, &seen.constraints) <= 0.0
    })
}
