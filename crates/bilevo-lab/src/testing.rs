//! Made-up rows for the tests of tables, figures and the report.

use crate::row::{RunRow, TracePoint};

/// A finished run with every field filled in plausibly; `seed` varies the counts a little.
pub(crate) fn row(method: &str, problem: &str, seed: u64) -> RunRow {
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
    RunRow {
        method: method.into(),
        problem: problem.into(),
        problem_hash: String::new(),
        upper_dim: 2,
        lower_dim: 3,
        seed,
        settings: String::new(),
        config_hash: "0123456789abcdef".into(),
        config: "{}".into(),
        version: "0.1.0".into(),
        x: vec![0.0; 2],
        y: vec![0.0; 3],
        upper_value: 1e-7,
        lower_value: 1e-7,
        upper_violation: 0.0,
        lower_violation: 0.0,
        upper_accuracy: Some(1e-7),
        lower_accuracy: Some(2e-6),
        upper_evals: 8 * generations,
        lower_evals: total,
        refine_lower_evals: 1_000,
        failed_upper: 0,
        failed_lower: 0,
        searches_run: 300,
        searches_skipped: 0,
        searches_resampled: 0,
        model_accuracy: method.starts_with("cr-").then_some(0.83),
        trainings: 0,
        generations,
        stop: "target".into(),
        seconds: 0.1,
        training_seconds: 0.0,
        trace: trace.collect(),
    }
}
