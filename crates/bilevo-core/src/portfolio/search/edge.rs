//! The last decision with an answer, on the way from a decision that has one to a decision that has none.
//!
//! Beyond some decision, the constraints may leave the follower without an answer. The leader may like the last
//! decision before that best, but descents jump over it. So the way is halved repeatedly: the follower is solved in
//! the middle, which replaces one of the ends. No randomness.

use super::{End, Ground, Rows, Search, Shape, Wanted};
use crate::portfolio::archive::{Archive, Learner};
use crate::portfolio::claim::Claim;
use crate::portfolio::follower::{Effort, Follower, Knowledge};
use crate::portfolio::merit::Merit;
use crate::problem::Level;
use serde::{Deserialize, Serialize};

/// The number of halvings.
const HALVINGS: usize = 20;
/// The first radius and the accuracy of a follower's search, and its evaluations: this many, plus this many for each
/// variable.
const RADIUS: f64 = 0.05;
const TOLERANCE: f64 = 1e-6;
const EVALUATIONS: (usize, usize) = (20, 10);
/// The first length of the kernel.
const LENGTH: f64 = 0.3;

/// The search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::portfolio) struct Edge {
    /// The last decision that is known to have an answer, with it, and the first that is known to have none.
    claim: Claim,
    without: Vec<f64>,
    halved: usize,
    follower: Option<Follower>,
    knowledge: Knowledge,
    end: Option<End>,
}

impl Edge {
    /// From `claim`, a decision with an answer, to `without`, a decision without one.
    pub(in crate::portfolio) fn new(shape: Shape, archive: &Archive, claim: Claim, without: Vec<f64>) -> Self {
        let learner = Learner::new(vec![LENGTH; shape.dim()], archive.lower.len());
        let knowledge = Knowledge { learner, merit: Merit::new(shape.lower[1], shape.lower[2]) };
        Edge { claim, without, halved: 0, follower: None, knowledge, end: None }
    }

    /// Starts the follower's search in the middle.
    fn open(&mut self, wanted: &mut Wanted) {
        let x: Vec<f64> = self.claim.x.iter().zip(&self.without).map(|(a, b)| 0.5 * (a + b)).collect();
        let y = &self.claim.y;
        wanted.push(&x, y);
        for i in 0..y.len() {
            let mut beside = y.clone();
            beside[i] += if beside[i] > 0.5 { -RADIUS } else { RADIUS };
            wanted.push(&x, &beside);
        }
        let evaluations = EVALUATIONS.0 + EVALUATIONS.1 * y.len();
        let effort = Effort { radius: RADIUS, tolerance: TOLERANCE, evaluations };
        self.follower = Some(Follower::new(x, y.clone(), Vec::new(), effort));
    }

    /// Takes the follower's answer in the middle.
    fn judge(&mut self, ground: &Ground<'_>, follower: Follower) {
        let Follower { x, y, row, .. } = follower;
        if !row.is_empty() && ground.scales.answer_is_feasible(&row) {
            self.claim = Claim { x, y, upper: Vec::new(), lower: row, settled: false };
        } else {
            self.without = x;
        }
        self.halved += 1;
    }
}

impl Search for Edge {
    fn ask(&mut self, ground: &Ground<'_>, wanted: &mut Wanted) {
        wanted.clear(Level::Lower);
        while self.end.is_none() && wanted.is_empty() {
            match self.follower.take() {
                None if self.halved == HALVINGS => {
                    wanted.clear(Level::Upper);
                    wanted.push(&self.claim.x, &self.claim.y);
                }
                None => self.open(wanted),
                Some(mut follower) => match follower.next(&ground.archive.lower, &mut self.knowledge) {
                    Some(y) => {
                        wanted.push(&follower.x, &y);
                        self.follower = Some(follower);
                    }
                    None => self.judge(ground, follower),
                },
            }
        }
    }

    fn tell(&mut self, _ground: &Ground<'_>, wanted: &Wanted, rows: &Rows) {
        if wanted.level == Level::Upper {
            self.claim.upper = rows.first().cloned().unwrap_or_default();
            self.end = Some(End::Converged);
            return;
        }
        let Some(follower) = &mut self.follower else { return };
        let m = follower.x.len();
        for (point, row) in wanted.iter().zip(rows) {
            follower.tell(&point[m..], row, &self.knowledge.merit);
        }
    }

    fn claim(&self) -> Option<Claim> {
        Some(self.claim.clone()).filter(|claim| self.end == Some(End::Converged) && !claim.upper.is_empty())
    }

    fn end(&self) -> Option<End> {
        self.end
    }

    fn cut(&mut self) {
        self.end = Some(End::Spent);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;

    /// The follower minimises y with y >= 2 x - 0.5 and y <= 0.5: beyond x = 0.5 there is no answer.
    fn edged(p: &[f64]) -> Vec<f64> {
        vec![p[1], 2.0 * p[0] - 0.5 - p[1], p[1] - 0.5]
    }

    #[test]
    fn the_last_decision_with_an_answer_is_found() {
        let mut bench = Bench::new(|p| vec![-p[1]], edged);
        let claim = Claim { x: vec![0.1], y: vec![0.0], upper: vec![0.0], lower: edged(&[0.1, 0.0]), settled: true };
        let mut search = Edge::new(bench.shape(), &bench.archive, claim, vec![0.9]);
        assert_eq!(bench.run(&mut search), Some(End::Converged));
        let found = search.claim().unwrap();
        assert!((found.x[0] - 0.5).abs() < 1e-5 && (found.y[0] - 0.5).abs() < 1e-5, "{found:?}");
        assert!(bench.scales.answer_is_feasible(&found.lower) && (found.value() + 0.5).abs() < 1e-5);
    }

    #[test]
    fn a_follower_has_twenty_evaluations_and_ten_for_each_variable() {
        let shape = Shape { upper: [1, 0, 0], lower: [3, 0, 0] };
        let claim = Claim { x: vec![0.1], y: vec![0.5; 3], upper: vec![0.0], lower: vec![0.0], settled: true };
        let (mut search, mut wanted) = (Edge::new(shape, &shape.archive(), claim, vec![0.9]), Wanted::new(4));
        search.open(&mut wanted);
        let effort = Effort { radius: 0.05, tolerance: 1e-6, evaluations: 50 };
        assert_eq!(search.follower, Some(Follower::new(vec![0.5], vec![0.5; 3], Vec::new(), effort)));
        assert_eq!(wanted.iter().len(), 4, "the answer, and one beside it along each variable");
    }

    #[test]
    fn the_way_is_halved_and_the_follower_begins_where_it_was() {
        let mut bench = Bench::new(|p| vec![-p[1]], edged);
        let claim = Claim { x: vec![0.1], y: vec![0.0], upper: vec![0.0], lower: edged(&[0.1, 0.0]), settled: true };
        let mut search = Edge::new(bench.shape(), &bench.archive, claim.clone(), vec![0.9]);
        bench.step(&mut search);
        // The answer and its neighbour, inwards.
        assert_eq!(bench.trace, [(Level::Lower, vec![0.5, 0.0]), (Level::Lower, vec![0.5, RADIUS])]);
        assert_eq!(search.claim(), None, "not before its end");
        search.cut();
        assert_eq!((bench.run(&mut search), search.claim()), (Some(End::Spent), None));
        // Where there is an answer all the way it ends next to the other end: after 20 halvings.
        let mut bench = Bench::new(|p| vec![-p[1]], |p| vec![(p[1] - 0.7).powi(2)]);
        let claim = Claim { y: vec![0.8], lower: vec![0.0], ..claim };
        let mut search = Edge::new(bench.shape(), &bench.archive, claim, vec![0.9]);
        bench.step(&mut search);
        assert_eq!(bench.trace[1].1, [0.5, 0.8 - RADIUS]);
        bench.run(&mut search);
        let found = search.claim().unwrap();
        assert!((found.x[0] - 0.9).abs() < 1e-6 && (found.y[0] - 0.7).abs() < 1e-4, "{found:?}");
    }
}
