//! Where searches ended: which ends are the same, whether the function jumps there, and when the evidence is enough.
//!
//! A jump shows next to an end: the values differ by more than any slope explains, or are exactly the same although
//! every variable has changed. An end that is flat only along some variables is like any other: those variables do
//! not matter there, like a toll on a road that nobody takes any more.

use super::Point;
use super::search::Search;
use crate::order;
use crate::portfolio::archive::{Points, distance};
use crate::portfolio::config::Effort;
use crate::portfolio::follower::Knowledge;
use crate::record::StopReason;
use serde::{Deserialize, Serialize};

/// Values count as the same if they differ by less than this share of the spread of all values; at edges and kinks,
/// which are located less exactly, by less than the second share.
const SAME: (f64, f64) = (1e-6, 1e-4);
/// A smaller gain than this share of the spread is no progress of a population.
const PROGRESS: f64 = 1e-2;
/// Ends this close (in units of the box) are one even if their values differ as much as at kinks: the tolerance of a
/// solver makes them differ.
const NEAR: f64 = 0.05;
/// A run ends after this many descents without a better value, times its patience, although too few agree.
const FRUITLESS: usize = 8;
/// With more variables than this, one more population must agree.
const MANY: usize = 3;
/// A function jumps if values this close (in units of the box) differ by more than this many times their distance,
/// and by at least this much, in units of their spread.
const JUMP: (f64, f64, f64) = (0.01, 20.0, 2e-3);
/// A variable has changed if it differs by more than this.
const CHANGED: f64 = 1e-3;

/// Where searches ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ends {
    pub(super) list: Vec<End>,
    /// When a run ends; `None` means when its budget is spent.
    patience: Option<Patience>,
    /// The number of searches since the best value improved.
    fruitless: usize,
    /// Whether the run ends although too few agree.
    is_last: bool,
    /// Whether the function was seen to jump.
    pub(super) jumps: bool,
}

/// A place where one search ended, or several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) point: Point,
    /// How many ended there, and how many of them were populations.
    pub(super) count: usize,
    pub(super) wide: usize,
    /// Whether no model leads there, so that a pattern can locate it more exactly.
    pub(super) rough: bool,
    /// Where the descents began that ended there.
    pub(super) begun: Vec<Vec<f64>>,
}

impl End {
    #[cfg(test)]
    pub(super) fn new(point: Point, count: usize, wide: usize, rough: bool) -> Self {
        End { point, count, wide, rough, begun: Vec::new() }
    }

    /// How far the nearest place is from which a descent is known to end there.
    fn reach(&self, at: &[f64]) -> f64 {
        let places = self.begun.iter().chain([&self.point.at]);
        places.map(|place| distance(place, at)).fold(f64::INFINITY, f64::min)
    }

    /// Takes the point at which another search arrived, if that is better.
    fn take(&mut self, point: &Point) {
        if order::better(&point.outcome, &self.point.outcome) {
            self.point = point.clone();
        }
    }
}

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Patience {
    /// The number of descents that must agree; of populations if the function jumps.
    descents: usize,
    populations: usize,
}

impl Patience {
    fn new(effort: Effort, dim: usize) -> Option<Self> {
        let (descents, populations) = match effort {
            Effort::Local | Effort::Quick => (1, 0),
            Effort::Normal => (3, 2),
            Effort::Thorough => (5, 4),
            Effort::Budget => return None,
        };
        // With more variables there are more steps that two populations may miss.
        let populations = populations + usize::from(populations > 0 && dim > MANY);
        Some(Patience { descents, populations })
    }
}

impl Ends {
    pub(super) fn new(effort: Effort, dim: usize) -> Self {
        Ends { list: Vec::new(), patience: Patience::new(effort, dim), fruitless: 0, is_last: false, jumps: false }
    }

    /// Whether more than one search is required.
    pub(super) fn are_compared(&self) -> bool {
        self.patience.is_none_or(|patience| patience.descents > 1)
    }

    /// Whether no search has ended yet.
    pub(super) fn are_open(&self) -> bool {
        self.list.is_empty() && self.fruitless == 0
    }

    /// Counts where a search ended; returns whether that is enough. The first points are spread over the box.
    pub(super) fn finish(
        &mut self,
        search: &Search,
        points: &Points,
        first: usize,
        knowledge: &Knowledge,
    ) -> Option<StopReason> {
        let best = |ends: &[End]| ends.iter().map(|end| end.point.outcome).min_by(order::compare);
        let before = best(&self.list);
        if let Some((Some(point), at)) = search.over() {
            self.jumps |= self.are_compared() && jumps_at(point, points, first);
            match search.polished() {
                Some(index) => {
                    self.list[index].rough = false;
                    self.list[index].take(point);
                }
                None => self.count(search, point, at, same(points), knowledge),
            }
        }
        let now = best(&self.list);
        let better = now.is_some_and(|now| before.is_none_or(|before| order::better(&now, &before)));
        if search.polished().is_none() {
            self.fruitless = if better { 0 } else { self.fruitless + 1 };
        }
        let Patience { descents, populations } = self.patience?;
        let enough = |end: &End| if self.jumps { end.wide >= populations } else { end.count >= descents };
        let agree = |end: &End| Some(end.point.outcome) == now && enough(end) && end.point.outcome.is_feasible();
        if self.list.iter().any(agree) {
            return Some(StopReason::Agreed);
        }
        let most = FRUITLESS * if self.jumps { 1 } else { descents };
        self.is_last = self.fruitless >= most;
        (self.is_last && self.unfinished().is_none()).then_some(StopReason::Flat)
    }

    /// Adds where a search ended, to an earlier end if one is given.
    fn count(&mut self, search: &Search, point: &Point, at: Option<usize>, same: (f64, f64), knowledge: &Knowledge) {
        let spread = if self.jumps || search.compared() { same.1 } else { same.0 };
        let is_same = |end: &End| {
            let differ = (end.point.outcome.value - point.outcome.value).abs();
            let near = differ <= same.1 && distance(&end.point.at, &point.at) <= NEAR;
            end.point.outcome.is_feasible() == point.outcome.is_feasible() && (differ <= spread || near)
        };
        let wide = usize::from(search.wide);
        match at.or_else(|| self.list.iter().position(is_same)) {
            None => {
                let begun = search.begun().map(<[f64]>::to_vec).into_iter().collect();
                self.list.push(End { point: point.clone(), count: 1, wide, rough: search.is_rough(), begun });
            }
            Some(index) => {
                // A descent that found nothing better than its start is no evidence: on a plateau, all values agree.
                let counts = at.is_some() || search.gain(point, knowledge) > spread;
                let end = &mut self.list[index];
                end.count += usize::from(counts);
                end.wide += wide;
                end.begun.extend(search.begun().map(<[f64]>::to_vec));
                end.take(point);
            }
        }
    }

    /// The best end, if a pattern is to make it exact before the run ends there. Ends that only one descent came to
    /// are mostly left behind, and a pattern takes more calls than a restart.
    pub(super) fn unfinished(&self) -> Option<usize> {
        let of = |index: usize| &self.list[index].point.outcome;
        let best = (0..self.list.len()).min_by(|&i, &j| order::compare(of(i), of(j)))?;
        let End { rough, count, .. } = self.list[best];
        (rough && !self.jumps && (count > 1 || self.is_last)).then_some(best)
    }
}

/// Whether a descent from a place would probably end where earlier ones did that are worse than the best: the nearest
/// place from which it is known where a descent ends belongs to one of them.
pub(super) fn leads_to_worse(ends: &[End], at: &[f64]) -> bool {
    let Some(best) = ends.iter().min_by(|a, b| order::compare(&a.point.outcome, &b.point.outcome)) else {
        return false;
    };
    ends.iter().any(|end| order::better(&best.point.outcome, &end.point.outcome) && end.reach(at) < best.reach(at))
}

/// Values that differ by less count as the same: usually, and at edges.
pub(super) fn same(points: &Points) -> (f64, f64) {
    let spread = spread(points, 0, usize::MAX);
    (SAME.0 * spread, SAME.1 * spread)
}

/// How much better a population must get to go on. The exact value of a step is found behind it, by a pattern.
pub(super) fn progress(points: &Points) -> f64 {
    PROGRESS * spread(points, 0, usize::MAX)
}

/// Whether the function jumps next to a point, or is constant around it.
fn jumps_at(point: &Point, points: &Points, first: usize) -> bool {
    // Among decisions all over the box only: later ones gather where the function is flat.
    let spreads: Vec<f64> = (0..point.row.len()).map(|column| spread(points, column, first)).collect();
    let mut unmoved: Vec<bool> = vec![true; point.at.len()];
    let jumps = (0..points.len()).any(|index| {
        let (at, row) = (points.point(index), points.values(index));
        if row == point.row {
            let close = at.iter().zip(&point.at).map(|(a, b)| (a - b).abs() <= CHANGED);
            unmoved.iter_mut().zip(close).for_each(|(unmoved, close)| *unmoved &= close);
        }
        let distance = distance(at, &point.at);
        let leap = |(column, spread): (usize, &f64)| {
            (row[column] - point.row[column]).abs() > (JUMP.1 * distance).max(JUMP.2) * spread
        };
        distance > 0.0 && distance <= JUMP.0 && spreads.iter().enumerate().any(leap)
    });
    jumps || !unmoved.contains(&true)
}

/// The difference between the quartiles of the first values of Φ or of a constraint.
fn spread(points: &Points, column: usize, first: usize) -> f64 {
    let mut values: Vec<f64> = (0..points.len().min(first)).map(|i| points.values(i)[column]).collect();
    values.sort_by(f64::total_cmp);
    let at = |share: usize| values.get(values.len() * share / 4).copied().unwrap_or(0.0);
    (at(3) - at(1)).abs().max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portfolio::archive::Learner;
    use crate::portfolio::merit::Merit;
    use crate::problem::Outcome;

    fn point(at: &[f64], value: f64) -> Point {
        Point { at: at.to_vec(), row: vec![value], outcome: Outcome { value, violation: 0.0 } }
    }

    /// Whether a function of two variables is seen to jump at a place, after looks to both sides of each.
    fn jumps(function: impl Fn(&[f64]) -> f64, end: [f64; 2]) -> bool {
        let mut points = Points::new(2, 1);
        let mut push = |at: [f64; 2]| points.push(&at, &[function(&at)]);
        [[0.1, 0.7], [0.3, 0.2], [0.5, 0.9], [0.8, 0.4], [0.95, 0.05]].into_iter().for_each(&mut push);
        for step in [0.03, 0.003] {
            let [a, b] = end;
            [[a + step, b], [a - step, b], [a, b + step], [a, b - step]].into_iter().for_each(&mut push);
        }
        jumps_at(&point(&end, function(&end)), &points, 5)
    }

    #[test]
    fn steps_and_plateaus_are_jumps_but_variables_that_do_not_matter_are_not() {
        let bowl = |at: &[f64]| (at[0] - 0.4) * (at[0] - 0.4) + (at[1] - 0.6) * (at[1] - 0.6);
        assert!(!jumps(bowl, [0.4, 0.6]));
        assert!(jumps(|at| at[0] + f64::from(at[0] < 0.5), [0.501, 0.6]), "an edge");
        assert!(jumps(|at| bowl(at).max(0.05), [0.4, 0.6]), "a plateau");
        // From 0.5 on the second does not matter.
        let useless = |at: &[f64]| (at[0] - 0.4) * (at[0] - 0.4) + (0.5 - at[1]).max(0.0);
        assert!(!jumps(useless, [0.4, 0.6]));
    }

    /// Ends after one at (0.5, 0.5) with the value 1, a spread of values of 1, and another search that ended.
    fn ends(at: [f64; 2], value: f64) -> Vec<usize> {
        let mut points = Points::new(2, 1);
        [0.0, 1.0, 1.5, 2.0, 3.0].into_iter().for_each(|v| points.push(&[0.1 * v, 0.9 - 0.2 * v], &[v]));
        let knowledge = Knowledge { learner: Learner::lasting(vec![0.3; 2]), merit: Merit::new(0, 0) };
        let mut ends = Ends::new(Effort::Normal, 2);
        ends.list.push(End::new(point(&[0.5, 0.5], 1.0), 1, 0, false));
        ends.finish(&Search::ended(point(&at, value), vec![2.0]), &points, 5, &knowledge);
        ends.list.iter().map(|end| end.count).collect()
    }

    /// An end that no model led to, with so many descents there.
    fn rough(value: f64, count: usize) -> End {
        End::new(point(&[0.5, 0.5], value), count, 0, true)
    }

    #[test]
    fn the_best_end_is_made_exact_when_a_second_descent_came_there() {
        let unfinished = |list: Vec<End>, is_last: bool, jumps: bool| {
            Ends { list, is_last, jumps, ..Ends::new(Effort::Normal, 2) }.unfinished()
        };
        assert_eq!(unfinished(vec![rough(1.0, 1)], false, false), None, "it may be left behind");
        assert_eq!(unfinished(vec![rough(1.0, 2)], false, false), Some(0));
        assert_eq!(unfinished(vec![rough(1.0, 2), rough(0.5, 1)], false, false), None, "another is better");
        assert_eq!(unfinished(vec![rough(1.0, 1)], true, false), Some(0), "the run ends");
        assert_eq!(unfinished(vec![rough(1.0, 2)], false, true), None, "populations end at edges");
        assert_eq!(unfinished(vec![End { rough: false, ..rough(1.0, 2) }], false, false), None, "it is exact");
    }

    #[test]
    fn what_made_an_end_exact_is_no_evidence() {
        let mut points = Points::new(2, 1);
        [0.0, 1.0, 1.5, 2.0, 3.0].into_iter().for_each(|v| points.push(&[0.1 * v, 0.9 - 0.2 * v], &[v]));
        let knowledge = Knowledge { learner: Learner::lasting(vec![0.3; 2]), merit: Merit::new(0, 0) };
        let mut ends = Ends { list: vec![rough(1.0, 2)], fruitless: 3, ..Ends::new(Effort::Normal, 2) };
        let polished = Search::polished_to(0, point(&[0.5001, 0.5], 0.999));
        assert_eq!(ends.finish(&polished, &points, 5, &knowledge), None);
        let End { point, count, rough, .. } = &ends.list[0];
        assert_eq!((point.row[0], *count, *rough, ends.fruitless), (0.999, 2, false, 3));
    }

    #[test]
    fn what_lies_next_to_a_start_leads_where_that_led() {
        let worse = End { begun: vec![vec![0.1, 0.1]], ..End::new(point(&[0.4, 0.1], 2.0), 1, 0, false) };
        let best = End { begun: vec![vec![0.9, 0.9]], ..End::new(point(&[0.6, 0.9], 1.0), 1, 0, false) };
        let ends = [worse, best];
        assert!(leads_to_worse(&ends, &[0.15, 0.2]), "beside where one began");
        assert!(leads_to_worse(&ends, &[0.45, 0.2]), "beside where it ended");
        assert!(!leads_to_worse(&ends, &[0.8, 0.8]));
        assert!(!leads_to_worse(&ends[1..], &[0.15, 0.2]), "nothing worse is known");
        assert!(!leads_to_worse(&[], &[0.15, 0.2]));
    }

    #[test]
    fn ends_close_together_are_one_though_a_tolerance_makes_them_differ() {
        assert_eq!(ends([0.52, 0.49], 1.0 + 5e-5), [2], "close together");
        assert_eq!(ends([0.9, 0.1], 1.0 + 5e-5), [1, 1], "far apart");
        assert_eq!(ends([0.52, 0.49], 1.0 + 5e-4), [1, 1], "too different");
        assert_eq!(ends([0.9, 0.1], 1.0 + 5e-7), [2], "the same value");
    }
}
