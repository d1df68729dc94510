//! The boundary between the engine and Python: the evaluator that calls user code, and the observer that informs
//! Python of generations.
//!
//! The run loop works without the interpreter. It attaches to it for a batch of user code, and for a generation with
//! a listener, and then releases it.

use crate::answers;
use crate::call::arrays;
use crate::errors;
use crate::functions::Functions;
use crate::run::json;
use crate::source::Interrupted;
use bilevo::{
    Batch, Engine, Evaluator, EvaluatorError, Event, Failure, FailureKind, GenerationRecord, Level, Observer,
    ProblemSpec, Replies, RunId, RunResult, Status, TimeLimits, Times, Variable,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two checks for Ctrl-C while no Python code runs.
const SIGNALS_AFTER: Duration = Duration::from_millis(50);
/// How many failed evaluations of a run are kept for the user.
const KEPT_FAILURES: usize = 10;

/// Exceptions of the latest batch, by the number of their point.
#[derive(Clone, Default)]
pub(crate) struct Caught(Arc<Mutex<Vec<(u64, PyErr)>>>);

impl Caught {
    fn with<T>(&self, look: impl FnOnce(&mut Vec<(u64, PyErr)>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The exception behind a failed point.
    pub(crate) fn of(&self, py: Python<'_>, id: u64) -> Option<PyErr> {
        self.with(|caught| caught.iter().find(|(failed, _)| *failed == id).map(|(_, error)| error.clone_ref(py)))
    }
}

/// What evaluates the batches of a run.
pub(crate) enum Answering<'a> {
    /// The functions, in this process.
    Functions(&'a Functions),
    /// A Python callable that gets `(level, ids, x, y)`.
    Pool(Py<PyAny>),
    /// The engine's own evaluators, with what ended a wait for them.
    Native(Box<dyn Evaluator + 'a>, Interrupted),
}

/// The evaluator of a run, which remembers what Python raised.
pub(crate) struct Border<'a> {
    spec: ProblemSpec,
    answering: Answering<'a>,
    caught: Caught,
    /// What ended the run, if it was not a failed evaluation under the policy `stop`.
    pub(crate) fatal: Option<PyErr>,
    /// What is known about the functions: lower, upper, and the follower's own solver.
    trials: [Trial; 3],
    limits: TimeLimits,
    looked: Instant,
}

impl<'a> Border<'a> {
    /// `trusted`: the functions are known to work, so points at which they raise are not bugs.
    pub(crate) fn new(spec: ProblemSpec, answering: Answering<'a>, caught: Caught, trusted: bool) -> Self {
        let trials = [(); 3].map(|()| Trial { settled: trusted, ..Trial::default() });
        let limits = TimeLimits::default();
        Border { spec, answering, caught, fatal: None, trials, limits, looked: Instant::now() }
    }

    /// The error to raise instead of a result without an answer, if a function always failed in the same way.
    pub(crate) fn never_worked(&self, py: Python<'_>) -> Option<PyErr> {
        let trials = ["lower", "upper", "follower"].into_iter().zip(&self.trials);
        trials.filter(|(_, trial)| !trial.settled && !trial.failed.is_empty()).find_map(|(l, t)| t.mistake(py, l))
    }

    fn answer(&mut self, py: Python<'_>, batch: &Batch, replies: &mut Replies) -> PyResult<()> {
        let spec = &self.spec;
        let mut caught = Vec::new();
        match &self.answering {
            Answering::Functions(functions) if batch.asks_follower() => {
                functions.each_answer(py, batch, self.limits, |index, answer| {
                    match answer.and_then(|packed| answers::read(&packed)) {
                        Ok(answer) => replies.push_answer(spec, answer),
                        Err(error) => {
                            replies.push_failure(Failure::new(FailureKind::Error, error.to_string()));
                            caught.push((batch.id(index), error));
                        }
                    }
                    Ok(())
                })?;
            }
            Answering::Functions(functions) => {
                functions.each(py, batch, self.limits, |index, answer, constraints| match answer {
                    Ok(value) => replies.push(spec, value, constraints),
                    Err(error) => {
                        replies.push_failure(Failure::new(FailureKind::Error, error.to_string()));
                        caught.push((batch.id(index), error));
                    }
                })?
            }
            Answering::Pool(pool) => {
                py.check_signals()?;
                answer_by_pool(py, pool, spec, batch, replies, &mut caught)?;
            }
            Answering::Native(..) => {}
        }
        let kind = if batch.asks_follower() { 2 } else { usize::from(batch.level() == Level::Upper) };
        let trial = &mut self.trials[kind];
        trial.add(py, spec, batch, replies, &caught);
        self.caught.with(|kept| *kept = caught);
        match trial.is_enough() {
            true => trial.mistake(py, batch.kind()).map_or(Ok(()), Err),
            false => Ok(()),
        }
    }
}

/// How many points must all fail in the same way, before anything works, for that to count as a bug, if they are
/// spread out: in every third of the range of every variable. For a function that fails in half of the box, the
/// probability is one in a million.
const MISTAKE: usize = 20;
/// How many if they lie anywhere.
const ANYWHERE: usize = 60;

/// What the first evaluations of a level say about its function.
#[derive(Default)]
struct Trial {
    /// Something worked, or failed in another way than the first point: it is not a plain bug.
    settled: bool,
    /// Points that failed, all in the same way.
    failed: BTreeSet<u64>,
    /// For every variable of both levels, the thirds of its range in which they lie, as bits.
    thirds: Vec<u8>,
    words: String,
    error: Option<PyErr>,
}

impl Trial {
    /// Examines the answers to a batch, as long as nothing is decided.
    fn add(&mut self, py: Python<'_>, spec: &ProblemSpec, batch: &Batch, replies: &Replies, caught: &[(u64, PyErr)]) {
        if self.settled {
            return;
        }
        let failures = replies.failures();
        if self.failed.is_empty()
            && let Some((_, first)) = failures.first()
        {
            self.words.clone_from(&first.message);
            self.error = caught.first().map(|(_, error)| error.clone_ref(py));
        }
        let alike = |(_, failure): &(usize, Failure)| {
            matches!(failure.kind, FailureKind::Error | FailureKind::Crash) && failure.message == self.words
        };
        self.settled = failures.len() < batch.len() || !failures.iter().all(alike);
        self.failed.extend((0..batch.len()).map(|index| batch.id(index)));
        if self.thirds.is_empty() {
            let all = |variable: Variable| if variable.is_fixed() || variable.is_whole() { 0b111 } else { 0 };
            self.thirds = spec.upper.space.iter().chain(spec.lower.space.iter()).map(all).collect();
        }
        for index in 0..batch.len() {
            let units = [spec.upper.space.to_unit(batch.x(index)), spec.lower.space.to_unit(batch.y(index))];
            for (seen, unit) in self.thirds.iter_mut().zip(units.into_iter().flatten()) {
                *seen |= 1 << (3.0 * unit).clamp(0.0, 2.0) as u8;
            }
        }
    }

    fn is_enough(&self) -> bool {
        let spread = self.thirds.iter().all(|seen| *seen == 0b111);
        self.failed.len() >= if spread { MISTAKE } else { ANYWHERE }
    }

    /// The error, unless the function has worked or failed in several ways.
    fn mistake(&self, py: Python<'_>, level: &str) -> Option<PyErr> {
        let (points, words) = (self.failed.len(), &self.words);
        let hint = match level {
            _ if !words.contains("positional argument") => "",
            "follower" => "\nhint: your solver is called with x alone",
            _ => "\nhint: your function is called with x and y",
        };
        let message =
            format!("every {level} evaluation failed, at {points} points and with the same error: {words}{hint}");
        let error = errors::told(py, "EvaluationError", "E302", message);
        error.set_cause(py, self.error.as_ref().map(|cause| cause.clone_ref(py)));
        (!self.settled).then_some(error)
    }
}

fn answer_by_pool(
    py: Python<'_>,
    pool: &Py<PyAny>,
    spec: &ProblemSpec,
    batch: &Batch,
    replies: &mut Replies,
    caught: &mut Vec<(u64, PyErr)>,
) -> PyResult<()> {
    let ids = PyArray1::from_iter(py, (0..batch.len()).map(|index| batch.id(index)));
    let (x, y) = arrays(py, batch)?;
    let y = if batch.answer(0).is_some() { answers::column(py, batch)? } else { y.into_any() };
    let answer = pool.bind(py).call1((batch.kind(), ids, x, y))?;
    let (values, rows, failures): Pooled<'_> = answer.extract()?;
    let constraints = if batch.asks_follower() { None } else { Some(rows.extract::<PyReadonlyArray2<'_, f64>>()?) };
    let mut failures = failures.into_iter().peekable();
    let mut row = Vec::new();
    for (index, value) in values.as_array().iter().enumerate() {
        if let Some((_, kind, message, error)) = failures.next_if(|(failed, ..)| *failed == index) {
            let kind = match kind.as_str() {
                "crash" => FailureKind::Crash,
                "timeout" => FailureKind::Timeout,
                _ => FailureKind::Error,
            };
            replies.push_failure(Failure::new(kind, message));
            caught.extend(error.map(|error| (batch.id(index), PyErr::from_value(error))));
            continue;
        }
        let Some(constraints) = &constraints else {
            replies.push_answer(spec, answers::read(&rows.get_item((index, 0))?)?);
            continue;
        };
        row.clear();
        row.extend(constraints.as_array().row(index));
        replies.push(spec, *value, &row);
    }
    Ok(())
}

type Pooled<'py> =
    (PyReadonlyArray1<'py, f64>, Bound<'py, PyAny>, Vec<(usize, String, String, Option<Bound<'py, PyAny>>)>);

impl Evaluator for Border<'_> {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError> {
        let answered = if let Answering::Native(evaluator, interrupted) = &mut self.answering {
            if let Err(error) = evaluator.evaluate(batch, replies) {
                self.fatal = interrupted.take();
                return Err(error);
            }
            if self.looked.elapsed() < SIGNALS_AFTER {
                return Ok(());
            }
            self.looked = Instant::now();
            Python::attach(|py| py.check_signals())
        } else {
            Python::attach(|py| self.answer(py, batch, replies))
        };
        answered.map_err(|error| {
            if Python::attach(|py| errors::is_out_of_time(py, &error)) {
                return EvaluatorError::out_of_time();
            }
            self.fatal = Some(error);
            EvaluatorError::new("Python ended the run")
        })
    }

    fn is_one_by_one(&self) -> bool {
        match &self.answering {
            Answering::Functions(functions) => !functions.is_vectorized(),
            Answering::Pool(_) => false,
            Answering::Native(evaluator, _) => evaluator.is_one_by_one(),
        }
    }

    fn limit(&mut self, limits: TimeLimits) {
        self.limits = limits;
        match &mut self.answering {
            Answering::Functions(_) => {}
            Answering::Native(evaluator, _) => evaluator.limit(limits),
            Answering::Pool(pool) => {
                let left = limits.end.map(|end| end.saturating_duration_since(Instant::now()).as_secs_f64());
                let each = limits.each.map(|each| each.as_secs_f64());
                let told = Python::attach(|py| pool.call_method1(py, "limit", (left, each)));
                self.fatal = told.err();
            }
        }
    }
}

/// A failed evaluation that is shown to the user: level, id, x, y, message, exception.
pub(crate) type Failed = (String, u64, Vec<f64>, Vec<f64>, String, Option<Py<PyAny>>);

/// Observes a run: keeps its records and first failures, and informs Python.
pub(crate) struct Watcher<'a> {
    id: RunId,
    records: &'a mut Vec<(GenerationRecord, f64)>,
    on_generation: Option<Py<PyAny>>,
    caught: Caught,
    pub(crate) failures: Vec<Failed>,
    /// What the callback raised.
    pub(crate) raised: Option<PyErr>,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(
        id: RunId,
        records: &'a mut Vec<(GenerationRecord, f64)>,
        on_generation: Option<Py<PyAny>>,
        caught: Caught,
    ) -> Self {
        Watcher { id, records, on_generation, caught, failures: Vec::new(), raised: None }
    }

    /// Calls back with the result so far, which includes evaluations of the current batch.
    fn tell_python(
        &mut self,
        record: Option<&GenerationRecord>,
        engine: &Engine,
        times: Times,
        (level, under_way): (Level, usize),
    ) -> ControlFlow<()> {
        let Some(callable) = &self.on_generation else { return ControlFlow::Continue(()) };
        let mut result = RunResult::new(self.id.clone(), engine, Status::Running, times);
        result.evaluations = result.evaluations.and(level, under_way as u64);
        let (record, result) = (record.map(json), json(&result));
        let told = Python::attach(|py| callable.call1(py, (record, times.seconds, result))?.extract::<bool>(py));
        match told {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Observer for Watcher<'_> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::EvaluationFailed { level, id, x, y, failure } if self.failures.len() < KEPT_FAILURES => {
                let exception = Python::attach(|py| self.caught.of(py, *id).map(|e| e.into_value(py).into_any()));
                let (level, message) = (level.to_string(), failure.message.clone());
                self.failures.push((level, *id, x.to_vec(), y.to_vec(), message, exception));
                ControlFlow::Continue(())
            }
            Event::GenerationDone { record, engine, times } => {
                self.records.push(((*record).clone(), times.seconds));
                self.tell_python(Some(record), engine, *times, (Level::Lower, 0))
            }
            Event::Progress { engine, under_way, times } => self.tell_python(None, engine, *times, *under_way),
            _ => ControlFlow::Continue(()),
        }
    }
}
