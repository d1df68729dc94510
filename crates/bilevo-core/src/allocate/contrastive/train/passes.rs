//! One epoch: scores, slope of the loss, gradient, step.
//!
//! Everything is inlined into the entry point for each instruction set. Sums run in a fixed order
//! that is written out here, so no compiler or processor may change a bit.

use super::super::network::relu;
use super::Schedule;
use super::kernel::{Kernel, LANES, Tile, ZERO};
use std::array::from_fn;

/// Up to this spread of the scores, exp(S − middle) neither overflows nor loses digits.
const SPREAD: f64 = 1400.0;
/// Gradients are cut here, so that their squares stay finite.
const STEEPEST: f64 = 1e150;

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

impl Kernel {
    /// Makes the epochs; returns how many were made and the loss after them.
    ///
    /// `BLOCK` samples, or rows of weights, are handled together: as many as the registers hold. It
    /// must divide `GROUP`; it does not change the order of any sum.
    #[inline(always)]
    pub(super) fn run<const BLOCK: usize>(&mut self, steps: u64, schedule: Schedule) -> (usize, f64) {
        let mut made = 0;
        while made < schedule.epochs {
            self.forward::<BLOCK>();
            if !self.slope() {
                break;
            }
            self.backward::<BLOCK>();
            if !self.step(steps + made as u64 + 1, schedule.learning_rate) {
                break;
            }
            made += 1;
        }
        self.forward::<BLOCK>();
        (made, self.loss())
    }

    /// Scores of all samples.
    #[inline(always)]
    pub(super) fn forward<const BLOCK: usize>(&mut self) {
        let rows = 1 + self.inputs + self.response;
        let (layer, rest) = self.weights.split_at(self.tiles * rows);
        let (output, response) = rest.split_at(self.tiles);
        for unit in 0..self.response {
            let weights = &response.as_flattened()[unit * (1 + self.inputs)..][..1 + self.inputs];
            let sample_tiles = self.samples.div_ceil(LANES);
            let map = &mut self.map[unit * sample_tiles..][..sample_tiles];
            respond(weights, &self.features, map);
            let seen = self.seen.chunks_exact_mut(rows).take(self.samples);
            seen.zip(map.as_flattened()).for_each(|(row, &value)| row[1 + self.inputs + unit] = value);
        }
        self.partial.fill(ZERO);
        let hidden = self.hidden.chunks_exact_mut(self.padded);
        for ((weights, output), hidden) in layer.chunks_exact(rows).zip(output).zip(hidden) {
            let (hidden, partial) = (hidden.as_chunks_mut::<BLOCK>().0, self.partial.as_chunks_mut().0);
            for ((seen, hidden), partial) in self.seen.chunks_exact(BLOCK * rows).zip(hidden).zip(partial) {
                activate(seen, weights, output, hidden, partial);
            }
        }
        for (score, partial) in self.scores.iter_mut().zip(&self.partial) {
            *score = self.output_bias + sum(partial);
        }
    }

    /// ∂L/∂S from the scores; false if a score is not finite.
    ///
    /// For i better than j, σ(S_i − S_j) − 1 = −t and σ(S_j − S_i) − 0 = t with
    /// t = e_j / (e_i + e_j), e = exp(S): one exponential for each sample, none for each pair.
    #[inline(always)]
    pub(super) fn slope(&mut self) -> bool {
        let scores = &self.scores[..self.samples];
        let (low, high) = scores.iter().fold((f64::MAX, f64::MIN), |(low, high), &s| (low.min(s), high.max(s)));
        if !scores.iter().all(|s| s.is_finite()) {
            return false;
        }
        self.slopes.fill(0.0);
        if high - low <= SPREAD {
            let middle = low + 0.5 * (high - low);
            self.exps.iter_mut().zip(scores).for_each(|(e, s)| *e = libm::exp(s - middle));
            for (i, &start) in self.worse.iter().enumerate() {
                let count = (self.samples - start).next_multiple_of(LANES);
                let exps = self.exps[start..][..count].as_chunks().0;
                let below = compare(self.exps[i], exps, self.slopes[start..][..count].as_chunks_mut().0);
                self.slopes[i] -= below;
            }
        } else {
            for (i, &start) in self.worse.iter().enumerate() {
                for j in start..self.samples {
                    let t = 1.0 / (1.0 + libm::exp(scores[i] - scores[j]));
                    self.slopes[i] -= t;
                    self.slopes[j] += t;
                }
            }
        }
        let share = 1.0 / self.pairs as f64;
        self.slopes[..self.samples].iter_mut().for_each(|slope| *slope *= share);
        true
    }

    /// The gradient from the slopes; `hidden` and `map` become the gradients by them.
    #[inline(always)]
    pub(super) fn backward<const BLOCK: usize>(&mut self) {
        let (rows, known, sample_tiles) =
            (1 + self.inputs + self.response, 1 + self.inputs, self.samples.div_ceil(LANES));
        let (layer, rest) = self.weights.split_at(self.tiles * rows);
        let (layer_gradient, rest_gradient) = self.gradient.split_at_mut(self.tiles * rows);
        let (output_gradient, response_gradient) = rest_gradient.split_at_mut(self.tiles);
        let slopes = &self.slopes[..self.padded];
        for (tile, hidden) in self.hidden.chunks_exact_mut(self.padded).enumerate() {
            output_gradient[tile] = through_output(slopes, &rest[tile], hidden);
            let (blocks, others) = layer_gradient[tile * rows..][..rows].as_chunks_mut();
            let done = rows - others.len();
            for (block, gradient) in blocks.iter_mut().enumerate() {
                *gradient = outer::<BLOCK>(&self.seen, rows, block * BLOCK, hidden);
            }
            for (row, gradient) in others.iter_mut().enumerate() {
                [*gradient] = outer(&self.seen, rows, done + row, hidden);
            }
        }
        for (unit, map) in self.map.chunks_exact_mut(sample_tiles).enumerate() {
            for (block, partial) in self.partial.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
                back(layer, rows, known + unit, &self.hidden, self.padded, block, partial);
            }
            for (value, partial) in map.as_flattened_mut().iter_mut().zip(&self.partial) {
                *value = if *value > 0.0 { sum(partial) } else { 0.0 };
            }
        }
        let response_gradient = response_gradient.as_flattened_mut().chunks_exact_mut(known);
        for (gradient, map) in response_gradient.zip(self.map.chunks_exact(sample_tiles)) {
            for (value, feature) in gradient.iter_mut().zip(self.features.chunks_exact(sample_tiles)) {
                *value = dot(map, feature);
            }
        }
    }

    /// One step of Adam, number `count` from 1; false, with the weights as they were, if it would
    /// give a weight that is not finite.
    #[inline(always)]
    fn step(&mut self, count: u64, learning_rate: f64) -> bool {
        let rate = learning_rate / (1.0 - libm::pow(BETA1, count as f64));
        let scale = 1.0 / (1.0 - libm::pow(BETA2, count as f64)).sqrt();
        let mut check = ZERO;
        let moments = self.first.iter_mut().zip(&mut self.second);
        let weights = self.weights.iter().zip(&mut self.next);
        for (((first, second), gradient), (weight, next)) in moments.zip(&self.gradient).zip(weights) {
            for l in 0..LANES {
                // written so that NaN passes
                let g = if gradient[l] > STEEPEST { STEEPEST } else { gradient[l] };
                let g = if g < -STEEPEST { -STEEPEST } else { g };
                first[l] = BETA1 * first[l] + (1.0 - BETA1) * g;
                second[l] = BETA2 * second[l] + (1.0 - BETA2) * (g * g);
                next[l] = weight[l] - rate * first[l] / (second[l].sqrt() * scale + EPSILON);
                check[l] += 0.0 * next[l];
            }
        }
        let finite = sum(&check) == 0.0;
        if finite {
            std::mem::swap(&mut self.weights, &mut self.next);
        }
        finite
    }

    /// Mean loss of the pairs from the scores, at most the largest number.
    pub(super) fn loss(&self) -> f64 {
        let mut total = 0.0;
        for (i, &start) in self.worse.iter().enumerate() {
            for &worse in &self.scores[start..self.samples] {
                // −ln σ(d) = ln(1 + e^−d), without overflow
                let d = self.scores[i] - worse;
                total += (-d).max(0.0) + libm::log1p(libm::exp(-d.abs()));
            }
        }
        // NaN, too, becomes the largest number
        (total / self.pairs as f64).min(f64::MAX)
    }
}

/// Response unit with `weights` (bias first) for all samples.
#[inline(always)]
fn respond(weights: &[f64], features: &[Tile], map: &mut [Tile]) {
    let width = map.len();
    for (t, out) in map.iter_mut().enumerate() {
        let mut z = ZERO;
        for (weight, feature) in weights.iter().zip(features.chunks_exact(width)) {
            for l in 0..LANES {
                z[l] += weight * feature[t][l];
            }
        }
        *out = z.map(relu);
    }
}

/// One tile of hidden units for a block of samples, and its part of their scores.
#[inline(always)]
fn activate<const BLOCK: usize>(
    seen: &[f64],
    weights: &[Tile],
    output: &Tile,
    hidden: &mut [Tile; BLOCK],
    partial: &mut [Tile; BLOCK],
) {
    let rows = weights.len();
    let seen: [&[f64]; BLOCK] = from_fn(|s| &seen[s * rows..][..rows]);
    let mut z = [ZERO; BLOCK];
    for (row, weight) in weights.iter().enumerate() {
        for s in 0..BLOCK {
            for l in 0..LANES {
                z[s][l] += seen[s][row] * weight[l];
            }
        }
    }
    for s in 0..BLOCK {
        for l in 0..LANES {
            hidden[s][l] = relu(z[s][l]);
            partial[s][l] += output[l] * hidden[s][l];
        }
    }
}

/// Adds each t = e_j / (e_i + e_j) to the slope of j; returns their sum. Padding has e_j = 0 = t.
#[inline(always)]
fn compare(e: f64, exps: &[Tile], slopes: &mut [Tile]) -> f64 {
    let mut total = ZERO;
    for (worse, slope) in exps.iter().zip(slopes) {
        for l in 0..LANES {
            let t = worse[l] / (e + worse[l]);
            slope[l] += t;
            total[l] += t;
        }
    }
    sum(&total)
}

/// Turns activations into the gradient by the sums before them; returns the output gradient.
#[inline(always)]
fn through_output(slopes: &[f64], output: &Tile, hidden: &mut [Tile]) -> Tile {
    let mut gradient = ZERO;
    for (hidden, &slope) in hidden.iter_mut().zip(slopes) {
        for l in 0..LANES {
            gradient[l] += slope * hidden[l];
            let delta = slope * output[l];
            hidden[l] = if hidden[l] > 0.0 { delta } else { 0.0 };
        }
    }
    gradient
}

/// Gradient by the weights of `R` rows from `row` on: Σ over samples of what is seen times `delta`.
#[inline(always)]
fn outer<const R: usize>(seen: &[f64], rows: usize, row: usize, delta: &[Tile]) -> [Tile; R] {
    let mut total = [ZERO; R];
    for (seen, delta) in seen.chunks_exact(rows).zip(delta) {
        let seen = &seen[row..row + R];
        for r in 0..R {
            for l in 0..LANES {
                total[r][l] += seen[r] * delta[l];
            }
        }
    }
    total
}

/// Lane sums of the gradient by what a row of the hidden layer carried, for a block of samples.
#[inline(always)]
fn back<const BLOCK: usize>(
    layer: &[Tile],
    rows: usize,
    row: usize,
    delta: &[Tile],
    padded: usize,
    block: usize,
    out: &mut [Tile; BLOCK],
) {
    let mut total = [ZERO; BLOCK];
    for (weights, delta) in layer.chunks_exact(rows).zip(delta.chunks_exact(padded)) {
        let (weight, delta) = (&weights[row], &delta[block * BLOCK..][..BLOCK]);
        for s in 0..BLOCK {
            for l in 0..LANES {
                total[s][l] += weight[l] * delta[s][l];
            }
        }
    }
    *out = total;
}

/// Σ a b, lane by lane first.
#[inline(always)]
fn dot(a: &[Tile], b: &[Tile]) -> f64 {
    let mut total = ZERO;
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            total[l] += a[l] * b[l];
        }
    }
    sum(&total)
}

/// The sum of a tile, always in this order.
#[inline(always)]
fn sum(t: &Tile) -> f64 {
    let four: [f64; 4] = from_fn(|l| t[l] + t[l + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}
