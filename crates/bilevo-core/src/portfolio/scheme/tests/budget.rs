//! What a run does with what is left of its budget, and what it tells the engine.

use super::starts::{ENOUGH, view, with_claim};
use super::*;
use crate::engine::Known as Evaluated;
use crate::record::StopReason;

/// Points that a run asks for with so much left, while a descent waits for its first two.
fn asked(left: (u64, u64)) -> (usize, Portfolio) {
    let mut portfolio = portfolio(auto());
    portfolio.present = portfolio.descent(vec![0.5; 2], 1.0, Kind::Descent);
    view(left, |run| portfolio.prepare(run));
    let count = portfolio.wanted.iter().len();
    (count, portfolio)
}

#[test]
fn lower_evaluations_leave_two_for_their_answers() {
    assert_eq!((asked(ENOUGH).0, asked((4, 100)).0), (2, 2));
    let (count, portfolio) = asked((3, 100));
    assert!(count == 0 && matches!(portfolio.present, Present::Spent));
    // Where only the lower level's own budget is spent, the run may still have something to judge.
    let (count, portfolio) = asked((100, 0));
    assert!(count == 0 && !matches!(portfolio.present, Present::Spent));
    // A search that has an answer already judges it.
    let mut portfolio = super::portfolio(auto());
    portfolio.present = with_claim(&portfolio).0;
    let mut bench = crate::portfolio::search::tests::Bench::new(|p| vec![p[0]], |p| vec![p[1]]);
    bench.step(portfolio.present.search().unwrap());
    view((100, 0), |run| portfolio.prepare(run));
    assert_eq!((portfolio.wanted.level, portfolio.wanted.iter().len()), (Level::Upper, 1));
}

#[test]
fn a_run_goes_on_with_a_larger_budget() {
    let mut portfolio = portfolio(auto());
    portfolio.present = Present::Spent;
    view(ENOUGH, |run| portfolio.prepare(run));
    assert!(matches!(portfolio.present, Present::Descent(_, Kind::Descent)) && !portfolio.wanted.is_empty());
    // What has ended has ended.
    portfolio.present = Present::Ended;
    view(ENOUGH, |run| portfolio.prepare(run));
    assert!(matches!(portfolio.present, Present::Ended) && portfolio.wanted.is_empty());
}

#[test]
fn the_first_search_begins_at_the_best_pair_of_earlier_runs() {
    let before = |is_wide: bool, entries: Vec<Entry>| {
        let mut portfolio = portfolio(auto());
        (portfolio.before, portfolio.history.entries) = (Before { best: Some(claim(0.25)), is_wide }, entries);
        view(ENOUGH, |run| portfolio.prepare(run));
        portfolio
    };
    let few = before(false, vec![]);
    let Present::Descent(search, Kind::Known) = &few.present else { panic!() };
    assert_eq!((&search.start().point[..], search.start().size), (&[0.25, 0.25][..], 0.1));
    // What a whole run has left is a claim as it is.
    let whole = before(true, vec![]);
    assert!(matches!(&whole.present, Present::Verify(_, 0)) && whole.is_refining() && !few.is_refining());
    assert_eq!(
        (whole.history.entries[0].kind, whole.history.entries[0].claim.clone()),
        (Kind::Known, Some(claim(0.25)))
    );
    // A given start comes first, with its verdict; and where a run is sure of its answer, nothing is begun.
    let waits = before(false, vec![entry(1, Kind::Descent, 0.5, false)]);
    assert!(matches!(waits.present, Present::Verify(..)) && waits.before.best.is_some());
    let sure = (1..=3).map(|i| entry(i, if i == 3 { Kind::Population } else { Kind::Descent }, 0.5, true)).collect();
    assert!(before(false, sure).before.best.is_some());
}

#[test]
fn a_table_of_earlier_evaluations_is_recalled() {
    let mut portfolio = portfolio(auto());
    let (spec, config, streams) = (portfolio.spec.clone(), auto(), Streams::new(1));
    let sizes = config.check(&spec).unwrap();
    let known = [Evaluated { point: vec![0.3, 0.4], upper: Some(vec![0.1]), lower: Some(vec![7.0]), is_answer: false }];
    let setup = SchemeSetup { spec: &spec, config: &config, sizes: &sizes, streams };
    assert!(portfolio.recall(setup, &known) && !portfolio.history.is_known_widely);
    assert_eq!(portfolio.before.best.map(|best| best.point()), Some(vec![0.3, 0.4]));
    assert_eq!(portfolio.archive.upper.find(&[0.3, 0.4]), Some(9));
    // F changes as before; f is no longer the same everywhere.
    assert_eq!(portfolio.history.scales, Scales::new(&spec, &portfolio.archive));
    assert!(portfolio.history.scales.follower() > 1.0);
}

#[test]
fn why_a_run_stops_is_told_by_how_it_ended() {
    let close = |present: Present, restarts: u64| {
        let mut portfolio = portfolio(auto());
        let kind = |restart: u64| if restart == 3 { Kind::Population } else { Kind::Descent };
        portfolio.history.entries = (1..=restarts).map(|i| entry(i, kind(i), 0.5, true)).collect();
        portfolio.present = present;
        let ((outlook, elite), _) = view(ENOUGH, |run| (portfolio.close(run), run.elite.clone()));
        (outlook.stop, outlook.all_failed, elite.map(|elite| elite.x[0]))
    };
    assert_eq!(close(Present::Ended, 3), (Some(StopReason::Agreed), false, Some(0.5)));
    assert_eq!(close(Present::Ended, 2), (Some(StopReason::Flat), false, Some(0.5)));
    assert_eq!(close(Present::Spent, 3), (Some(StopReason::Budget), false, Some(0.5)));
    assert_eq!(close(Present::Choice, 3), (None, false, Some(0.5)));
    assert_eq!(close(Present::Choice, 0), (None, true, None));
}

#[test]
fn noise_ends_the_present_search_and_opens_a_run_that_had_ended() {
    let mut portfolio = asked(ENOUGH).1;
    portfolio.learn_noise([0.5, 0.25]);
    assert!(portfolio.history.scales.is_noisy() && portfolio.wanted.is_empty());
    assert_eq!(portfolio.present.searching().and_then(Search::end), Some(End::Spent));
    portfolio.present = Present::Ended;
    portfolio.learn_noise([0.5, 0.25]);
    assert!(matches!(portfolio.present, Present::Choice));
    assert_eq!(portfolio.follower_seen(&[0.5]).noise, 0.25);
}

#[test]
fn an_objection_to_the_answer_is_looked_at_once_the_run_has_ended() {
    let mut portfolio = portfolio(auto());
    let spec = portfolio.spec.clone();
    portfolio.present = Present::Ended;
    assert!(!portfolio.object(&spec, &[0.9]), "there is no answer");
    portfolio.history.entries = vec![entry(1, Kind::Descent, 0.5, true)];
    portfolio.present = Present::Choice;
    assert!(!portfolio.object(&spec, &[0.9]), "it goes on by itself");
    portfolio.present = Present::Ended;
    assert!(portfolio.object(&spec, &[0.9]) && matches!(portfolio.present, Present::Verify(_, 0)));
    // The answer that was named is among those tried.
    view(ENOUGH, |run| portfolio.prepare(run));
    assert!(portfolio.wanted.iter().any(|point| point == [0.5, 0.9]));
}

#[test]
fn what_a_run_says_of_itself_on_its_way() {
    let mut portfolio = portfolio(auto());
    let readings = portfolio.readings();
    assert_eq!((readings.step_size, readings.axis_ratio, portfolio.training_due()), (1.0, 1.0, false));
    portfolio.present = portfolio.descent(vec![0.5; 2], 0.5, Kind::Descent);
    assert_eq!(portfolio.readings().step_size, 0.2);
    // F changes by a half over the box, f by nothing, which counts as one; a verdict may have seen less.
    assert_eq!((portfolio.spreads(), portfolio.follower_seen(&[0.5]).scale), (Some([0.5, 1.0]), Some(1.0)));
    let mut seen = entry(1, Kind::Descent, 0.5, true);
    seen.verdict = seen.verdict.map(|verdict| Verdict { range: Some(0.125), ..verdict });
    portfolio.history.entries = vec![seen];
    assert_eq!(portfolio.follower_seen(&[0.5]).scale, Some(0.125));
}
