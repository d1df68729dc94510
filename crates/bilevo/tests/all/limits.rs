//! How long a run and its evaluations may take, and how often it says how it gets on.

use crate::common::{StopAfter, run_of, smd, timeless};
use bilevo::{
    AuditOptions, Batch, BilevelProblem, Evaluator, EvaluatorError, Event, Observer, ProblemSpec, Replies, RunOptions,
    Serial, Status, TimeLimits, Verdict,
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Takes its time over every batch, and never has enough of it.
struct Hangs<'a>(Serial<&'a dyn BilevelProblem>, TimeLimits);

impl Evaluator for Hangs<'_> {
    fn spec(&self) -> &ProblemSpec {
        self.0.spec()
    }

    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError> {
        match self.1.end {
            Some(_) => Err(EvaluatorError::out_of_time()),
            None => self.0.evaluate(batch, replies),
        }
    }

    fn limit(&mut self, limits: TimeLimits) {
        self.1 = limits;
    }
}

#[test]
fn a_time_limit_holds_while_an_evaluation_is_under_way_and_over_all_sessions() {
    let problem = smd(1);
    let whole = run_of(&problem, "bl-cma-es", 4).go(&mut Serial::new(&*problem), &RunOptions::default(), &mut []);
    let expected = timeless(&whole.unwrap());
    let mut run = run_of(&problem, "bl-cma-es", 4);
    let mut evaluator = Hangs(Serial::new(&*problem), TimeLimits::default());
    let day = RunOptions { time_limit: Some(Duration::from_secs(86400)), ..RunOptions::default() };
    let result = run.go(&mut evaluator, &day, &mut []).unwrap();
    assert_eq!((result.stop, result.evaluations.total()), (Status::TimeLimit, 0));
    let first = run.go(&mut evaluator, &RunOptions::default(), &mut [&mut StopAfter(3)]).unwrap();
    // What it took so far is used up already.
    let same = RunOptions { time_limit: Some(Duration::from_secs_f64(first.times.seconds)), ..RunOptions::default() };
    let result = run.go(&mut Serial::new(&*problem), &same, &mut []).unwrap();
    assert_eq!((result.stop, result.evaluations), (Status::TimeLimit, first.evaluations));
    let result = run.go(&mut evaluator, &RunOptions::default(), &mut []).unwrap();
    assert_eq!(timeless(&result), expected);
}

/// Counts evaluations and notes the longest stretch of which nothing was told.
#[derive(Default)]
struct Silence {
    since: usize,
    longest: usize,
    largest_batch: usize,
}

impl Observer for Silence {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::BatchDone { points, .. } => {
                self.since += points;
                self.largest_batch = self.largest_batch.max(*points);
            }
            Event::Progress { .. } | Event::GenerationDone { .. } => {
                self.longest = self.longest.max(std::mem::take(&mut self.since));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_run_says_how_it_gets_on_after_fifty_evaluations_at_the_latest() {
    let problem = smd(1);
    let mut silence = Silence::default();
    let mut run = run_of(&problem, "bl-cma-es", 4);
    run.go(&mut Serial::new(&*problem), &RunOptions::default(), &mut [&mut silence]).unwrap();
    assert!(silence.longest < 50 + silence.largest_batch, "{}", silence.longest);
}

/// Tells how long its evaluations took.
struct Timed<'a> {
    inner: Serial<&'a dyn BilevelProblem>,
    seconds: f64,
}

impl Evaluator for Timed<'_> {
    fn spec(&self) -> &ProblemSpec {
        self.inner.spec()
    }

    fn evaluate(&mut self, batch: &Batch, replies: &mut Replies) -> Result<(), EvaluatorError> {
        let start = Instant::now();
        let evaluated = self.inner.evaluate(batch, replies);
        self.seconds += start.elapsed().as_secs_f64();
        evaluated
    }
}

#[test]
fn an_audit_has_its_part_of_the_time_and_no_more() {
    let problem = smd(1);
    let mut run = run_of(&problem, "bl-cma-es", 4);
    run.go(&mut Serial::new(&*problem), &RunOptions::default(), &mut []).unwrap();
    let none_left = RunOptions { time_limit: Some(Duration::ZERO), ..RunOptions::default() };
    let audit = AuditOptions::default();
    let result = run.go_audited(&mut Serial::new(&*problem), &none_left, Some(&audit), &mut []).unwrap();
    let finding = result.audit.unwrap();
    assert_eq!(finding.verdict, Verdict::Incomplete);
    assert!(finding.words.contains("ran out of time"), "{}", finding.words);
    let before = run.checkpoint().times.seconds;
    let mut timed = Timed { inner: Serial::new(&*problem), seconds: 0.0 };
    let result = run.go_audited(&mut timed, &RunOptions::default(), Some(&audit), &mut []).unwrap();
    assert_ne!(result.audit.unwrap().verdict, Verdict::Incomplete);
    // The search had ended before: only the audit has evaluated anything.
    assert!(timed.seconds > 0.0 && result.times.seconds >= before + timed.seconds, "{:?}", result.times);
    assert_eq!(run.checkpoint().times, result.times);
}
