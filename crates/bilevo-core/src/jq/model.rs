//! The joint quadratic model of the follower's functions over (x, y).
//!
//! One model is shared by all tasks: carried from generation to generation into the new
//! coordinates, and corrected by the smallest quadratic through what it leaves unexplained at the
//! latest points. Around a task's present answer it is corrected once more by the nearest
//! residuals. So a model exists from a handful of points on, learns from every task, and stays
//! affordable in many variables.
//!
//! Two precautions. Only points that are not far worse than the better quarter teach (poles reach
//! 1e10, and a quadratic through one explains nothing else). A carried model that explains the
//! latest points worse than their median does is dropped.

use super::archive::Archive;
use super::coordinates::Coordinates;
use super::minimiser::Constraint;
use super::quadratic::{Quadratic, Sample, median, smallest};
use serde::{Deserialize, Serialize};

/// A point teaches if f <= q + CUT (q − least), q the better quartile.
const CUT: f64 = 10.0;

/// The shared model and its coordinates.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct JointModel {
    pub(crate) coordinates: Coordinates,
    /// f, then the lower constraints; empty until there are enough points.
    shared: Vec<Quadratic>,
}

/// Buffers of a fit.
#[derive(Clone, Debug, Default)]
pub(crate) struct FitScratch {
    sample: Sample,
    nearest: Vec<(f64, usize)>,
    chosen: Vec<usize>,
}

/// The model as a function of the step in w from a task's present answer.
#[derive(Clone, Debug)]
pub(crate) struct TaskModel {
    pub(crate) objective: Quadratic,
    pub(crate) constraints: Vec<Constraint>,
}

/// Points the shared model learns from, for `dim` variables.
fn latest(dim: usize) -> usize {
    125 + 15 * dim
}

/// Residuals that correct it around a task.
fn nearest(dim: usize) -> usize {
    (3 * (2 * dim + 1)).min(2 * dim + 41)
}

impl JointModel {
    /// Points it remembers, for `dim` variables.
    pub(crate) fn memory(dim: usize) -> usize {
        2 * latest(dim)
    }

    /// Points before there is a first one.
    pub(crate) fn first(dim: usize) -> usize {
        let coefficients = 1 + dim + dim * (dim + 1) / 2;
        (coefficients + coefficients / 4).min(4 * dim + 6)
    }

    /// No model yet.
    pub(crate) fn new(coordinates: Coordinates) -> Self {
        JointModel { coordinates, shared: Vec::new() }
    }

    /// Whether there is one.
    pub(crate) fn exists(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Adds an evaluated point to the archive.
    pub(crate) fn note(&self, archive: &mut Archive, at: (&[f64], &[f64]), row: (f64, &[f64]), violation: f64) {
        archive.push(at, row, violation, &self.coordinates, &self.shared);
    }

    /// Moves to new coordinates, taking what was learnt along, and learns from the latest points.
    pub(crate) fn renew(&mut self, coordinates: Coordinates, archive: &mut Archive, scratch: &mut FitScratch) {
        if self.exists() {
            let (origin, matrix) = coordinates.map_into(&self.coordinates);
            self.shared.iter_mut().for_each(|q| *q = q.substituted(&origin, &matrix));
        }
        self.coordinates = coordinates;
        archive.see_all(&self.coordinates, &self.shared);
        self.learn(archive, scratch);
    }

    /// Learns from the latest points if there are enough.
    pub(crate) fn learn(&mut self, archive: &mut Archive, scratch: &mut FitScratch) {
        let dim = self.coordinates.dim();
        let first = archive.len().saturating_sub(latest(dim));
        if archive.len() < Self::first(dim) {
            return;
        }
        if self.exists() && !explains(archive, first) {
            self.shared.clear();
            archive.see_all(&self.coordinates, &self.shared);
        }
        scratch.chosen.clear();
        scratch.chosen.extend(first..archive.len());
        let origin = vec![0.0; dim];
        let Some(correction) = scratch.fit(archive, &origin) else { return };
        if self.exists() {
            self.shared.iter_mut().zip(&correction).for_each(|(shared, correction)| shared.add(correction));
        } else {
            self.shared = correction;
        }
        archive.see_all(&self.coordinates, &self.shared);
    }

    /// The model around (x, y), corrected by the nearest residuals.
    pub(crate) fn around(
        &self,
        archive: &Archive,
        point: &[f64],
        inequalities: usize,
        scratch: &mut FitScratch,
    ) -> Option<TaskModel> {
        if !self.exists() {
            return None;
        }
        let (dim, from) = (self.coordinates.dim(), self.coordinates.upper_dim());
        let mut centre = vec![0.0; dim];
        self.coordinates.whiten(point, &mut centre);
        let mut functions: Vec<Quadratic> = self.shared.iter().map(|q| q.seen_from(&centre, from)).collect();
        scratch.choose_nearest(archive, &centre, nearest(dim));
        let correction = scratch.fit(archive, &centre)?;
        let origin = vec![0.0; dim];
        functions.iter_mut().zip(&correction).for_each(|(f, c)| f.add(&c.seen_from(&origin, from)));
        let mut functions = functions.into_iter();
        let objective = functions.next()?;
        let constraint = |(k, function)| Constraint { function, equality: k >= inequalities };
        Some(TaskModel { objective, constraints: functions.enumerate().map(constraint).collect() })
    }
}

/// Whether the model explains the latest points better than their median does.
fn explains(archive: &Archive, first: usize) -> bool {
    let mut values: Vec<f64> = (first..archive.len()).map(|i| archive.objective(i)).collect();
    let middle = median(&mut values);
    values.iter_mut().for_each(|v| *v = (*v - middle).abs());
    let mut misses: Vec<f64> = (first..archive.len()).map(|i| archive.residuals(i)[0].abs()).collect();
    median(&mut misses) <= median(&mut values)
}

impl FitScratch {
    /// The points nearest to `centre`.
    fn choose_nearest(&mut self, archive: &Archive, centre: &[f64], count: usize) {
        let distance = |i: usize| archive.whitened(i).iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        self.nearest.clear();
        self.nearest.extend((0..archive.len()).map(|i| (distance(i), i)).filter(|(d, _)| d.is_finite()));
        if self.nearest.len() > count {
            self.nearest.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0));
            self.nearest.truncate(count);
        }
        self.chosen.clear();
        self.chosen.extend(self.nearest.iter().map(|&(_, i)| i));
    }

    /// The smallest quadratics through the residuals of the chosen points, around `centre`.
    fn fit(&mut self, archive: &Archive, centre: &[f64]) -> Option<Vec<Quadratic>> {
        let mut values: Vec<f64> = self.chosen.iter().map(|&i| archive.objective(i)).collect();
        if values.is_empty() {
            return None;
        }
        let quarter = values.len() / 4;
        let (low, &mut quartile, _) = values.select_nth_unstable_by(quarter, f64::total_cmp);
        let least = low.iter().copied().fold(quartile, f64::min);
        let cut = quartile + CUT * (quartile - least);
        self.sample.clear();
        for &i in self.chosen.iter().filter(|&&i| archive.objective(i) <= cut) {
            self.sample.points.extend(archive.whitened(i).iter().zip(centre).map(|(z, c)| z - c));
            self.sample.values.extend_from_slice(archive.residuals(i));
            self.sample.weights.push(1.0);
        }
        smallest(centre.len(), archive.outputs(), &self.sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cma::Cma;
    use crate::rng::{Purpose, Streams};

    /// f = (y0 - x0)² + 3 (y1 + x0)², one constraint y0 + y1 - 1.
    fn functions(p: &[f64]) -> (f64, f64) {
        ((p[1] - p[0]).powi(2) + 3.0 * (p[2] + p[0]).powi(2), p[1] + p[2] - 1.0)
    }

    fn filled(count: u64, model: &JointModel) -> Archive {
        let mut archive = Archive::new(3, 2);
        let mut stream = Streams::new(1).open(Purpose::Start, 0, 0);
        for _ in 0..count {
            let p: Vec<f64> = (0..3).map(|_| 4.0 * stream.uniform() - 2.0).collect();
            let (f, g) = functions(&p);
            model.note(&mut archive, (&p[..1], &p[1..]), (f, &[g]), g.max(0.0));
        }
        archive
    }

    fn predicts(model: &JointModel, archive: &Archive, tolerance: f64) {
        let centre = [0.3, 0.1, 0.2];
        let task = model.around(archive, &centre, 1, &mut FitScratch::default()).unwrap();
        let y = [0.25, -0.1];
        let mut w = [y[0] - centre[1], y[1] - centre[2]];
        model.coordinates.whiten_step(&mut w);
        let (f, g) = functions(&[0.3, y[0], y[1]]);
        assert!((task.objective.value(&w) - f).abs() < tolerance, "{} {f}", task.objective.value(&w));
        assert!((task.constraints[0].function.value(&w) - g).abs() < tolerance);
        assert!(!task.constraints[0].equality);
    }

    #[test]
    fn a_quadratic_follower_is_learnt_and_carried_along() {
        let mut model = JointModel::new(Coordinates::new(&Cma::round(vec![0.0; 3], 1.0), 1));
        let mut archive = filled(30, &model);
        assert!(model.around(&archive, &[0.0; 3], 1, &mut FitScratch::default()).is_none());
        model.learn(&mut archive, &mut FitScratch::default());
        predicts(&model, &archive, 0.05);
        // Carried into smaller units, without the points it was learnt from.
        archive.trim(6);
        let smaller = Coordinates::new(&Cma::round(vec![0.3, 0.1, 0.0], 0.2), 1);
        model.renew(smaller, &mut archive, &mut FitScratch::default());
        predicts(&model, &archive, 0.05);
    }

    #[test]
    fn poles_teach_nothing() {
        let mut model = JointModel::new(Coordinates::new(&Cma::round(vec![0.0; 3], 1.0), 1));
        let mut archive = filled(40, &model);
        for i in 0..5 {
            model.note(&mut archive, (&[0.1 * f64::from(i)], &[0.0, 0.1]), (1e10, &[0.0]), 0.0);
        }
        model.learn(&mut archive, &mut FitScratch::default());
        predicts(&model, &archive, 0.05);
    }

    #[test]
    fn a_model_that_explains_nothing_is_dropped() {
        let mut model = JointModel::new(Coordinates::new(&Cma::round(vec![0.0; 3], 1.0), 1));
        let mut archive = filled(40, &model);
        model.learn(&mut archive, &mut FitScratch::default());
        model.shared[0].constant += 1e6;
        archive.see_all(&model.coordinates, &model.shared);
        assert!(!explains(&archive, 0));
        model.learn(&mut archive, &mut FitScratch::default());
        predicts(&model, &archive, 0.05);
    }
}
