//! Saved and resumed, or on more threads: a run gives the same bits.

use crate::common::{METHODS, StopAfter, run_of, smd, timeless};
use bilevo::{History, Observer, Run, RunOptions, Saving, Serial, Status, Threads, TraceWriter, checkpoint};
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

fn whole(method: &str, seed: u64) -> (String, usize) {
    let problem = smd(1);
    let mut run = run_of(&problem, method, seed);
    let mut counter = StopAfter(usize::MAX);
    let result = run.go(&mut Serial::new(&*problem), &RunOptions::default(), &mut [&mut counter]).unwrap();
    (timeless(&result), usize::MAX - counter.0)
}

/// Stops after `batches`, goes through a file, and finishes.
fn in_two_parts(method: &str, seed: u64, batches: usize, path: &std::path::Path) -> String {
    let problem = smd(1);
    let options = RunOptions { saving: Some(Saving::to(path)), ..RunOptions::default() };
    let mut first = run_of(&problem, method, seed);
    let result = first.go(&mut Serial::new(&*problem), &options, &mut [&mut StopAfter(batches)]).unwrap();
    assert_eq!(result.stop, Status::Observer);
    let mut second = Run::resume(checkpoint::load(path).unwrap());
    assert_eq!(second.id().method, method);
    let result = second.go(&mut Serial::new(&*problem), &options, &mut []).unwrap();
    assert!(checkpoint::header(path).unwrap().finished);
    timeless(&result)
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    let directory = tempfile::tempdir().unwrap();
    for (number, method) in METHODS.into_iter().enumerate() {
        let (expected, batches) = whole(method, 40 + number as u64);
        // Spread over the run, with both ends.
        for part in [1, 2, batches / 3, batches / 2 + 1, batches - 2, batches - 1] {
            let path = directory.path().join(format!("{method}-{part}"));
            assert_eq!(in_two_parts(method, 40 + number as u64, part, &path), expected, "{method} after {part}");
        }
    }
}

#[test]
fn saved_and_reloaded_after_every_batch_is_the_same_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let problem = smd(1);
    let method = "cr-tlea-cma-es";
    let (expected, batches) = whole(method, 9);
    let mut run = run_of(&problem, method, 9);
    for _ in 0..batches * 2 {
        let result = run.go(&mut Serial::new(&*problem), &RunOptions::default(), &mut [&mut StopAfter(1)]).unwrap();
        if let Status::Finished(_) = result.stop {
            assert_eq!(timeless(&result), expected);
            return;
        }
        run.save(&path).unwrap();
        run = Run::resume(checkpoint::load(&path).unwrap());
    }
    panic!("the run does not end");
}

#[test]
fn any_number_of_threads_gives_the_same_run() {
    let problem = smd(1);
    for method in METHODS {
        let (expected, _) = whole(method, 6);
        for threads in [1, 2, 5] {
            let mut run = run_of(&problem, method, 6);
            let mut evaluator = Threads::new(&*problem, threads).unwrap();
            let result = run.go(&mut evaluator, &RunOptions::default(), &mut []).unwrap();
            assert_eq!(timeless(&result), expected, "{method} on {threads} threads");
        }
    }
}

/// The first evaluation is slow enough to be worth sharing; the second one waits until a third has
/// begun, and fails if none comes.
struct Meeting {
    inner: bilevo::problems::BoxedProblem,
    arrived: Mutex<u64>,
    changed: Condvar,
}

impl bilevo::BilevelProblem for Meeting {
    fn spec(&self) -> &bilevo::ProblemSpec {
        self.inner.spec()
    }

    fn evaluate(
        &self,
        level: bilevo::Level,
        x: &[f64],
        y: &[f64],
        constraints: &mut Vec<f64>,
    ) -> Result<f64, bilevo::Failure> {
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        self.changed.notify_all();
        let number = *arrived;
        if number == 2 {
            let met = self.changed.wait_timeout_while(arrived, Duration::from_secs(600), |a| *a < 3).unwrap();
            if met.1.timed_out() {
                return Err("nobody came".into());
            }
        } else {
            drop(arrived);
        }
        let start = Instant::now();
        while number == 1 && start.elapsed() < Duration::from_millis(1) {}
        self.inner.evaluate(level, x, y, constraints)
    }
}

#[test]
fn threads_evaluate_at_the_same_time() {
    let problem = Meeting { inner: smd(1), arrived: Mutex::new(0), changed: Condvar::new() };
    let mut run = run_of(&smd(1), "bl-cma-es", 2);
    let mut evaluator = Threads::new(&problem, 2).unwrap();
    let result = run.go(&mut evaluator, &RunOptions::default(), &mut [&mut StopAfter(1)]).unwrap();
    assert_eq!(result.evaluations.failed_lower, 0);
    assert!(result.evaluations.lower > 1);
}

#[test]
fn the_stop_flag_and_the_time_limit_end_a_run_that_can_go_on() {
    let problem = smd(1);
    let (expected, _) = whole("bl-cma-es", 4);
    let mut run = run_of(&problem, "bl-cma-es", 4);
    let options = RunOptions::default();
    options.stop.store(true, Ordering::Relaxed);
    let result = run.go(&mut Serial::new(&*problem), &options, &mut []).unwrap();
    assert_eq!((result.stop, result.evaluations.total()), (Status::Interrupted, 0));
    let options = RunOptions { time_limit: Some(Duration::ZERO), ..RunOptions::default() };
    let result = run.go(&mut Serial::new(&*problem), &options, &mut []).unwrap();
    assert_eq!(result.stop, Status::TimeLimit);
    let result = run.go(&mut Serial::new(&*problem), &RunOptions::default(), &mut []).unwrap();
    assert_eq!(timeless(&result), expected);
}

/// The trace without its timings, which come last in a line.
fn lines(path: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.rsplit_once(",\"seconds\":").unwrap().0.to_string()).collect()
}

#[test]
fn a_trace_has_every_generation_once_even_if_the_run_stopped_after_its_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let (whole_path, parts_path) = (directory.path().join("whole.jsonl"), directory.path().join("parts.jsonl"));
    let saved = directory.path().join("run");
    let problem = smd(1);
    let go = |run: &mut Run, observers: &mut [&mut dyn Observer]| {
        run.go(&mut Serial::new(&*problem), &RunOptions::default(), observers).unwrap();
    };

    let mut history = History::default();
    let mut trace = TraceWriter::open(&whole_path, 0).unwrap();
    go(&mut run_of(&problem, "bl-cma-es", 4), &mut [&mut history, &mut trace]);
    trace.finish().unwrap();
    assert_eq!(lines(&whole_path).len(), history.records.len());

    // Saved after 30 batches, then 30 more that the checkpoint does not know, and half a line.
    let mut run = run_of(&problem, "bl-cma-es", 4);
    let mut trace = TraceWriter::open(&parts_path, 0).unwrap();
    go(&mut run, &mut [&mut trace, &mut StopAfter(30)]);
    run.save(&saved).unwrap();
    go(&mut run, &mut [&mut trace, &mut StopAfter(30)]);
    trace.finish().unwrap();
    let mut text = std::fs::read_to_string(&parts_path).unwrap();
    text.push_str("{\"generation\":9,\"evalu");
    std::fs::write(&parts_path, text).unwrap();

    let mut resumed = Run::resume(checkpoint::load(&saved).unwrap());
    let mut trace = TraceWriter::open(&parts_path, resumed.engine().summary().generations).unwrap();
    go(&mut resumed, &mut [&mut trace]);
    trace.finish().unwrap();
    assert_eq!(lines(&parts_path), lines(&whole_path));
}

#[test]
fn a_trace_does_not_overwrite_other_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    for content in ["my notes\n", "{\"a\": 1}\n", "{\"generation", "\u{0}\u{1}"] {
        std::fs::write(&path, content).unwrap();
        let opened = TraceWriter::open(&path, 0);
        if content == "{\"generation" {
            continue; // what a crash in the first line leaves behind
        }
        assert!(opened.unwrap_err().to_string().contains("is not a trace"), "{content}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn a_result_survives_json() {
    for (method, stop) in [("bl-cma-es", 0), ("cr-tlea-cma-es", 40), ("tlea-de", usize::MAX)] {
        let problem = smd(1);
        let mut run = run_of(&problem, method, 2);
        let flag = RunOptions::default();
        flag.stop.store(stop == 0, Ordering::Relaxed);
        let result = run.go(&mut Serial::new(&*problem), &flag, &mut [&mut StopAfter(stop)]).unwrap();
        let text = serde_json::to_string(&result).unwrap();
        assert_eq!(serde_json::from_str::<bilevo::RunResult>(&text).unwrap(), result, "{text}");
        let word = match stop {
            0 => "interrupted",
            40 => "observer",
            _ => "upper_budget",
        };
        assert!(text.contains(&format!("\"stop\":\"{word}\"")), "{text}");
        assert!(text.contains(&format!("\"total\":{}", result.evaluations.total())), "{text}");
    }
}
