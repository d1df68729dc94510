//! The runner on fake tasks: only what is missing is run, failures do not spread, one process
//! writes.

use bilevo::Times;
use bilevo_lab::grid::{Grid, Task};
use bilevo_lab::row::Row;
use bilevo_lab::runner::{GridReport, RunFailure, RunGridOptions, TraceDetail, run_grid, run_tasks};
use bilevo_lab::store::{Filter, Store, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn tasks(runs: u64) -> Vec<Task> {
    let mut grid = Grid::new(["bl-cma-es", "boc"], ["smd1", "tp1"]);
    grid.runs = runs;
    grid.tasks().unwrap()
}

/// A made-up row that carries the task's identity.
fn fake(task: &Task) -> Row {
    let mut row = crate::common::row(&task.id.method, &task.id.problem, task.id.seed);
    row.result.id = task.id.clone();
    row
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    (folder, path)
}

fn jobs(jobs: usize) -> RunGridOptions<'static> {
    RunGridOptions { jobs, detail: TraceDetail::All, ..RunGridOptions::default() }
}

#[test]
fn running_again_does_only_what_is_missing() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let calls = AtomicUsize::new(0);
    let run = |task: &Task, _: &Arc<AtomicBool>| {
        calls.fetch_add(1, Ordering::Relaxed);
        Ok(fake(task))
    };
    let first = run_tasks(&tasks(2), &mut store, &run, jobs(3)).unwrap();
    assert_eq!(first, GridReport { total: 8, found: 0, done: 8, failed: vec![] });
    let second = run_tasks(&tasks(5), &mut store, &run, jobs(1)).unwrap();
    assert_eq!((second.found, second.done, second.missing()), (8, 12, 0));
    let third = run_tasks(&tasks(5), &mut store, &run, jobs(0)).unwrap();
    assert_eq!((third.found, third.done), (20, 0));
    assert_eq!(calls.load(Ordering::Relaxed), 20);
    assert_eq!(store.count().unwrap(), 20);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let rows = |threads| {
        let (_folder, path) = folder();
        let mut store = Store::open(&path).unwrap();
        run_tasks(&tasks(4), &mut store, &|task, _| Ok(fake(task)), jobs(threads)).unwrap();
        store.rows(&Filter::all().with_traces()).unwrap()
    };
    assert_eq!(rows(1), rows(7));
}

#[test]
fn a_failed_run_is_reported_and_tried_again() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let bad = |task: &Task, _: &Arc<AtomicBool>| match (task.id.problem.as_str(), task.id.seed) {
        ("tp1", 1) => Err(RunFailure::Failed("no such file".into())),
        ("tp1", 2) => panic!("a bug"),
        _ => Ok(fake(task)),
    };
    let mut failures = 0;
    let mut count = |progress: &bilevo_lab::runner::Progress<'_>| failures += usize::from(progress.failure.is_some());
    let options = RunGridOptions { progress: Some(&mut count), ..jobs(2) };
    let report = run_tasks(&tasks(3), &mut store, &bad, options).unwrap();
    assert_eq!((report.done, report.failed.len(), report.missing(), failures), (8, 4, 4, 4));
    let noted = store.failures().unwrap();
    assert_eq!(noted.len(), 4);
    assert!(noted.iter().any(|f| f.message == "no such file"));
    assert!(noted.iter().any(|f| f.message == "the run panicked: a bug"));
    let report = run_tasks(&tasks(3), &mut store, &|task, _| Ok(fake(task)), jobs(2)).unwrap();
    assert_eq!((report.found, report.done), (8, 4));
    assert!(store.failures().unwrap().is_empty());
}

#[test]
fn the_stop_flag_drops_runs_in_flight_and_keeps_the_rest() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let run = |task: &Task, stop: &Arc<AtomicBool>| {
        if task.id.seed == 3 {
            stop.store(true, Ordering::Relaxed);
        }
        if stop.load(Ordering::Relaxed) { Err(RunFailure::Interrupted) } else { Ok(fake(task)) }
    };
    let report = run_tasks(&tasks(5), &mut store, &run, RunGridOptions { stop, ..jobs(1) }).unwrap();
    assert_eq!((report.done, report.failed.len(), report.missing()), (8, 0, 12));
    assert_eq!(store.count().unwrap(), 8);
}

#[test]
fn progress_tells_how_far_and_how_long() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    run_tasks(&tasks(1), &mut store, &|task, _| Ok(fake(task)), jobs(1)).unwrap();
    let mut seen = Vec::new();
    let mut note = |p: &bilevo_lab::runner::Progress<'_>| seen.push((p.done, p.total, p.left.is_some()));
    let options = RunGridOptions { progress: Some(&mut note), ..jobs(1) };
    run_tasks(&tasks(2), &mut store, &|task, _| Ok(fake(task)), options).unwrap();
    assert_eq!(seen, [(4, 8, false), (5, 8, true), (6, 8, true), (7, 8, true), (8, 8, true)]);
}

#[test]
fn a_second_grid_on_the_same_store_is_told_so() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let run = |task: &Task, _: &Arc<AtomicBool>| {
        let mut second = Store::open(&path).unwrap();
        let refused = run_tasks(&tasks(1), &mut second, &|task, _| Ok(fake(task)), jobs(1));
        match refused {
            Err(StoreError::Busy { .. }) => Ok(fake(task)),
            other => Err(RunFailure::Failed(format!("{other:?}"))),
        }
    };
    let report = run_tasks(&tasks(2), &mut store, &run, jobs(2)).unwrap();
    assert_eq!((report.done, report.failed), (8, vec![]));
}

#[test]
fn traces_are_thinned_to_the_same_step_function() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let run = |task: &Task, _: &Arc<AtomicBool>| {
        let mut row = fake(task);
        for point in &mut row.trace {
            let level = (point.upper_evals / 45) as f64;
            (point.upper_value, point.accuracy) = (level, Some(level));
        }
        Ok(row)
    };
    run_tasks(&tasks(1)[..1], &mut store, &run, RunGridOptions::default()).unwrap();
    let trace = &store.rows(&Filter::default().with_traces()).unwrap()[0].trace;
    let points: Vec<_> = trace.iter().map(|p| (p.upper_evals, p.upper_value)).collect();
    assert_eq!(points, [(9, 0.0), (45, 1.0), (90, 2.0), (135, 3.0), (180, 4.0)]);
}

#[test]
fn a_real_grid_gives_the_same_rows_each_time() {
    let mut grid = Grid::new(["bl-cma-es"], ["tp1"]);
    grid.runs = 2;
    let rows = |threads| {
        let (_folder, path) = folder();
        let mut store = Store::open(&path).unwrap();
        run_grid(&grid, &mut store, jobs(threads)).unwrap();
        let mut rows = store.rows(&Filter::default().with_traces()).unwrap();
        rows.iter_mut().for_each(|row| row.result.times = Times::default());
        rows
    };
    let once = rows(1);
    assert_eq!(once, rows(2));
    assert_eq!(once.len(), 2);
    let Row { result, trace, config } = &once[0];
    assert_eq!(result.id, grid.tasks().unwrap()[0].id, "the run is stored as what was planned");
    assert!(result.evaluations.upper > 0 && result.evaluations.lower > result.evaluations.upper);
    assert_eq!(result.x().as_ref().unwrap().len(), 2);
    let last = trace.last().unwrap();
    assert_eq!((last.upper_evals, last.lower_evals), (result.evaluations.upper, result.evaluations.lower));
    assert_eq!(last.accuracy, result.accuracy.map(|a| a.upper));
    assert_eq!(trace.len() as u64, result.generations);
    assert_eq!(serde_json::from_str::<bilevo::Config>(config).unwrap().hash(), result.id.config_hash);
}
