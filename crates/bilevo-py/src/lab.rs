//! Experiments: grids that fill a store, on threads of this process or wherever Python sends their runs.

use crate::errors;
use crate::run::json;
use bilevo::{Config, RunId, RunResult, source};
use bilevo_lab::grid::{Grid, Task};
use bilevo_lab::row::{Row, TracePoint};
use bilevo_lab::runner::{GridReport, Progress, RunFailure, RunGridOptions, run_tasks, solve_task};
use bilevo_lab::store::{Filter, Store};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often a wait checks for Ctrl-C.
const WAKE: Duration = Duration::from_millis(50);

/// A task as it is sent to a worker.
#[derive(Serialize, Deserialize)]
struct SentTask {
    id: RunId,
    /// Where the problem is found: a built-in name or a file.
    place: String,
    config: Config,
}

/// A row as it comes back. JSON has no NaN, so a curve is sent with gaps instead.
#[derive(Serialize, Deserialize)]
struct SentRow {
    result: RunResult,
    config: String,
    trace: Vec<(u64, u64, Option<f64>, Option<f64>)>,
}

impl From<Row> for SentRow {
    fn from(row: Row) -> Self {
        let point = |p: TracePoint| (p.upper_evals, p.lower_evals, Some(p.upper_value), p.accuracy);
        SentRow {
            result: row.result,
            config: row.config.to_string(),
            trace: row.trace.into_iter().map(point).collect(),
        }
    }
}

impl From<SentRow> for Row {
    fn from(sent: SentRow) -> Self {
        let point = |(upper_evals, lower_evals, value, accuracy): (u64, u64, Option<f64>, Option<f64>)| TracePoint {
            upper_evals,
            lower_evals,
            upper_value: value.unwrap_or(f64::NAN),
            accuracy,
        };
        Row { result: sent.result, config: sent.config.into(), trace: sent.trace.into_iter().map(point).collect() }
    }
}

/// Does the missing runs of a grid; returns a report as JSON, and a message about a missing part of the store.
///
/// `send`, if given, is called with a task on one of `jobs` threads and returns its row.
#[pyfunction]
#[pyo3(signature = (path, methods, problems, dims, runs, first_seed, settings, jobs, send, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn lab_run(
    py: Python<'_>,
    path: PathBuf,
    methods: Vec<String>,
    problems: Vec<String>,
    dims: Vec<(usize, usize)>,
    runs: u64,
    first_seed: u64,
    settings: Vec<Vec<(String, String)>>,
    jobs: usize,
    send: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let grid = Grid { methods, problems, folder: PathBuf::new(), dims, runs, first_seed, settings };
    let tasks = grid.tasks().map_err(|error| errors::problem(py, error))?;
    let stop = Arc::new(AtomicBool::new(false));
    let report = interruptible(py, &stop, || {
        let mut store = Store::open(&path).map_err(|error| told(&error))?;
        let missing = store.missing_log();
        let mut tell = |state: &Progress<'_>| tell(progress.as_ref(), state);
        let options = RunGridOptions { jobs, stop: stop.clone(), progress: Some(&mut tell), ..Default::default() };
        let run = |task: &Task, stop: &Arc<AtomicBool>| match &send {
            None => solve_task(task, stop),
            Some(send) => send_task(send, task, stop),
        };
        let report = run_tasks(&tasks, &mut store, &run, options).map_err(|error| told(&error))?;
        Ok::<_, Told>((report, missing))
    })?;
    report.map(|(report, missing)| (report_json(&report), missing)).map_err(|told| exception(py, told))
}

/// The message of an error, and its code if it has one.
type Told = (String, Option<&'static str>);

fn told(error: &(dyn Error + 'static)) -> Told {
    (error.to_string(), bilevo_lab::code(error))
}

fn exception(py: Python<'_>, (message, code): Told) -> PyErr {
    match code {
        Some(code) => errors::told(py, "BilevoError", code, message),
        None => errors::exception(py, "BilevoError", message),
    }
}

/// Does one task that [`lab_run`] sent.
#[pyfunction]
pub(crate) fn lab_task(py: Python<'_>, task: &str) -> PyResult<String> {
    let sent: SentTask = serde_json::from_str(task).map_err(|error| errors::problem(py, error))?;
    let dims = (sent.id.upper_dim, sent.id.lower_dim);
    let source = source::open(&sent.place, Some(dims)).map_err(|error| errors::problem(py, error))?;
    let task = Task { id: sent.id, config: Arc::new(sent.config), source: Arc::from(source), notice: None };
    let stop = Arc::new(AtomicBool::new(false));
    match interruptible(py, &stop, || solve_task(&task, &stop))? {
        Ok(row) => Ok(json(&SentRow::from(row))),
        Err(RunFailure::Failed(message)) => Err(errors::exception(py, "EvaluationError", message)),
        Err(RunFailure::Interrupted) => Err(errors::exception(py, "EvaluationError", "the run was interrupted")),
    }
}

/// The rows of a store as JSON, with their curves on request; and a message about a missing part.
#[pyfunction]
pub(crate) fn lab_rows(py: Python<'_>, path: PathBuf, traces: bool) -> PyResult<(String, Option<String>)> {
    let read = py.detach(|| {
        let filter = if traces { Filter::all().with_traces() } else { Filter::all() };
        let store = Store::read(&path)?;
        let rows = store.rows(&filter)?;
        Ok((json(&rows.into_iter().map(SentRow::from).collect::<Vec<_>>()), store.missing_log()))
    });
    read.map_err(|error: bilevo_lab::store::StoreError| exception(py, told(&error)))
}

/// The runs of a store that failed, with their reasons, as JSON.
#[pyfunction]
pub(crate) fn lab_failures(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let read = |path: &Path| Store::read(path)?.failures();
    let failures = py.detach(|| read(&path)).map_err(|error| exception(py, told(&error)))?;
    Ok(json(&failures.into_iter().map(|failed| (failed.id, failed.message)).collect::<Vec<_>>()))
}

fn send_task(send: &Py<PyAny>, task: &Task, stop: &Arc<AtomicBool>) -> Result<Row, RunFailure> {
    let (id, place) = (task.id.clone(), task.source.place().to_string());
    let sent = json(&SentTask { id, place, config: (*task.config).clone() });
    let answer = Python::attach(|py| send.call1(py, (sent,))?.extract::<String>(py));
    match answer {
        _ if stop.load(Ordering::Relaxed) => Err(RunFailure::Interrupted),
        Err(error) => Err(RunFailure::Failed(error.to_string())),
        Ok(row) => match serde_json::from_str::<SentRow>(&row) {
            Ok(row) if row.result.id == task.id => Ok(row.into()),
            Ok(row) => Err(RunFailure::Failed(format!("the worker did another run: {}", row.result.id))),
            Err(error) => Err(RunFailure::Failed(format!("the worker's row cannot be read: {error}"))),
        },
    }
}

fn tell(progress: Option<&Py<PyAny>>, state: &Progress<'_>) {
    if let Some(progress) = progress {
        let run = state.run.map(ToString::to_string);
        // A failure to show progress must not end an experiment.
        let _ = Python::attach(|py| progress.call1(py, (state.done, state.failed, state.total, run)));
    }
}

fn report_json(report: &GridReport) -> String {
    let failed: Vec<_> = report.failed.iter().map(|failed| (&failed.id, &failed.message)).collect();
    json(&(report.total, report.found, report.done, failed))
}

/// Works on another thread while this one checks for Ctrl-C, which sets the flag.
fn interruptible<T: Send>(py: Python<'_>, stop: &AtomicBool, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            scope.spawn(move || sender.send(work()));
            let mut interrupted = None;
            loop {
                match receiver.recv_timeout(WAKE) {
                    Ok(done) => return interrupted.map_or(Ok(done), Err),
                    Err(RecvTimeoutError::Disconnected) => {
                        let words = "the experiment ended without a result";
                        return Err(interrupted.unwrap_or_else(|| pyo3::exceptions::PyRuntimeError::new_err(words)));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            interrupted = Some(error);
                        }
                    }
                }
            }
        })
    })
}
