//! Landscapes written down as formulas, for tests: their minimisers are known exactly.

use super::{Landscape, Region};

type Formulas<'a> = Box<dyn Fn(&[f64]) -> Vec<f64> + 'a>;

pub(crate) struct Formula<'a> {
    dim: usize,
    values: Formulas<'a>,
    /// One function after another.
    gradients: Formulas<'a>,
    /// One matrix per function, one after another.
    hessians: Formulas<'a>,
    pub(crate) kinked: bool,
    pub(crate) covariance: Vec<f64>,
    pub(crate) variances: Vec<f64>,
    /// How often derivatives were requested.
    pub(crate) differentiated: usize,
}

impl<'a> Formula<'a> {
    pub(crate) fn new(
        dim: usize,
        values: impl Fn(&[f64]) -> Vec<f64> + 'a,
        gradients: impl Fn(&[f64]) -> Vec<f64> + 'a,
        hessians: impl Fn(&[f64]) -> Vec<f64> + 'a,
    ) -> Self {
        let variances = vec![1.0; values(&vec![0.0; dim]).len()];
        let (values, gradients, hessians) = (Box::new(values), Box::new(gradients), Box::new(hessians));
        let (kinked, covariance, differentiated) = (false, vec![0.0; dim * dim], 0);
        Formula { dim, values, gradients, hessians, kinked, covariance, variances, differentiated }
    }

    /// g'z + z'Hz / 2
    pub(crate) fn quadratic(g: &'a [f64], h: &'a [f64]) -> Self {
        let n = g.len();
        let curved = move |z: &[f64], i: usize| (0..n).map(|j| h[i * n + j] * z[j]).sum::<f64>();
        Formula::new(
            n,
            move |z| vec![(0..n).map(|i| z[i] * (g[i] + 0.5 * curved(z, i))).sum()],
            move |z| (0..n).map(|i| g[i] + curved(z, i)).collect(),
            move |_| h.to_vec(),
        )
    }

    /// The same functions in other units: of length, and of each function's values.
    pub(crate) fn in_units(self, length: f64, units: &[f64]) -> Self {
        let Formula { dim, values, gradients, hessians, kinked, covariance, variances, .. } = self;
        let each = |of: Formulas<'a>, power: i32| {
            let units: Vec<f64> = units.iter().map(|unit| unit / length.powi(power)).collect();
            move |z: &[f64]| -> Vec<f64> {
                let found = of(&z.iter().map(|v| v / length).collect::<Vec<f64>>());
                let count = found.len() / units.len();
                found.iter().enumerate().map(|(i, v)| v * units[i / count]).collect()
            }
        };
        let variances = variances.iter().zip(units).map(|(v, unit)| v * unit * unit).collect();
        let covariance = covariance.iter().map(|c| c / (length * length)).collect();
        let scaled = Formula::new(dim, each(values, 0), each(gradients, 1), each(hessians, 2));
        Formula { kinked, covariance, variances, ..scaled }
    }
}

impl Region {
    /// The same region in another unit of length.
    pub(crate) fn in_units(&self, length: f64) -> Self {
        let times = |v: &[f64]| v.iter().map(|v| v * length).collect();
        Region { radius: self.radius * length, low: times(&self.low), high: times(&self.high) }
    }
}

impl Landscape for Formula<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn outputs(&self) -> usize {
        self.variances.len()
    }

    fn values(&mut self, z: &[f64], into: &mut [f64]) {
        into.copy_from_slice(&(self.values)(z));
    }

    fn gradients(&mut self, z: &[f64], into: &mut [f64]) {
        self.differentiated += 1;
        into.copy_from_slice(&(self.gradients)(z));
    }

    fn hessian(&mut self, z: &[f64], weights: &[f64], into: &mut [f64]) {
        into.fill(0.0);
        for (hessian, weight) in (self.hessians)(z).chunks_exact(into.len()).zip(weights) {
            into.iter_mut().zip(hessian).for_each(|(into, h)| *into += weight * h);
        }
    }

    fn gradient_covariance(&mut self) -> Vec<f64> {
        self.covariance.clone()
    }

    fn variance(&self, output: usize) -> f64 {
        self.variances[output]
    }

    fn kinked(&self) -> bool {
        self.kinked
    }
}
