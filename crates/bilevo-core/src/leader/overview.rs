//! A model of the leader's function over the whole box, which shows where something better may hide.
//!
//! A Gaussian process (Matérn 5/2, one length per variable, by likelihood) through points that lie apart. A
//! descent's own model is local; this one predicts where an improvement on the best value can be expected (Jones,
//! Schonlau and Welch, 1998), and so where a restart is worth its calls, and when none is. High values are
//! compressed, so that walls and poles do not distort the model. Its standard deviations are scaled by the errors
//! of its earlier predictions.

use crate::linalg::cholesky;
use crate::portfolio::archive::distance;
use crate::rng::Stream;
use crate::space::Space;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, SQRT_2};

/// The lengths of the kernel in units of the box: the first, the smallest and the largest, and the factor between
/// those that are tried.
const LENGTH: f64 = 0.5;
const LENGTHS: (f64, f64) = (0.05, 2.0);
const FACTOR: f64 = 1.5;
/// The number of rounds of changed lengths in one fit.
const ROUNDS: usize = 3;
/// Noise as a share of the variance, so that points close together do not spoil the factorisation.
const NOISE: f64 = 1e-6;
/// Points closer than this along every variable are one; and how many points the model sees at most.
const APART: f64 = 0.02;
const MOST: usize = 150;
/// Around the end of a search, there is nothing left to find.
const SEARCHED: f64 = 0.05;
/// The number of points at which improvement is predicted, for each variable, and of rounds of changes to the best of
/// them.
const CANDIDATES: usize = 200;
const REFINED: usize = 60;
/// A prediction counts as wrong by at most this many deviations.
const MISSED: f64 = 10.0;

/// What lasts from one fit to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Overview {
    lengths: Vec<f64>,
    /// The sum of the squared errors of the predictions, in their deviations, and the number of predictions.
    missed: (f64, usize),
    /// The prediction at the requested point: mean and deviation, and their units.
    predicted: Option<(f64, f64, Units)>,
}

/// A place that promises improvement.
pub(super) struct Promise {
    pub(super) at: Vec<f64>,
    /// The expected improvement, in units of the spread of the values.
    pub(super) gain: f64,
}

/// How values are squeezed: in units of their spread, and by a logarithm above the median.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Units {
    median: f64,
    spread: f64,
}

impl Units {
    fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |share: usize| values.get(values.len() * share / 4).copied().unwrap_or(0.0);
        Units { median: at(2), spread: (at(3) - at(1)).abs().max(f64::MIN_POSITIVE) }
    }

    fn of(self, value: f64) -> f64 {
        let value = (value - self.median) / self.spread;
        if value > 0.0 { libm::log1p(value) } else { value }
    }
}

/// A fitted model of squeezed values.
struct Model<'a> {
    points: Vec<&'a [f64]>,
    lengths: &'a [f64],
    factor: Vec<f64>,
    weights: Vec<f64>,
    mean: f64,
    variance: f64,
    likelihood: f64,
}

impl Overview {
    pub(super) fn new(dim: usize) -> Self {
        Overview { lengths: vec![LENGTH; dim], missed: (0.0, 0), predicted: None }
    }

    /// Where the largest improvement on the best of the points can be expected, away from the ends of searches.
    /// Points that failed have no value.
    pub(super) fn promise(
        &mut self,
        space: &Space,
        known: &[(&[f64], Option<f64>)],
        ends: &[&[f64]],
        stream: &mut Stream,
    ) -> Promise {
        let (points, values, units) = apart(known);
        let lengths = std::mem::take(&mut self.lengths);
        self.lengths = improved(&points, &values, lengths);
        let model = Model::fit(&points, &values, &self.lengths);
        let best = values.iter().copied().fold(f64::INFINITY, f64::min);
        let doubt = if self.missed.1 == 0 { 1.0 } else { (self.missed.0 / self.missed.1 as f64).sqrt().max(1.0) };
        let gain = |at: &[f64]| {
            let (mean, deviation) = model.at(at);
            expected(best - mean, doubt * deviation)
        };
        let mut found = Promise { at: vec![0.5; space.dim()], gain: -1.0 };
        let look = |mut at: Vec<f64>, found: &mut Promise| {
            space.snap(&mut at);
            let gain = gain(&at);
            let searched = ends.iter().any(|end| distance(end, &at) <= SEARCHED);
            if gain > found.gain && !searched && known.iter().all(|(point, _)| *point != at) {
                *found = Promise { at, gain };
            }
        };
        for _ in 0..CANDIDATES * space.dim() {
            look((0..space.dim()).map(|_| stream.uniform()).collect(), &mut found);
        }
        for round in 0..REFINED {
            let width = 0.1 * 0.9_f64.powi(round as i32);
            let near = found.at.iter().map(|v| (v + width * stream.normal()).clamp(0.0, 1.0));
            look(near.collect(), &mut found);
        }
        let (mean, deviation) = model.at(&found.at);
        self.predicted = Some((mean, deviation, units));
        found
    }

    /// Takes the value at the place that it named; none if it failed.
    pub(super) fn learn(&mut self, value: Option<f64>) {
        if let (Some((mean, deviation, units)), Some(value)) = (self.predicted.take(), value) {
            let missed = ((units.of(value) - mean) / deviation.max(NOISE)).clamp(-MISSED, MISSED);
            self.missed = (self.missed.0 + missed * missed, self.missed.1 + 1);
        }
    }
}

impl<'a> Model<'a> {
    fn fit(points: &[&'a [f64]], values: &[f64], lengths: &'a [f64]) -> Self {
        let n = points.len();
        let mut factor: Vec<f64> = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                factor[i * n + j] = kernel(points[i], points[j], lengths) + if i == j { NOISE } else { 0.0 };
            }
        }
        let mean = values.iter().sum::<f64>() / n.max(1) as f64;
        let mut weights: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let sound = cholesky::factor(n, &mut factor);
        cholesky::forward(n, &factor, &mut weights);
        let variance = weights.iter().map(|w| w * w).sum::<f64>() / n.max(1) as f64;
        let half: f64 = (0..n).map(|i| libm::log(factor[i * n + i])).sum();
        cholesky::backward(n, &factor, &mut weights);
        let likelihood = match sound {
            true => -0.5 * n as f64 * libm::log(variance.max(f64::MIN_POSITIVE)) - half,
            false => f64::NEG_INFINITY,
        };
        Model { points: points.to_vec(), lengths, factor, weights, mean, variance, likelihood }
    }

    /// Mean and deviation at a point.
    fn at(&self, at: &[f64]) -> (f64, f64) {
        let mut column: Vec<f64> = self.points.iter().map(|point| kernel(point, at, self.lengths)).collect();
        let mean = self.mean + column.iter().zip(&self.weights).map(|(k, w)| k * w).sum::<f64>();
        cholesky::forward(column.len(), &self.factor, &mut column);
        let left = 1.0 + NOISE - column.iter().map(|v| v * v).sum::<f64>();
        (mean, (self.variance * left.max(0.0)).sqrt())
    }
}

/// Matérn's kernel of order 5/2.
fn kernel(a: &[f64], b: &[f64], lengths: &[f64]) -> f64 {
    let square: f64 = a.iter().zip(b).zip(lengths).map(|((a, b), l)| ((a - b) / l) * ((a - b) / l)).sum();
    let r = (5.0 * square).sqrt();
    (1.0 + r + r * r / 3.0) * libm::exp(-r)
}

/// The expected improvement of a normal value whose mean is better by `gain`.
fn expected(gain: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return gain.max(0.0);
    }
    let z = gain / deviation;
    let (density, below) = (libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt(), 0.5 * libm::erfc(-z / SQRT_2));
    gain * below + deviation * density
}

/// Lengths that explain the values better.
fn improved(points: &[&[f64]], values: &[f64], mut lengths: Vec<f64>) -> Vec<f64> {
    let mut best = Model::fit(points, values, &lengths).likelihood;
    for _ in 0..ROUNDS {
        let before = best;
        for which in 0..=lengths.len() {
            for factor in [FACTOR, 1.0 / FACTOR] {
                let mut tried = lengths.clone();
                // One of them, and finally all.
                let changed = if which < tried.len() { &mut tried[which..=which] } else { &mut tried[..] };
                changed.iter_mut().for_each(|l| *l = (*l * factor).clamp(LENGTHS.0, LENGTHS.1));
                let likelihood = Model::fit(points, values, &tried).likelihood;
                if likelihood > best {
                    (best, lengths) = (likelihood, tried);
                }
            }
        }
        if best == before {
            break;
        }
    }
    lengths
}

/// Points that lie apart, the best of each place, and their values; failed ones are as bad as the worst.
fn apart<'a>(known: &[(&'a [f64], Option<f64>)]) -> (Vec<&'a [f64]>, Vec<f64>, Units) {
    let mut order: Vec<(&[f64], f64)> = known.iter().map(|(at, value)| (*at, value.unwrap_or(f64::INFINITY))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut kept: Vec<(&[f64], f64)> = Vec::new();
    for (at, value) in order {
        let far = |(other, _): &(&[f64], f64)| distance(other, at) > APART;
        if kept.len() < MOST && kept.iter().all(far) {
            kept.push((at, value));
        }
    }
    let sound = kept.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
    let units = Units::new(sound.clone().collect());
    let worst = sound.fold(f64::NEG_INFINITY, f64::max);
    let values = kept.iter().map(|(_, value)| units.of(value.min(worst))).collect();
    (kept.into_iter().map(|(at, _)| at).collect(), values, units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    /// The promise of an overview that has learnt from some places of a function of one variable, away from an
    /// end.
    fn promise(overview: &mut Overview, places: &[f64], end: f64, function: impl Fn(f64) -> Option<f64>) -> Promise {
        let points: Vec<[f64; 1]> = places.iter().map(|at| [*at]).collect();
        let known: Vec<(&[f64], Option<f64>)> = points.iter().map(|at| (&at[..], function(at[0]))).collect();
        let mut stream = Streams::new(1).open(Purpose::Sample, 0, 0);
        overview.promise(&Space::from(vec![(0.0, 1.0)]), &known, &[&[end]], &mut stream)
    }

    fn bowl(at: f64) -> Option<f64> {
        Some((at - 0.3) * (at - 0.3))
    }

    #[test]
    fn it_is_sure_of_a_smooth_function_after_some_points() {
        let few = promise(&mut Overview::new(1), &[0.3, 0.5, 1.0], 0.3, bowl);
        let many: Vec<f64> = (0..=20).map(|i| f64::from(i) / 20.0).collect();
        let many = promise(&mut Overview::new(1), &many, 0.3, bowl);
        assert!(few.gain > 1e-3 && many.gain < 1e-5, "{} {}", few.gain, many.gain);
    }

    #[test]
    fn it_promises_most_where_little_is_known() {
        let found = promise(&mut Overview::new(1), &[0.2, 0.25, 0.3, 0.35, 0.4], 0.3, bowl);
        assert!(found.at[0] > 0.6, "{:?}", found.at);
    }

    #[test]
    fn what_was_missed_makes_it_doubt() {
        let places = [0.1, 0.3, 0.5, 0.8];
        let mut overview = Overview::new(1);
        let before = promise(&mut overview, &places, 0.3, bowl).gain;
        overview.learn(Some(100.0));
        let after = promise(&mut overview, &places, 0.3, bowl).gain;
        assert!(after > 2.0 * before, "{before} {after}");
        // A failure says nothing about the model.
        let mut other = Overview::new(1);
        let sure = promise(&mut other, &places, 0.3, bowl).gain;
        other.learn(None);
        assert!(promise(&mut other, &places, 0.3, bowl).gain < 2.0 * sure);
    }

    #[test]
    fn it_keeps_away_from_failures_and_ends() {
        let places = [0.1, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1.0];
        let fails = |at: f64| if at > 0.5 { None } else { bowl(at) };
        let found = promise(&mut Overview::new(1), &places, 0.0, fails);
        assert!(found.at[0] < 0.6, "{:?}", found.at);
        let other = promise(&mut Overview::new(1), &places, found.at[0], fails);
        assert!((other.at[0] - found.at[0]).abs() > SEARCHED, "{:?} {:?}", found.at, other.at);
    }
}
