//! Rows made up for the tests.

use bilevo_lab::row::{RunRow, TracePoint};

/// A plausible row whose numbers depend on the seed.
pub(crate) fn row(method: &str, problem: &str, seed: u64) -> RunRow {
    let noise = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24);
    let point = |i: u64| TracePoint {
        upper_evals: 9 * i,
        lower_evals: 700 * i,
        upper_value: noise / i as f64,
        accuracy: Some(noise / i as f64),
    };
    RunRow {
        method: method.into(),
        problem: problem.into(),
        problem_hash: String::new(),
        upper_dim: 2,
        lower_dim: 3,
        seed,
        settings: String::new(),
        config_hash: format!("hash of {method}"),
        config: format!("{{\"method\":\"{}\"}}", method.len()),
        version: "0.1.0".into(),
        x: vec![noise, 1.0 - noise],
        y: vec![0.1, noise, 3.0],
        upper_value: noise * 1e-6,
        lower_value: noise,
        upper_violation: 0.0,
        lower_violation: 0.0,
        upper_accuracy: Some(noise * 1e-6),
        lower_accuracy: Some(noise * 1e-5),
        upper_evals: 180 + seed % 7,
        lower_evals: 14_000,
        refine_lower_evals: 800,
        failed_upper: 0,
        failed_lower: 0,
        searches_run: 170,
        searches_skipped: 90,
        searches_resampled: 12,
        model_accuracy: Some(0.75),
        trainings: 20,
        generations: 20,
        stop: "target".into(),
        seconds: 0.02,
        training_seconds: 0.003,
        trace: (1..=20).map(point).collect(),
    }
}
