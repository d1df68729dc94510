//! The latest lower evaluations of all tasks, as the joint model reads them.

use super::coordinates::Coordinates;
use super::quadratic::Quadratic;
use serde::{Deserialize, Serialize};

/// Evaluated points (x, y) with f and the constraint values, and how the present model sees them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Archive {
    dim: usize,
    outputs: usize,
    points: Vec<f64>,
    rows: Vec<f64>,
    violations: Vec<f64>,
    /// The points in the model's coordinates.
    whitened: Vec<f64>,
    /// What the model leaves unexplained.
    residuals: Vec<f64>,
}

impl Archive {
    /// An empty archive of points with `dim` coordinates and `outputs` values.
    pub(crate) fn new(dim: usize, outputs: usize) -> Self {
        Archive { dim, outputs, ..Archive::default() }
    }

    /// Number of points.
    pub(crate) fn len(&self) -> usize {
        self.violations.len()
    }

    /// Functions evaluated at each point.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Adds a point as a model sees it.
    pub(crate) fn push(
        &mut self,
        (x, y): (&[f64], &[f64]),
        row: (f64, &[f64]),
        violation: f64,
        coordinates: &Coordinates,
        model: &[Quadratic],
    ) {
        self.points.extend_from_slice(x);
        self.points.extend_from_slice(y);
        self.rows.push(row.0);
        self.rows.extend_from_slice(row.1);
        self.violations.push(violation);
        self.whitened.resize(self.points.len(), 0.0);
        self.residuals.resize(self.rows.len(), 0.0);
        self.see(self.len() - 1, coordinates, model);
    }

    /// Forgets all but the latest `kept` points.
    pub(crate) fn trim(&mut self, kept: usize) {
        let gone = self.len().saturating_sub(kept);
        self.points.drain(..gone * self.dim);
        self.whitened.drain(..gone * self.dim);
        self.rows.drain(..gone * self.outputs);
        self.residuals.drain(..gone * self.outputs);
        self.violations.drain(..gone);
    }

    /// Looks at all points anew, in new coordinates and with a new model.
    pub(crate) fn see_all(&mut self, coordinates: &Coordinates, model: &[Quadratic]) {
        (0..self.len()).for_each(|i| self.see(i, coordinates, model));
    }

    fn see(&mut self, i: usize, coordinates: &Coordinates, model: &[Quadratic]) {
        let (d, k) = (self.dim, self.outputs);
        let whitened = &mut self.whitened[i * d..(i + 1) * d];
        coordinates.whiten(&self.points[i * d..(i + 1) * d], whitened);
        let (rows, residuals) = (&self.rows[i * k..(i + 1) * k], &mut self.residuals[i * k..(i + 1) * k]);
        for (output, (row, residual)) in rows.iter().zip(residuals).enumerate() {
            *residual = row - model.get(output).map_or(0.0, |q| q.value(whitened));
        }
    }

    /// f at a point.
    pub(crate) fn objective(&self, i: usize) -> f64 {
        self.rows[i * self.outputs]
    }

    /// Summed violation at a point.
    pub(crate) fn violation(&self, i: usize) -> f64 {
        self.violations[i]
    }

    /// A point in the model's coordinates.
    pub(crate) fn whitened(&self, i: usize) -> &[f64] {
        &self.whitened[i * self.dim..(i + 1) * self.dim]
    }

    /// What the model leaves unexplained at a point.
    pub(crate) fn residuals(&self, i: usize) -> &[f64] {
        &self.residuals[i * self.outputs..(i + 1) * self.outputs]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_stay_and_residuals_follow_the_model() {
        let units = Coordinates::of_box(1, &[(0.0, 1.0)], 1.0);
        let mut archive = Archive::new(2, 2);
        for i in 0..5 {
            let v = f64::from(i);
            archive.push((&[v], &[0.5]), (10.0 * v, &[-v]), v, &units, &[]);
        }
        archive.trim(2);
        assert_eq!((archive.len(), archive.objective(0), archive.violation(1)), (2, 30.0, 4.0));
        assert_eq!((archive.whitened(0), archive.residuals(1)), (&[3.0, 0.5][..], &[40.0, -4.0][..]));
        let slope = |g: f64| Quadratic { constant: 0.0, gradient: vec![g, 0.0], hessian: vec![0.0; 4] };
        archive.see_all(&units, &[slope(10.0), slope(0.0)]);
        assert_eq!((archive.residuals(0), archive.residuals(1)), (&[0.0, -3.0][..], &[0.0, -4.0][..]));
        archive.trim(0);
        assert_eq!(archive.len(), 0);
    }
}
