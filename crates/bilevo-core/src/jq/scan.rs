//! Other values of each variable of an answer in turn, as the basins of functions that are sums lie
//! along the variables.
//!
//! Values all over the box first. They meet basins of a wave's length, but hardly their depths: so the
//! two deepest dents along each variable, its own one left out, are looked at more closely.

use super::follower::Answer;
use super::recheck::BETTER;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// Values tried of each variable, and of all variables together, at most.
const VALUES: (usize, usize) = (30, 400);
/// Dents of each variable that are looked at more closely, and how often.
const DENTS: usize = 2;
const ROUNDS: usize = 2;

/// A trial of other values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Scan {
    /// The answer they are tried at.
    from: Answer,
    /// For each variable the values tried, with what they gave, in the order of the values.
    tried: Vec<Vec<(f64, Answer)>>,
    /// The points that wait for their values.
    points: Vec<Vec<f64>>,
    rounds: usize,
}

impl Scan {
    /// Values all over the box, and some at the shares `near` of it on both sides of the answer.
    pub(super) fn new(from: &Answer, bounds: &[(f64, f64)], near: &[f64], mut stream: Stream) -> Self {
        let values = (VALUES.1 / bounds.len()).clamp(1, VALUES.0);
        let mut points = Vec::with_capacity(values * bounds.len());
        for (i, &(low, high)) in bounds.iter().enumerate() {
            // Evenly, so that there is no gap wider than the others.
            let first = stream.uniform();
            for k in 0..values {
                let value = low + (high - low) * (k as f64 + first) / values as f64;
                points.push(changed(&from.y, i, value));
            }
            for share in near.iter().flat_map(|share| [-share, *share]) {
                points.push(changed(&from.y, i, (from.y[i] + share * (high - low)).clamp(low, high)));
            }
        }
        let own = |y: &f64| vec![(*y, from.clone())];
        Scan { tried: from.y.iter().map(own).collect(), from: from.clone(), points, rounds: 0 }
    }

    /// The points that wait for their values.
    pub(super) fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// Takes their values and chooses the next ones; none when it is over.
    pub(super) fn tell(&mut self, told: &[Answer]) {
        for answer in told {
            if let Some(i) = (0..answer.y.len()).find(|&i| answer.y[i] != self.from.y[i]) {
                self.tried[i].push((answer.y[i], answer.clone()));
            }
        }
        self.points.clear();
        self.rounds += 1;
        for (i, tried) in self.tried.iter_mut().enumerate() {
            tried.sort_by(|a, b| a.0.total_cmp(&b.0));
            if self.rounds <= ROUNDS {
                let closer = closer(tried, self.from.y[i]);
                self.points.extend(closer.into_iter().map(|value| changed(&self.from.y, i, value)));
            }
        }
    }

    /// What the values tried gave.
    pub(super) fn others(&self) -> impl Iterator<Item = &Answer> {
        let lines = self.tried.iter().zip(&self.from.y);
        lines.flat_map(|(line, own)| line.iter().filter(move |tried| tried.0 != *own)).map(|tried| &tried.1)
    }

    /// The largest difference of finite merits.
    pub(super) fn range(&self, penalty: f64) -> f64 {
        let all = || self.tried.iter().flatten().map(|(_, a)| a.merit(penalty)).filter(|merit| merit.is_finite());
        (all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)).max(0.0)
    }

    /// The answers along each variable that are better than those next to them; not the one they were
    /// tried at.
    pub(super) fn valleys(&self, penalty: f64) -> Vec<Answer> {
        let merit = |a: &(f64, Answer)| a.1.merit(penalty);
        let mut all = Vec::new();
        for (line, own) in self.tried.iter().zip(&self.from.y) {
            let lowest = |i: usize| {
                (i == 0 || merit(&line[i]) <= merit(&line[i - 1]))
                    && line.get(i + 1).is_none_or(|next| merit(&line[i]) <= merit(next))
            };
            all.extend((0..line.len()).filter(|&i| line[i].0 != *own && lowest(i)).map(|i| line[i].1.clone()));
        }
        all
    }

    /// The answer with the best value of each variable, where more than one is better than before.
    pub(super) fn combined(&self) -> Option<Vec<f64>> {
        let mut y = self.from.y.clone();
        let mut better = 0;
        for (y, tried) in y.iter_mut().zip(&self.tried) {
            let exposing = tried.iter().filter(|(_, a)| a.exposes(&self.from, 0.0, BETTER));
            if let Some((value, _)) = exposing.min_by(|a, b| a.1.outcome.value.total_cmp(&b.1.outcome.value)) {
                *y = *value;
                better += 1;
            }
        }
        (better > 1).then_some(y)
    }
}

/// `y` with another value of one variable.
fn changed(y: &[f64], variable: usize, value: f64) -> Vec<f64> {
    let mut y = y.to_vec();
    y[variable] = value;
    y
}

/// Values halfway between the bottoms of the deepest dents and their neighbours.
fn closer(tried: &[(f64, Answer)], own: f64) -> Vec<f64> {
    let depth = |k: usize| tried[k].1.outcome.value;
    let mut dents: Vec<usize> = (1..tried.len().saturating_sub(1))
        .filter(|&k| tried[k].0 != own && depth(k) <= depth(k - 1) && depth(k) < depth(k + 1))
        .collect();
    dents.sort_by(|a, b| depth(*a).total_cmp(&depth(*b)));
    let halves = |k: usize| [0.5 * (tried[k - 1].0 + tried[k].0), 0.5 * (tried[k].0 + tried[k + 1].0)];
    dents.into_iter().take(DENTS).flat_map(halves).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Outcome;
    use crate::rng::{Purpose, Streams};

    /// Wells at all whole numbers, the deepest at 0.
    fn waves(y: &[f64]) -> f64 {
        y.iter().map(|y| y * y + 1.0 - libm::cos(std::f64::consts::TAU * y)).sum()
    }

    fn at(y: Vec<f64>, f: fn(&[f64]) -> f64) -> Answer {
        Answer { outcome: Outcome { value: f(&y), violation: 0.0 }, y, constraints: Vec::new(), settled: true }
    }

    /// Scans from `y` and returns the best values of the variables together, and the points spent.
    fn scan(y: Vec<f64>, f: fn(&[f64]) -> f64, seed: u64) -> (Option<Vec<f64>>, usize) {
        let bounds = vec![(-5.0, 10.0); y.len()];
        let stream = Streams::new(seed).open(Purpose::Recheck, 0, 0);
        let mut scan = Scan::new(&at(y, f), &bounds, &[], stream);
        let mut spent = 0;
        while !scan.points().is_empty() {
            spent += scan.points().len();
            let told: Vec<Answer> = scan.points().iter().map(|y| at(y.clone(), f)).collect();
            scan.tell(&told);
        }
        (scan.combined(), spent)
    }

    #[test]
    fn the_deepest_well_is_found_along_every_variable() {
        for seed in 0..20 {
            let (found, _) = scan(vec![0.95; 3], waves, seed);
            let found = found.unwrap_or_default();
            assert!(found.len() == 3 && found.iter().all(|y| y.abs() < 0.25), "{seed}: {found:?}");
        }
    }

    #[test]
    fn a_bowl_has_no_dents_to_look_at() {
        let (found, spent) = scan(vec![0.0, 1.0], |y| y[0] * y[0] + (y[1] - 1.0).powi(2), 1);
        assert_eq!((found, spent), (None, 2 * VALUES.0));
    }
}
