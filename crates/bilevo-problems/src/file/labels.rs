//! Labels for people: units of variables and objectives, and constraints as the file writes them. They have no effect
//! on computations.

use super::reader::{Field, Reader};
use bilevo_core::config::{did_you_mean, nearest};
use bilevo_core::printable::printable;
use bilevo_core::problem::{Level, ProblemSpec};
use std::collections::BTreeMap;

/// The longest unit that is shown.
const MAX_UNIT: usize = 40;
/// The names of the objectives in `[units]`.
const OBJECTIVES: [&str; 2] = ["F", "f"];

/// How a report labels the parts of a problem, besides the names of its variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Units by the name of a variable, or by `F` and `f`.
    pub units: BTreeMap<String, String>,
    /// The constraints of the leader and of the follower as written, one for each value.
    pub constraints: [Vec<String>; 2],
}

impl Labels {
    /// The unit of a variable or an objective; the elements of a vector share one unit.
    pub fn unit(&self, name: &str) -> Option<&str> {
        let own = || self.units.get(base(name));
        self.units.get(name).or_else(own).map(String::as_str)
    }

    /// A constraint as written.
    pub fn constraint(&self, level: Level, index: usize) -> Option<&str> {
        let own = if level == Level::Upper { &self.constraints[0] } else { &self.constraints[1] };
        own.get(index).map(String::as_str)
    }
}

/// The name of a variable without its indices.
fn base(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

/// Reads `[units]`.
pub(super) fn units(reader: &mut Reader, field: Option<&Field>, spec: &ProblemSpec) -> BTreeMap<String, String> {
    let mut units = BTreeMap::new();
    let Some(fields) = field.and_then(|field| reader.table(field, "[units] holds lines such as `price = \"EUR\"`"))
    else {
        return units;
    };
    let mut known: Vec<String> = [Level::Upper, Level::Lower]
        .iter()
        .flat_map(|&level| spec.names(level))
        .map(|name| base(&name).into())
        .collect();
    known.extend(OBJECTIVES.map(String::from));
    known.dedup();
    for field in &fields {
        if !known.contains(&field.key) {
            let near = nearest(&field.key, known.iter().map(String::as_str));
            let message = format!("there is no variable `{}`{}", field.key, did_you_mean(&near));
            reader.key_error(field, message, "units belong to variables, or to the objectives `F` and `f`");
            continue;
        }
        let Some(unit) = reader.text(field, "a unit is a short text, as in \"EUR\"") else { continue };
        if unit.is_empty() || unit.chars().count() > MAX_UNIT || unit.contains('\n') || printable(unit) != unit {
            reader.error(field, "this cannot be a unit", format!("one line of 1 to {MAX_UNIT} characters"));
        }
        units.insert(field.key.clone(), unit.to_string());
    }
    units
}
