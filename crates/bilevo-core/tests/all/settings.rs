//! Configs and methods: every setting is reachable, checked and named when it is wrong.

use bilevo_core::config::{Config, ConfigError, LowerKind, PopulationRule, PositionConfig, PositionKind};
use bilevo_core::methods;
use bilevo_core::problem::{LevelSpec, ProblemSpec};
use bilevo_core::settings::{self, Allowed, Setting};
use std::collections::BTreeSet;

fn spec(upper: usize, lower: usize) -> ProblemSpec {
    let level = |dim| LevelSpec::boxed(vec![(-5.0, 10.0); dim]);
    ProblemSpec::new("smd-like", level(upper), level(lower))
}

/// A config that uses a setting: the first of the methods, or a change of it, that does.
fn user_of(setting: &Setting) -> Config {
    let mut configs: Vec<Config> = methods::all().map(|m| m.config()).collect();
    configs.extend(methods::find(methods::PORTFOLIO.name).map(|m| m.config()));
    configs.push(Config {
        position: PositionConfig { kind: PositionKind::Optimistic, weight: None },
        ..Config::default()
    });
    configs.retain(|config| setting.is_used_by(config));
    assert!(!configs.is_empty(), "no method uses {}", setting.path);
    configs.remove(0)
}

fn out_of_range(setting: &Setting, value: &str) -> ConfigError {
    let mut config = user_of(setting);
    config.set(setting.path, value).and_then(|()| config.check(&spec(2, 3)).map(|_| ())).unwrap_err()
}

#[test]
fn every_number_out_of_range_is_refused_by_name() {
    for setting in settings::all() {
        let (low, high) = match (setting.allowed)(&user_of(setting)) {
            Allowed::Words(_) | Allowed::Flag => continue,
            Allowed::Number(..) => ("-1.0", "1e301"),
            Allowed::Whole(0, _) => ("", "1000000000000000000"),
            Allowed::Whole(..) => ("0", "1000000000000000000"),
        };
        for value in [low, high].into_iter().filter(|value| !value.is_empty()) {
            let error = out_of_range(setting, value);
            let path = setting.path;
            assert!(matches!(&error, ConfigError::OutOfRange { field, .. } if *field == path), "{path}: {error:?}");
            let message = error.to_string();
            assert!(message.contains(&format!("`{path}`")) && message.contains("hint:"), "{message}");
        }
    }
    for wrong in [f64::NAN, f64::INFINITY] {
        let mut config = Config::default();
        config.joint_cma.initial_step = wrong;
        assert!(matches!(config.check(&spec(2, 3)), Err(ConfigError::OutOfRange { field: "upper.initial_step", .. })));
    }
}

#[test]
fn limits_that_depend_on_other_settings() {
    let mut config = Config::named("cr-boc").unwrap();
    config.contrastive.first_training = config.contrastive.window + 1;
    assert!(config.check(&spec(2, 3)).unwrap_err().to_string().contains("`allocator.first_training`"));
    assert!(matches!(Config::default().check(&spec(2, 0)), Err(ConfigError::Spec(_))));
}

#[test]
fn words_and_types_that_do_not_fit_are_refused_by_name() {
    for setting in settings::all() {
        let own = user_of(setting);
        let mut config = own.clone();
        for nonsense in ["nonsense", "[]", "{}", "1.5.0"] {
            let error = config.set(setting.path, nonsense).unwrap_err();
            assert!(matches!(error, ConfigError::Invalid { .. }), "{error:?}");
            assert!(error.to_string().contains(&format!("`{}`", setting.path)), "{error}");
            assert_eq!(config, own);
        }
    }
}

#[test]
fn settings_that_a_method_does_not_use_are_refused_and_have_no_part_in_its_hash() {
    for method in methods::all() {
        let own = method.config();
        for setting in settings::all().iter().filter(|s| !s.is_used_by(&own)) {
            let other = user_of(setting);
            let mut config = own.clone();
            let error = config.set(setting.path, &setting.text(&other)).unwrap_err();
            let ConfigError::Unused { field, used_by } = &error else { panic!("{error:?}") };
            assert!(*field == setting.path && !used_by.is_empty(), "{error}");
            assert_eq!(config, own);
            assert!(own.tree().pointer(&format!("/{}", setting.path.replace('.', "/"))).is_none());
        }
    }
    let used = |name: &str, path: &str| settings::find(path).unwrap().is_used_by(&Config::named(name).unwrap());
    for (method, path, expected) in [
        ("bl-cma-es", "allocator.window", false),
        ("cr-bl-cma-es", "allocator.window", true),
        ("cr-bl-cma-es-published", "allocator.window", false),
        ("cr-bl-cma-es-published", "allocator.pairs_per_weight", true),
        ("cr-bl-cma-es-published", "allocator.keep", true),
        ("cr-bl-cma-es-published", "allocator.keep_max", false),
        ("cr-bl-cma-es", "allocator.keep", false),
        ("bl-cma-es-random", "allocator.keep", true),
        ("bl-cma-es-random", "upper.recall", true),
        ("bl-cma-es", "upper.recall", true),
        ("tlea-de", "lower.transfer_window", true),
        ("motea", "lower.transfer_window", false),
        ("cr-bl-cma-es", "allocator.optimiser", false),
        ("cr-bl-cma-es-published", "allocator.optimiser", true),
        ("cr-bl-cma-es", "allocator.rounding", false),
        ("bl-cma-es", "lower.neighbours", false),
        ("tlea-de", "lower.neighbours", true),
        ("boc", "lower.population", false),
    ] {
        assert_eq!(used(method, path), expected, "{path} by {method}");
    }
    // What is not used does not show in the hash, whatever it is.
    let mut config = Config::default();
    config.contrastive.window = 999;
    assert_eq!(config.hash(), Config::default().hash());
}

#[test]
fn several_settings_may_come_in_any_order() {
    let changes = [("allocator.window", "48"), ("allocator.kind", "contrastive"), ("upper.recall", "2")];
    let mut one = Config::default();
    one.set_all(changes).unwrap();
    let mut two = Config::default();
    two.set_all(changes.into_iter().rev()).unwrap();
    assert_eq!(one, two);
    assert_eq!((one.contrastive.window, one.joint_cma.recall), (48, 2));
    let back = one.set_all([("allocator.window", "16"), ("allocator.kind", "all")]).unwrap_err();
    assert!(matches!(back, ConfigError::Unused { field: "allocator.window", .. }), "{back:?}");
    assert_eq!(one, two);
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
fn the_hash_follows_every_setting_in_use_and_stays_the_same() {
    // Stored results are grouped by this value: a change of a default in use or a new setting of
    // this method changes it, and belongs into the changelog under "Results changed".
    assert_eq!(Config::default().hash(), "0bf26770505974e1");
    for setting in settings::all() {
        let own = user_of(setting);
        let other = match (setting.allowed)(&own) {
            Allowed::Words(words) if words.len() == 1 => continue,
            Allowed::Words(words) => words.into_iter().find(|word| *word != setting.text(&own)).unwrap(),
            Allowed::Flag => (setting.text(&own) == "false").to_string(),
            Allowed::Number(..) => "0.123".into(),
            Allowed::Whole(..) => "9".into(),
        };
        let mut config = own.clone();
        config.set(setting.path, &other).unwrap();
        assert_ne!(config.hash(), own.hash(), "{} does not show in the hash", setting.path);
    }
}

#[test]
fn the_guides_page_is_made_from_the_descriptions() {
    let page = include_str!("../../../../docs/src/settings.md");
    assert_eq!(page, settings::page(), "docs/src/settings.md is out of date\nhint: cargo xtask generate");
}

#[test]
fn configs_survive_json() {
    for method in methods::all() {
        let config = method.config();
        let text = serde_json::to_string(&config).unwrap();
        let back: Config = serde_json::from_str(&text).unwrap();
        // What is not in use is left out and comes back as its default.
        assert_eq!((back.hash(), back.tree()), (config.hash(), config.tree()), "{text}");
        let bytes = postcard::to_stdvec(&config).unwrap();
        assert_eq!(postcard::from_bytes::<Config>(&bytes).unwrap(), config);
    }
    assert_eq!(serde_json::from_str::<Config>("{}").unwrap(), Config::default());
    for wrong in [r#"{"upper": {"populaton": 3}}"#, r#"{"allocator": {"window": 3}}"#, r#"{"upper": 3}"#, "[]", "3"] {
        assert!(serde_json::from_str::<Config>(wrong).is_err(), "{wrong}");
    }
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
            let sizes = method.config().check(&spec(upper, lower)).unwrap();
            assert!(sizes.population >= 4 && sizes.lower_generations > 0 && sizes.refine_generations > 0);
        }
        assert!(names.insert(name));
    }
    assert_eq!(names.len(), 52);
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
