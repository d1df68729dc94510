//! Rows made up for the tests, and the time they take.

use bilevo_lab::row::{Row, TracePoint};
use serde_json::json;
use std::sync::LazyLock;
use std::time::Instant;

/// A plausible row whose numbers depend on the seed.
pub(crate) fn row(method: &str, problem: &str, seed: u64) -> Row {
    let noise = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24);
    let point = |i: u64| TracePoint {
        upper_evals: 9 * i,
        lower_evals: 700 * i,
        upper_value: noise / i as f64,
        accuracy: Some(noise / i as f64),
    };
    let result = json!({
        "problem": problem, "problem_hash": "", "upper_dim": 2, "lower_dim": 3,
        "method": method, "settings": "", "config_hash": format!("hash of {method}"), "version": "0.1.0", "seed": seed,
        "x": [noise, 1.0 - noise], "y": [0.1, noise, 3.0], "F": noise * 1e-6, "f": noise,
        "upper_violation": 0.0, "lower_violation": 0.0,
        "evaluations": {
            "upper": 180 + seed % 7, "lower": 14_000, "refine_lower": 800,
            "failed_upper": 0, "failed_lower": 0, "retried": 0,
        },
        "lower_searches": { "run": 170, "skipped": 90, "resampled": 12 },
        "accuracy": { "upper": noise * 1e-6, "lower": noise * 1e-5 }, "solved": true, "target_met": true,
        "model_accuracy": 0.75, "trainings": 20, "stop": "target", "generations": 20,
        "seconds": 0.02, "training_seconds": 0.003,
    });
    let config = format!("{{\"method\":\"{}\"}}", method.len());
    Row { result: serde_json::from_value(result).unwrap(), config: config.into(), trace: (1..=20).map(point).collect() }
}

/// How many times as long ten times the work may take, on any machine: 10 is in proportion, 100 is its square.
pub(crate) const FAR_FROM_SQUARE: f64 = 40.0;

/// Seconds this thread has worked, so that a busy machine makes no difference; where the system
/// does not tell, seconds on the wall.
pub(crate) fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let worked = schedule.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).map(|ns| ns / 1e9);
    worked.unwrap_or_else(|| START.elapsed().as_secs_f64())
}
