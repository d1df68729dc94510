//! The outside of a planted problem: rotated, in other units, in a box that is too wide.

use super::pieces::between;
use crate::rotated::rotation;
use bilevo_core::rng::Stream;

/// The variables z of a level and the point p they stand for: p = R (z ∘ 1/s), with a rotation R and units s.
pub(super) struct Dress {
    /// R, by rows.
    rotation: Vec<f64>,
    units: Vec<f64>,
    pub(super) bounds: Vec<(f64, f64)>,
}

/// How the variables of a level are transformed.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub(super) rotated: bool,
    pub(super) units: bool,
    pub(super) wide: bool,
    /// The coordinate whose lower bound is the centre itself.
    pub(super) edge: Option<usize>,
}

impl Dress {
    /// A box around `centre` that holds everything within `reach` of it.
    pub(super) fn new(stream: &mut Stream, centre: &[f64], reach: f64, cut: Cut) -> Dress {
        let dim = centre.len();
        let rotation = if cut.rotated { rotation(dim, stream) } else { identity(dim) };
        let units = (0..dim).map(|_| if cut.units { power(stream, 6) } else { 1.0 }).collect();
        let mut dress = Dress { rotation, units, bounds: Vec::new() };
        let reach = if cut.rotated { reach * (dim as f64).sqrt() } else { reach };
        let middle = dress.stands(centre);
        for (coordinate, (at, unit)) in middle.iter().zip(&dress.units).enumerate() {
            let mut side = || {
                let wide = if cut.wide { libm::pow(10.0, between(stream, 2.0, 5.0)) } else { 1.0 };
                unit * reach * wide * between(stream, 1.0, 1.3)
            };
            let below = if cut.edge == Some(coordinate) { 0.0 } else { side() };
            dress.bounds.push((at - below, at + side()));
        }
        dress
    }

    /// p of z.
    pub(super) fn plain(&self, z: &[f64], p: &mut Vec<f64>) {
        p.clear();
        let scaled = || z.iter().zip(&self.units).map(|(z, unit)| z / unit);
        p.extend(
            self.rotation.chunks_exact(z.len()).map(|row| row.iter().zip(scaled()).map(|(r, z)| r * z).sum::<f64>()),
        );
    }

    /// z of p.
    pub(super) fn stands(&self, p: &[f64]) -> Vec<f64> {
        let dim = p.len();
        let turned = |j: usize| (0..dim).map(|i| self.rotation[i * dim + j] * p[i]).sum::<f64>();
        self.units.iter().enumerate().map(|(j, unit)| unit * turned(j)).collect()
    }
}

/// Ten to a whole power of at most ±`largest`, as units in practice.
pub(super) fn power(stream: &mut Stream, largest: usize) -> f64 {
    libm::pow(10.0, stream.below(2 * largest + 1) as f64 - largest as f64)
}

fn identity(dim: usize) -> Vec<f64> {
    (0..dim * dim).map(|k| f64::from(u8::from(k / dim == k % dim))).collect()
}
