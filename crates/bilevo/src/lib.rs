//! Bilevel (leader-follower) optimisation by evolution.
//!
//! The algorithms live in `bilevo-core` as a pure engine that asks for evaluations; this crate
//! runs it: [`evaluate`] answers its batches (serial or on threads), [`run`](mod@run) is the loop,
//! [`checkpoint`] saves and resumes, [`observe`] and [`trace`] watch, [`result`] is what comes out.
//!
//! ```no_run
//! use bilevo::{Config, Engine, Run, RunOptions, Serial, BilevelProblem};
//! # fn go(problem: impl BilevelProblem) -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::named("cr-tlea-cma-es")?;
//! let engine = Engine::new(problem.spec().clone(), config, 1)?;
//! let mut run = Run::new(engine, "cr-tlea-cma-es");
//! let result = run.go(&mut Serial::new(&problem), &RunOptions::default(), &mut [])?;
//! println!("{:?} {:?}", result.x, result.y);
//! # Ok(())
//! # }
//! ```

pub mod audit;
pub mod checkpoint;
pub mod evaluate;
pub mod files;
pub mod id;
pub mod observe;
mod panics;
pub mod policy;
#[cfg(unix)]
pub mod program;
pub mod result;
pub mod run;
#[doc(hidden)]
pub mod testing;
pub mod trace;

pub use bilevo_core::batch::{Answers, Batch, Replies, check_reply};
pub use bilevo_core::config::{Config, ConfigError};
pub use bilevo_core::engine::{Ask, Engine, TellError};
pub use bilevo_core::problem::{
    BestKnown, BilevelProblem, Budget, Direction, Failure, FailureKind, Level, LevelSpec, LowerConstraints, Outcome,
    ProblemSpec, SpecError,
};
pub use bilevo_core::record::{Accuracy, Evaluations, GenerationRecord, LowerSearches, Solution, StopReason, Summary};
pub use bilevo_core::solved::{Tolerances, solved};
pub use bilevo_core::{config, methods, record};
pub use bilevo_problems as problems;
pub use checkpoint::{Checkpoint, CheckpointError};
pub use evaluate::{Evaluator, EvaluatorError, Serial, Threads};
pub use id::RunId;
pub use observe::{Event, History, Observer};
pub use policy::{AfterFailure, FailurePolicy};
pub use result::{RunResult, Status};
pub use run::{Run, RunError, RunOptions, Saving, run};
pub use trace::TraceWriter;

/// The version of bilevo, as checkpoints and records carry it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
