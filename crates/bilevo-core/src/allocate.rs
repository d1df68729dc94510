//! Allocators: which candidates of a generation get a lower search.
//!
//! In every generation, the engine samples candidates and asks the allocator, which may request more candidates a
//! bounded number of times. After the upper evaluations, the allocator learns from the results. Skipped candidates
//! never enter an update with made-up values.

mod all;
pub mod contrastive;
mod random;

use crate::candidate::{Candidate, Solved};
use crate::config::Config;
use crate::family::family;
use crate::problem::ProblemSpec;
use crate::record::{ModelRecord, ModelSummary};
use crate::rng::{Stream, Streams};
use crate::settings::{choice, number, settings, words};

choice! {
    /// How a fixed share of an odd number of candidates is rounded.
    pub enum Rounding {
        /// To the nearest number, halves upwards: 4 of 7.
        Nearest,
        /// Down: 3 of 7 (as published).
        Down,
    }
}

settings! {
    /// The allocator: which candidates get a lower search.
    pub struct AllocatorConfig in allocator as "allocator";

    /// Which candidates get a lower search: `all`, a `random` share, or those that `contrastive`
    /// ranking finds most promising.
    kind: AllocatorKind = AllocatorKind::All, |_| words(AllocatorKind::ALL);
    /// Share of the candidates that get a lower search, if it is fixed.
    keep: f64 = 0.5, |_| number(0.01, 1.0),
        if "allocator.kind = random, or allocator.share = fixed" |c| has_fixed_share(c);
    /// How that share is rounded: to the `nearest` number, or `down` (as published: 3 of 7).
    rounding: Rounding = Rounding::Nearest, |_| words(Rounding::ALL),
        if "allocator.kind = random, or allocator.share = fixed" |c| has_fixed_share(c);
}

fn has_fixed_share(config: &Config) -> bool {
    (config.allocator.kind.facts().fixed_share)(config)
}

/// What an allocator says about itself.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorFacts {
    /// How it chooses among the candidates of a generation, in a sentence or two.
    pub choice: fn(&Config) -> String,
    /// What it learns from solved candidates, in a sentence; empty if nothing.
    pub training: fn(&Config) -> Option<String>,
    /// Whether it keeps a fixed share, `allocator.keep`.
    pub fixed_share: fn(&Config) -> bool,
    /// Its source, if it has one.
    pub source: Option<&'static str>,
}

impl AllocatorFacts {
    /// An allocator without a model and without a fixed share.
    pub const PLAIN: AllocatorFacts = AllocatorFacts {
        choice: |c| c.allocator.kind.about().into(),
        training: |_| None,
        fixed_share: |_| false,
        source: None,
    };
}

/// Everything an allocator is built from.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorSetup<'a> {
    /// The problem.
    pub spec: &'a ProblemSpec,
    /// The method's settings.
    pub config: &'a Config,
    /// Random numbers for training.
    pub streams: Streams,
}

/// The candidates of a generation so far.
#[derive(Clone, Copy, Debug)]
pub struct Sampled<'a> {
    /// All samples of this generation, one after another.
    pub candidates: &'a [Candidate],
    /// Candidates per sample.
    pub population: usize,
    /// How many samples came before the latest one.
    pub round: usize,
}

/// The allocator's answer to a set of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Run lower searches for these, by index.
    Run(Vec<usize>),
    /// Sample another population first.
    Resample,
}

/// Chooses candidates and learns from solved ones. An allocator with a model also says when to train it, so that a
/// run can time the training.
pub trait Allocator {
    /// Chooses among the candidates.
    fn allocate(&mut self, sampled: &Sampled<'_>, stream: &mut Stream) -> Allocation;

    /// Records the solved candidates of a generation.
    fn learn(&mut self, _solved: &[Solved]) {}

    /// Records an elite that a refinement has evaluated again; called before `learn`.
    fn notice(&mut self, _elite: &Solved) {}

    /// Whether a training is due before the next generation.
    fn training_due(&self) -> bool {
        false
    }

    /// Trains the model, if a training is due.
    fn train(&mut self, _generation: u64) {}

    /// The model's accuracy over the run.
    fn model_summary(&self) -> ModelSummary {
        ModelSummary::default()
    }

    /// The model's accuracy in the current generation.
    fn model_record(&self) -> Option<ModelRecord> {
        None
    }
}

family! {
    /// The allocator, by name.
    kind AllocatorKind, default All;
    /// The allocators as serialisable state.
    state AllocatorState: Allocator, from AllocatorSetup<'_>, facts AllocatorFacts;

    /// A lower search for every candidate.
    all::All,
    /// A random share of the candidates.
    random::Random,
    /// The share a learned ranking finds most promising.
    contrastive::Contrastive,
}

/// How many candidates out of `population` to keep: at least two, because a single one shows no direction.
pub(crate) fn kept(share: f64, population: usize, rounding: Rounding) -> usize {
    let exact = share * population as f64;
    let rounded = match rounding {
        Rounding::Nearest => libm::round(exact),
        Rounding::Down => libm::floor(exact),
    };
    (rounded as usize).clamp(2, population.max(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_an_odd_population_is_what_the_rule_says() {
        for (population, nearest, down) in [(7, 4, 3), (8, 4, 4), (9, 5, 4), (4, 2, 2), (3, 2, 2), (2, 2, 2)] {
            assert_eq!(kept(0.5, population, Rounding::Nearest), nearest, "of {population}");
            assert_eq!(kept(0.5, population, Rounding::Down), down, "of {population}");
        }
        assert_eq!(kept(0.375, 8, Rounding::Nearest), 3);
        assert_eq!(kept(1.0, 8, Rounding::Nearest), 8);
        assert_eq!(kept(0.01, 8, Rounding::Nearest), 2, "one alone shows no direction");
    }
}
