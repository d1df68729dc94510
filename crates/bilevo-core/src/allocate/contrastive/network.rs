//! The ranking network: gives every upper candidate a score, larger for better.
//!
//! `x` (m) → fully connected, ReLU = response map `h` (n) → `[x, h]` (m + n) → fully connected, ReLU
//! (q) → fully connected = score. P(i better than j) = σ(S_i − S_j), so scores order a set without
//! comparing pairs; the reference score is 0.
//!
//! Weights are one flat vector, in this order:
//!
//! | block | count | layout |
//! |---|---|---|
//! | response | n (1 + m) | for each response unit: its bias, then its input weights |
//! | hidden | (1 + m + n) q | the q biases, then q weights for each input, then for each response unit |
//! | output | q + 1 | the weight of each hidden unit, then the bias |
//!
//! Randomness: initial weights only, from the stream given. Cost of a score: O((m + n) q).

use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// The sizes of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Inputs: upper variables (m).
    pub inputs: usize,
    /// Units of the response map: lower variables (n).
    pub response: usize,
    /// Hidden units (q).
    pub hidden: usize,
}

impl Shape {
    /// Number of weights, biases included; saturates instead of overflowing.
    pub fn weight_count(self) -> usize {
        let hidden = self.hidden_rows().saturating_mul(self.hidden);
        self.response_count().saturating_add(hidden).saturating_add(self.hidden).saturating_add(1)
    }

    /// Weights of the response block.
    pub(super) fn response_count(self) -> usize {
        self.response.saturating_mul(self.inputs.saturating_add(1))
    }

    /// What a hidden unit sees: 1 for the bias, the inputs, the response map.
    pub(super) fn hidden_rows(self) -> usize {
        self.inputs.saturating_add(self.response).saturating_add(1)
    }
}

/// A network with its weights. Every saved one that loads has as many weights as its shape needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Network {
    shape: Shape,
    weights: Vec<f64>,
}

#[derive(Deserialize)]
struct Saved {
    shape: Shape,
    weights: Vec<f64>,
}

impl TryFrom<Saved> for Network {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        let (expected, got) = (saved.shape.weight_count(), saved.weights.len());
        Network::with_weights(saved.shape, saved.weights)
            .ok_or_else(|| format!("a ranking network of {expected} weights cannot have {got}"))
    }
}

impl Network {
    /// A network with biases and weights ~ U[−r, r], r = 1/√(inputs of the layer): small enough
    /// that standardised inputs give scores near 0, where the loss is steepest.
    pub fn new(shape: Shape, stream: &mut Stream) -> Self {
        let mut weights = Vec::with_capacity(shape.weight_count());
        let hidden = shape.hidden_rows() * shape.hidden;
        let layers = [
            (shape.response_count(), shape.inputs),
            (hidden, shape.inputs + shape.response),
            (shape.hidden + 1, shape.hidden),
        ];
        for (count, fan_in) in layers {
            let radius = 1.0 / (fan_in.max(1) as f64).sqrt();
            weights.extend((0..count).map(|_| radius * (2.0 * stream.uniform() - 1.0)));
        }
        Network { shape, weights }
    }

    /// A network with given weights, if their number fits.
    pub fn with_weights(shape: Shape, weights: Vec<f64>) -> Option<Self> {
        (weights.len() == shape.weight_count()).then_some(Network { shape, weights })
    }

    /// Its sizes.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// All weights in the layout of the module's table.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(super) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weights
    }

    /// The score of a point. It is finite whatever the point is: what overflows counts as the
    /// largest or smallest number, what is undefined as the smallest, the worst.
    /// `scratch` is working memory to reuse between calls; missing coordinates count as 0.
    pub fn score(&self, x: &[f64], scratch: &mut Vec<f64>) -> f64 {
        let Shape { inputs, response, hidden } = self.shape;
        let (first, rest) = self.weights.split_at(self.shape.response_count());
        let (second, output) = rest.split_at(self.shape.hidden_rows() * hidden);
        let (bias, second) = second.split_at(hidden);
        let x = &x[..x.len().min(inputs)];

        scratch.clear();
        scratch.extend_from_slice(bias);
        let mut add = |row: usize, value: f64| {
            let weights = &second[row * hidden..][..hidden];
            scratch.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight * value);
        };
        x.iter().enumerate().for_each(|(row, &value)| add(row, value));
        for unit in 0..response {
            let weights = &first[unit * (inputs + 1)..][..inputs + 1];
            let sum = x.iter().zip(&weights[1..]).fold(weights[0], |sum, (value, weight)| sum + weight * value);
            add(inputs + unit, relu(sum));
        }
        let score = scratch.iter().zip(output).fold(output[hidden], |sum, (&z, weight)| sum + weight * relu(z));
        if score.is_nan() { f64::MIN } else { score.clamp(f64::MIN, f64::MAX) }
    }
}

/// max(z, 0), and 0 for NaN.
#[inline(always)]
pub(super) fn relu(z: f64) -> f64 {
    if z > 0.0 { z } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    const SHAPE: Shape = Shape { inputs: 2, response: 3, hidden: 5 };

    fn network(seed: u64) -> Network {
        Network::new(SHAPE, &mut Streams::new(seed).open(Purpose::Train, 0, 0))
    }

    #[test]
    fn weights_are_counted_and_bounded_by_their_layer() {
        let net = network(1);
        assert_eq!(net.weights().len(), 3 * 3 + 6 * 5 + 6);
        let within = |weights: &[f64], fan_in: f64| weights.iter().all(|w| w.abs() <= 1.0 / fan_in.sqrt());
        assert!(within(&net.weights()[..9], 2.0));
        assert!(within(&net.weights()[9..39], 5.0));
        assert!(within(&net.weights()[39..], 5.0));
        assert_ne!(net, network(2));
    }

    #[test]
    fn score_follows_the_documented_layout() {
        // one unit in each layer: S = 7 relu(4 + 5 x + 6 relu(2 + 3 x)) + 8
        let shape = Shape { inputs: 1, response: 1, hidden: 1 };
        let net = Network::with_weights(shape, vec![2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap();
        let mut scratch = Vec::new();
        assert_eq!(net.score(&[1.0], &mut scratch), 7.0 * (4.0 + 5.0 + 6.0 * 5.0) + 8.0);
        assert_eq!(net.score(&[-0.7], &mut scratch), 7.0 * (4.0 - 0.7 * 5.0) + 8.0);
        assert_eq!(net.score(&[-9.0], &mut scratch), 8.0);
    }

    #[test]
    fn scores_are_finite_for_any_input() {
        let net = network(3);
        let mut scratch = Vec::new();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, 1e-308] {
            for x in [[bad, 1.0], [1.0, bad], [bad, bad], [bad, -bad]] {
                assert!(net.score(&x, &mut scratch).is_finite(), "{x:?}");
            }
        }
        assert!(net.score(&[], &mut scratch).is_finite());
    }

    #[test]
    fn saved_networks_load_exactly_or_not_at_all() {
        let net = network(4);
        let bytes = postcard::to_stdvec(&net).unwrap();
        assert_eq!(postcard::from_bytes::<Network>(&bytes).unwrap(), net);

        let wrong = Network { shape: SHAPE, weights: vec![0.0; 7] };
        let bytes = postcard::to_stdvec(&wrong).unwrap();
        assert!(postcard::from_bytes::<Network>(&bytes).is_err());
        let huge = Shape { inputs: usize::MAX, response: usize::MAX, hidden: usize::MAX };
        assert_eq!(Network::with_weights(huge, vec![]), None);
    }
}
