//! Made-up rows for the tests of tables, figures and the report.

use crate::row::{Row, TracePoint};
use serde_json::json;

/// A finished run with every field filled in plausibly; `seed` varies the counts a little.
pub(crate) fn row(method: &str, problem: &str, seed: u64) -> Row {
    let total = if method.starts_with("cr-") { 12_000 } else { 20_000 } + 97 * (seed % 23);
    let generations = 40;
    let trace = (1..=generations).map(|g| {
        let share = g as f64 / generations as f64;
        let accuracy = libm::pow(10.0, 2.0 - 8.5 * share + 0.01 * (seed % 7) as f64);
        TracePoint {
            upper_evals: 8 * g,
            lower_evals: total * g / generations,
            upper_value: accuracy,
            accuracy: Some(accuracy),
        }
    });
    let result = json!({
        "problem": problem, "problem_hash": "", "upper_dim": 2, "lower_dim": 3,
        "method": method, "settings": "", "config_hash": "0123456789abcdef", "version": "0.1.0", "seed": seed,
        "x": [0.0, 0.0], "y": [0.0, 0.0, 0.0], "F": 1e-7, "f": 1e-7, "upper_violation": 0.0, "lower_violation": 0.0,
        "evaluations": {
            "upper": 8 * generations, "lower": total, "refine_lower": 1_000,
            "failed_upper": 0, "failed_lower": 0, "retried": 0,
        },
        "lower_searches": { "run": 300, "skipped": 0, "resampled": 0 },
        "accuracy": { "upper": 1e-7, "lower": 2e-6 }, "solved": true, "target_met": true,
        "model_accuracy": method.starts_with("cr-").then_some(0.75),
        "model_accuracy_across": method.starts_with("cr-").then_some(0.83), "trainings": 0,
        "stop": "target", "generations": generations, "seconds": 0.1, "training_seconds": 0.0,
    });
    Row { result: serde_json::from_value(result).unwrap(), config: "{}".into(), trace: trace.collect() }
}
