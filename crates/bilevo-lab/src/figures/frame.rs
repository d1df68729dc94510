//! The frame of a chart: two axes with ticks and grid lines around a plot area.

use super::axis::Axis;
use super::scene::{Anchor, Ink, Item, Point, Scene};

/// A plot area in pixels with its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

/// Approximate number of ticks along x and y.
const X_TICKS: usize = 5;
const Y_TICKS: usize = 6;
/// Size of tick labels.
const TICK: f64 = 11.0;

impl Frame {
    /// The pixel of a point.
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        (self.left + self.width * self.x.place(x), self.top + self.height * (1.0 - self.y.place(y)))
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Grid, ticks and the two axis lines.
    pub(crate) fn draw(&self, scene: &mut Scene) {
        scene.open("axes", None);
        self.draw_y(scene);
        for (value, label) in self.x.ticks(X_TICKS) {
            let (x, _) = self.at(value, 0.0);
            scene.line(vec![(x, self.top), (x, self.bottom())], Ink::Grid, 1.0, "grid");
            scene.text((x, self.bottom() + 15.0), TICK, Anchor::Middle, Ink::Muted, label);
        }
        self.draw_corner(scene);
        scene.close();
    }

    /// Horizontal grid lines and their labels alone.
    pub(crate) fn draw_y(&self, scene: &mut Scene) {
        for (value, label) in self.y.ticks(Y_TICKS) {
            let (_, y) = self.at(0.0, value);
            scene.line(vec![(self.left, y), (self.left + self.width, y)], Ink::Grid, 1.0, "grid");
            scene.text((self.left - 6.0, y + 4.0), TICK, Anchor::End, Ink::Muted, label);
        }
    }

    pub(crate) fn draw_corner(&self, scene: &mut Scene) {
        let corner = vec![(self.left, self.top), (self.left, self.bottom()), (self.left + self.width, self.bottom())];
        scene.line(corner, Ink::Muted, 1.0, "frame");
    }

    /// Names of the axes; either may be empty.
    pub(crate) fn name(&self, scene: &mut Scene, x: &str, y: &str) {
        let middle = (self.left + self.width / 2.0, self.bottom() + 31.0);
        scene.text(middle, TICK, Anchor::Middle, Ink::Muted, x);
        let at = (self.left - 50.0, self.top + self.height / 2.0);
        let text = y.to_string();
        scene.items.push(Item::Text { at, size: TICK, anchor: Anchor::Middle, ink: Ink::Muted, upright: true, text });
    }
}
