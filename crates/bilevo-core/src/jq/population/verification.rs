//! Verification: the generation's best and the incumbent are refined, and the incumbent is tested
//! with its rival and a random answer, before anybody becomes or stays incumbent.

use super::{GAIN, Population, Stage, TIES, TOLERANCES, Unverified, World};
use crate::batch::Answers;
use crate::config::PositionKind;
use crate::jq::follower::{Answer, Effort, Follower};
use crate::jq::searches::{Searches, Wanted, answer};
use crate::jq::solution::Solution;
use crate::rng::{Purpose, Stream};

/// What a verification may spend.
const EFFORT: Effort = Effort { evaluations: 70, tolerance: TOLERANCES.1, gain: GAIN, region: 0.5 };
/// Range of the steps by which a random answer differs from the incumbent's, as shares of the box.
const SCOUTS: (f64, f64) = (0.003, 0.3);

impl Population {
    /// Makes solutions of the answers, and opens the verification of the best and the incumbent.
    pub(super) fn judge(&mut self, world: &mut World<'_>, answers: &Answers<'_>) {
        self.solutions.clear();
        for (i, (candidate, answer)) in self.chosen.iter().zip(&self.answers).enumerate() {
            let (outcome, constraints) = (answers.outcomes[i], answers.constraints(i));
            self.solutions.push(Solution::new(world.spec, candidate.x.clone(), answer.clone(), outcome, constraints));
        }
        self.price();
        for (i, (task, answer)) in std::mem::take(&mut self.ties).into_iter().enumerate() {
            let index = self.chosen.len() + i;
            let (outcome, constraints) = (answers.outcomes[index], answers.constraints(index));
            let tie = Solution::new(world.spec, self.chosen[task].x.clone(), answer, outcome, constraints);
            if world.counts(&tie, &self.solutions[task], self.penalty) {
                self.solutions[task] = tie;
            }
        }
        let mut merits: Vec<f64> = self.solutions.iter().map(|s| s.merit(self.penalty)).collect();
        merits.sort_by(f64::total_cmp);
        let gap = |i: usize| (merits[i.min(merits.len() - 1)] - merits[0]).abs();
        self.unverified = Unverified { merit: merits[0], spread: gap(merits.len() / 2).max(gap(1)) };
        let best = self.best();
        let search = |solution: &Solution, index: u64| {
            let stream = world.streams.open(Purpose::Refine, self.generation, index);
            Follower::from_answer(solution.x.clone(), solution.answer.clone(), EFFORT, stream)
        };
        let finite = self.solutions.get(best).filter(|s| !s.upper.is_failed());
        let verified = finite.map(|s| search(s, 0)).into_iter().chain(self.incumbent.as_ref().map(|s| search(s, 1)));
        self.verifies_best = finite.is_some();
        self.searches = Searches::new(verified.collect());
        self.stage = Stage::Verify;
        self.discovery = None;
        if let Some(incumbent) = self.incumbent.as_ref().filter(|_| world.config.discovery.is_on()) {
            let bounds = (world.spec.upper.space.bounds(), world.spec.lower.space.bounds());
            let rival =
                world.knowledge.rivals.nearest((&incumbent.x, &incumbent.answer.y), bounds.0, bounds.1, world.apart());
            let mut stream = world.streams.open(Purpose::Elite, self.generation, 0);
            let random = scout(&incumbent.answer.y, bounds.1, self.generation.is_multiple_of(2), &mut stream);
            self.scouts = rival.map(<[f64]>::to_vec).into_iter().chain([random]).collect();
            if world.position != PositionKind::Any {
                self.scouts.truncate(1);
            }
        }
    }

    /// Keeps the better of the rival and the random answer.
    pub(super) fn judge_scouts(&mut self, world: &World<'_>, first: usize, answers: &Answers<'_>) {
        let merit = |a: &Answer| a.merit(world.knowledge.penalty);
        let scouts = std::mem::take(&mut self.scouts).into_iter().enumerate();
        let best = scouts.map(|(i, y)| answer(y, answers, first + i)).min_by(|a, b| merit(a).total_cmp(&merit(b)));
        self.discovery = best.or(self.discovery.take());
    }

    /// Searches from the scout's answer if it beats the incumbent's, or may be as good as that.
    pub(super) fn open_discovery(&mut self, world: &mut World<'_>, wanted: &mut Wanted) {
        let current = self.reverified.get(usize::from(self.verifies_best));
        let won = match (&self.discovery, current) {
            (Some(found), Some(current)) => {
                world.position != PositionKind::Any || found.exposes(current, world.knowledge.penalty, 1e-6)
            }
            _ => false,
        };
        let Some((found, incumbent)) = self.discovery.take().filter(|_| won).zip(self.incumbent.as_ref()) else {
            self.ask_confirmation(world, wanted);
            return;
        };
        let stream = world.streams.open(Purpose::Refine, self.generation, 2);
        self.searches = Searches::new(vec![Follower::from_answer(incumbent.x.clone(), found, EFFORT, stream)]);
        self.stage = Stage::Discovery;
    }

    /// The answer found from there becomes a rival and, if it is better, replaces the incumbent's.
    pub(super) fn adopt_discovery(&mut self, world: &mut World<'_>) {
        let found = self.searches.all().first().and_then(Follower::answer).cloned();
        if let (Some(found), Some(incumbent)) = (found, &self.incumbent) {
            world.knowledge.rivals.push(&incumbent.x, &found.y);
            let Some(current) = self.reverified.get_mut(usize::from(self.verifies_best)) else { return };
            if world.may_tie(&found, current, TIES.1) {
                self.tie = Some(found);
            } else if found.exposes(current, world.knowledge.penalty, 0.0) {
                *current = found;
            }
        }
    }

    /// The solution at a position among the verified ones, as it was before.
    fn verified(&self, index: usize) -> Option<&Solution> {
        match (index, self.verifies_best) {
            (0, true) => self.solutions.get(self.best()),
            _ => self.incumbent.as_ref(),
        }
    }

    /// Solutions whose verified answer differs, by their position among the verified ones.
    fn changed(&self) -> Vec<usize> {
        let differs = |&i: &usize| self.verified(i).is_some_and(|s| s.answer.y != self.reverified[i].y);
        (0..self.reverified.len()).filter(differs).collect()
    }

    /// F of the verified answers that changed.
    pub(super) fn ask_confirmation(&mut self, world: &mut World<'_>, wanted: &mut Wanted) {
        self.stage = Stage::Confirm;
        self.searches = Searches::default();
        for index in self.changed() {
            wanted.extend(self.verified(index).map(|s| [&s.x[..], &self.reverified[index].y[..]].concat()));
        }
        let tie = self.incumbent.as_ref().zip(self.tie.as_ref());
        wanted.extend(tie.map(|(incumbent, tie)| [&incumbent.x[..], &tie.y[..]].concat()));
        if wanted.is_empty() {
            self.confirm(world, &Answers::without_constraints(&[]));
        }
    }

    /// Takes over the verified answers and closes the generation.
    pub(super) fn confirm(&mut self, world: &mut World<'_>, answers: &Answers<'_>) {
        let (best, changed) = (self.best(), self.changed());
        let reverified = std::mem::take(&mut self.reverified);
        for (index, answer) in reverified.into_iter().enumerate() {
            let is_best = index == 0 && self.verifies_best;
            let target = if is_best { self.solutions.get_mut(best) } else { self.incumbent.as_mut() };
            let Some(target) = target else { continue };
            match changed.iter().position(|&i| i == index) {
                // An answer whose upper evaluation failed is not taken over.
                Some(i) if answers.outcomes[i].is_failed() => {}
                Some(i) => {
                    let x = std::mem::take(&mut target.x);
                    *target = Solution::new(world.spec, x, answer, answers.outcomes[i], answers.constraints(i));
                }
                None => target.answer = answer,
            }
            if let Some(judged) = self.judged.iter_mut().find(|s| !is_best && s.x == target.x) {
                judged.clone_from(target);
            }
        }
        let last = answers.outcomes.len().saturating_sub(1);
        if let (Some(answer), Some(incumbent)) = (self.tie.take(), &mut self.incumbent)
            && answers.outcomes.get(last).is_some_and(|outcome| !outcome.is_failed())
        {
            let (outcome, constraints) = (answers.outcomes[last], answers.constraints(last));
            let tie = Solution::new(world.spec, incumbent.x.clone(), answer, outcome, constraints);
            if world.counts(&tie, incumbent, self.penalty) {
                *incumbent = tie;
            }
        }
        self.close_generation(world, best);
    }
}

/// A random answer: anywhere in the box, or the present one with one variable changed by a step of
/// random size, as the basins of functions that are sums lie along the variables.
fn scout(y: &[f64], bounds: &[(f64, f64)], anywhere: bool, stream: &mut Stream) -> Vec<f64> {
    if anywhere {
        return bounds.iter().map(|(low, high)| low + (high - low) * stream.uniform()).collect();
    }
    let changed = ((stream.uniform() * y.len() as f64) as usize).min(y.len() - 1);
    let size = SCOUTS.0 * libm::pow(SCOUTS.1 / SCOUTS.0, stream.uniform());
    let mut scout = y.to_vec();
    let (low, high) = bounds[changed];
    scout[changed] = (y[changed] + size * (high - low) * stream.normal()).clamp(low, high);
    scout
}
