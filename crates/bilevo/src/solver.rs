//! From a problem to a result: a builder for runs.
//!
//! ```
//! use bilevo::{Solver, source};
//! let smd1 = source::open("smd1", Some((2, 3)))?;
//! let result = Solver::new(&*smd1).method("cr-bl-cma-es").seed(3).max_upper_evals(500).run()?;
//! println!("F = {:?} at x = {:?}, y = {:?}", result.upper_value(), result.x(), result.y());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::audit::around::{self, Surroundings};
use crate::audit::{AuditOptions, Position};
use crate::checkpoint::{Checkpoint, Slot};
use crate::observe::Observer;
use crate::policy::FailurePolicy;
use crate::prove::{self, ProveOptions};
use crate::result::RunResult;
use crate::run::{Run, RunError, RunOptions, Saving};
use crate::source::Source;
use bilevo_core::Engine;
use bilevo_core::config::{Budgets, Config, ConfigError, PositionKind};
use bilevo_core::engine::{Evaluation, Start};
use bilevo_core::methods::{self, Choice};
use bilevo_problems::file::Labels;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A builder for a run: the problem, the method, and how to run it.
pub struct Solver<'a> {
    source: &'a dyn Source,
    method: String,
    config: Option<Config>,
    settings: Vec<(String, String)>,
    seed: Option<u64>,
    starts: Vec<Start>,
    known: Vec<Evaluation>,
    resume: Option<Checkpoint>,
    jobs: usize,
    options: RunOptions,
    audit: Option<AuditOptions>,
    prove: Option<ProveOptions>,
    observers: Vec<&'a mut dyn Observer>,
}

impl<'a> Solver<'a> {
    /// A run of a problem by the default method, on one thread.
    pub fn new(source: &'a dyn Source) -> Self {
        Solver {
            source,
            method: methods::AUTO.into(),
            config: None,
            settings: Vec::new(),
            seed: None,
            starts: Vec::new(),
            known: Vec::new(),
            resume: None,
            jobs: 1,
            options: RunOptions::default(),
            audit: None,
            prove: None,
            observers: Vec::new(),
        }
    }

    /// The method, by its name.
    pub fn method(mut self, name: impl Into<String>) -> Self {
        self.method = name.into();
        self
    }

    /// Replaces all settings of the method at once; [`Solver::method`] then only names them.
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Changes one setting by its path, as in `allocator.window` = `48`.
    pub fn set(mut self, path: impl Into<String>, value: impl ToString) -> Self {
        self.settings.push((path.into(), value.to_string()));
        self
    }

    /// When the run has searched enough: `local`, `quick`, `normal`, `thorough` or `budget` (default method
    /// only).
    pub fn effort(self, effort: impl ToString) -> Self {
        self.set("portfolio.effort", effort)
    }

    /// Limits the evaluations of both levels together, to within one batch.
    pub fn max_evals(self, count: u64) -> Self {
        self.set("stop.max_evals", count)
    }

    /// Limits the upper evaluations; the current generation is finished first.
    pub fn max_upper_evals(self, count: u64) -> Self {
        self.set("stop.max_upper_evals", count)
    }

    /// Limits the lower evaluations; the current batch is finished first.
    pub fn max_lower_evals(self, count: u64) -> Self {
        self.set("stop.max_lower_evals", count)
    }

    /// The seed of all random numbers; by default a random one. The result reports it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Starts at given points. With a follower's own solver, all of them are tried; otherwise only the first.
    pub fn start_at(mut self, starts: impl IntoIterator<Item = Start>) -> Self {
        self.starts.extend(starts);
        self
    }

    /// Uses evaluations of earlier runs ([`crate::known`]), which are then not repeated. The default method
    /// learns from all of them; others start at the best.
    pub fn known(mut self, rows: impl IntoIterator<Item = Evaluation>) -> Self {
        self.known.extend(rows);
        self
    }

    /// Continues a saved run with its method, settings and seed. Only its budgets may be raised, with
    /// [`Solver::max_upper_evals`], [`Solver::max_lower_evals`] and [`Solver::max_evals`].
    pub fn resume(mut self, checkpoint: Checkpoint) -> Self {
        self.resume = Some(checkpoint);
        self
    }

    /// Number of threads or processes that evaluate; 0 means one per processor. It does not change the
    /// result.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs;
        self
    }

    /// Saves the run to this file every two seconds and at its end.
    pub fn checkpoint(self, path: impl Into<PathBuf>) -> Self {
        self.saving(Saving::to(path))
    }

    /// Says when and where to save the run.
    pub fn saving(mut self, saving: Saving) -> Self {
        self.options.saving = Some(saving);
        self
    }

    /// Wall time after which the run stops; see [`RunOptions::time_limit`].
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.options.time_limit = Some(limit);
        self
    }

    /// The longest time that one evaluation may take; see [`RunOptions::eval_timeout`].
    pub fn eval_timeout(mut self, limit: Duration) -> Self {
        self.options.eval_timeout = Some(limit);
        self
    }

    /// What happens to failed evaluations.
    pub fn policy(mut self, policy: FailurePolicy) -> Self {
        self.options.policy = policy;
        self
    }

    /// A flag that stops the run after the current batch once it is set.
    pub fn stop_flag(mut self, flag: Arc<AtomicBool>) -> Self {
        self.options.stop = flag;
        self
    }

    /// Checks the follower's answer when the run has ended ([`mod@crate::audit`]). Seed and stop flag
    /// are those of the run.
    pub fn audit(mut self, options: AuditOptions) -> Self {
        self.audit = Some(options);
        self
    }

    /// Proves the leader's value when the run has ended, if the formulas are known
    /// ([`mod@crate::prove`]), and adopts better decisions found on the way.
    pub fn prove(mut self, options: ProveOptions) -> Self {
        self.prove = Some(options);
        self
    }

    /// Which answer counts if several are equally good for the follower. The search judges every decision by that
    /// answer, which costs an upper evaluation for each lower one, and an audit reports it. This overrides the
    /// position in a problem file.
    pub fn position(mut self, position: Position) -> Self {
        self.audit.get_or_insert_default();
        self.set("position.kind", position)
    }

    /// An observer, which is notified of what happens.
    pub fn observer(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observers.push(observer);
        self
    }

    /// Runs until the run ends or something stops it.
    ///
    /// # Errors
    /// A wrong method, setting or problem, and everything else in [`RunError`].
    pub fn run(mut self) -> Result<RunResult, RunError> {
        let mut observers = std::mem::take(&mut self.observers);
        self.ready()?.go(&mut observers)
    }

    /// Checks everything, and stops just before the first evaluation.
    ///
    /// # Errors
    /// As for [`Solver::run`].
    pub fn ready(self) -> Result<Ready<'a>, RunError> {
        let Solver {
            source, method, config, settings, seed, starts, known, resume, jobs, options, audit, prove, ..
        } = self;
        let run = match resume {
            Some(checkpoint) => resumed(source, checkpoint, &settings)?,
            None => {
                let (method, config, notice) = chosen(source, method, config, &settings)?;
                let engine = Engine::new(source.spec().clone(), config, seed.unwrap_or_else(draw_seed))?;
                let mut run = Run::new(engine, method).of_source(source.place(), source.hash()).with_notice(notice);
                run.recall(&known)?;
                run.start_at(&starts)?;
                run
            }
        };
        // If the problem has a position, the end of the run is judged by it as well.
        let takes_position = source.spec().position != PositionKind::Any;
        let audit = audit.or_else(|| takes_position.then(AuditOptions::default));
        if audit.is_some() && source.spec().is_oracle_alone() {
            let reason = "an audit needs the follower's objective, and this problem has only a solver for the follower; leave the audit out, or add the objective";
            let (field, got) = ("audit".into(), "on".into());
            return Err(ConfigError::Invalid { field, got, reason: reason.into() }.into());
        }
        Ok(Ready { run, options, audit, prove, source, jobs, slot: None })
    }
}

/// The method under its own name, with its settings, and a notice about it, if any. If the caller gave all settings
/// at once, they are never replaced and keep their name.
fn chosen(
    source: &dyn Source,
    method: String,
    config: Option<Config>,
    settings: &[(String, String)],
) -> Result<(String, Config, Option<String>), ConfigError> {
    let Some(mut config) = config else {
        let Choice { method, config, notice } = methods::choose(&method, source.spec(), settings)?;
        return Ok((method.name(), config, notice));
    };
    config.set_all(settings.iter().map(|(path, value)| (path.as_str(), value.as_str())))?;
    Ok((methods::find(&method).map_or(method, |method| method.name()), config, None))
}

/// The saved run, if it belongs to this problem, with larger budgets if `settings` ask for them.
fn resumed(source: &dyn Source, checkpoint: Checkpoint, settings: &[(String, String)]) -> Result<Run, RunError> {
    let saved = &checkpoint.header.id;
    if checkpoint.engine.spec() != source.spec() {
        return Err(RunError::OtherProblem { expected: saved.problem.clone(), got: source.id().into() });
    }
    if saved.problem_hash != source.hash() {
        return Err(RunError::ChangedProblem { place: source.place().into() });
    }
    let mut run = Run::resume(checkpoint).of_source(source.place(), source.hash());
    for (path, value) in settings {
        let mut wanted = run.engine().config().clone();
        wanted.set(path, value)?;
        match path.as_str() {
            "stop.max_upper_evals" | "stop.max_lower_evals" | "stop.max_evals" => {
                run.extend(Budgets::from(&wanted.stop))?;
            }
            _ if wanted != *run.engine().config() => return Err(RunError::HasStarted { setting: path.clone() }),
            _ => {}
        }
    }
    Ok(run)
}

/// Thirty-two bits are enough to distinguish runs, and short enough to type.
fn draw_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

/// A run with everything it needs, ready to start.
pub struct Ready<'a> {
    /// The run.
    pub run: Run,
    /// Its options.
    pub options: RunOptions,
    audit: Option<AuditOptions>,
    prove: Option<ProveOptions>,
    source: &'a dyn Source,
    jobs: usize,
    slot: Option<Slot>,
}

impl Ready<'_> {
    /// Claims the file to which the run will be saved, before anything else is touched.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn claim(&mut self) -> Result<(), RunError> {
        self.slot = self.run.claim(&self.options)?;
        Ok(())
    }

    /// Runs until the end, or until something stops it. Call it again to continue a stopped run.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn go(&mut self, observers: &mut [&mut dyn Observer]) -> Result<RunResult, RunError> {
        if self.slot.is_none() {
            self.claim()?;
        }
        let mut evaluator = self.source.evaluator(self.jobs)?;
        let (slot, audit) = (self.slot.take(), self.audit.as_ref());
        let mut result = self.run.go_audited_with(slot, &mut *evaluator, &self.options, audit, observers)?;
        prove::conclude(self.source, &mut result, self.run.engine(), self.prove.as_ref());
        Ok(result)
    }

    /// Units and constraints of the problem in words, for reports.
    pub fn labels(&self) -> Labels {
        self.source.labels()
    }

    /// Explores the neighbourhood of the answer of a finished run ([`around`]), with at most about `evaluations`
    /// evaluations; by default a tenth of the run's, or two seconds' worth if that is more.
    ///
    /// # Errors
    /// The problem cannot be evaluated.
    pub fn look_around(&self, result: &RunResult, evaluations: Option<u64>) -> Result<Surroundings, RunError> {
        let Some(solution) = &result.solution else { return Ok(Surroundings::default()) };
        let mut evaluator = self.source.evaluator(self.jobs)?;
        let options = AuditOptions { stop: Arc::clone(&self.options.stop), ..AuditOptions::default() };
        let evaluations = evaluations.unwrap_or_else(|| around::allowance(result));
        Ok(around::look_around(&mut *evaluator, solution, evaluations, &options))
    }
}
