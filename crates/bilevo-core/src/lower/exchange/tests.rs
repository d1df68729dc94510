use super::*;
use crate::config::Config;
use crate::order;
use crate::problem::{Level, LevelSpec, ProblemSpec};
use crate::rng::{Purpose, Streams};

/// Runs one task to its end; the answer and the number of evaluations.
fn solve(space: Space, thorough: bool, guess: &[f64], f: impl Fn(&[f64]) -> Outcome) -> (LowerAnswer, usize) {
    let spec = ProblemSpec::new("p", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::new(space));
    let config = Config::named("exchange-cma-es").unwrap();
    let sizes = config.check(&spec).unwrap();
    let rules = match thorough {
        true => LowerRules::refining(&spec, &config.lower, &sizes),
        false => LowerRules::new(&spec, &config.lower, &sizes),
    };
    let mut search = Exchange::new(rules);
    let start = Cma::round(guess.to_vec(), 1.0);
    let streams = SearchStreams { streams: Streams::new(2), purpose: Purpose::Lower, generation: 1 };
    search.open(&[LowerTask { x: &[0.5], guess, start: &start }], &start, streams);
    let mut batch = Batch::new(&spec);
    let mut spent = 0;
    loop {
        batch.start(Level::Lower, 0);
        search.ask(&mut batch);
        if batch.is_empty() {
            return (search.answers().remove(0), spent);
        }
        spent += batch.len();
        let outcomes: Vec<Outcome> = (0..batch.len()).map(|i| f(batch.y(i))).collect();
        search.tell(&batch, Answers::without_constraints(&outcomes));
    }
}

/// A knapsack: the value of what is taken, negated, and the weight beyond 10.
fn knapsack(y: &[f64]) -> Outcome {
    let (values, weights) = ([6.0, 5.0, 4.0, 3.0, 7.0, 2.0, 5.0, 6.0], [5.0, 4.0, 3.0, 2.0, 6.0, 1.0, 4.0, 5.0]);
    let sum = |of: &[f64]| of.iter().zip(y).map(|(a, y)| a * y).sum::<f64>();
    Outcome { value: -sum(&values), violation: (sum(&weights) - 10.0).max(0.0) }
}

fn binaries(count: usize) -> Space {
    (0..count).fold(Space::new(), |space, i| space.binary(format!("y{i}")))
}

#[test]
fn few_answers_are_all_tried_once() {
    let space = Space::new().whole("a", 0.0, 7.0).whole("b", -2.0, 2.0);
    let (answer, spent) = solve(space, false, &[3.0, 0.0], |y| Outcome {
        value: if y == [6.0, -1.0] { -1.0 } else { 0.0 },
        violation: 0.0,
    });
    assert_eq!((&answer.y[..], answer.converged, spent), (&[6.0, -1.0][..], true, 40), "a needle is found");
}

#[test]
fn climbing_takes_moves_and_exchanges() {
    let (answer, spent) = solve(binaries(8), false, &[0.0; 8], knapsack);
    assert!(answer.outcome.violation == 0.0 && answer.outcome.value <= -12.0 && answer.converged, "{answer:?}");
    let (space, best) = (binaries(8), answer.outcome);
    let near = || space.moves(&answer.y).chain(space.exchanges(&answer.y));
    assert!(near().count() > 15 && near().all(|y| !order::better(&knapsack(&y), &best)), "nothing near is better");
    assert!(spent < 120, "{spent}");
    let (exact, spent) = solve(binaries(8), true, &[0.0; 8], knapsack);
    assert_eq!((exact.outcome.value, spent), (-14.0, 256), "thorough: all of them");
}

#[test]
fn wide_ranges_and_reals_are_walked_in_large_steps() {
    let space = Space::new().whole("n", 0.0, 1e9).real("z", 0.0, 4.0);
    let (answer, spent) = solve(space, false, &[3.0, 1.0], |y| Outcome {
        value: ((y[0] - 123_456_789.0) / 1e8).powi(2) + (y[1] - 2.5).powi(2),
        violation: 0.0,
    });
    assert_eq!(answer.y[0], 123_456_789.0);
    assert!((answer.y[1] - 2.5).abs() < 1e-4 && spent < 3_000, "{answer:?} {spent}");
}

#[test]
fn failures_end_nothing() {
    let (answer, _) = solve(binaries(8), false, &[1.0; 8], |_| Outcome::FAILED);
    assert!(answer.outcome.is_failed());
}

#[test]
fn what_is_compared_with_a_decision_close_by_is_known_better() {
    let lower = Space::new().binary("a").real("z", 0.0, 4.0);
    let spec = ProblemSpec::new("p", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::new(lower));
    let config = Config::named("exchange-cma-es").unwrap();
    let sizes = config.check(&spec).unwrap();
    let start = Cma::round(vec![0.0, 1.0], 1.0);
    let tolerance = |rules: LowerRules, x: f64| {
        let mut search = Exchange::new(rules);
        search.learn(&[0.5], &[1.0, 2.0]);
        let task = LowerTask { x: &[x], guess: &[0.0, 1.0], start: &start };
        search.climb(&task, Streams::new(2).open(Purpose::Lower, 1, 0)).tolerance
    };
    let usual = || LowerRules::new(&spec, &config.lower, &sizes);
    let [far, near, nearest] = [0.9, 0.501, 0.500_001].map(|x| tolerance(usual(), x));
    assert_eq!((far, nearest), (1e-4, 1e-6));
    assert!((near - 1e-5).abs() < 1e-12, "{near}");
    assert_eq!(tolerance(LowerRules::refining(&spec, &config.lower, &sizes), 0.9), 1e-6, "a refinement is exact");
}

/// Two wells, at -1 and 1; the one at -1 is deeper.
fn wells(y: &[f64]) -> Outcome {
    Outcome { value: (y[0] * y[0] - 1.0).powi(2) + 0.2 * y[0], violation: 0.0 }
}

#[test]
fn a_refinement_finds_the_deeper_well_of_reals() {
    let space = || Space::new().real("z", -2.0, 2.0);
    let (near, _) = solve(space(), false, &[1.2], wells);
    assert!((near.y[0] - 0.97).abs() < 0.01, "{near:?}: the well where it starts");
    let (refined, spent) = solve(space(), true, &[1.2], wells);
    assert!((refined.y[0] + 1.02).abs() < 0.01 && spent < 150, "{refined:?} {spent}");
}

#[test]
fn ends_in_other_wells_are_starts_at_the_next_decision() {
    let spec =
        ProblemSpec::new("p", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::new(Space::new().real("z", -2.0, 2.0)));
    let config = Config::named("exchange-cma-es").unwrap();
    let sizes = config.check(&spec).unwrap();
    let mut search = Exchange::new(LowerRules::new(&spec, &config.lower, &sizes));
    let end = |y: f64| End { y: vec![y], row: Vec::new(), outcome: wells(&[y]) };
    search.remember(Answered { x: vec![0.5], ends: vec![end(-1.02), end(0.97)] });
    // The nearest decision knows one end only; the nearest with several helps.
    search.remember(Answered { x: vec![0.6], ends: vec![end(0.97)] });
    assert_eq!(search.nearby(&[0.7]).0, [[0.97], [-1.02]]);
    search.remember(Answered { x: vec![0.65], ends: vec![end(-1.0), end(0.96)] });
    assert_eq!(search.nearby(&[0.7]).0, [[-1.0], [0.96]]);
}
