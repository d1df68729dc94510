//! The functions on which steps are computed: values and derivatives in some variables.

use crate::surrogate::Surrogate;

/// An objective and its constraints, as differences from their values at a centre; `z` is the difference from that
/// centre.
pub(crate) trait Landscape {
    /// Number of variables.
    fn dim(&self) -> usize;
    /// Number of functions.
    fn outputs(&self) -> usize;
    /// Values of all functions.
    fn values(&mut self, z: &[f64], into: &mut [f64]);
    /// Gradients, one function after another.
    fn gradients(&mut self, z: &[f64], into: &mut [f64]);
    /// Hessian of Σ weight_o · function_o.
    fn hessian(&mut self, z: &[f64], weights: &[f64], into: &mut [f64]);
    /// Posterior covariance of a gradient near the centre, for a function of variance one.
    fn gradient_covariance(&mut self) -> Vec<f64>;
    /// Square of a function's scale.
    fn variance(&self, output: usize) -> f64;
    /// Whether gradients may jump.
    fn kinked(&self) -> bool {
        false
    }
}

/// A process in its last variables, with the first ones fixed.
#[derive(Clone, Debug)]
pub(crate) struct Slice<'a> {
    process: &'a Surrogate,
    from: usize,
    point: Vec<f64>,
}

impl<'a> Slice<'a> {
    /// Fixes the first variables at `held`, relative to the centre.
    pub(crate) fn new(process: &'a Surrogate, held: &[f64]) -> Self {
        let mut point = held.to_vec();
        point.resize(process.dim(), 0.0);
        Slice { process, from: held.len(), point }
    }

    fn at(&mut self, z: &[f64]) -> &[f64] {
        self.point[self.from..].copy_from_slice(z);
        &self.point
    }
}

impl Landscape for Slice<'_> {
    fn dim(&self) -> usize {
        self.process.dim() - self.from
    }

    fn outputs(&self) -> usize {
        self.process.outputs()
    }

    fn values(&mut self, z: &[f64], into: &mut [f64]) {
        let process = self.process;
        process.values(self.at(z), into);
    }

    fn gradients(&mut self, z: &[f64], into: &mut [f64]) {
        let (process, from) = (self.process, self.from);
        process.gradients(self.at(z), from, into);
    }

    fn hessian(&mut self, z: &[f64], weights: &[f64], into: &mut [f64]) {
        let (process, from) = (self.process, self.from);
        process.hessian(self.at(z), from, weights, into);
    }

    fn gradient_covariance(&mut self) -> Vec<f64> {
        self.process.gradient_covariance(self.from)
    }

    fn variance(&self, output: usize) -> f64 {
        self.process.variance(output)
    }
}
