//! Where the engine meets Python: the evaluator that calls user code, and the observer that tells
//! Python about generations.
//!
//! The run loop works without the interpreter. It attaches to it for a batch of user code and for a
//! generation somebody listens to, and lets go of it again.

use crate::call::arrays;
use crate::errors;
use crate::functions::Functions;
use crate::run::json;
use crate::source::Interrupted;
use bilevo::{
    Batch, Engine, Evaluator, EvaluatorError, Event, Failure, FailureKind, GenerationRecord, Level, Observer,
    ProblemSpec, Replies, RunId, RunResult, Status, Times,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two looks for Ctrl-C where no Python runs.
const SIGNALS_AFTER: Duration = Duration::from_millis(50);
/// Failed evaluations of a run that are kept for the user to look at.
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

/// What answers the batches of a run.
pub(crate) enum Answering<'a> {
    /// The functions, here.
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
    /// Levels at which an evaluation has worked.
    worked: [bool; 2],
    looked: Instant,
}

impl<'a> Border<'a> {
    /// `trusted`: the functions are known to work, so that a batch of which every point raises is
    /// bad luck and no mistake in the program.
    pub(crate) fn new(spec: ProblemSpec, answering: Answering<'a>, caught: Caught, trusted: bool) -> Self {
        Border { spec, answering, caught, fatal: None, worked: [trusted; 2], looked: Instant::now() }
    }

    fn answer(&mut self, py: Python<'_>, batch: &Batch, replies: &mut Replies) -> PyResult<()> {
        let spec = &self.spec;
        let mut caught = Vec::new();
        match &self.answering {
            Answering::Functions(functions) => {
                functions.each(py, batch, |index, answer, constraints| match answer {
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
        let worked = &mut self.worked[usize::from(batch.level() == Level::Upper)];
        *worked |= caught.len() < batch.len();
        if !*worked && let Some((_, error)) = caught.first() {
            return Err(hopeless(py, batch.level(), error));
        }
        self.caught.with(|kept| *kept = caught);
        Ok(())
    }
}

/// Every point of a level's first batch raised: that is a mistake in the function.
fn hopeless(py: Python<'_>, level: Level, error: &PyErr) -> PyErr {
    let message = format!("every {level} evaluation of the first batch failed: {error}");
    let hopeless = errors::exception(py, "EvaluationError", message);
    hopeless.set_cause(py, Some(error.clone_ref(py)));
    hopeless
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
    let answer = pool.bind(py).call1((batch.level().to_string(), ids, x, y))?;
    let (values, constraints, failures): Pooled<'_> = answer.extract()?;
    let (values, constraints) = (values.as_array(), constraints.as_array());
    let mut failures = failures.into_iter().peekable();
    let mut row = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if let Some((_, kind, message, error)) = failures.next_if(|(failed, ..)| *failed == index) {
            let kind = if kind == "crash" { FailureKind::Crash } else { FailureKind::Error };
            replies.push_failure(Failure::new(kind, message));
            caught.extend(error.map(|error| (batch.id(index), PyErr::from_value(error))));
            continue;
        }
        row.clear();
        row.extend(constraints.row(index));
        replies.push(spec, *value, &row);
    }
    Ok(())
}

type Pooled<'py> =
    (PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>, Vec<(usize, String, String, Option<Bound<'py, PyAny>>)>);

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
            self.fatal = Some(error);
            EvaluatorError::new("Python ended the run")
        })
    }
}

/// A failed evaluation that is shown to the user: level, id, x, y, message, exception.
pub(crate) type Failed = (String, u64, Vec<f64>, Vec<f64>, String, Option<Py<PyAny>>);

/// Listens to a run: keeps its records and first failures, and tells Python.
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

    fn tell_python(&mut self, record: &GenerationRecord, engine: &Engine, times: Times) -> ControlFlow<()> {
        let Some(callable) = &self.on_generation else { return ControlFlow::Continue(()) };
        let result = RunResult::new(self.id.clone(), engine, Status::Running, times);
        let (record, result) = (json(record), json(&result));
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
                self.tell_python(record, engine, *times)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
