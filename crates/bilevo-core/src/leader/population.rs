//! A wide restart: differential evolution over the whole box, for functions that jump.
//!
//! If a function has steps, a descent ends at the nearest edge, and other descents may agree on it. A population
//! only compares values, covers the whole box, and ignores everything known so far, so if several of them find the
//! same point, that is evidence. When it has gathered or stalls, a pattern takes its best member to the edge.

use super::{Point, starts};
use crate::de::{self, Parents, Success, SuccessMemory};
use crate::order;
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// The number of members: for each variable, at least, and at most.
const MEMBERS: (usize, usize, usize) = (6, 20, 80);
/// It has gathered when all members lie this close together along every variable (standard deviation).
const GATHERED: f64 = 0.1;
/// It ends after this many generations without a better member, or this many in all.
const STALLED: usize = 5;
const GENERATIONS: usize = 60;
/// The number of pairs of rates that are remembered.
const MEMORY: usize = 5;
/// The share of the members that guide the others.
const GUIDES: f64 = 0.3;

/// The population.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Population {
    members: Vec<Point>,
    /// Points in progress: which member they would replace (none for the first points), and their rates.
    trials: Vec<Trial>,
    memory: SuccessMemory,
    successes: Vec<(f64, f64, f64)>,
    generation: usize,
    /// The number of generations since the best member last improved by enough, and what it was worth then.
    stalled: usize,
    before: Option<Outcome>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Trial {
    at: Vec<f64>,
    target: Option<usize>,
    rate: f64,
    scale: f64,
}

impl Population {
    /// A population that has not begun.
    pub(super) fn new() -> Self {
        Population {
            members: Vec::new(),
            trials: Vec::new(),
            memory: SuccessMemory::new(MEMORY),
            successes: Vec::new(),
            generation: 0,
            stalled: 0,
            before: None,
        }
    }

    /// The best member, if there is one.
    pub(super) fn best(&self) -> Option<&Point> {
        self.members.iter().min_by(|a, b| order::compare(&a.outcome, &b.outcome))
    }

    /// The largest standard deviation of the members along a variable.
    pub(super) fn width(&self) -> f64 {
        let count = self.members.len() as f64;
        let along = |k: usize| {
            let mean = self.members.iter().map(|m| m.at[k]).sum::<f64>() / count;
            (self.members.iter().map(|m| (m.at[k] - mean) * (m.at[k] - mean)).sum::<f64>() / count).sqrt()
        };
        (0..self.members.first().map_or(0, |m| m.at.len())).map(along).fold(0.0, f64::max)
    }

    /// The next generation; none when it has gathered or stalls: smaller gains than `progress` do not count.
    pub(super) fn next(&mut self, space: &Space, stream: &mut Stream, progress: f64) -> Vec<Vec<f64>> {
        self.generation += 1;
        if self.generation == 1 {
            let count = (MEMBERS.0 * space.dim()).clamp(MEMBERS.1, MEMBERS.2);
            let first = starts::spread(space, count, stream);
            self.trials = first.into_iter().map(|at| Trial { at, target: None, rate: 0.0, scale: 0.0 }).collect();
        } else {
            let learnt = self.successes.drain(..).map(|(rate, scale, gain)| Success { rate, scale, gain });
            self.memory.learn(&learnt.collect::<Vec<_>>());
            self.stalled = 1 + if self.has_gained(progress) { 0 } else { self.stalled };
            let over = self.stalled > STALLED || self.generation > GENERATIONS || self.width() <= GATHERED;
            self.trials.clear();
            if !over && self.members.len() >= 4 {
                self.breed(space, stream);
            }
        }
        self.trials.iter().map(|trial| trial.at.clone()).collect()
    }

    /// Whether the best member has got better by so much.
    fn has_gained(&mut self, progress: f64) -> bool {
        let Some(now) = self.best().map(|best| best.outcome) else { return false };
        let gained = |before: Outcome| {
            let feasible = now.is_feasible() && before.is_feasible();
            order::better(&now, &before) && (!feasible || before.value - now.value > progress)
        };
        let gained = self.before.is_none_or(gained);
        self.before = if gained { Some(now) } else { self.before };
        gained
    }

    fn breed(&mut self, space: &Space, stream: &mut Stream) {
        let unit = Space::from(vec![(0.0, 1.0); space.dim()]);
        let mut ranked: Vec<usize> = (0..self.members.len()).collect();
        ranked.sort_by(|&a, &b| order::compare(&self.members[a].outcome, &self.members[b].outcome));
        let guides = ((GUIDES * ranked.len() as f64) as usize).max(2);
        for target in 0..self.members.len() {
            let (rate, scale) = self.memory.draw(stream);
            let guide = ranked[stream.below(guides)];
            let pair = stream.choose(self.members.len(), 2);
            let of = |index: usize| &self.members[index].at[..];
            let parents = Parents { target: of(target), guide: of(guide), plus: of(pair[0]), minus: of(pair[1]) };
            let mut at = vec![0.0; space.dim()];
            de::trial(parents, scale, rate, &unit, stream, &mut at);
            space.snap(&mut at);
            self.trials.push(Trial { at, target: Some(target), rate, scale });
        }
    }

    /// Takes the values of a point.
    pub(super) fn tell(&mut self, told: &Point) {
        let Some(index) = self.trials.iter().position(|trial| trial.at == told.at) else { return };
        let Trial { target, rate, scale, .. } = self.trials.swap_remove(index);
        if told.outcome.is_failed() {
            return;
        }
        match target {
            None => self.members.push(told.clone()),
            Some(target) => {
                let member = &mut self.members[target];
                // Equally good ones move too, so that a plateau is crossed.
                if !order::better(&member.outcome, &told.outcome) {
                    let gain = (member.outcome.value - told.outcome.value).abs();
                    self.successes.push((rate, scale, gain));
                    *member = told.clone();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    #[test]
    fn gains_that_are_no_progress_do_not_keep_it_going() {
        // It gets a little better for ever, and the second variable never matters.
        let slope = |at: &[f64]| 1e-3 * at[0];
        let calls = |progress: f64| {
            let (mut population, streams) = (Population::new(), Streams::new(1));
            let space = Space::from(vec![(0.0, 1.0); 2]);
            let mut calls = 0;
            for round in 0.. {
                let asked = population.next(&space, &mut streams.open(Purpose::Sample, round, 1), progress);
                if asked.is_empty() {
                    break;
                }
                calls += asked.len();
                for at in asked {
                    let value = slope(&at);
                    population.tell(&Point { at, row: vec![value], outcome: Outcome { value, violation: 0.0 } });
                }
            }
            calls
        };
        // The first members and five generations.
        assert_eq!(calls(1e-2), 6 * MEMBERS.1);
        assert!(calls(0.0) > 8 * MEMBERS.1, "{}", calls(0.0));
    }

    #[test]
    fn it_finds_the_best_of_many_steps() {
        // Forty-nine plateaus; the best is the one around (0.9, 0.2).
        let steps = |at: &[f64]| {
            let part = |v: f64, best: f64| ((v * 7.0).floor() - (best * 7.0f64).floor()).abs();
            part(at[0], 0.9) + part(at[1], 0.2)
        };
        let space = Space::from(vec![(0.0, 1.0); 2]);
        for seed in 1..=5 {
            let (mut population, streams) = (Population::new(), Streams::new(seed));
            for round in 0.. {
                let asked = population.next(&space, &mut streams.open(Purpose::Sample, round, 1), 1e-2);
                if asked.is_empty() {
                    break;
                }
                for at in asked {
                    let value = steps(&at);
                    population.tell(&Point { at, row: vec![value], outcome: Outcome { value, violation: 0.0 } });
                }
            }
            assert_eq!(population.best().unwrap().row, [0.0], "seed {seed}");
        }
    }
}
