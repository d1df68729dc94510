//! Lower searches: given a set of leader's decisions, find the follower's answers.
//!
//! A search always works on the whole set of tasks, because most published ones let tasks learn
//! from each other; an independent search is the set form without exchange. Every round asks for
//! the next points of all open tasks together, so there is parallel work in a batch.

mod collaborative;
mod independent;
mod multiobjective;
mod neighbours;
mod task;
mod transfer_cma;
mod transfer_de;

pub use independent::Independent;
pub use task::{LowerAnswer, LowerRules};

use crate::batch::Batch;
use crate::config::LowerKind;
use crate::problem::Outcome;
use crate::rng::{Purpose, Streams};
use crate::upper::{Candidate, LowerPrior};
use collaborative::Collaborative;
use multiobjective::Multiobjective;
use serde::{Deserialize, Serialize};
use transfer_cma::TransferCma;
use transfer_de::TransferDe;

/// Where a search gets its randomness from: one stream for each task.
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

/// A search over a set of tasks.
pub trait LowerSearch {
    /// Starts on new tasks, forgetting the old ones.
    fn open(&mut self, tasks: &[Candidate], prior: &LowerPrior, streams: SearchStreams);

    /// Appends the next points of all open tasks; none when the search is over.
    fn ask(&mut self, batch: &mut Batch);

    /// Takes the outcomes of the points of the last `ask`, in order.
    fn tell(&mut self, batch: &Batch, outcomes: &[Outcome]);

    /// The answers so far, task by task.
    fn answers(&self) -> Vec<LowerAnswer>;
}

/// The lower searches as serialisable state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LowerState {
    /// See [`LowerKind::Independent`].
    Independent(Independent),
    /// See [`LowerKind::TransferCma`].
    TransferCma(TransferCma),
    /// See [`LowerKind::TransferDe`].
    TransferDe(TransferDe),
    /// See [`LowerKind::Multiobjective`].
    Multiobjective(Multiobjective),
    /// See [`LowerKind::Collaborative`].
    Collaborative(Collaborative),
}

impl LowerState {
    /// The search of a kind.
    pub fn new(kind: LowerKind, rules: LowerRules) -> Self {
        match kind {
            LowerKind::Independent => LowerState::Independent(Independent::new(rules)),
            LowerKind::TransferCma => LowerState::TransferCma(TransferCma::new(rules)),
            LowerKind::TransferDe => LowerState::TransferDe(TransferDe::new(rules)),
            LowerKind::Multiobjective => LowerState::Multiobjective(Multiobjective::new(rules)),
            LowerKind::Collaborative => LowerState::Collaborative(Collaborative::new(rules)),
        }
    }

    fn search(&self) -> &dyn LowerSearch {
        match self {
            LowerState::Independent(s) => s,
            LowerState::TransferCma(s) => s,
            LowerState::TransferDe(s) => s,
            LowerState::Multiobjective(s) => s,
            LowerState::Collaborative(s) => s,
        }
    }

    fn search_mut(&mut self) -> &mut dyn LowerSearch {
        match self {
            LowerState::Independent(s) => s,
            LowerState::TransferCma(s) => s,
            LowerState::TransferDe(s) => s,
            LowerState::Multiobjective(s) => s,
            LowerState::Collaborative(s) => s,
        }
    }
}

impl LowerSearch for LowerState {
    fn open(&mut self, tasks: &[Candidate], prior: &LowerPrior, streams: SearchStreams) {
        self.search_mut().open(tasks, prior, streams);
    }

    fn ask(&mut self, batch: &mut Batch) {
        self.search_mut().ask(batch);
    }

    fn tell(&mut self, batch: &Batch, outcomes: &[Outcome]) {
        self.search_mut().tell(batch, outcomes);
    }

    fn answers(&self) -> Vec<LowerAnswer> {
        self.search().answers()
    }
}
