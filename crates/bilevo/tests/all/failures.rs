//! Problems that misbehave do not bring a run down, and the policy is obeyed.

use crate::common::{run_of, smd, timeless};
use bilevo::testing::{Faulty, Inject};
use bilevo::{
    AfterFailure, BilevelProblem, Evaluator, Event, Failure, FailureKind, FailurePolicy, Level, LevelSpec, Observer,
    ProblemSpec, Run, RunError, RunOptions, Saving, Serial, Solver, Status, StopReason, Threads, checkpoint,
};
use std::ops::ControlFlow;

fn faulty(inject: &str) -> Faulty<bilevo::problems::BoxedProblem> {
    Faulty::new(smd(1), vec![inject.parse::<Inject>().unwrap()])
}

#[derive(Default)]
struct Failures(Vec<(FailureKind, String)>);

impl Observer for Failures {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::EvaluationFailed { failure, .. } = event {
            self.0.push((failure.kind, failure.message.clone()));
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn every_kind_of_failure_is_counted_and_survived() {
    let kinds = [
        ("nan:7", FailureKind::NotFinite, "objective is NaN"),
        ("inf:7", FailureKind::NotFinite, "objective is inf"),
        ("shape:7", FailureKind::WrongShape, "1 constraint values instead of 0"),
        ("panic:7", FailureKind::Panic, "panicked: injected panic"),
        ("error:7", FailureKind::Error, "injected error"),
    ];
    for (inject, kind, message) in kinds {
        let problem = faulty(inject);
        let mut run = run_of(&smd(1), "cr-tlea-cma-es", 5);
        let mut failures = Failures::default();
        let result = run.go(&mut Serial::new(&problem), &RunOptions::default(), &mut [&mut failures]).unwrap();
        let counts = result.evaluations;
        assert!(matches!(result.stop, Status::Finished(_)));
        assert_eq!(failures.0.len() as u64, counts.failed_upper + counts.failed_lower);
        assert!(failures.0.iter().all(|(k, m)| *k == kind && m.contains(message)), "{:?}", failures.0.first());
        let share = failures.0.len() as f64 / counts.total() as f64;
        assert!((0.1..0.2).contains(&share), "{inject}: {share}");
        assert!(result.upper_value().unwrap().is_finite());
    }
}

#[test]
fn a_function_that_is_finite_nowhere_ends_the_run_after_a_look_all_over_the_box() {
    for method in ["auto", "bl-cma-es"] {
        let problem = faulty("nan:1");
        let result = Solver::new(&problem).method(method).seed(5).run().unwrap();
        assert_eq!(result.stop, Status::Finished(StopReason::AllFailed), "{method}");
        let counts = result.evaluations;
        assert_eq!((counts.upper, counts.failed_lower), (0, counts.lower), "{method}");
        // A tenth of the upper evaluations that the method may spend.
        let budget = if method == "auto" { 10_000 } else { 2500 };
        assert!((budget / 10..budget / 10 + 100).contains(&counts.lower), "{method}: {counts:?}");
        assert_eq!((result.success, result.x()), (false, None));
        assert!(result.warnings[0].message.contains("evaluations of f failed"), "{:?}", result.warnings);
    }
}

#[test]
fn a_mistake_in_a_function_is_told_at_once() {
    for (fault, words) in
        [("panic:1", "injected panic"), ("error:1", "injected error"), ("shape:1", "1 constraint values")]
    {
        let problem = faulty(fault);
        let mut count = Failures::default();
        let error = Solver::new(&problem).seed(5).observer(&mut count).run().unwrap_err();
        let RunError::Mistake { level, points, .. } = &error else { panic!("{error}") };
        assert_eq!((*level, *points), (Level::Lower, 20));
        assert!(count.0.len() < 40, "{}", count.0.len());
        let message = error.to_string();
        assert!(message.contains(words) && message.contains("x = [") && message.contains("hint:"), "{message}");
    }
    // The leader's function alone.
    let level = || LevelSpec::new(vec![(0.0, 1.0)].into());
    let problem =
        Partial { spec: ProblemSpec::new("half", level(), level()), fails: |level, _, _| level == Level::Upper };
    let error = Solver::new(&problem).method("tlea-de").seed(1).run().unwrap_err();
    assert!(matches!(error, RunError::Mistake { level: Level::Upper, points: 20, .. }), "{error}");
}

/// F = (x - 0.7)² + (y - x)², f = (y - x / 2)², where `fails` does not say that an evaluation does. The
/// optimum without failures is x = 0.56, F = 0.098.
struct Partial {
    spec: ProblemSpec,
    fails: fn(Level, f64, f64) -> bool,
}

impl Partial {
    fn new(fails: fn(Level, f64, f64) -> bool) -> Self {
        let level = || LevelSpec::new(vec![(0.0, 1.0)].into());
        Partial { spec: ProblemSpec::new("partial", level(), level()), fails }
    }
}

impl BilevelProblem for Partial {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], _: &mut Vec<f64>) -> Result<f64, Failure> {
        let (x, y) = (x[0], y[0]);
        match level {
            level if (self.fails)(level, x, y) => Err("no value here".into()),
            Level::Upper => Ok((x - 0.7).powi(2) + (y - x).powi(2)),
            Level::Lower => Ok((y - 0.5 * x).powi(2)),
        }
    }
}

/// Runs that end at F = `best`, of `seeds`.
fn right(problem: &Partial, method: &str, seeds: u64, best: f64, tolerance: f64) -> u64 {
    let is_right = |seed: &u64| {
        let result = Solver::new(problem).method(method).seed(*seed).run().unwrap();
        assert_ne!(result.stop, Status::Finished(StopReason::AllFailed), "{method} {seed}");
        result.upper_value().is_some_and(|value| (value - best).abs() <= tolerance)
    };
    (1..=seeds).filter(is_right).count() as u64
}

#[test]
fn a_leader_that_fails_in_part_of_its_box_is_solved() {
    // The best decision is where F begins to work: x = 0.6, y = 0.3.
    let problem = Partial::new(|level, x, _| level == Level::Upper && x < 0.6);
    assert!(right(&problem, "auto", 8, 0.1, 1e-3) >= 7);
    for method in ["bl-cma-es", "cr-tlea-cma-es"] {
        assert!(right(&problem, method, 4, 0.1, 1e-2) >= 3, "{method}");
    }
}

#[test]
fn functions_that_fail_for_half_of_the_answers_are_solved() {
    let problem = Partial::new(|_, _, y| y > 0.5);
    for (method, tolerance) in [("auto", 1e-3), ("bl-cma-es", 1e-2), ("tlea-de", 1e-2)] {
        assert!(right(&problem, method, 4, 0.098, tolerance) >= 3, "{method}");
    }
}

#[test]
fn functions_that_fail_in_two_thirds_of_the_box_are_solved() {
    let problem = Partial::new(|_, x, y| x < 0.4 || !(0.2..=0.75).contains(&y));
    for (method, tolerance) in [("auto", 1e-3), ("bl-cma-es", 1e-2)] {
        assert!(right(&problem, method, 4, 0.098, tolerance) >= 3, "{method}");
    }
}

#[test]
fn failures_do_not_depend_on_the_number_of_threads() {
    let problem = faulty("panic:5");
    let mut results = Vec::new();
    for threads in 1..=3 {
        let mut run = run_of(&smd(1), "tlea-cma-es", 8);
        let mut evaluator = Threads::new(&problem, threads).unwrap();
        assert_eq!(evaluator.threads(), threads);
        let result = run.go(&mut evaluator, &RunOptions::default(), &mut []).unwrap();
        results.push(timeless(&result));
    }
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn a_second_try_mends_what_fails_once() {
    let clean_problem = smd(1);
    let mut clean = run_of(&clean_problem, "bl-cma-es", 3);
    let expected = clean.go(&mut Serial::new(&*clean_problem), &RunOptions::default(), &mut []).unwrap();

    let flaky = faulty("flaky:4");
    let policy = FailurePolicy { retries: 1, then: AfterFailure::Stop };
    let mut run = run_of(&smd(1), "bl-cma-es", 3);
    let options = RunOptions { policy, ..RunOptions::default() };
    let mut mended = run.go(&mut Serial::new(&flaky), &options, &mut []).unwrap();
    assert!(mended.evaluations.retried > 0);
    mended.evaluations.retried = 0;
    assert_eq!(timeless(&mended), timeless(&expected));
}

#[test]
fn stop_names_the_point_and_leaves_a_checkpoint_that_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.checkpoint");
    let policy = FailurePolicy { retries: 2, then: AfterFailure::Stop };
    let options = RunOptions { policy, saving: Some(Saving::to(&path)), ..RunOptions::default() };
    let broken = faulty("error:900");
    let mut run = run_of(&smd(1), "bl-cma-es", 3);
    let error = run.go(&mut Serial::new(&broken), &options, &mut []).unwrap_err();
    let RunError::Evaluation { level, id, ref x, ref y, ref failure, .. } = error else { panic!("{error}") };
    assert_eq!((x.len(), y.len()), (2, 3));
    assert_eq!(failure.message, "injected error");
    let message = error.to_string();
    for part in [level.to_string(), format!("evaluation {id} failed"), format!("{x:?}"), format!("{y:?}")] {
        assert!(message.contains(&part), "`{message}` lacks `{part}`");
    }

    // With the problem mended, the saved run ends as if nothing had happened.
    let mended = smd(1);
    let mut resumed = Run::resume(checkpoint::load(&path).unwrap());
    let result = resumed.go(&mut Serial::new(&*mended), &RunOptions::default(), &mut []).unwrap();
    let mut whole = run_of(&mended, "bl-cma-es", 3);
    let expected = whole.go(&mut Serial::new(&*mended), &RunOptions::default(), &mut []).unwrap();
    assert_eq!(timeless(&result), timeless(&expected));
}

#[test]
fn an_evaluator_of_another_problem_is_refused() {
    let (one, two) = (smd(1), smd(2));
    let error = run_of(&one, "bl-cma-es", 1).go(&mut Serial::new(&*two), &RunOptions::default(), &mut []).unwrap_err();
    assert!(error.to_string().contains("`smd1`") && error.to_string().contains("`smd2`"));
    let larger = bilevo::problems::problem("smd1", Some((3, 4))).unwrap();
    let error =
        run_of(&one, "bl-cma-es", 1).go(&mut Serial::new(&*larger), &RunOptions::default(), &mut []).unwrap_err();
    assert!(error.to_string().contains("other sizes"));
}

#[test]
fn an_evaluator_that_answers_too_little_is_an_error() {
    struct Lazy(bilevo::ProblemSpec);
    impl Evaluator for Lazy {
        fn spec(&self) -> &bilevo::ProblemSpec {
            &self.0
        }
        fn evaluate(&mut self, _: &bilevo::Batch, _: &mut bilevo::Replies) -> Result<(), bilevo::EvaluatorError> {
            Ok(())
        }
    }
    let problem = smd(1);
    let mut lazy = Lazy(problem.spec().clone());
    let error = run_of(&problem, "bl-cma-es", 1).go(&mut lazy, &RunOptions::default(), &mut []).unwrap_err();
    assert!(matches!(error, RunError::Tell(_)), "{error}");
}
