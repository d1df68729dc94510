//! Training of the ranking network on a pool of evaluated solutions.
//!
//! Loss: mean binary cross-entropy over all ordered pairs of the pool whose ranks differ, with
//! P(i better than j) = σ(S_i − S_j) and label 1 where i is better. A score depends on one solution
//! only, so the full-batch gradient takes one forward and one backward pass for each solution:
//! ∂L/∂S_i = (2/P) Σ_j (σ(S_i − S_j) − l_ij), P the number of ordered pairs used. Then Adam (β₁ 0.9,
//! β₂ 0.999, ε 1e-8, bias corrected), one step for each epoch.
//!
//! - The pool is sorted by rank, then by coordinates: its order changes no bit of the result.
//! - The output bias moves all scores alike; its gradient is exactly 0, it keeps its value.
//! - Weights stay finite: an epoch that would break this is undone and ends the training. Gradients
//!   are cut at ±1e150 (their squares must not overflow; Adam looks at ratios only).
//! - Randomness: none. Memory is reused; it grows only when a larger shape or pool comes.
//! - Same bits on every processor: AVX2 is used where present, without fused multiply-add.
//! - Cost of an epoch: O(N (m + n) q + N²), with N exponentials.

mod kernel;
mod passes;
#[cfg(test)]
mod tests;

use super::network::{Network, Shape};
use kernel::{Instructions, Kernel};
use serde::{Deserialize, Serialize};

/// The memory of the optimiser: kept with the weights, it continues a training later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    /// Running mean of the gradient, laid out as the weights.
    first: Vec<f64>,
    /// Running mean of its square.
    second: Vec<f64>,
    /// Steps made.
    steps: u64,
}

impl Adam {
    /// Makes the memory fit a network; one of another size starts afresh.
    fn fit(&mut self, shape: Shape) {
        let count = shape.weight_count();
        if self.first.len() != count || self.second.len() != count {
            self.reset(count);
        }
    }

    fn reset(&mut self, count: usize) {
        self.steps = 0;
        for moments in [&mut self.first, &mut self.second] {
            moments.clear();
            moments.resize(count, 0.0);
        }
    }
}

/// Evaluated solutions to learn from.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    /// The points, one after the other, each as long as the network has inputs.
    pub inputs: &'a [f64],
    /// The rank of each point, smaller is better; pairs of equal rank are left out.
    pub ranks: &'a [usize],
}

/// How long and how fast to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Steps over the whole pool.
    pub epochs: usize,
    /// Size of a step.
    pub learning_rate: f64,
}

/// How a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All epochs were made.
    Complete,
    /// No two solutions differ in rank: nothing to learn, nothing changed.
    NoPairs,
    /// The next epoch would have left the finite numbers; the weights are those before it.
    NotFinite,
}

/// What a training did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// Mean loss over the pairs with the final weights; always finite, 0 without pairs.
    pub loss: f64,
    /// Epochs made.
    pub epochs: usize,
    /// How it ended.
    pub end: End,
}

/// Trains networks; holds nothing but working memory, so it needs no saving.
#[derive(Clone, Debug, Default)]
pub struct Trainer {
    kernel: Kernel,
    instructions: Instructions,
}

impl Trainer {
    /// Continues the training of `net` on a pool. Points or ranks without partner are ignored.
    pub fn train(&mut self, net: &mut Network, adam: &mut Adam, pool: Pool<'_>, schedule: Schedule) -> Training {
        let shape = net.shape();
        adam.fit(shape);
        let kernel = &mut self.kernel;
        kernel.load_pool(shape, pool);
        if !kernel.has_pairs() {
            return Training { loss: 0.0, epochs: 0, end: End::NoPairs };
        }
        kernel.load_weights(shape, net.weights(), &adam.first, &adam.second);
        let (epochs, loss) = self.instructions.run(kernel, adam.steps, schedule);
        let end = if epochs == schedule.epochs { End::Complete } else { End::NotFinite };
        adam.steps += epochs as u64;
        kernel.store_weights(shape, net.weights_mut(), &mut adam.first, &mut adam.second);
        if end == End::NotFinite {
            // the moments may hold what broke the epoch
            adam.reset(shape.weight_count());
        }
        Training { loss, epochs, end }
    }
}
