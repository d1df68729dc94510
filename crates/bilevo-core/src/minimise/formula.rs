//! Landscapes written down as formulas, for tests: their minimisers are known exactly.

use super::Landscape;

type Formulas<'a> = Box<dyn Fn(&[f64]) -> Vec<f64> + 'a>;

pub(crate) struct Formula<'a> {
    dim: usize,
    values: Formulas<'a>,
    /// Function after function.
    gradients: Formulas<'a>,
    /// One matrix a function, one after the other.
    hessians: Formulas<'a>,
    pub(crate) kinked: bool,
    pub(crate) covariance: Vec<f64>,
    pub(crate) variances: Vec<f64>,
    /// How often derivatives were asked for.
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
