//! The variables of a level: their kinds, bounds and names, and all arithmetic that needs them.
//!
//! A [`Space`] is the only place that knows bounds. It maps to unit coordinates and back, keeps points in the box,
//! rounds whole numbers, draws random points, and walks over whole-number points (neighbours, exchanges,
//! enumeration). Equal bounds make a variable *fixed*. Infinite bounds make it *open*: a run then searches a box
//! within them, which grows (`crate::engine`).
//!
//! *Unit coordinates*: u = (v - low) / (high - low), 0 for a fixed variable. A whole-number variable has
//! the same coordinates, so that a model may see its relaxed values; [`Space::from_unit`] goes back to a
//! point that can be evaluated: inside the bounds, whole numbers rounded. [`Space::snap`] moves unit
//! coordinates to those of the nearest such point.
//!
//! Randomness: [`Space::draw`] takes one uniform number for each variable, in order.

mod check;
mod ends;
mod error;
mod variable;
mod walk;

pub use error::SpaceError;
pub use variable::{Kind, Variable};
pub use walk::Enumeration;

use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// The variables of a level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Space {
    #[serde(with = "ends")]
    bounds: Vec<(f64, f64)>,
    /// Kind of each variable; empty if all are real.
    #[serde(default)]
    kinds: Vec<Kind>,
    /// Name of each variable; empty if they have no names.
    #[serde(default)]
    names: Vec<String>,
}

/// The largest whole number up to which f64 can represent every whole number.
pub const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

impl From<Vec<(f64, f64)>> for Space {
    fn from(bounds: Vec<(f64, f64)>) -> Self {
        Space { bounds, ..Space::default() }
    }
}

impl FromIterator<Variable> for Space {
    fn from_iter<I: IntoIterator<Item = Variable>>(variables: I) -> Self {
        let mut space = Space::default();
        variables.into_iter().for_each(|v| space.add(String::new(), v.kind, v.low, v.high));
        space
    }
}

impl Space {
    /// A space without variables.
    pub fn new() -> Self {
        Space::default()
    }

    /// Adds a real variable.
    pub fn real(self, name: impl Into<String>, low: f64, high: f64) -> Self {
        self.with(name.into(), Kind::Real, low, high)
    }

    /// Adds a whole-number variable.
    pub fn whole(self, name: impl Into<String>, low: f64, high: f64) -> Self {
        self.with(name.into(), Kind::Whole, low, high)
    }

    /// Adds a variable that is 0 or 1.
    pub fn binary(self, name: impl Into<String>) -> Self {
        self.whole(name, 0.0, 1.0)
    }

    fn with(mut self, name: String, kind: Kind, low: f64, high: f64) -> Self {
        self.add(name, kind, low, high);
        self
    }

    /// Adds a variable; an empty name means that it has none.
    pub fn add(&mut self, name: String, kind: Kind, low: f64, high: f64) {
        let before = self.dim();
        self.bounds.push((low, high));
        if !name.is_empty() || !self.names.is_empty() {
            self.names.resize(before, String::new());
            self.names.push(name);
        }
        if kind == Kind::Whole || !self.kinds.is_empty() {
            self.kinds.resize(before + 1, Kind::Real);
            self.set_kind(before, kind);
        }
    }

    /// Sets a kind. For a whole number, the bounds are rounded inwards.
    fn set_kind(&mut self, index: usize, kind: Kind) {
        if let (Some(slot), Some((low, high))) = (self.kinds.get_mut(index), self.bounds.get_mut(index)) {
            *slot = kind;
            if kind == Kind::Whole {
                // + 0.0 turns -0.0 into 0.0
                (*low, *high) = (low.ceil() + 0.0, high.floor() + 0.0);
            }
        }
    }

    /// The same variables, but those at `indices` are whole numbers.
    ///
    /// # Errors
    /// An index without a variable.
    pub fn with_whole(mut self, indices: impl IntoIterator<Item = usize>) -> Result<Self, SpaceError> {
        for index in indices {
            if index >= self.dim() {
                return Err(SpaceError::NoSuchVariable { index, dim: self.dim() });
            }
            self.kinds.resize(self.bounds.len(), Kind::Real);
            self.set_kind(index, Kind::Whole);
        }
        Ok(self)
    }

    /// The same variables with these names; an empty list removes all names.
    ///
    /// # Errors
    /// Another number of names than variables, or one name twice.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, SpaceError> {
        if !names.is_empty() && names.len() != self.dim() {
            return Err(SpaceError::Count { what: "names", got: names.len(), dim: self.dim() });
        }
        self.names = names;
        self.check_names()?;
        Ok(self)
    }

    /// Number of variables.
    #[inline]
    pub fn dim(&self) -> usize {
        self.bounds.len()
    }

    /// Smallest and largest value of every variable.
    #[inline]
    pub fn bounds(&self) -> &[(f64, f64)] {
        &self.bounds
    }

    /// The variable at an index, which must be below [`Space::dim`].
    #[inline]
    pub fn variable(&self, index: usize) -> Variable {
        let (low, high) = self.bounds[index];
        Variable { low, high, kind: self.kind(index) }
    }

    #[inline]
    fn kind(&self, index: usize) -> Kind {
        self.kinds.get(index).copied().unwrap_or_default()
    }

    /// The variables in order.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Variable> + DoubleEndedIterator + Clone + '_ {
        let variable = |(index, &(low, high)): (usize, &(f64, f64))| Variable { low, high, kind: self.kind(index) };
        self.bounds.iter().enumerate().map(variable)
    }

    /// The name of a variable, if it has one.
    pub fn name(&self, index: usize) -> Option<&str> {
        self.names.get(index).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// A name for every variable: its own, or `letter` and its number from 1.
    pub fn names(&self, letter: char) -> Vec<String> {
        (0..self.dim()).map(|i| self.name(i).map_or_else(|| format!("{letter}{}", i + 1), String::from)).collect()
    }

    /// These variables followed by those of `other`.
    pub fn chain(&self, other: &Space) -> Space {
        let mut joint = Space { bounds: [&self.bounds[..], &other.bounds[..]].concat(), ..Space::default() };
        if self.has_whole() || other.has_whole() {
            joint.kinds = self.iter().chain(other.iter()).map(|v| v.kind).collect();
        }
        if !self.names.is_empty() || !other.names.is_empty() {
            let name = |space: &Space, i: usize| space.name(i).unwrap_or_default().to_string();
            let own = (0..self.dim()).map(|i| name(self, i));
            joint.names = own.chain((0..other.dim()).map(|i| name(other, i))).collect();
        }
        joint
    }

    /// Whether any variable is a whole number.
    #[inline]
    pub fn has_whole(&self) -> bool {
        self.kinds.contains(&Kind::Whole)
    }

    /// Whether any variable is fixed.
    pub fn has_fixed(&self) -> bool {
        self.iter().any(|v| v.is_fixed())
    }

    /// Whether any variable lacks a bound.
    pub fn is_open(&self) -> bool {
        self.iter().any(|v| v.is_open())
    }

    /// The box in which a run starts to search, around a point if one is given ([`Variable::closed`]).
    pub fn closed(&self, at: Option<&[f64]>) -> Space {
        self.reboxed(|i, v| v.closed(at.and_then(|at| at.get(i).copied())))
    }

    /// The same variables in another box.
    pub(crate) fn reboxed(&self, mut to: impl FnMut(usize, Variable) -> Variable) -> Space {
        let bounds = self.iter().enumerate().map(|(i, v)| to(i, v)).map(|v| (v.low, v.high)).collect();
        Space { bounds, ..self.clone() }
    }

    /// Whether every variable is a whole number or fixed, so that there are finitely many points.
    pub fn is_finite(&self) -> bool {
        self.iter().all(|v| v.is_whole() && !v.is_open() || v.is_fixed())
    }

    /// Whether the variables can take these values.
    pub fn contains(&self, point: &[f64]) -> bool {
        point.len() == self.dim() && self.iter().zip(point).all(|(v, &value)| v.contains(value))
    }

    /// Moves a point into the bounds; whole numbers stay relaxed.
    pub fn clamp(&self, point: &mut [f64]) {
        self.iter().zip(point).for_each(|(v, value)| *value = v.clamp(*value));
    }

    /// Moves a point that was sampled around `inside` back into the bounds, coordinate by coordinate:
    /// [`Variable::repair`].
    #[inline(always)]
    pub fn repair(&self, point: &mut [f64], inside: &[f64]) {
        let n = inside.len();
        if !self.kinds.is_empty() {
            let all = point.iter_mut().zip(inside).zip(self.iter());
            return all.for_each(|((value, &inside), v)| *value = v.repair(*value, inside));
        }
        for ((value, &inside), &(low, high)) in point[..n].iter_mut().zip(inside).zip(&self.bounds[..n]) {
            *value = Variable { low, high, kind: Kind::Real }.repair(*value, inside);
        }
    }

    /// Moves a point to the nearest one that can be evaluated.
    pub fn round(&self, point: &mut [f64]) {
        self.iter().zip(point).for_each(|(v, value)| *value = v.nearest(*value));
    }

    /// Unit coordinates of a point.
    pub fn to_unit(&self, point: &[f64]) -> Vec<f64> {
        self.iter().zip(point).map(|(v, &value)| v.unit(value)).collect()
    }

    /// The point at unit coordinates, ready to be evaluated: inside the bounds, whole numbers rounded.
    pub fn from_unit(&self, unit: &[f64]) -> Vec<f64> {
        self.iter().zip(unit).map(|(v, &u)| v.at(u)).collect()
    }

    /// Moves unit coordinates to those of the point that would be evaluated there: whole numbers to their
    /// places, fixed variables to 0, everything within 0 and 1.
    pub fn snap(&self, unit: &mut [f64]) {
        for (v, u) in self.iter().zip(unit) {
            *u = if v.is_whole() || v.is_fixed() { v.unit(v.at(*u)) } else { u.clamp(0.0, 1.0) };
        }
    }

    /// A uniform point.
    pub fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        self.iter().map(|v| v.draw(stream)).collect()
    }

    /// The middle of the range of every variable.
    pub fn middle(&self) -> Vec<f64> {
        self.iter().map(|v| v.middle()).collect()
    }
}

#[cfg(test)]
mod tests;
