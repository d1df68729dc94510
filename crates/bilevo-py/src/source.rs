//! Problems that need no Python to be evaluated: built in, from a file, or an external program.

use crate::errors;
use crate::functions::{Evaluated, as_arrays, read_batch, read_level};
use bilevo::problems::file::{self, ProblemFile};
use bilevo::{Batch, Evaluator, EvaluatorError, Failure, ProblemSpec, Replies, TimeLimits, source};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often a wait for a program checks for Ctrl-C.
const WAKE: Duration = Duration::from_millis(50);

/// The exception that ended a wait, usually `KeyboardInterrupt`.
pub(crate) type Interrupted = Rc<Cell<Option<PyErr>>>;

/// A problem with the number of threads or processes that evaluate it.
#[pyclass(frozen, module = "bilevo._native")]
pub(crate) struct Source {
    source: Arc<dyn bilevo::Source>,
    jobs: usize,
    /// Evaluations may be slow, so waiting for them must leave room for Ctrl-C.
    external: bool,
}

#[pymethods]
impl Source {
    #[new]
    #[pyo3(signature = (name, dims, jobs=1))]
    fn new(py: Python<'_>, name: &str, dims: Option<(usize, usize)>, jobs: usize) -> PyResult<Self> {
        let source = source::open(name, dims).map_err(|error| errors::coded(py, "ProblemError", &error))?;
        let from_file = !source.hash().is_empty();
        let external = from_file && matches!(file::read(Path::new(name)), Ok(ProblemFile::Program { .. }));
        Ok(Source { source: Arc::from(source), jobs, external })
    }

    /// The spec as JSON.
    fn spec(&self) -> String {
        crate::run::json(self.source.spec())
    }

    /// The name under which it can be found again.
    fn place(&self) -> &str {
        self.source.place()
    }

    /// Hash of its definition, if it comes from a file.
    fn hash(&self) -> &str {
        self.source.hash()
    }

    /// Values, constraint values, and the failures of points with their index.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        level: &str,
        x: PyReadonlyArray2<'py, f64>,
        y: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Evaluated<'py>> {
        let level = read_level(py, level)?;
        let spec = self.source.spec();
        let batch = read_batch(py, spec, level, &x, &y)?;
        let replies = py.detach(|| self.answer(&batch));
        let replies = replies.map_err(|error| errors::exception(py, "EvaluationError", error))?;
        let values = replies.outcomes().iter().map(|outcome| spec.level(level).direction.flip(outcome.value));
        let constraints: Vec<f64> = (0..batch.len()).flat_map(|index| replies.constraints(index)).copied().collect();
        let failed = |(index, failure): &(usize, Failure)| {
            (*index, errors::exception(py, "EvaluationError", failure).into_value(py).into_any())
        };
        as_arrays(py, values.collect(), constraints, replies.failures().iter().map(failed).collect())
    }
}

impl Source {
    /// The problem itself.
    pub(crate) fn problem(&self) -> &dyn bilevo::Source {
        &*self.source
    }

    fn answer(&self, batch: &Batch) -> Result<Replies, EvaluatorError> {
        let mut replies = Replies::default();
        replies.start_on(self.source.spec(), batch);
        self.source.evaluator(self.jobs)?.evaluate(batch, &mut replies)?;
        Ok(replies)
    }

    /// What evaluates the batches of a run; `interrupted` receives what ends a wait.
    pub(crate) fn evaluator(&self, interrupted: Interrupted) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        if self.external {
            return Ok(Box::new(Distant::start(&self.source, self.jobs, interrupted)));
        }
        self.source.evaluator(self.jobs)
    }
}

/// A message to an evaluator on another thread.
enum Todo {
    Evaluate(Batch),
    Limit(TimeLimits),
}

/// An evaluator on another thread. Ctrl-C ends the wait for it; its current evaluation continues until it has an
/// answer, and then it ends together with its programs.
struct Distant {
    spec: ProblemSpec,
    todo: Sender<Todo>,
    answers: Receiver<Result<Replies, EvaluatorError>>,
    interrupted: Interrupted,
    one_by_one: bool,
}

impl Distant {
    fn start(source: &Arc<dyn bilevo::Source>, jobs: usize, interrupted: Interrupted) -> Self {
        let spec = source.spec().clone();
        let (sender, todo) = channel();
        let (done, answers) = channel();
        let source = source.clone();
        std::thread::spawn(move || {
            let mut evaluator = match source.evaluator(jobs) {
                Ok(evaluator) => evaluator,
                Err(error) => return drop(done.send(Err(error))),
            };
            for todo in todo {
                let batch = match todo {
                    Todo::Evaluate(batch) => batch,
                    Todo::Limit(limits) => {
                        evaluator.limit(limits);
                        continue;
                    }
                };
                let mut replies = Replies::default();
                replies.start_on(source.spec(), &batch);
                let answered = evaluator.evaluate(&batch, &mut replies).map(|()| replies);
                if done.send(answered).is_err() {
                    return;
                }
            }
        });
        Distant { spec, todo: sender, answers, interrupted, one_by_one: jobs == 1 }
    }
}

impl Evaluator for Distant {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn is_one_by_one(&self) -> bool {
        self.one_by_one
    }

    fn limit(&mut self, limits: TimeLimits) {
        let _ = self.todo.send(Todo::Limit(limits));
    }

    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError> {
        // A thread that has ended has left its reason among the answers.
        let _ = self.todo.send(Todo::Evaluate(batch.clone()));
        loop {
            match self.answers.recv_timeout(WAKE) {
                Ok(answered) => {
                    *replies = answered?;
                    return Ok(());
                }
                Err(RecvTimeoutError::Disconnected) => return Err(EvaluatorError::new("its thread ended")),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = Python::attach(|py| py.check_signals()) {
                        self.interrupted.set(Some(error));
                        return Err(EvaluatorError::new("interrupted"));
                    }
                }
            }
        }
    }
}
