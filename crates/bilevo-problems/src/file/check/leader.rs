//! The leader's constraints at the follower's answers: finds those that no answer meets.

use super::directions::answer;
use super::nearer::project;
use super::samples::Probe;
use super::{Part, Remarks};
use bilevo_core::problem::Level;
use bilevo_core::space::Variable;

/// Corners of the box, random decisions, and steps from the best of them.
const CORNERS: usize = 16;
const DRAWS: usize = 30;
const STEPS: usize = 60;

/// A decision with the follower's answer.
struct Judged {
    x: Vec<f64>,
    y: Vec<f64>,
    constraints: Vec<f64>,
    violation: f64,
}

pub(super) fn check(probe: &mut Probe, remarks: &mut Remarks) {
    // Random steps do not find the answers of a follower with equations.
    if probe.effort.steps == 0 || probe.spec.upper.constraints() == 0 || probe.spec.lower.equalities > 0 {
        return;
    }
    let Some((closest, typical)) = search(probe) else { return };
    // Equations are met only by chance, so coming much closer than a random decision is enough.
    if closest.violation > 0.05 * typical {
        unmet(probe, remarks, &closest);
    }
}

/// The decision whose answer comes closest to meeting the constraints, by random steps, and the median violation of
/// the random decisions.
fn search(probe: &mut Probe) -> Option<(Judged, f64)> {
    let mut best: Option<Judged> = None;
    let mut violations = Vec::new();
    let mut scale = 0.3;
    for step in 0..CORNERS + DRAWS + STEPS {
        let drawn = step < CORNERS + DRAWS;
        let x = match &best {
            _ if step < CORNERS => corner(probe, step),
            // If some pair meets the constraints, the answer to its decision may meet them too.
            Some(best) if step == CORNERS + DRAWS => {
                let start = ((best.x.clone(), best.y.clone()), best.violation);
                project(probe, Level::Upper, start).0.0
            }
            Some(best) if !drawn => {
                let x = best.x.clone();
                probe.near(Level::Upper, &x, scale)
            }
            _ => probe.draw(Level::Upper),
        };
        let Some(judged) = judge(probe, x) else { continue };
        if drawn {
            violations.push(judged.violation);
        }
        let better = best.as_ref().is_none_or(|best| judged.violation < best.violation);
        if !drawn {
            scale *= if better { 1.7 } else { 0.9 };
        }
        if better {
            best = Some(judged);
        }
        if best.as_ref().is_some_and(|best| best.violation <= 0.0) {
            break;
        }
    }
    violations.sort_by(f64::total_cmp);
    Some((best?, violations.get(violations.len() / 2).copied().unwrap_or(0.0)))
}

/// A corner of the leader's box by number: the lowest bits select the ends of the first variables.
fn corner(probe: &Probe, number: usize) -> Vec<f64> {
    let end = |(index, v): (usize, Variable)| {
        // Beyond the bits of the number, the ends repeat.
        if number >> (index % CORNERS.ilog2() as usize) & 1 == 0 { v.low } else { v.high }
    };
    probe.spec.upper.space.iter().enumerate().map(end).collect()
}

fn judge(probe: &mut Probe, x: Vec<f64>) -> Option<Judged> {
    let y = answer(probe, &x, probe.spec.lower.direction)?;
    let seen = probe.at(Level::Upper, &x, &y);
    if !seen.value.is_finite() || seen.constraints.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let violation = probe.spec.violation(Level::Upper, &seen.constraints);
    Some(Judged { x, y, constraints: seen.constraints, violation })
}

/// Some points meet the leader's constraints, but none of the follower's answers does.
fn unmet(probe: &Probe, remarks: &mut Remarks, closest: &Judged) {
    let inequalities = probe.spec.upper.inequalities;
    let miss = |(number, value): (usize, &f64)| (number, if number < inequalities { *value } else { value.abs() });
    let worst = closest.constraints.iter().enumerate().map(miss).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((number, miss)) = worst else { return };
    let part = Part::Constraint(Level::Upper, number);
    // If nothing meets the constraint, that has been reported.
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
