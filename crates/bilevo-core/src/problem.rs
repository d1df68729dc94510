//! What the engine knows about a problem (plain data), and what comes back from an evaluation.
//!
//! Both levels are minimised inside the engine. A problem that maximises says so in
//! [`LevelSpec::direction`]; the evaluators flip the sign at the outermost edge.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The leader's (upper) or the follower's (lower) level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The leader, who decides `x`.
    Upper,
    /// The follower, who answers with `y`.
    Lower,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Upper => "upper",
            Level::Lower => "lower",
        })
    }
}

/// Whether a level wants its objective small or large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Smaller is better (the default, and the only direction inside the engine).
    #[default]
    Minimize,
    /// Larger is better.
    Maximize,
}

impl Direction {
    /// `value` as seen by the engine, which minimises; its own inverse.
    pub fn flip(self, value: f64) -> f64 {
        match self {
            Direction::Minimize => value,
            Direction::Maximize => -value,
        }
    }
}

/// Box, constraint counts and direction of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelSpec {
    /// Smallest and largest value of every variable of this level.
    pub bounds: Vec<(f64, f64)>,
    /// Number of constraints `g <= 0`.
    pub inequalities: usize,
    /// Number of constraints `h = 0`; their values follow the inequalities.
    pub equalities: usize,
    /// Minimise or maximise.
    #[serde(default)]
    pub direction: Direction,
}

impl LevelSpec {
    /// A minimised level with a box and nothing else.
    pub fn boxed(bounds: Vec<(f64, f64)>) -> Self {
        LevelSpec { bounds, inequalities: 0, equalities: 0, direction: Direction::Minimize }
    }

    /// Adds the number of `g <= 0` constraints.
    pub fn with_inequalities(mut self, count: usize) -> Self {
        self.inequalities = count;
        self
    }

    /// Number of variables.
    pub fn dim(&self) -> usize {
        self.bounds.len()
    }

    /// Number of constraint values an evaluation of this level returns.
    pub fn constraints(&self) -> usize {
        self.inequalities + self.equalities
    }
}

/// Where the lower constraints count when a leader's decision is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LowerConstraints {
    /// Their violation is added to the upper one.
    #[default]
    Added,
    /// The upper level already contains them: counted once.
    Shared,
}

/// Best known objective values, in the problem's own direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestKnown {
    /// F at the bilevel optimum.
    pub upper: f64,
    /// f at the bilevel optimum, where known.
    pub lower: Option<f64>,
}

/// How much effort a run may spend; every field states its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Upper evaluations of a whole run.
    pub upper_evals: u64,
    /// Upper evaluations without change of the elite after which a run stops.
    pub upper_window: u64,
    /// Lower evaluations of one lower search.
    pub lower_evals: u64,
    /// Lower evaluations without change after which a lower search has converged.
    pub lower_window: u64,
}

impl Budget {
    /// The published budget for `dim` = m + n variables; beyond 20 it grows in proportion.
    pub fn for_dim(dim: usize) -> Budget {
        let (upper_evals, upper_window, lower_evals, lower_window) = match dim {
            0..=3 => (1500, 70, 150, 15),
            4..=6 => (2500, 350, 250, 25),
            7..=10 => (3500, 500, 350, 35),
            11..=20 => (5000, 750, 500, 50),
            d => (250 * d as u64, 75 * d as u64 / 2, 25 * d as u64, 5 * d as u64 / 2),
        };
        Budget { upper_evals, upper_window, lower_evals, lower_window }
    }
}

/// Everything the engine knows about a problem: plain data, no functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemSpec {
    /// Name for messages and records.
    pub name: String,
    /// The leader's level.
    pub upper: LevelSpec,
    /// The follower's level.
    pub lower: LevelSpec,
    /// Whether lower constraints are added to the upper violation.
    #[serde(default)]
    pub lower_constraints: LowerConstraints,
    /// An equality counts as met when `|h|` is at most this.
    pub equality_tolerance: f64,
    /// Known optimum, if any.
    pub best_known: Option<BestKnown>,
    /// Budget that belongs to the problem; by size if absent.
    pub budget: Option<Budget>,
}

/// Largest number of variables a level may have.
pub const MAX_DIM: usize = 1_000;
/// Largest number of constraints a level may have.
pub const MAX_CONSTRAINTS: usize = 100_000;

impl ProblemSpec {
    /// A problem from its two levels, with defaults elsewhere.
    pub fn new(name: impl Into<String>, upper: LevelSpec, lower: LevelSpec) -> Self {
        ProblemSpec {
            name: name.into(),
            upper,
            lower,
            lower_constraints: LowerConstraints::Added,
            equality_tolerance: 1e-6,
            best_known: None,
            budget: None,
        }
    }

    /// One of the two levels.
    pub fn level(&self, level: Level) -> &LevelSpec {
        match level {
            Level::Upper => &self.upper,
            Level::Lower => &self.lower,
        }
    }

    /// Number of variables of both levels.
    pub fn dim(&self) -> usize {
        self.upper.dim() + self.lower.dim()
    }

    /// The problem's own budget, or the published one for its size.
    pub fn budget(&self) -> Budget {
        self.budget.unwrap_or_else(|| Budget::for_dim(self.dim()))
    }

    /// Sum of the violations of `constraints` (inequalities first) at a level.
    pub fn violation(&self, level: Level, constraints: &[f64]) -> f64 {
        let inequalities = self.level(level).inequalities.min(constraints.len());
        let (g, h) = constraints.split_at(inequalities);
        let sum = g.iter().map(|g| g.max(0.0)).sum::<f64>()
            + h.iter().map(|h| (h.abs() - self.equality_tolerance).max(0.0)).sum::<f64>();
        sum.min(f64::MAX)
    }

    /// Refuses boxes and sizes no run can start from.
    pub fn check(&self) -> Result<(), SpecError> {
        for level in [Level::Upper, Level::Lower] {
            let spec = self.level(level);
            if spec.dim() == 0 || spec.dim() > MAX_DIM {
                return Err(SpecError::Size { level, got: spec.dim() });
            }
            if spec.constraints() > MAX_CONSTRAINTS {
                return Err(SpecError::Constraints { level, got: spec.constraints() });
            }
            for (index, &(low, high)) in spec.bounds.iter().enumerate() {
                let sound = low.is_finite() && high.is_finite() && low < high && (high - low).is_finite();
                if !sound {
                    return Err(SpecError::Box { level, index, low, high });
                }
            }
        }
        if !(self.equality_tolerance >= 0.0 && self.equality_tolerance.is_finite()) {
            return Err(SpecError::Tolerance { got: self.equality_tolerance });
        }
        Ok(())
    }
}

/// Why a [`ProblemSpec`] cannot be run.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum SpecError {
    /// No variables, or absurdly many.
    #[error("the {level} level has {got} variables\nhint: it needs between 1 and {MAX_DIM}")]
    Size {
        /// The level.
        level: Level,
        /// Its number of variables.
        got: usize,
    },
    /// Absurdly many constraints.
    #[error("the {level} level has {got} constraints, more than {MAX_CONSTRAINTS}")]
    Constraints {
        /// The level.
        level: Level,
        /// Its number of constraints.
        got: usize,
    },
    /// An empty or unbounded box.
    #[error(
        "{level} variable {index} has the box [{low}, {high}]\nhint: both bounds must be finite and the first below the second"
    )]
    Box {
        /// The level.
        level: Level,
        /// Index of the variable, from 0.
        index: usize,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// A tolerance that cannot be one.
    #[error("the equality tolerance is {got}\nhint: it must be zero or a positive number")]
    Tolerance {
        /// The value given.
        got: f64,
    },
}

/// A bilevel problem as Rust code. One method with a [`Level`], so that external processes and
/// other languages mirror it exactly.
pub trait BilevelProblem: Sync {
    /// Sizes, boxes, constraint counts, best known values.
    fn spec(&self) -> &ProblemSpec;

    /// The objective of `level` at (x, y), in the problem's own direction. Pushes the level's
    /// constraint values (inequalities first) onto `constraints`, which arrives empty.
    ///
    /// # Errors
    /// Whatever went wrong, as text; the run counts it and goes on as its policy says.
    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, String>;
}

/// What kind of thing went wrong in an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// NaN or an infinity as objective or constraint value.
    NotFinite,
    /// A wrong number of constraint values.
    WrongShape,
    /// The evaluation reported an error.
    Error,
    /// The evaluation panicked.
    Panic,
    /// No answer in time.
    Timeout,
    /// The evaluating process died.
    Crash,
}

/// One failed evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// What happened, for people.
    pub message: String,
}

impl Failure {
    /// A failure of a kind with its message.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into() }
    }
}

/// The result of one evaluation as the engine sees it: minimised value and summed violation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Objective, minimised; infinite when the evaluation failed.
    pub value: f64,
    /// Summed violation; infinite when the evaluation failed.
    pub violation: f64,
}

impl Outcome {
    /// A failed evaluation: sorts behind everything else.
    pub const FAILED: Outcome = Outcome { value: f64::INFINITY, violation: f64::INFINITY };

    /// Whether the evaluation failed.
    pub fn is_failed(&self) -> bool {
        self.violation == f64::INFINITY
    }

    /// Whether every constraint is met.
    pub fn is_feasible(&self) -> bool {
        self.violation <= 0.0
    }
}
