//! Evaluated points of one kind, and the sample of them that a local model is fitted to.

use crate::surrogate::{Sample, Surrogate};
use serde::{Deserialize, Serialize};

/// Points whose value exceeds the centre's by more than this many times the (dim+2)-th smallest
/// difference are left out: poles would bend the whole model.
const POLE: f64 = 100.0;

/// Points with a row of values each: the objective, then the constraints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Archive {
    dim: usize,
    outputs: usize,
    points: Vec<f64>,
    values: Vec<f64>,
}

impl Archive {
    pub(crate) fn new(dim: usize, outputs: usize) -> Self {
        Archive { dim, outputs, points: Vec::new(), values: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len() / self.outputs
    }

    /// Appends a point unless its evaluation failed.
    pub(crate) fn push(&mut self, point: &[f64], row: &[f64]) -> bool {
        let sound = row.len() == self.outputs && point.iter().chain(row).all(|v| v.is_finite());
        if sound {
            self.points.extend_from_slice(point);
            self.values.extend_from_slice(row);
        }
        sound
    }

    /// Changes the values of a point.
    pub(crate) fn set_row(&mut self, index: usize, row: &[f64]) {
        self.values[index * self.outputs..(index + 1) * self.outputs].copy_from_slice(row);
    }

    pub(crate) fn point(&self, index: usize) -> &[f64] {
        &self.points[index * self.dim..(index + 1) * self.dim]
    }

    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.outputs..(index + 1) * self.outputs]
    }

    /// The points nearest to `centre` (distances in units of `lengths`), at most `limit`, as
    /// differences to it.
    pub(crate) fn around(&self, centre: &[f64], row: &[f64], lengths: &[f64], limit: usize) -> Sample {
        let distance = |p: &[f64]| -> f64 {
            p.iter().zip(centre).zip(lengths).map(|((p, c), l)| ((p - c) / l) * ((p - c) / l)).sum()
        };
        let mut near: Vec<(f64, usize)> =
            self.points.chunks_exact(self.dim).map(distance).zip(0..).filter(|(d, _)| *d > 1e-24).collect();
        // The first of equals, so that nothing depends on how they are sorted.
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if near.len() > limit {
            near.select_nth_unstable_by(limit, order);
            near.truncate(limit);
        }
        near.sort_unstable_by(order);
        let rise = |index: usize| self.values[index * self.outputs] - row[0];
        let mut rises: Vec<f64> = near.iter().map(|(_, i)| rise(*i).abs()).collect();
        let rank = (self.dim + 1).min(rises.len().saturating_sub(1));
        let cut = match rank >= self.dim {
            true => POLE * *rises.select_nth_unstable_by(rank, f64::total_cmp).1,
            false => f64::INFINITY,
        };
        near.retain(|(_, i)| rise(*i) <= cut);
        let mut sample = Sample { len: near.len(), ..Sample::default() };
        for (_, i) in &near {
            sample.points.extend(self.point(*i).iter().zip(centre).map(|(p, c)| p - c));
        }
        for (output, centre) in row.iter().enumerate() {
            sample.values.extend(near.iter().map(|(_, i)| self.values[i * self.outputs + output] - centre));
        }
        sample
    }
}

/// Evaluations and the kernel's lengths that were learnt from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Data {
    pub(crate) archive: Archive,
    lengths: Vec<f64>,
    tick: usize,
}

impl Data {
    pub(crate) fn new(outputs: usize, lengths: Vec<f64>) -> Self {
        Data { archive: Archive::new(lengths.len(), outputs), lengths, tick: 0 }
    }

    /// Model around a point with known values: of the nearest points, at most one and a half times
    /// as many as a quadratic function has coefficients.
    pub(crate) fn model(&mut self, centre: &[f64], row: &[f64]) -> Surrogate {
        let dim = self.lengths.len();
        let full = 1 + dim + dim * (dim + 1) / 2;
        let limit = (full * 3 / 2).min(40 + 4 * dim);
        let sample = self.archive.around(centre, row, &self.lengths, limit);
        self.tick += 1;
        Surrogate::fit(&sample, row.len(), &mut self.lengths, self.tick, false)
    }
}
