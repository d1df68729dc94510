//! Open boxes, and boxes far too wide.

use crate::common::{Answer, bytes, finish};
use bilevo_core::config::Config;
use bilevo_core::engine::Start;
use bilevo_core::methods;
use bilevo_core::portfolio::config::Effort;
use bilevo_core::problem::{Level, LevelSpec, ProblemSpec};
use bilevo_core::{Ask, Engine};

const INF: f64 = f64::INFINITY;

fn spec(x: (f64, f64), y: (f64, f64)) -> ProblemSpec {
    ProblemSpec::new("boxes", LevelSpec::boxed(vec![x]), LevelSpec::boxed(vec![y]))
}

fn default() -> Config {
    methods::find("portfolio").unwrap().config()
}

/// The follower answers y = x / 10 and the leader wants x = 300, y = 20: F = 99.0099 at x = 302 / 1.01.
fn far(level: Level, x: &[f64], y: &[f64]) -> Answer {
    let value = match level {
        Level::Upper => (x[0] - 300.0).powi(2) + (y[0] - 20.0).powi(2),
        Level::Lower => (y[0] - 0.1 * x[0]).powi(2),
    };
    Some((value, Vec::new()))
}

/// Everything happens within a few units of zero; the optimum is F = 2 at x = y = 1.3.
fn near(level: Level, x: &[f64], y: &[f64]) -> Answer {
    let value = match level {
        Level::Upper => 2.0 + (x[0] - 1.3).powi(2) + (y[0] - x[0]).powi(2),
        Level::Lower => 1.5 + (y[0] - x[0]).powi(2) + 0.4 * (5.0 * (y[0] - x[0])).sin().powi(2),
    };
    Some((value, Vec::new()))
}

#[test]
fn an_open_box_grows_until_it_holds_the_optimum() {
    let mut engine = Engine::new(spec((-INF, INF), (0.0, INF)), default(), 1).unwrap();
    let mut within = true;
    finish(&mut engine, |level, x, y| {
        within &= x[0].is_finite() && y[0] >= 0.0 && y[0].is_finite();
        far(level, x, y)
    });
    let summary = engine.summary();
    let solution = summary.solution.unwrap();
    assert!(within);
    assert!((solution.upper_value - 99.0099).abs() < 1e-3, "{solution:?}");
    assert!(summary.edges.is_empty() && summary.verification.unwrap().agreeing >= 3);
    assert!(engine.searched().unwrap().upper.space.bounds()[0].1 < 1e4);
    assert_eq!(engine.spec().upper.space.bounds(), [(-INF, INF)]);
}

#[test]
fn a_published_method_grows_its_box_too() {
    let mut config = methods::find("bl-cma-es").unwrap().config();
    config.stop.max_upper_evals = Some(100_000);
    let mut engine = Engine::new(spec((-INF, INF), (0.0, INF)), config, 1).unwrap();
    finish(&mut engine, far);
    let solution = engine.summary().solution.unwrap();
    assert!((solution.upper_value - 99.0099).abs() < 0.1, "{solution:?}");
}

#[test]
fn a_run_in_an_open_box_can_be_saved_at_any_time() {
    let open = || Engine::new(spec((-INF, INF), (0.0, INF)), default(), 3).unwrap();
    let (mut plain, mut saved) = (open(), open());
    finish(&mut plain, far);
    let owned = open().spec().clone();
    while let Ask::Evaluate(batch) = saved.ask() {
        let replies = crate::common::answer(&owned, batch, &mut |level, x: &[f64], y: &[f64]| far(level, x, y));
        saved.tell(&replies).unwrap();
        saved = postcard::from_bytes(&bytes(&saved)).unwrap();
    }
    assert_eq!(bytes(&plain), bytes(&saved));
}

#[test]
fn a_box_far_too_wide_is_made_smaller_and_an_ordinary_one_is_not() {
    for (reach, smaller) in [(1e3, true), (5.0, false)] {
        let mut engine = Engine::new(spec((-reach, 0.7 * reach), (-0.3 * reach, reach)), default(), 2).unwrap();
        finish(&mut engine, near);
        let solution = engine.summary().solution.unwrap();
        assert!((solution.upper_value - 2.0).abs() < 1e-4, "{solution:?}");
        assert_eq!(engine.searched().is_some(), smaller);
    }
}

#[test]
fn a_problem_without_an_optimum_ends_at_an_edge_and_says_so() {
    let mut engine = Engine::new(spec((-INF, 5.0), (0.0, 1.0)), default(), 1).unwrap();
    finish(&mut engine, |level, x, y| {
        Some((if level == Level::Upper { x[0] + y[0] } else { (y[0] - 0.5).powi(2) }, Vec::new()))
    });
    assert_eq!(engine.summary().edges, ["x1"]);
}

#[test]
fn the_first_box_lies_around_the_start() {
    let mut config = default();
    config.portfolio.effort = Effort::Local;
    let mut engine = Engine::new(spec((-INF, INF), (-INF, INF)), config, 1).unwrap();
    engine.start_at(&[Start { x: vec![5e4], y: None }]).unwrap();
    assert_eq!(engine.searched().unwrap().upper.space.bounds(), [(-45e4, 55e4)]);
    finish(&mut engine, |level, x, y| far(level, &[x[0] - 5e4], y));
    let solution = engine.summary().solution.unwrap();
    assert!((solution.x[0] - 5e4 - 299.0099).abs() < 1.0, "{solution:?}");
}

/// A toll that drives everybody away but for the lowest ones: F = 0 in nearly all of the box, and -200 at x = 20.
fn toll(level: Level, x: &[f64], y: &[f64]) -> Answer {
    let value = match level {
        Level::Upper => -x[0] * y[0],
        Level::Lower => y[0] * y[0] - (40.0 - x[0]) * y[0],
    };
    Some((value, Vec::new()))
}

#[test]
fn a_plateau_that_fills_the_box_is_not_the_answer() {
    for (seed, high) in [(1, 1e5), (2, 1e6), (3, 1e5)] {
        let mut engine = Engine::new(spec((0.0, high), (0.0, 50.0)), default(), seed).unwrap();
        finish(&mut engine, toll);
        let solution = engine.summary().solution.unwrap();
        assert!((solution.upper_value + 200.0).abs() < 0.1, "{seed}, {high}: {solution:?}");
    }
}
