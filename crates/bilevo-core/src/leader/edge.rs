//! The edge of a step: found by bisection along a variable, from a point on the step.
//!
//! Comparing values does not find it. The very edge of a narrow step next to a better plateau is its best point, and
//! a search that goes beyond it, or back, is led away. So a point counts as on the step if its value follows the
//! slope at the beginning.

use super::Point;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// How exactly it is found, and at what distance from the beginning the slope is measured.
const EXACT: f64 = 1e-4;
/// A point is on the step if it deviates from the slope by less than this share of the deviation of a point beyond
/// the edge ...
const SHARE: f64 = 0.5;
/// ... and the whole reach is on it if it deviates by less than this share of the change along the slope.
const STRAIGHT: f64 = 0.1;

/// The search for the edge of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Edge {
    variable: usize,
    start: Point,
    /// How far to look for it.
    reach: f64,
    /// The rise of the function along the variable, once it is known.
    slope: Option<f64>,
    /// The farthest point on the step.
    inside: Point,
    /// The nearest place beyond the edge, and how far its value is from the slope.
    beyond: Option<(f64, f64)>,
    asked: Option<Vec<f64>>,
    over: bool,
}

impl Edge {
    /// The edge of the step at a point, in the direction in which the function falls.
    pub(super) fn new(start: Point, variable: usize, reach: f64, slope: Option<f64>) -> Self {
        let inside = start.clone();
        Edge { variable, start, reach, slope, inside, beyond: None, asked: None, over: slope == Some(0.0) }
    }

    /// The farthest point on the step.
    pub(super) fn inside(&self) -> &Point {
        &self.inside
    }

    /// The next point; none when the edge is found, or if the last point was not worth asking about.
    pub(super) fn next(&mut self, space: &Space) -> Option<Vec<f64>> {
        if self.over || self.asked.is_some() {
            return None;
        }
        let (start, inside) = (self.start.at[self.variable], self.inside.at[self.variable]);
        let place = match (self.slope, self.beyond) {
            (None, _) if start + EXACT <= 1.0 => start + EXACT,
            (None, _) => start - EXACT,
            (Some(slope), None) => start - slope.signum() * self.reach,
            (Some(_), Some((beyond, _))) if (beyond - inside).abs() <= EXACT => return None,
            (Some(_), Some((beyond, _))) => 0.5 * (inside + beyond),
        };
        let mut at = self.start.at.clone();
        at[self.variable] = place.clamp(0.0, 1.0);
        space.snap(&mut at);
        if at[self.variable] == inside {
            return None;
        }
        self.asked = Some(at);
        self.asked.clone()
    }

    /// Takes the values of a point, if it asked about that.
    pub(super) fn tell(&mut self, told: &Point) {
        if self.asked.take_if(|asked| *asked == told.at).is_none() {
            return;
        }
        let (place, rise) = (told.at[self.variable], told.outcome.value - self.start.outcome.value);
        let way = place - self.start.at[self.variable];
        let sound = told.outcome.is_feasible();
        let Some(slope) = self.slope else {
            self.slope = Some(rise / way);
            self.over = !sound || rise == 0.0;
            return;
        };
        let off = if sound { (rise - slope * way).abs() } else { f64::INFINITY };
        let change = (slope * way).abs();
        let most = self.beyond.map_or(STRAIGHT * change, |(_, beyond)| change.min(SHARE * beyond));
        if off <= most {
            self.over = self.beyond.is_none();
            self.inside = told.clone();
        } else {
            self.beyond = Some((place, off));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Outcome;

    /// The edge of the step at a place, and the calls.
    fn edge(function: impl Fn(f64) -> f64, start: f64) -> (f64, usize) {
        let space = Space::from(vec![(0.0, 1.0)]);
        let point = |at: f64| {
            let value = function(at);
            Point { at: vec![at], row: vec![value], outcome: Outcome { value, violation: 0.0 } }
        };
        let (mut edge, mut calls) = (Edge::new(point(start), 0, 0.04, None), 0);
        while let Some(at) = edge.next(&space) {
            edge.tell(&point(at[0]));
            calls += 1;
        }
        (edge.inside().at[0], calls)
    }

    #[test]
    fn it_is_found_beside_a_better_plateau() {
        // The step from 0.4 to 0.411 begins worse than the plateau before it; behind it all is better than that.
        let step = |at: f64| match at {
            at if at < 0.4 => -1.0,
            at if at < 0.411 => -0.99 - (at - 0.4),
            _ => -1.5,
        };
        let (found, calls) = edge(step, 0.401);
        assert!((0.4109..0.411).contains(&found) && calls <= 12, "{found} {calls}");
        let falling = |at: f64| step(0.811 - at);
        let (found, calls) = edge(falling, 0.41);
        assert!((0.4..0.4001).contains(&found) && calls <= 12, "{found} {calls}");
    }

    #[test]
    fn a_wide_or_a_flat_step_has_no_edge_nearby() {
        let (found, calls) = edge(|at| 2.0 - at, 0.5);
        assert_eq!((found, calls), (0.54, 2));
        assert_eq!(edge(|_| 1.0, 0.5), (0.5, 1));
    }
}
