//! The settings of a method in words, for `--set` and `explain`.

use bilevo::Config;

/// Splits `key=value`.
pub(crate) fn parse_assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, as in allocator.window=48")?;
    Ok((key.trim().into(), value.trim().into()))
}

/// Every setting by its path, with what it means.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("upper.population", "candidates in a generation (null: by upper.population_rule)"),
    ("upper.population_rule", "usual: 4 + floor(3 ln d); printed: 4 + floor(ln d)"),
    ("upper.initial_step", "first step size as a share of the median box width"),
    ("upper.constraint_rule", "feasible_first, or population_mixed while nobody is feasible"),
    ("lower.kind", "independent, transfer_cma, transfer_de, multiobjective, collaborative"),
    ("lower.population", "points of a task in a generation (null: the published size)"),
    ("lower.max_generations", "generations of a task at most (null: from its evaluations)"),
    ("lower.neighbours", "tasks that count as neighbours"),
    ("lower.relative_tolerance", "a task has converged when its record changed by less, relative"),
    ("lower.absolute_tolerance", "… or absolute"),
    ("allocator.kind", "all, random or contrastive"),
    ("allocator.keep", "share of the candidates that get a lower search (random, or trust always)"),
    ("allocator.keep_doubted", "the share while the model ranks no better than a coin (trust earned)"),
    ("allocator.keep_proven", "the share once the model ranks well (trust earned)"),
    ("allocator.resample_rounds", "further samplings at most when the candidates look poor"),
    ("allocator.hidden", "hidden units of the ranking network"),
    ("allocator.epochs", "epochs of one training"),
    ("allocator.learning_rate", "learning rate of Adam"),
    ("allocator.pool", "window: learn from the latest; accumulate: fill up, train, empty"),
    ("allocator.window", "size of the window"),
    ("allocator.first_training", "solutions seen before the first training (window)"),
    ("allocator.pairs_per_weight", "pairs for each weight that make a training due (accumulate)"),
    ("allocator.inputs", "standardised or raw"),
    ("allocator.weights", "fresh for every training, or carried on"),
    ("allocator.trust", "earned: the share follows the model's accuracy; always: allocator.keep"),
    ("allocator.explore", "places among the searched candidates that go to random ones"),
    ("allocator.recall", "every so many generations the elite joins the parents (0: never)"),
    ("refine.probability", "chance that a candidate worse than the elite is refined"),
    ("refine.max_generations", "generations of a refining search (null: as a lower search)"),
    ("stop.max_upper_evals", "upper evaluations of the run (null: by size)"),
    ("stop.max_lower_evals", "lower evaluations of the run (null: no limit)"),
    ("stop.upper_window", "upper evaluations without change that end the run (null: by size)"),
    ("stop.flat_tolerance", "what counts as change"),
    ("stop.lower_search_evals", "lower evaluations of one lower search (null: by size)"),
    ("stop.lower_window", "lower evaluations without change that end a search (null: by size)"),
    ("stop.target", "off, upper (|F - F*| within tolerance) or both levels"),
    ("stop.target_tolerance", "accuracy that counts as reached at the upper level"),
    ("stop.lower_target_tolerance", "accuracy that counts as reached at the lower level"),
];

/// The value of a setting as `--set` would take it.
pub(crate) fn value(config: &serde_json::Value, path: &str) -> String {
    match config.pointer(&format!("/{}", path.replace('.', "/"))) {
        Some(serde_json::Value::String(word)) => word.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// A config as a tree of values.
pub(crate) fn tree(config: &Config) -> anyhow::Result<serde_json::Value> {
    Ok(serde_json::to_value(config)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_setting_is_described_and_every_description_has_its_setting() {
        let tree = tree(&Config::default()).unwrap();
        let real: BTreeSet<String> = tree
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(section, fields)| fields.as_object().unwrap().keys().map(move |f| format!("{section}.{f}")))
            .collect();
        let described: BTreeSet<String> = SETTINGS.iter().map(|(path, _)| (*path).to_string()).collect();
        assert_eq!(real, described);
        assert_eq!(described.len(), SETTINGS.len());
    }

    #[test]
    fn assignments_split_at_the_first_equals_sign() {
        assert_eq!(parse_assignment("a.b = 1=2"), Ok(("a.b".into(), "1=2".into())));
        assert!(parse_assignment("a.b").is_err());
    }
}
