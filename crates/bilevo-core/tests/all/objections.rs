//! A run that has ended goes on when somebody knows a better answer of the follower.

use crate::common::{Answer, finish};
use bilevo_core::Engine;
use bilevo_core::methods;
use bilevo_core::problem::{Level, LevelSpec, ProblemSpec};

/// The follower answers 0.5, but for a well at 0.9 that is far too narrow to be found: F is 0 with the former answer,
/// 0.16 with the latter.
fn needle(level: Level, x: &[f64], y: &[f64]) -> Answer {
    let value = match level {
        Level::Upper => (x[0] - 0.3).powi(2) + (y[0] - 0.5).powi(2),
        Level::Lower => (y[0] - 0.5).powi(2) - if (y[0] - 0.9).abs() < 1e-7 { 2.0 } else { 0.0 },
    };
    Some((value, Vec::new()))
}

fn ended(method: &str) -> Engine {
    let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
    let config = methods::find(method).unwrap().config();
    let mut engine = Engine::new(ProblemSpec::new("needle", level(), level()), config, 1).unwrap();
    finish(&mut engine, needle);
    engine
}

#[test]
fn a_better_answer_replaces_the_one_found_everywhere() {
    let mut engine = ended("portfolio");
    assert!(engine.summary().solution.unwrap().upper_value < 1e-6, "the well is found: choose a narrower one");
    let before = engine.summary();
    assert!(engine.object(&[0.9]));
    finish(&mut engine, needle);
    let after = engine.summary();
    let (solution, verification) = (after.solution.unwrap(), after.verification.unwrap());
    assert!((solution.upper_value - 0.16).abs() < 1e-6 && (solution.y[0] - 0.9).abs() < 1e-7, "{solution:?}");
    assert!(verification.rechecked && verification.corrected > before.verification.unwrap().corrected);
}

#[test]
fn an_answer_that_is_no_better_changes_nothing_but_is_looked_at() {
    let mut engine = ended("portfolio");
    let before = engine.summary();
    assert!(engine.object(&[0.7]));
    finish(&mut engine, needle);
    let after = engine.summary();
    assert_eq!((after.stop, after.solution), (before.stop, before.solution));
    let rechecks = |verification: Option<bilevo_core::record::Verification>| verification.unwrap().rechecks;
    assert_eq!(rechecks(after.verification), rechecks(before.verification) + 1);
}

#[test]
fn methods_that_do_not_verify_have_nothing_to_go_on_with() {
    let mut engine = ended("bl-cma-es");
    let stop = engine.summary().stop;
    assert!(stop.is_some() && !engine.object(&[0.9]));
    assert_eq!(engine.summary().stop, stop);
}
