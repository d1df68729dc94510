//! The minimiser of a quadratic under quadratic constraints, within a ball around the origin.
//!
//! Augmented Lagrangian: f + Σ (max(0, λ + ρ c)² − λ²) / 2ρ over inequalities c <= 0, the same
//! without the maximum over equalities; multipliers move to those of the solution, and ρ grows
//! while they do. Inner minimisation by Newton steps on a Hessian made positive definite, shortened
//! until the function falls and drawn back onto the ball. Constraints are scaled to unit slope.

use super::quadratic::Quadratic;
use crate::linalg::cholesky;
use crate::linalg::{add_scaled, dot};

/// Updates of the multipliers.
const OUTER: usize = 14;
/// Newton steps for given multipliers.
const INNER: usize = 15;
/// Tries to shorten a Newton step until the function falls, and the factor of each.
const SHORTENINGS: (usize, f64) = (12, 0.4);
/// Ridge that makes a Hessian positive definite, relative.
const RIDGE: f64 = 1e-7;
/// Distance by which a constraint may be missed.
const MET: f64 = 1e-3;
/// Curvature, relative to the largest of f, below which a direction still counts as bounded.
const FLAT: f64 = 1e-4;

/// A constraint: function <= 0, or = 0.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub(crate) function: Quadratic,
    pub(crate) equality: bool,
}

impl Constraint {
    /// By how much it is violated where the function has this value.
    pub(crate) fn excess(&self, value: f64) -> f64 {
        if self.equality { value.abs() } else { value.max(0.0) }
    }
}

/// A minimiser and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Minimiser {
    /// Where it is.
    pub(crate) step: Vec<f64>,
    /// Largest multiplier of the first constraints, in the units of f for one of violation; none
    /// if the constraints cannot be met together, where multipliers grow without end.
    pub(crate) multiplier: Option<f64>,
    /// Whether it lies within the ball, not on its border.
    pub(crate) interior: bool,
    /// Whether it is a minimum in every direction.
    pub(crate) bounded: bool,
}

/// The augmented Lagrangian at its present multipliers, with the buffers of its minimisation.
struct Lagrangian<'a> {
    objective: &'a Quadratic,
    constraints: &'a [Constraint],
    scales: Vec<f64>,
    multipliers: Vec<f64>,
    rho: f64,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    slope: Vec<f64>,
}

/// Minimises `objective` under `constraints`; multipliers are reported for the first `modelled`
/// of them. None if the arithmetic breaks down.
pub(crate) fn minimise(
    objective: &Quadratic,
    constraints: &[Constraint],
    modelled: usize,
    radius: f64,
) -> Option<Minimiser> {
    let n = objective.gradient.len();
    let curvature =
        |q: &Quadratic| (0..n).map(|i| q.hessian.get(i * n + i).map_or(0.0, |h| h.abs())).fold(0.0, f64::max);
    let steepest = objective.gradient.iter().fold(1e-300_f64, |a, g| a.max(g.abs()));
    let scale = curvature(objective).max(steepest);
    let unit = |c: &Constraint| {
        let slope = dot(&c.function.gradient, &c.function.gradient).sqrt();
        slope.max(0.1 * curvature(&c.function)).max(1e-12)
    };
    let mut lagrangian = Lagrangian {
        objective,
        constraints,
        scales: constraints.iter().map(unit).collect(),
        multipliers: vec![0.0; constraints.len()],
        rho: 10.0 * scale,
        gradient: vec![0.0; n],
        hessian: vec![0.0; n * n],
        slope: vec![0.0; n],
    };
    let mut step = vec![0.0; n];
    for round in 0..if constraints.is_empty() { 1 } else { OUTER } {
        lagrangian.descend(&mut step, radius);
        if lagrangian.move_multipliers(&step) < 1e-10 * scale {
            break;
        }
        if round % 3 == 2 {
            lagrangian.rho *= 4.0;
        }
    }
    if !step.iter().all(|s| s.is_finite()) {
        return None;
    }
    lagrangian.expand(&step);
    let flat = FLAT * curvature(objective).max(1e-300);
    (0..n).for_each(|i| lagrangian.hessian[i * n + i] += flat);
    let price = |k: usize| lagrangian.multipliers[k].abs() / lagrangian.scales[k];
    let missed = |(c, scale): (&Constraint, &f64)| c.excess(c.function.value(&step)) > MET * scale;
    let met = !constraints.iter().zip(&lagrangian.scales).any(missed);
    Some(Minimiser {
        multiplier: met.then(|| (0..modelled).map(price).fold(0.0, f64::max)),
        interior: dot(&step, &step).sqrt() < 0.95 * radius,
        bounded: cholesky::factor(n, &mut lagrangian.hessian),
        step,
    })
}

impl Lagrangian<'_> {
    /// Active constraints with their scale and λ + ρ c at `z`.
    fn active<'b>(&'b self, z: &'b [f64]) -> impl Iterator<Item = (&'b Quadratic, f64, f64)> {
        let parts = self.constraints.iter().zip(&self.scales).zip(&self.multipliers);
        parts.filter_map(move |((constraint, &scale), multiplier)| {
            let pull = multiplier + self.rho * constraint.function.value(z) / scale;
            (constraint.equality || pull > 0.0).then_some((&constraint.function, scale, pull))
        })
    }

    fn value(&self, z: &[f64]) -> f64 {
        self.objective.value(z) + self.active(z).map(|(_, _, pull)| 0.5 * pull * pull / self.rho).sum::<f64>()
    }

    /// Gradient and Hessian at `z`.
    fn expand(&mut self, z: &[f64]) {
        let n = z.len();
        let (mut gradient, mut hessian) = (std::mem::take(&mut self.gradient), std::mem::take(&mut self.hessian));
        let mut slope = std::mem::take(&mut self.slope);
        self.objective.gradient_at(z, &mut gradient);
        hessian.copy_from_slice(&self.objective.hessian);
        for (function, scale, pull) in self.active(z) {
            function.gradient_at(z, &mut slope);
            add_scaled(&mut gradient, pull / scale, &slope);
            for (i, row) in hessian.chunks_exact_mut(n).enumerate() {
                add_scaled(row, self.rho * slope[i] / (scale * scale), &slope);
            }
            add_scaled(&mut hessian, pull / scale, &function.hessian);
        }
        (self.gradient, self.hessian, self.slope) = (gradient, hessian, slope);
    }

    /// Newton steps from `z` until nothing moves.
    fn descend(&mut self, z: &mut Vec<f64>, radius: f64) {
        let n = z.len();
        let mut factor = Vec::new();
        let mut trial = vec![0.0; n];
        for _ in 0..INNER {
            self.expand(z);
            if !cholesky::factor_with_ridge(n, &self.hessian, RIDGE, &mut factor) {
                return;
            }
            self.gradient.iter_mut().for_each(|g| *g = -*g);
            cholesky::solve(n, &factor, &mut self.gradient);
            // Where f is linear a Newton step is as long as numbers are: shortening would not end.
            let longest = 2.0 * radius / dot(&self.gradient, &self.gradient).sqrt();
            if longest < 1.0 {
                self.gradient.iter_mut().for_each(|s| *s *= longest);
            }
            let before = self.value(z);
            let mut length = 1.0;
            let mut moved = 0.0;
            for _ in 0..SHORTENINGS.0 {
                trial.copy_from_slice(z);
                add_scaled(&mut trial, length, &self.gradient);
                let distance = dot(&trial, &trial).sqrt();
                if distance > radius {
                    trial.iter_mut().for_each(|t| *t *= radius / distance);
                }
                if self.value(&trial) <= before {
                    moved = trial.iter().zip(&*z).map(|(t, z)| (t - z) * (t - z)).sum::<f64>().sqrt();
                    std::mem::swap(z, &mut trial);
                    break;
                }
                length *= SHORTENINGS.1;
            }
            if moved.is_nan() || moved <= 1e-9 {
                return;
            }
        }
    }

    /// λ <- λ + ρ c, not below 0 for inequalities; returns the largest change.
    fn move_multipliers(&mut self, z: &[f64]) -> f64 {
        let mut change = 0.0_f64;
        for ((constraint, scale), multiplier) in self.constraints.iter().zip(&self.scales).zip(&mut self.multipliers) {
            let pull = *multiplier + self.rho * constraint.function.value(z) / scale;
            let next = if constraint.equality { pull } else { pull.max(0.0) };
            change = change.max((next - *multiplier).abs());
            *multiplier = next;
        }
        change
    }
}

/// The walls of a box around `y` that a step L w of length `radius` can reach, as constraints on w.
pub(crate) fn walls(y: &[f64], factor: &[f64], bounds: &[(f64, f64)], radius: f64) -> Vec<Constraint> {
    let n = y.len();
    let mut walls = Vec::new();
    for (i, &(low, high)) in bounds.iter().enumerate() {
        let row: Vec<f64> = (0..n).map(|j| if j <= i { factor[i * n + j] } else { 0.0 }).collect();
        let reach = radius * dot(&row, &row).sqrt();
        let wall = |constant: f64, sign: f64| Constraint {
            function: Quadratic { constant, gradient: row.iter().map(|r| sign * r).collect(), hessian: Vec::new() },
            equality: false,
        };
        if y[i] + reach > high {
            walls.push(wall(y[i] - high, 1.0));
        }
        if y[i] - reach < low {
            walls.push(wall(low - y[i], -1.0));
        }
    }
    walls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    fn bowl(centre: &[f64]) -> Quadratic {
        let n = centre.len();
        let mut hessian = vec![0.0; n * n];
        (0..n).for_each(|i| hessian[i * n + i] = 2.0 * (1.0 + i as f64));
        let gradient = (0..n).map(|i| -hessian[i * n + i] * centre[i]).collect();
        Quadratic { constant: 0.0, gradient, hessian }
    }

    fn line(constant: f64, gradient: &[f64], equality: bool) -> Constraint {
        Constraint { function: Quadratic { constant, gradient: gradient.to_vec(), hessian: Vec::new() }, equality }
    }

    fn near(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
    }

    #[test]
    fn a_free_minimum_is_found_at_once() {
        let found = minimise(&bowl(&[0.3, -0.2]), &[], 0, 3.0).unwrap();
        assert!(near(&found.step, &[0.3, -0.2]) && found.interior && found.bounded);
    }

    #[test]
    fn the_ball_holds_a_step() {
        let found = minimise(&bowl(&[30.0, 0.0]), &[], 0, 2.0).unwrap();
        assert!(!found.interior);
        assert!((dot(&found.step, &found.step).sqrt() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn constraints_hold_and_give_their_price() {
        // min (x - 1)² + 2 (y - 1)² with x + y <= 1: x = 1/3, y = 2/3, multiplier 4/3.
        let found = minimise(&bowl(&[1.0, 1.0]), &[line(-1.0, &[1.0, 1.0], false)], 1, 3.0).unwrap();
        assert!(near(&found.step, &[1.0 / 3.0, 2.0 / 3.0]), "{found:?}");
        assert!((found.multiplier.unwrap() - 4.0 / 3.0).abs() < 1e-5);
        // The same as an equality; and an inequality that does not bind.
        let equal = minimise(&bowl(&[1.0, 1.0]), &[line(-1.0, &[1.0, 1.0], true)], 1, 3.0).unwrap();
        assert!(near(&equal.step, &found.step));
        let loose = minimise(&bowl(&[1.0, 1.0]), &[line(-9.0, &[1.0, 1.0], false)], 1, 3.0).unwrap();
        assert!(near(&loose.step, &[1.0, 1.0]) && loose.multiplier == Some(0.0));
    }

    #[test]
    fn linear_functions_end_at_a_corner() {
        // min x + 2 y with x + y >= 1, x <= 0.5, y <= 2: (0.5, 0.5), prices 2 and 1.
        let slope = Quadratic { constant: 0.0, gradient: vec![1.0, 2.0], hessian: vec![-1e-15, 0.0, 0.0, 1e-16] };
        let lines = [line(1.0, &[-1.0, -1.0], false), line(-0.5, &[1.0, 0.0], false), line(-2.0, &[0.0, 1.0], false)];
        let found = minimise(&slope, &lines, 3, 3.0).unwrap();
        assert!(near(&found.step, &[0.5, 0.5]), "{found:?}");
        assert!((found.multiplier.unwrap() - 2.0).abs() < 1e-5 && found.bounded && found.interior);
    }

    #[test]
    fn what_cannot_be_met_has_no_price() {
        let both = [line(1.0, &[1.0, 0.0], false), line(1.0, &[-1.0, 0.0], false)];
        assert_eq!(minimise(&bowl(&[0.0, 0.0]), &both, 2, 3.0).unwrap().multiplier, None);
    }

    #[test]
    fn saddles_are_not_minima() {
        let saddle = Quadratic { constant: 0.0, gradient: vec![0.1, 0.1], hessian: vec![1.0, 0.0, 0.0, -1.0] };
        let found = minimise(&saddle, &[], 0, 1.0).unwrap();
        assert!(!found.bounded && saddle.value(&found.step) < -0.05);
        // A constraint that fixes the falling direction makes it one.
        let held = minimise(&saddle, &[line(0.0, &[0.0, 1.0], true)], 1, 1.0).unwrap();
        assert!(held.bounded && near(&held.step, &[-0.1, 0.0]));
    }

    #[test]
    fn random_bowls_in_boxes_match_clamping_one_coordinate_at_a_time() {
        let mut stream = Streams::new(3).open(Purpose::Start, 0, 0);
        for _ in 0..50 {
            let centre: Vec<f64> = (0..3).map(|_| stream.normal()).collect();
            let bounds = [(-0.5, 0.5); 3];
            let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            let walls = walls(&[0.0; 3], &identity, &bounds, 3.0);
            assert_eq!(walls.len(), 6);
            let found = minimise(&bowl(&centre), &walls, 0, 3.0).unwrap();
            let clamped: Vec<f64> = centre.iter().map(|c| c.clamp(-0.5, 0.5)).collect();
            assert!(near(&found.step, &clamped), "{centre:?} {found:?}");
        }
    }
}
