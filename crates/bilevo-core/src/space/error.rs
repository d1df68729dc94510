//! Why variables cannot be searched.

use crate::printable::number;

/// Why a [`Space`](super::Space) cannot be searched.
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
    /// A box that contains hardly any numbers.
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
    /// Whole numbers so large that f64 cannot tell them apart.
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

/// A box in a message.
fn interval(low: &f64, high: &f64) -> String {
    format!("[{}, {}]", number(*low), number(*high))
}
