//! The other ranking: a quadratic of F along the follower's response, and which of the two ranks better.

use super::accuracy::Judged;
use super::{RankerRule, Seen};
use crate::jq::quadratic::{Quadratic, Sample, smallest};
use crate::problem::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How much the pairs of a generation still count in the next one.
const MEMORY: f64 = 0.8;

/// The smallest quadratic near the values of a pool, whose inputs are given in their units; none if the
/// arithmetic breaks down.
pub(super) fn fit(pool: &VecDeque<Seen>, inputs: &[f64], dim: usize) -> Option<Quadratic> {
    let sample = Sample { points: inputs.to_vec(), values: targets(pool), weights: vec![1.0; pool.len()] };
    smallest(dim, 1, &sample)?.pop().filter(Quadratic::is_finite)
}

/// F in units of its spread; infeasible solutions follow the worst feasible one in the order of their
/// violations, as selection has it.
fn targets(pool: &VecDeque<Seen>) -> Vec<f64> {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let unit = |(low, high): (f64, f64)| if high > low { high - low } else { 1.0 };
    let feasible = |outcome: &&Outcome| outcome.is_feasible();
    let outcomes = || pool.iter().map(|seen| &seen.outcome);
    let values = range(&mut outcomes().filter(feasible).map(|o| o.value));
    let violations = range(&mut outcomes().filter(|o| !o.is_feasible()).map(|o| o.violation));
    let target = |o: &Outcome| match o.is_feasible() {
        true => (o.value - values.0) / unit(values),
        false => 1.0 + (o.violation - violations.0) / unit(violations),
    };
    outcomes().map(target).collect()
}

/// How many of the last pairs each ranking has ordered correctly.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Contest {
    network: Judged,
    quadratic: Judged,
}

impl Contest {
    /// Takes notice of a generation.
    pub(super) fn see(&mut self, network: Judged, quadratic: Judged) {
        for (kept, new) in [(&mut self.network, network), (&mut self.quadratic, quadratic)] {
            (kept.correct, kept.pairs) = (MEMORY * kept.correct, MEMORY * kept.pairs);
            kept.add(new);
        }
    }

    /// Whether the quadratic ranks the next candidates.
    pub(super) fn takes_quadratic(&self, rule: RankerRule) -> bool {
        match rule {
            RankerRule::Network => false,
            RankerRule::Quadratic => true,
            RankerRule::Better => self.quadratic.correct > self.network.correct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(outcomes: &[(f64, f64)]) -> VecDeque<Seen> {
        let seen = |&(value, violation): &(f64, f64)| Seen { x: vec![], outcome: Outcome { value, violation } };
        outcomes.iter().map(seen).collect()
    }

    #[test]
    fn infeasible_solutions_come_behind_all_feasible_ones() {
        let found = targets(&pool(&[(10.0, 0.0), (30.0, 0.0), (-5.0, 2.0), (99.0, 1.0), (20.0, 0.0)]));
        assert_eq!(found, [0.0, 1.0, 2.0, 1.0, 0.5]);
    }

    #[test]
    fn a_pool_without_any_differences_has_finite_targets() {
        assert_eq!(targets(&pool(&[(7.0, 0.0), (7.0, 0.0)])), [0.0, 0.0]);
        assert_eq!(targets(&pool(&[(7.0, 3.0), (8.0, 3.0)])), [1.0, 1.0]);
    }

    #[test]
    fn a_bowl_is_ranked_by_the_distance_from_its_bottom() {
        let points: Vec<f64> = (0..40).map(|i| libm::sin(f64::from(i) * 1.3)).collect();
        let value = |z: &[f64]| (z[0] - 0.3).powi(2) + 2.0 * (z[1] + 0.1).powi(2);
        let outcomes: Vec<(f64, f64)> = points.chunks_exact(2).map(|z| (value(z), 0.0)).collect();
        let model = fit(&pool(&outcomes), &points, 2).unwrap();
        assert!(model.value(&[0.3, -0.1]) < model.value(&[0.0, 0.0]));
        assert!(model.value(&[0.2, -0.1]) < model.value(&[0.3, 0.4]));
    }

    #[test]
    fn the_one_that_ordered_the_last_pairs_better_leads() {
        let judged = |correct| Judged { correct, pairs: 10.0 };
        let mut contest = Contest::default();
        assert!(!contest.takes_quadratic(RankerRule::Better));
        contest.see(judged(5.0), judged(9.0));
        assert!(contest.takes_quadratic(RankerRule::Better) && !contest.takes_quadratic(RankerRule::Network));
        (0..3).for_each(|_| contest.see(judged(8.0), judged(5.0)));
        assert!(!contest.takes_quadratic(RankerRule::Better) && contest.takes_quadratic(RankerRule::Quadratic));
    }
}
