//! The run loop: connects an engine and an evaluator, keeps time, saves, and notifies observers.
//!
//! A run can stop between any two batches. If something ends it early (Ctrl-C, a time limit, a failed evaluation
//! under the policy `stop`), a checkpoint can continue from the same state: the open batch is simply asked for
//! again.

mod audited;
mod by_hand;
mod pace;
mod session;

use crate::checkpoint::{Checkpoint, CheckpointError, Header, Saved, Slot, State};
use crate::evaluate::{Evaluator, EvaluatorError};
use crate::id::RunId;
use crate::known;
use crate::observe::Observer;
use crate::panics;
use crate::policy::FailurePolicy;
use crate::result::{Names, RunResult, Status, Times};
use bilevo_core::config::{Budgets, ConfigError};
use bilevo_core::engine::{Engine, Evaluation, KnownError, Start, StartError, TellError};
use bilevo_core::problem::{Failure, Level};
use session::Session;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// When and where a run is saved.
#[derive(Clone, Debug)]
pub struct Saving {
    /// The file.
    pub path: PathBuf,
    /// Wall time between two checkpoints.
    pub every: Duration,
    /// If given, the run is also saved after this many batches.
    pub every_batches: Option<u64>,
}

impl Saving {
    /// Saves to `path` at the start, every two seconds, and at the end.
    pub fn to(path: impl Into<PathBuf>) -> Self {
        Saving { path: path.into(), every: Duration::from_secs(2), every_batches: None }
    }
}

/// Options of a run. None of them changes its answers.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// What happens to failed evaluations.
    pub policy: FailurePolicy,
    /// Checkpoints, if wanted.
    pub saving: Option<Saving>,
    /// Wall time after which the run stops, including earlier sessions and the audit. An evaluation in progress
    /// is ended too, if the evaluator supports that.
    pub time_limit: Option<Duration>,
    /// The longest time that one evaluation may take, if the evaluator can end it; it then counts as failed.
    pub eval_timeout: Option<Duration>,
    /// Set it (from another thread, a signal handler) to stop after the current batch.
    pub stop: Arc<AtomicBool>,
}

/// Why a run ended with an error. The run itself can be saved and resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The evaluator belongs to another problem than the engine.
    #[error("the run belongs to the problem `{expected}`, not to `{got}`{}", same_name(.expected, .got))]
    OtherProblem {
        /// The engine's problem.
        expected: String,
        /// The evaluator's problem.
        got: String,
    },
    /// The problem's file has changed since the run was saved.
    #[error(
        "`{place}`, or a file of its program, has changed since the run was saved\nhint: start a new run, or bring back the file as it was"
    )]
    ChangedProblem {
        /// The file.
        place: String,
    },
    /// Only budgets can change in a run that has started.
    #[error("`{setting}` cannot be changed in a run that has started\nhint: leave it out, or start a new run")]
    HasStarted {
        /// Path of the setting.
        setting: String,
    },
    /// A method or a setting is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The run cannot start at a given point.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Known evaluations that do not fit the problem.
    #[error(transparent)]
    Known(#[from] KnownError),
    /// An evaluation failed and the policy is to stop.
    #[error(
        "{level} evaluation {id} failed: {failure}{}\nhint: fix the problem and resume, or let failed evaluations count as worst",
        place(.names.as_deref(), .x, .y)
    )]
    Evaluation {
        /// Its level.
        level: Level,
        /// Number of the point within the run.
        id: u64,
        /// The leader's decision.
        x: Vec<f64>,
        /// The follower's answer.
        y: Vec<f64>,
        /// The names of both, if they have any.
        names: Option<Box<Names>>,
        /// What went wrong.
        failure: Failure,
    },
    /// A function fails everywhere in the same way.
    #[error(
        "every {level} evaluation failed in the same way, at all of {points} points spread over the box: {failure}\n  the first of them:{}\nhint: this looks like a mistake in the function; if it works in a small part of the box only, let it return NaN elsewhere",
        place(.names.as_deref(), .x, .y)
    )]
    Mistake {
        /// Its level.
        level: Level,
        /// How many points failed in that way.
        points: usize,
        /// The leader's decision at the first of them.
        x: Vec<f64>,
        /// The follower's answer at the first of them.
        y: Vec<f64>,
        /// The names of both, if they have any.
        names: Option<Box<Names>>,
        /// What went wrong.
        failure: Failure,
    },
    /// The evaluator cannot continue.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    /// The evaluator's replies do not fit the batch.
    #[error("the evaluator broke its contract: {0}")]
    Tell(#[from] TellError),
    /// The engine itself failed; what was saved before stays as it is.
    #[error(
        "the engine failed: {message}\nhint: if the run was resumed, its checkpoint may have been tampered with; otherwise please report this as a bug"
    )]
    Internal {
        /// What happened, and where.
        message: String,
    },
    /// There is no place to save to.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// A point, with each variable on its own line.
fn place(names: Option<&Names>, x: &[f64], y: &[f64]) -> String {
    let Some(names) = names else { return format!("\n  x = {x:?}\n  y = {y:?}") };
    let pairs = names.x.iter().zip(x).chain(names.y.iter().zip(y));
    pairs.map(|(name, value)| format!("\n  {name} = {value:?}")).collect()
}

fn same_name(expected: &str, got: &str) -> &'static str {
    if expected == got { " with other sizes, boxes or constraints" } else { "" }
}

/// A run: an engine, its identity, and the time it has taken.
#[derive(Debug)]
pub struct Run {
    engine: Engine,
    id: RunId,
    /// The identity of the run before its budget was raised.
    earlier: Option<RunId>,
    source: String,
    times: Times,
    notice: Option<String>,
}

/// Runs an engine to its end with default options; see [`Run`] for checkpoints and the rest.
///
/// # Errors
/// See [`RunError`].
pub fn run(
    engine: Engine,
    evaluator: &mut dyn Evaluator,
    observers: &mut [&mut dyn Observer],
) -> Result<RunResult, RunError> {
    Run::new(engine, "").go(evaluator, &RunOptions::default(), observers)
}

impl Run {
    /// A run of `engine`; `method` is the name that results and checkpoints give it.
    pub fn new(engine: Engine, method: impl Into<String>) -> Self {
        let id = RunId::new(&engine, method, "");
        Run { source: id.problem.clone(), engine, id, earlier: None, times: Times::default(), notice: None }
    }

    /// Sets the name under which the problem can be found again (a file, say), and the hash of its definition.
    pub fn of_source(mut self, source: impl Into<String>, hash: impl Into<String>) -> Self {
        self.source = source.into();
        self.id.problem_hash = hash.into();
        self
    }

    /// Adds a notice to the run's result.
    pub fn with_notice(mut self, notice: Option<String>) -> Self {
        self.notice = notice;
        self
    }

    /// Starts at given points instead of random ones; a notice says if the method uses only the first.
    ///
    /// # Errors
    /// A place outside of the problem's boxes, or a run that has begun.
    pub fn start_at(&mut self, starts: &[Start]) -> Result<(), StartError> {
        let taken = self.engine.start_at(starts)?;
        if taken < starts.len() {
            self.add_notice(format!("{} starts at one point only, the first of {}", self.id().method, starts.len()));
        }
        Ok(())
    }

    /// Uses evaluations of earlier runs, which are then not repeated. A notice says which were ignored, and if
    /// the method makes little use of them. Call it before [`Run::start_at`].
    ///
    /// # Errors
    /// Rows that do not fit the problem, or a run that has begun.
    pub fn recall(&mut self, rows: &[Evaluation]) -> Result<(), KnownError> {
        let recalled = self.engine.recall(rows)?;
        known::words(&recalled, rows.len(), &self.id.method).into_iter().for_each(|words| self.add_notice(words));
        Ok(())
    }

    fn add_notice(&mut self, words: String) {
        self.notice = Some(match self.notice.take() {
            Some(notice) => format!("{notice}; {words}"),
            None => words,
        });
    }

    /// The notice for the result.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// A saved run.
    pub fn resume(checkpoint: Checkpoint) -> Self {
        let Checkpoint { header, engine, times } = checkpoint;
        Run { engine, id: header.id, earlier: None, source: header.source, times, notice: None }
    }

    /// Raises the budgets that are given; a run that had used them up continues.
    ///
    /// # Errors
    /// See [`Engine::extend`].
    pub fn extend(&mut self, budgets: Budgets) -> Result<(), ConfigError> {
        self.engine.extend(budgets)?;
        let id = RunId::new(&self.engine, self.id.method.clone(), self.id.problem_hash.clone());
        if id != self.id {
            let before = std::mem::replace(&mut self.id, id);
            self.earlier.get_or_insert(before);
        }
        Ok(())
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The identity of the run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// The header of its checkpoint.
    pub fn header(&self) -> Header {
        let summary = self.engine.summary();
        Header {
            id: self.id.clone(),
            source: self.source.clone(),
            evaluations: summary.evaluations.total(),
            finished: summary.stop.is_some(),
        }
    }

    /// When this session has to end, if the whole run may take `limit`.
    fn end_of(&self, limit: Option<Duration>) -> Option<Instant> {
        let before = Duration::try_from_secs_f64(self.times.seconds).unwrap_or_default();
        Instant::now().checked_add(limit?.saturating_sub(before))
    }

    fn result(&self, stop: Status) -> RunResult {
        let result = RunResult::new(self.id.clone(), &self.engine, stop, self.times);
        RunResult { notice: self.notice.clone(), ..result }
    }

    /// The run in its current state.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { header: self.header(), engine: self.engine.clone(), times: self.times }
    }

    fn state(&self) -> State<'_> {
        State { header: self.header(), earlier: self.earlier.as_ref(), engine: &self.engine, times: self.times }
    }

    /// Writes the run in its current state, unless the file holds a later state of the same run.
    ///
    /// # Errors
    /// See [`CheckpointError`].
    pub fn save(&self, path: &Path) -> Result<Saved, CheckpointError> {
        Slot::new(path).save(&self.state())
    }

    /// Runs until the end, or until something stops it. Call it again to continue a stopped run.
    ///
    /// # Errors
    /// See [`RunError`]; a checkpoint, if wanted, has been written before.
    pub fn go(
        &mut self,
        evaluator: &mut dyn Evaluator,
        options: &RunOptions,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunResult, RunError> {
        let mut slot = self.claim(options)?;
        self.go_with(slot.as_mut(), evaluator, options, observers)
    }

    /// Claims the file to which the run will be saved, if any.
    pub(crate) fn claim(&self, options: &RunOptions) -> Result<Option<Slot>, RunError> {
        let mut slot = options.saving.as_ref().map(|saving| Slot::new(&saving.path));
        if let Some(slot) = &mut slot {
            slot.claim(&self.state())?;
        }
        Ok(slot)
    }

    pub(crate) fn go_with(
        &mut self,
        slot: Option<&mut Slot>,
        evaluator: &mut dyn Evaluator,
        options: &RunOptions,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunResult, RunError> {
        if evaluator.spec() != self.engine.spec() {
            let (expected, got) = (self.engine.spec().name.clone(), evaluator.spec().name.clone());
            return Err(RunError::OtherProblem { expected, got });
        }
        let mut session = Session::new(self, options, slot, observers);
        let ended = session.until_end(evaluator);
        session.end(ended)
    }
}

/// Calls the engine. A consistent state never makes it panic; a state from a file with a forged checksum may, and
/// that must not crash the program.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, RunError> {
    panics::quietly(call).map_err(|message| RunError::Internal { message })
}
