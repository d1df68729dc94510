//! The search under way: a descent or a population, and the pattern at the end of it.

use super::descent::Descent;
use super::pattern::Pattern;
use super::population::Population;
use super::{End, Point};
use crate::portfolio::archive::Points;
use crate::portfolio::follower::Knowledge;
use crate::rng::Stream;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// Steps, first and last, of a pattern behind a descent that came to no end by its model (there is a kink, which
/// can be found exactly), and behind a population.
const KINK: (f64, f64) = (1e-3, 1e-8);
const EDGE: (f64, f64) = (0.05, 1e-6);

/// The search under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Search {
    stage: Stage,
    /// Whether a pattern follows where no model leads to the end.
    polishes: bool,
    /// Whether it began all over the box.
    pub(super) wide: bool,
    /// Whether it ended by comparing values.
    compared: bool,
    /// Values of its first point, if it began at one.
    first: Vec<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Stage {
    Descent(Descent),
    Population(Population),
    Pattern(Pattern),
    /// Where it ended, and which earlier end that is, if it came to one.
    Over(Option<Point>, Option<usize>),
}

/// What a search works with.
pub(super) struct Surroundings<'a> {
    pub(super) points: &'a Points,
    pub(super) knowledge: &'a mut Knowledge,
    pub(super) ends: &'a [End],
    pub(super) space: &'a Space,
    /// How a row of values is judged.
    pub(super) point: &'a dyn Fn(&[f64], &[f64]) -> Point,
}

impl Search {
    /// A descent from a point, whose values may be known; looks around its end if wanted.
    pub(super) fn descent(start: Vec<f64>, row: Vec<f64>, looks: bool) -> Self {
        let stage = Stage::Descent(Descent::new(start, row, looks));
        Search { stage, polishes: looks, wide: false, compared: false, first: Vec::new() }
    }

    /// A population over the whole box.
    pub(super) fn population() -> Self {
        let stage = Stage::Population(Population::new());
        Search { stage, polishes: true, wide: true, compared: true, first: Vec::new() }
    }

    /// Where it ended, if it did and anything worked, and which earlier end that is.
    pub(super) fn over(&self) -> Option<(Option<&Point>, Option<usize>)> {
        match &self.stage {
            Stage::Over(point, at) => Some((point.as_ref(), *at)),
            _ => None,
        }
    }

    /// Whether it ended by comparing values, which is less exact than by a model.
    pub(super) fn compared(&self) -> bool {
        self.compared
    }

    /// By how much it got better than its first point; a population begins nowhere.
    pub(super) fn gain(&self, end: &Point, knowledge: &Knowledge) -> f64 {
        if self.wide { f64::INFINITY } else { knowledge.merit.of(&self.first) - knowledge.merit.of(&end.row) }
    }

    /// How far it steps.
    pub(super) fn radius(&self) -> f64 {
        match &self.stage {
            Stage::Descent(descent) => descent.radius(),
            Stage::Population(population) => population.width(),
            Stage::Pattern(pattern) => pattern.length(),
            Stage::Over(..) => 0.0,
        }
    }

    /// The next points; none when a stage is over.
    pub(super) fn next(&mut self, with: Surroundings<'_>, stream: &mut Stream) -> Vec<Vec<f64>> {
        let Surroundings { points, knowledge, ends, space, point } = with;
        let mut wanted = match &mut self.stage {
            Stage::Descent(descent) => descent.next(points, knowledge, ends),
            Stage::Population(population) => population.next(space, stream),
            Stage::Pattern(pattern) => pattern.next(space),
            Stage::Over(..) => Vec::new(),
        };
        wanted.iter_mut().for_each(|point| space.snap(point));
        if !wanted.is_empty() {
            return wanted;
        }
        let following = match &self.stage {
            Stage::Descent(descent) => {
                let (at, row) = descent.best();
                self.first = descent.first().to_vec();
                let end = (!row.is_empty()).then(|| point(at, row));
                match (end, descent.over().flatten()) {
                    (Some(end), None) if self.polishes && !descent.is_settled() => {
                        Stage::Pattern(Pattern::new(end, KINK, false, space))
                    }
                    (end, earlier) => Stage::Over(end, earlier),
                }
            }
            Stage::Population(population) => match population.best() {
                Some(best) => Stage::Pattern(Pattern::new(best.clone(), EDGE, true, space)),
                None => Stage::Over(None, None),
            },
            Stage::Pattern(pattern) => {
                self.compared = true;
                Stage::Over(Some(pattern.best().clone()), None)
            }
            Stage::Over(point, at) => Stage::Over(point.clone(), *at),
        };
        self.stage = following;
        wanted
    }

    /// Takes the values of a point; an empty row is a failure.
    pub(super) fn tell(&mut self, told: &Point, knowledge: &Knowledge) {
        match &mut self.stage {
            Stage::Descent(descent) => descent.tell(&told.at, &told.row, knowledge),
            Stage::Population(population) => population.tell(told),
            Stage::Pattern(pattern) => pattern.tell(told),
            Stage::Over(..) => {}
        }
    }

    /// Takes notice that all points it wanted are known already.
    pub(super) fn refuse(&mut self) {
        if let Stage::Descent(descent) = &mut self.stage {
            descent.refuse();
        }
    }
}
