//! An end of a plateau: located by bisection, and how the function continues from there.

use super::Point;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// How exactly the end is located.
const EXACT: f64 = 1e-4;

/// An end of a plateau along a variable: a place on the plateau, and a point beyond it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Brink {
    pub(super) variable: usize,
    inside: f64,
    pub(super) outside: Point,
    /// The rise of the function away from the plateau, once it is known.
    pub(super) slope: Option<f64>,
    /// The point that was asked about.
    asked: Option<Vec<f64>>,
}

impl Brink {
    pub(super) fn new(variable: usize, inside: f64, outside: Point) -> Self {
        Brink { variable, inside, outside, slope: None, asked: None }
    }

    /// On which side of the plateau it lies: 1 above, -1 below.
    pub(super) fn side(&self) -> f64 {
        (self.outside.at[self.variable] - self.inside).signum()
    }

    fn width(&self) -> f64 {
        (self.outside.at[self.variable] - self.inside).abs()
    }

    /// The next point: half-way, and a little beyond once the plateau's end is found. `None` when all is known, or if
    /// the last point was not worth asking about.
    pub(super) fn next(&mut self, space: &Space) -> Option<Vec<f64>> {
        if self.slope.is_some() || self.asked.is_some() {
            return None;
        }
        let (mut at, place) = (self.outside.at.clone(), self.outside.at[self.variable]);
        let away = self.side() * EXACT;
        let next = if self.width() > EXACT { 0.5 * (place + self.inside) } else { place + away };
        at[self.variable] = next.clamp(0.0, 1.0);
        space.snap(&mut at);
        if at != self.outside.at && at[self.variable] != self.inside {
            self.asked = Some(at);
        }
        self.asked.clone()
    }

    /// Takes the values of a point, if it asked about that; `plateau` are the values on it.
    pub(super) fn tell(&mut self, told: &Point, plateau: &[f64]) {
        if self.asked.as_ref() != Some(&told.at) {
            return;
        }
        self.asked = None;
        let place = told.at[self.variable];
        if self.width() <= EXACT {
            let rise = told.outcome.value - self.outside.outcome.value;
            self.slope = Some(rise / (place - self.outside.at[self.variable]).abs());
        } else if told.row == plateau {
            self.inside = place;
        } else {
            self.outside = told.clone();
        }
    }
}
