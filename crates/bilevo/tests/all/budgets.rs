//! A budget over both levels holds within one batch, for every method.

use bilevo::{Event, Observer, Solver, Status, StopReason, source};
use std::ops::ControlFlow;

/// The size of the latest batch.
#[derive(Default)]
struct Latest(u64);

impl Observer for Latest {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::BatchDone { points, .. } = event {
            self.0 = *points as u64;
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_total_budget_is_kept_within_one_batch() {
    for name in ["smd1", "smd9", "smd12"] {
        for method in ["auto", "bl-cma-es", "cr-tlea-cma-es", "tlea-de", "motea", "cr-boc"] {
            for budget in [20, 100, 300, 1000] {
                let smd = source::open(name, None).unwrap();
                let mut latest = Latest::default();
                let solver = Solver::new(&*smd).method(method).seed(1).max_evals(budget);
                let result = solver.set("stop.target", "off").observer(&mut latest).run().unwrap();
                let total = result.evaluations.total();
                assert_eq!(result.stop, Status::Finished(StopReason::Budget), "{name} {method} {budget}");
                assert!(total < budget + latest.0, "{name} {method}: {total} of {budget}, the last batch {}", latest.0);
                assert!(budget < 300 || result.x.is_some(), "{name} {method} {budget}: no answer");
            }
        }
    }
}
