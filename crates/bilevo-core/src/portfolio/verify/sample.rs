//! Answers all over the box: the random part of what a verdict tries.

use super::Answer;
use crate::portfolio::claim::Scales;
use crate::rng::Stream;

/// The number of random answers: this many, plus this many for each variable.
const SAMPLE: (usize, usize) = (10, 10);
/// The number of feasible answers that show how much f usually varies.
const FEW: usize = 8;

/// How many random answers a usual verdict tries.
pub(super) fn size(n: usize) -> usize {
    SAMPLE.0 + SAMPLE.1 * n
}

/// This many random answers: anywhere, at bounds, and on rays from the claimed one.
pub(super) fn sample(claimed: &[f64], count: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let n = claimed.len();
    let one = |i: usize| match i % 4 {
        0 => anywhere(n, false, stream),
        1 => anywhere(n, true, stream),
        _ => away(claimed, stream),
    };
    (0..count).map(one).collect()
}

/// By how much the best of some answers is usually better than another: half of them come no closer to it. Poles do
/// not count, nor do infeasible answers if others are feasible.
pub(super) fn usual_change(answers: &[Answer], scales: &Scales) -> f64 {
    let of = |feasible: bool| -> Vec<f64> {
        let counts = |a: &&Answer| !feasible || scales.answer_is_feasible(&a.row);
        let mut values: Vec<f64> = answers.iter().filter(counts).map(|a| a.row[0]).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let feasible = of(true);
    let values = if feasible.len() >= FEW { feasible } else { of(false) };
    let (Some(best), Some(worst)) = (values.first(), values.last()) else { return 0.0 };
    let usual = values[values.len() / 2] - best;
    if usual > 0.0 { usual } else { worst - best }
}

/// A random answer: anywhere, or with some variables at their bounds, where the answers of followers that are not
/// convex lie.
pub(super) fn anywhere(n: usize, at_bounds: bool, stream: &mut Stream) -> Vec<f64> {
    let coordinate = |stream: &mut Stream| match stream.below(3) {
        side @ (0 | 1) if at_bounds => side as f64,
        _ => stream.uniform(),
    };
    (0..n).map(|_| coordinate(stream)).collect()
}

/// A random answer on a ray from another: in many dimensions, far more rays from there than points of the box hit a
/// basin next to it.
pub(super) fn away(from: &[f64], stream: &mut Stream) -> Vec<f64> {
    let direction: Vec<f64> = from.iter().map(|_| stream.normal()).collect();
    let room = |(y, d): (&f64, &f64)| if *d > 0.0 { (1.0 - y) / d } else { -y / d };
    let border =
        from.iter().zip(&direction).map(room).filter(|r| r.is_finite() && *r > 0.0).fold(f64::INFINITY, f64::min);
    let length = stream.uniform() * if border.is_finite() { border } else { 0.0 };
    from.iter().zip(&direction).map(|(y, d)| (y + length * d).clamp(0.0, 1.0)).collect()
}
