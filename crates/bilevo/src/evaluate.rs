//! Ways to answer a batch: one point after another, or on a pool of threads.
//!
//! The answers and their order do not depend on the evaluator. If user code panics, that point fails, and nothing is
//! printed.

use crate::panics::{self, Quiet};
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::problem::{BilevelProblem, Failure, FailureKind, Level, OracleAnswer, ProblemSpec};
use rayon::prelude::*;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Answers batches: the boundary between the engine and user code.
pub trait Evaluator {
    /// The problem whose points are evaluated.
    fn spec(&self) -> &ProblemSpec;

    /// Evaluates every point of `batch` and appends one answer for each, in order, to `replies`, which is empty at
    /// the start. A point that fails is a failed reply, not an error.
    ///
    /// # Errors
    /// Nothing can be evaluated any more; the run is saved and ends.
    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError>;

    /// Sets how long the following batches may take. An evaluator that can end an evaluation in progress (in
    /// another process, say) must comply; others need not.
    fn limit(&mut self, limits: TimeLimits) {
        let _ = limits;
    }

    /// Whether points are evaluated one after another, so that a slow batch can be passed in pieces without loss.
    fn is_one_by_one(&self) -> bool {
        false
    }
}

/// The same evaluations, for a problem seen in another box.
pub(crate) struct Within<'a> {
    evaluator: &'a mut dyn Evaluator,
    spec: Option<ProblemSpec>,
}

impl<'a> Within<'a> {
    pub(crate) fn new(evaluator: &'a mut dyn Evaluator, spec: Option<ProblemSpec>) -> Self {
        Within { evaluator, spec }
    }
}

impl Evaluator for Within<'_> {
    fn spec(&self) -> &ProblemSpec {
        self.spec.as_ref().unwrap_or_else(|| self.evaluator.spec())
    }

    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError> {
        self.evaluator.evaluate(batch, replies)
    }

    fn limit(&mut self, limits: TimeLimits) {
        self.evaluator.limit(limits);
    }

    fn is_one_by_one(&self) -> bool {
        self.evaluator.is_one_by_one()
    }
}

/// How long evaluations may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeLimits {
    /// When the run has to end, even during an evaluation ([`EvaluatorError::out_of_time`]).
    pub end: Option<Instant>,
    /// The longest one evaluation may take, in place of the evaluator's own limit; longer ones fail.
    pub each: Option<Duration>,
}

impl TimeLimits {
    /// Whether the run has to end now.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// An evaluator cannot continue.
#[derive(Debug, thiserror::Error)]
#[error("the evaluator gave up: {message}")]
pub struct EvaluatorError {
    /// What happened.
    pub message: String,
    /// Whether the only reason is that the time of the run is used up.
    pub is_out_of_time: bool,
}

impl EvaluatorError {
    /// An error with its message.
    pub fn new(message: impl Into<String>) -> Self {
        EvaluatorError { message: message.into(), is_out_of_time: false }
    }

    /// The time of the run was used up during an evaluation. The run ends as with any time limit and can be
    /// continued.
    pub fn out_of_time() -> Self {
        EvaluatorError { message: "the time is used up".into(), is_out_of_time: true }
    }
}

/// Evaluates one point after another on the calling thread, without allocations of its own.
///
/// `P` is anything that points to a problem: `&problem`, `Box<dyn BilevelProblem>`, `Arc<…>`.
#[derive(Debug)]
pub struct Serial<P> {
    problem: P,
    constraints: Vec<f64>,
}

impl<P: Deref<Target: BilevelProblem>> Serial<P> {
    /// An evaluator of `problem`.
    pub fn new(problem: P) -> Self {
        panics::install_hook();
        Serial { problem, constraints: Vec::new() }
    }

    fn answer(&mut self, batch: &Batch, points: Range<usize>, replies: &mut Replies) {
        let _quiet = Quiet::start();
        let (problem, constraints) = (&*self.problem, &mut self.constraints);
        let mut rest = points;
        // A panic ends the inner loop at its point; the next iteration continues after it.
        while !rest.is_empty() {
            let ended = panics::catch(|| {
                while !rest.is_empty() {
                    if batch.asks_follower() {
                        replies.push_answer_result(problem.spec(), problem.follower(batch.x(rest.start)));
                    } else {
                        let result = evaluate_unguarded(problem, batch, rest.start, constraints);
                        replies.push_result(problem.spec(), result, constraints);
                    }
                    rest.start += 1;
                }
            });
            if let Err(message) = ended {
                replies.push_failure(panicked(&message));
                rest.start += 1;
            }
        }
    }
}

impl<P: Deref<Target: BilevelProblem>> Evaluator for Serial<P> {
    fn spec(&self) -> &ProblemSpec {
        self.problem.spec()
    }

    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError> {
        self.answer(batch, 0..batch.len(), replies);
        Ok(())
    }

    fn is_one_by_one(&self) -> bool {
        true
    }
}

/// Which function a batch needs: lower, upper, or the follower's own solver.
pub(crate) fn question(batch: &Batch) -> usize {
    if batch.asks_follower() { 2 } else { usize::from(batch.level() == Level::Upper) }
}

/// For a batch that takes less than this, waking other threads does not pay.
const WORTH_SHARING: Duration = Duration::from_micros(100);
/// A piece of work for a thread should take at least this long.
const CHUNK: Duration = Duration::from_micros(20);

/// Evaluates the points of a batch on a pool of threads.
///
/// It measures how long evaluations take and uses that only to divide the work: batches of cheap evaluations stay on
/// the calling thread.
#[derive(Debug)]
pub struct Threads<P> {
    serial: Serial<P>,
    pool: rayon::ThreadPool,
    answers: Vec<Evaluated>,
    /// Mean time of an evaluation in the latest batch: lower, upper, and the follower's own solver.
    cost: [Option<Duration>; 3],
}

impl<P: Deref<Target: BilevelProblem>> Threads<P> {
    /// An evaluator of `problem` on `threads` threads; 0 means one for each processor.
    ///
    /// # Errors
    /// The system refuses to start the threads.
    pub fn new(problem: P, threads: usize) -> Result<Self, EvaluatorError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("bilevo-{index}"))
            .build()
            .map_err(|error| EvaluatorError::new(format!("the threads could not be started: {error}")))?;
        Ok(Threads { serial: Serial::new(problem), pool, answers: Vec::new(), cost: [None; 3] })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Evaluates points on the pool; returns the time it took, summed over the points.
    fn share(&mut self, batch: &Batch, points: Range<usize>, cost: Duration, replies: &mut Replies) -> Duration {
        let problem = &*self.serial.problem;
        let spent = AtomicU64::new(0);
        let chunk = (CHUNK.as_nanos() / cost.as_nanos().max(1)).clamp(1, points.len() as u128) as usize;
        let evaluate = |index| {
            let start = Instant::now();
            let answer = Evaluated::new(problem, batch, index);
            spent.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            answer
        };
        self.pool.install(|| {
            points
                .into_par_iter()
                .with_min_len(chunk)
                .with_max_len(chunk)
                .map_init(Quiet::start, |_, index| evaluate(index))
                .collect_into_vec(&mut self.answers);
        });
        let spec = problem.spec();
        for answer in self.answers.drain(..) {
            match answer {
                Evaluated::Value(result, constraints) => replies.push_result(spec, result, &constraints),
                Evaluated::Answer(result) => replies.push_answer_result(spec, result),
            }
        }
        Duration::from_nanos(spent.into_inner())
    }
}

impl<P: Deref<Target: BilevelProblem>> Evaluator for Threads<P> {
    fn spec(&self) -> &ProblemSpec {
        self.serial.spec()
    }

    fn is_one_by_one(&self) -> bool {
        self.threads() == 1
    }

    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError> {
        let level = question(batch);
        let mut rest = 0..batch.len();
        let start = Instant::now();
        // The first point of a level shows how expensive the others may be.
        let cost = self.cost[level].unwrap_or_else(|| {
            self.serial.answer(batch, 0..rest.end.min(1), replies);
            rest.start = rest.end.min(1);
            start.elapsed()
        });
        let points = rest.len() as u32;
        let spent = if points > 1 && cost.saturating_mul(points) > WORTH_SHARING {
            self.share(batch, rest, cost, replies)
        } else {
            let start = Instant::now();
            self.serial.answer(batch, rest, replies);
            start.elapsed()
        };
        self.cost[level] = Some(spent.checked_div(points).unwrap_or(cost));
        Ok(())
    }
}

/// What user code returned for a point.
#[derive(Debug)]
enum Evaluated {
    /// A value and constraint values.
    Value(Result<f64, Failure>, Vec<f64>),
    /// The answer of the follower's own solver.
    Answer(Result<OracleAnswer, Failure>),
}

impl Evaluated {
    /// One evaluation of user code, panics included.
    fn new<P: BilevelProblem + ?Sized>(problem: &P, batch: &Batch, index: usize) -> Self {
        if batch.asks_follower() {
            let answer = panics::catch(|| problem.follower(batch.x(index)));
            return Evaluated::Answer(answer.unwrap_or_else(|message| Err(panicked(&message))));
        }
        let mut constraints = Vec::new();
        let value = panics::catch(|| evaluate_unguarded(problem, batch, index, &mut constraints));
        Evaluated::Value(value.unwrap_or_else(|message| Err(panicked(&message))), constraints)
    }
}

/// One evaluation of user code that may panic.
#[inline]
fn evaluate_unguarded<P: BilevelProblem + ?Sized>(
    problem: &P,
    batch: &Batch,
    index: usize,
    constraints: &mut Vec<f64>,
) -> Result<f64, Failure> {
    constraints.clear();
    match batch.answer(index) {
        Some(answer) => problem.evaluate_answer(batch.x(index), answer, constraints),
        None => problem.evaluate(batch.level(), batch.x(index), batch.y(index), constraints),
    }
}

fn panicked(message: &str) -> Failure {
    Failure::new(FailureKind::Panic, format!("the evaluation panicked: {message}"))
}
