//! Allocators: which candidates of a generation get a lower search.
//!
//! Once in every generation the engine samples candidates and asks the allocator, which may ask for
//! more candidates a bounded number of times. After the upper evaluations it learns from what is
//! now known. Skipped candidates never enter an update with invented values.

mod random;

pub use random::Random;

use crate::config::{AllocatorConfig, AllocatorKind};
use crate::problem::{Outcome, ProblemSpec};
use crate::record::ModelRecord;
use crate::rng::{Purpose, Stream, Streams};
use crate::upper::Candidate;
use serde::{Deserialize, Serialize};

/// The allocator's answer to a set of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Run lower searches for these, by index.
    Run(Vec<usize>),
    /// Sample another population first.
    Resample,
}

/// A leader's decision with the follower's answer and what both are worth to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solved {
    /// The decision.
    pub x: Vec<f64>,
    /// The answer.
    pub y: Vec<f64>,
    /// F and the violation that counts at the upper level.
    pub upper: Outcome,
    /// f and the violation of the lower constraints.
    pub lower: Outcome,
    /// Whether the lower search had settled.
    pub converged: bool,
}

/// Chooses candidates and learns from solved ones.
pub trait Allocator {
    /// Chooses among `candidates` (all samplings of this generation so far); `round` counts
    /// the samplings from 0.
    fn allocate(&mut self, candidates: &[Candidate], round: usize, stream: &mut Stream) -> Allocation;

    /// Takes notice of the solved candidates of a generation.
    fn learn(&mut self, solved: &[Solved]);
}

/// The allocators as serialisable state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AllocatorState {
    /// See [`AllocatorKind::All`].
    All,
    /// See [`AllocatorKind::Random`].
    Random(Random),
}

impl AllocatorState {
    /// The allocator of a config.
    pub fn new(config: &AllocatorConfig, spec: &ProblemSpec, population: usize, streams: Streams) -> Self {
        match config.kind {
            AllocatorKind::All => AllocatorState::All,
            AllocatorKind::Random => AllocatorState::Random(Random::new(config.keep, population)),
            AllocatorKind::Contrastive => AllocatorState::All,
        }
    }

    /// Whether a training is due before the next generation.
    pub fn training_due(&self) -> bool {
        false
    }

    /// Does the training that is due.
    pub fn train(&mut self, generation: u64) {
        let _ = generation;
    }

    /// Mean accuracy of the model over the run, and the number of trainings.
    pub fn model_summary(&self) -> (Option<f64>, u64) {
        (None, 0)
    }

    /// The model in the present generation.
    pub fn model_record(&self) -> Option<ModelRecord> {
        None
    }
}

impl Allocator for AllocatorState {
    fn allocate(&mut self, candidates: &[Candidate], round: usize, stream: &mut Stream) -> Allocation {
        match self {
            AllocatorState::All => Allocation::Run((0..candidates.len()).collect()),
            AllocatorState::Random(a) => a.allocate(candidates, round, stream),
        }
    }

    fn learn(&mut self, solved: &[Solved]) {
        match self {
            AllocatorState::All | AllocatorState::Random(_) => {}
        }
    }
}

/// Number of candidates kept out of `population`: at least one.
pub(crate) fn kept(share: f64, population: usize) -> usize {
    (libm::floor(share * population as f64) as usize).clamp(1, population.max(1))
}
