//! SMD1–SMD12, rotated, stretched and shifted at random, so that no method benefits from the suite's alignment with
//! the axes: `smd1-rotated` to `smd12-rotated`, instance K under `smd1-rotated:K`.
//!
//! Each level has a map of its own. Let B be the box of the level in SMD, with centre c and half
//! widths h. A new point w stands for p = c + h ∘ A(w − t), where A = R₁ᵀ D R₂ with random rotations
//! R₁ and R₂ and stretches D between 1/2 and 2 (so A has a condition of at most 4), and t is a random
//! shift. The new box is the smallest one that holds all of B, each of its sides moved out by a
//! random share of up to a quarter of the half width, so that the optimum has another place in it.
//!
//! Outside B the formulas of SMD may have no meaning (logarithms, tangents). There the problem is the
//! one at p̂, the point of B nearest to p, and the level pays for the way to it:
//!
//! F'(w, v) = F(x̂, ŷ) + ‖x − x̂‖²,  f'(w, v) = f(x̂, ŷ) + ‖y − ŷ‖²,  constraints at (x̂, ŷ).
//!
//! **The optimum is kept.** Every y of B has a v, and f' ≥ f(x̂, ŷ) with equality only in B: so the
//! follower's best answers at w are exactly those of SMD at x̂. At these F' = F(x̂, y) + ‖x − x̂‖²,
//! which is at least SMD's optimum, and equal to it at the w of SMD's optimal x.

use crate::BoxedProblem;
use crate::smd::Smd;
use bilevo_core::problem::{BilevelProblem, Failure, Level, LevelSpec, ProblemSpec};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_core::space::Space;
use std::cell::RefCell;

/// The largest stretch of a direction; the smallest is its inverse.
const STRETCH: f64 = 2.0;
/// The largest shift.
const SHIFT: f64 = 2.0;
/// The most by which a side of the box moves out, in half widths.
const MARGIN: f64 = 0.25;

/// One of the twelve at a legal size, and the map of each level.
pub(crate) struct Rotated {
    spec: ProblemSpec,
    plain: BoxedProblem,
    upper: Map,
    lower: Map,
}

impl Rotated {
    /// Instance `instance` with `m` upper and `n` lower variables.
    pub(crate) fn new(name: &str, smd: Smd, instance: u32, m: usize, n: usize) -> Rotated {
        let plain = smd.problem(name, m, n);
        let mut spec = plain.spec().clone();
        let streams = Streams::new(instance.into());
        let map = |level: Level, spec: &mut LevelSpec| {
            let (map, space) = Map::new(&spec.space, &mut streams.open(Purpose::Instance, smd as u64, level as u64));
            spec.space = space;
            map
        };
        let (upper, lower) = (map(Level::Upper, &mut spec.upper), map(Level::Lower, &mut spec.lower));
        Rotated { spec, plain, upper, lower }
    }

    /// Where a point of the plain problem lies in this one.
    pub(crate) fn place(&self, (x, y): (Vec<f64>, Vec<f64>)) -> (Vec<f64>, Vec<f64>) {
        (self.upper.place(&x), self.lower.place(&y))
    }
}

thread_local! {
    /// Scratch for the plain problem's point, so that an evaluation allocates nothing.
    static POINT: RefCell<(Vec<f64>, Vec<f64>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

impl BilevelProblem for Rotated {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, w: &[f64], v: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        if w.len() != self.spec.upper.dim() || v.len() != self.spec.lower.dim() {
            return Err(crate::fixed::wrong_size(&self.spec, w, v).into());
        }
        POINT.with_borrow_mut(|(x, y)| {
            let (from_x, from_y) = (self.upper.stands_for(w, x), self.lower.stands_for(v, y));
            let way = if level == Level::Upper { from_x } else { from_y };
            Ok(self.plain.evaluate(level, x, y, constraints)? + way)
        })
    }
}

/// p = c + h ∘ A(w − t) of one level; matrices by rows.
struct Map {
    plain: Space,
    shift: Vec<f64>,
    /// A
    matrix: Vec<f64>,
    /// A⁻¹
    inverse: Vec<f64>,
}

impl Map {
    /// A random map of a box, and the new box.
    fn new(plain: &Space, stream: &mut Stream) -> (Map, Space) {
        let dim = plain.dim();
        let (first, second) = (rotation(dim, stream), rotation(dim, stream));
        let between = |stream: &mut Stream, low: f64, high: f64| low + (high - low) * stream.uniform();
        let logs = libm::log(STRETCH);
        let stretch: Vec<f64> = (0..dim).map(|_| libm::exp(between(stream, -logs, logs))).collect();
        let shrink: Vec<f64> = stretch.iter().map(|s| 1.0 / s).collect();
        let shift: Vec<f64> = (0..dim).map(|_| between(stream, -SHIFT, SHIFT)).collect();
        let inverse = product(&second, &shrink, &first, dim);
        let sides = inverse.chunks_exact(dim).zip(&shift).map(|(row, centre)| {
            // A⁻¹ takes the cube [−1, 1]ⁿ this far in this direction.
            let reach: f64 = row.iter().map(|v| v.abs()).sum();
            let mut side = || reach * (1.0 + between(stream, 0.0, MARGIN));
            (centre - side(), centre + side())
        });
        let sides: Vec<(f64, f64)> = sides.collect();
        let matrix = product(&first, &stretch, &second, dim);
        (Map { plain: plain.clone(), shift, matrix, inverse }, sides.into())
    }

    /// Writes p̂ and returns ‖p − p̂‖².
    fn stands_for(&self, w: &[f64], nearest: &mut Vec<f64>) -> f64 {
        nearest.clear();
        let mut way = 0.0;
        for (row, v) in self.matrix.chunks_exact(w.len()).zip(self.plain.iter()) {
            let turned: f64 = row.iter().zip(w.iter().zip(&self.shift)).map(|(a, (w, t))| a * (w - t)).sum();
            let p = 0.5 * (v.low + v.high) + 0.5 * v.width() * turned;
            let kept = v.clamp(p);
            way += (p - kept) * (p - kept);
            nearest.push(kept);
        }
        way
    }

    /// The w that stands for p.
    fn place(&self, p: &[f64]) -> Vec<f64> {
        let scaled = p.iter().zip(self.plain.iter()).map(|(p, v)| (2.0 * p - v.low - v.high) / v.width());
        let scaled: Vec<f64> = scaled.collect();
        let rows = self.inverse.chunks_exact(p.len()).zip(&self.shift);
        rows.map(|(row, t)| t + row.iter().zip(&scaled).map(|(a, z)| a * z).sum::<f64>()).collect()
    }
}

/// A uniformly random rotation: Gaussian rows, orthonormalised one after another.
pub(crate) fn rotation(dim: usize, stream: &mut Stream) -> Vec<f64> {
    let mut rows: Vec<f64> = (0..dim * dim).map(|_| stream.normal()).collect();
    for i in 0..dim {
        let (done, rest) = rows.split_at_mut(i * dim);
        let row = &mut rest[..dim];
        for other in done.chunks_exact(dim) {
            let along: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
        }
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        row.iter_mut().for_each(|v| *v /= length);
    }
    rows
}

/// Leftᵀ · diagonal · right.
fn product(left: &[f64], diagonal: &[f64], right: &[f64], dim: usize) -> Vec<f64> {
    let mut result = vec![0.0; dim * dim];
    for ((left, right), factor) in left.chunks_exact(dim).zip(right.chunks_exact(dim)).zip(diagonal) {
        for (out, a) in result.chunks_exact_mut(dim).zip(left) {
            out.iter_mut().zip(right).for_each(|(out, b)| *out += a * factor * b);
        }
    }
    result
}

#[cfg(test)]
mod tests;
