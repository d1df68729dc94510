//! What several tests need: a run of a built-in problem, and results without their timings.
#![allow(dead_code)] // every test file uses a part of it

use bilevo::problems::{BoxedProblem, problem};
use bilevo::{Config, Engine, Event, Observer, Report, Run, SolveResult};
use std::ops::ControlFlow;

pub const METHODS: [&str; 4] = ["bl-cma-es", "tlea-de", "cr-tlea-cma-es", "cr-bl-cma-es-published"];

pub fn smd(number: usize) -> BoxedProblem {
    problem(&format!("smd{number}"), None).unwrap()
}

/// A run of a problem, short enough for a test.
pub fn run_of(problem: &BoxedProblem, method: &str, seed: u64) -> Run {
    let mut config = Config::named(method).unwrap();
    config.stop.max_upper_evals = Some(60);
    Run::new(Engine::new(problem.spec().clone(), config, seed).unwrap(), method)
}

/// The result as JSON with the timings taken out.
pub fn timeless(run: &Run, report: &Report) -> String {
    let mut result = SolveResult::new(run.engine(), run.method(), report);
    (result.seconds, result.training_seconds) = (0.0, 0.0);
    serde_json::to_string(&result).unwrap()
}

/// Stops a run after a number of batches.
pub struct StopAfter(pub usize);

impl Observer for StopAfter {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::BatchDone { .. } = event {
            self.0 = self.0.saturating_sub(1);
            if self.0 == 0 {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}
