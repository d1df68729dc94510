//! Bilevel (leader-follower) optimisation: find the leader's best decision, given that the follower
//! responds with its own best answer.
//!
//! Start with [`Solver`]: it takes a problem ([`source`]: a built-in name, a problem file, or Rust code) and
//! returns a [`RunResult`]. The algorithms are in `bilevo-core`, a pure engine that asks for evaluations. This
//! crate drives it: [`evaluate`] answers its batches, [`run`](mod@run) is the loop, [`checkpoint`] saves and
//! resumes, [`observe`] and [`trace`] follow a run, and [`mod@audit`] checks the answer.
//!
//! ```
//! use bilevo::{Functions, Solver};
//! let square = |x: &[f64], y: &[f64]| (x[0] - 1.0).powi(2) + y[0].powi(2);
//! let problem = Functions::new("mine", vec![(-5.0, 5.0)], vec![(-5.0, 5.0)], square, |x, y| (y[0] - x[0]).powi(2));
//! let result = Solver::new(&problem).seed(1).max_upper_evals(300).run()?;
//! assert!(result.x().is_some_and(|x| (x[0] - 0.5).abs() < 0.1)); // the follower answers y = x
//! # Ok::<(), bilevo::RunError>(())
//! ```

pub mod audit;
pub mod calibration;
pub mod checkpoint;
pub mod codes;
pub mod doubts;
pub mod evaluate;
pub mod files;
mod functions;
pub mod id;
pub mod known;
pub mod observe;
mod panics;
pub mod policy;
pub mod program;
pub mod prove;
pub mod result;
pub mod run;
pub mod solver;
pub mod source;
#[doc(hidden)]
pub mod testing;
pub mod trace;

pub use audit::{Audit, AuditOptions, Position, Verdict};
pub use bilevo_core::batch::{Answers, Batch, Replies, check_reply};
pub use bilevo_core::config::{Config, ConfigError};
pub use bilevo_core::engine::{Ask, Engine, Start, StartError, TellError};
pub use bilevo_core::problem::{
    BestKnown, BilevelProblem, Budget, Direction, EQUALITY_TOLERANCE, Failure, FailureKind, Follower, Level, LevelSpec,
    LowerConstraints, OracleAnswer, Outcome, ProblemSpec, SpecError,
};
pub use bilevo_core::record::{
    Accuracy, Evaluations, Fate, GenerationRecord, LowerSearches, Solution, Step, StopReason, Summary, Verification,
};
pub use bilevo_core::solved::{Tolerances, solved};
pub use bilevo_core::space::{Kind, Space, SpaceError, Variable};
pub use bilevo_core::{config, methods, printable, record, settings};
pub use bilevo_problems as problems;
pub use checkpoint::{Checkpoint, CheckpointError, Saved};
pub use doubts::{Doubt, Warning};
pub use evaluate::{Evaluator, EvaluatorError, Serial, Threads, TimeLimits};
pub use files::FileError;
pub use functions::Functions;
pub use id::RunId;
pub use known::{Evaluation, KnownError};
pub use observe::{Event, History, Observer};
pub use policy::{AfterFailure, FailurePolicy};
pub use result::{Names, RunResult, Status, Times};
pub use run::{Run, RunError, RunOptions, Saving, run};
pub use solver::Solver;
pub use source::{Source, SourceError};
pub use trace::TraceWriter;

/// The version of bilevo, as checkpoints and records carry it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
