//! Restarts: which kind comes next, from where, and when a run has had enough of them.

use super::config::Effort;
use super::descent::Descent;
use super::population::{self, Origin, Population, Start};
use super::solution::Solution;
use super::{AGREEMENT, JointQuadratic, Phase};
use crate::config::{Config, PositionKind};
use crate::engine::RunView;
use crate::problem::ProblemSpec;
use crate::rng::{Purpose, Stream, Streams};
use serde::{Deserialize, Serialize};

/// Descents before the first population, as long as they come to their end.
const FIRST_DESCENTS: u64 = 2;

/// Variables of both levels up to which a descent has as many evaluations for each, and up to which there
/// are descents. Their models cost the cube of the variables: 1.3 ms an evaluation at 20+20, as much as a
/// population's at 40+40, where a descent's cost 3 ms.
pub(super) const DESCENT_DIM: (usize, usize) = (5, 40);

/// Size of a population relative to the first one, at most.
const LARGEST: f64 = 2.0;

/// Distance of a start from the lower ends of the leader's box, as a share of it, and
/// the size of the first steps relative to that distance.
const NEAR_END: (f64, f64) = (1e-3, 3e-2);
const NEAR_END_SIZE: f64 = 5.0;

/// The descent from near the lower ends of the leader's box, before a run ends. Where a box is far too
/// wide, as that of a price may be, the follower does not respond to nearly all of it, and restarts agree on
/// what they find there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum NearEnds {
    ToCome,
    UnderWay,
    Made,
}

impl JointQuadratic {
    /// Compares the incumbent of a restart with the elite and goes on or ends.
    pub(super) fn conclude(&mut self, run: &mut RunView<'_>) {
        let Some(incumbent) = self.population.incumbent.take() else { return self.restart(run) };
        let (all, populations) = self.agreeing;
        let population = usize::from(!self.descending);
        let disagrees = self.elite.as_ref().is_some_and(|elite| !incumbent.agrees(elite, AGREEMENT));
        // Descents that end elsewhere end at the nearest of several optima.
        self.descends &= !(self.descending && disagrees);
        self.agreeing = match &self.elite {
            Some(elite) if incumbent.agrees(elite, AGREEMENT) => (all + 1, populations + population),
            Some(elite) if incumbent.compare(elite).is_ge() => self.agreeing,
            // What the restarts agreed on has led to it.
            _ if self.hopes.lifts => self.agreeing,
            _ => (1, population),
        };
        self.hopes.lifts = false;
        if self.elite.as_ref().is_none_or(|elite| incumbent.compare(elite).is_le()) {
            self.ties.note_elite(self.elite.as_ref().is_none_or(|elite| !incumbent.agrees(elite, AGREEMENT)));
            self.elite = Some(incumbent);
        }
        self.go_on(run);
    }

    /// Another restart, a search for ties, or the end.
    pub(super) fn go_on(&mut self, run: &mut RunView<'_>) {
        let (all, populations) = self.agreeing;
        let agreed = self.config.jq.effort.agreement().is_some_and(|(a, p)| all >= a && populations >= p);
        if self.near_ends == NearEnds::UnderWay {
            self.near_ends = NearEnds::Made;
        }
        if agreed && self.descends_near_ends(run) {
            return;
        }
        let likely = self.ties_are_likely(run.spec);
        if agreed && self.looks(likely) {
            return;
        }
        if self.ties.are_due(&self.config, self.restarts, agreed, likely) {
            self.lean(run);
        } else if !agreed {
            self.restart(run);
        }
    }

    /// The next restart. Where descents come to their end they are the cheaper kind, but end at the
    /// nearest optimum: after the first two they alternate with populations. Where they do not, end at
    /// another value or meet a follower with several basins, only populations follow.
    pub(super) fn restart(&mut self, run: &RunView<'_>) {
        self.ties.just = false;
        self.hopes.lifts = false;
        if self.descends && self.descents < self.restarts + FIRST_DESCENTS {
            self.begin_descent();
            self.phase = descent(self.descent_budget, run.spec, run.streams, self.descents);
            return;
        }
        self.restart_at(run, Origin::Anywhere, 0.0);
    }

    pub(super) fn begin_descent(&mut self) {
        self.descents += 1;
        self.descending = true;
        self.finished = false;
        self.hopes.borders = 0;
    }

    /// Begins the descent from near the ends of the box, if it is still to come.
    fn descends_near_ends(&mut self, run: &RunView<'_>) -> bool {
        let wanted = self.descent_budget > 0 && self.config.jq.effort != Effort::Quick;
        let begins = wanted && self.near_ends == NearEnds::ToCome;
        if begins {
            self.near_ends = NearEnds::UnderWay;
            (self.ties.just, self.hopes.lifts) = (false, false);
            self.begin_descent();
            self.phase = descent_near_ends(self.descent_budget, run.spec, run.streams, self.descents);
        }
        begins
    }

    /// A population.
    pub(super) fn restart_at(&mut self, run: &RunView<'_>, origin: Origin<'_>, accuracy: f64) {
        self.populate(run.spec, run.streams, origin, accuracy);
    }

    pub(super) fn populate(&mut self, spec: &ProblemSpec, streams: Streams, origin: Origin<'_>, accuracy: f64) {
        // Where a population did not end the run, a larger one may.
        let before = if self.ties.is_leaning() { 0 } else { self.restarts - self.ties.populations() };
        let size = self.size as f64 * (1.0 + self.config.jq.growth * before as f64).min(LARGEST);
        self.restarts += 1;
        self.descending = false;
        self.finished = false;
        self.hopes.borders = 0;
        self.population = Population::new(&Start {
            spec,
            config: &self.config,
            size: libm::round(size) as usize,
            streams,
            restart: self.restarts,
            generation: self.population.generation() + 1,
            origin,
            accuracy,
        });
        self.knowledge.effort = population::EFFORT.0;
        self.phase = Phase::Search;
    }

    /// Whether a descent may go on from the incumbent: once in a restart, from a solved follower.
    pub(super) fn may_finish(&self) -> bool {
        let settled = self.population.incumbent.as_ref().is_some_and(|s| s.answer.settled && !s.upper.is_failed());
        let wanted = self.config.jq.finish.is_on() && self.descent_budget > 0;
        settled && wanted && !self.finished && !self.ties.is_leaning() && !self.ties.just
    }

    /// Whether the worst of several answers counts: a descent sees one of them only, and what was not
    /// rechecked is not to be believed.
    pub(super) fn is_wary(&self) -> bool {
        self.config.position.kind == PositionKind::Pessimistic && self.hopes.several
    }

    /// A descent from the incumbent, its first steps `size` times as long as usual.
    pub(super) fn finish(&mut self, spec: &ProblemSpec, size: f64) {
        let Some(Solution { x, answer, .. }) = &self.population.incumbent else { return };
        let start = [&x[..], &answer.y[..]].concat();
        let budget = self.descent_budget / 2;
        self.finished = true;
        self.judged = false;
        self.phase = Phase::Descend(Box::new(Descent::near(spec, &start, size.min(1.0), budget)));
    }
}

/// Evaluations of a descent: where there are more variables, it takes more for each of them.
pub(super) fn descent_budget(config: &Config, spec: &ProblemSpec) -> u64 {
    let dim = spec.dim();
    if dim > DESCENT_DIM.1 { 0 } else { (config.jq.descent * dim * dim.max(DESCENT_DIM.0) / DESCENT_DIM.0) as u64 }
}

/// A descent from a random point.
pub(super) fn descent(budget: u64, spec: &ProblemSpec, streams: Streams, number: u64) -> Phase {
    let start = anywhere(spec, &mut streams.open(Purpose::Start, 0, number));
    Phase::Descend(Box::new(Descent::new(spec, &start, budget)))
}

/// A descent from near the lower ends of the leader's box, with steps to match.
fn descent_near_ends(budget: u64, spec: &ProblemSpec, streams: Streams, number: u64) -> Phase {
    let mut stream = streams.open(Purpose::Start, 0, number);
    let mut start = anywhere(spec, &mut stream);
    let share = NEAR_END.0 * libm::pow(NEAR_END.1 / NEAR_END.0, stream.uniform());
    for (x, (low, high)) in start.iter_mut().zip(spec.upper.space.bounds()) {
        *x = low + (high - low) * share;
    }
    Phase::Descend(Box::new(Descent::near(spec, &start, NEAR_END_SIZE * share, budget)))
}

fn anywhere(spec: &ProblemSpec, stream: &mut Stream) -> Vec<f64> {
    let uniform = |&(low, high): &(f64, f64)| low + (high - low) * stream.uniform();
    spec.upper.space.bounds().iter().chain(spec.lower.space.bounds()).map(uniform).collect()
}
