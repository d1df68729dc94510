//! Bounds as data: an open side is null, because JSON has no infinity.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(bounds: &[(f64, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    let end = |value: f64| Some(value).filter(|value| !value.is_infinite());
    let ends: Vec<(Option<f64>, Option<f64>)> = bounds.iter().map(|(low, high)| (end(*low), end(*high))).collect();
    ends.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let ends: Vec<(Option<f64>, Option<f64>)> = Deserialize::deserialize(deserializer)?;
    let both =
        |(low, high): (Option<f64>, Option<f64>)| (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
    Ok(ends.into_iter().map(both).collect())
}
