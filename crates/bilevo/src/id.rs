//! What makes two runs the same run.

use bilevo_core::{Config, Engine};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The identity of a run: problem, method, settings, version and seed. Two runs with the same
/// identity give the same answer; checkpoints, results and stores tell runs apart by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId {
    /// The problem's name.
    pub problem: String,
    /// Hash of the problem's definition if it comes from a file; empty for a built-in problem,
    /// which the version identifies.
    pub problem_hash: String,
    /// Upper variables.
    pub upper_dim: usize,
    /// Lower variables.
    pub lower_dim: usize,
    /// The method's name.
    pub method: String,
    /// Settings that differ from the method's own, as `path=value` joined by blanks; often empty.
    pub settings: String,
    /// Hash of the settings.
    pub config_hash: String,
    /// Version of bilevo.
    pub version: String,
    /// The seed.
    pub seed: u64,
}

impl RunId {
    /// The identity of a run of `engine` by a method of that name.
    pub fn new(engine: &Engine, method: impl Into<String>, problem_hash: impl Into<String>) -> Self {
        let (spec, config, method) = (engine.spec(), engine.config(), method.into());
        RunId {
            problem: spec.name.clone(),
            problem_hash: problem_hash.into(),
            upper_dim: spec.upper.dim(),
            lower_dim: spec.lower.dim(),
            settings: changed_settings(&method, config),
            method,
            config_hash: config.hash(),
            version: crate::VERSION.into(),
            seed: engine.seed(),
        }
    }
}

/// As in `smd1 2+3 with bl-cma-es, seed 3`.
impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunId { problem, upper_dim, lower_dim, method, settings, seed, .. } = self;
        write!(f, "{problem} {upper_dim}+{lower_dim} with {method}, seed {seed}")?;
        if settings.is_empty() { Ok(()) } else { write!(f, ", {settings}") }
    }
}

/// Settings in which a config differs from the method's own (from the defaults, if no method has
/// that name).
pub fn changed_settings(method: &str, config: &Config) -> String {
    let own = leaves(&Config::named(method).unwrap_or_default());
    let mut changed = leaves(config);
    changed.retain(|path, value| own.get(path) != Some(value));
    let texts: Vec<String> = changed.iter().map(|(path, value)| format!("{path}={value}")).collect();
    texts.join(" ")
}

/// Every `section.field` of a config with its value as [`Config::set`] takes it.
fn leaves(config: &Config) -> BTreeMap<String, String> {
    let mut leaves = BTreeMap::new();
    let tree = serde_json::to_value(config).unwrap_or_default();
    for (section, fields) in tree.as_object().into_iter().flatten() {
        for (field, value) in fields.as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            leaves.insert(format!("{section}.{field}"), text);
        }
    }
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_from_the_method_is_named() {
        let mut config = Config::named("cr-boc-capped").unwrap();
        assert_eq!(changed_settings("cr-boc-capped", &config), "");
        config.set("stop.max_upper_evals", "60").unwrap();
        config.set("allocator.window", "48").unwrap();
        assert_eq!(changed_settings("cr-boc-capped", &config), "allocator.window=48 stop.max_upper_evals=60");
        assert!(changed_settings("a method of my own", &config).contains("lower.max_generations=4"));
    }
}
