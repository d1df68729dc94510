//! What makes two runs the same run.

use bilevo_core::problem::ProblemSpec;
use bilevo_core::settings::{self, Setting};
use bilevo_core::{Config, Engine};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The identity of a run: problem, method, settings, version and seed. Two runs with the same identity give the
/// same answer; checkpoints, results and stores distinguish runs by it.
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
    /// The identity of a run of `engine` by a method of this name.
    pub fn new(engine: &Engine, method: impl Into<String>, problem_hash: impl Into<String>) -> Self {
        RunId::of(engine.spec(), engine.config(), method, problem_hash, engine.seed())
    }

    /// The identity of a run that has not started yet.
    pub fn of(
        spec: &ProblemSpec,
        config: &Config,
        method: impl Into<String>,
        problem_hash: impl Into<String>,
        seed: u64,
    ) -> Self {
        let method = method.into();
        RunId {
            problem: spec.name.clone(),
            problem_hash: problem_hash.into(),
            upper_dim: spec.upper.dim(),
            lower_dim: spec.lower.dim(),
            settings: changed_settings(&method, config),
            method,
            config_hash: config.hash(),
            version: crate::VERSION.into(),
            seed,
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

/// The settings in use that differ from the method's own (or from the defaults, if there is no method of that name),
/// by path.
pub fn changed_settings(method: &str, config: &Config) -> String {
    let own = Config::named(method).unwrap_or_default();
    let differs = |setting: &&Setting| setting.value(&own) != setting.value(config);
    let changed = settings::of(config).filter(differs);
    let mut texts: Vec<String> = changed.map(|s| format!("{}={}", s.path, s.text(config))).collect();
    texts.sort();
    texts.join(" ")
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
