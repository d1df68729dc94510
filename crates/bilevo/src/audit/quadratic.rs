//! The small problem inside each step of the local search: a convex quadratic within a box under
//! linear constraints.

use super::local::linear;

/// g'd + d'Bd/2 over low <= d <= high, subject to constraints.
#[derive(Clone, Debug)]
pub(super) struct Quadratic {
    pub(super) slope: Vec<f64>,
    pub(super) hessian: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) constraints: Vec<Constraint>,
}

/// value + slope'd <= 0, or = 0.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    pub(super) value: f64,
    pub(super) slope: Vec<f64>,
    pub(super) equality: bool,
}

/// Rounds of multiplier updates, and sweeps over the coordinates in each.
const ROUNDS: usize = 200;
const SWEEPS: usize = 100;

impl Quadratic {
    /// The minimiser and the multipliers of the constraints, by the augmented Lagrangian with exact minimisation
    /// along one coordinate after another. If the constraints cannot all be met, they are met as closely as possible.
    pub(super) fn minimise(&self, multipliers: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.slope.len();
        let mut d: Vec<f64> = (0..n).map(|i| 0.0_f64.clamp(self.low[i], self.high[i])).collect();
        let curvature = (0..n).fold(0.0_f64, |most, i| most.max(self.hessian[i * n + i])).max(1e-12);
        let weights: Vec<f64> = self
            .constraints
            .iter()
            .map(|constraint| 10.0 * curvature / linear(&constraint.slope, &constraint.slope).max(1e-12))
            .collect();
        let mut multipliers: Vec<f64> =
            self.constraints.iter().zip(multipliers).map(|(c, &m)| if c.equality { m } else { m.max(0.0) }).collect();
        for _ in 0..ROUNDS {
            for _ in 0..SWEEPS {
                if self.sweep(&mut d, &multipliers, &weights) < 1e-14 {
                    break;
                }
            }
            let mut change = 0.0_f64;
            for ((constraint, multiplier), weight) in self.constraints.iter().zip(&mut multipliers).zip(&weights) {
                let raw = *multiplier + weight * constraint.at(&d);
                let new = if constraint.equality { raw } else { raw.max(0.0) };
                change = change.max((new - *multiplier).abs() / weight);
                *multiplier = new;
            }
            if change < 1e-13 {
                break;
            }
        }
        (d, multipliers)
    }

    /// Minimises along each coordinate once; returns the longest move.
    fn sweep(&self, d: &mut [f64], multipliers: &[f64], weights: &[f64]) -> f64 {
        let n = d.len();
        let mut longest = 0.0_f64;
        for i in 0..n {
            let mut slope = self.slope[i] + linear(&self.hessian[i * n..(i + 1) * n], d);
            let mut bend = self.hessian[i * n + i];
            for ((constraint, multiplier), weight) in self.constraints.iter().zip(multipliers).zip(weights) {
                let pull = multiplier + weight * constraint.at(d);
                if constraint.equality || pull > 0.0 {
                    slope += pull * constraint.slope[i];
                    bend += weight * constraint.slope[i] * constraint.slope[i];
                }
            }
            let to = (d[i] - slope / bend.max(1e-300)).clamp(self.low[i], self.high[i]);
            if to.is_finite() {
                longest = longest.max((to - d[i]).abs());
                d[i] = to;
            }
        }
        longest
    }
}

impl Constraint {
    fn at(&self, d: &[f64]) -> f64 {
        self.value + linear(&self.slope, d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn box_and_constraints() {
        // (d0 - 1)^2 + (d1 - 1)^2 with d0 + d1 <= 1 and d0 <= 0.2: (0.2, 0.8), multipliers of the
        // constraint 2 (1 - 0.8) = 0.4.
        let problem = Quadratic {
            slope: vec![-2.0, -2.0],
            hessian: vec![2.0, 0.0, 0.0, 2.0],
            low: vec![-1.0, -1.0],
            high: vec![0.2, 1.0],
            constraints: vec![
                Constraint { value: -1.0, slope: vec![1.0, 1.0], equality: false },
                Constraint { value: -5.0, slope: vec![1.0, 0.0], equality: false },
            ],
        };
        let (d, multipliers) = problem.minimise(&[0.0, 3.0]);
        assert!((d[0] - 0.2).abs() < 1e-9 && (d[1] - 0.8).abs() < 1e-9, "{d:?}");
        assert!((multipliers[0] - 0.4).abs() < 1e-8 && multipliers[1] == 0.0, "{multipliers:?}");
    }

    #[test]
    fn constraints_that_cannot_be_met_are_met_halfway() {
        let at = |value, slope| Constraint { value, slope: vec![slope], equality: true };
        let problem = Quadratic {
            slope: vec![0.0],
            hessian: vec![1.0],
            low: vec![-1.0],
            high: vec![1.0],
            constraints: vec![at(-0.5, 1.0), at(0.5, 1.0)],
        };
        let (d, _) = problem.minimise(&[0.0, 0.0]);
        assert!(d[0].abs() < 1e-6, "{d:?}");
    }
}
