//! Whole numbers and fixed variables from outside: what is asked, what is returned, what is kept.

use crate::common::{Answer, bytes, drive};
use bilevo_core::config::{Config, PositionKind};
use bilevo_core::methods::{self, BASES};
use bilevo_core::oracle::OracleAnswer;
use bilevo_core::problem::{Level, LevelSpec, ProblemSpec, SpecError};
use bilevo_core::space::Space;
use bilevo_core::{Ask, Engine, Level::Lower, Replies};
use std::collections::BTreeSet;

/// The leader sets a price and a number of shops, the rent being fixed; the follower buys whole packets.
fn shops() -> ProblemSpec {
    let upper = Space::new().real("price", 0.0, 10.0).whole("shops", 0.0, 6.0).real("rent", 1.5, 1.5);
    let lower = Space::new().whole("packets", 0.0, 9.0).binary("bag");
    ProblemSpec::new("shops", LevelSpec::new(upper), LevelSpec::new(lower))
}

fn sell(level: Level, x: &[f64], y: &[f64]) -> Answer {
    let (price, shops, rent) = (x[0], x[1], x[2]);
    let wish = 8.0 - price + 0.5 * shops;
    Some(match level {
        Level::Upper => (rent * shops - price * y[0] + y[1], vec![]),
        Lower => ((y[0] - wish).powi(2) + (y[1] - 0.3).powi(2), vec![]),
    })
}

fn solve(method: &str, seed: u64, check: impl FnMut(Level, &[f64], &[f64])) -> Engine {
    let mut check = check;
    let mut engine = Engine::new(shops(), Config::named(method).unwrap(), seed).unwrap();
    drive(
        &mut engine,
        |level, x, y| {
            check(level, x, y);
            sell(level, x, y)
        },
        |_, _| {},
    );
    engine
}

#[test]
fn every_method_asks_for_points_of_the_space_alone_and_for_each_once() {
    let spec = shops();
    for method in BASES.iter().chain([&methods::EXCHANGE]) {
        let mut asked = BTreeSet::new();
        let engine = solve(method.name, 3, |level, x, y| {
            assert!(spec.upper.space.contains(x) && spec.lower.space.contains(y), "{}: {x:?} {y:?}", method.name);
            let key: Vec<u64> = x.iter().chain(y).map(|v| v.to_bits()).collect();
            assert!(asked.insert((level == Level::Upper, key)), "{}: {x:?} {y:?} again", method.name);
        });
        assert_eq!(engine.spec(), &spec);
        let summary = engine.summary();
        assert_eq!(asked.len() as u64, summary.evaluations.upper + summary.evaluations.lower, "{}", method.name);
        let solution = summary.solution.unwrap();
        assert!(spec.upper.space.contains(&solution.x) && spec.lower.space.contains(&solution.y), "{solution:?}");
        let (value, _) = sell(Level::Upper, &solution.x, &solution.y).unwrap();
        assert_eq!(value, solution.upper_value, "{}: value and point belong together", method.name);
        assert_eq!(solution.y[1], 0.0, "{}: the follower's own wish", method.name);
    }
}

#[test]
fn a_saved_run_goes_on_with_what_it_knows() {
    let plain = solve("exchange-cma-es", 5, |_, _, _| {});
    let mut saved = Engine::new(shops(), Config::named("exchange-cma-es").unwrap(), 5).unwrap();
    drive(&mut saved, sell, |engine, _| *engine = postcard::from_bytes(&bytes(&*engine)).unwrap());
    assert_eq!(bytes(&plain), bytes(&saved));
}

#[test]
fn auto_says_what_it_is_where_there_are_whole_numbers() {
    let choice = methods::choose("auto", &shops(), &[]).unwrap();
    assert_eq!(choice.method.name(), "exchange-cma-es");
    assert!(choice.notice.unwrap().contains("whole numbers"));
    let mut real = shops();
    real.lower.space = vec![(0.0, 1.0)].into();
    let name = |spec: &ProblemSpec| methods::choose("auto", spec, &[]).unwrap().method.name();
    assert_eq!(name(&real), "exchange-cma-es", "the leader's are enough");
    real.lower.equalities = 1;
    assert_eq!(name(&real), methods::DEFAULT, "equations of reals are not met by exchanges");
    let mut plain = real;
    plain.upper.space = vec![(0.0, 1.0)].into();
    assert_eq!(name(&plain), methods::DEFAULT);
    let oracle = ProblemSpec::with_oracle("own", shops().upper);
    assert_eq!(name(&oracle), "exchange-cma-es");
}

#[test]
fn spaces_that_cannot_be_searched_are_refused() {
    let refused = |change: fn(&mut ProblemSpec)| {
        let mut spec = shops();
        change(&mut spec);
        Engine::new(spec, Config::named("bl-cma-es").unwrap(), 1).unwrap_err().to_string()
    };
    let message = refused(|s| s.lower.space = Space::new().whole("n", 0.2, 0.8));
    assert!(message.contains("lower") && message.contains("no whole number") && message.contains("`n`"), "{message}");
    let message = refused(|s| s.upper.space = Space::new().real("p", f64::INFINITY, f64::INFINITY));
    assert!(message.contains("`p` has the box [inf, inf]"), "{message}");
    let message = refused(|s| s.lower.space = Space::from(vec![(1.0, 1.0)]));
    assert!(message.contains("every lower variable is fixed"), "{message}");
    assert_eq!(shops().check(), Ok::<(), SpecError>(()));
}

/// Knapsack interdiction: the leader takes items away within a budget, the follower packs the best of the rest.
struct Interdiction {
    value: Vec<f64>,
    weight: Vec<usize>,
    cost: Vec<f64>,
    budget: f64,
    room: usize,
}

impl Interdiction {
    /// Numbers that look random.
    fn new(items: usize, number: u64) -> Self {
        let mut state = number * 7919 + 13;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below + 1
        };
        let value: Vec<f64> = (0..items).map(|_| (5 + draw(25)) as f64).collect();
        let weight: Vec<usize> = (0..items).map(|_| draw(15) as usize).collect();
        let cost: Vec<f64> = (0..items).map(|_| draw(8) as f64).collect();
        let (budget, room) = ((0.35 * cost.iter().sum::<f64>()).floor(), weight.iter().sum::<usize>() / 2);
        Interdiction { value, weight, cost, budget, room }
    }

    /// The follower's best by dynamic programming.
    fn packed(&self, x: &[f64]) -> f64 {
        let mut best = vec![0.0_f64; self.room + 1];
        for item in (0..x.len()).filter(|&item| x[item] == 0.0) {
            for room in (self.weight[item]..=self.room).rev() {
                best[room] = best[room].max(best[room - self.weight[item]] + self.value[item]);
            }
        }
        best[self.room]
    }
}

/// The optima are by enumeration of all decisions that spend the budget.
#[test]
#[allow(clippy::print_stdout)] // the guide says how to see it
fn twenty_items_with_a_follower_of_its_own_take_few_calls() {
    let instances = [(1, 144.0), (2, 125.0), (3, 109.0)];
    for ((number, optimum), seed) in
        instances.into_iter().flat_map(|instance| (1..=3).map(move |seed| (instance, seed)))
    {
        let items = Interdiction::new(20, number);
        let space = (0..20).fold(Space::new(), |space, i| space.binary(format!("x{i}")));
        let mut upper = LevelSpec::new(space);
        upper.inequalities = 1;
        let spec = ProblemSpec::with_oracle("interdiction", upper);
        let config = methods::choose("auto", &spec, &[]).unwrap().config;
        let mut engine = Engine::new(spec.clone(), config, seed).unwrap();
        let (mut replies, mut calls) = (Replies::default(), BTreeSet::new());
        while let Ask::Evaluate(batch) = engine.ask() {
            replies.start_on(&spec, batch);
            for i in 0..batch.len() {
                let x = batch.x(i);
                let over = x.iter().zip(&items.cost).map(|(x, c)| x * c).sum::<f64>() - items.budget;
                match batch.answer(i) {
                    Some(answer) => replies.push(&spec, answer.y[0], &[over]),
                    None => {
                        calls.insert(x.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
                        replies.push_answer(&spec, OracleAnswer::new([items.packed(x)]));
                    }
                }
            }
            engine.tell(&replies).unwrap();
        }
        let summary = engine.summary();
        let asked = summary.evaluations.lower;
        println!("instance {number}, seed {seed}: {asked} calls, {}", summary.solution.as_ref().unwrap().upper_value);
        assert_eq!(summary.solution.unwrap().upper_value, optimum, "instance {number}");
        assert!(asked <= 1_500 && asked - calls.len() as u64 <= 1, "instance {number}: {asked}, {}", calls.len());
    }
}

/// Two answers are equally good for the follower, 3 and n + 4; 7 is a little worse, and tempts the leader.
fn tie(level: Level, x: &[f64], y: &[f64]) -> Answer {
    let (n, k) = (x[0], y[0]);
    let close = if k == 3.0 || k == n + 4.0 { 0.0 } else { 100.0 + k };
    Some(match level {
        Level::Upper => (10.0 * (n - 2.0).abs() + k + if k == 11.0 { -500.0 } else { 0.0 }, vec![]),
        Lower => (if k == 11.0 { 0.01 } else { close }, vec![]),
    })
}

#[test]
fn ties_between_whole_answers_are_told_from_answers_that_are_nearly_as_good() {
    let upper = LevelSpec::new(Space::new().whole("n", 0.0, 5.0));
    // Few answers are all tried, more are climbed to.
    for most in [11.0, 200.0] {
        let lower = LevelSpec::new(Space::new().whole("k", 0.0, most));
        let spec = ProblemSpec::new("tie", upper.clone(), lower);
        for (kind, best) in [(PositionKind::Optimistic, (2.0, 3.0)), (PositionKind::Pessimistic, (2.0, 6.0))] {
            let mut config = methods::choose("auto", &spec, &[]).unwrap().config;
            config.position.kind = kind;
            let mut engine = Engine::new(spec.clone(), config, 1).unwrap();
            drive(&mut engine, tie, |_, _| {});
            let solution = engine.summary().solution.unwrap();
            assert_eq!((solution.x[0], solution.y[0], solution.lower_value), (best.0, best.1, 0.0), "{kind:?} {most}");
        }
    }
}

/// The reals ask for ever smaller steps; without a margin every whole number would soon be drawn as one value.
#[test]
fn no_whole_number_freezes_in_a_published_method() {
    let space = |name: &str| {
        let whole = |space: Space, i| space.whole(format!("{name}{i}"), 0.0, 9.0);
        (0..2).fold(Space::new(), whole).real(format!("{name}r"), -5.0, 5.0)
    };
    let spec = ProblemSpec::new("margin", LevelSpec::new(space("x")), LevelSpec::new(space("y")));
    for method in ["bl-cma-es", "tlea-cma-es"] {
        let mut config = Config::named(method).unwrap();
        config.stop.max_upper_evals = Some(1_200);
        config.stop.upper_window = Some(1_200);
        let mut engine = Engine::new(spec.clone(), config, 1).unwrap();
        let (mut decisions, mut answers) = (Vec::new(), Vec::new());
        drive(
            &mut engine,
            |level, x, y| {
                let bowl = |v: &[f64], centre: &[f64]| v.iter().zip(centre).map(|(v, c)| (v - c).powi(2)).sum::<f64>();
                Some(match level {
                    Level::Upper => {
                        decisions.push(x.to_vec());
                        (bowl(x, &[4.0, 5.0, 1.0]) + bowl(y, &[4.0, 5.0, 0.0]), vec![])
                    }
                    Lower => {
                        answers.push(y.to_vec());
                        (bowl(y, &[x[0], x[1], 0.5]), vec![])
                    }
                })
            },
            |_, _| {},
        );
        let solution = engine.summary().solution.unwrap();
        assert_eq!((&solution.x[..2], &solution.y[..2]), (&[4.0, 5.0][..], &[4.0, 5.0][..]), "{method}");
        // In the last tenth of a run, long after it arrived.
        for (what, points) in [("decisions", decisions), ("answers", answers)] {
            let last = &points[points.len() - points.len() / 10..];
            for i in 0..2 {
                let drawn: BTreeSet<u64> = last.iter().map(|point| point[i].to_bits()).collect();
                assert!(drawn.len() > 1, "{method}: {what}, variable {i}: only {drawn:?} in {} points", last.len());
            }
        }
    }
}

/// Three whole numbers of the leader that sum to ten; the follower's f is a wave with several wells.
fn waves(level: Level, x: &[f64], y: &[f64]) -> Answer {
    let z = y[0];
    Some(match level {
        Level::Upper => {
            let value = (z - 1.5).powi(2) + (x[0] - 5.0).powi(2) / 10.0 + 0.3 * x[1] + 0.7 * (x[2] - 2.0).abs();
            (value, vec![1.0 - z - x[2], x[0] + x[1] + x[2] - 10.0])
        }
        Lower => (f64::cos(2.0 * z + x[0]) + 0.1 * (z - x[1] / 3.0).powi(2) + 0.05 * x[2] * z, vec![]),
    })
}

#[test]
fn answers_in_the_wrong_well_of_a_follower_do_not_decide() {
    let mut upper = LevelSpec::new((0..3).fold(Space::new(), |space, i| space.whole(format!("x{i}"), 0.0, 10.0)));
    (upper.inequalities, upper.equalities) = (1, 1);
    let spec = ProblemSpec::new("waves", upper, LevelSpec::boxed(vec![(-4.0, 6.0)]));
    for seed in 1..=3 {
        let config = methods::choose("auto", &spec, &[]).unwrap().config;
        let mut engine = Engine::new(spec.clone(), config, seed).unwrap();
        drive(&mut engine, waves, |_, _| {});
        let solution = engine.summary().solution.unwrap();
        // By enumeration of the leader's decisions and a fine grid of the follower's.
        assert_eq!(solution.x, [6.0, 2.0, 2.0], "seed {seed}: {solution:?}");
        assert!((solution.upper_value - 0.719_18).abs() < 1e-3, "seed {seed}: {solution:?}");
    }
}
