//! A budget over both levels holds within one batch, for every method.

use bilevo::{AuditOptions, Event, Observer, RunResult, Solver, Status, StopReason, source};
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

const BUDGETS: [u64; 4] = [20, 100, 300, 1000];

fn limited(name: &str, dims: Option<(usize, usize)>, method: &str, budget: u64, audit: bool) -> (RunResult, u64) {
    let problem = source::open(name, dims).unwrap();
    let mut latest = Latest::default();
    let solver = Solver::new(&*problem).method(method).seed(1).max_evals(budget).set("stop.target", "off");
    let solver = if audit { solver.audit(AuditOptions::default()) } else { solver };
    (solver.observer(&mut latest).run().unwrap(), latest.0)
}

#[test]
fn a_total_budget_is_kept_within_one_batch() {
    for number in 1..=12 {
        let name = format!("smd{number}");
        for method in bilevo::methods::all().map(|method| method.name()) {
            for budget in BUDGETS {
                let (result, latest) = limited(&name, None, &method, budget, false);
                let total = result.evaluations.total();
                assert_eq!(result.stop, Status::Finished(StopReason::Budget), "{name} {method} {budget}");
                assert!(total < budget + latest, "{name} {method}: {total} of {budget}, the last batch {latest}");
                assert!(budget < 300 || result.x().is_some(), "{name} {method} {budget}: no answer");
            }
        }
    }
}

#[test]
fn an_audit_is_within_the_total() {
    for name in ["smd1", "smd6", "smd9"] {
        for method in ["auto", "bl-cma-es"] {
            for budget in BUDGETS {
                let (result, latest) = limited(name, None, method, budget, true);
                let spent = result.audit.as_ref().map_or(0, |audit| audit.evaluations.upper + audit.evaluations.lower);
                let total = result.evaluations.total() + spent;
                // A small population's batch is the largest of an audit.
                assert!(total < budget + latest.max(8), "{name} {method}: {total} of {budget}, {spent} by the audit");
                assert!(budget < 300 || spent > budget / 10, "{name} {method} {budget}: {spent} by the audit");
            }
        }
    }
}

#[test]
fn the_default_method_keeps_a_part_of_a_small_budget_for_a_verdict() {
    for name in ["smd1", "smd2", "smd3", "smd4", "smd7", "smd9"] {
        for budget in BUDGETS {
            let (result, _) = limited(name, Some((2, 2)), "auto", budget, false);
            let verified = result.verification.is_some_and(|v| v.rechecked);
            assert!(verified || budget < 100, "{name} {budget}: not verified");
            let total = result.evaluations.total();
            assert!(total <= budget + 10, "{name} {budget}: {total}");
            let said = result.warnings.iter().any(|w| w.message.contains("budget"));
            assert!(said || result.success, "{name} {budget}");
            if name == "smd1" && budget >= 300 {
                assert!(result.upper_value().is_some_and(|value| value < 2e-6), "{:?}", result.upper_value());
            }
        }
    }
}
