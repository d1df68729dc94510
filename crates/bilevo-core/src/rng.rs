//! Random streams derived from (seed, purpose, generation, index).
//!
//! Every consumer of randomness opens its own stream, so no result depends on the order in which
//! tasks or threads come to their turn. A stream that outlives a batch is part of the saved state.

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// What a stream is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// The start point of a run.
    Start = 1,
    /// Upper candidates.
    Sample = 2,
    /// One lower search task.
    Lower = 3,
    /// Exchange between lower tasks.
    Exchange = 4,
    /// Choice of what to refine.
    Elite = 5,
    /// The refining lower search.
    Refine = 6,
    /// Allocation of lower searches.
    Allocate = 7,
    /// Initial weights of the ranking network.
    Train = 8,
}

/// The root of all streams of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// Streams of a seed.
    pub fn new(seed: u64) -> Self {
        Streams { seed }
    }

    /// The seed they come from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The stream for a purpose in a generation, one for each index (task, round).
    pub fn open(&self, purpose: Purpose, generation: u64, index: u64) -> Stream {
        let mut state = mix(self.seed);
        for part in [purpose as u64, generation, index] {
            state = mix(state ^ mix(part.wrapping_add(0x9e37_79b9_7f4a_7c15)));
        }
        Stream(Xoshiro256PlusPlus::seed_from_u64(state))
    }
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One random stream; 32 bytes of saved state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// ~ N(0, 1)
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// ~ U[0, 1)
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number below `end`, which must be positive.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end.max(1))
    }

    /// ~ Cauchy(location, scale)
    pub fn cauchy(&mut self, location: f64, scale: f64) -> f64 {
        location + scale * libm::tan(std::f64::consts::PI * (self.uniform() - 0.5))
    }

    /// The first `count` of a random order of 0..n, in that order.
    pub fn choose(&mut self, n: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for i in 0..count.min(n) {
            let j = i + self.below(n - i);
            all.swap(i, j);
        }
        all.truncate(count);
        all
    }
}
