//! Moves points closer to meeting the constraints of a level. Random steps hardly ever meet equations in many
//! variables, but projections do.

use super::samples::Probe;
use bilevo_core::problem::Level;
use bilevo_core::space::Variable;

/// A point (x, y) and its violation.
pub(super) type Nearer = ((Vec<f64>, Vec<f64>), f64);

/// Sweeps of projections, and rounds over the constraints in each.
const SWEEPS: usize = 12;
const ROUNDS: usize = 60;
/// Step of the finite differences, as a share of the box.
const DIFFERENCE: f64 = 1e-6;

/// Projects a point onto the linearised constraints of a level, one after another, as long as that helps.
pub(super) fn project(probe: &mut Probe, level: Level, start: Nearer) -> Nearer {
    let mut best = start;
    for _ in 0..SWEEPS {
        if best.1 <= 0.0 {
            break;
        }
        let Some(point) = sweep(probe, level, &best.0) else { break };
        let seen = probe.at(level, &point.0, &point.1);
        let violation = probe.spec.violation(level, &seen.constraints);
        let sound = seen.failure.is_none() && seen.constraints.iter().all(|v| v.is_finite());
        if !sound || violation >= best.1 {
            break;
        }
        best = (point, violation);
    }
    best
}

/// One linearisation; `None` if the constraints have no slope there.
fn sweep(probe: &mut Probe, level: Level, (x, y): &(Vec<f64>, Vec<f64>)) -> Option<(Vec<f64>, Vec<f64>)> {
    let here = probe.at(level, x, y).constraints;
    let variables: Vec<Variable> = probe.spec.upper.space.iter().chain(probe.spec.lower.space.iter()).collect();
    let start: Vec<f64> = x.iter().chain(y).copied().collect();
    let m = x.len();
    // Slopes by the variables in units of their boxes, one row for each variable.
    let mut slopes = Vec::new();
    for (i, v) in variables.iter().enumerate() {
        let mut moved = start.clone();
        moved[i] += if start[i] > v.middle() { -DIFFERENCE } else { DIFFERENCE } * v.width();
        let step = (moved[i] - start[i]) / v.width();
        let there = probe.at(level, &moved[..m], &moved[m..]).constraints;
        let slope = |(a, b): (&f64, &f64)| if step == 0.0 { 0.0 } else { (b - a) / step };
        slopes.push(here.iter().zip(&there).map(slope).collect::<Vec<f64>>());
    }
    let (inequalities, tolerance) = (probe.spec.level(level).inequalities, probe.spec.equality_tolerance);
    let mut at = start.clone();
    for round in 0..ROUNDS * here.len() {
        let c = round % here.len();
        let moved = |i: usize| (at[i] - start[i]) / variables[i].width();
        let value = here[c] + (0..at.len()).map(|i| slopes[i][c] * moved(i)).sum::<f64>();
        let is_met = if c < inequalities { value <= 0.0 } else { value.abs() <= 0.1 * tolerance };
        let square: f64 = slopes.iter().map(|slope| slope[c] * slope[c]).sum();
        if !is_met && square > 0.0 {
            for (i, v) in variables.iter().enumerate() {
                at[i] = v.nearest(at[i] - value * slopes[i][c] / square * v.width());
            }
        }
    }
    (at != start && at.iter().all(|v| v.is_finite())).then(|| (at[..m].to_vec(), at[m..].to_vec()))
}
