//! A local search by exchanges, for followers with whole numbers.
//!
//! If the follower has only a few combinations of whole numbers and no real variables, all of them are tried, so
//! its answer is exact. Otherwise a task starts from the guess and from the answers to nearby decisions, and
//! climbs: first by moving one variable at a time and, when none of these moves helps, by exchanging two whole
//! numbers. A thorough search (refinement) enumerates more, and perturbs its result a few times to climb again.
//! Answers are remembered over the generations, for the same decision and for others nearby.
//!
//! Real variables are searched by steps on a Gaussian process of f and its constraints over (x, y), which all tasks
//! share (`portfolio::follower`). Other whole numbers are tried together with the real values that the process
//! predicts for them.
//!
//! Randomness: one stream for each task, for perturbations. Cost: each round asks for one neighbourhood of every
//! task.

mod climb;
#[cfg(test)]
mod tests;

use super::task::{LowerAnswer, LowerRules};
use super::{LowerFacts, LowerSearch, LowerTask, SearchStreams};
use crate::batch::{Answers, Batch};
use crate::cma::Cma;
use crate::portfolio::archive::{Learner, Points};
use crate::portfolio::follower::Knowledge;
use crate::portfolio::merit::Merit;
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::space::{Space, Variable};
use crate::whole::{self, Mixed};
use climb::Climb;
use serde::{Deserialize, Serialize};

/// Maximum number of remembered answers.
const REMEMBERED: usize = 300;
/// Maximum number of remembered answers from which a task starts.
const STARTS: usize = 5;
/// Accuracy of the real variables, in units of the box: the finest, used by a refinement, and the coarsest. Anything
/// finer drowns in the rounding of f, whose square root is 1e-8.
const TOLERANCE: (f64, f64) = (1e-6, 1e-4);
/// Between those: this part of the distance to the nearest answered decision. The closer a decision is, the more
/// accurate an answer must be to be compared with it.
const RELATIVE: f64 = 1e-2;
/// Evaluations of one search over the real variables: per variable, and in addition.
const EFFORT: (usize, usize) = (30, 20);
/// Rounds in which a whole number next to real variables crosses half of its range, again and again.
const CROSSED: f64 = 10.0;
/// If whole numbers change by less than this, in units of the box, the real variables stay.
const HARDLY: f64 = 0.05;

/// How often a refinement of real variables continues from elsewhere: per variable, and in addition.
const KICKS: (usize, usize) = (1, 3);
/// Maximum number of the follower's basins that are told apart.
const WELLS: usize = 4;
/// From this distance on, in units of the box, two answers to a decision lie in different basins.
const APART: f64 = 0.05;

/// A set of exchange searches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exchange {
    rules: LowerRules,
    tasks: Vec<Climb>,
    /// Decisions and their answers, with f and its constraints if there are real variables; latest last.
    answered: Vec<Answered>,
    shared: Shared,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Answered {
    x: Vec<f64>,
    /// Where searches ended, the answer first. A nonconvex follower with real variables has several.
    ends: Vec<End>,
}

/// A local optimum of the follower; f and its constraints are empty if unknown.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct End {
    y: Vec<f64>,
    row: Vec<f64>,
    outcome: Outcome,
}

/// What all tasks share.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shared {
    mixed: Mixed,
    /// All evaluations, if there are real variables: unit coordinates of x, of the whole numbers and of the real
    /// variables.
    points: Points,
    knowledge: Knowledge,
}

impl Shared {
    fn new(rules: &LowerRules) -> Self {
        let mixed = Mixed::new(rules.space.clone());
        let lengths = [Mixed::new(rules.leader.clone()).lengths(), mixed.lengths()].concat();
        let (inequalities, equalities) = rules.constraints;
        Shared {
            points: Points::new(lengths.len(), 1 + inequalities + equalities),
            knowledge: Knowledge { learner: Learner::new(lengths, 0), merit: Merit::new(inequalities, equalities) },
            mixed,
        }
    }

    /// Moves the real variables to the values that the process predicts for another decision or other whole numbers.
    fn adapt(&mut self, from: &[f64], others: &mut [Vec<f64>], place: &Place, x: &[f64]) {
        if self.mixed.reals() == 0 || place.row.is_empty() {
            return;
        }
        let centre = [&place.x[..], &self.mixed.unit(from)].concat();
        let model = self.knowledge.learner.model(&self.points, &centre, &place.row, f64::INFINITY);
        let held = place.x.len() + self.mixed.wholes;
        for other in others {
            let unit = [x, &self.mixed.unit(other)].concat();
            let change: Vec<f64> = unit.iter().zip(&centre).take(held).map(|(a, b)| a - b).collect();
            // After a tiny change the real variables stay: a small gain would drown in the model's error.
            if change.iter().all(|c| c.abs() < HARDLY) {
                continue;
            }
            let step = whole::step(&model, &self.knowledge.merit, &place.row, &centre[held..], &change);
            let reals: Vec<f64> = centre[held..].iter().zip(&step.z).map(|(c, z)| c + z).collect();
            *other = self.mixed.with_reals(other, &reals);
        }
    }
}

/// A decision in unit coordinates, and the current f and constraints of a task; empty if unknown.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    x: Vec<f64>,
    row: Vec<f64>,
}

impl Exchange {
    pub(super) const FACTS: LowerFacts = LowerFacts {
        step: "Search the lower level for each of them by moves and exchanges of whole numbers; if there are only a few answers, try all.",
        exchanges: false,
        ..LowerFacts::USUAL
    };

    /// A search without any tasks yet.
    pub fn new(mut rules: LowerRules) -> Self {
        let shared = Shared::new(&rules);
        if shared.mixed.reals() > 0 {
            // Steps come one by one, and crossing a wide range takes many.
            let wide: f64 =
                rules.space.iter().filter(|v| v.is_whole()).map(|v| CROSSED * libm::log2(1.0 + v.width())).sum();
            rules.kicks = if rules.kicks > 0 { KICKS.0 * shared.mixed.reals() + KICKS.1 } else { 0 };
            let steps = (WELLS + rules.kicks + 1) * (EFFORT.0 * shared.mixed.reals() + EFFORT.1) + wide as usize;
            rules.max_generations = rules.max_generations.max(steps);
        }
        Exchange { rules, tasks: Vec::new(), answered: Vec::new(), shared }
    }

    /// Answers to the nearest decisions (nearest and latest first, each once), and the distance of the nearest. Real
    /// variables follow the model, so the ends of the nearest decision are enough, plus those of the nearest decision
    /// that has several.
    fn nearby(&mut self, x: &[f64]) -> (Vec<Vec<f64>>, f64) {
        let at = self.rules.leader.to_unit(x);
        let distance = |other: &[f64]| {
            let unit = self.rules.leader.to_unit(other);
            unit.iter().zip(&at).map(|(a, b)| (a - b).abs()).sum::<f64>()
        };
        let mut known: Vec<(f64, &Answered)> = self.answered.iter().rev().map(|a| (distance(&a.x), a)).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        let nearest = known.first().map_or(f64::INFINITY, |(distance, _)| *distance);
        let mut starts: Vec<Vec<f64>> = Vec::new();
        if self.shared.mixed.reals() == 0 {
            for y in known.iter().map(|(_, answered)| &answered.ends[0].y) {
                if starts.len() < STARTS && !starts.contains(y) {
                    starts.push(y.clone());
                }
            }
            return (starts, nearest);
        }
        let several = known.iter().find(|(_, answered)| answered.ends.len() > 1).map(|k| k.1);
        let first = known.first().map(|k| k.1);
        let several = several.filter(|_| first.is_some_and(|first| first.ends.len() == 1));
        for Answered { x, ends } in first.into_iter().chain(several) {
            for End { y, row, .. } in ends {
                let place = Place { x: self.rules.leader.to_unit(x), row: row.clone() };
                let mut start = [y.clone()];
                self.shared.adapt(y, &mut start, &place, &at);
                let [start] = start;
                if starts.iter().all(|other| !near(&self.rules.space, other, &start)) {
                    starts.push(start);
                }
            }
        }
        (starts, nearest)
    }

    /// Takes over where another search of the same decision ended.
    pub(super) fn learn_ends(&mut self, other: &Exchange) {
        other.tasks.iter().for_each(|climb| self.remember(climb.answered()));
    }

    fn remember(&mut self, answer: Answered) {
        self.answered.retain(|known| known.x != answer.x);
        self.answered.push(answer);
        let surplus = self.answered.len().saturating_sub(REMEMBERED);
        self.answered.drain(..surplus);
    }

    fn climb(&mut self, task: &LowerTask<'_>, stream: Stream) -> Climb {
        let mut guess = task.guess.to_vec();
        self.rules.space.round(&mut guess);
        let has_reals = self.shared.mixed.reals() > 0;
        let (near, distance) = self.nearby(task.x);
        let tolerance = match self.rules.kicks {
            0 => (RELATIVE * distance).clamp(TOLERANCE.0, TOLERANCE.1),
            _ => TOLERANCE.0,
        };
        let place = Place { x: self.rules.leader.to_unit(task.x), row: Vec::new() };
        let mut climb = Climb::new(task.x, &guess, place, tolerance, self.rules.kicks, stream);
        if self.rules.tries_all() && !has_reals {
            climb.enqueue(self.rules.space.enumerate(&guess));
        } else if has_reals {
            // Every start is searched separately, the first at once.
            let first = (near.is_empty() || self.rules.kicks > 0).then_some(guess);
            climb.starts = first.into_iter().chain(near).collect();
            climb.kicks += usize::from(climb.kicks == 0 && climb.starts.len() > 1);
            let first = climb.starts.remove(0);
            climb.enqueue([first]);
        } else {
            climb.enqueue(std::iter::once(guess).chain(near));
        }
        climb
    }
}

/// Whether two answers lie in the same basin.
fn near(space: &Space, a: &[f64], b: &[f64]) -> bool {
    let apart = |(v, (a, b)): (Variable, (&f64, &f64))| (v.unit(*a) - v.unit(*b)).abs() > APART;
    !space.iter().zip(a.iter().zip(b)).any(apart)
}

impl LowerSearch for Exchange {
    fn open(&mut self, tasks: &[LowerTask<'_>], _metric: &Cma, streams: SearchStreams) {
        let climbs = tasks.iter().enumerate().map(|(index, task)| self.climb(task, streams.task(index))).collect();
        self.tasks = climbs;
    }

    fn ask(&mut self, batch: &mut Batch) {
        for climb in self.tasks.iter().filter(|climb| climb.task.is_open()) {
            climb.queue.iter().for_each(|y| batch.push(&climb.task.x).copy_from_slice(y));
        }
    }

    fn tell(&mut self, _batch: &Batch, answers: Answers<'_>) {
        let mut first = 0;
        for climb in self.tasks.iter_mut().filter(|climb| climb.task.is_open()) {
            let asked = climb.queue.len();
            climb.tell(first, answers, &self.rules, &mut self.shared);
            first += asked;
        }
        if self.tasks.iter().all(|climb| !climb.task.is_open()) {
            let answered: Vec<Answered> = self.tasks.iter().map(Climb::answered).collect();
            answered.into_iter().for_each(|answered| self.remember(answered));
        }
    }

    fn learn(&mut self, x: &[f64], y: &[f64]) {
        let end = End { y: y.to_vec(), row: Vec::new(), outcome: Outcome::FAILED };
        self.remember(Answered { x: x.to_vec(), ends: vec![end] });
    }

    fn answers(&self) -> Vec<LowerAnswer> {
        self.tasks.iter().map(|climb| climb.task.answer()).collect()
    }
}
