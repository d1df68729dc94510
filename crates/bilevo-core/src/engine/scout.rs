//! Looks for points that work, if evaluations fail.
//!
//! If everything fails where a run began, the function may work nowhere, or only elsewhere. So points spread over
//! both boxes are evaluated at both levels, a few at a time, until some of them work; the scheme then starts again
//! from the best of these. If many points were tried and nothing ever worked, the run has failed.
//!
//! When: as soon as everything evaluated at a level has failed, and after generations in which every decision
//! failed. These evaluations count as usual. Randomness: `Purpose::Scout` for each sample.

use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::order;
use crate::problem::{Follower, Outcome, ProblemSpec};
use crate::rng::{Purpose, Streams};
use serde::{Deserialize, Serialize};

/// Points that are tried together.
const ROUND: usize = 10;
/// Points of one sample, which is spread evenly along every variable.
const SAMPLE: usize = 50;
/// The minimum number of points tried before a run counts as failed, and the same as a share of the upper
/// evaluations.
const LEAST: u64 = 50;
const SHARE: u64 = 10;

/// What is known about where the problem works.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Scout {
    is_open: bool,
    /// Points tried in the run, and before the current search for points began.
    tried: u64,
    tried_before: u64,
    /// Points of the current round with the follower's value, waiting for the leader's.
    round: Vec<Solved>,
    /// Points that work and have not been used as a start yet, best last.
    working: Vec<Solved>,
}

impl Scout {
    /// Whether the run is looking for points that work.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Begins to look for points that work.
    pub(super) fn open(&mut self) {
        self.is_open = true;
        self.tried_before = self.tried;
    }

    /// Stops looking.
    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    /// The best point (x, y) that has not been used as a start yet.
    pub(super) fn take(&mut self, spec: &ProblemSpec) -> Option<Vec<f64>> {
        self.working.pop().map(|point| start(spec, &point))
    }

    /// A point of the box that was not tried.
    pub(super) fn anywhere(&self, spec: &ProblemSpec, streams: &Streams) -> Vec<f64> {
        let (x, y) = Sample::new(spec, streams, self.tried / SAMPLE as u64).point(spec, self.tried as usize % SAMPLE);
        [x, y].concat()
    }

    /// Whether enough points were tried, given a budget of upper evaluations.
    pub(super) fn has_had_enough(&self, upper_evals: u64) -> bool {
        self.tried - self.tried_before >= LEAST.max(upper_evals / SHARE)
    }

    /// Appends the next points.
    pub(super) fn ask(&mut self, spec: &ProblemSpec, streams: &Streams, batch: &mut Batch) {
        let sample = Sample::new(spec, streams, self.tried / SAMPLE as u64);
        let first = self.tried as usize % SAMPLE;
        if spec.follower == Follower::Oracle {
            batch.ask_follower();
        }
        for index in first..first + ROUND {
            let (x, y) = sample.point(spec, index);
            let slot = batch.push(&x);
            // The follower's own solver needs only x.
            if slot.len() == y.len() {
                slot.copy_from_slice(&y);
            }
        }
        self.tried += ROUND as u64;
    }

    /// Takes the follower's values, and appends the points that have one, to be evaluated for the leader.
    pub(super) fn tell_lower(&mut self, spec: &ProblemSpec, asked: &Batch, answers: Answers<'_>, next: &mut Batch) {
        self.round.clear();
        for (index, outcome) in answers.outcomes.iter().enumerate().filter(|(_, outcome)| !outcome.is_failed()) {
            let given = answers.given.get(index).map(|answer| &answer.y[..]);
            let (x, y) = (asked.x(index).to_vec(), given.unwrap_or_else(|| asked.y(index)).to_vec());
            next.push_pair(spec, &x, &y);
            let (upper, lower) = (Outcome::FAILED, *outcome);
            self.round.push(Solved { x, y, upper, upper_constraints: Vec::new(), lower, converged: false });
        }
    }

    /// Takes the leader's values.
    pub(super) fn tell_upper(&mut self, answers: Answers<'_>, spec: &ProblemSpec) {
        for (index, (mut point, outcome)) in self.round.drain(..).zip(answers.outcomes).enumerate() {
            if !outcome.is_failed() {
                point.judge(spec, outcome, answers.constraints(index));
                self.working.push(point);
            }
        }
        self.working.sort_by(|a, b| order::compare(&b.upper, &a.upper));
    }
}

/// Where a scheme restarts: (x, y), or x alone if only the follower's own solver knows y.
pub(super) fn start(spec: &ProblemSpec, point: &Solved) -> Vec<f64> {
    [&point.x[..], point.y.get(..spec.lower.dim()).unwrap_or_default()].concat()
}

/// A Latin hypercube: along every variable, each point has its own part of the range.
struct Sample {
    /// Unit coordinates, variable by variable.
    units: Vec<f64>,
}

impl Sample {
    fn new(spec: &ProblemSpec, streams: &Streams, number: u64) -> Self {
        let mut stream = streams.open(Purpose::Scout, number, 0);
        let mut units = Vec::with_capacity(SAMPLE * spec.dim());
        for _ in 0..spec.dim() {
            let parts = stream.choose(SAMPLE, SAMPLE);
            units.extend(parts.iter().map(|&part| (part as f64 + stream.uniform()) / SAMPLE as f64));
        }
        Sample { units }
    }

    fn point(&self, spec: &ProblemSpec, index: usize) -> (Vec<f64>, Vec<f64>) {
        let units: Vec<f64> = self.units.chunks_exact(SAMPLE).map(|variable| variable[index]).collect();
        let (x, y) = units.split_at(spec.upper.dim());
        (spec.upper.space.from_unit(x), spec.lower.space.from_unit(y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Level, LevelSpec};

    fn spec() -> ProblemSpec {
        ProblemSpec::new("box", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::boxed(vec![(-2.0, 2.0); 2]))
    }

    #[test]
    fn the_first_points_are_spread_along_every_variable() {
        let (spec, streams) = (spec(), Streams::new(7));
        let (mut scout, mut batch) = (Scout::default(), Batch::new(&spec));
        for _ in 0..SAMPLE / ROUND {
            scout.ask(&spec, &streams, &mut batch);
        }
        assert_eq!(batch.len(), SAMPLE);
        let parts = |value: &dyn Fn(usize) -> f64| {
            let mut parts: Vec<usize> = (0..SAMPLE).map(|i| (value(i) * SAMPLE as f64) as usize).collect();
            parts.sort_unstable();
            parts
        };
        let all: Vec<usize> = (0..SAMPLE).collect();
        assert_eq!(parts(&|i| batch.x(i)[0]), all);
        assert_eq!(parts(&|i| (batch.y(i)[1] + 2.0) / 4.0), all);
        scout.ask(&spec, &streams, &mut batch);
        assert_ne!(batch.x(SAMPLE), batch.x(0), "the next sample is another one");
    }

    #[test]
    fn points_that_work_are_handed_out_best_first() {
        let (spec, streams) = (spec(), Streams::new(7));
        let (mut scout, mut asked, mut next) = (Scout::default(), Batch::new(&spec), Batch::new(&spec));
        scout.open();
        scout.ask(&spec, &streams, &mut asked);
        let good = |value: f64| Outcome { value, violation: 0.0 };
        let lower: Vec<Outcome> = (0..ROUND).map(|i| if i < 3 { good(0.0) } else { Outcome::FAILED }).collect();
        next.start(Level::Upper, 0);
        scout.tell_lower(&spec, &asked, Answers::without_constraints(&lower), &mut next);
        assert_eq!(next.len(), 3);
        scout.tell_upper(Answers::without_constraints(&[good(2.0), Outcome::FAILED, good(1.0)]), &spec);
        assert_eq!(scout.take(&spec).as_deref().map(|p| p[0]), Some(asked.x(2)[0]));
        assert_eq!(scout.take(&spec).as_deref().map(|p| p[0]), Some(asked.x(0)[0]));
        assert_eq!(scout.take(&spec), None);
    }

    #[test]
    fn a_look_is_long_enough_after_fifty_points_or_a_tenth_of_the_budget() {
        let mut scout = Scout::default();
        scout.open();
        for (tried, budget, enough) in [(40, 10, false), (50, 10, true), (50, 1000, false), (100, 1000, true)] {
            scout.tried = tried;
            assert_eq!(scout.has_had_enough(budget), enough, "{tried} of {budget}");
        }
        scout.open();
        assert!(!scout.has_had_enough(10), "a new look counts anew");
    }
}
