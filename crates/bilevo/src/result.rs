//! The result of a run: what the engine found and how much work it took. `bilevo solve --format json` prints this
//! object, stores keep it, and tables are made from it.

use crate::audit::{Audit, Position, Response};
use crate::calibration::{Likeness, likeness};
use crate::doubts::{Warning, doubts};
use crate::id::RunId;
use crate::prove::{FollowerVerdict, Proof};
use bilevo_core::Engine;
use bilevo_core::problem::{Level, ProblemSpec};
use bilevo_core::record::{Accuracy, Evaluations, LowerSearches, Noise, Solution, Step, StopReason, Verification};
use bilevo_core::solved::{Tolerances, solved};
use bilevo_core::space::Space;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// How a run ended; one `snake_case` word in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It has not ended yet.
    Running,
    /// The stop flag was set.
    Interrupted,
    /// The time limit was reached.
    TimeLimit,
    /// An observer ended it.
    Observer,
    /// The method ended it.
    #[serde(untagged)]
    Finished(StopReason),
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Status::Finished(reason) => reason.fmt(f),
            Status::Running => f.write_str("still running"),
            Status::Interrupted => f.write_str("interrupted"),
            Status::TimeLimit => f.write_str("time limit reached"),
            Status::Observer => f.write_str("stopped by an observer"),
        }
    }
}

/// Wall time of a run, earlier sessions included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// From start to end.
    pub seconds: f64,
    /// The part spent on training.
    pub training_seconds: f64,
}

/// The names of a problem's variables, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// The leader's.
    pub x: Vec<String>,
    /// The follower's.
    pub y: Vec<String>,
}

impl Names {
    /// The names of a problem's variables, if it has any.
    pub fn of(spec: &ProblemSpec) -> Option<Self> {
        let named = |space: &Space| (0..space.dim()).any(|index| space.name(index).is_some());
        let any = named(&spec.upper.space) || named(&spec.lower.space);
        any.then(|| Names { x: spec.names(Level::Upper), y: spec.names(Level::Lower) })
    }
}

/// The box that a run searched: the lowest and highest value of each variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The leader's.
    pub x: Vec<(f64, f64)>,
    /// The follower's.
    pub y: Vec<(f64, f64)>,
}

impl Searched {
    fn of(spec: &ProblemSpec) -> Self {
        Searched { x: spec.upper.space.bounds().to_vec(), y: spec.lower.space.bounds().to_vec() }
    }
}

/// The result of a run, finished or stopped.
///
/// Numbers that are not finite are written as `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The identity of the run.
    #[serde(flatten)]
    pub id: RunId,
    /// The decision with the follower's answer and their values, as `x`, `y`, `F`, `f`, `upper_violation` and
    /// `lower_violation` in JSON; null if there is none yet, or F could not be evaluated at any decision.
    #[serde(flatten, with = "nullable")]
    pub solution: Option<Solution>,
    /// The names of the variables in x and y; left out if the problem has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Names>,
    /// Evaluations at both levels; with their `total` in JSON.
    #[serde(serialize_with = "with_total")]
    pub evaluations: Evaluations,
    /// Lower searches, by outcome.
    pub lower_searches: LowerSearches,
    /// Distance from the best known values; null if they are unknown.
    pub accuracy: Option<Accuracy>,
    /// Whether a known optimum was found ([`bilevo_core::solved()`]); null if none is known.
    pub solved: Option<bool>,
    /// Whether it was found within the tolerances of this run; null if none is known or wanted.
    pub target_met: Option<bool>,
    /// How the follower's answer was verified, with `words` for people in JSON; null if there is none.
    #[serde(default, serialize_with = "with_words")]
    pub verification: Option<Verification>,
    /// The box that was searched; left out if it is the problem's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<Searched>,
    /// The noise of F and f, with `words` for people in JSON; the values are then means. Left out if there is no
    /// noise.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "with_words")]
    pub noise: Option<Noise>,
    /// The searches of the run and their outcomes; left out if the method does not record them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Step>,
    /// Mean accuracy of the ranking model on pairs of one generation; null without one.
    pub model_accuracy: Option<f64>,
    /// The same on pairs across generations, as the paper measures it.
    #[serde(default)]
    pub model_accuracy_across: Option<f64>,
    /// Number of trainings of the ranking model.
    pub trainings: u64,
    /// How the run ended.
    pub stop: Status,
    /// Completed generations.
    pub generations: u64,
    /// Wall time.
    #[serde(flatten)]
    pub times: Times,
    /// The check of the follower's answer; null unless asked for.
    #[serde(default)]
    pub audit: Option<Audit>,
    /// What was proven about the answer, if the formulas are known; left out if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// How often answers like this one were right in test runs, with `words` for people in JSON; left out if that
    /// is not known.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "with_words")]
    pub likeness: Option<Likeness>,
    /// Why `auto` chose a method other than the default, and similar notes; left out if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Whether the answer is good ([`crate::doubts`]).
    #[serde(default)]
    pub success: bool,
    /// What is wrong with the answer, if anything.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Why the last checkpoint could not be written, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save_error: Option<String>,
}

/// A solution, or none, in JSON: numbers that are missing or not finite are null.
mod nullable {
    use bilevo_core::record::Solution;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Default, Serialize, Deserialize)]
    struct Parts {
        x: Option<Vec<f64>>,
        y: Option<Vec<f64>>,
        #[serde(rename = "F")]
        upper_value: Option<f64>,
        #[serde(rename = "f")]
        lower_value: Option<f64>,
        upper_violation: Option<f64>,
        lower_violation: Option<f64>,
    }

    #[expect(clippy::ref_option, reason = "serde passes the field")]
    pub(super) fn serialize<S: Serializer>(solution: &Option<Solution>, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = solution.as_ref().map(|solution| Parts {
            x: Some(solution.x.clone()),
            y: Some(solution.y.clone()),
            upper_value: Some(solution.upper_value),
            lower_value: Some(solution.lower_value),
            upper_violation: Some(solution.upper_violation),
            lower_violation: Some(solution.lower_violation),
        });
        parts.unwrap_or_default().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Solution>, D::Error> {
        let Parts { x, y, upper_value, lower_value, upper_violation, lower_violation } =
            Parts::deserialize(deserializer)?;
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Ok(x.zip(y).map(|(x, y)| Solution {
            x,
            y,
            upper_value: number(upper_value),
            lower_value: number(lower_value),
            upper_violation: number(upper_violation),
            lower_violation: number(lower_violation),
        }))
    }
}

/// Evaluations, with their total.
fn with_total<S: Serializer>(counts: &Evaluations, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct WithTotal<'a> {
        #[serde(flatten)]
        counts: &'a Evaluations,
        total: u64,
    }
    WithTotal { counts, total: counts.total() }.serialize(serializer)
}

/// A value together with its description in words.
#[expect(clippy::ref_option, reason = "serde passes the field")]
fn with_words<T: Serialize + fmt::Display, S: Serializer>(told: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct WithWords<'a, T> {
        #[serde(flatten)]
        told: &'a T,
        words: String,
    }
    told.as_ref().map(|told| WithWords { told, words: told.to_string() }).serialize(serializer)
}

impl RunResult {
    /// The result of `engine` in its current state.
    pub fn new(id: RunId, engine: &Engine, stop: Status, times: Times) -> Self {
        let summary = engine.summary();
        let mut result = RunResult {
            id,
            solution: summary.solution,
            names: Names::of(engine.spec()),
            evaluations: summary.evaluations,
            lower_searches: summary.lower_searches,
            accuracy: summary.accuracy,
            solved: summary.solved,
            target_met: summary.target_met,
            verification: summary.verification,
            searched: engine.searched().as_ref().map(Searched::of),
            noise: summary.noise,
            history: summary.history,
            model_accuracy: summary.model.accuracy,
            model_accuracy_across: summary.model.accuracy_across,
            trainings: summary.model.trainings,
            stop,
            generations: summary.generations,
            times,
            audit: None,
            proof: None,
            likeness: None,
            notice: None,
            success: false,
            warnings: Vec::new(),
            save_error: None,
        };
        result.judge(engine);
        result
    }

    /// Decides whether the answer is good, and if not, why.
    fn judge(&mut self, engine: &Engine) {
        // In the test runs, the follower's answers had to be searched, and every box was closed.
        let tested = !engine.spec().is_oracle_alone() && !engine.spec().is_open();
        self.likeness = likeness(self).filter(|_| tested);
        let doubts = doubts(self, engine);
        self.success = doubts.is_empty();
        self.warnings = doubts.iter().map(Warning::from).collect();
    }

    /// The leader's decision, if there is one.
    pub fn x(&self) -> Option<&[f64]> {
        self.solution.as_ref().map(|solution| &*solution.x)
    }

    /// The follower's answer, if there is one.
    pub fn y(&self) -> Option<&[f64]> {
        self.solution.as_ref().map(|solution| &*solution.y)
    }

    fn number(&self, of: impl Fn(&Solution) -> f64) -> Option<f64> {
        self.solution.as_ref().map(of).filter(|value| value.is_finite())
    }

    /// F(x, y), as the problem returns it; `None` without an answer or a finite value.
    pub fn upper_value(&self) -> Option<f64> {
        self.number(|solution| solution.upper_value)
    }

    /// f(x, y), likewise.
    pub fn lower_value(&self) -> Option<f64> {
        self.number(|solution| solution.lower_value)
    }

    /// Violation of the upper constraints, including the lower ones; likewise.
    pub fn upper_violation(&self) -> Option<f64> {
        self.number(|solution| solution.upper_violation)
    }

    /// Violation of the lower constraints; likewise.
    pub fn lower_violation(&self) -> Option<f64> {
        self.number(|solution| solution.lower_violation)
    }

    /// Adds the finding of an audit. If it passed, the answer that counts under `position` replaces the one
    /// found.
    pub fn audited(&mut self, audit: Audit, position: Option<Position>, engine: &Engine) {
        let counts = audit.answer(position.unwrap_or(Position::Optimistic)).filter(|_| audit.passed());
        if let Some(response) = counts.filter(|response| position.is_some() || self.gains(response, engine)) {
            self.answer(response, engine);
        }
        self.audit = Some(audit);
        self.judge(engine);
    }

    /// Whether another answer, which is equally good for the follower, is feasible and better for the leader.
    fn gains(&self, response: &Response, engine: &Engine) -> bool {
        let flip = |value: f64| engine.spec().upper.direction.flip(value);
        let tolerance = engine.config().stop.violation_tolerance;
        let feasible = response.upper_violation.is_some_and(|violation| violation <= tolerance);
        let better = response.upper_value.zip(self.upper_value()).is_some_and(|(new, old)| flip(new) < flip(old));
        feasible && better
    }

    /// Replaces the follower's answer.
    fn answer(&mut self, response: &Response, engine: &Engine) {
        let Some(solution) = &mut self.solution else { return };
        solution.y.clone_from(&response.y);
        solution.upper_value = response.upper_value.unwrap_or(f64::NAN);
        solution.lower_value = response.lower_value;
        solution.upper_violation = response.upper_violation.unwrap_or(f64::NAN);
        solution.lower_violation = response.lower_violation;
        // It was found independently of the run.
        self.compare(engine, true);
    }

    /// Adds what was proven, and adopts the better decision that was found on the way, if there is one.
    pub(crate) fn proven(&mut self, proof: Proof, better: Option<Solution>, engine: &Engine) {
        if let Some(better) = better {
            self.solution = Some(better);
            self.compare(engine, true);
            // The audit was about another answer.
            self.audit = None;
        }
        if let (Some(audit), Some(follower)) = (&mut self.audit, &proof.follower) {
            audit.settle(follower, self.names.as_ref());
        }
        // If f is unknown, whether the optimum was found depends on the follower's answer.
        let verdict = proof.follower.as_ref().map(|follower| follower.verdict);
        if let Some(verdict) = verdict.filter(|verdict| *verdict != FollowerVerdict::Open) {
            self.compare(engine, verdict == FollowerVerdict::Proven);
        }
        self.proof = Some(proof);
        self.judge(engine);
    }

    /// Compares the solution with the known optima, after it has changed.
    fn compare(&mut self, engine: &Engine, rechecked: bool) {
        let Some(solution) = &self.solution else { return };
        let spec = engine.spec();
        let within = |tolerances: &Tolerances| solved(spec, solution, rechecked, tolerances);
        let (found, met) = (within(&Tolerances::default()), within(&engine.config().stop.tolerances()));
        let accuracy = spec.accuracy(solution.upper_value, solution.lower_value);
        self.accuracy = accuracy.filter(|_| engine.means_something(found));
        self.solved = found.filter(|_| engine.means_something(found));
        self.target_met = self.target_met.and(met).filter(|_| engine.means_something(met));
    }
}
