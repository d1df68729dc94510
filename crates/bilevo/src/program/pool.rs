//! The evaluator: a pool of programs for each command, and the assignment of points to them.
//!
//! Everything happens on the calling thread: no read or write of a pipe can block, and every wait has a deadline.

use super::guard::Guard;
use super::plan::Plan;
use super::process::ready;
use super::protocol::Answer;
use super::worker::{Done, Setting, Worker};
use crate::evaluate::{Evaluator, EvaluatorError, TimeLimits};
use bilevo_core::batch::{Batch, Replies, check_reply};
use bilevo_core::problem::{Failure, FailureKind, ProblemSpec};
use bilevo_problems::program::{Commands, ProgramSpec};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long programs may take to exit by themselves when they are no longer needed.
const FAREWELL: Duration = Duration::from_secs(2);

/// Evaluates points by external programs.
#[derive(Debug)]
pub struct Program {
    spec: ProgramSpec,
    plans: Vec<Plan>,
    workers: Vec<Vec<Worker>>,
    answers: Vec<Option<Result<Answer, Failure>>>,
    failures_in_a_row: u32,
    limits: TimeLimits,
    guard: Guard,
}

impl Program {
    /// An evaluator with at most `jobs` processes for each command; 0 means one per processor. Processes are started
    /// when they are needed.
    ///
    /// # Errors
    /// The description makes no sense.
    pub fn new(spec: ProgramSpec, jobs: usize) -> Result<Self, EvaluatorError> {
        let plans = plans(&spec)?;
        let refused = |message: String| refused(&spec, message);
        let guard = Guard::start(plans.iter().any(Plan::needs_folder))
            .map_err(|error| refused(format!("the watchdog of its programs could not be started: {error}")))?;
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = if jobs == 0 { processors() } else { jobs };
        let workers = plans.iter().map(|_| (0..jobs).map(|_| Worker::default()).collect()).collect();
        let limits = TimeLimits::default();
        Ok(Program { spec, plans, workers, answers: Vec::new(), failures_in_a_row: 0, limits, guard })
    }

    /// Rejects a description that makes no sense, without starting anything.
    ///
    /// # Errors
    /// As for [`Program::new`].
    pub fn check(spec: &ProgramSpec) -> Result<(), EvaluatorError> {
        plans(spec).map(drop)
    }

    /// Lets the pool for the batch's level answer all its points.
    fn work(&mut self, batch: &Batch) -> Result<(), EvaluatorError> {
        let pool = match batch.kind() {
            "follower" if self.spec.follower.is_none() => 0,
            "follower" => self.plans.len() - 1,
            "lower" if matches!(self.spec.commands, Commands::Each { .. }) => 1,
            _ => 0,
        };
        let (plan, workers) = (&self.plans[pool], &mut self.workers[pool]);
        let mut setting = Setting { spec: &self.spec, plan, batch, guard: &mut self.guard };
        let mut queue = cut(batch.len(), plan.batch(), workers.len());
        let cannot_start = |error: std::io::Error| {
            let (program, folder) = (plan.program.display(), self.spec.folder.display());
            EvaluatorError::new(format!(
                "`{program}` could not be started: {error}\nhint: a name with a slash is relative to `{folder}`, others are looked for in PATH"
            ))
        };
        loop {
            for worker in workers.iter_mut().filter(|worker| !worker.is_busy()) {
                let Some(points) = queue.pop_front() else { break };
                worker.begin(points, &mut setting).map_err(cannot_start)?;
            }
            if workers.iter().all(|worker| !worker.is_busy()) {
                return Ok(());
            }
            if self.limits.is_over() {
                return Err(EvaluatorError::out_of_time());
            }
            for index in wait(workers, self.limits.end) {
                let Some(done) = workers[index].advance(&mut setting).map_err(cannot_start)? else { continue };
                let latest = settle(done, &mut queue, &mut self.answers);
                self.failures_in_a_row =
                    count_failures(&self.spec, batch, &self.answers, &latest, self.failures_in_a_row)?;
            }
        }
    }
}

fn refused(spec: &ProgramSpec, message: String) -> EvaluatorError {
    EvaluatorError::new(format!("`{}`: {message}", spec.problem.name))
}

/// One plan for both levels, or one for each; the last is that of the follower's own solver, if it has its own.
fn plans(spec: &ProgramSpec) -> Result<Vec<Plan>, EvaluatorError> {
    spec.check().map_err(|error| refused(spec, error.to_string()))?;
    let levels = match &spec.commands {
        Commands::Both(both) => vec![both],
        Commands::Each { upper, lower } => vec![upper, lower],
    };
    let commands = levels.into_iter().chain(&spec.follower);
    let plans = commands.map(|command| Plan::new(spec, command)).collect::<Result<Vec<_>, _>>();
    plans.map_err(|message| refused(spec, message))
}

impl Evaluator for Program {
    fn spec(&self) -> &ProblemSpec {
        &self.spec.problem
    }

    fn is_one_by_one(&self) -> bool {
        self.workers.iter().all(|workers| workers.len() == 1)
    }

    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError> {
        self.answers.clear();
        self.answers.resize(batch.len(), None);
        if let Err(error) = self.work(batch) {
            // A program that is still busy would answer the wrong question next time.
            self.workers.iter_mut().flatten().for_each(|worker| worker.dismiss(&mut self.guard));
            return Err(error);
        }
        for answer in self.answers.drain(..) {
            match answer {
                Some(Ok(Answer { given: Some(given), .. })) => replies.push_answer(&self.spec.problem, given),
                Some(Ok(answer)) => replies.push(&self.spec.problem, answer.value, &answer.constraints),
                Some(Err(failure)) => replies.push_failure(failure),
                None => replies.push_failure(Failure::new(FailureKind::Error, "the evaluation was not made")),
            }
        }
        Ok(())
    }

    fn limit(&mut self, limits: TimeLimits) {
        self.spec.timeout = limits.each.unwrap_or(self.spec.timeout);
        self.limits = limits;
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let end = Instant::now() + FAREWELL;
        self.workers.iter_mut().flatten().for_each(Worker::hang_up);
        for worker in self.workers.iter_mut().flatten() {
            worker.end(end.saturating_duration_since(Instant::now()), &mut self.guard);
        }
    }
}

/// Divides the points 0 .. `points` into requests of at most `batch`, so that every worker has one.
fn cut(points: usize, batch: usize, workers: usize) -> VecDeque<Vec<usize>> {
    let size = points.div_ceil(workers.max(1)).clamp(1, batch.max(1));
    (0..points).step_by(size).map(|start| (start..points.min(start + size)).collect()).collect()
}

/// Waits until something happens to a busy worker, or the run has to end; returns the workers to look at.
fn wait(workers: &[Worker], end: Option<Instant>) -> Vec<usize> {
    let mut interests = Vec::new();
    let mut owners = Vec::new();
    for (index, worker) in workers.iter().enumerate() {
        worker.interests(&mut interests);
        owners.resize(interests.len(), index);
    }
    let deadline = workers.iter().filter_map(Worker::deadline).chain(end).min().unwrap_or_else(Instant::now);
    let patience = workers.iter().map(Worker::patience).min().unwrap_or_default();
    ready(&mut interests, deadline.saturating_duration_since(Instant::now()).min(patience));
    let now = Instant::now();
    let happened = |index: usize, worker: &Worker| {
        let event = owners.iter().zip(&interests).any(|(owner, fd)| *owner == index && !fd.revents().is_empty());
        event || worker.patience() < Duration::MAX || worker.deadline().is_some_and(|deadline| now >= deadline)
    };
    workers.iter().enumerate().filter(|(index, worker)| happened(*index, worker)).map(|(index, _)| index).collect()
}

/// Stores the answers of a job and returns its points. If several points failed together, they are asked again one by
/// one, so that a bad one does not spoil the others.
fn settle(done: Done, queue: &mut VecDeque<Vec<usize>>, answers: &mut [Option<Result<Answer, Failure>>]) -> Vec<usize> {
    match done.answers {
        Ok(all) => done.points.iter().zip(all).for_each(|(&point, answer)| answers[point] = Some(answer)),
        Err(_) if done.points.len() > 1 => {
            done.points.iter().rev().for_each(|&point| queue.push_front(vec![point]));
            return Vec::new();
        }
        Err(failure) => done.points.iter().for_each(|&point| answers[point] = Some(Err(failure.clone()))),
    }
    done.points
}

/// The number of breakdowns in a row after the latest answers. A program that reports that it has no value works
/// correctly.
///
/// # Errors
/// There are too many.
fn count_failures(
    spec: &ProgramSpec,
    batch: &Batch,
    answers: &[Option<Result<Answer, Failure>>],
    latest: &[usize],
    mut in_a_row: u32,
) -> Result<u32, EvaluatorError> {
    for answer in latest.iter().filter_map(|&point| answers[point].as_ref()) {
        let checked = match answer {
            Ok(Answer { given: Some(given), .. }) => given.check(&spec.problem),
            Ok(answer) => check_reply(&spec.problem, batch.level(), answer.value, &answer.constraints).map(drop),
            Err(failure) => Err(failure.clone()),
        };
        let says_so = |failure: &Failure| matches!(failure.kind, FailureKind::Error | FailureKind::NotFinite);
        in_a_row = if checked.as_ref().err().is_none_or(says_so) { 0 } else { in_a_row + 1 };
        if let (Err(failure), true) = (checked, in_a_row >= spec.max_failures) {
            return Err(EvaluatorError::new(format!(
                "{in_a_row} evaluations of `{}` failed one after the other, the last one with: {failure}\nhint: fix the program, or raise `max_failures` in the problem file",
                spec.problem.name
            )));
        }
    }
    Ok(in_a_row)
}
