//! The course of a restart: what goes on, what is verified, what may be tried again, and what that may cost.

use super::super::borders::{borders_may_pay, may_cost, rivals, with_rival};
use super::*;

fn with_config(entries: Vec<Entry>, config: PortfolioConfig) -> Next {
    next(&History { entries, ..empty() }, &config)
}

#[test]
fn without_descents_there_are_populations_only() {
    let without = PortfolioConfig { descent: 0, ..PortfolioConfig::default() };
    assert_eq!(with_config(vec![], without.clone()), Next::Restart(Kind::Population));
    // Nor is the elite finished by one, nor the box surveyed for places to begin one.
    let mut entries = agreed();
    entries.iter_mut().for_each(|e| e.kind = Kind::Population);
    assert_eq!(with_config(entries, without), Next::Verify(0, Depth::Wide));
}

#[test]
fn descents_that_end_at_the_elite_alternate_with_populations() {
    let config = PortfolioConfig { effort: Effort::Budget, ties: 0, ..PortfolioConfig::default() };
    let mut entries = Vec::new();
    let mut kinds = Vec::new();
    for restart in 1..=7 {
        let Next::Restart(kind) = with_config(entries.clone(), config.clone()) else { panic!() };
        entries.push(verified(restart, kind, 0.2));
        kinds.push(if kind == Kind::Descent { 'd' } else { 'p' });
    }
    assert_eq!(kinds, ['d', 'd', 'p', 'd', 'p', 'd', 'p']);
    // The latest one arrived near the elite; it ended elsewhere; it was corrected.
    let after = |latest: Entry| with_config([&entries[..3], &[latest, entries[4].clone()]].concat(), config.clone());
    assert_eq!(after(ended(4, Kind::Descent, End::Arrived, 0.209)), Next::Restart(Kind::Descent));
    assert_eq!(after(verified(4, Kind::Descent, 0.4)), Next::Restart(Kind::Population));
    let once = Entry { corrections: 1, ..verified(4, Kind::Descent, 0.2) };
    assert_eq!(after(once), Next::Restart(Kind::Population));
}

#[test]
fn a_finish_that_is_worse_elsewhere_gets_no_verdict_but_one_close_by_does() {
    let after = |value: f64| {
        let population = ended(1, Kind::Population, End::Converged, 0.3);
        super::after(vec![population, ended(1, Kind::Finish, End::Converged, value)])
    };
    // x is the value: a twentieth of the box is close by.
    assert_eq!((after(0.34), after(0.36)), (Next::Verify(1, Depth::Full), Next::Resume));
    assert_eq!(after(0.1), Next::Verify(1, Depth::Full));
}

#[test]
fn a_descent_that_lost_its_way_is_verified_if_it_promises_more_than_the_elite() {
    let lost = |value: f64| ended(2, Kind::Descent, End::Lost, value);
    let after = |last: Entry| super::after(vec![verified(1, Kind::Descent, 0.2), last]);
    assert_eq!(after(lost(0.1)), Next::Verify(1, Depth::Full));
    assert!(!matches!(after(lost(0.3)), Next::Verify(..)));
    let unsettled = Some(Claim { settled: false, ..claim(0.1, 0.5) });
    assert!(!matches!(after(Entry { claim: unsettled, ..lost(0.1) }), Next::Verify(..)));
    let first = Entry { restart: 1, ..lost(0.1) };
    assert!(!matches!(super::after(vec![first]), Next::Verify(..)), "there is no elite to compare it with");
}

#[test]
fn what_a_whole_run_left_gets_a_wide_verdict_at_once() {
    let entries = vec![ended(1, Kind::Known, End::Converged, 0.2)];
    let history = |is_known_widely: bool| History { entries: entries.clone(), is_known_widely, ..empty() };
    let depth = |history: History| next(&history, &PortfolioConfig::default());
    assert_eq!(depth(history(true)), Next::Verify(0, Depth::Wide));
    assert_eq!(depth(history(false)), Next::Verify(0, Depth::Full));
}

#[test]
fn a_descent_goes_on_four_times_at_most() {
    let mut entries = vec![ended(1, Kind::Descent, End::Spent, 0.9)];
    for value in [0.8, 0.7, 0.6, 0.5] {
        let from = entries.last().and_then(|e| e.claim.clone()).unwrap();
        assert_eq!(after(entries.clone()), Next::Finish(from, 0.1));
        entries.push(ended(1, Kind::Finish, End::Spent, value));
    }
    assert_eq!(after(entries), Next::Verify(4, Depth::Full));
    // Not where its answer is not settled.
    let unsettled = Some(Claim { settled: false, ..claim(0.9, 0.5) });
    assert!(!matches!(
        after(vec![Entry { claim: unsettled, ..ended(1, Kind::Descent, End::Spent, 0.9) }]),
        Next::Finish(..)
    ));
    // From the ends of the box only if that would be better than the elite.
    let near_ends = |value: f64| after([&agreed()[..], &[ended(4, Kind::NearEnds, End::Spent, value)]].concat());
    assert!(matches!(near_ends(0.1), Next::Finish(..)) && !matches!(near_ends(0.3), Next::Finish(..)));
}

#[test]
fn a_descent_that_ran_out_is_verified_at_the_elite_or_where_nothing_goes_on() {
    let spent = |restart: u64, kind: Kind, value: f64| ended(restart, kind, End::Spent, value);
    let tail =
        |restart: u64, value: f64| vec![spent(restart, Kind::Finish, value), spent(restart, Kind::Finish, value)];
    let after = |first: Entry, value: f64| {
        super::after([vec![verified(1, Kind::Descent, 0.2), first], tail(2, value)].concat())
    };
    assert_eq!(after(spent(2, Kind::Descent, 0.5), 0.4), Next::Verify(3, Depth::Full));
    assert_eq!(after(spent(2, Kind::Population, 0.5), 0.2), Next::Verify(3, Depth::Light));
    let population = ended(2, Kind::Population, End::Converged, 0.5);
    assert_eq!(after(population, 0.4), Next::Resume, "the population does");
}

#[test]
fn restarts_that_end_elsewhere_are_counted_once_each() {
    let lone = verified(1, Kind::Descent, 0.1);
    let others = [verified(2, Kind::Population, 0.4), verified(2, Kind::Finish, 0.4)];
    assert!(!matches!(after([&[lone.clone()][..], &others].concat()), Next::Verify(..)));
    let third = verified(3, Kind::Population, 0.4);
    assert_eq!(after([&[lone][..], &others, &[third]].concat()), Next::Verify(0, Depth::Full));
}

#[test]
fn rivals_are_the_latest_six_and_a_new_one_takes_the_place_of_those_close_to_it() {
    let all: Vec<Vec<f64>> = (0..6).map(|i| vec![f64::from(i) / 10.0]).collect();
    let with = |y: f64| with_rival(all.clone(), &[y]).concat();
    assert_eq!(with(0.9), [0.1, 0.2, 0.3, 0.4, 0.5, 0.9]);
    assert_eq!(with(0.16), [0.0, 0.1, 0.3, 0.4, 0.5, 0.16]);
    // Those of all exact ends and borders, with the answers that the verdicts gave.
    let given = |kind: Kind, rival: f64| Entry { rivals: vec![vec![rival]], ..corrected(1, kind, 0.2, 0.8) };
    let stands = Entry { rivals: vec![vec![0.6]], ..verified(1, Kind::Exact, 0.2) };
    let entries = vec![given(Kind::Border, 0.1), given(Kind::Descent, 0.3), stands];
    assert_eq!(rivals(&History { entries, ..empty() }).concat(), [0.1, 0.9, 0.6]);
}

#[test]
fn what_fails_may_cost_three_descents_and_a_share_of_all_else() {
    let may = |kind: Kind, spent: u64, value: f64| {
        let entries = vec![
            Entry { spent: 400, ..verified(1, Kind::Descent, 0.2) },
            Entry { spent, claim: Some(claim(value, 0.5)), ..ended(2, kind, End::Converged, value) },
        ];
        may_cost(&History { entries, ..empty() }, &PortfolioConfig::default(), kind)
    };
    // 3 · 80 · 2 = 480 and a quarter of 400; of searches without regret a tenth.
    assert!(may(Kind::Border, 580, 0.4) && !may(Kind::Border, 581, 0.4));
    assert!(may(Kind::Regret, 520, 0.4) && !may(Kind::Regret, 521, 0.4));
    assert!(may(Kind::Border, 100_000, 0.2), "it led to the elite");
    let empty = History { entries: Vec::new(), ..empty() };
    assert!(may_cost(&empty, &PortfolioConfig::default(), Kind::Border));
}

#[test]
fn each_border_that_pays_allows_two_more_that_fail() {
    let may = |won: u64, failed: u64| {
        let mut entries = vec![verified(1, Kind::Descent, 0.2)];
        entries.extend((2..2 + won).map(|restart| verified(restart, Kind::Border, 0.2)));
        // Several in one restart are one.
        let tried = (2 + won..2 + won + failed).flat_map(|restart| [restart; 2]);
        entries.extend(tried.map(|restart| corrected(restart, Kind::Border, 0.1, 0.8)));
        borders_may_pay(&History { entries, ..empty() })
    };
    assert!(may(0, 2) && !may(0, 3) && may(1, 4) && !may(1, 5));
}

#[test]
fn with_noise_the_effort_says_how_many_restarts_are_made() {
    let ends = |effort: Effort, count: u64| {
        let entries = (1..=count).map(|restart| verified(restart, Kind::Smooth, 0.5 * restart as f64)).collect();
        let config = PortfolioConfig { effort, ..PortfolioConfig::default() };
        next(&History { entries, ..with_noise([0.05; 2]) }, &config) == Next::End
    };
    assert!(!ends(Effort::Normal, 7) && ends(Effort::Normal, 8));
    assert!(!ends(Effort::Thorough, 15) && ends(Effort::Thorough, 16) && !ends(Effort::Budget, 40));
}

#[test]
fn a_light_verdict_is_enough_only_where_the_very_elite_was_verified_in_full() {
    let again = |depth: Depth, y: f64, value: f64| {
        let first = Entry { verdict: verdict(claim(0.2, 0.5), depth), ..verified(1, Kind::Descent, 0.2) };
        let same = Claim { y: vec![y], ..claim(value, 0.5) };
        after(vec![first, Entry { claim: Some(same), ..ended(2, Kind::Descent, End::Converged, value) }])
    };
    let (light, full) = (Next::Verify(1, Depth::Light), Next::Verify(1, Depth::Full));
    assert_eq!((again(Depth::Full, 0.5, 0.2), again(Depth::Wide, 0.5, 0.2)), (light.clone(), light.clone()));
    assert_eq!(again(Depth::Light, 0.5, 0.2), full);
    // A thousandth of the box, and a thousandth of F.
    assert_eq!((again(Depth::Full, 0.5009, 0.2), again(Depth::Full, 0.5011, 0.2)), (light.clone(), full.clone()));
    assert_eq!((again(Depth::Full, 0.5, 0.20019), again(Depth::Full, 0.5, 0.2003)), (light, full));
}

#[test]
fn where_values_are_noisy_only_smoothed_searches_that_stand_are_the_elite() {
    let elite = |entries: Vec<Entry>| History { entries, ..with_noise([0.05; 2]) }.elite().map(Claim::value);
    let lucky = verified(1, Kind::Descent, 0.1);
    assert_eq!(elite(vec![lucky.clone()]), None);
    let smooth = verified(2, Kind::Smooth, 0.3);
    assert_eq!(elite(vec![lucky.clone(), smooth.clone(), verified(3, Kind::SmoothHere, 0.2)]), Some(0.2));
    assert_eq!(elite(vec![lucky.clone(), smooth, corrected(3, Kind::Smooth, 0.1, 0.2)]), Some(0.3));
    assert_eq!(History { entries: vec![lucky], ..empty() }.elite().map(Claim::value), Some(0.1));
}

#[test]
fn twelve_rivals_are_remembered_the_latest() {
    let others = (0..20).map(|i| claim(0.2, f64::from(i) / 20.0)).collect();
    let mut entry = verified(1, Kind::Descent, 0.2);
    entry.verdict = entry.verdict.map(|verdict| Verdict { others, ..verdict });
    let rivals = History { entries: vec![entry, corrected(2, Kind::Descent, 0.3, 0.8)], ..empty() }.rivals();
    assert_eq!((rivals.len(), rivals[0].1[0], rivals[2].1[0]), (12, 0.9, 0.0));
}

#[test]
fn the_elite_stands_since_its_optimum_was_first_verified() {
    let entries = vec![
        verified(1, Kind::Descent, 0.5),
        verified(2, Kind::Descent, 0.200_01),
        ended(3, Kind::LeanHere, End::Converged, 0.1),
        verified(4, Kind::Descent, 0.2),
    ];
    let history = History { entries, ..empty() };
    assert_eq!((history.elite_at(), history.elite_since()), (Some(3), 1));
    assert_eq!((empty().elite_at(), empty().elite_since()), (None, 0));
    assert!(history.promises(&claim(0.19, 0.5)) && !history.promises(&claim(0.1999, 0.5)), "a thousandth is the same");
    assert!(empty().promises(&claim(9.0, 0.5)));
}

#[test]
fn leaning_restarts_from_elsewhere_begin_with_smaller_weights_each_time() {
    let away = |restart| ended(restart, Kind::LeanAway, End::Converged, 0.01);
    let on = |before: &[Entry], restart: u64| {
        let Next::Lean { kind: Kind::LeanOn, weight, .. } = after([before, &[away(restart)]].concat()) else {
            panic!()
        };
        weight
    };
    // The first goes down all weights from the second on; the next leaves out three of them, and from there on.
    let mut entries = agreed();
    assert_eq!(on(&entries, 4), WEIGHTS[1]);
    entries.push(ended(4, Kind::LeanAway, End::Converged, 0.9));
    assert_eq!(on(&entries, 5), WEIGHTS[4]);
    entries.push(ended(5, Kind::LeanAway, End::Converged, 0.9));
    assert_eq!(on(&entries, 6), WEIGHTS[7]);
}

#[test]
fn before_the_end_the_border_to_another_answer_that_would_pay_is_searched() {
    let with = |value: f64, config: PortfolioConfig| {
        let mut entries = agreed();
        entries.push(surveyed(4));
        let wide = verdict(claim(0.2, 0.5), Depth::Wide);
        entries[0].verdict = wide.map(|verdict| Verdict { others: vec![claim(value, 0.9)], ..verdict });
        with_config(entries, config)
    };
    let on = PortfolioConfig::default();
    assert_eq!(with(0.1, on.clone()), Next::Border(claim(0.1, 0.9), vec![vec![0.5]]));
    assert!(!matches!(with(0.3, on.clone()), Next::Border(..)), "it would be worse");
    assert!(!matches!(with(0.1, PortfolioConfig { borders: Switch::Off, ..on }), Next::Border(..)));
}

#[test]
fn before_the_end_a_tie_at_the_elite_is_followed_once_and_not_where_ties_are_off() {
    let mut entries = agreed();
    entries.push(surveyed(4));
    let wide = verdict(claim(0.2, 0.5), Depth::Wide);
    entries[0].verdict = wide.map(|verdict| Verdict { others: vec![claim(0.7, 0.9)], tied: true, ..verdict });
    assert_eq!(after(entries.clone()), lean_from(&claim(0.2, 0.5)));
    let without = PortfolioConfig { ties: 0, ..PortfolioConfig::default() };
    assert_eq!(with_config(entries.clone(), without), Next::End);
    entries.push(ended(5, Kind::LeanHere, End::Converged, 0.2));
    assert_eq!(after(entries), Next::Restart(Kind::Sample));
}
