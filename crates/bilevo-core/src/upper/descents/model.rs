//! What the model predicts for untried decisions.

use super::{Descents, Stand};
use crate::order;
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::surrogate::Surrogate;
use crate::whole::{self, key};

/// How often the same whole numbers are tried with other real values.
const AGAIN: usize = 6;
/// Predicted violations above this part of a constraint's spread are trusted.
const BELIEVED: f64 = 0.1;
/// By which part of F's spread a decision must promise to be better than a known one.
const PROMISE: f64 = 0.02;
/// Up to this many combinations of whole numbers, the model ranks all.
const ENUMERATED: u64 = 2_000;
/// Maximum number of descents over the model, and of their steps.
const DREAMS: usize = 10;
const STEPS: usize = 20;

impl Descents {
    /// Untried neighbours, ordered by the model, best first, with the real values that the model predicts. Those that
    /// promise nothing better than `least` are left out, and so are those that clearly violate a constraint that the
    /// current decision meets.
    pub(super) fn ranked(&mut self, at: &Stand, near: Vec<Vec<f64>>, least: &Outcome) -> Vec<Vec<f64>> {
        let centre = self.mixed.unit(&at.x);
        let model = self.knowledge.learner.model(&self.points, &centre, &at.row, f64::INFINITY);
        let mut ranked: Vec<(Outcome, Vec<f64>)> = Vec::new();
        for x in near {
            let tried = self.wholes.get(&self.whole_key(&x)).map_or(0, |known| known.0);
            if tried > 0 && (self.mixed.reals() == 0 || self.jumps || tried >= AGAIN) {
                continue;
            }
            let (x, outcome) = self.predicted(at, &centre, &model, x);
            let better = order::better(&outcome, &at.outcome) && at.outcome.value - outcome.value > self.same();
            let hopeless = at.outcome.is_feasible() && !outcome.is_feasible() && self.points.len() > 2 * centre.len();
            let promise = Outcome { value: outcome.value + PROMISE * self.points.scale(0), ..outcome };
            let enough = least.is_failed() || order::better(&promise, least);
            if !self.asked.contains(&key(&x)) && !hopeless && enough && (tried == 0 || better) {
                ranked.push((outcome, x));
            }
        }
        ranked.sort_by(|a, b| order::compare(&a.0, &b.0));
        ranked.into_iter().map(|(_, x)| x).collect()
    }

    /// The untried decisions that the model around the best one ranks first: among all if there are few, otherwise
    /// along descents over the model from perturbed decisions.
    pub(super) fn promising(&mut self, elite: &Stand, places: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
        let centre = self.mixed.unit(&elite.x);
        let model = self.knowledge.learner.model(&self.points, &centre, &elite.row, f64::INFINITY);
        let space = &self.mixed.space;
        let predict = |x: Vec<f64>| {
            let (x, outcome) = self.predicted(elite, &centre, &model, x);
            (outcome, x)
        };
        let mut seen: Vec<(Outcome, Vec<f64>)> = match space.combinations() <= ENUMERATED {
            true => space.enumerate(&elite.x).map(predict).collect(),
            false => Vec::new(),
        };
        for _ in 0..if seen.is_empty() { DREAMS } else { 0 } {
            let mut x = elite.x.clone();
            let changed = 2 + stream.below(self.mixed.wholes.div_ceil(2).max(1));
            for index in stream.choose(x.len(), changed) {
                x[index] = if space.variable(index).is_whole() { space.variable(index).draw(stream) } else { x[index] };
            }
            let mut at = predict(x);
            for _ in 0..STEPS {
                let near = self.mixed.neighbours(&at.1).0.into_iter().map(predict);
                let best = near.min_by(|a, b| order::compare(&a.0, &b.0));
                seen.push(at.clone());
                match best.filter(|best| order::better(&best.0, &at.0)) {
                    Some(best) => at = best,
                    None => break,
                }
            }
        }
        seen.sort_by(|a, b| order::compare(&a.0, &b.0));
        let new = |x: &Vec<f64>| !self.wholes.contains_key(&self.whole_key(x));
        let mut best: Vec<Vec<f64>> = Vec::new();
        for (_, x) in seen {
            if best.len() < places && new(&x) && !best.contains(&x) {
                best.push(x);
            }
        }
        best
    }

    /// A neighbour with the real values that the model predicts there, and its predicted value.
    fn predicted(&self, at: &Stand, centre: &[f64], model: &Surrogate, x: Vec<f64>) -> (Vec<f64>, Outcome) {
        let wholes = self.mixed.wholes;
        let unit = self.mixed.unit(&x);
        let change: Vec<f64> = unit.iter().zip(centre).take(wholes).map(|(a, b)| a - b).collect();
        let mut values = vec![0.0; at.row.len()];
        let x = if self.mixed.reals() > 0 && !self.jumps && self.points.len() > centre.len() {
            let step = whole::step(model, &self.knowledge.merit, &at.row, &centre[wholes..], &change);
            values.clone_from(&step.values);
            let reals: Vec<f64> = centre[wholes..].iter().zip(&step.z).map(|(c, z)| c + z).collect();
            self.mixed.with_reals(&x, &reals)
        } else {
            let full: Vec<f64> = unit.iter().zip(centre).map(|(a, b)| a - b).collect();
            model.values(&full, &mut values);
            x
        };
        let merit = self.knowledge.merit.constraints(&at.row);
        let excess = |i: usize| {
            let excess = merit.excess(i, at.row[i + 1] + values[i + 1]);
            if excess > BELIEVED * self.points.scale(i + 1) { excess } else { 0.0 }
        };
        let violation = (0..at.row.len() - 1).map(excess).sum();
        (x, Outcome { value: at.row[0] + values[0], violation })
    }
}
