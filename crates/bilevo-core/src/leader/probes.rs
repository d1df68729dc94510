//! Where a restart begins: the most promising places of the whole box, and which of them a descent sets out from.
//!
//! The best of them often lies in the wide basin of an end that is worse than the best one, again and again. So a
//! restart does not begin next to where an earlier descent began that ended worse (as in multi-level single linkage,
//! Rinnooy Kan and Timmer, 1987), unless there is no other place.

use super::Point;
use super::ends::{End, leads_to_worse};
use super::search::Surroundings;
use crate::order;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// The number of points before a descent: for each variable, and in addition.
const PROBES: (usize, usize) = (2, 4);

/// Points that are asked about before a descent from one of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Probes {
    /// Those that did not fail.
    sound: Vec<Point>,
    count: usize,
}

impl Probes {
    /// Whether it has asked enough, or found something better than all ends.
    fn is_over(&self, with: &Surroundings<'_>) -> bool {
        self.count >= PROBES.0 * with.space.dim() + PROBES.1
            || self.best().is_some_and(|best| is_better_than_all(best, with.ends))
    }

    fn best(&self) -> Option<&Point> {
        self.sound.iter().min_by(|a, b| order::compare(&a.outcome, &b.outcome))
    }

    /// Where the descent begins: at the best of the points that do not lead to a worse end, as far as earlier descents
    /// show.
    pub(super) fn start(&self, ends: &[End]) -> Option<&Point> {
        let best = self.best()?;
        if is_better_than_all(best, ends) {
            return Some(best);
        }
        let open = self.sound.iter().filter(|point| !leads_to_worse(ends, &point.at));
        Some(open.min_by(|a, b| order::compare(&a.outcome, &b.outcome)).unwrap_or(best))
    }

    /// The next place to ask about; none when it is over.
    pub(super) fn next(&mut self, with: &mut Surroundings<'_>, stream: &mut Stream) -> Option<Vec<f64>> {
        if self.is_over(with) {
            return None;
        }
        let points = with.points;
        let value = |i: usize| Some(with.knowledge.merit.of(points.values(i)));
        let sound = (0..points.len()).map(|i| (points.point(i), value(i)));
        let known: Vec<_> = sound.chain(with.failed.iter().map(|at| (at.as_slice(), None))).collect();
        let ends: Vec<&[f64]> = with.ends.iter().map(|end| &end.point.at[..]).collect();
        self.count += 1;
        Some(with.overview.promise(with.space, &known, &ends, stream).at)
    }

    /// Takes the values of a point.
    pub(super) fn tell(&mut self, told: &Point) {
        if !told.row.is_empty() {
            self.sound.push(told.clone());
        }
    }
}

fn is_better_than_all(point: &Point, ends: &[End]) -> bool {
    ends.iter().all(|end| order::better(&point.outcome, &end.point.outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Outcome;

    #[test]
    fn a_restart_begins_where_no_earlier_one_went_in_vain() {
        let point = |at: [f64; 2], value: f64| {
            let outcome = Outcome { value, violation: 0.0 };
            Point { at: at.to_vec(), row: vec![value], outcome }
        };
        let mut worse = End::new(point([0.3, 0.3], 2.0), 1, 0, false);
        worse.begun.push(vec![0.1, 0.3]);
        let ends = [End::new(point([0.9, 0.9], 1.0), 1, 0, false), worse];
        let start = |points: &[Point]| {
            let probes = Probes { sound: points.to_vec(), count: points.len() };
            probes.start(&ends).map(|point| point.at.clone())
        };
        // The best lies beside where a descent began that ended worse than the best end.
        let (known, open) = (point([0.1, 0.2], 2.5), point([0.7, 0.6], 3.0));
        assert_eq!(start(&[known.clone(), open.clone(), point([0.8, 0.6], 3.5)]), Some(open.at.clone()));
        assert_eq!(start(&[known.clone(), point([0.2, 0.2], 4.0)]), Some(known.at.clone()), "there is no other");
        let better = point([0.1, 0.2], 0.5);
        assert_eq!(start(&[better.clone(), open]), Some(better.at), "better than all ends");
        assert_eq!(start(&[]), None);
    }
}
