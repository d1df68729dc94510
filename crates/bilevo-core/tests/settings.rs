//! Configs and methods: every setting is reachable, checked and named when it is wrong.
#![allow(clippy::unwrap_used, clippy::panic)] // also in what tests share

use bilevo_core::config::{Config, ConfigError, LowerKind, PopulationRule};
use bilevo_core::methods;
use bilevo_core::problem::{LevelSpec, ProblemSpec};
use serde_json::Value;
use std::collections::BTreeSet;

fn spec(upper: usize, lower: usize) -> ProblemSpec {
    let level = |dim| LevelSpec::boxed(vec![(-5.0, 10.0); dim]);
    ProblemSpec::new("smd-like", level(upper), level(lower))
}

/// Every setting with its default.
fn leaves() -> Vec<(String, Value)> {
    let tree = serde_json::to_value(Config::default()).unwrap();
    let sections = tree.as_object().unwrap().iter();
    let leaves: Vec<(String, Value)> = sections
        .flat_map(|(section, fields)| {
            fields.as_object().unwrap().iter().map(move |(field, value)| (format!("{section}.{field}"), value.clone()))
        })
        .collect();
    assert!(leaves.len() > 35, "{leaves:?}");
    leaves
}

fn out_of_range(path: &str, value: &str) -> ConfigError {
    let mut config = Config::default();
    config.set(path, value).and_then(|()| config.check(&spec(2, 3)).map(|_| ())).unwrap_err()
}

#[test]
fn every_number_out_of_range_is_refused_by_name() {
    let zero_is_fine =
        ["allocator.explore", "upper.recall", "allocator.resample_rounds", "jq.descent", "jq.rechecks", "jq.agree"];
    for (path, default) in leaves() {
        let (low, high) = match default {
            Value::String(_) => continue,
            Value::Number(n) if n.is_f64() => ("-1.0", "1e301"),
            _ => ("0", "1000000000000000000"),
        };
        let mut wrong = vec![high];
        if !zero_is_fine.contains(&path.as_str()) {
            wrong.push(low);
        }
        for value in wrong {
            let error = out_of_range(&path, value);
            assert!(matches!(&error, ConfigError::OutOfRange { field, .. } if *field == path), "{path}: {error:?}");
            let message = error.to_string();
            assert!(message.contains(&format!("`{path}`")) && message.contains("hint:"), "{message}");
        }
    }
    let mut config = Config::default();
    config.upper.initial_step = f64::NAN;
    assert!(matches!(config.check(&spec(2, 3)), Err(ConfigError::OutOfRange { field: "upper.initial_step", .. })));
}

#[test]
fn limits_that_depend_on_other_settings() {
    let mut config = Config::default();
    config.allocator.first_training = config.allocator.window + 1;
    assert!(config.check(&spec(2, 3)).unwrap_err().to_string().contains("`allocator.first_training`"));
    let mut config = methods::find("boc").unwrap().config();
    config.lower.population = Some(5);
    assert!(config.check(&spec(2, 3)).unwrap_err().to_string().contains("`lower.population`"));
    assert!(matches!(Config::default().check(&spec(2, 0)), Err(ConfigError::Spec(_))));
}

#[test]
fn words_and_types_that_do_not_fit_are_refused_by_name() {
    for (path, _) in leaves() {
        let mut config = Config::default();
        for nonsense in ["nonsense", "[]", "{}", "true"] {
            let error = config.set(&path, nonsense).unwrap_err();
            assert!(error.to_string().contains(&format!("`{path}`")), "{error}");
            assert_eq!(config, Config::default());
        }
    }
}

#[test]
fn unknown_settings_get_a_suggestion_and_change_nothing() {
    let mut config = Config::default();
    for (wrong, right) in [
        ("allocator.windw", Some("allocator.window")),
        ("alocator.keep", Some("allocator.keep")),
        ("Stop.Target", Some("stop.target")),
        ("lower.max_generation", Some("lower.max_generations")),
        ("something.else", None),
        ("allocator", None),
        ("allocator.keep.more", None),
        ("", None),
        ("..", None),
        ("upper/population", Some("upper.population")),
    ] {
        let error = config.set(wrong, "1").unwrap_err();
        let ConfigError::UnknownField { field, nearest } = &error else { panic!("{wrong}: {error:?}") };
        assert_eq!(field, wrong);
        if right.is_some() {
            assert_eq!(nearest.as_deref(), right);
            assert!(error.to_string().contains("did you mean"));
        }
        assert_eq!(config, Config::default());
    }
}

#[test]
fn set_reads_numbers_words_and_nothing() {
    let mut config = Config::default();
    config.set("upper.population", "12").unwrap();
    config.set("lower.kind", "transfer_de").unwrap();
    config.set("stop.target", "\"both\"").unwrap();
    assert_eq!((config.upper.population, config.lower.kind), (Some(12), LowerKind::TransferDe));
    config.set("upper.population", "null").unwrap();
    assert_eq!(config.upper.population, None);
}

#[test]
fn the_hash_follows_every_setting_and_stays_the_same() {
    // Stored results are grouped by this value: a change of a default or a new setting changes it,
    // and belongs into the changelog under "Results changed".
    assert_eq!(Config::default().hash(), "2e76a60c51a488ad");
    let mut seen = BTreeSet::from([Config::default().hash()]);
    for (path, default) in leaves() {
        let mut config = Config::default();
        let value = match (path.as_str(), &default) {
            ("upper.kind", _) => continue,
            ("scheme.kind", _) => "joint_quadratic",
            ("jq.start", _) => "guess",
            (path, Value::String(_)) if path.starts_with("jq.") => "off",
            ("upper.population_rule", _) => "printed",
            ("upper.constraint_rule", _) => "population_mixed",
            ("lower.kind", _) => "transfer_cma",
            ("allocator.kind", _) => "random",
            ("allocator.pool", _) => "accumulate",
            ("allocator.inputs", _) => "raw",
            ("allocator.weights", _) => "carried",
            ("allocator.trust", _) => "always",
            ("stop.target", _) => "off",
            (_, Value::Number(n)) if n.is_f64() => "0.123",
            _ => "9",
        };
        config.set(&path, value).unwrap();
        assert!(seen.insert(config.hash()), "{path} does not show in the hash");
    }
}

#[test]
fn configs_survive_json() {
    for method in methods::all() {
        let config = method.config();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
    }
    assert_eq!(serde_json::from_str::<Config>("{}").unwrap(), Config::default());
    assert!(serde_json::from_str::<Config>(r#"{"upper": {"populaton": 3}}"#).is_err());
}

#[test]
fn methods_have_names_of_their_own_and_run_on_any_size() {
    let (mut names, mut hashes) = (BTreeSet::new(), BTreeSet::new());
    for method in methods::all() {
        let name = method.name();
        assert!(name.contains(method.base_name()) && !method.base.about.is_empty() && !method.variant.about.is_empty());
        assert_eq!(Config::named(&name).unwrap(), method.config());
        assert!(hashes.insert(method.config().hash()), "{name} is another method under a new name");
        for (upper, lower) in [(1, 1), (2, 3), (5, 5), (20, 20), (1, 100)] {
            let settings = method.config().check(&spec(upper, lower)).unwrap();
            assert!(settings.population >= 4 && settings.lower_generations > 0 && settings.refine_generations > 0);
        }
        assert!(names.insert(name));
    }
    assert_eq!(names.len(), 46);
    assert!(methods::BASES.iter().all(|base| names.contains(base.name)));
}

#[test]
fn an_unknown_method_gets_a_suggestion() {
    let error = Config::named("cr-bl-cmaes").unwrap_err();
    assert!(error.to_string().contains("did you mean `cr-bl-cma-es`?"), "{error}");
    assert!(matches!(Config::named("simplex"), Err(ConfigError::UnknownMethod { nearest: None, .. })));
}

#[test]
fn sizes_follow_the_published_rules() {
    let settings = Config::default().check(&spec(2, 3)).unwrap();
    assert_eq!((settings.population, settings.lower_population, settings.lower_generations), (8, 7, 36));
    assert_eq!((settings.budget.upper_evals, settings.budget.upper_window), (2500, 350));
    assert_eq!((settings.budget.lower_evals, settings.budget.lower_window), (250, 25));
    assert_eq!((PopulationRule::Usual.size(5), PopulationRule::Printed.size(5)), (8, 5));
    let lower = |name: &str| {
        let settings = Config::named(name).unwrap().check(&spec(2, 3)).unwrap();
        (settings.lower_population, settings.lower_generations)
    };
    assert_eq!((lower("tlea-de"), lower("boc")), ((4, 63), (1, 18)));
    assert_eq!((lower("bl-cma-es-capped"), lower("cr-boc-capped")), ((7, 4), (1, 4)));
}
