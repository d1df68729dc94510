//! The result of a run as programs read it: one JSON object.

use crate::run::{Report, Status};
use bilevo_core::Engine;
use bilevo_core::record::{Accuracy, Evaluations, LowerSearches};
use serde::Serialize;

/// A run's result; serialises to the object that `bilevo solve --format json` prints.
///
/// Numbers that are not finite are written as `null`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SolveResult {
    /// The problem.
    pub problem: String,
    /// The method.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// The leader's decision; null if the run ended before its first generation did.
    pub x: Option<Vec<f64>>,
    /// The follower's answer.
    pub y: Option<Vec<f64>>,
    /// F(x, y), in the problem's own direction.
    #[serde(rename = "F")]
    pub upper_value: Option<f64>,
    /// f(x, y), in the problem's own direction.
    #[serde(rename = "f")]
    pub lower_value: Option<f64>,
    /// Violation of the upper constraints.
    pub upper_violation: Option<f64>,
    /// Violation of the lower constraints.
    pub lower_violation: Option<f64>,
    /// Evaluations at both levels.
    pub evaluations: EvaluationCounts,
    /// Lower searches by what became of them.
    pub lower_searches: LowerSearches,
    /// Distance from the best known values; null if they are unknown.
    pub accuracy: Option<Accuracy>,
    /// Whether a known optimum was found ([`bilevo_core::solved`]); null if none is known.
    pub solved: Option<bool>,
    /// Whether it was found within the tolerances of this run; null if none is known or wanted.
    pub target_met: Option<bool>,
    /// Mean accuracy of the ranking model; null without one.
    pub model_accuracy: Option<f64>,
    /// Why the run ended.
    pub stop: String,
    /// Generations finished.
    pub generations: u64,
    /// Wall time.
    pub seconds: f64,
    /// Always null: this version does not check the follower's answer by a second search.
    pub audit: (),
    /// Wall time of the trainings of the ranking model.
    pub training_seconds: f64,
    /// Trainings of the ranking model.
    pub trainings: u64,
    /// Number of variables at both levels.
    pub dims: Dims,
}

/// Number of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Dims {
    /// The leader's.
    pub upper: usize,
    /// The follower's.
    pub lower: usize,
}

/// Evaluations, with their total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EvaluationCounts {
    /// Upper evaluations.
    pub upper: u64,
    /// Lower evaluations, those of refinement included.
    pub lower: u64,
    /// Both.
    pub total: u64,
    /// Lower evaluations spent by refinement.
    pub refine_lower: u64,
    /// Upper evaluations that failed.
    pub failed_upper: u64,
    /// Lower evaluations that failed.
    pub failed_lower: u64,
    /// Evaluations repeated after a failure, not part of the counts above.
    pub retried: u64,
}

impl From<Evaluations> for EvaluationCounts {
    fn from(counts: Evaluations) -> Self {
        let Evaluations { upper, lower, refine_lower, failed_upper, failed_lower, retried } = counts;
        EvaluationCounts { upper, lower, total: counts.total(), refine_lower, failed_upper, failed_lower, retried }
    }
}

impl SolveResult {
    /// The result of a run of `engine`.
    pub fn new(engine: &Engine, method: impl Into<String>, report: &Report) -> Self {
        let (spec, summary) = (engine.spec(), &report.summary);
        let solution = summary.solution.as_ref();
        SolveResult {
            problem: spec.name.clone(),
            method: method.into(),
            seed: engine.seed(),
            x: solution.map(|s| s.x.clone()),
            y: solution.map(|s| s.y.clone()),
            upper_value: solution.map(|s| s.upper_value),
            lower_value: solution.map(|s| s.lower_value),
            // The sum of no violations is -0; adding 0 makes it 0.
            upper_violation: solution.map(|s| s.upper_violation + 0.0),
            lower_violation: solution.map(|s| s.lower_violation + 0.0),
            evaluations: summary.evaluations.into(),
            lower_searches: summary.lower_searches,
            accuracy: summary.accuracy,
            solved: summary.solved,
            target_met: summary.target_met,
            model_accuracy: summary.model_accuracy,
            stop: stop_name(report.status),
            generations: summary.generations,
            seconds: report.seconds,
            audit: (),
            training_seconds: report.training_seconds,
            trainings: summary.trainings,
            dims: Dims { upper: spec.upper.dim(), lower: spec.lower.dim() },
        }
    }
}

/// The end of a run in one `snake_case` word.
pub fn stop_name(status: Status) -> String {
    match status {
        Status::Finished(reason) => match serde_json::to_value(reason) {
            Ok(serde_json::Value::String(name)) => name,
            _ => "finished".into(),
        },
        Status::Interrupted => "interrupted".into(),
        Status::TimeLimit => "time_limit".into(),
        Status::Observer => "observer".into(),
    }
}
