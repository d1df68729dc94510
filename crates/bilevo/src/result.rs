//! The result of a run: what the engine found and what that took, as one object that `bilevo solve
//! --format json` prints, stores keep, and tables are made of.

use crate::audit::{Audit, Position, Response};
use crate::doubts::doubts;
use crate::id::RunId;
use crate::prove::{FollowerVerdict, Proof};
use bilevo_core::Engine;
use bilevo_core::problem::{Level, ProblemSpec};
use bilevo_core::record::{Accuracy, Evaluations, LowerSearches, Solution, Step, StopReason, Verification};
use bilevo_core::solved::{Tolerances, solved};
use bilevo_core::space::Space;
use serde::{Deserialize, Serialize, Serializer};

/// How a run ended; one `snake_case` word in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It has not ended.
    Running,
    /// The stop flag was set.
    Interrupted,
    /// The time was up.
    TimeLimit,
    /// An observer asked for it.
    Observer,
    /// By itself.
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
    /// From its start to its end.
    pub seconds: f64,
    /// The trainings within it.
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
    /// Those of a problem, if it names any variable.
    pub fn of(spec: &ProblemSpec) -> Option<Self> {
        let named = |space: &Space| (0..space.dim()).any(|index| space.name(index).is_some());
        let any = named(&spec.upper.space) || named(&spec.lower.space);
        any.then(|| Names { x: spec.names(Level::Upper), y: spec.names(Level::Lower) })
    }
}

/// The result of a run, finished or stopped.
///
/// Numbers that are not finite are written as `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// What it is a run of.
    #[serde(flatten)]
    pub id: RunId,
    /// The leader's decision; null if there is none yet, or F could not be evaluated at any.
    pub x: Option<Vec<f64>>,
    /// The follower's answer.
    pub y: Option<Vec<f64>>,
    /// The names of the variables in x and y; left out if the problem has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Names>,
    /// F(x, y), in the problem's own direction.
    #[serde(rename = "F")]
    pub upper_value: Option<f64>,
    /// f(x, y), in the problem's own direction.
    #[serde(rename = "f")]
    pub lower_value: Option<f64>,
    /// Violation of the upper constraints, the lower ones included.
    pub upper_violation: Option<f64>,
    /// Violation of the lower constraints.
    pub lower_violation: Option<f64>,
    /// Evaluations at both levels; with their `total` in JSON.
    #[serde(serialize_with = "with_total")]
    pub evaluations: Evaluations,
    /// Lower searches by what became of them.
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
    /// The searches of the run and what became of them; left out if the method does not keep them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Step>,
    /// Mean accuracy of the ranking model on pairs of one generation; null without one.
    pub model_accuracy: Option<f64>,
    /// The same on pairs across generations, as the paper measures it.
    #[serde(default)]
    pub model_accuracy_across: Option<f64>,
    /// Trainings of the ranking model.
    pub trainings: u64,
    /// How the run ended.
    pub stop: Status,
    /// Generations finished.
    pub generations: u64,
    /// Wall time.
    #[serde(flatten)]
    pub times: Times,
    /// The check of the follower's answer; null unless asked for.
    #[serde(default)]
    pub audit: Option<Audit>,
    /// What was proven of the answer, where the formulas are known and it could be; left out if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Why `auto` chose another method than the default one; left out if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Whether the answer is good ([`crate::doubts`]).
    #[serde(default)]
    pub success: bool,
    /// What is wrong with it, if anything.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Why the last checkpoint could not be written, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save_error: Option<String>,
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

/// How the answer was verified, and the same in words.
#[expect(clippy::ref_option, reason = "serde passes the field")]
fn with_words<S: Serializer>(verification: &Option<Verification>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct WithWords<'a> {
        #[serde(flatten)]
        verification: &'a Verification,
        words: String,
    }
    let with_words = |verification| WithWords { verification, words: verification.to_string() };
    verification.as_ref().map(with_words).serialize(serializer)
}

impl RunResult {
    /// The result of `engine` as it stands.
    pub fn new(id: RunId, engine: &Engine, stop: Status, times: Times) -> Self {
        let summary = engine.summary();
        let (x, y, values) = match summary.solution {
            Some(s) => {
                (Some(s.x), Some(s.y), Some([s.upper_value, s.lower_value, s.upper_violation, s.lower_violation]))
            }
            None => (None, None, None),
        };
        let value = |index: usize| values.map(|values| values[index]);
        let mut result = RunResult {
            id,
            x,
            y,
            names: Names::of(engine.spec()),
            upper_value: value(0),
            lower_value: value(1),
            upper_violation: value(2),
            lower_violation: value(3),
            evaluations: summary.evaluations,
            lower_searches: summary.lower_searches,
            accuracy: summary.accuracy,
            solved: summary.solved,
            target_met: summary.target_met,
            verification: summary.verification,
            history: summary.history,
            model_accuracy: summary.model.accuracy,
            model_accuracy_across: summary.model.accuracy_across,
            trainings: summary.model.trainings,
            stop,
            generations: summary.generations,
            times,
            audit: None,
            proof: None,
            notice: None,
            success: false,
            warnings: Vec::new(),
            save_error: None,
        };
        result.judge(engine);
        result
    }

    /// Says whether the answer is good, and if not, why.
    fn judge(&mut self, engine: &Engine) {
        let doubts = doubts(self, engine);
        self.success = doubts.is_empty();
        self.warnings = doubts.iter().map(ToString::to_string).collect();
    }

    /// The solution; none if there is none yet, or F could not be evaluated at any decision.
    pub fn solution(&self) -> Option<Solution> {
        Some(Solution {
            x: self.x.clone()?,
            y: self.y.clone()?,
            upper_value: self.upper_value?,
            // Only the follower's own solver may know f.
            lower_value: self.lower_value.unwrap_or(f64::NAN),
            upper_violation: self.upper_violation?,
            lower_violation: self.lower_violation?,
        })
    }

    /// Adds the finding of an audit. If it passed, the answer that counts in `position` takes the place of
    /// the one found.
    pub fn audited(&mut self, audit: Audit, position: Option<Position>, engine: &Engine) {
        let counts = position.filter(|_| audit.passed()).and_then(|position| audit.answer(position));
        if let Some(response) = counts {
            self.answer(response, engine);
        }
        self.audit = Some(audit);
        self.judge(engine);
    }

    /// Takes another answer of the follower.
    fn answer(&mut self, response: &Response, engine: &Engine) {
        self.y = Some(response.y.clone());
        self.upper_value = response.upper_value;
        self.lower_value = Some(response.lower_value);
        self.upper_violation = response.upper_violation;
        self.lower_violation = Some(response.lower_violation);
        // It was searched for independently of the run, or proven.
        self.compare(engine, true);
    }

    /// Adds what was proven, and takes the better decision that was found on the way, if one was.
    pub(crate) fn proven(&mut self, proof: Proof, better: Option<(Vec<f64>, Response)>, engine: &Engine) {
        if let Some((x, response)) = better {
            self.x = Some(x);
            self.answer(&response, engine);
            // It was about another answer.
            self.audit = None;
        }
        if let (Some(audit), Some(follower)) = (&mut self.audit, &proof.follower) {
            audit.settle(follower);
        }
        // Where f is not known, whether the optimum was found rests on the follower's answer.
        let verdict = proof.follower.as_ref().map(|follower| follower.verdict);
        if let Some(verdict) = verdict.filter(|verdict| *verdict != FollowerVerdict::Open) {
            self.compare(engine, verdict == FollowerVerdict::Proven);
        }
        self.proof = Some(proof);
        self.judge(engine);
    }

    /// Compares the solution with what is known, after it has changed.
    fn compare(&mut self, engine: &Engine, rechecked: bool) {
        let Some(solution) = self.solution() else { return };
        let spec = engine.spec();
        self.accuracy = spec.accuracy(solution.upper_value, solution.lower_value);
        self.solved = solved(spec, &solution, rechecked, &Tolerances::default());
        self.target_met = self.target_met.and(solved(spec, &solution, rechecked, &engine.config().stop.tolerances()));
    }
}
