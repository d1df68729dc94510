//! Problems that misbehave do not bring a run down, and the policy is obeyed.

use crate::common::{run_of, smd, timeless};
use bilevo::testing::{Faulty, Inject};
use bilevo::{
    AfterFailure, Evaluator, Event, FailureKind, FailurePolicy, Observer, Run, RunError, RunOptions, Saving, Serial,
    Status, Threads, checkpoint,
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
        assert!(result.upper_value.unwrap().is_finite());
    }
}

#[test]
fn a_problem_that_always_fails_ends_the_run() {
    let problem = faulty("panic:1");
    let mut run = run_of(&smd(1), "bl-cma-es", 5);
    let result = run.go(&mut Serial::new(&problem), &RunOptions::default(), &mut []).unwrap();
    assert!(matches!(result.stop, Status::Finished(_)));
    let counts = result.evaluations;
    assert_eq!(counts.failed_upper + counts.failed_lower, counts.total());
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
    let RunError::Evaluation { level, id, ref x, ref y, ref failure } = error else { panic!("{error}") };
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
