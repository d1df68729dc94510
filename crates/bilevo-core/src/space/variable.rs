//! One variable: its kind and bounds, and the arithmetic on a single value.

use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// How far the first box of an open variable extends from its starting value; multiplied by the size of that value if
/// it is above one.
const REACH: f64 = 10.0;

/// What values a variable takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Any number within its bounds.
    #[default]
    Real,
    /// The whole numbers within its bounds.
    Whole,
}

/// One variable of a [`Space`](super::Space).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variable {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// What values it takes.
    pub kind: Kind,
}

impl Variable {
    /// `high - low`.
    #[inline]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The middle of its range; rounded for a whole number.
    pub fn middle(&self) -> f64 {
        self.round(if self.is_open() { self.inside() } else { self.low + (self.high - self.low) / 2.0 })
    }

    /// Whether it can take only one value.
    pub fn is_fixed(&self) -> bool {
        self.low == self.high
    }

    /// Whether it lacks a bound.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.low.is_infinite() || self.high.is_infinite()
    }

    /// The box in which a run starts to search it: if a side is open, around a given value, around zero, or at
    /// its one bound.
    pub fn closed(&self, at: Option<f64>) -> Variable {
        if !self.is_open() {
            return *self;
        }
        let centre = at.unwrap_or_else(|| self.inside());
        let reach = REACH * centre.abs().max(1.0);
        Variable { low: self.low.max(centre - reach), high: self.high.min(centre + reach), ..*self }.whole_ends()
    }

    /// The same, with whole bounds for a whole number.
    pub(crate) fn whole_ends(self) -> Variable {
        match self.kind {
            Kind::Real => self,
            // + 0.0 turns -0.0 into 0.0
            Kind::Whole => Variable { low: self.low.ceil() + 0.0, high: self.high.floor() + 0.0, ..self },
        }
    }

    /// Whether it takes whole numbers only.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.kind == Kind::Whole
    }

    /// How many values it can take; `None` for a real variable that is not fixed.
    pub fn values(&self) -> Option<u64> {
        match self.kind {
            _ if self.is_fixed() => Some(1),
            Kind::Whole => Some((self.width() + 1.0).max(0.0) as u64),
            Kind::Real => None,
        }
    }

    /// Whether it can take `value`.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high && (self.kind == Kind::Real || value.fract() == 0.0)
    }

    /// The nearest value within the bounds, whole or not; for NaN, the middle.
    #[inline]
    pub fn clamp(&self, value: f64) -> f64 {
        if value.is_nan() { self.inside() } else { value.max(self.low).min(self.high) }
    }

    /// A value within the bounds and, if there is room, not at an end: the middle, or a value near zero if a side is
    /// open.
    fn inside(&self) -> f64 {
        if self.is_open() { 0.0_f64.max(self.low).min(self.high) } else { 0.5 * self.low + 0.5 * self.high }
    }

    /// Moves a value outside the bounds to the midpoint of `inside` and the violated bound. A whole number moves to
    /// the bound itself, because the midpoint might round back to where it came from.
    #[inline(always)]
    pub fn repair(&self, value: f64, inside: f64) -> f64 {
        if self.kind == Kind::Whole {
            self.clamp(value)
        } else if value < self.low {
            0.5 * inside + 0.5 * self.low
        } else if value > self.high {
            0.5 * inside + 0.5 * self.high
        } else {
            value
        }
    }

    /// The nearest whole number, halves upwards; a real value is unchanged.
    #[inline]
    fn round(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Real => value,
            Kind::Whole => (value + 0.5).floor(),
        }
    }

    /// The nearest value it can take.
    #[inline]
    pub fn nearest(&self, value: f64) -> f64 {
        self.round(self.clamp(value))
    }

    /// The value at a unit coordinate, inside the bounds, whole numbers rounded.
    #[inline]
    pub fn at(&self, unit: f64) -> f64 {
        self.nearest(self.low + (self.high - self.low) * unit)
    }

    /// The unit coordinate of a value, within 0 and 1.
    #[inline]
    pub fn unit(&self, value: f64) -> f64 {
        if self.is_fixed() { 0.0 } else { ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0) }
    }

    /// A uniform draw; every whole number is equally likely. Takes one number from the stream.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match self.kind {
            Kind::Real => self.low + (self.high - self.low) * stream.uniform(),
            Kind::Whole => (self.low + ((self.width() + 1.0) * stream.uniform()).floor()).min(self.high),
        }
    }
}
