//! The one meaning of "solved", used by the stop rule, results, exit codes, rows and tables.
//!
//! A run is solved if its solution matches *some* known optimum: F and, if known, f are within their tolerances
//! of that optimum, and both levels are feasible within a tolerance. A leader may be indifferent between optima
//! with different f, so the two values must belong to the same optimum. If only the F of an optimum is known, the
//! follower must have been rechecked: with an unsolved follower, any F is possible.

use crate::problem::{BestKnown, ProblemSpec};
use crate::record::{Accuracy, Solution};
use serde::{Deserialize, Serialize};

/// The largest distances that count as zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerances {
    /// Of F.
    pub upper: f64,
    /// Of f.
    pub lower: f64,
    /// Of the violation at either level.
    pub violation: f64,
}

impl Default for Tolerances {
    fn default() -> Self {
        Tolerances { upper: 1e-6, lower: 1e-4, violation: 1e-6 }
    }
}

impl Tolerances {
    /// Whether a point at this distance from an optimum, with these violations at both levels, counts as that
    /// optimum.
    pub fn accept(&self, distance: &Accuracy, violations: [f64; 2]) -> bool {
        distance.upper <= self.upper
            && distance.lower.is_none_or(|lower| lower <= self.lower)
            && violations.iter().all(|&violation| violation <= self.violation)
    }
}

impl BestKnown {
    /// The distance of two objective values from this optimum.
    pub fn distance(&self, upper_value: f64, lower_value: f64) -> Accuracy {
        Accuracy { upper: (upper_value - self.upper).abs(), lower: self.lower.map(|lower| (lower_value - lower).abs()) }
    }
}

impl ProblemSpec {
    /// The known optimum nearest in F, and among equals nearest in f; `None` if no optimum is known.
    pub fn nearest_known(&self, upper_value: f64, lower_value: f64) -> Option<&BestKnown> {
        let distance = |known: &BestKnown| {
            let Accuracy { upper, lower } = known.distance(upper_value, lower_value);
            (upper, lower.unwrap_or(0.0))
        };
        self.best_known.iter().min_by(|a, b| {
            let (a, b) = (distance(a), distance(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
    }

    /// The distance from [`ProblemSpec::nearest_known`].
    pub fn accuracy(&self, upper_value: f64, lower_value: f64) -> Option<Accuracy> {
        Some(self.nearest_known(upper_value, lower_value)?.distance(upper_value, lower_value))
    }
}

/// Whether a solution is one of the known optima; `None` if none is known. `rechecked` says whether the
/// follower's answer was rechecked.
pub fn solved(spec: &ProblemSpec, solution: &Solution, rechecked: bool, tolerances: &Tolerances) -> Option<bool> {
    let Solution { upper_value, lower_value, upper_violation, lower_violation, .. } = *solution;
    let matches = |known: &BestKnown| {
        (rechecked || known.lower.is_some())
            && tolerances.accept(&known.distance(upper_value, lower_value), [upper_violation, lower_violation])
    };
    (!spec.best_known.is_empty()).then(|| spec.best_known.iter().any(matches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::LevelSpec;

    fn spec(known: &[(f64, Option<f64>)]) -> ProblemSpec {
        let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
        let mut spec = ProblemSpec::new("known", level(), level());
        spec.best_known = known.iter().map(|&(upper, lower)| BestKnown { upper, lower }).collect();
        spec
    }

    fn at(upper_value: f64, lower_value: f64) -> Solution {
        let point = vec![0.5];
        let (upper_violation, lower_violation) = (0.0, 0.0);
        Solution { x: point.clone(), y: point, upper_value, lower_value, upper_violation, lower_violation }
    }

    const TOLERANCES: Tolerances = Tolerances { upper: 0.25, lower: 0.5, violation: 0.125 };

    #[test]
    fn both_values_must_belong_to_one_optimum() {
        let spec = spec(&[(0.0, Some(100.0)), (1.0, Some(200.0))]);
        for (upper, lower, expected) in
            [(0.0, 100.0, true), (1.0, 200.0, true), (0.0, 200.0, false), (1.0, 100.0, false), (0.5, 100.0, false)]
        {
            assert_eq!(solved(&spec, &at(upper, lower), false, &TOLERANCES), Some(expected), "{upper} {lower}");
        }
    }

    #[test]
    fn every_tolerance_includes_its_bound_and_counts() {
        type Change = fn(&mut Solution, f64);
        let spec = spec(&[(0.0, Some(0.0))]);
        let said = |change: Change, size: f64| {
            let mut solution = at(0.0, 0.0);
            change(&mut solution, size);
            solved(&spec, &solution, false, &TOLERANCES)
        };
        let changes: [(Change, f64); 4] = [
            (|s, v| s.upper_value = -v, 0.25),
            (|s, v| s.lower_value = v, 0.5),
            (|s, v| s.upper_violation = v, 0.125),
            (|s, v| s.lower_violation = v, 0.125),
        ];
        for (change, bound) in changes {
            assert_eq!(said(change, bound), Some(true));
            assert_eq!(said(change, bound * 1.001), Some(false));
            assert_eq!(said(change, f64::NAN), Some(false));
        }
    }

    #[test]
    fn what_is_not_known_is_not_judged() {
        assert_eq!(solved(&spec(&[]), &at(0.0, 0.0), true, &TOLERANCES), None);
        assert_eq!(spec(&[]).accuracy(0.0, 0.0), None);
        assert_eq!(solved(&spec(&[(0.0, None)]), &at(0.0, 1e9), true, &TOLERANCES), Some(true));
    }

    #[test]
    fn where_only_f_of_the_leader_is_known_the_follower_must_have_been_looked_at_again() {
        assert_eq!(solved(&spec(&[(0.0, None)]), &at(0.0, 1e9), false, &TOLERANCES), Some(false));
        let either = spec(&[(0.0, None), (0.0, Some(7.0))]);
        assert_eq!(solved(&either, &at(0.0, 7.0), false, &TOLERANCES), Some(true), "both values of one of them");
    }

    #[test]
    fn accuracy_is_measured_to_the_nearest_optimum() {
        let spec = spec(&[(0.0, Some(100.0)), (0.0, Some(200.0)), (5.0, Some(0.0))]);
        let of = |upper, lower| spec.accuracy(upper, lower).map(|a| (a.upper, a.lower));
        assert_eq!(of(0.0, 199.0), Some((0.0, Some(1.0))));
        assert_eq!(of(0.0, 120.0), Some((0.0, Some(20.0))));
        // Nearest in F, however far f is.
        assert_eq!(of(4.0, 100.0), Some((1.0, Some(100.0))));
    }
}
