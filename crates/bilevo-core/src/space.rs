//! The variables of a level: their kinds, bounds and names, and all arithmetic that needs them.
//!
//! A [`Space`] is the only place that knows a bound. It maps to unit coordinates and back, holds points
//! in the box, rounds whole numbers, draws, and walks over whole-number points (neighbours, exchanges,
//! enumeration). Equal bounds make a variable *fixed*. Infinite bounds make it *open*: a run then
//! searches a box within them, which grows (`crate::engine`).
//!
//! *Unit coordinates*: u = (v - low) / (high - low), 0 for a fixed variable. A whole-number variable has
//! the same coordinates, so that a model may see its relaxed values; [`Space::from_unit`] goes back to a
//! point that can be evaluated: inside the bounds, whole numbers rounded. [`Space::snap`] moves unit
//! coordinates to those of the nearest such point.
//!
//! Randomness: [`Space::draw`] takes one uniform number for each variable, in order.

mod ends;
mod walk;

pub use walk::Enumeration;

use crate::printable::number;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

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

/// The variables of a level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Space {
    #[serde(with = "ends")]
    bounds: Vec<(f64, f64)>,
    /// Kind of each variable; empty where all are real.
    #[serde(default)]
    kinds: Vec<Kind>,
    /// Name of each variable; empty where none has one.
    #[serde(default)]
    names: Vec<String>,
}

/// Largest whole number up to which f64 can represent every whole number.
pub const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Smallest width of a real variable relative to its larger bound: about a thousand numbers lie within;
/// and smallest width at all, far above where numbers lose digits.
const NARROWEST: f64 = 1024.0 * f64::EPSILON;
const SMALLEST: f64 = 1e-305;

/// How far the first box of an open variable reaches from where it begins, times the size of that value if it is
/// above one.
const REACH: f64 = 10.0;

/// One variable of a [`Space`].
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

    /// The value half way; rounded for a whole number.
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

    /// The same with whole ends for a whole number.
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

    /// Number of values it can take; none for a real variable that is not fixed.
    pub fn values(&self) -> Option<u64> {
        match self.kind {
            _ if self.is_fixed() => Some(1),
            Kind::Whole => Some((self.width() + 1.0).max(0.0) as u64),
            Kind::Real => None,
        }
    }

    /// Whether `value` is one it can take.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high && (self.kind == Kind::Real || value.fract() == 0.0)
    }

    /// The nearest value within the bounds, whole or not; their middle for what is not a number.
    #[inline]
    pub fn clamp(&self, value: f64) -> f64 {
        if value.is_nan() { self.inside() } else { value.max(self.low).min(self.high) }
    }

    /// A value within the bounds that is no end of them where there is room: the middle, or a value near zero
    /// where a side is open.
    fn inside(&self) -> f64 {
        if self.is_open() { 0.0_f64.max(self.low).min(self.high) } else { 0.5 * self.low + 0.5 * self.high }
    }

    /// A value outside the bounds goes to the midpoint of `inside` and the violated bound; a whole number to
    /// the bound itself, since half way might round to where it came from.
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

    /// The nearest whole number, upwards from half way; a real value as it is.
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

/// A box in a message.
fn interval(low: &f64, high: &f64) -> String {
    format!("[{}, {}]", number(*low), number(*high))
}

/// Why a [`Space`] cannot be searched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// An empty box, or one too wide for f64.
    #[error(
        "variable {name} has the box {}\nhint: the first bound must not be above the second; `inf` leaves a side open",
        interval(.low, .high)
    )]
    Box {
        /// Name of the variable, or its number from 0.
        name: String,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// A box in which hardly any number lies.
    #[error(
        "variable {name} has a box too narrow for its numbers: {}\nhint: use smaller units",
        interval(.low, .high)
    )]
    TooNarrow {
        /// Name of the variable, or its number from 0.
        name: String,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// A whole-number variable that has no value.
    #[error("no whole number lies within the bounds of variable {name}\nhint: widen them, or make it a real variable")]
    NoWholeNumber {
        /// Name of the variable, or its number from 0.
        name: String,
    },
    /// Whole numbers that f64 cannot tell apart.
    #[error(
        "variable {name} has whole numbers beyond 2^53: {}\nhint: use larger units, or make it a real variable",
        interval(.low, .high)
    )]
    TooLarge {
        /// Name of the variable, or its number from 0.
        name: String,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// A whole-number variable that does not exist.
    #[error(
        "variable {index} should be a whole number, but there are only {dim} variables\nhint: variables are counted from 0"
    )]
    NoSuchVariable {
        /// The index given.
        index: usize,
        /// Number of variables.
        dim: usize,
    },
    /// Another number of kinds or names than variables.
    #[error("{got} {what} for {dim} variables\nhint: give one per variable")]
    Count {
        /// What was given: kinds or names.
        what: &'static str,
        /// How many were given.
        got: usize,
        /// Number of variables.
        dim: usize,
    },
    /// Two variables of the same name.
    #[error("two variables are called {name}\nhint: give each its own name")]
    SameName {
        /// The name.
        name: String,
    },
}

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
    /// No variables yet.
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

    /// Adds a variable; an empty name stands for none.
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

    /// Sets a kind; the bounds of a whole number become the whole numbers within them.
    fn set_kind(&mut self, index: usize, kind: Kind) {
        if let (Some(slot), Some((low, high))) = (self.kinds.get_mut(index), self.bounds.get_mut(index)) {
            *slot = kind;
            if kind == Kind::Whole {
                // + 0.0 turns -0.0 into 0.0
                (*low, *high) = (low.ceil() + 0.0, high.floor() + 0.0);
            }
        }
    }

    /// The same variables, those at `indices` whole numbers.
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

    /// The same variables under these names; none for a space without names.
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

    /// A name for every variable: its own, or `letter` with its number from 1.
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

    /// The box in which a run begins to search, around a place if one is given ([`Variable::closed`]).
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

    /// Holds a point within the bounds; whole numbers stay relaxed.
    pub fn clamp(&self, point: &mut [f64]) {
        self.iter().zip(point).for_each(|(v, value)| *value = v.clamp(*value));
    }

    /// Brings a point that a distribution around `inside` gave back within the bounds, coordinate by
    /// coordinate: [`Variable::repair`].
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

    /// The point half way along every variable.
    pub fn middle(&self) -> Vec<f64> {
        self.iter().map(|v| v.middle()).collect()
    }

    /// Refuses bounds with which no run can start.
    ///
    /// # Errors
    /// The first variable that cannot be searched, by name.
    pub fn check(&self) -> Result<(), SpaceError> {
        if !self.kinds.is_empty() && self.kinds.len() != self.dim() {
            return Err(SpaceError::Count { what: "kinds", got: self.kinds.len(), dim: self.dim() });
        }
        if !self.names.is_empty() && self.names.len() != self.dim() {
            return Err(SpaceError::Count { what: "names", got: self.names.len(), dim: self.dim() });
        }
        self.check_names()?;
        self.iter().enumerate().try_for_each(|(index, variable)| self.check_variable(index, variable))
    }

    /// Whether hardly any number lies between two ends that differ.
    pub fn too_narrow(low: f64, high: f64) -> bool {
        low < high && high - low < (NARROWEST * low.abs().max(high.abs())).max(SMALLEST)
    }

    fn check_variable(&self, index: usize, variable: Variable) -> Result<(), SpaceError> {
        let Variable { low, high, kind } = variable;
        let name = || self.name(index).map_or_else(|| index.to_string(), |name| format!("`{name}`"));
        if kind == Kind::Whole && low > high && low.is_finite() && high.is_finite() && low - high <= 1.0 {
            return Err(SpaceError::NoWholeNumber { name: name() });
        }
        let open = low == f64::NEG_INFINITY || high == f64::INFINITY;
        let fits = low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY;
        if !(fits && (open || (high - low).is_finite())) {
            return Err(SpaceError::Box { name: name(), low, high });
        }
        let largest =
            [low, high].into_iter().filter(|end| end.is_finite()).fold(0.0_f64, |most, end| most.max(end.abs()));
        if kind == Kind::Real && !open && Space::too_narrow(low, high) {
            return Err(SpaceError::TooNarrow { name: name(), low, high });
        }
        if kind == Kind::Whole && largest > LARGEST_WHOLE {
            return Err(SpaceError::TooLarge { name: name(), low, high });
        }
        if kind == Kind::Whole && [low, high].iter().any(|end| end.is_finite() && end.fract() != 0.0) {
            return Err(SpaceError::Box { name: name(), low, high });
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), SpaceError> {
        let mut sorted: Vec<&str> = self.names.iter().map(String::as_str).filter(|n| !n.is_empty()).collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(SpaceError::SameName { name: format!("`{}`", pair[0]) }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
