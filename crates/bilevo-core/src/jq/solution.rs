//! A decision with the follower's answer, and what both are worth to the leader.

use super::follower::{Answer, FEASIBLE, merit};
use crate::candidate::Solved;
use crate::problem::{LowerConstraints, Outcome, ProblemSpec};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A judged decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Solution {
    pub(crate) x: Vec<f64>,
    pub(crate) answer: Answer,
    /// F and the violation that counts at the upper level: its own constraints, and the lower ones
    /// unless the problem says that they are among them already.
    pub(crate) upper: Outcome,
    /// Values of the upper constraints.
    pub(crate) constraints: Vec<f64>,
}

impl Solution {
    /// Judges an answer by its upper evaluation.
    pub(crate) fn new(spec: &ProblemSpec, x: Vec<f64>, answer: Answer, upper: Outcome, constraints: &[f64]) -> Self {
        let upper = match spec.lower_constraints {
            _ if upper.is_failed() || answer.outcome.is_failed() => Outcome::FAILED,
            LowerConstraints::Shared => upper,
            LowerConstraints::Added => {
                Outcome { value: upper.value, violation: upper.violation + answer.outcome.violation }
            }
        };
        Solution { x, answer, upper, constraints: constraints.to_vec() }
    }

    /// F + `penalty` * violation.
    pub(crate) fn merit(&self, penalty: f64) -> f64 {
        merit(&self.upper, penalty)
    }

    /// Feasible at both levels first, then by F, then by violation.
    pub(crate) fn compare(&self, other: &Solution) -> Ordering {
        let key = |s: &Solution| {
            let violation = s.upper.violation.max(s.answer.outcome.violation);
            if violation > FEASIBLE { (violation, f64::INFINITY) } else { (0.0, s.upper.value) }
        };
        let (a, b) = (key(self), key(other));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    }

    /// Whether both stand for the same optimum: equal in F and feasibility within `tolerance`.
    pub(crate) fn agrees(&self, other: &Solution, tolerance: f64) -> bool {
        let violation = |s: &Solution| s.upper.violation.max(s.answer.outcome.violation);
        (violation(self) - violation(other)).abs() <= tolerance
            && (self.upper.value - other.upper.value).abs() <= tolerance * (1.0 + other.upper.value.abs())
    }

    /// As the engine's other parts see it.
    pub(crate) fn as_solved(&self) -> Solved {
        Solved {
            x: self.x.clone(),
            y: self.answer.y.clone(),
            upper: self.upper,
            upper_constraints: self.constraints.clone(),
            lower: self.answer.outcome,
            converged: self.answer.settled,
        }
    }
}

/// IQR(values) / IQR(violations): a first penalty that makes both count alike. The spread of the
/// violations is at least `floor` of their range. None while they do not differ.
pub(crate) fn first_penalty(values: &mut [f64], violations: &mut [f64], floor: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    violations.sort_by(f64::total_cmp);
    let quartiles = |sorted: &[f64]| sorted[3 * sorted.len() / 4] - sorted[sorted.len() / 4];
    let (last, first) = (violations.last()?, violations.first()?);
    let spread = quartiles(violations).max(floor * (last - first));
    (spread > 0.0).then(|| quartiles(values).max(1e-12) / spread).filter(|penalty| penalty.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::LevelSpec;

    fn solution(value: f64, upper: f64, lower: f64, shared: bool) -> Solution {
        let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
        let mut spec = ProblemSpec::new("judged", level(), level());
        if shared {
            spec.lower_constraints = LowerConstraints::Shared;
        }
        let outcome = Outcome { value: 0.0, violation: lower };
        let answer = Answer { y: vec![0.5], outcome, constraints: Vec::new(), settled: true };
        Solution::new(&spec, vec![0.5], answer, Outcome { value, violation: upper }, &[])
    }

    #[test]
    fn lower_violations_count_once() {
        assert_eq!(solution(1.0, 0.5, 0.25, false).merit(2.0), 2.5);
        assert_eq!(solution(1.0, 0.5, 0.25, true).merit(2.0), 2.0);
    }

    #[test]
    fn feasible_comes_first() {
        let (good, bad) = (solution(9.0, 0.0, 0.0, false), solution(1.0, 0.1, 0.0, false));
        assert_eq!(good.compare(&bad), Ordering::Less);
        assert_eq!(bad.compare(&solution(1.0, 0.2, 0.0, false)), Ordering::Less);
        // A follower that breaks its own constraints is infeasible even where they are shared.
        assert_eq!(solution(1.0, 0.0, 0.3, true).compare(&bad), Ordering::Greater);
        assert!(good.agrees(&solution(9.001, 0.0, 0.0, false), 1e-3) && !good.agrees(&bad, 1e-3));
    }

    #[test]
    fn the_first_penalty_balances_the_spreads() {
        let penalty = first_penalty(&mut [0.0, 10.0, 20.0, 30.0], &mut [0.0, 1.0, 2.0, 3.0], 0.0);
        assert_eq!(penalty, Some(10.0));
        assert_eq!(first_penalty(&mut [1.0, 2.0], &mut [0.0, 0.0], 0.5), None);
        assert_eq!(first_penalty(&mut [], &mut [], 0.5), None);
        let (mut values, mut rare) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0; 8]);
        rare[7] = 4.0;
        assert_eq!(first_penalty(&mut values, &mut rare, 0.5), Some(2.0));
    }
}
