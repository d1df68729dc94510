//! The leader's side, judged with the follower's answers: decisions that run off to a corner of the
//! box, and constraints that no answer meets.

use super::directions::{answer, opposite, words};
use super::samples::Probe;
use super::{Part, Remarks};
use bilevo_core::problem::{BestKnown, Direction, Level};
use bilevo_core::space::Variable;

/// Corners of the box, decisions drawn from it, and steps from the best of them.
const CORNERS: usize = 16;
const DRAWS: usize = 30;
const STEPS: usize = 60;

/// A decision with the follower's answer to it.
struct Judged {
    x: Vec<f64>,
    y: Vec<f64>,
    constraints: Vec<f64>,
    /// Violation first, then the objective, minimised.
    key: (f64, f64),
}

pub(super) fn check(probe: &mut Probe, remarks: &mut Remarks) {
    if probe.effort.steps == 0 {
        return;
    }
    let direction = probe.spec.upper.direction;
    let Some((stated, typical)) = search(probe, direction) else { return };
    if stated.key.0 > 0.0 {
        // Equations are met by chance only, so coming much closer than a draw is enough.
        if stated.key.0 > 0.05 * typical {
            unmet(probe, remarks, &stated);
        }
        return;
    }
    // Whoever states an optimum as good as the corner (which is a rough one) has thought of it.
    let is_known = |best: &BestKnown| {
        let known = direction.flip(best.upper);
        known <= stated.key.1 + 0.05 * known.abs().max(1.0)
    };
    if probe.spec.best_known.iter().any(is_known) {
        return;
    }
    let Some((other, _)) = search(probe, opposite(direction)) else { return };
    if in_corner(probe, &stated.x) && is_inside(probe, &other.x) {
        let (says, other) = words(direction);
        let message = format!("with `{says}` the leader's best decision is a corner of its box");
        let hint = format!(
            "found at {}; with `{other}` it would lie inside: is the direction right?",
            remarks.point(&stated.x, &stated.y)
        );
        remarks.warn(Part::Objective(Level::Upper), message, hint);
    }
}

/// The best decision in a direction by random steps, and the violation that half of the draws exceed.
fn search(probe: &mut Probe, direction: Direction) -> Option<(Judged, f64)> {
    let mut best: Option<Judged> = None;
    let mut violations = Vec::new();
    let mut scale = 0.3;
    // Where a corner is as good as anything else it counts, so corners come first.
    for step in 0..CORNERS + DRAWS + STEPS {
        let drawn = step < CORNERS + DRAWS;
        let x = match &best {
            _ if step < CORNERS => corner(probe, step),
            Some(best) if !drawn => {
                let x = best.x.clone();
                probe.near(Level::Upper, &x, scale)
            }
            _ => probe.draw(Level::Upper),
        };
        let Some(judged) = judge(probe, x, direction) else { continue };
        if drawn {
            violations.push(judged.key.0);
        }
        let better = best.as_ref().is_none_or(|best| judged.key < best.key);
        if !drawn {
            scale *= if better { 1.7 } else { 0.9 };
        }
        if better {
            best = Some(judged);
        }
    }
    violations.sort_by(f64::total_cmp);
    Some((best?, violations.get(violations.len() / 2).copied().unwrap_or(0.0)))
}

/// A corner of the leader's box by its number: the lowest bits say which ends, of the first variables.
fn corner(probe: &Probe, number: usize) -> Vec<f64> {
    let end = |(index, v): (usize, Variable)| {
        // Beyond the bits of the number, the ends repeat.
        if number >> (index % CORNERS.ilog2() as usize) & 1 == 0 { v.low } else { v.high }
    };
    probe.spec.upper.space.iter().enumerate().map(end).collect()
}

fn judge(probe: &mut Probe, x: Vec<f64>, direction: Direction) -> Option<Judged> {
    let y = answer(probe, &x, probe.spec.lower.direction)?;
    let seen = probe.at(Level::Upper, &x, &y);
    if !seen.value.is_finite() || seen.constraints.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let key = (probe.spec.violation(Level::Upper, &seen.constraints), direction.flip(seen.value));
    Some(Judged { x, y, constraints: seen.constraints, key })
}

/// The leader's constraints are met by points, but by none that the follower answers with.
fn unmet(probe: &Probe, remarks: &mut Remarks, closest: &Judged) {
    let inequalities = probe.spec.upper.inequalities;
    let miss = |(number, value): (usize, &f64)| (number, if number < inequalities { *value } else { value.abs() });
    let worst = closest.constraints.iter().enumerate().map(miss).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((number, miss)) = worst else { return };
    let part = Part::Constraint(Level::Upper, number);
    // Nothing at all meets it: that has been said.
    if remarks.has(part) {
        return;
    }
    let message = format!(
        "no decision was found to which the follower's answer meets the constraint; the closest misses it by {miss:.4}"
    );
    let hint = format!(
        "the closest is {}; is the sign reversed, or should the follower meet it?",
        remarks.point(&closest.x, &closest.y)
    );
    remarks.warn(part, message, hint);
}

fn in_corner(probe: &Probe, x: &[f64]) -> bool {
    x.iter().zip(probe.spec.upper.space.iter()).all(|(&x, v)| x == v.low || x == v.high)
}

/// Whether no variable is near an end of its box.
fn is_inside(probe: &Probe, x: &[f64]) -> bool {
    const MARGIN: f64 = 0.02;
    let inside = |(x, v): (&f64, Variable)| (x - v.low).min(v.high - x) > MARGIN * v.width();
    x.iter().zip(probe.spec.upper.space.iter()).all(inside)
}
