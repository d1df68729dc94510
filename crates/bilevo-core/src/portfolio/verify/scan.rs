//! Other values of each variable of an answer in turn, because the basins of sums lie along the variables.
//!
//! First values all over the box. They hit basins that are as wide as their spacing, but hardly their bottoms: so the
//! two deepest dents along each variable, apart from the answer's own, are examined more closely.

use super::Answer;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// The maximum number of values tried for each variable, and for all variables together.
const VALUES: (usize, usize) = (30, 400);
/// How many dents of each variable are examined more closely, and how often.
const DENTS: usize = 2;
const ROUNDS: usize = 2;

/// A trial of other values. `merit` says what answers are worth: the less, the better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Scan {
    from: Vec<f64>,
    /// For each variable, the values tried and their merits, in the order of the values.
    tried: Vec<Vec<(f64, f64)>>,
    rounds: usize,
}

impl Scan {
    /// From an answer that is worth `merit`.
    pub(super) fn new(from: &[f64], merit: f64) -> Self {
        Scan { tried: from.iter().map(|y| vec![(*y, merit)]).collect(), from: from.to_vec(), rounds: 0 }
    }

    /// How many values of each variable are tried first, if there is room.
    pub(super) fn values(&self) -> usize {
        (VALUES.1 / self.from.len()).clamp(1, VALUES.0)
    }

    /// This many values all over the box, evenly, so that no gap is wider than the others.
    pub(super) fn first(&self, values: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
        let mut points = Vec::with_capacity(values * self.from.len());
        for i in 0..self.from.len() {
            let first = stream.uniform();
            points.extend((0..values).map(|k| self.changed(i, (k as f64 + first) / values as f64)));
        }
        points
    }

    /// Takes the merits of some answers; those that differ in more than one variable are not its own.
    pub(super) fn tell<'a>(&mut self, told: impl Iterator<Item = (&'a Answer, f64)>) {
        for (answer, merit) in told {
            let mut changed = (0..self.from.len()).filter(|&i| answer.y[i] != self.from[i]);
            if let (Some(i), None) = (changed.next(), changed.next()) {
                self.tried[i].push((answer.y[i], merit));
            }
        }
        self.tried.iter_mut().for_each(|tried| tried.sort_by(|a, b| a.0.total_cmp(&b.0)));
    }

    /// Points halfway between the bottoms of the deepest dents and their neighbours; none when it is over.
    pub(super) fn closer(&mut self) -> Vec<Vec<f64>> {
        self.rounds += 1;
        if self.rounds > ROUNDS {
            return Vec::new();
        }
        let lines = self.tried.iter().zip(&self.from).enumerate();
        lines
            .flat_map(|(i, (line, own))| halves(line, *own).into_iter().map(move |v| (i, v)))
            .map(|(i, value)| self.changed(i, value))
            .collect()
    }

    /// The answer with the best value of each variable, if more than one is better than before.
    pub(super) fn combined(&self) -> Option<Vec<f64>> {
        let mut y = self.from.clone();
        let mut better = 0;
        for (y, line) in y.iter_mut().zip(&self.tried) {
            let own = line.iter().find(|(value, _)| value == y).map_or(f64::INFINITY, |(_, merit)| *merit);
            if let Some((value, _)) = line.iter().filter(|(_, merit)| *merit < own).min_by(|a, b| a.1.total_cmp(&b.1)) {
                *y = *value;
                better += 1;
            }
        }
        (better > 1).then_some(y)
    }

    /// Whether an answer is better than its neighbours along the one variable in which it differs.
    pub(super) fn is_valley(&self, y: &[f64]) -> bool {
        let Some(i) = (0..y.len()).find(|&i| y[i] != self.from[i]) else { return false };
        let line = &self.tried[i];
        let Some(k) = line.iter().position(|(value, _)| *value == y[i]) else { return false };
        (k == 0 || line[k].1 <= line[k - 1].1) && line.get(k + 1).is_none_or(|next| line[k].1 <= next.1)
    }

    fn changed(&self, variable: usize, value: f64) -> Vec<f64> {
        let mut y = self.from.clone();
        y[variable] = value;
        y
    }
}

/// Values halfway between the bottoms of the deepest dents and their neighbours.
fn halves(line: &[(f64, f64)], own: f64) -> Vec<f64> {
    let depth = |k: usize| line[k].1;
    let mut dents: Vec<usize> = (1..line.len().saturating_sub(1))
        .filter(|&k| line[k].0 != own && depth(k) <= depth(k - 1) && depth(k) < depth(k + 1))
        .collect();
    dents.sort_by(|a, b| depth(*a).total_cmp(&depth(*b)));
    let halves = |k: usize| [0.5 * (line[k - 1].0 + line[k].0), 0.5 * (line[k].0 + line[k + 1].0)];
    dents.into_iter().take(DENTS).flat_map(halves).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    /// Wells at all whole numbers between -5 and 10, the deepest at 0.
    fn waves(y: &[f64]) -> f64 {
        let well = |u: &f64| {
            let y = 15.0 * u - 5.0;
            y * y + 1.0 - libm::cos(std::f64::consts::TAU * y)
        };
        y.iter().map(well).sum()
    }

    /// Scans from `y` and returns the best values of the variables together, and the points spent.
    fn scan(y: &[f64], f: fn(&[f64]) -> f64, seed: u64) -> (Option<Vec<f64>>, usize) {
        let mut scan = Scan::new(y, f(y));
        let mut points = scan.first(scan.values(), &mut Streams::new(seed).open(Purpose::Recheck, 0, 0));
        let mut spent = 0;
        while !points.is_empty() {
            spent += points.len();
            let told: Vec<Answer> = points.iter().map(|y| Answer { y: y.clone(), row: vec![f(y)] }).collect();
            scan.tell(told.iter().map(|a| (a, a.row[0])));
            points = scan.closer();
        }
        (scan.combined(), spent)
    }

    #[test]
    fn the_deepest_well_is_found_along_every_variable() {
        for seed in 0..20 {
            let (found, _) = scan(&[0.4; 3], waves, seed);
            let found = found.unwrap_or_default();
            assert!(found.len() == 3 && found.iter().all(|u| (15.0 * u - 5.0).abs() < 0.25), "{seed}: {found:?}");
        }
    }

    #[test]
    fn a_bowl_has_no_dents_to_look_at() {
        let (found, spent) = scan(&[0.0, 1.0], |y| y[0] * y[0] + (y[1] - 1.0).powi(2), 1);
        assert_eq!((found, spent), (None, 2 * VALUES.0));
    }

    #[test]
    fn the_deepest_dents_are_halved_on_both_sides_but_for_the_own_one() {
        let line = [(0.0, 3.0), (0.25, 1.0), (0.5, 2.0), (0.75, 0.5), (1.0, 4.0)];
        assert_eq!(halves(&line, 0.0), [0.625, 0.875, 0.125, 0.375]);
        assert_eq!(halves(&line, 0.25), [0.625, 0.875]);
        assert_eq!(halves(&line[..2], 0.0), [0.0; 0], "ends are no dents");
    }

    #[test]
    fn many_variables_share_the_values() {
        let values = |n: usize| Scan::new(&vec![0.5; n], 0.0).values();
        assert_eq!([values(1), values(13), values(20), values(1000)], [30, 30, 20, 1]);
        let points = Scan::new(&[0.5, 0.25], 0.0).first(4, &mut Streams::new(1).open(Purpose::Recheck, 0, 0));
        // Four of each variable, a quarter of the box apart, the other one as it was.
        assert_eq!(points.len(), 8);
        assert!(points[..4].iter().all(|p| p[1] == 0.25) && points[4..].iter().all(|p| p[0] == 0.5));
        assert!(points[..3].iter().zip(&points[1..4]).all(|(a, b)| (b[0] - a[0] - 0.25).abs() < 1e-12));
        assert!(points[0][0] < 0.25 && points[4][1] < 0.25);
    }

    #[test]
    fn valleys_and_the_best_values_together() {
        let mut scan = Scan::new(&[0.5, 0.5], 2.0);
        let told: Vec<Answer> = [[0.1, 0.5], [0.3, 0.5], [0.7, 0.5], [0.5, 0.9], [0.2, 0.2]]
            .map(|y| Answer { y: y.to_vec(), row: vec![0.0] })
            .to_vec();
        scan.tell(told.iter().zip([3.0, 1.0, 4.0, 1.5, 0.0]));
        // The last one differs in two variables.
        assert_eq!((scan.tried[0].len(), scan.tried[1].len()), (4, 2));
        let valley = |y: [f64; 2]| scan.is_valley(&y);
        assert!(valley([0.3, 0.5]) && !valley([0.1, 0.5]) && !valley([0.7, 0.5]) && valley([0.5, 0.9]));
        assert!(!valley([0.5, 0.5]) && !valley([0.31, 0.5]));
        assert_eq!(scan.combined(), Some(vec![0.3, 0.9]));
        // One alone is known already.
        let mut alone = Scan::new(&[0.5, 0.5], 2.0);
        alone.tell(told[..2].iter().zip([3.0, 1.0]));
        assert_eq!(alone.combined(), None);
    }
}
