//! The closing of a generation: who is the incumbent, what is learnt, whether to go on.

use super::{Clock, Opening, Population, Stage, World};
use crate::candidate::Solved;
use crate::jq::follower::FEASIBLE;
use crate::jq::model::JointModel;
use crate::jq::response;
use crate::jq::solution::Solution;
use crate::problem::Outcome;

/// Lower evaluations of a task: at first, and at least.
pub(crate) const EFFORT: (f64, f64) = (14.0, 4.0);
/// Share of the generation's spread by which verifying its best may change it: above the first the
/// effort doubles, below the second it falls.
const EFFECT: (f64, f64) = (0.5, 0.2);
/// Change of the leader's penalty while the incumbent is infeasible, and otherwise: it falls fast, as
/// the follower's does.
const PENALTY: (f64, f64) = (1.5, 0.7);
/// Former incumbents kept, to go back to when the incumbent is exposed.
const HISTORY: usize = 8;
/// A generation is flat if merits differ by less than this, relative; two of them end a population.
const FLAT: (f64, usize) = (1e-7, 2);
/// How often a correction of the incumbent counts as progress.
const CORRECTIONS: u64 = 10;
/// A population that is not asked for the utmost has so much less patience.
const HASTE: u64 = 3;

impl Population {
    /// Adapts everything to the solutions of the generation.
    pub(super) fn close_generation(&mut self, world: &mut World<'_>, best: usize) {
        self.latest = self.solutions.get(best).filter(|s| !s.upper.is_failed()).cloned();
        self.fruitless = self.latest.is_none();
        self.adapt_effort(world, best);
        self.go_back();
        self.adapt_radius();
        self.promote(best);
        let flat = self.is_flat();
        self.flat = if flat { self.flat + 1 } else { 0 };
        self.adapt_penalty(world);
        self.update();
        self.judged.append(&mut self.solutions);
        let old = self.judged.len().saturating_sub(response::memory(world.spec.upper.dim()));
        self.judged.drain(..old);
        world.knowledge.archive.trim(JointModel::memory(world.spec.dim()));
        self.watch();
        let patience = world.config.restart_after / if self.accuracy > 0.0 { HASTE } else { 1 };
        let stalled = self.clock.now - self.clock.progress > patience;
        let over = stalled || self.flat >= FLAT.1 || self.cma.reach() < self.collapsed;
        self.stage = if over { Stage::Ended } else { Stage::Open };
    }

    /// More effort where verification still changes the leader's view, less where it does not.
    fn adapt_effort(&self, world: &mut World<'_>, best: usize) {
        let Some(best) = self.solutions.get(best).filter(|_| self.verifies_best) else { return };
        let effect = (best.merit(self.penalty) - self.unverified.merit).abs() / self.unverified.spread.max(1e-300);
        let effort = &mut world.knowledge.effort;
        if effect > EFFECT.0 {
            *effort = (*effort * 2.0).min(20.0 * world.knowledge.params.population as f64);
        } else if effect < EFFECT.1 {
            *effort = (*effort * 0.7).max(EFFORT.1);
        }
    }

    /// An incumbent that turned out worse than a former one gives way to it.
    fn go_back(&mut self) {
        let penalty = self.penalty;
        let Some(incumbent) = &mut self.incumbent else { return };
        let settled = self.history.iter_mut().filter(|s| s.answer.settled);
        let former = settled.min_by(|a, b| a.merit(penalty).total_cmp(&b.merit(penalty)));
        if let Some(former) = former.filter(|former| former.merit(penalty) < incumbent.merit(penalty)) {
            std::mem::swap(former, incumbent);
        }
    }

    /// Trust in the leader's model follows whether its candidate beat the incumbent.
    fn adapt_radius(&mut self) {
        let Some(injected) = self.injected.and_then(|i| self.solutions.get(i)) else { return };
        let merit = injected.merit(self.penalty);
        let success = self.incumbent.as_ref().is_none_or(|incumbent| merit < incumbent.merit(self.penalty));
        self.radius = if success {
            (1.5 * self.radius).min(2.0 * response::RADIUS)
        } else {
            (0.7 * self.radius).max(0.3 * response::RADIUS)
        };
    }

    /// The verified best becomes incumbent if it is not worse, and settled if the incumbent is.
    fn promote(&mut self, best: usize) {
        let Some(best) = self.solutions.get(best).filter(|s| !s.upper.is_failed()) else { return };
        let promoted = self.incumbent.as_ref().is_none_or(|incumbent| {
            let (new, old) = (best.answer.settled, incumbent.answer.settled);
            new && !old || best.merit(self.penalty) <= incumbent.merit(self.penalty) && (new || !old)
        });
        if promoted {
            self.history.extend(self.incumbent.replace(best.clone()));
            let old = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..old);
        }
    }

    /// Whether all solutions are worth the same, the settled incumbent included.
    fn is_flat(&self) -> bool {
        let Some(incumbent) = self.incumbent.as_ref().filter(|s| s.answer.settled) else { return false };
        let tolerance = self.accuracy.max(FLAT.0) * (1.0 + self.unverified.merit.abs());
        self.unverified.spread < tolerance && (incumbent.merit(self.penalty) - self.unverified.merit).abs() < tolerance
    }

    /// Dearer violations while the incumbent violates, cheaper ones otherwise.
    fn adapt_penalty(&mut self, world: &World<'_>) {
        let Some(incumbent) = self.incumbent.as_ref().filter(|_| world.config.adapt_penalty.is_on()) else { return };
        self.penalty *= if incumbent.upper.violation > FEASIBLE { PENALTY.0 } else { PENALTY.1 };
    }

    /// Moves the distribution and teaches the allocator.
    fn update(&mut self) {
        let penalty = self.penalty;
        let mut parents: Vec<&Solution> = self.solutions.iter().filter(|s| !s.upper.is_failed()).collect();
        if self.recall > 0 && self.generation.is_multiple_of(self.recall as u64) {
            let unbeaten = |s: &&Solution| parents.iter().all(|p| s.merit(penalty) < p.merit(penalty));
            parents.extend(self.incumbent.iter().find(unbeaten));
        }
        parents.sort_by(|a, b| a.merit(penalty).total_cmp(&b.merit(penalty)));
        let points: Vec<Vec<f64>> = parents.iter().map(|s| [&s.x[..], &s.answer.y[..]].concat()).collect();
        if self.opening == Opening::Spread {
            self.opening = Opening::Sampled;
            points.into_iter().take(1).for_each(|best| self.cma.mean = best);
        } else {
            self.cma.update(&self.params, points.iter().map(Vec::as_slice), &mut self.scratch);
        }
        let ranked = |s: &Solution| {
            let solved = s.as_solved();
            let upper = if solved.upper.is_failed() {
                Outcome::FAILED
            } else {
                Outcome { value: s.merit(penalty), violation: 0.0 }
            };
            Solved { upper, ..solved }
        };
        self.allocator.learn(&self.solutions.iter().map(ranked).collect::<Vec<_>>());
    }

    /// Notes progress. An incumbent that verification made worse counts as progress too: the
    /// search stands on firmer ground and deserves its time again, though not for ever.
    fn watch(&mut self) {
        let merit = self.incumbent.as_ref().map_or(f64::INFINITY, |s| s.merit(self.penalty));
        let Clock { now, merit: last, corrections, .. } = self.clock;
        let better = merit < last - self.accuracy.max(1e-9) * (1.0 + last.abs());
        let worse = merit > last + self.accuracy.max(1e-6) * (1.0 + merit.abs());
        if better || worse && corrections < CORRECTIONS || !last.is_finite() {
            self.clock = Clock { now, progress: now, merit, corrections: corrections + u64::from(worse) };
        }
    }
}
