//! The page of settings in the guide names every setting with its default, and nothing else.

use bilevo::Config;
use serde_json::Value;
use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../../docs/src/settings.md");

/// Settings and defaults in the tables of the page.
fn documented() -> BTreeMap<String, Value> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let path = cells.next()?.trim_end_matches('`').to_string();
        let default = cells.next()?;
        Some((path, serde_json::from_str(default).unwrap_or_else(|_| default.into())))
    };
    PAGE.lines().filter_map(row).collect()
}

#[test]
fn every_setting_is_documented_with_its_default() {
    let config = serde_json::to_value(Config::default()).unwrap();
    let actual: BTreeMap<String, Value> = config
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(section, fields)| {
            fields.as_object().unwrap().iter().map(move |(field, value)| (format!("{section}.{field}"), value.clone()))
        })
        .collect();
    assert_eq!(documented(), actual);
}
