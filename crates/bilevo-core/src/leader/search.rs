//! The current search: a descent or a population, and the pattern at its end.

use super::Point;
use super::descent::Descent;
use super::ends::{End, progress};
use super::exchange::Exchange;
use super::overview::Overview;
use super::pattern::{Earlier, Pattern};
use super::population::Population;
use super::probes::Probes;
use crate::order;
use crate::portfolio::archive::Points;
use crate::portfolio::follower::Knowledge;
use crate::rng::Stream;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// The first and the last step of a pattern after a descent whose model did not lead to an end (there is a kink,
/// which can be located exactly), and after a population.
const KINK: (f64, f64) = (1e-3, 1e-6);
const EDGE: (f64, f64) = (0.05, 1e-6);
/// The maximum number of looks around an end that find something better.
const EXCHANGES: usize = 8;
/// The current search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Search {
    stage: Stage,
    /// Whether a pattern follows if no model leads to the end.
    polishes: bool,
    /// Whether it began all over the box.
    pub(super) wide: bool,
    /// Whether it ended by comparing values.
    compared: bool,
    /// Whether no model leads to its end, and no pattern has followed yet.
    rough: bool,
    /// The earlier end that it makes exact, if that is its purpose.
    polished: Option<usize>,
    /// Where it began, if it is a descent.
    begun: Option<Vec<f64>>,
    /// The values of its first point, if it began at one.
    first: Vec<f64>,
    /// How often a look around its end found something better, and the earlier end at which it had arrived before
    /// one.
    exchanges: usize,
    arrived: Option<usize>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Stage {
    /// The most promising points of the whole box, one after the other.
    Probes(Probes),
    Descent(Descent),
    Population(Population),
    Pattern(Pattern),
    Exchange(Box<Exchange>),
    /// Where it ended, and which earlier end that is, if it is one.
    Over(Option<Point>, Option<usize>),
}

/// What a search needs.
pub(super) struct Surroundings<'a> {
    pub(super) points: &'a Points,
    pub(super) knowledge: &'a mut Knowledge,
    pub(super) overview: &'a mut Overview,
    /// Decisions that failed.
    pub(super) failed: &'a [Vec<f64>],
    pub(super) ends: &'a [End],
    pub(super) space: &'a Space,
    /// Values that differ by less count as the same: usually, and at edges.
    pub(super) same: (f64, f64),
    /// How a row of values is judged.
    pub(super) point: &'a dyn Fn(&[f64], &[f64]) -> Point,
}

impl Search {
    fn new(stage: Stage, polishes: bool, wide: bool) -> Self {
        let (begun, first, exchanges, arrived) = (None, Vec::new(), 0, None);
        Search { stage, polishes, wide, compared: wide, rough: false, polished: None, begun, first, exchanges, arrived }
    }

    /// A descent from a point, whose values may be known; with looks around its end if requested.
    pub(super) fn descent(start: Vec<f64>, row: Vec<f64>, looks: bool) -> Self {
        let begun = Some(start.clone());
        Search { begun, ..Search::new(Stage::Descent(Descent::new(start, row, looks)), looks, false) }
    }

    /// A descent from the best of the most promising places.
    pub(super) fn elsewhere() -> Self {
        Search::new(Stage::Probes(Probes::default()), true, false)
    }

    /// A population over the whole box.
    pub(super) fn population() -> Self {
        Search::new(Stage::Population(Population::new()), true, true)
    }

    /// A pattern that makes an end exact.
    pub(super) fn polish(index: usize, end: Point, space: &Space) -> Self {
        let search = Search::new(Stage::Pattern(Pattern::new(end, KINK, false, space)), true, false);
        Search { polished: Some(index), ..search }
    }

    /// Whether no model leads to its end, and no pattern followed yet.
    pub(super) fn is_rough(&self) -> bool {
        self.rough
    }

    /// The earlier end that it makes exact, if it does that.
    pub(super) fn polished(&self) -> Option<usize> {
        self.polished
    }

    /// A descent that has ended at a point, from one with other values.
    #[cfg(test)]
    pub(super) fn ended(point: Point, first: Vec<f64>) -> Self {
        Search { first, ..Search::new(Stage::Over(Some(point), None), true, false) }
    }

    /// One that has made an end exact.
    #[cfg(test)]
    pub(super) fn polished_to(index: usize, point: Point) -> Self {
        Search { polished: Some(index), ..Search::ended(point, Vec::new()) }
    }

    /// Where it ended, if it has and anything worked, and which earlier end that is.
    pub(super) fn over(&self) -> Option<(Option<&Point>, Option<usize>)> {
        match &self.stage {
            Stage::Over(point, at) => Some((point.as_ref(), *at)),
            _ => None,
        }
    }

    /// Whether it ended by comparing values, which is less exact than a model.
    pub(super) fn compared(&self) -> bool {
        self.compared
    }

    /// How much it has improved on its first point; a population has none.
    pub(super) fn gain(&self, end: &Point, knowledge: &Knowledge) -> f64 {
        if self.wide { f64::INFINITY } else { knowledge.merit.of(&self.first) - knowledge.merit.of(&end.row) }
    }

    /// Where it began, if it is a descent.
    pub(super) fn begun(&self) -> Option<&[f64]> {
        self.begun.as_deref()
    }

    /// How far it steps.
    pub(super) fn radius(&self) -> f64 {
        match &self.stage {
            Stage::Probes(_) => 1.0,
            Stage::Descent(descent) => descent.radius(),
            Stage::Population(population) => population.width(),
            Stage::Pattern(pattern) => pattern.length(),
            Stage::Exchange(_) => EDGE.0,
            Stage::Over(..) => 0.0,
        }
    }

    /// The next points; none when a stage is over.
    pub(super) fn next(&mut self, mut with: Surroundings<'_>, stream: &mut Stream) -> Vec<Vec<f64>> {
        if let Stage::Probes(probes) = &mut self.stage
            && let Some(at) = probes.next(&mut with, stream)
        {
            return vec![at];
        }
        let Surroundings { points, knowledge, ends, space, same, point, .. } = with;
        let mut wanted = match &mut self.stage {
            Stage::Probes(_) => Vec::new(),
            Stage::Descent(descent) => descent.next(points, knowledge, ends, same.0),
            Stage::Population(population) => population.next(space, stream, progress(points)),
            Stage::Pattern(pattern) => pattern.next(space),
            Stage::Exchange(exchange) => exchange.next(space),
            Stage::Over(..) => Vec::new(),
        };
        wanted.iter_mut().for_each(|point| space.snap(point));
        if !wanted.is_empty() {
            return wanted;
        }
        let following = match &self.stage {
            Stage::Probes(probes) => match probes.start(ends) {
                Some(start) => {
                    self.begun = Some(start.at.clone());
                    Stage::Descent(Descent::new(start.at.clone(), start.row.clone(), self.polishes))
                }
                None => Stage::Over(None, None),
            },
            Stage::Descent(descent) => {
                let (at, row) = descent.best();
                self.first = descent.first().to_vec();
                let end = (!row.is_empty()).then(|| point(at, row));
                let earlier = descent.over().flatten();
                let lost = earlier.is_none() && !descent.is_settled() && !descent.hopeless;
                self.rough = self.polishes && lost;
                self.compared |= self.rough;
                Stage::Over(end, earlier)
            }
            Stage::Population(population) => match population.best() {
                Some(best) => Stage::Pattern(to_edge(best, ends, same.1, space)),
                None => Stage::Over(None, None),
            },
            Stage::Pattern(pattern) => {
                self.compared = true;
                match pattern.arrived() {
                    // At an earlier end this has been done; from another place with the same value, other steps may
                    // be visible.
                    None if self.wide => Stage::Exchange(Box::new(Exchange::new(pattern.best().clone(), same.1, true))),
                    Some(_) if pattern.is_elsewhere() => {
                        self.arrived = pattern.arrived();
                        Stage::Exchange(Box::new(Exchange::new(pattern.best().clone(), same.1, false)))
                    }
                    arrived => Stage::Over(Some(pattern.best().clone()), arrived),
                }
            }
            Stage::Exchange(exchange) if exchange.improved() && self.exchanges < EXCHANGES => {
                (self.exchanges, self.arrived) = (self.exchanges + 1, None);
                Stage::Pattern(to_edge(exchange.best(), ends, same.1, space))
            }
            Stage::Exchange(exchange) => Stage::Over(Some(exchange.best().clone()), self.arrived),
            Stage::Over(point, at) => Stage::Over(point.clone(), *at),
        };
        self.stage = following;
        wanted
    }

    /// Takes the values of a point; an empty row is a failure.
    pub(super) fn tell(&mut self, told: &Point, knowledge: &Knowledge) {
        match &mut self.stage {
            Stage::Probes(probes) => probes.tell(told),
            Stage::Descent(descent) => descent.tell(&told.at, &told.row, knowledge),
            Stage::Population(population) => population.tell(told),
            Stage::Pattern(pattern) => pattern.tell(told),
            Stage::Exchange(exchange) => exchange.tell(told),
            Stage::Over(..) => {}
        }
    }

    /// Learns that all points it asked for are already known.
    pub(super) fn refuse(&mut self) {
        if let Stage::Descent(descent) = &mut self.stage {
            descent.refuse();
        }
    }
}

/// A pattern to the edge of the step on which a point lies, unless that is the best end so far.
fn to_edge(best: &Point, ends: &[End], same: f64, space: &Space) -> Pattern {
    Pattern::new(best.clone(), EDGE, true, space).unless_at(best_wide(ends, same))
}

/// The best end that a population reached.
fn best_wide(ends: &[End], same: f64) -> Option<Earlier> {
    let wide = ends.iter().enumerate().filter(|(_, end)| end.wide > 0);
    let best = wide.min_by(|(_, a), (_, b)| order::compare(&a.point.outcome, &b.point.outcome));
    best.map(|(index, end)| Earlier::new(index, end.point.clone(), same))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portfolio::archive::Learner;
    use crate::portfolio::merit::Merit;
    use crate::problem::Outcome;
    use crate::rng::{Purpose, Streams};

    /// Follows a search on a function of two variables to its end; the calls in each of its stages.
    fn followed(search: &mut Search, ends: &[End], function: impl Fn(&[f64]) -> f64) -> Vec<usize> {
        let point = |at: &[f64], row: &[f64]| {
            let outcome = Outcome { value: row[0], violation: 0.0 };
            Point { at: at.to_vec(), row: row.to_vec(), outcome }
        };
        let space = Space::from(vec![(0.0, 1.0); 2]);
        let mut knowledge = Knowledge { learner: Learner::lasting(vec![0.3; 2]), merit: Merit::new(0, 0) };
        let (mut points, mut overview) = (Points::new(2, 1), Overview::new(2));
        let (mut stages, mut stream) = (vec![0], Streams::new(1).open(Purpose::Sample, 0, 0));
        while search.over().is_none() {
            let (points_now, overview) = (&points, &mut overview);
            let with = Surroundings {
                points: points_now,
                knowledge: &mut knowledge,
                overview,
                failed: &[],
                ends,
                space: &space,
                same: (1e-6, 1e-4),
                point: &point,
            };
            let asked = search.next(with, &mut stream);
            if asked.is_empty() {
                stages.push(0);
            }
            for at in asked {
                let row = [function(&at)];
                points.push(&at, &row);
                search.tell(&point(&at, &row), &knowledge);
                *stages.last_mut().unwrap() += 1;
            }
        }
        stages
    }

    #[test]
    fn a_descent_to_a_kink_leaves_the_pattern_for_later() {
        let kink = |at: &[f64]| (at[0] - 0.4).abs() + (at[1] - 0.6).abs() + at[0] * at[1];
        let mut search = Search::descent(vec![0.5, 0.5], vec![kink(&[0.5, 0.5])], true);
        let stages = followed(&mut search, &[], kink);
        assert!(search.is_rough() && search.compared() && stages.len() == 2, "{stages:?}");
        let (end, _) = search.over().unwrap();
        let before = end.unwrap().clone();
        let mut polish = Search::polish(3, before.clone(), &Space::from(vec![(0.0, 1.0); 2]));
        let stages = followed(&mut polish, &[], kink);
        let (end, _) = polish.over().unwrap();
        let exact = end.unwrap();
        assert!(stages[0] > 20 && polish.polished() == Some(3) && !polish.is_rough(), "{stages:?}");
        assert!(exact.row[0] < before.row[0] && exact.row[0] - 0.24 < 2e-6, "{before:?} {exact:?}");
    }

    #[test]
    fn what_a_look_around_finds_is_compared_with_the_best_end() {
        // From the step before 0.3 the better one is found that ends at 0.9; the second variable matters everywhere.
        let steps = |at: &[f64]| {
            let first = match at[0] {
                a if a < 0.3 => -a,
                a if (0.8..0.9).contains(&a) => -1.0 - a,
                _ => 1.0,
            };
            first + (at[1] - 0.5).abs()
        };
        let point = |at: &[f64]| {
            let value = steps(at);
            Point { at: at.to_vec(), row: vec![value], outcome: Outcome { value, violation: 0.0 } }
        };
        let calls = |ends: &[End]| {
            let exchange = Exchange::new(point(&[0.299_999, 0.5]), 1e-4, false);
            let mut search = Search::new(Stage::Exchange(Box::new(exchange)), true, true);
            let stages = followed(&mut search, ends, steps);
            (stages[1..].iter().sum::<usize>(), search.over().unwrap().1)
        };
        let earlier = End::new(point(&[0.899_999_9, 0.5]), 1, 1, false);
        assert_eq!(calls(&[earlier]), (0, Some(0)), "it is there already");
        let (alone, _) = calls(&[]);
        assert!(alone > 50, "{alone}");
    }
}
