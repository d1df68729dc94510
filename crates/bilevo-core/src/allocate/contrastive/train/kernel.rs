//! The arithmetic of a training, laid out for vector instructions.
//!
//! Hidden units are handled in tiles of eight; weights, gradients and moments are kept tile by tile
//! (all rows of the first eight units, then of the next), so that every inner loop runs over whole
//! tiles in memory order. Padding units have zero weights and get zero gradients; padding samples
//! are zero in all inputs and in the slope of the loss.

use super::super::network::Shape;
use super::{Pool, Schedule};

/// Hidden units, or samples, that are handled together.
pub(super) const LANES: usize = 8;
/// A value for each of them.
pub(super) type Tile = [f64; LANES];
pub(super) const ZERO: Tile = [0.0; LANES];
/// Samples that go through the hidden layer together.
pub(super) const GROUP: usize = 4;

/// The instructions a training may use. They differ in speed, not in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instructions {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Default for Instructions {
    fn default() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Instructions::Avx2;
        }
        Instructions::Baseline
    }
}

impl Instructions {
    /// Trains; returns the epochs made and the final loss.
    pub(super) fn run(self, kernel: &mut Kernel, steps: u64, schedule: Schedule) -> (usize, f64) {
        match self {
            Instructions::Baseline => kernel.run(steps, schedule),
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: `Avx2` is only ever made by `default`, after the processor said it has it.
            Instructions::Avx2 => unsafe { run_avx2(kernel, steps, schedule) },
        }
    }
}

/// The same code, compiled for AVX2. Not for FMA: fusing would change the last bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(kernel: &mut Kernel, steps: u64, schedule: Schedule) -> (usize, f64) {
    kernel.run(steps, schedule)
}

/// Working memory of a training.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernel {
    /// Inputs, response units and hidden tiles of the network.
    pub(super) inputs: usize,
    pub(super) response: usize,
    pub(super) tiles: usize,
    pub(super) output_bias: f64,
    /// Pairs of different rank, each counted once.
    pub(super) pairs: usize,
    /// Samples, and samples rounded up to whole groups.
    pub(super) samples: usize,
    pub(super) padded: usize,
    /// Samples best first.
    pub(super) order: Vec<usize>,
    /// For each sample, the first one of worse rank.
    pub(super) worse: Vec<usize>,
    /// 1 and the inputs: a row of sample tiles for each.
    pub(super) features: Vec<Tile>,
    /// 1, the inputs and the response map: a row for each sample.
    pub(super) seen: Vec<f64>,
    /// Response map, then the gradient by it: a row of sample tiles for each unit.
    pub(super) map: Vec<Tile>,
    /// Activations of the hidden layer, then the gradient by them: a row of samples for each tile.
    pub(super) hidden: Vec<Tile>,
    /// Sums towards the score of each sample.
    pub(super) partial: Vec<Tile>,
    pub(super) scores: Vec<f64>,
    /// exp(S), 0 for padding.
    pub(super) exps: Vec<f64>,
    /// ∂L/∂S, 0 for padding.
    pub(super) slopes: Vec<f64>,
    /// Weights in tiles: hidden layer, output weights, response map.
    pub(super) weights: Vec<Tile>,
    pub(super) next: Vec<Tile>,
    pub(super) gradient: Vec<Tile>,
    pub(super) first: Vec<Tile>,
    pub(super) second: Vec<Tile>,
}

impl Kernel {
    /// Takes over a pool, sorted, and sizes the memory.
    pub(super) fn load_pool(&mut self, shape: Shape, pool: Pool<'_>) {
        let m = shape.inputs;
        let samples = pool.ranks.len().min(pool.inputs.len().checked_div(m).unwrap_or(pool.ranks.len()));
        let point = |i: usize| &pool.inputs[i * m..][..m];
        self.order.clear();
        self.order.extend(0..samples);
        self.order.sort_unstable_by(|&i, &j| {
            let by_point = || point(i).iter().zip(point(j)).map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne());
            pool.ranks[i].cmp(&pool.ranks[j]).then_with(|| by_point().unwrap_or(std::cmp::Ordering::Equal))
        });

        self.inputs = m;
        self.response = shape.response;
        self.tiles = shape.hidden.div_ceil(LANES);
        self.samples = samples;
        self.padded = samples.next_multiple_of(GROUP);
        let (rows, sample_tiles) = (shape.hidden_rows(), samples.div_ceil(LANES));
        refill(&mut self.features, (1 + m) * sample_tiles, ZERO);
        refill(&mut self.seen, self.padded * rows, 0.0);
        refill(&mut self.map, shape.response * sample_tiles, ZERO);
        refill(&mut self.hidden, self.tiles * self.padded, ZERO);
        refill(&mut self.partial, self.padded, ZERO);
        refill(&mut self.scores, self.padded, 0.0);
        // the loop over pairs runs past the end by less than a tile
        refill(&mut self.exps, samples + LANES, 0.0);
        refill(&mut self.slopes, samples + LANES, 0.0);

        let features = self.features.as_flattened_mut();
        for (s, &i) in self.order.iter().enumerate() {
            let row = &mut self.seen[s * rows..][..rows];
            row[0] = 1.0;
            row[1..=m].copy_from_slice(point(i));
            row[..=m].iter().enumerate().for_each(|(f, &value)| features[f * sample_tiles * LANES + s] = value);
        }
        refill(&mut self.worse, samples, samples);
        self.pairs = 0;
        for s in (0..samples).rev() {
            if s + 1 < samples {
                let tie = pool.ranks[self.order[s]] == pool.ranks[self.order[s + 1]];
                self.worse[s] = if tie { self.worse[s + 1] } else { s + 1 };
            }
            self.pairs += samples - self.worse[s];
        }
    }

    /// Whether any two samples differ in rank.
    pub(super) fn has_pairs(&self) -> bool {
        self.pairs > 0
    }

    /// Takes over weights and moments.
    pub(super) fn load_weights(&mut self, shape: Shape, weights: &[f64], first: &[f64], second: &[f64]) {
        let count = self.tiles * (shape.hidden_rows() + 1) + shape.response_count().div_ceil(LANES);
        self.output_bias = weights.last().copied().unwrap_or_default();
        refill(&mut self.next, count, ZERO);
        refill(&mut self.gradient, count, ZERO);
        for (tiles, flat) in [(&mut self.weights, weights), (&mut self.first, first), (&mut self.second, second)] {
            refill(tiles, count, ZERO);
            let tiles = tiles.as_flattened_mut();
            places(shape).zip(flat).for_each(|(place, &value)| tiles[place] = value);
        }
    }

    /// Gives weights and moments back.
    pub(super) fn store_weights(&self, shape: Shape, weights: &mut [f64], first: &mut [f64], second: &mut [f64]) {
        for (tiles, flat) in [(&self.weights, weights), (&self.first, first), (&self.second, second)] {
            let tiles = tiles.as_flattened();
            places(shape).zip(flat).for_each(|(place, value)| *value = tiles[place]);
        }
    }
}

/// The place in the tiles of each weight of the flat layout, but for the output bias.
fn places(shape: Shape) -> impl Iterator<Item = usize> {
    let (rows, tiles) = (shape.hidden_rows(), shape.hidden.div_ceil(LANES));
    let output = tiles * rows * LANES;
    let response = output + tiles * LANES;
    let hidden = move |row: usize, unit: usize| (unit / LANES * rows + row) * LANES + unit % LANES;
    (0..shape.response_count())
        .map(move |i| response + i)
        .chain((0..rows).flat_map(move |row| (0..shape.hidden).map(move |unit| hidden(row, unit))))
        .chain((0..shape.hidden).map(move |unit| output + unit))
}

/// Makes `buffer` hold `len` times `value`, reusing its memory.
fn refill<T: Copy>(buffer: &mut Vec<T>, len: usize, value: T) {
    buffer.clear();
    buffer.resize(len, value);
}
