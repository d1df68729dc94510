//! Whole numbers and fixed variables from outside: what is asked, what is returned, what is kept.

use crate::common::{Answer, bytes, drive};
use bilevo_core::config::Config;
use bilevo_core::methods::{self, BASES};
use bilevo_core::problem::{Level, LevelSpec, ProblemSpec, SpecError};
use bilevo_core::space::Space;
use bilevo_core::{Engine, Level::Lower};
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
    let message = refused(|s| s.upper.space = Space::new().real("p", 0.0, f64::INFINITY));
    assert!(message.contains("no bound on one side"), "{message}");
    let message = refused(|s| s.lower.space = Space::from(vec![(1.0, 1.0)]));
    assert!(message.contains("every lower variable is fixed"), "{message}");
    assert_eq!(shops().check(), Ok::<(), SpecError>(()));
}
