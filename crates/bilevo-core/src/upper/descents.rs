//! Descents over the leader's decisions if there are whole numbers, guided by a model.
//!
//! A descent tries the neighbours of its current decision: one whole number moved, or two exchanged. A Gaussian
//! process of F and the leader's constraints decides which neighbours come first, and which values of the real
//! variables go with them. The real variables of the current decision are searched by steps on the same model
//! (`portfolio::follower`). If a neighbour is better, the descent moves there. It ends when all moves and the most
//! promising exchanges have been tried; then another descent starts elsewhere, until enough of them end at the same
//! value.
//!
//! If there are few decisions, all of them are tried, and the run is over. If the follower has whole numbers, F may
//! jump between two values of a real variable; then real variables are also moved by parts of their range, and half
//! of the candidates are sampled by CMA-ES.
//!
//! No decision is proposed twice, unless no feasible answer to it was found. Randomness: the stream of the sampling
//! round.

mod ends;
mod model;
#[cfg(test)]
mod tests;
mod walk;

use super::joint_cma::JointCmaConfig;
use crate::candidate::{Candidate, Solved};
use crate::order;
use crate::portfolio::archive::{Learner, Points};
use crate::portfolio::follower::{Follower, Knowledge};
use crate::portfolio::merit::Merit;
use crate::problem::{self, Outcome, ProblemSpec};
use crate::record::StopReason;
use crate::rng::Stream;
use crate::whole::{Mixed, key};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Up to this many pairs of a decision and an answer, all are tried; the second number is for decisions if the
/// follower has its own solver, which is slow.
const FEW: (u64, u64) = (4096, 64);
/// How many descents must end at the best value: if steps of real variables lead the way, and otherwise.
const AGREEING: (usize, usize) = (3, 4);
/// How often an answer is searched for at a decision.
const TRIES: usize = 3;
/// Values closer than this part of their spread count as equal.
const SAME: f64 = 1e-4;

/// What was tried, and where descents go.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Descents {
    mixed: Mixed,
    /// Whether the follower has whole numbers, so that F may jump.
    jumps: bool,
    /// Whether to try all decisions.
    all: bool,
    share: f64,
    /// How many descents must end at the best value.
    agreeing: usize,
    points: Points,
    knowledge: Knowledge,
    asked: BTreeSet<Vec<u64>>,
    /// The best decision with the same whole numbers, and how many were tried.
    wholes: BTreeMap<Vec<u64>, (usize, Option<Stand>)>,
    elite: Option<Stand>,
    /// Decisions at which no feasible answer was found.
    unanswered: Vec<Vec<f64>>,
    /// The current descent.
    descent: Option<Descent>,
    /// Where descents ended, and how many ended there.
    ends: Vec<(Stand, usize)>,
    fruitless: usize,
    /// Starts so far.
    turn: usize,
    over: Option<StopReason>,
}

/// A decision with its answer and the values of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Stand {
    x: Vec<f64>,
    y: Vec<f64>,
    row: Vec<f64>,
    outcome: Outcome,
}

impl Stand {
    fn of(solved: &Solved) -> Option<Self> {
        let row = [&[solved.upper.value], &solved.upper_constraints[..]].concat();
        let stand = Stand { x: solved.x.clone(), y: solved.y.clone(), row, outcome: solved.upper };
        (!solved.upper.is_failed()).then_some(stand)
    }
}

/// One descent.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Descent {
    /// Its current decision; `None` before its start has been evaluated.
    at: Option<Stand>,
    /// The search over the real variables around it, and the point it is waiting for.
    reals: Option<Follower>,
    waiting: Option<Vec<f64>>,
    /// What it requested in this generation.
    asked: Vec<Vec<f64>>,
    /// Neighbours tried since it arrived here.
    tries: usize,
    /// Whether it started without regard to the best decision, so that returning there is evidence.
    far: bool,
}

impl Descents {
    pub(super) fn new(spec: &ProblemSpec, config: &JointCmaConfig) -> Self {
        let space = spec.upper.space.clone();
        let whole_answers = spec.lower.space.has_whole();
        let mixed = Mixed::new(space);
        let outputs = 1 + spec.upper.constraints();
        let learner = Learner::new(mixed.lengths(), 0);
        let merit = Merit::new(spec.upper.inequalities, spec.upper.equalities);
        Descents {
            points: Points::new(mixed.space.dim(), outputs),
            knowledge: Knowledge { learner, merit },
            share: if mixed.reals() > 0 && whole_answers { config.exchange } else { 1.0 },
            agreeing: config.agreeing.unwrap_or(if mixed.reals() > 0 && !whole_answers {
                AGREEING.0
            } else {
                AGREEING.1
            }),
            jumps: whole_answers,
            all: tries_all(spec),
            mixed,
            asked: BTreeSet::new(),
            wholes: BTreeMap::new(),
            elite: None,
            unanswered: Vec::new(),
            descent: None,
            ends: Vec::new(),
            fruitless: 0,
            turn: 0,
            over: None,
        }
    }

    /// Why nothing more needs to be requested.
    pub(super) fn over(&self) -> Option<StopReason> {
        self.over
    }

    /// Descents that ended at a value, and all descents.
    pub(super) fn agreeing(&self, value: f64) -> (u64, u64) {
        let near = |end: &&(Stand, usize)| (end.0.outcome.value - value).abs() <= self.same();
        let count = self.ends.iter().find(near).map_or(0, |end| end.1 as u64);
        (count, self.ends.iter().map(|end| end.1 as u64).sum())
    }

    /// Rounds the candidates, and replaces the last ones with its own decisions; leaves out what was tried before.
    pub(super) fn join(&mut self, candidates: &mut Vec<Candidate>, stream: &mut Stream) {
        let places = candidates.len();
        candidates.iter_mut().for_each(|candidate| self.mixed.space.round(&mut candidate.x));
        if self.elite.is_some() {
            let own = self.propose((self.share * places as f64).ceil() as usize, stream);
            candidates.retain(|candidate| !self.asked.contains(&key(&candidate.x)));
            candidates.truncate(places.saturating_sub(own.len()));
            candidates.extend(own);
        }
        if let Some(elite) = self.elite.as_ref().filter(|_| self.over.is_some() || candidates.is_empty()) {
            *candidates = vec![Candidate { x: elite.x.clone(), guess: elite.y.clone() }];
        }
        let mut seen = BTreeSet::new();
        candidates.retain(|candidate| seen.insert(key(&candidate.x)));
        for candidate in candidates.iter() {
            self.asked.insert(key(&candidate.x));
            self.wholes.entry(self.whole_key(&candidate.x)).or_default().0 += 1;
        }
    }

    /// The decisions that a descent wants, at most this many.
    fn propose(&mut self, places: usize, stream: &mut Stream) -> Vec<Candidate> {
        while self.over.is_none() {
            let Some(mut descent) = self.descent.take().or_else(|| self.start(places, stream)) else { break };
            let wanted = match descent.at.clone() {
                None => std::mem::take(&mut descent.asked),
                Some(at) => self.around(&mut descent, at, places),
            };
            if !wanted.is_empty() {
                let guess = descent.at.as_ref().or(self.elite.as_ref()).map_or_else(Vec::new, |at| at.y.clone());
                descent.asked.clone_from(&wanted);
                self.descent = Some(descent);
                return wanted.into_iter().map(|x| Candidate { x, guess: guess.clone() }).collect();
            }
            self.finish(descent);
        }
        Vec::new()
    }

    /// Records the values of decisions, and which is best.
    pub(super) fn learn(&mut self, solved: &[Solved], elite: Option<&Solved>) {
        for solved in solved {
            let stand = Stand::of(solved);
            self.unanswered.retain(|x| *x != solved.x);
            if !solved.lower.is_feasible() {
                self.unanswered.push(solved.x.clone());
            }
            let unit = self.mixed.unit(&solved.x);
            self.points.push(&unit, stand.as_ref().map_or(&[], |stand| &stand.row[..]));
            if let Some(stand) = &stand {
                let known = &mut self.wholes.entry(self.whole_key(&solved.x)).or_default().1;
                if known
                    .as_ref()
                    .is_none_or(|known| known.x == stand.x || order::better(&stand.outcome, &known.outcome))
                {
                    *known = Some(stand.clone());
                }
            }
            let Some(descent) = &mut self.descent else { continue };
            if descent.waiting.as_ref() == Some(&solved.x) {
                descent.waiting = None;
                let row = stand.as_ref().map_or(&[][..], |stand| &stand.row[..]);
                let merit = &self.knowledge.merit;
                descent.reals.iter_mut().for_each(|reals| reals.tell(&unit[self.mixed.wholes..], row, merit));
            }
            if descent.asked.contains(&solved.x)
                && let Some(stand) = stand
            {
                descent.move_to(stand, &self.mixed);
            }
        }
        self.elite = elite.and_then(Stand::of).or(self.elite.take());
        // A recheck of the follower may have changed the value of the best decision.
        if let Some(elite) = &self.elite {
            let known = self.wholes.entry(key(&self.mixed.unit(&elite.x)[..self.mixed.wholes])).or_default();
            let same = known.1.as_ref().is_none_or(|known| known.x == elite.x);
            known.1 = if same { Some(elite.clone()) } else { known.1.take() };
            let at = self.descent.iter_mut().filter_map(|descent| descent.at.as_mut());
            at.filter(|at| at.x == elite.x).for_each(|at| at.clone_from(elite));
        }
        if self.all && self.untried().next().is_none() {
            self.over = Some(StopReason::Exhausted);
        }
    }

    /// Decisions without an answer that may have one after all: a search can miss it.
    fn doubtful(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        let times = |x: &[f64]| self.wholes.get(&self.whole_key(x)).map_or(0, |known| known.0);
        self.unanswered.iter().filter(move |x| times(x) < TRIES).cloned()
    }

    fn untried(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        self.mixed.space.enumerate(&self.mixed.space.middle()).filter(|x| !self.asked.contains(&key(x)))
    }

    fn whole_key(&self, x: &[f64]) -> Vec<u64> {
        key(&self.mixed.unit(x)[..self.mixed.wholes])
    }

    fn same(&self) -> f64 {
        SAME * self.points.scale(0)
    }
}

/// Whether there are so few decisions that all are tried.
fn tries_all(spec: &ProblemSpec) -> bool {
    let (upper, lower) = (&spec.upper.space, &spec.lower.space);
    upper.is_finite()
        && match spec.follower {
            problem::Follower::Oracle => upper.combinations() <= FEW.1,
            problem::Follower::Search => {
                lower.is_finite() && upper.combinations().saturating_mul(lower.combinations()) <= FEW.0
            }
        }
}
