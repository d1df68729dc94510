//! The values that a setting can take.

use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// The values that a setting can take.
#[derive(Clone, Debug, PartialEq)]
pub enum Allowed {
    /// A whole number in a range.
    Whole(u64, u64),
    /// A number in a range.
    Number(f64, f64),
    /// One of these words.
    Words(Vec<String>),
    /// `true` or `false`.
    Flag,
}

/// A whole number from `low` to `high`.
pub fn whole(low: u64, high: u64) -> Allowed {
    Allowed::Whole(low, high)
}

/// A number from `low` to `high`.
pub fn number(low: f64, high: f64) -> Allowed {
    Allowed::Number(low, high)
}

/// One of the words of a choice.
pub fn words<T: Serialize>(all: &[T]) -> Allowed {
    let word = |value: &T| serde_json::to_value(value).ok()?.as_str().map(str::to_string);
    Allowed::Words(all.iter().filter_map(word).collect())
}

/// Yes or no.
pub fn flag() -> Allowed {
    Allowed::Flag
}

/// Larger numbers mean that there is no limit.
const BEYOND_ALL_USE: f64 = 1e15;

impl Allowed {
    /// The range, if the setting takes numbers.
    pub fn range(&self) -> Option<(f64, f64)> {
        match *self {
            Allowed::Whole(low, high) => Some((low as f64, high as f64)),
            Allowed::Number(low, high) => Some((low, high)),
            Allowed::Words(_) | Allowed::Flag => None,
        }
    }

    /// The words, if the setting takes words.
    pub fn words(self) -> Vec<String> {
        match self {
            Allowed::Words(words) => words,
            Allowed::Whole(..) | Allowed::Number(..) | Allowed::Flag => Vec::new(),
        }
    }

    /// Why a value of the right type is rejected; `null` never is.
    pub(crate) fn refusal(&self, value: &Value) -> Option<OutOfRange> {
        let (low, high) = self.range()?;
        // A number that JSON cannot express (NaN, an infinity) arrives as `null` and is handled elsewhere.
        let got = value.as_f64()?;
        (!(low..=high).contains(&got)).then_some(OutOfRange { got, low, high })
    }
}

/// A number outside its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OutOfRange {
    pub(crate) got: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |f: &mut fmt::Formatter<'_>, low, high| {
            if high < BEYOND_ALL_USE {
                write!(f, "from {} to {}", plain(low), plain(high))
            } else {
                write!(f, "from {} on", plain(low))
            }
        };
        match self {
            Allowed::Whole(low, high) => {
                f.write_str("a whole number ")?;
                range(f, *low as f64, *high as f64)
            }
            Allowed::Number(low, high) => {
                f.write_str("a number ")?;
                range(f, *low, *high)
            }
            Allowed::Words(words) => {
                let (last, others) = words.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
                if others.is_empty() { f.write_str(last) } else { write!(f, "{} or {last}", others.join(", ")) }
            }
            Allowed::Flag => f.write_str("true or false"),
        }
    }
}

/// The range, as far as it helps with the given number.
pub(crate) fn range_hint(got: f64, low: f64, high: f64) -> String {
    if high < BEYOND_ALL_USE {
        format!("it must lie between {} and {}", plain(low), plain(high))
    } else if got > high {
        format!("it must be at most {}", plain(high))
    } else {
        format!("it must be at least {}", plain(low))
    }
}

/// A number without rows of zeros.
pub(crate) fn plain(number: f64) -> String {
    if number == 0.0 || (1e-4..1e15).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}
