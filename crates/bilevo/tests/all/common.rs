//! What several tests need: a run of a built-in problem, and results without their timings.

use bilevo::problems::{BoxedProblem, problem};
use bilevo::{Config, Engine, Event, Observer, Run, RunResult, Times};
use std::ops::ControlFlow;

pub(crate) const METHODS: [&str; 4] = ["bl-cma-es", "tlea-de", "cr-tlea-cma-es", "cr-bl-cma-es-published"];

pub(crate) fn smd(number: usize) -> BoxedProblem {
    problem(&format!("smd{number}"), None).unwrap()
}

/// A run of a problem, short enough for a test.
pub(crate) fn run_of(problem: &BoxedProblem, method: &str, seed: u64) -> Run {
    let mut config = Config::named(method).unwrap();
    config.stop.max_upper_evals = Some(60);
    Run::new(Engine::new(problem.spec().clone(), config, seed).unwrap(), method)
}

/// The result as JSON with the timings taken out.
pub(crate) fn timeless(result: &RunResult) -> String {
    serde_json::to_string(&RunResult { times: Times::default(), ..result.clone() }).unwrap()
}

/// Stops a run after a number of batches.
pub(crate) struct StopAfter(pub(crate) usize);

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
