//! A local search with finite differences: sequential quadratic programming within a trust region, for objectives and
//! constraints that are smooth near their optimum.
//!
//! All variables are scaled to [0, 1]. Each step minimises a quadratic model of the Lagrangian (damped BFGS) under
//! linearised constraints, and is judged by the exact penalty f + sum rho_i |violation_i|, where rho_i is at least
//! twice the multiplier. A step that fails only because constraints are curved is corrected once.

use super::quadratic::{Constraint, Quadratic};

/// Objective and constraint values at a point; inequalities `<= 0` first, then equalities.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) value: f64,
    pub(super) constraints: Vec<f64>,
}

/// Evaluates points; `None` if an evaluation failed.
pub(super) type Evaluate<'a, E> = &'a mut dyn FnMut(&[Vec<f64>]) -> Result<Vec<Option<Row>>, E>;

/// Half the distance of the points for finite differences.
const DIFFERENCE: f64 = 1e-5;
/// Shorter steps count as zero.
const SHORTEST: f64 = 1e-10;

/// A local search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    /// The constraints from here on are equalities.
    pub(super) inequalities: usize,
    /// Initial trust radius.
    pub(super) radius: f64,
    /// Maximum number of steps.
    pub(super) steps: usize,
}

struct State {
    u: Vec<f64>,
    row: Row,
    radius: f64,
    penalties: Vec<f64>,
    multipliers: Vec<f64>,
    hessian: Vec<f64>,
}

/// Derivatives at a point: of the objective, then of each constraint.
struct Slopes(Vec<Vec<f64>>);

impl Local {
    /// Moves from `u`, with values `row`, to a point that is no worse.
    ///
    /// # Errors
    /// As `evaluate`.
    pub(super) fn search<E>(self, u: Vec<f64>, row: Row, evaluate: Evaluate<'_, E>) -> Result<(Vec<f64>, Row), E> {
        let n = u.len();
        let count = row.constraints.len();
        let mut state = State {
            u,
            row,
            radius: self.radius,
            penalties: vec![1.0; count],
            multipliers: vec![0.0; count],
            hessian: Vec::new(),
        };
        let mut last: Option<(Vec<f64>, Slopes)> = None;
        for _ in 0..self.steps {
            let Some(slopes) = differences(&state.u, &state.row, evaluate)? else { break };
            match &last {
                None => state.hessian = first_hessian(&slopes, n),
                Some((from, before)) => state.learn(from, before, &slopes),
            }
            let from = state.u.clone();
            if !self.step(&mut state, &slopes, evaluate)? {
                break;
            }
            last = Some((from, slopes));
        }
        Ok((state.u, state.row))
    }

    /// Takes one step that improves, with ever smaller radius; returns whether there was one.
    fn step<E>(self, state: &mut State, slopes: &Slopes, evaluate: Evaluate<'_, E>) -> Result<bool, E> {
        loop {
            let (step, multipliers) = self.model(state, slopes, &state.row.constraints).minimise(&state.multipliers);
            let length = step.iter().fold(0.0_f64, |length, d| length.max(d.abs()));
            if length < SHORTEST || state.radius < SHORTEST {
                return Ok(false);
            }
            for (penalty, multiplier) in state.penalties.iter_mut().zip(&multipliers) {
                *penalty = penalty.max(2.0 * multiplier.abs());
            }
            let before = self.merit(state, &state.row);
            let predicted = before - self.predicted(state, slopes, &step);
            let trial = moved(&state.u, &step);
            let mut better = self.judge(state, trial.clone(), before, predicted, evaluate)?;
            if better.as_ref().is_some_and(|(_, _, ratio)| *ratio < 0.1) && !multipliers.is_empty() {
                // The constraints' own curvature, seen at the end of the step.
                let curved: Vec<f64> = better
                    .iter()
                    .flat_map(|(_, row, _)| &row.constraints)
                    .enumerate()
                    .map(|(i, c)| c - linear(&slopes.0[i + 1], &step))
                    .collect();
                let (step, _) = self.model(state, slopes, &curved).minimise(&multipliers);
                better = self.judge(state, moved(&state.u, &step), before, predicted, evaluate)?;
            }
            state.multipliers = multipliers;
            match better {
                Some((u, row, ratio)) if ratio >= 0.1 && predicted > 0.0 => {
                    (state.u, state.row) = (u, row);
                    state.radius = if ratio > 0.7 { state.radius.max(2.0 * length) } else { state.radius }.min(1.0);
                    return Ok(true);
                }
                _ => state.radius = (0.3 * state.radius).min(0.5 * length),
            }
        }
    }

    /// Evaluates a trial point; returns its share of the predicted gain.
    fn judge<E>(
        self,
        state: &State,
        trial: Vec<f64>,
        before: f64,
        predicted: f64,
        evaluate: Evaluate<'_, E>,
    ) -> Result<Option<(Vec<f64>, Row, f64)>, E> {
        let Some(row) = evaluate(std::slice::from_ref(&trial))?.pop().flatten() else { return Ok(None) };
        let ratio = (before - self.merit(state, &row)) / predicted.max(f64::MIN_POSITIVE);
        Ok(Some((trial, row, ratio)))
    }

    fn model(self, state: &State, slopes: &Slopes, constraints: &[f64]) -> Quadratic {
        let constraint = |(i, value): (usize, &f64)| Constraint {
            value: *value,
            slope: slopes.0[i + 1].clone(),
            equality: i >= self.inequalities,
        };
        Quadratic {
            slope: slopes.0[0].clone(),
            hessian: state.hessian.clone(),
            low: state.u.iter().map(|u| (-u).max(-state.radius)).collect(),
            high: state.u.iter().map(|u| (1.0 - u).min(state.radius)).collect(),
            constraints: constraints.iter().enumerate().map(constraint).collect(),
        }
    }

    fn merit(self, state: &State, row: &Row) -> f64 {
        row.value + self.penalty(state, row.constraints.iter().copied())
    }

    fn penalty(self, state: &State, constraints: impl Iterator<Item = f64>) -> f64 {
        let excess = |(i, c): (usize, f64)| if i < self.inequalities { c.max(0.0) } else { c.abs() };
        constraints.enumerate().map(excess).zip(&state.penalties).map(|(excess, penalty)| excess * penalty).sum()
    }

    /// The merit that the model predicts after a step.
    fn predicted(self, state: &State, slopes: &Slopes, step: &[f64]) -> f64 {
        let n = step.len();
        let bend: f64 = (0..n).map(|i| step[i] * linear(&state.hessian[i * n..(i + 1) * n], step)).sum();
        let constraints = state.row.constraints.iter().zip(&slopes.0[1..]).map(|(c, slope)| c + linear(slope, step));
        state.row.value + linear(&slopes.0[0], step) + 0.5 * bend + self.penalty(state, constraints)
    }
}

impl State {
    /// Damped BFGS update of the Lagrangian's Hessian by the last step.
    fn learn(&mut self, from: &[f64], before: &Slopes, now: &Slopes) {
        let n = from.len();
        let s: Vec<f64> = self.u.iter().zip(from).map(|(u, from)| u - from).collect();
        let mut y: Vec<f64> =
            (0..n).map(|i| now.lagrangian(i, &self.multipliers) - before.lagrangian(i, &self.multipliers)).collect();
        let bs: Vec<f64> = (0..n).map(|i| linear(&self.hessian[i * n..(i + 1) * n], &s)).collect();
        let (sbs, sy) = (linear(&s, &bs), linear(&s, &y));
        if sbs <= 0.0 || !sbs.is_finite() {
            return;
        }
        if sy < 0.2 * sbs {
            let theta = 0.8 * sbs / (sbs - sy);
            y.iter_mut().zip(&bs).for_each(|(y, bs)| *y = theta * *y + (1.0 - theta) * bs);
        }
        let sy = linear(&s, &y);
        for i in 0..n {
            for j in 0..n {
                let change = y[i] * y[j] / sy - bs[i] * bs[j] / sbs;
                if change.is_finite() {
                    self.hessian[i * n + j] += change;
                }
            }
        }
    }
}

impl Slopes {
    fn lagrangian(&self, i: usize, multipliers: &[f64]) -> f64 {
        self.0[0][i] + self.0[1..].iter().zip(multipliers).map(|(slope, multiplier)| multiplier * slope[i]).sum::<f64>()
    }
}

/// A round Hessian for which a steepest-descent step has a sensible length for the box.
fn first_hessian(slopes: &Slopes, n: usize) -> Vec<f64> {
    let scale = slopes.0[0].iter().fold(1e-6_f64, |scale, slope| scale.max(slope.abs()));
    (0..n * n).map(|at| if at % (n + 1) == 0 { scale } else { 0.0 }).collect()
}

/// Derivatives of everything at `u`, from finite differences, central inside the box; `None` if too many evaluations
/// fail.
fn differences<E>(u: &[f64], row: &Row, evaluate: Evaluate<'_, E>) -> Result<Option<Slopes>, E> {
    // Offsets of two points and the weights of their values and the one in the middle.
    let scheme = |u: f64| {
        let h = DIFFERENCE;
        if u - h < 0.0 {
            [(h, 2.0 / h), (2.0 * h, -0.5 / h), (0.0, -1.5 / h)]
        } else if u + h > 1.0 {
            [(-h, -2.0 / h), (-2.0 * h, 0.5 / h), (0.0, 1.5 / h)]
        } else {
            [(h, 0.5 / h), (-h, -0.5 / h), (0.0, 0.0)]
        }
    };
    let shifted = |i: usize, by: f64| {
        let mut point = u.to_vec();
        point[i] += by;
        point
    };
    let points: Vec<Vec<f64>> = (0..u.len())
        .flat_map(|i| scheme(u[i])[..2].iter().map(move |(by, _)| shifted(i, *by)).collect::<Vec<_>>())
        .collect();
    let Some(rows) = evaluate(&points)?.into_iter().collect::<Option<Vec<Row>>>() else { return Ok(None) };
    let outputs = 1 + row.constraints.len();
    let output = |row: &Row, k: usize| if k == 0 { row.value } else { row.constraints[k - 1] };
    let slope = |k: usize, i: usize| {
        let [(_, a), (_, b), (_, middle)] = scheme(u[i]);
        a * output(&rows[2 * i], k) + b * output(&rows[2 * i + 1], k) + middle * output(row, k)
    };
    Ok(Some(Slopes((0..outputs).map(|k| (0..u.len()).map(|i| slope(k, i)).collect()).collect())))
}

fn moved(u: &[f64], step: &[f64]) -> Vec<f64> {
    u.iter().zip(step).map(|(u, d)| (u + d).clamp(0.0, 1.0)).collect()
}

pub(super) fn linear(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Searches from `start`; returns the end and the number of evaluations.
    fn search(inequalities: usize, start: &[f64], f: impl Fn(&[f64]) -> (f64, Vec<f64>)) -> (Vec<f64>, Row, usize) {
        let mut evaluations = 0;
        let row = |u: &Vec<f64>| {
            let (value, constraints) = f(u);
            Row { value, constraints }
        };
        let mut evaluate = |points: &[Vec<f64>]| -> Result<Vec<Option<Row>>, Infallible> {
            evaluations += points.len();
            assert!(points.iter().flatten().all(|u| (0.0..=1.0).contains(u)), "outside: {points:?}");
            Ok(points.iter().map(|u| Some(row(u))).collect())
        };
        let local = Local { inequalities, radius: 0.2, steps: 200 };
        let Ok((u, end)) = local.search(start.to_vec(), row(&start.to_vec()), &mut evaluate);
        (u, end, evaluations)
    }

    #[test]
    fn a_curved_valley() {
        // Rosenbrock on [-2, 2]^2, optimum at 0.75.
        let (u, end, evaluations) = search(0, &[0.2, 0.75], |u| {
            let (a, b) = (4.0 * u[0] - 2.0, 4.0 * u[1] - 2.0);
            ((1.0 - a).powi(2) + 100.0 * (b - a * a).powi(2), vec![])
        });
        assert!(end.value < 1e-12 && (u[0] - 0.75).abs() < 1e-6, "{u:?} {end:?}");
        assert!(evaluations < 600, "{evaluations}");
    }

    #[test]
    fn an_optimum_on_the_bounds() {
        let (u, ..) = search(0, &[0.5, 0.5, 0.5], |u| (u[0] - 2.0 * u[1] + (u[2] - 0.3).powi(2), vec![]));
        assert!(u[0] == 0.0 && u[1] == 1.0 && (u[2] - 0.3).abs() < 1e-8, "{u:?}");
    }

    #[test]
    fn a_curved_equality() {
        // On the circle around the corner with radius 0.5, as far along both axes as possible.
        let (u, end, _) = search(0, &[0.9, 0.1], |u| (-u[0] - u[1], vec![u[0] * u[0] + u[1] * u[1] - 0.25]));
        let best = 0.5 * std::f64::consts::FRAC_1_SQRT_2;
        assert!((u[0] - best).abs() < 1e-6 && end.constraints[0].abs() < 1e-9, "{u:?} {end:?}");
    }

    #[test]
    fn equalities_and_inequalities_that_bind() {
        // u0 + u1 + u2 = 1, u0 >= 0.4, nearest to the origin: (0.4, 0.3, 0.3).
        let (u, end, _) = search(1, &[0.1, 0.9, 0.9], |u| {
            (u.iter().map(|u| u * u).sum(), vec![0.4 - u[0], u.iter().sum::<f64>() - 1.0])
        });
        assert!((u[0] - 0.4).abs() < 1e-7 && (u[1] - 0.3).abs() < 1e-6, "{u:?} {end:?}");
    }

    #[test]
    fn a_corner_cut_by_three_constraints() {
        // A linear program: max 3a + 2b with a + b <= 0.8, a + 3b <= 1.2, a <= 0.6.
        let (u, ..) = search(3, &[0.1, 0.1], |u| {
            (-3.0 * u[0] - 2.0 * u[1], vec![u[0] + u[1] - 0.8, u[0] + 3.0 * u[1] - 1.2, u[0] - 0.6])
        });
        assert!((u[0] - 0.6).abs() < 1e-7 && (u[1] - 0.2).abs() < 1e-7, "{u:?}");
    }

    #[test]
    fn a_kink_and_noise_end_the_search_without_harm() {
        let (_, end, evaluations) =
            search(0, &[0.9, 0.2], |u| ((u[0] - 0.5).abs() + 10.0 * (u[1] - 0.5).abs(), vec![]));
        assert!(end.value < 3.4 && evaluations < 2000, "{end:?} {evaluations}");
        let (.., evaluations) = search(0, &[0.3], |u| ((u[0] * 1e9).sin(), vec![]));
        assert!(evaluations < 20_000, "{evaluations}");
    }
}
