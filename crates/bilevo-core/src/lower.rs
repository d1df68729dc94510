//! Lower searches: given a set of leader's decisions, find the follower's answers.
//!
//! A search always works on the whole set of tasks, because most published searches let tasks learn from each other;
//! an independent search is a set without exchange. Every round asks for the next points of all open tasks together,
//! so a batch offers parallel work.

mod collaborative;
mod exchange;
mod independent;
mod multiobjective;
mod neighbours;
mod oracle;
mod task;
mod transfer_cma;
mod transfer_de;

pub use task::{LowerAnswer, LowerRules};

use crate::batch::{Answers, Batch};
use crate::cma::Cma;
use crate::engine::SchemeKind;
use crate::family::family;
use crate::rng::{Purpose, Streams};
use crate::settings::{number, settings, whole, words};

/// Where a search gets its random numbers: one stream for each task.
#[derive(Clone, Copy, Debug)]
pub struct SearchStreams {
    /// Streams of the run.
    pub streams: Streams,
    /// Purpose of the task streams.
    pub purpose: Purpose,
    /// Upper generation.
    pub generation: u64,
}

impl SearchStreams {
    fn task(&self, index: usize) -> crate::rng::Stream {
        self.streams.open(self.purpose, self.generation, index as u64)
    }
}

settings! {
    /// The lower search.
    pub struct LowerConfig in lower as "lower", if "scheme.kind = nested" |c| c.scheme.kind == SchemeKind::Nested;

    /// Which search: `independent` (BL-CMA-ES), `transfer_cma` and `transfer_de` (TLEA),
    /// `multiobjective` (MOTEA), `collaborative` (BOC), `exchange` (whole numbers), or `oracle` (your own solver
    /// for the follower).
    kind: LowerKind = LowerKind::Independent, |_| words(LowerKind::ALL);
    /// Points per task and generation; if null, the published size of the search.
    population: Option<usize> = None, |c| {
        let (least, most) = c.lower.kind.facts().populations;
        whole(least as u64, most as u64)
    }, if "lower.kind other than collaborative and oracle" |c| {
        let (least, most) = c.lower.kind.facts().populations;
        least < most
    };
    /// Maximum number of generations of a task; if null, the search's own number, or as many as
    /// `stop.lower_search_evals` allows.
    max_generations: Option<usize> = None, |_| whole(1, 1_000_000);
    /// How many of the nearest tasks count as neighbours.
    neighbours: usize = 2, |_| whole(1, 1_000_000),
        if "lower.kind = transfer_cma, transfer_de, multiobjective or collaborative" |c| c.lower.kind.facts().exchanges;
    /// A task learns from its neighbours once its best value has not improved over this many
    /// generations, including the current one: 2 compares with the previous generation, 3 with the one
    /// before that, as in the public code.
    transfer_window: usize = 2, |_| whole(2, 1_000_000),
        if "lower.kind = transfer_cma or transfer_de" |c| {
            matches!(c.lower.kind, LowerKind::TransferCma | LowerKind::TransferDe)
        };
    /// A task has converged when its best value changes by less than this (relative) or by less than
    /// `lower.absolute_tolerance`.
    relative_tolerance: f64 = 1e-4, |_| number(0.0, 1.0);
    /// Absolute tolerance for the same test.
    absolute_tolerance: f64 = 1e-5, |_| number(0.0, 1e300);
}

/// A lower search to run.
#[derive(Clone, Copy, Debug)]
pub struct LowerTask<'a> {
    /// The leader's decision.
    pub x: &'a [f64],
    /// The answer that the upper level expects.
    pub guess: &'a [f64],
    /// Where to start from.
    pub start: &'a Cma,
}

/// What a search says about itself; absent sizes follow from the dimension and the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowerFacts {
    /// What it does with the candidates of a generation, in a sentence.
    pub step: &'static str,
    /// Points of a task per generation.
    pub population: Option<usize>,
    /// Smallest and largest possible population.
    pub populations: (usize, usize),
    /// Maximum number of generations of a task.
    pub generations: Option<usize>,
    /// Whether tasks learn from their neighbours.
    pub exchanges: bool,
}

impl LowerFacts {
    /// A search that leaves its sizes to the dimension and the budget.
    pub const USUAL: LowerFacts = LowerFacts {
        step: "Search the lower level for all of them side by side.",
        population: None,
        populations: (4, 1_000_000),
        generations: None,
        exchanges: true,
    };
}

/// A search over a set of tasks.
pub trait LowerSearch {
    /// Starts new tasks and forgets the old ones; `metric` says which decisions are close to each other.
    fn open(&mut self, tasks: &[LowerTask<'_>], metric: &Cma, streams: SearchStreams);

    /// Appends the next points of all open tasks; none once the search is over.
    fn ask(&mut self, batch: &mut Batch);

    /// Takes outcomes and constraint values for the points of the last `ask`, in order.
    fn tell(&mut self, batch: &Batch, answers: Answers<'_>);

    /// Records an answer that was found elsewhere.
    fn learn(&mut self, _x: &[f64], _y: &[f64]) {}

    /// The answers so far, task by task.
    fn answers(&self) -> Vec<LowerAnswer>;
}

family! {
    /// The lower search, by name.
    kind LowerKind, default Independent;
    /// The lower searches as serialisable state.
    state LowerState: LowerSearch, from LowerRules, facts LowerFacts;

    /// One CMA-ES for each task (BL-CMA-ES).
    independent::Independent,
    /// One CMA-ES for each task, in lockstep, with transfer between neighbours (TLEA-CMA-ES).
    transfer_cma::TransferCma,
    /// Success-history DE for each task, in lockstep, with transfer between neighbours (TLEA-DE).
    transfer_de::TransferDe,
    /// All tasks as one multiobjective problem (MOTEA, reconstructed).
    multiobjective::Multiobjective,
    /// One solution for each task; all tasks collaborate (BOC, reconstructed).
    collaborative::Collaborative,
    /// The follower's own solver, called once for each decision.
    oracle::Oracle,
    /// Moves and exchanges of whole numbers; all answers, if there are few.
    exchange::Exchange,
}

impl LowerState {
    /// Records a refined answer, and where else the refining search ended.
    pub(crate) fn learn_refined(&mut self, refining: &LowerState, x: &[f64], y: &[f64]) {
        match (self, refining) {
            (LowerState::Exchange(own), LowerState::Exchange(refining)) => own.learn_ends(refining),
            (own, _) => own.learn(x, y),
        }
    }
}

#[cfg(test)]
mod tests;
