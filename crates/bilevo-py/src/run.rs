//! A run as Python sees it: driven by ask and tell, or by an evaluator.

mod answers;
mod failed;
mod page;
mod setup;

pub(crate) use setup::read_spec;

use crate::border::{Border, Caught, Failed, Watcher};
use crate::call;
use crate::errors;
use crate::source::Source;
use crate::tables;
use crate::told::{Answer, Told};
use answers::{answering, read_answers};
use bilevo::audit::AuditOptions;
use bilevo::config::{Budgets, PositionKind};
use bilevo::known::{self, Evaluation, Recorder};
use bilevo::{Ask, GenerationRecord, Level, Replies, RunError, RunResult, Start, Status, checkpoint};
use failed::{run_error, with_cause};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use setup::{options, read_position, read_seconds, start};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// A run, and the answers to its open batch.
#[pyclass(frozen, module = "bilevo._native")]
pub(crate) struct Run {
    state: Mutex<State>,
}

struct State {
    run: bilevo::Run,
    /// Answers to some points of the open batch.
    told: Told,
    /// Finished generations with the wall time at their end.
    records: Vec<(GenerationRecord, f64)>,
    replies: Replies,
    /// Known evaluations, until the run takes them.
    known: Vec<Evaluation>,
    /// All evaluations of this process.
    recorder: Recorder,
}

/// Points whose evaluations are kept for the result.
const RECORDED: usize = 200_000;

/// Columns of a table, and a single one.
type Part<'py> = PyReadonlyArray2<'py, f64>;
type One<'py> = PyReadonlyArray1<'py, f64>;

type Asked<'py> = (&'static str, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>);

#[pymethods]
impl Run {
    #[new]
    fn new(
        py: Python<'_>,
        spec: &str,
        source: &str,
        hash: &str,
        method: &str,
        seed: u64,
        settings: Vec<(String, String)>,
    ) -> PyResult<Self> {
        Ok(Run::of(start(py, spec, source, hash, method, seed, &settings)?, Told::default(), Vec::new()))
    }

    /// The run in a checkpoint, which must be the one described by the other arguments.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn resume(
        py: Python<'_>,
        path: PathBuf,
        spec: &str,
        source: &str,
        hash: &str,
        method: &str,
        seed: Option<u64>,
        settings: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let saved = checkpoint::load(&path).map_err(|error| errors::coded(py, "CheckpointError", &error))?;
        let seed = seed.unwrap_or(saved.header.id.seed);
        let wanted = start(py, spec, source, hash, method, seed, &settings)?;
        let mut run = bilevo::Run::resume(saved);
        // Budgets may have grown; other differences show below.
        let budgets = Budgets::from(&wanted.engine().config().stop);
        if run.id() != wanted.id() && run.engine().spec() == wanted.engine().spec() {
            let grown = run.extend(budgets);
            grown.map_err(|error| errors::checkpoint(py, format!("`{}`: {error}", path.display())))?;
        }
        if run.id() != wanted.id() || run.engine().spec() != wanted.engine().spec() {
            let message = format!(
                "the checkpoint `{}` holds another run ({}), not this one ({})\n\
                 hint: give the name of another file, or remove this one",
                path.display(),
                run.id(),
                wanted.id()
            );
            return Err(errors::exception(py, "CheckpointError", message));
        }
        Ok(Run::of(run, Told::default(), Vec::new()))
    }

    /// Starts at given points, pairs of x and y (or None for the middle of the follower's box), or at the nearest
    /// points in the box.
    fn start_at(&self, py: Python<'_>, starts: Vec<(Vec<f64>, Option<Vec<f64>>)>, nearest: bool) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let spec = state.run.engine().spec().clone();
        let place = |level: Level, mut point: Vec<f64>| {
            let space = &spec.level(level).space;
            let pairs = point.iter_mut().zip(space.iter()).filter(|_| nearest);
            pairs.for_each(|(value, variable)| *value = variable.nearest(*value));
            point
        };
        let start = |(x, y): (Vec<f64>, Option<Vec<f64>>)| Start {
            x: place(Level::Upper, x),
            y: y.map(|y| place(Level::Lower, y)),
        };
        let starts: Vec<Start> = starts.into_iter().map(start).collect();
        state.run.start_at(&starts).map_err(|error| errors::problem(py, error.to_string()))
    }

    /// The columns of a table of evaluations: names of x and y, numbers of constraints.
    fn table(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>, usize, usize)> {
        let state = self.lock(py)?;
        let spec = state.run.engine().spec();
        let counts = (spec.upper.constraints(), spec.lower.constraints());
        Ok((spec.names(Level::Upper), spec.names(Level::Lower), counts.0, counts.1))
    }

    /// Adds known evaluations.
    fn recall(
        &self,
        py: Python<'_>,
        x: Part<'_>,
        y: Part<'_>,
        upper: (One<'_>, Part<'_>),
        lower: (One<'_>, Part<'_>),
        answers: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let oracle = state.run.engine().spec().is_oracle_alone();
        state.known.extend(tables::rows([&x, &y, &upper.1, &lower.1], [&upper.0, &lower.0], &answers, oracle));
        Ok(())
    }

    /// Adds known evaluations of a file.
    fn recall_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let rows = known::read(&path, state.run.engine().spec());
        state.known.extend(rows.map_err(|error| errors::coded(py, "ProblemError", &error))?);
        Ok(())
    }

    /// Passes the known evaluations to the run.
    fn recalled(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let rows = std::mem::take(&mut state.known);
        state.run.recall(&rows).map_err(|error| errors::coded(py, "ProblemError", &error))
    }

    /// All evaluations of this process: x, y, F, G, f, g.
    fn evaluations<'py>(&self, py: Python<'py>) -> PyResult<tables::Columns<'py>> {
        let state = self.lock(py)?;
        tables::columns(py, state.run.engine().spec(), &state.recorder.rows)
    }

    /// The open batch without answered points: level, ids, x, y. None when the run is over.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Option<Asked<'py>>> {
        let mut state = self.lock(py)?;
        let State { run, told, .. } = &mut *state;
        let Ask::Evaluate(batch) = py.detach(|| run.ask()).map_err(|error| run_error(py, &error))? else {
            return Ok(None);
        };
        let open: Vec<usize> = (0..batch.len()).filter(|&index| !told.has(index)).collect();
        let ids = PyArray1::from_iter(py, open.iter().map(|&index| batch.id(index)));
        let (x, y) = call::both(py, &batch.subset(&open))?;
        Ok(Some((batch.kind(), ids, x, y)))
    }

    /// Answers points of the open batch: all of them or, if something is wrong, none.
    fn tell(
        &self,
        py: Python<'_>,
        ids: PyReadonlyArray1<'_, u64>,
        values: PyReadonlyArray1<'_, f64>,
        constraints: Option<PyReadonlyArray2<'_, f64>>,
        failures: Vec<(usize, String)>,
        packed: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        let mut answers = read_answers(&ids, &values, constraints.as_ref(), failures);
        for (index, packed) in packed.iter().flatten().enumerate() {
            if let Some((_, answer @ Answer::Value(..))) = answers.get_mut(index) {
                *answer = Answer::Given(crate::answers::read(packed)?);
            }
        }
        let mut state = self.lock(py)?;
        let State { run, told, records, replies, recorder, .. } = &mut *state;
        let Ask::Evaluate(batch) = run.ask().map_err(|error| run_error(py, &error))? else {
            return Err(errors::problem(py, "the run is over, so there is nothing to answer"));
        };
        if batch.asks_follower() != packed.is_some() {
            let words = format!("the open batch is of the level `{}`\nhint: ask again", batch.kind());
            return Err(errors::problem(py, words));
        }
        told.add(batch, answers).map_err(|message| errors::problem(py, message))?;
        if told.complete(batch) {
            let batch = batch.clone();
            let spec = run.engine().spec();
            replies.start_on(spec, &batch);
            told.take(spec, replies);
            recorder.record(spec, &batch, replies);
            let record = py.detach(|| run.tell(replies)).map_err(|error| run_error(py, &error))?;
            records.extend(record.map(|record| (record, 0.0)));
        }
        Ok(())
    }

    /// Runs to the end with an evaluator, and audits the answer on request; returns the result as JSON and the first
    /// failed evaluations.
    #[pyo3(signature = (
        evaluator, *, on_generation, checkpoint, time_limit, eval_timeout, on_failure, retries, audit, audit_evals,
        audit_tolerance, position
    ))]
    #[allow(clippy::too_many_arguments)]
    fn go(
        &self,
        py: Python<'_>,
        evaluator: &Bound<'_, PyAny>,
        on_generation: Option<Py<PyAny>>,
        checkpoint: Option<PathBuf>,
        time_limit: Option<f64>,
        eval_timeout: Option<f64>,
        on_failure: &str,
        retries: u32,
        audit: bool,
        audit_evals: Option<u64>,
        audit_tolerance: Option<f64>,
        position: Option<&str>,
    ) -> PyResult<(String, Vec<Failed>)> {
        let options = options(py, checkpoint, [time_limit, eval_timeout], on_failure, retries)?;
        let position = read_position(py, position)?;
        let (max_lower_evals, tolerance) = (audit_evals, audit_tolerance);
        let asked = AuditOptions { position, max_lower_evals, tolerance, ..AuditOptions::default() };
        let source = evaluator.cast::<Source>().ok().map(Bound::get);
        let answering = answering(evaluator);
        let mut state = self.lock(py)?;
        let State { run, told, records, recorder, .. } = &mut *state;
        if !told.is_empty() {
            return Err(errors::problem(
                py,
                "some points of the open batch have been answered\nhint: tell the others too",
            ));
        }
        let caught = Caught::default();
        let trusted = run.engine().summary().generations > 0;
        let spec = run.engine().spec().clone();
        let audit = (audit || spec.position != PositionKind::Any).then_some(asked);
        let audit = audit.filter(|_| !spec.is_oracle_alone());
        let mut watcher = Watcher::new(run.id().clone(), records, on_generation, caught.clone());
        let conduct = || -> (Option<PyErr>, Result<RunResult, RunError>) {
            let mut border = match answering() {
                Ok(answering) => Border::new(spec, answering, caught.clone(), trusted),
                Err(error) => return (None, Err(RunError::Evaluator(error))),
            };
            let mut ended = run.go_audited(&mut border, &options, audit.as_ref(), &mut [&mut watcher, recorder]);
            let without_answer = |r: &RunResult| r.x().is_none() && matches!(r.stop, Status::Finished(_));
            if border.fatal.is_none() && ended.as_ref().is_ok_and(without_answer) {
                border.fatal = Python::attach(|py| border.never_worked(py));
            }
            if let (Ok(result), Some(source)) = (&mut ended, source) {
                bilevo::prove::conclude(source.problem(), result, run.engine(), None);
            }
            (border.fatal, ended)
        };
        let (fatal, ended) = py.detach(conduct);
        if let Some(error) = fatal.or(watcher.raised) {
            return Err(error);
        }
        match ended {
            Ok(result) => Ok((json(&result), watcher.failures)),
            Err(error) => Err(with_cause(py, &error, &caught)),
        }
    }

    /// Writes the report on a run, whose result is given as JSON, after exploring the neighbourhood of its answer
    /// with at most about this many evaluations.
    #[allow(clippy::too_many_arguments)]
    fn report(
        &self,
        py: Python<'_>,
        evaluator: &Bound<'_, PyAny>,
        path: PathBuf,
        result: &str,
        evaluations: Option<u64>,
        units: BTreeMap<String, String>,
        eval_timeout: Option<f64>,
    ) -> PyResult<()> {
        let each = read_seconds(py, "eval_timeout", eval_timeout)?;
        let answering = answering(evaluator);
        let state = self.lock(py)?;
        let records: Vec<GenerationRecord> = state.records.iter().map(|(record, _)| record.clone()).collect();
        page::write(py, state.run.engine().spec(), &records, answering, &path, result, (evaluations, each), units)
    }

    /// The result so far, as JSON.
    fn result(&self, py: Python<'_>) -> PyResult<String> {
        Ok(json(&self.lock(py)?.run.result_so_far()))
    }

    /// The generations so far with the wall time at their end, as JSON.
    fn history(&self, py: Python<'_>) -> PyResult<String> {
        Ok(json(&self.lock(py)?.records))
    }

    #[getter]
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.run.id().seed)
    }

    #[getter]
    fn max_upper_evals(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.run.engine().sizes().budget.upper_evals)
    }

    /// The names of the variables of both levels; None if they have none.
    fn names(&self, py: Python<'_>) -> PyResult<[Vec<String>; 2]> {
        let state = self.lock(py)?;
        let spec = state.run.engine().spec();
        Ok([(&spec.upper.space, 'x'), (&spec.lower.space, 'y')].map(|(space, letter)| {
            let named = (0..space.dim()).any(|index| space.name(index).is_some());
            if named { space.names(letter) } else { Vec::new() }
        }))
    }

    /// The identity of the run, in words.
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.lock(py)?.run.id().to_string())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.lock(py)?;
        let bytes = crate::saved::write(&state.run, &state.told, &state.records);
        bytes.map(|bytes| PyBytes::new(py, &bytes)).map_err(|message| errors::exception(py, "CheckpointError", message))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = py.detach(|| crate::saved::read(bytes));
        let (run, told, records) =
            read.map_err(|(code, message)| errors::told(py, "CheckpointError", code, message))?;
        Ok(Run::of(run, told, records))
    }
}

impl Run {
    fn of(run: bilevo::Run, told: Told, records: Vec<(GenerationRecord, f64)>) -> Self {
        let recorder = Recorder::up_to(RECORDED);
        let (replies, known) = (Replies::default(), Vec::new());
        Run { state: Mutex::new(State { run, told, records, replies, known, recorder }) }
    }

    /// The state, unless another thread or a callback of its own run is using it.
    fn lock(&self, _py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        self.state.try_lock().map_err(|_| {
            pyo3::exceptions::PyRuntimeError::new_err(
                "this run is busy\nhint: only one thread at a time can use a run, and its callback cannot use it at all",
            )
        })
    }
}

/// Plain data as Python reads it.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
