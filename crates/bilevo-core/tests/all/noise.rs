//! Values that differ from one evaluation of a point to the next.

use crate::common::{Answer, bytes, drive, finish};
use bilevo_core::config::Config;
use bilevo_core::problem::{Level, LevelSpec, ProblemSpec};
use bilevo_core::record::{StopReason, Summary};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_core::{Engine, methods};

fn spec() -> ProblemSpec {
    ProblemSpec::new("noisy", LevelSpec::boxed(vec![(-5.0, 5.0)]), LevelSpec::boxed(vec![(-5.0, 5.0)]))
}

fn default() -> Config {
    methods::find("portfolio").unwrap().config()
}

/// The follower answers y = x / 2: the optimum is x = 0.8, y = 0.4, F = 0.2, f = -1.
fn exact(level: Level, x: &[f64], y: &[f64]) -> f64 {
    match level {
        Level::Upper => (x[0] - 1.0).powi(2) + y[0].powi(2),
        Level::Lower => (y[0] - 0.5 * x[0]).powi(2) - 1.0,
    }
}

/// The same with noise of F and f.
fn noisy(sizes: [f64; 2], mut stream: Stream) -> impl FnMut(Level, &[f64], &[f64]) -> Answer {
    move |level, x, y| {
        let size = sizes[usize::from(level == Level::Lower)];
        Some((exact(level, x, y) + size * stream.normal(), Vec::new()))
    }
}

fn run(sizes: [f64; 2], seed: u64) -> Summary {
    let mut engine = Engine::new(spec(), default(), seed).unwrap();
    finish(&mut engine, noisy(sizes, Streams::new(seed).open(Purpose::Instance, 0, 0)));
    engine.summary()
}

#[test]
fn noise_at_both_levels_is_noticed_measured_and_lived_with() {
    let mut agreed = 0;
    for seed in 1..=12 {
        let summary = run([0.05, 0.05], seed);
        let (solution, noise) = (summary.solution.unwrap(), summary.noise.unwrap());
        agreed += usize::from(summary.stop == Some(StopReason::Agreed));
        assert!(summary.evaluations.total() <= 20_000, "{seed}: {}", summary.evaluations.total());
        for (size, error) in [(noise.upper, noise.upper_error), (noise.lower, noise.lower_error)] {
            assert!((0.025..0.1).contains(&size) && error < 0.5 * size, "{seed}: {noise:?}");
        }
        // What single values cannot tell apart: F and f within two standard deviations of the best.
        assert!(1.25 * (solution.x[0] - 0.8).powi(2) < 0.1, "{seed}: {solution:?}");
        assert!((solution.y[0] - 0.5 * solution.x[0]).powi(2) < 0.1, "{seed}: {solution:?}");
        let off = |level: Level, value: f64| (value - exact(level, &solution.x, &solution.y)).abs();
        assert!(off(Level::Upper, solution.upper_value) < 4.0 * noise.upper_error, "{seed}: {solution:?}");
        assert!(off(Level::Lower, solution.lower_value) < 4.0 * noise.lower_error, "{seed}: {solution:?}");
    }
    assert!(agreed >= 10, "{agreed} of 12");
}

#[test]
fn one_level_may_be_noisy_alone() {
    for sizes in [[0.05, 0.0], [0.0, 0.05]] {
        let summary = run(sizes, 1);
        let (solution, noise) = (summary.solution.unwrap(), summary.noise.unwrap());
        assert_eq!([noise.upper > 0.0, noise.lower > 0.0], sizes.map(|size| size > 0.0));
        assert!(1.25 * (solution.x[0] - 0.8).powi(2) < 0.1 && summary.evaluations.total() < 20_000, "{solution:?}");
    }
}

#[test]
fn exact_values_cost_one_repeated_point_at_each_level() {
    let mut engine = Engine::new(spec(), default(), 1).unwrap();
    let mut points: Vec<(Level, u64, u64)> = Vec::new();
    finish(&mut engine, |level, x, y| {
        points.push((level, x[0].to_bits(), y[0].to_bits()));
        Some((exact(level, x, y), Vec::new()))
    });
    assert_eq!(engine.summary().noise, None);
    // The follower's value, then the leader's, of a point whose values are known.
    let known = |i: usize| points[..i].contains(&points[i]);
    let again = |i: usize| {
        let ((first, x, y), next) = (points[i], points[i + 1]);
        first == Level::Lower && next == (Level::Upper, x, y) && known(i) && known(i + 1)
    };
    assert_eq!((0..points.len() - 1).filter(|i| again(*i)).count(), 1);
}

#[test]
fn a_budget_that_was_asked_for_holds() {
    for budget in [200, 500, 1500] {
        let mut config = default();
        config.stop.max_evals = Some(budget);
        let mut engine = Engine::new(spec(), config, 1).unwrap();
        finish(&mut engine, noisy([0.05, 0.05], Streams::new(1).open(Purpose::Instance, 0, 0)));
        assert!(engine.summary().evaluations.total() <= budget + 100, "{budget}: {:?}", engine.summary().evaluations);
    }
}

#[test]
fn a_noisy_run_goes_on_from_its_state_bit_for_bit() {
    let problem = || noisy([0.05, 0.05], Streams::new(2).open(Purpose::Instance, 0, 0));
    let mut whole = Engine::new(spec(), default(), 2).unwrap();
    let records = finish(&mut whole, problem());
    let mut broken = Engine::new(spec(), default(), 2).unwrap();
    let again = drive(&mut broken, problem(), |engine, _| *engine = postcard::from_bytes(&bytes(engine)).unwrap());
    assert_eq!(bytes(&records), bytes(&again));
    assert_eq!(bytes(&whole), bytes(&broken));
}
