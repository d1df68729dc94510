//! Decisions that pay only because the follower is indifferent there.
//!
//! Where the follower is indifferent, the leader may hope for the answer it likes best, and such a
//! decision can be a single point: next to it the follower has a will of its own, and F jumps. No
//! population finds such a point by chance. So before a run ends, it searches for one with the
//! leader's objective weighed into the follower's: f + w F. That makes the point a region whose size
//! goes with w. A population searches it from anywhere under the largest weight; others follow it to
//! the point as the weight falls. As long as the follower leans, the leader gets at least what it gets
//! in truth: a value that is no better than the elite's ends the search early. What is left at the
//! end is looked at again without a weight, like the result of every restart.

use super::config::Effort;
use super::population::Origin;
use super::searches::Knowledge;
use super::solution::Solution;
use super::{AGREEMENT, JointQuadratic, Phase};
use crate::config::{Config, PositionKind};
use crate::engine::RunView;
use crate::position;
use crate::problem::ProblemSpec;
use serde::{Deserialize, Serialize};

/// Weights of the leader's objective, relative to the spreads of both.
const WEIGHTS: [f64; 7] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
/// Index of the largest weight that leaves nothing but ties to the leader.
const ENOUGH: usize = 3;
/// Index of the largest weight whose answers are nearly the follower's own.
const NEARLY: usize = 2;
/// A population ends when it is this small, as a share of the box and relative to the weight.
const ACCURACY: f64 = 0.03;
/// Evaluations that a search may spend if there were fewer before it; else as many as there were.
const ALLOWANCE: u64 = 12_000;
/// Other restarts for each of these searches while restarts do not agree.
const RARITY: u64 = 3;
/// Distance from a bound or a constraint, as a share of the box or of f, that is none.
const AT_BOUND: f64 = 1e-4;
/// Searches before the end where nothing speaks for ties.
const UNLIKELY: usize = 1;
/// Size of a population that follows another, relative to the weight of that.
const REACH: f64 = 2.0;

/// The state of the searches for ties.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ties {
    /// Searches begun.
    searches: usize,
    /// Populations of all of them.
    populations: u64,
    /// Whether the restart that just ended was such a search.
    pub(super) just: bool,
    /// Whether one of them found the elite.
    won: bool,
    /// Whether equally good answers of the follower were seen.
    pub(super) seen: bool,
    open: Option<Open>,
}

/// A search for ties.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Open {
    /// Index of its weight.
    step: usize,
    /// What is known of the follower without a weight.
    known: Box<Knowledge>,
    /// What the weights before it led to.
    found: Option<Solution>,
    /// Number of the point at which it is too much.
    limit: u64,
}

impl Ties {
    /// Whether the next restart is to be such a search: every other one if one of them found the elite,
    /// else from time to time, sooner where a tie was seen, and before the run ends, more often where
    /// ties are likely.
    pub(super) fn are_due(&self, config: &Config, restarts: u64, agreed: bool, likely: bool) -> bool {
        let times = self.searches as u64 + u64::from(!self.seen);
        let sometimes = restarts - self.populations > RARITY * times;
        let again = self.won && !self.just;
        let wanted = if config.position.kind == PositionKind::Pessimistic { 0 } else { config.jq.ties };
        let enough =
            if likely || self.seen || config.jq.effort == Effort::Thorough { wanted } else { wanted.min(UNLIKELY) };
        let last = self.searches < enough && config.jq.effort != Effort::Quick;
        wanted > 0 && if agreed { last } else { again || sometimes }
    }

    /// Populations of these searches.
    pub(super) fn populations(&self) -> u64 {
        self.populations
    }

    /// Notes a new elite, and whether it is clearly another one.
    pub(super) fn note_elite(&mut self, differs: bool) {
        if differs {
            self.won = self.just;
        }
    }

    /// Whether the follower's answers are weighed at present.
    pub(super) fn is_leaning(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the open search has had its share of the evaluations.
    pub(super) fn have_had_enough(&self, issued: u64) -> bool {
        self.open.as_ref().is_some_and(|open| issued > open.limit)
    }
}

impl JointQuadratic {
    /// Begins a search.
    pub(super) fn lean(&mut self, run: &mut RunView<'_>) {
        // The smaller first weight finds what is near the truth, the larger one what is far from it.
        let step = usize::from(self.ties.searches.is_multiple_of(2));
        self.ties.searches += 1;
        self.ties.populations += 1;
        let afresh = self.knowledge.afresh(run.spec);
        let known = std::mem::replace(&mut self.knowledge, afresh);
        let limit = run.issued + run.issued.max(ALLOWANCE);
        self.ties.open = Some(Open { step, known: Box::new(known), found: None, limit });
        *run.lean = WEIGHTS[step];
        self.restart_at(run, Origin::Scan, ACCURACY * WEIGHTS[step]);
    }

    /// From the end of a population to the next weight, or to the second look at what was found.
    pub(super) fn lean_less(&mut self, run: &mut RunView<'_>) {
        let Some(Open { step, known, found: before, limit }) = self.ties.open.take() else { return };
        let found = self.population.incumbent.take();
        let seen = found.clone();
        let confirms = found.as_ref().zip(self.elite.as_ref()).is_some_and(|(a, b)| a.agrees(b, AGREEMENT));
        let found = found.filter(|found| self.promises(found));
        // What does not depend on the weight has arrived: only the last one is left to try.
        let arrived = found
            .as_ref()
            .zip(before.as_ref())
            .is_some_and(|(a, b)| distance(run.spec, a, b) < ACCURACY * WEIGHTS[step - 1]);
        let next = match step + 1 {
            _ if run.issued > limit => WEIGHTS.len(),
            next if arrived && next < WEIGHTS.len() => WEIGHTS.len() - 1,
            next => next,
        };
        if let (Some(found), Some(&weight)) = (&found, WEIGHTS.get(next)) {
            self.ties.open = Some(Open { step: next, known, found: Some(found.clone()), limit });
            self.ties.populations += 1;
            self.knowledge = self.knowledge.afresh(run.spec);
            *run.lean = weight;
            let point = [&found.x[..], &found.answer.y[..]].concat();
            return self.restart_at(run, Origin::Near(&point, REACH * WEIGHTS[step]), ACCURACY * weight);
        }
        *run.lean = position::weight(&self.config);
        self.knowledge = *known;
        for solution in seen.iter().chain(&before).filter(|_| step >= NEARLY) {
            self.knowledge.rivals.push(&solution.x, &solution.answer.y);
        }
        // A region that got lost on the way may still hold what it was made from.
        match found.filter(|_| step >= ENOUGH).or(before.filter(|_| step > ENOUGH && !confirms)) {
            Some(mut found) => {
                found.answer.settled = true;
                self.ties.just = true;
                self.population.incumbent = Some(found.clone());
                self.phase = Phase::Recheck(Box::new(self.second_look(found).with_own_answer()));
            }
            None => {
                let agrees = usize::from(confirms && self.ties.won);
                self.agreeing = (self.agreeing.0 + agrees, self.agreeing.1 + agrees);
                self.ties.just = true;
                self.go_on(run);
            }
        }
    }

    /// Whether the follower may be indifferent somewhere: it has several minima, or its answer to the
    /// elite lies at a bound or a constraint, so that it may jump to another one. An answer inside moves
    /// with the decision.
    pub(super) fn ties_are_likely(&self, spec: &ProblemSpec) -> bool {
        let Some(elite) = &self.elite else { return true };
        let near = |y: f64, (low, high): (f64, f64)| (y - low).min(high - y) <= AT_BOUND * (high - low);
        let bound = elite.answer.y.iter().zip(spec.lower.space.bounds()).any(|(&y, &b)| near(y, b));
        let active = |c: &f64| *c >= -AT_BOUND * (1.0 + elite.answer.outcome.value.abs());
        self.hopes.are_several() || bound || elite.answer.constraints.iter().any(active)
    }

    /// Whether a solution with a leaning follower is clearly better than the elite.
    pub(super) fn promises(&self, found: &Solution) -> bool {
        self.elite.as_ref().is_none_or(|elite| found.compare(elite).is_lt() && !found.agrees(elite, AGREEMENT))
    }
}

/// The largest distance between two solutions along a variable, as a share of its box.
fn distance(spec: &ProblemSpec, a: &Solution, b: &Solution) -> f64 {
    let bounds = spec.upper.space.bounds().iter().chain(spec.lower.space.bounds());
    let pairs = a.x.iter().chain(&a.answer.y).zip(b.x.iter().chain(&b.answer.y));
    pairs.zip(bounds).fold(0.0_f64, |most, ((a, b), (low, high))| most.max((a - b).abs() / (high - low)))
}
