//! Sets up a run from Python's arguments.

use super::failed::run_error;
use crate::errors;
use bilevo::audit::Position;
use bilevo::{
    AfterFailure, Evaluator, EvaluatorError, FailurePolicy, ProblemSpec, RunError, RunOptions, Saving, Solver,
};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

/// A problem as Python describes it.
pub(crate) fn read_spec(py: Python<'_>, json: &str) -> PyResult<ProblemSpec> {
    serde_json::from_str(json).map_err(|error| errors::problem(py, format!("the problem cannot be read: {error}")))
}

/// A problem as needed for setting up a run: what Python says about it. What evaluates it is known only when the run
/// starts.
struct Described<'a> {
    spec: ProblemSpec,
    place: &'a str,
    hash: &'a str,
}

impl bilevo::Source for Described<'_> {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn place(&self) -> &str {
        self.place
    }

    fn hash(&self) -> &str {
        self.hash
    }

    fn evaluator(&self, _jobs: usize) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Err(EvaluatorError::new("its functions are given to the run when it goes"))
    }
}

/// A run that is set up but has not begun.
pub(super) fn start(
    py: Python<'_>,
    spec: &str,
    source: &str,
    hash: &str,
    method: &str,
    seed: u64,
    settings: &[(String, String)],
) -> PyResult<bilevo::Run> {
    let described = Described { spec: read_spec(py, spec)?, place: source, hash };
    let solver = Solver::new(&described).method(method).seed(seed);
    let solver = settings.iter().fold(solver, |solver, (path, value)| solver.set(path, value));
    match solver.ready() {
        Ok(ready) => Ok(ready.run),
        Err(RunError::Config(error)) => Err(errors::config(py, &error)),
        Err(error) => Err(run_error(py, &error)),
    }
}

/// The options of the run.
pub(super) fn options(
    py: Python<'_>,
    checkpoint: Option<PathBuf>,
    times: [Option<f64>; 2],
    on_failure: &str,
    retries: u32,
) -> PyResult<RunOptions> {
    let then = match on_failure {
        "worst" => AfterFailure::Worst,
        "stop" => AfterFailure::Stop,
        other => {
            return Err(errors::problem(py, format!("on_failure is `{other}`\nhint: it takes `worst` or `stop`")));
        }
    };
    let time_limit = read_seconds(py, "time_limit", times[0])?;
    let eval_timeout = read_seconds(py, "eval_timeout", times[1])?;
    let policy = FailurePolicy { retries, then };
    let saving = checkpoint.map(Saving::to);
    Ok(RunOptions { policy, saving, time_limit, eval_timeout, ..RunOptions::default() })
}

pub(super) fn read_seconds(py: Python<'_>, name: &str, given: Option<f64>) -> PyResult<Option<Duration>> {
    let wrong = |_| errors::problem(py, format!("{name} is {given:?}\nhint: it takes a number of seconds"));
    given.map(|seconds| Duration::try_from_secs_f64(seconds).map_err(wrong)).transpose()
}

pub(super) fn read_position(py: Python<'_>, position: Option<&str>) -> PyResult<Option<Position>> {
    match position {
        None => Ok(None),
        Some("optimistic") => Ok(Some(Position::Optimistic)),
        Some("pessimistic") => Ok(Some(Position::Pessimistic)),
        Some(other) => {
            let words = format!("position is `{other}`\nhint: it takes `optimistic` or `pessimistic`");
            Err(errors::problem(py, words))
        }
    }
}
