//! The method's own bookkeeping on scripted histories, and one whole run.

use super::*;
use crate::batch::Replies;
use crate::candidate::Solved;
use crate::engine::Scheme;
use crate::portfolio::search::tests::Bench;
use crate::portfolio::verify::Verdict;
use crate::problem::LevelSpec;
use crate::record::Fate;
use crate::rng::{Purpose, Streams};
use crate::{Ask, Engine};

/// One variable each, with upper and lower values known on the diagonal.
fn portfolio(config: Config) -> Portfolio {
    let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
    let spec = ProblemSpec::new("scripted", level(), level());
    let sizes = config.check(&spec).unwrap();
    let mut portfolio =
        Portfolio::new(SchemeSetup { spec: &spec, config: &config, sizes: &sizes, streams: Streams::new(1) });
    for i in 0..9 {
        let v = f64::from(i) / 8.0;
        portfolio.archive.push(Level::Upper, &[v, v], &[v]);
        portfolio.archive.push(Level::Lower, &[v, v], &[0.0]);
    }
    portfolio.history.scales = Scales::new(&spec, &portfolio.archive);
    portfolio
}

fn auto() -> Config {
    Config::named(crate::methods::AUTO).unwrap()
}

fn claim(value: f64) -> Claim {
    Claim { x: vec![value], y: vec![value], upper: vec![value], lower: vec![0.0], settled: true }
}

fn entry(restart: u64, kind: Kind, value: f64, verified: bool) -> Entry {
    let (hoped, others, tied, range, depth) = (None, Vec::new(), false, Some(1.0), Depth::Full);
    let verdict = verified.then(|| Verdict { claim: claim(value), hoped, others, tied, range, depth });
    let rivals = Vec::new();
    let looks = u64::from(verified);
    let (claim, end) = (Some(claim(value)), End::Converged);
    Entry { kind, restart, end, claim, rivals, verdict, looks, corrections: 0, flat: false, spent: 100 }
}

#[test]
fn descents_of_many_variables_may_spend_more_for_each() {
    let portfolio = portfolio(auto());
    // 80 for each of up to five variables, twice as many with ten.
    assert_eq!([2, 5, 10, 20].map(|dim| portfolio.budget_for(dim)), [160, 400, 1600, 6400]);
    assert_eq!(portfolio.budget(), 160);
}

#[test]
fn the_last_part_of_a_small_budget_is_kept_for_a_verdict() {
    let kept = |evals: u64, left: u64| {
        let mut config = auto();
        config.stop.max_evals = Some(evals);
        portfolio(config).is_kept(left)
    };
    // A verdict costs 40 and 50 for the lower variable, but at most a quarter.
    assert!(kept(1000, 90) && !kept(1000, 91) && kept(200, 50) && !kept(200, 51));
    assert!(!portfolio(auto()).is_kept(0), "nothing limits it");
}

#[test]
fn the_last_of_a_budget_goes_to_a_claim_that_is_worth_it() {
    let mut config = auto();
    config.stop.max_evals = Some(1000);
    let mut portfolio = portfolio(config);
    assert_eq!(portfolio.unverified(50), None);
    portfolio.history.entries = vec![entry(1, Kind::Descent, 0.5, false)];
    assert_eq!((portfolio.unverified(50), portfolio.unverified(500)), (Some(0), None));
    portfolio.history.entries = vec![entry(1, Kind::Sample, 0.5, false)];
    assert_eq!(portfolio.unverified(50), None);
    // Beside an elite only what is better.
    let with = |value: f64| vec![entry(1, Kind::Descent, 0.5, true), entry(2, Kind::Descent, value, false)];
    portfolio.history.entries = with(0.25);
    assert_eq!(portfolio.unverified(50), Some(1));
    portfolio.history.entries = with(0.75);
    assert_eq!(portfolio.unverified(50), None);
    assert!(portfolio.is_worth_a_verdict(&claim(0.25)) && !portfolio.is_worth_a_verdict(&claim(0.75)));
    let unsettled = Claim { settled: false, ..claim(0.25) };
    assert!(!portfolio.is_worth_a_verdict(&unsettled));
    // A search under way ends for it.
    portfolio.present = portfolio.descent(vec![0.5; 2], 1.0, Kind::Descent);
    assert!(!portfolio.is_to_be_verified(50), "it has no claim yet");
}

#[test]
fn hopes_are_better_than_the_elite_and_lie_apart_from_a_claim_and_from_each_other() {
    let mut portfolio = portfolio(auto());
    portfolio.history.entries = vec![entry(1, Kind::Descent, 0.5, true)];
    // F is x; 0.125 is the claim, 0.03 is close to 0, and at 0.06 nothing is known of the follower.
    for (x, lower) in [(0.03, true), (0.06, false)] {
        portfolio.archive.push(Level::Upper, &[x, 0.9], &[x]);
        if lower {
            portfolio.archive.push(Level::Lower, &[x, 0.9], &[0.0]);
        }
    }
    let hopes = portfolio.hopes(&claim(0.125));
    assert_eq!(hopes.iter().map(|c| c.x[0]).collect::<Vec<f64>>(), [0.0, 0.25, 0.375]);
    let first = &hopes[0];
    assert_eq!((&first.y[..], &first.upper[..], first.settled), (&[0.0][..], &[0.0][..], false));
}

#[test]
fn the_answer_is_the_elite_or_what_was_found_since_if_that_is_better() {
    let mut portfolio = portfolio(auto());
    let mut best = |entries: Vec<Entry>| {
        portfolio.history.entries = entries;
        portfolio.best().map(|c| c.value())
    };
    assert_eq!(best(vec![]), None);
    assert_eq!(best(vec![entry(1, Kind::Descent, 0.5, false)]), Some(0.5));
    let elite = entry(1, Kind::Descent, 0.5, true);
    let with = |last: Entry| vec![elite.clone(), last];
    assert_eq!(best(with(entry(2, Kind::Population, 0.25, false))), Some(0.25));
    assert_eq!(best(with(entry(2, Kind::Descent, 0.75, false))), Some(0.5));
    assert_eq!(best(with(entry(2, Kind::LeanAway, 0.25, false))), Some(0.5), "it may not be the follower's answer");
    assert_eq!(best(with(Entry { end: End::Arrived, ..entry(2, Kind::Descent, 0.25, false) })), Some(0.5));
    let unsettled = Some(Claim { settled: false, ..claim(0.25) });
    assert_eq!(best(with(Entry { claim: unsettled, ..entry(2, Kind::Descent, 0.25, false) })), Some(0.5));
    // At the end it is what was verified.
    portfolio.history.entries = with(entry(2, Kind::Descent, 0.25, false));
    portfolio.present = Present::Ended;
    assert_eq!(portfolio.best().map(|c| c.value()), Some(0.5));
}

#[test]
fn ends_are_written_down_in_the_restart_they_belong_to() {
    let mut portfolio = portfolio(auto());
    let spec = portfolio.spec.clone();
    let mut conclude = |present: Present, spent: u64| {
        (portfolio.present, portfolio.spent) = (present, spent);
        portfolio.conclude(&spec);
        let last = portfolio.history.last().unwrap();
        (last.kind, last.restart, last.end, last.spent, portfolio.spent)
    };
    assert_eq!(conclude(Present::Recalled(claim(0.5)), 7), (Kind::Known, 1, End::Converged, 7, 0));
    assert_eq!(conclude(Present::Recalled(claim(0.5)), 1), (Kind::Known, 2, End::Converged, 1, 0));
    assert!(matches!(portfolio.present, Present::Choice));
}

#[test]
fn verdicts_and_corrections_are_counted_and_told() {
    // The follower's second well is the deeper one.
    let well = |p: &[f64]| vec![(p[1] - 0.2).powi(2).min((p[1] - 0.8).powi(2) - 0.1)];
    let mut portfolio = portfolio(auto());
    let spec = portfolio.spec.clone();
    portfolio.history.entries = [0.2, 0.8].map(|value| entry(1, Kind::Descent, value, false)).to_vec();
    for at in 0..2 {
        let mut bench = Bench::new(|p| vec![p[0]], well);
        let mut present = portfolio.verify(at, Depth::Full, u64::MAX, None);
        bench.run(present.search().unwrap());
        (portfolio.present, portfolio.spent) = (present, 7);
        portfolio.conclude(&spec);
    }
    let counted: Vec<_> = portfolio.history.entries.iter().map(|e| (e.looks, e.corrections, e.spent)).collect();
    assert_eq!(counted, [(1, 1, 107), (1, 0, 107)]);
    let fates = |portfolio: &Portfolio| Scheme::history(portfolio).iter().map(|step| step.fate).collect::<Vec<_>>();
    assert_eq!(fates(&portfolio), [Fate::Corrected, Fate::Confirmed]);
    let passed = entry(2, Kind::Descent, 0.5, false);
    let arrived = Entry { end: End::Arrived, ..passed.clone() };
    portfolio.history.entries = vec![Entry { claim: None, ..passed.clone() }, arrived, passed];
    assert_eq!(fates(&portfolio), [Fate::Nothing, Fate::Arrived, Fate::Passed]);
}

#[test]
fn a_restart_begins_far_from_all_decisions_that_were_seen() {
    let mut portfolio = portfolio(auto());
    portfolio.archive = portfolio.shape.archive();
    let streams = Streams::new(1);
    let starts = |portfolio: &Portfolio| -> Vec<f64> {
        (0..40).map(|i| portfolio.elsewhere(&mut streams.open(Purpose::Start, 0, i))[0]).collect()
    };
    let low = |starts: &[f64]| starts.iter().filter(|x| **x < 0.5).count();
    assert!((10..=30).contains(&low(&starts(&portfolio))), "the first one is anywhere");
    // Everything was seen between 0 and 0.5, whatever the answers were.
    for i in 0..20 {
        portfolio.archive.push(Level::Upper, &[f64::from(i) / 40.0, 1.0], &[0.0]);
    }
    let starts = starts(&portfolio);
    assert_eq!(low(&starts), 0, "{starts:?}");
    assert!(starts.iter().any(|x| *x < 0.9), "but not always at the end: {starts:?}");
}

#[test]
fn a_restart_may_end_near_a_verified_elite() {
    let mut portfolio = portfolio(auto());
    assert_eq!(portfolio.goal(), None);
    portfolio.history.entries = vec![entry(1, Kind::Descent, 0.5, true)];
    let goal = portfolio.goal().unwrap();
    assert_eq!((goal.claim.value(), goal.near), (0.5, 0.01));
    // F changes by 0.5 over the box; a thousandth of F is the same.
    assert!((goal.above - 1e-4 * 0.5).abs() < 1e-15 && (goal.below - 5e-4).abs() < 1e-15, "{goal:?}");
    portfolio.config.portfolio.arrival = crate::portfolio::config::Switch::Off;
    assert_eq!(portfolio.goal(), None);
}

#[test]
fn what_is_said_of_the_answer_is_counted_from_the_history() {
    let mut portfolio = portfolio(auto());
    portfolio.history.entries = vec![
        entry(1, Kind::Descent, 0.5, true),
        Entry { corrections: 1, looks: 2, ..entry(2, Kind::Descent, 0.5, true) },
        entry(3, Kind::Population, 0.5, true),
    ];
    let solution = portfolio.rechecked().unwrap();
    assert_eq!(solution.x, [0.5]);
    let said = portfolio.verification(&solution).unwrap();
    assert_eq!((said.rechecked, said.agreed, said.agreeing, said.restarts), (true, true, 3, 3));
    assert_eq!((said.rechecks, said.corrected, said.settled), (4, 1, true));
    let elsewhere = Solved { x: vec![0.4], ..solution };
    let said = portfolio.verification(&elsewhere).unwrap();
    assert_eq!((said.rechecked, said.agreed, said.agreeing), (false, false, 0));
    let seen = portfolio.follower_seen(&[0.5]);
    assert_eq!((seen.answers, seen.noise), (vec![vec![0.5]], 0.0));
}

#[test]
fn a_whole_run_tells_its_story() {
    // F = (x - 0.3)² + (y - 0.6)², f = (y - x)²: 0.045 at x = y = 0.45, in a box from 0 to 1.
    let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
    let spec = ProblemSpec::new("bowl", level(), level());
    let mut engine = Engine::new(spec.clone(), auto(), 3).unwrap();
    let (mut replies, mut evaluations) = (Replies::default(), 0);
    while let Ask::Evaluate(batch) = engine.ask() {
        replies.start(&spec, batch.level());
        evaluations += batch.len() as u64;
        for i in 0..batch.len() {
            let (x, y) = (batch.x(i)[0], batch.y(i)[0]);
            let value = match batch.level() {
                Level::Upper => (x - 0.3).powi(2) + (y - 0.6).powi(2),
                Level::Lower => (y - x).powi(2),
            };
            replies.push(&spec, value, &[]);
        }
        engine.tell(&replies).unwrap();
        assert!(evaluations < 20_000);
    }
    let summary = engine.summary();
    let solution = summary.solution.unwrap();
    assert!((solution.upper_value - 0.045).abs() < 1e-6, "{solution:?}");
    let said = summary.verification.unwrap();
    assert!(said.rechecked && said.agreed && said.agreeing >= 3 && said.corrected == 0, "{said:?}");
    let story = summary.history;
    // Two descents, the second of which may end near the first; a survey that finds no other basin; then ties.
    let begun: Vec<&str> = story.iter().filter(|s| s.search != "finishing descent").map(|s| &s.search[..]).collect();
    assert_eq!(begun[..3], ["descent", "descent", "survey of the box"], "{story:?}");
    assert!(!begun.contains(&"population") && begun.contains(&"tie search"), "{begun:?}");
    assert_eq!((story[0].fate, story[0].restart, story[1].restart), (Fate::Confirmed, 1, 2));
    assert!((story[0].upper_value.unwrap() - 0.045).abs() < 1e-6 && story[0].feasible);
    // Every evaluation belongs to a search, but for the few by which the engine looks for noise.
    let told = story.iter().map(|s| s.evaluations).sum::<u64>();
    assert!(told <= evaluations && evaluations - told <= 8, "{told} of {evaluations}");
}

mod budget;
mod starts;
