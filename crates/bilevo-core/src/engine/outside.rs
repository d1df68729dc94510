//! Translates between what a scheme proposes and what is evaluated.
//!
//! A scheme searches the free variables, with whole numbers relaxed. Before a point is evaluated, the fixed
//! variables are put in and whole numbers are rounded. If the follower has only whole numbers, the same points come
//! up again and again, so answers are remembered and never requested twice. A problem without fixed variables and
//! whole numbers needs none of this, unless evaluations of earlier runs are known (`known`).

use crate::batch::{Batch, Replies};
use crate::problem::{Follower, Level, LevelSpec, OracleAnswer, Outcome, ProblemSpec};
use crate::record::Solution;
use crate::space::{Space, Variable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The maximum number of remembered evaluations.
const REMEMBERED: usize = 200_000;

/// Where the answer to a proposed point comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Origin {
    /// It is already known.
    Known(Answered),
    /// It is this one of the points that are evaluated.
    Asked(usize),
}

/// An answer: outcome, constraint values and, for a decision, what the follower's own solver said.
pub(super) type Answered = (Outcome, Vec<f64>, Option<OracleAnswer>);

/// A variable's range is divided into this many places, so that a point that was converted to unit coordinates and
/// back is still the same.
const PLACES: f64 = (1_u64 << 46) as f64;

/// If a variable has no range, this many neighbouring numbers count as one place.
const DIGITS: u64 = 1 << 10;

/// The problem as the user gave it, and the points to evaluate for the open batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Outside {
    /// The problem with all its variables.
    pub(super) spec: ProblemSpec,
    asked: Batch,
    origins: Vec<Origin>,
    /// Answers by point and level; `None` if points do not recur.
    memory: Option<BTreeMap<Vec<u64>, Answered>>,
    /// Answers of earlier runs, by place and level.
    known: BTreeMap<Vec<u64>, Answered>,
    /// Upper evaluations that were answered from memory.
    pub(super) recalled_upper: u64,
}

impl Outside {
    /// The problem as a scheme sees it, and the translation between the two; `None` if they are the same.
    pub(super) fn new(spec: &ProblemSpec) -> Option<(ProblemSpec, Outside)> {
        let levels = [&spec.upper.space, &spec.lower.space];
        if !levels.iter().any(|space| space.has_whole() || space.has_fixed()) {
            return None;
        }
        let free = |level: &LevelSpec| LevelSpec {
            space: level.space.iter().filter(|v| !v.is_fixed()).collect(),
            ..level.clone()
        };
        let lower = if spec.follower == Follower::Search { free(&spec.lower) } else { spec.lower.clone() };
        let inner = ProblemSpec { upper: free(&spec.upper), lower, ..spec.clone() };
        // Points recur if the follower has only whole numbers, or if the leader does and the follower has its own
        // solver.
        let finite = match spec.follower {
            Follower::Search => spec.lower.space.is_finite(),
            Follower::Oracle => spec.upper.space.is_finite(),
        };
        Some((inner, Outside { memory: finite.then(BTreeMap::new), ..Outside::plain(spec) }))
    }

    /// A translation for a problem that needs none, so that answers can be known.
    pub(super) fn plain(spec: &ProblemSpec) -> Outside {
        Outside {
            asked: Batch::new(spec),
            origins: Vec::new(),
            memory: None,
            known: BTreeMap::new(),
            recalled_upper: 0,
            spec: spec.clone(),
        }
    }

    /// Takes an answer of an earlier run.
    pub(super) fn learn(&mut self, place: Vec<u64>, answer: Answered) {
        self.known.insert(place, answer);
    }

    /// What is known about a point, from this run or an earlier one.
    fn recall(&self, level: Level, (x, y): (&[f64], &[f64]), key: Option<&Vec<u64>>) -> Option<&Answered> {
        let now = key.zip(self.memory.as_ref()).and_then(|(key, memory)| memory.get(key));
        let before = || self.known.get(&place(&self.spec, level, x, y));
        now.or_else(|| if self.known.is_empty() { None } else { before() })
    }

    /// The points to evaluate.
    pub(super) fn asked(&self) -> &Batch {
        &self.asked
    }

    /// Whether the open batch has been translated.
    pub(super) fn is_open(&self) -> bool {
        !self.origins.is_empty()
    }

    /// Drops the open batch.
    pub(super) fn forget(&mut self) {
        self.origins.clear();
    }

    /// Translates a batch of the scheme: finds out what is known and what has to be evaluated. The last `again`
    /// points are evaluated even if they are known: they are repeated on purpose.
    pub(super) fn open(&mut self, proposed: &Batch, first_id: u64, again: usize) {
        let level = proposed.level();
        self.asked.start(level, first_id);
        if proposed.asks_follower() {
            self.asked.ask_follower();
        }
        let mut waiting: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        for index in 0..proposed.len() {
            let x = whole(&self.spec.upper.space, proposed.x(index));
            let y = self.answer_in(proposed.y(index));
            let is_again = index + again >= proposed.len();
            let key = (self.memory.is_some() && !is_again).then(|| key(level, &x, &y));
            let known = if is_again { None } else { self.recall(level, (&x, &y), key.as_ref()) };
            let origin = match (known, key) {
                (Some(known), _) => Origin::Known(known.clone()),
                (None, Some(key)) if waiting.contains_key(&key) => Origin::Asked(waiting[&key]),
                (None, key) => {
                    let place = self.asked.len();
                    waiting.extend(key.map(|key| (key, place)));
                    match proposed.answer(index) {
                        Some(answer) => self.asked.push_answer(&x, answer.clone()),
                        None => self.asked.push(&x).copy_from_slice(&y),
                    }
                    Origin::Asked(place)
                }
            };
            self.origins.push(origin);
        }
        if level == Level::Upper {
            self.recalled_upper += (proposed.len() - self.asked.len()) as u64;
        }
    }

    /// The answers to the whole batch of the scheme, given those to the points that were evaluated.
    pub(super) fn answer(&mut self, replies: &Replies) -> Replies {
        let level = self.asked.level();
        if let Some(memory) = self.memory.as_mut().filter(|memory| memory.len() < REMEMBERED) {
            for (index, outcome) in replies.outcomes().iter().enumerate().filter(|(_, outcome)| !outcome.is_failed()) {
                let key = key(level, self.asked.x(index), self.asked.y(index));
                let answer = replies.answers().given.get(index).cloned();
                memory.entry(key).or_insert_with(|| (*outcome, replies.constraints(index).to_vec(), answer));
            }
        }
        let mut all = Replies::default();
        all.start_on(&self.spec, &self.asked);
        for origin in self.origins.drain(..) {
            match origin {
                Origin::Known((outcome, constraints, answer)) => all.push_known(outcome, &constraints, answer),
                Origin::Asked(index) => all.push_from(replies, index),
            }
        }
        all
    }

    /// A solution of a scheme in terms of the problem.
    pub(super) fn restore(&self, solution: &mut Solution) {
        solution.x = whole(&self.spec.upper.space, &solution.x);
        solution.y = self.answer_in(&solution.y);
    }

    /// An answer with all its variables; an answer of the follower's own solver (or none yet) is left as it is.
    fn answer_in(&self, y: &[f64]) -> Vec<f64> {
        match self.spec.follower {
            Follower::Search => whole(&self.spec.lower.space, y),
            Follower::Oracle => y.to_vec(),
        }
    }
}

/// All variables of a point, given the free ones: fixed variables are added, whole numbers rounded.
fn whole(space: &Space, free: &[f64]) -> Vec<f64> {
    let mut rest = free.iter();
    let value = |v: Variable| if v.is_fixed() { v.low } else { rest.next().map_or(v.low, |value| v.nearest(*value)) };
    space.iter().map(value).collect()
}

fn key(level: Level, x: &[f64], y: &[f64]) -> Vec<u64> {
    let bits = x.iter().chain(y).map(|v| v.to_bits());
    std::iter::once(u64::from(level == Level::Upper)).chain(bits).collect()
}

/// Where a point lies, up to rounding, and the level. An answer of the follower's own solver is taken as it is.
pub(super) fn place(spec: &ProblemSpec, level: Level, x: &[f64], y: &[f64]) -> Vec<u64> {
    // If a variable has no range: its digits without the last few.
    let part = |(v, value): (Variable, &f64)| match v.is_open() {
        true => (value + 0.0).to_bits().wrapping_add(DIGITS / 2) / DIGITS,
        false => libm::round(v.unit(*value) * PLACES) as i64 as u64,
    };
    let mut place = vec![u64::from(level == Level::Upper)];
    place.extend(spec.upper.space.iter().zip(x).map(part));
    match spec.lower.dim() == y.len() {
        true => place.extend(spec.lower.space.iter().zip(y).map(part)),
        false => place.extend(y.iter().map(|v| v.to_bits())),
    }
    place
}
