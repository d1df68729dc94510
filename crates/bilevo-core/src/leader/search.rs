//! The current search: a descent or a population, and the pattern at its end.

use super::Point;
use super::descent::Descent;
use super::ends::End;
use super::exchange::Exchange;
use super::overview::Overview;
use super::pattern::{Earlier, Pattern};
use super::population::Population;
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
/// The number of points before a descent: for each variable, and in addition.
const PROBES: (usize, usize) = (2, 4);

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

/// Points that were asked about before a descent from the best of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Probes {
    best: Option<Point>,
    count: usize,
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
        let (first, exchanges, arrived) = (Vec::new(), 0, None);
        Search { stage, polishes, wide, compared: wide, first, exchanges, arrived }
    }

    /// A descent from a point, whose values may be known; with looks around its end if requested.
    pub(super) fn descent(start: Vec<f64>, row: Vec<f64>, looks: bool) -> Self {
        Search::new(Stage::Descent(Descent::new(start, row, looks)), looks, false)
    }

    /// A descent from the best of the most promising places.
    pub(super) fn elsewhere() -> Self {
        Search::new(Stage::Probes(Probes::default()), true, false)
    }

    /// A population over the whole box.
    pub(super) fn population() -> Self {
        Search::new(Stage::Population(Population::new()), true, true)
    }

    /// A descent that has ended at a point, from one with other values.
    #[cfg(test)]
    pub(super) fn ended(point: Point, first: Vec<f64>) -> Self {
        Search { first, ..Search::new(Stage::Over(Some(point), None), true, false) }
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
            Stage::Population(population) => population.next(space, stream),
            Stage::Pattern(pattern) => pattern.next(space),
            Stage::Exchange(exchange) => exchange.next(space),
            Stage::Over(..) => Vec::new(),
        };
        wanted.iter_mut().for_each(|point| space.snap(point));
        if !wanted.is_empty() {
            return wanted;
        }
        let following = match &self.stage {
            Stage::Probes(Probes { best: Some(best), .. }) => {
                Stage::Descent(Descent::new(best.at.clone(), best.row.clone(), self.polishes))
            }
            Stage::Probes(_) => Stage::Over(None, None),
            Stage::Descent(descent) => {
                let (at, row) = descent.best();
                self.first = descent.first().to_vec();
                let end = (!row.is_empty()).then(|| point(at, row));
                match (end, descent.over().flatten()) {
                    (Some(end), None) if self.polishes && !descent.is_settled() && !descent.hopeless => {
                        Stage::Pattern(Pattern::new(end, KINK, false, space))
                    }
                    (end, earlier) => Stage::Over(end, earlier),
                }
            }
            Stage::Population(population) => match population.best() {
                Some(best) => {
                    let pattern = Pattern::new(best.clone(), EDGE, true, space);
                    Stage::Pattern(pattern.unless_at(best_wide(ends, same.1)))
                }
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
                Stage::Pattern(Pattern::new(exchange.best().clone(), EDGE, true, space))
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

impl Probes {
    /// Whether it has asked enough, or found something better than all ends.
    fn is_over(&self, with: &Surroundings<'_>) -> bool {
        let better = |best: &Point| with.ends.iter().all(|end| order::better(&best.outcome, &end.point.outcome));
        self.count >= PROBES.0 * with.space.dim() + PROBES.1 || self.best.as_ref().is_some_and(better)
    }

    /// The next place to ask about; none when it is over.
    fn next(&mut self, with: &mut Surroundings<'_>, stream: &mut Stream) -> Option<Vec<f64>> {
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
    fn tell(&mut self, told: &Point) {
        if !told.row.is_empty() && self.best.as_ref().is_none_or(|best| order::better(&told.outcome, &best.outcome)) {
            self.best = Some(told.clone());
        }
    }
}

/// The best end that a population reached.
fn best_wide(ends: &[End], same: f64) -> Option<Earlier> {
    let wide = ends.iter().enumerate().filter(|(_, end)| end.wide > 0);
    let best = wide.min_by(|(_, a), (_, b)| order::compare(&a.point.outcome, &b.point.outcome));
    best.map(|(index, end)| Earlier::new(index, end.point.clone(), same))
}
