//! Directions in which the follower would move: where there is one, there is no answer of the follower.
//!
//! On a region Z, let one direction d of y satisfy d·∇f < 0 and d·∇gᵢ < 0 for every constraint that may
//! be active, throughout Z, with dⱼ ≥ 0 where yⱼ may be at its lower bound (≤ 0 at the upper). Then from
//! every feasible point of Z a small step along d stays feasible and lowers f: Z holds no answer. Where
//! gᵢ is affine in y, d·∇gᵢ ≤ 0 is enough; an equation hᵢ affine in y needs d·∇hᵢ = 0 exactly. This asks
//! every formula involved to be Lipschitz near Z. A linear program finds d; intervals verify it.

use crate::interval::Interval;
use crate::simplex::{Rows, solve};
use crate::work::Work;

/// How a row must change along d.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Falls,
    DoesNotRise,
    Stays,
}

/// What is known about the follower's formulas on a region, for steps in y.
pub(crate) struct Slopes {
    objective: Vec<Interval>,
    /// Constraints that may be active: their index, derivatives by y, and whether affine in y.
    pub(crate) active: Vec<(usize, Vec<Interval>, bool)>,
    /// Derivatives of equations by y.
    equations: Vec<Vec<Interval>>,
    /// Whether yⱼ may be at its lower and at its upper bound.
    pub(crate) at_bound: Vec<[bool; 2]>,
    whole: Vec<bool>,
}

/// A condition that is left out, to see whether it holds the follower.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Without {
    Nothing,
    /// A constraint by its place among the active ones.
    Constraint(usize),
    /// A bound of yⱼ: 0 the lower, 1 the upper one.
    Bound(usize, usize),
}

impl Slopes {
    /// `None` if first-order arguments do not apply on the region.
    pub(crate) fn new(work: &mut Work<'_>, region: &[Interval]) -> Option<Slopes> {
        let problem = work.problem;
        let nx = problem.nx;
        let finite = |slopes: &[Interval]| slopes.iter().all(|slope| slope.is_finite() && !slope.is_empty());
        let (range, gradient) = work.gradient(&problem.lower, region);
        let objective = gradient[nx..].to_vec();
        if !range.is_lipschitz() || !finite(&objective) {
            return None;
        }
        let mut active = Vec::new();
        for (index, row) in problem.lower_inequalities.iter().enumerate().filter(|(_, row)| row.uses_y(nx)) {
            let (range, gradient) = work.gradient(row, region);
            let slopes = gradient[nx..].to_vec();
            if !range.is_lipschitz() || !finite(&slopes) {
                return None;
            }
            if range.value.hi >= 0.0 {
                active.push((index, slopes, row.affine_in_y));
            }
        }
        let mut equations = Vec::new();
        for row in problem.lower_equalities.iter().filter(|row| row.uses_y(nx)) {
            let (range, gradient) = work.gradient(row, region);
            let slopes = gradient[nx..].to_vec();
            if !range.is_lipschitz() || !finite(&slopes) || !row.affine_in_y {
                return None;
            }
            equations.push(slopes);
        }
        let at = |j: usize| [region[j].lo <= problem.bounds[j].lo, region[j].hi >= problem.bounds[j].hi];
        let at_bound = (nx..problem.n()).map(at).collect();
        Some(Slopes { objective, active, equations, at_bound, whole: problem.whole[nx..].to_vec() })
    }

    /// Whether a direction exists if a condition is left out.
    pub(crate) fn descend(&self, without: Without, work: &mut Work<'_>) -> bool {
        let ny = self.objective.len();
        let may =
            |j: usize, side: usize| !self.whole[j] && (!self.at_bound[j][side] || without == Without::Bound(j, side));
        let mut rows = vec![(&self.objective[..], Kind::Falls)];
        for (place, (_, slopes, affine)) in self.active.iter().enumerate() {
            if without != Without::Constraint(place) {
                rows.push((slopes, if *affine { Kind::DoesNotRise } else { Kind::Falls }));
            }
        }
        rows.extend(self.equations.iter().map(|slopes| (&slopes[..], Kind::Stays)));
        // Without constraints, f decreases along an axis or not at all.
        if rows.len() == 1 {
            let slope = |j: usize| self.objective[j];
            return (0..ny).any(|j| (slope(j).hi < 0.0 && may(j, 1)) || (slope(j).lo > 0.0 && may(j, 0)));
        }
        let limits: Vec<f64> = (0..2 * ny).map(|k| f64::from(u8::from(may(k % ny, usize::from(k < ny))))).collect();
        work.spent += (rows.len() * ny * ny) as u64;
        let verified = |direction: &[f64]| {
            let allowed = |j: usize| match direction[j] {
                d if d > 0.0 => may(j, 1),
                d if d < 0.0 => may(j, 0),
                _ => true,
            };
            (0..ny).all(allowed) && rows.iter().all(|&(slopes, kind)| holds(slopes, kind, direction))
        };
        if self.equations.is_empty() {
            let strict = linear_program(&rows, 0.0, &limits);
            if strict.is_some_and(|direction| verified(&direction)) {
                return true;
            }
            if rows.iter().all(|row| row.1 == Kind::Falls) {
                return false;
            }
        }
        linear_program(&rows, 1e-3, &limits).is_some_and(|direction| round(&direction).iter().any(|d| verified(d)))
    }
}

/// Whether d·slopes changes as the kind says, for all slopes.
fn holds(slopes: &[Interval], kind: Kind, direction: &[f64]) -> bool {
    let products = slopes.iter().zip(direction).map(|(&slope, &d)| slope * Interval::point(d));
    let change = products.fold(Interval::ZERO, |sum, product| sum + product);
    match kind {
        Kind::Falls => change.hi < 0.0,
        Kind::DoesNotRise => change.hi <= 0.0,
        Kind::Stays => change == Interval::ZERO,
    }
}

/// A direction along which the rows decrease, by a margin if one is given, as d = p − q with 0 ≤ p, q ≤ `limits`. The
/// largest change of a row is Σ hiⱼ pⱼ − loⱼ qⱼ.
fn linear_program(rows: &[(&[Interval], Kind)], margin: f64, limits: &[f64]) -> Option<Vec<f64>> {
    let ny = limits.len() / 2;
    let mut program = Rows::default();
    for &(slopes, kind) in rows {
        let largest = slopes.iter().map(|s| s.hi).chain(slopes.iter().map(|s| -s.lo));
        let size = slopes.iter().fold(0.0f64, |m, s| m.max(s.magnitude()));
        program.push(largest, if kind == Kind::Falls { -margin * size } else { 0.0 });
        if kind == Kind::Stays {
            program.push(slopes.iter().map(|s| -s.lo).chain(slopes.iter().map(|s| s.hi)), 0.0);
        }
    }
    let answer = solve(&program, &vec![0.0; 2 * ny], limits);
    let wanted = if margin > 0.0 { answer.value <= 1e-9 } else { answer.value < -1e-9 };
    wanted.then(|| (0..ny).map(|j| answer.point[j] - answer.point[ny + j]).collect())
}

/// Nearby directions with short numbers, so that values that should be zero are: small whole numbers if possible,
/// otherwise fractions with few bits.
fn round(direction: &[f64]) -> Vec<Vec<f64>> {
    let largest = direction.iter().fold(0.0f64, |m, d| m.max(d.abs()));
    if largest == 0.0 {
        return Vec::new();
    }
    let scaled = |factor: f64| direction.iter().map(|d| d / largest * factor).collect::<Vec<f64>>();
    let whole = (1..=60).map(|k| scaled(f64::from(k))).find(|d| d.iter().all(|v| (v - v.round()).abs() < 1e-6));
    let short = scaled(65536.0).iter().map(|v| v.round() / 65536.0).collect();
    whole.map(|d| d.iter().map(|v| v.round()).collect()).into_iter().chain([short]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilevo_problems::file::{self, ProblemFile};

    /// Whether the follower would leave, with these slopes: of f, and of constraints that may be active (true:
    /// affine in y) and equations.
    fn leaves(objective: &[(f64, f64)], active: &[(&[(f64, f64)], bool)], equations: &[&[(f64, f64)]]) -> bool {
        let text = "[upper]\nminimize = \"x\"\nvariables = { x = [0, 1] }\n\
                    [lower]\nminimize = \"y\"\nvariables = { y = [0, 1] }\n";
        let Ok(ProblemFile::Expressions(file)) = file::parse("t", text, &mut file::no_tables) else { panic!() };
        let problem = crate::Problem::new(&file).unwrap();
        let row = |slopes: &[(f64, f64)]| slopes.iter().map(|s| Interval::new(s.0, s.1)).collect::<Vec<_>>();
        let n = objective.len();
        let slopes = Slopes {
            objective: row(objective),
            active: active.iter().enumerate().map(|(i, (slopes, affine))| (i, row(slopes), *affine)).collect(),
            equations: equations.iter().map(|slopes| row(slopes)).collect(),
            at_bound: vec![[false; 2]; n],
            whole: vec![false; n],
        };
        slopes.descend(Without::Nothing, &mut Work::new(&problem))
    }

    #[test]
    fn f_must_fall_and_not_only_stay() {
        assert!(leaves(&[(1.0, 2.0)], &[(&[(1.0, 1.0)], true)], &[]));
        assert!(!leaves(&[(0.0, 0.0)], &[(&[(1.0, 1.0)], true)], &[]));
        assert!(!leaves(&[(-1e-3, 2.0)], &[(&[(1.0, 1.0)], true)], &[]));
        assert!(!leaves(&[(0.0, 0.0), (0.0, 0.0)], &[(&[(1.0, 1.0), (1.0, 1.0)], true)], &[]));
        // Where f is flat, a curved constraint that falls is no reason to leave.
        assert!(!leaves(&[(0.0, 0.0)], &[(&[(1.0, 1.0)], false), (&[(0.0, 0.0)], true)], &[]));
    }

    #[test]
    fn constraints_that_bend_must_fall_too() {
        let f = [(1.0, 1.0), (0.0, 0.0)];
        // Along (−1, 0) the constraint 0·y1 + y2 ≤ 0 stays; that is enough if it is affine.
        let flat: &[(f64, f64)] = &[(0.0, 0.0), (1.0, 1.0)];
        assert!(leaves(&f, &[(flat, true)], &[]));
        assert!(leaves(&f, &[(flat, false)], &[])); // (−1, −1)
        let vanishing: &[(f64, f64)] = &[(0.0, 0.0), (0.0, 0.0)];
        assert!(!leaves(&f, &[(vanishing, false)], &[]));
        // Opposite to f.
        assert!(!leaves(&f, &[(&[(-1.0, -1.0), (0.0, 0.0)], true)], &[]));
    }

    #[test]
    fn equations_must_stay_exactly() {
        let f = [(1.0, 1.0), (0.5, 0.5)];
        assert!(leaves(&f, &[], &[&[(1.0, 1.0), (1.0, 1.0)]])); // (−1, 1)
        assert!(!leaves(&f, &[], &[&[(1.0, 1.0), (0.5, 0.5)]])); // f is constant on it
        assert!(!leaves(&f, &[], &[&[(1.0, 1.0 + 1e-9), (1.0, 1.0)]]));
    }
}
