//! A lower search for every candidate: the baseline for every saving.

use super::{Allocation, Allocator, AllocatorFacts, AllocatorSetup, Sampled};
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// Keeps every candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct All;

impl All {
    pub(super) const FACTS: AllocatorFacts =
        AllocatorFacts { choice: |_| "Take all of them.".into(), ..AllocatorFacts::PLAIN };

    /// The allocator.
    pub fn new(_setup: AllocatorSetup<'_>) -> Self {
        All
    }
}

impl Allocator for All {
    fn allocate(&mut self, sampled: &Sampled<'_>, _stream: &mut Stream) -> Allocation {
        Allocation::Run((0..sampled.candidates.len()).collect())
    }
}
