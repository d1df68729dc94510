//! The runner: does the runs of a grid that a store does not have yet.
//!
//! One run is one task on one thread; finished runs go to the calling thread, the only writer. Rows are written
//! as they come, so at most the runs in progress are lost if the process ends. If a run fails or panics, that is
//! recorded, and the grid continues. A run depends only on its task, so neither the number of threads nor
//! interruptions change any row (except times).

use crate::grid::{Grid, GridError, Task};
use crate::row::{Row, TracePoint};
use crate::store::{FailedRun, Store, StoreError};
use bilevo::{Config, Event, Observer, RunId, Solver, Status};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How many points of a trace are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceDetail {
    /// The generations that changed the elite, and the last: the same step function, far fewer
    /// points.
    #[default]
    Changes,
    /// Every generation.
    All,
    /// No points.
    Nothing,
}

/// How a grid is run.
#[derive(Default)]
pub struct RunGridOptions<'a> {
    /// Threads; one for each processor if 0.
    pub jobs: usize,
    /// Set it (from a signal handler, say) to end the grid: runs in progress are dropped. The runner sets it
    /// itself when the store cannot be written.
    pub stop: Arc<AtomicBool>,
    /// How much of a trace is kept.
    pub detail: TraceDetail,
    /// Called at the start and after every run.
    pub progress: Option<&'a mut dyn FnMut(&Progress<'_>)>,
}

/// The progress of a grid.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Runs in the store, earlier ones included.
    pub done: usize,
    /// Runs that failed this time.
    pub failed: usize,
    /// All runs of the grid.
    pub total: usize,
    /// Time since the start of this session.
    pub elapsed: Duration,
    /// Time left at the pace of this session; `None` before its first run has ended.
    pub left: Option<Duration>,
    /// The run that just ended or failed; `None` at the start.
    pub run: Option<&'a RunId>,
    /// The run that just failed.
    pub failure: Option<&'a FailedRun>,
}

/// What a session of a grid did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GridReport {
    /// All runs of the grid.
    pub total: usize,
    /// Runs that the store already had.
    pub found: usize,
    /// Runs done in this session.
    pub done: usize,
    /// Runs that failed in this session.
    pub failed: Vec<FailedRun>,
}

impl GridReport {
    /// Runs that still have to be done, failed ones included.
    pub fn missing(&self) -> usize {
        self.total - self.found - self.done
    }
}

/// Why a run has no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFailure {
    /// The stop flag ended it; it is simply missing.
    Interrupted,
    /// It cannot be done; the message is kept in the store.
    Failed(String),
}

/// Does one task; the flag says when to give up.
pub type RunTask<'a> = dyn Fn(&Task, &Arc<AtomicBool>) -> Result<Row, RunFailure> + Sync + 'a;

/// Why a grid could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunGridError {
    /// The grid is wrong.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Does the missing runs of a grid; returns when all are done, failed or stopped.
///
/// # Errors
/// The grid is wrong (then nothing is run), or the store is in use by another process or cannot be
/// written; rows written before are safe.
pub fn run_grid(grid: &Grid, store: &mut Store, options: RunGridOptions<'_>) -> Result<GridReport, RunGridError> {
    Ok(run_tasks(&grid.tasks()?, store, &solve_task, options)?)
}

/// Like [`run_grid`], for any list of tasks and any way of doing them.
///
/// # Errors
/// A store in use by another process, or one that cannot be written.
pub fn run_tasks(
    tasks: &[Task],
    store: &mut Store,
    run: &RunTask<'_>,
    options: RunGridOptions<'_>,
) -> Result<GridReport, StoreError> {
    let _lock = store.lock()?;
    let stored = store.ids()?;
    let missing: Vec<&Task> = tasks.iter().filter(|task| !stored.contains(&task.id)).collect();
    let found = tasks.len() - missing.len();
    let mut session = Session {
        report: GridReport { total: tasks.len(), found, ..GridReport::default() },
        started: Instant::now(),
        detail: options.detail,
        progress: options.progress,
    };
    session.tell(None, None);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = if options.jobs == 0 { processors } else { options.jobs }.min(missing.len());
    let (next, stop) = (AtomicUsize::new(0), options.stop);
    let (sender, finished) = sync_channel(2 * jobs);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, missing, next, stop) = (sender.clone(), &missing, &next, &stop);
            scope.spawn(move || work(missing, next, stop, run, &sender));
        }
        drop(sender);
        for (task, outcome) in finished {
            if let Err(error) = session.take(store, task, outcome) {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })?;
    Ok(session.report)
}

type Outcome = Result<Row, RunFailure>;

/// Takes task after task until there are none or the flag is set.
fn work<'t>(
    missing: &[&'t Task],
    next: &AtomicUsize,
    stop: &Arc<AtomicBool>,
    run: &RunTask<'_>,
    finished: &SyncSender<(&'t Task, Outcome)>,
) {
    while !stop.load(Ordering::Relaxed) {
        let Some(task) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
        let outcome = catch_unwind(AssertUnwindSafe(|| run(task, stop)));
        let outcome = outcome.unwrap_or_else(|panic| Err(RunFailure::Failed(panic_text(&*panic))));
        if finished.send((task, outcome)).is_err() {
            return;
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the run panicked: {}", text.unwrap_or("without a message"))
}

/// The writing side of a grid.
struct Session<'a> {
    report: GridReport,
    started: Instant,
    detail: TraceDetail,
    progress: Option<&'a mut dyn FnMut(&Progress<'_>)>,
}

impl Session<'_> {
    fn take(&mut self, store: &mut Store, task: &Task, outcome: Outcome) -> Result<(), StoreError> {
        match outcome {
            Ok(mut row) => {
                thin(&mut row.trace, self.detail);
                store.insert(&row)?;
                self.report.done += 1;
                self.tell(Some(&task.id), None);
            }
            Err(RunFailure::Interrupted) => {}
            Err(RunFailure::Failed(message)) => {
                let failed = FailedRun { id: task.id.clone(), message };
                store.insert_failure(&failed.id, &failed.message)?;
                self.report.failed.push(failed.clone());
                self.tell(Some(&failed.id), Some(&failed));
            }
        }
        Ok(())
    }

    fn tell(&mut self, run: Option<&RunId>, failure: Option<&FailedRun>) {
        let GridReport { total, found, done, ref failed } = self.report;
        let (elapsed, ended) = (self.started.elapsed(), done + failed.len());
        let rest = (total - found - ended) as f64;
        let left = (ended > 0).then(|| elapsed.mul_f64(rest / ended as f64));
        let progress = Progress { done: found + done, failed: failed.len(), total, elapsed, left, run, failure };
        if let Some(tell) = &mut self.progress {
            tell(&progress);
        }
    }
}

/// Drops the points that the requested detail does not need.
fn thin(trace: &mut Vec<TracePoint>, detail: TraceDetail) {
    match detail {
        TraceDetail::All => {}
        TraceDetail::Nothing => trace.clear(),
        TraceDetail::Changes => {
            let last = trace.pop();
            trace.dedup_by_key(|point| (point.upper_value.to_bits(), point.accuracy.map(f64::to_bits)));
            trace.extend(last);
        }
    }
}

/// Runs a task, evaluating one point after another.
///
/// # Errors
/// The flag ended it, or it cannot be done.
pub fn solve_task(task: &Task, stop: &Arc<AtomicBool>) -> Result<Row, RunFailure> {
    let Task { id, config, source, .. } = task;
    let failed = |error: &dyn std::fmt::Display| RunFailure::Failed(error.to_string());
    let mut curve = Curve::default();
    let solver = Solver::new(&**source).method(&id.method).config(Config::clone(config)).seed(id.seed);
    let result = solver.stop_flag(stop.clone()).observer(&mut curve).run().map_err(|e| failed(&e))?;
    if result.stop == Status::Interrupted {
        return Err(RunFailure::Interrupted);
    }
    let config = serde_json::to_string(&**config).map_err(|e| failed(&e))?;
    Ok(Row { result, config: config.into(), trace: curve.0 })
}

/// Records the elite after every generation.
#[derive(Default)]
struct Curve(Vec<TracePoint>);

impl Observer for Curve {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::GenerationDone { record, .. } = event {
            self.0.push(TracePoint {
                upper_evals: record.evaluations.upper,
                lower_evals: record.evaluations.lower,
                upper_value: record.upper_value,
                accuracy: record.accuracy.map(|a| a.upper),
            });
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Filter;

    #[test]
    fn a_full_disk_keeps_what_was_written_and_the_grid_goes_on_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let mut grid = Grid::new(["bl-cma-es"], ["tp1"]);
        grid.runs = 6;
        let mut store = Store::open(&path).unwrap();
        store.limit_growth(2).unwrap();
        let error = run_grid(&grid, &mut store, RunGridOptions::default()).unwrap_err();
        assert!(matches!(error, RunGridError::Store(StoreError::Full { .. })), "{error}");
        let written = store.rows(&Filter::all().with_traces()).unwrap();
        assert!(written.len() < 6);
        drop(store);
        let mut store = Store::open(&path).unwrap();
        let report = run_grid(&grid, &mut store, RunGridOptions::default()).unwrap();
        assert_eq!((report.found, report.missing()), (written.len(), 0));
        let all = store.rows(&Filter::all().with_traces()).unwrap();
        assert_eq!(all.len(), 6);
        assert!(written.iter().all(|row| all.contains(row)));
    }
}
