//! When restarts agree, when enough of them were in vain, and what is remembered of answers.

use super::*;

fn with_config(entries: Vec<Entry>, config: &PortfolioConfig) -> Next {
    next(&History { entries, ..empty() }, config)
}

fn history(entries: Vec<Entry>) -> History {
    History { entries, ..empty() }
}

#[test]
fn a_restart_that_arrived_agrees_if_it_is_near_the_elite() {
    let arrived = |value: f64| vec![verified(1, Kind::Descent, 0.2), ended(2, Kind::Descent, End::Arrived, value)];
    // x is the value: within twice a hundredth.
    assert_eq!(history(arrived(0.219)).agreement(), (2, 0));
    assert_eq!(history(arrived(0.221)).agreement(), (1, 0));
    // What was neither verified nor arrived says nothing.
    let spent = vec![verified(1, Kind::Descent, 0.2), ended(2, Kind::Descent, End::Spent, 0.2)];
    assert_eq!(history(spent).agreement(), (1, 0));
    // The last word counts.
    let moved = vec![verified(1, Kind::Descent, 0.2), verified(2, Kind::Descent, 0.2), verified(2, Kind::Finish, 0.4)];
    assert_eq!(history(moved).agreement(), (1, 0));
}

#[test]
fn a_border_at_the_elite_makes_its_restart_agree() {
    let entries = vec![
        verified(1, Kind::Descent, 0.2),
        corrected(2, Kind::Descent, 0.1, 0.8),
        verified(2, Kind::Border, 0.2),
        corrected(2, Kind::Finish, 0.1, 0.9),
    ];
    assert_eq!(history(entries.clone()).agreement(), (2, 0));
    let failed = [&entries[..2], &[corrected(2, Kind::Border, 0.2, 0.8)]].concat();
    assert_eq!(history(failed).agreement(), (1, 0));
}

#[test]
fn leaning_descents_agree_from_elsewhere_or_where_they_found_the_elite() {
    let lean = |kind: Kind, value: f64| vec![verified(1, Kind::Descent, 0.2), ended(2, kind, End::Converged, value)];
    assert_eq!(history(lean(Kind::LeanAway, 0.2)).agreement(), (2, 1));
    assert_eq!(history(lean(Kind::LeanAway, 0.3)).agreement(), (1, 0));
    assert_eq!(history(lean(Kind::LeanHere, 0.2)).agreement(), (1, 0), "it began there");
    let won = vec![
        verified(1, Kind::Descent, 0.2),
        ended(2, Kind::LeanHere, End::Converged, 0.1),
        verified(2, Kind::Exact, 0.1),
    ];
    assert_eq!(history(won).agreement(), (1, 0), "the descent is elsewhere now");
}

#[test]
fn restarts_elsewhere_are_plain_ones_that_stand() {
    let elsewhere = |entry: Entry| history(vec![verified(1, Kind::Descent, 0.2), entry]).elsewhere();
    assert_eq!(elsewhere(verified(2, Kind::Descent, 0.5)), 1);
    assert_eq!(elsewhere(verified(2, Kind::Population, 0.5)), 1);
    assert_eq!(elsewhere(verified(2, Kind::Descent, 0.2)), 0);
    assert_eq!(elsewhere(corrected(2, Kind::Descent, 0.1, 0.5)), 0);
    assert_eq!(elsewhere(verified(2, Kind::NearEnds, 0.5)), 0);
    assert_eq!(elsewhere(Entry { end: End::Spent, ..verified(2, Kind::Descent, 0.5) }), 0);
}

#[test]
fn an_elite_is_known_if_a_whole_run_left_it() {
    let known = |value: f64, is_known_widely: bool| {
        let entries = vec![verified(1, Kind::Known, value), verified(2, Kind::Descent, 0.2)];
        History { entries, is_known_widely, ..empty() }.is_elite_known()
    };
    assert!(known(0.2, true) && !known(0.2, false) && !known(0.4, true));
    let entries = vec![verified(1, Kind::Descent, 0.2)];
    assert!(!History { entries, is_known_widely: true, ..empty() }.is_elite_known());
}

#[test]
fn rivals_are_the_answers_that_verdicts_found_beside_others() {
    let mut plain = verified(1, Kind::Descent, 0.3);
    assert_eq!(history(vec![plain.clone()]).rivals(), []);
    plain.verdict = plain.verdict.map(|v| Verdict { others: vec![claim(0.3, 0.7)], ..v });
    // Of a correction the true answer and the hoped for one; the latest verdict first.
    let all = history(vec![plain, corrected(2, Kind::Descent, 0.2, 0.8)]).rivals();
    let expected = [([0.2], [0.9]), ([0.2], [0.5]), ([0.3], [0.7])];
    assert_eq!(all, expected.map(|(x, y)| (x.to_vec(), y.to_vec())));
    // Every answer once.
    let twice = vec![corrected(1, Kind::Descent, 0.1, 0.8), corrected(2, Kind::Descent, 0.2, 0.8)];
    assert_eq!(history(twice).rivals().len(), 2);
}

#[test]
fn the_range_of_f_is_the_largest_that_a_verdict_saw() {
    let with = |range: Option<f64>| {
        let mut entry = verified(1, Kind::Descent, 0.2);
        entry.verdict = entry.verdict.map(|v| Verdict { range, ..v });
        entry
    };
    let all = vec![with(Some(0.5)), with(None), with(Some(2.0)), with(Some(1.0))];
    assert_eq!((history(all).follower_range(), history(vec![]).follower_range()), (Some(2.0), None));
}

/// An elite that has survived many verdicts, then restarts that found nothing better.
fn in_vain(elite: Kind, restarts: u64) -> Vec<Entry> {
    let mut entries = vec![Entry { looks: 1000, ..verified(1, elite, 0.1) }];
    let kind = |restart: u64| if restart.is_multiple_of(2) { Kind::Population } else { Kind::Descent };
    entries.extend((2..2 + restarts).map(|restart| verified(restart, kind(restart), 0.4)));
    entries
}

#[test]
fn a_run_ends_when_many_restarts_were_in_vain() {
    let config = |effort: Effort| PortfolioConfig { ties: 0, effort, ..PortfolioConfig::default() };
    let ends =
        |effort: Effort, restarts: u64| is_exhausted(&history(in_vain(Kind::Descent, restarts)), &config(effort));
    assert!(!ends(Effort::Normal, 14) && ends(Effort::Normal, 15));
    assert!(!ends(Effort::Thorough, 29) && ends(Effort::Thorough, 30));
    assert!(!ends(Effort::Budget, 100));
    // What is looked at before comes then, too.
    let normal = config(Effort::Normal);
    assert_eq!(with_config(in_vain(Kind::Descent, 15), &normal), Next::Restart(Kind::Survey));
    assert!(!matches!(with_config(in_vain(Kind::Descent, 14), &normal), Next::Restart(Kind::Survey)));
}

#[test]
fn what_a_leaning_descent_found_others_need_not_find() {
    let run = |restarts: u64, leans: u64| {
        let mut entries = in_vain(Kind::Exact, restarts);
        let next = 2 + restarts;
        entries.extend((next..next + leans).map(|restart| ended(restart, Kind::LeanAway, End::Converged, 0.5)));
        is_exhausted(&history(entries), &PortfolioConfig::default())
    };
    assert!(run(3, 6) && !run(2, 6) && !run(3, 5));
}

#[test]
fn after_a_restart_that_decided_nothing_comes_a_leaning_descent_unless_there_are_none() {
    let entries = vec![
        Entry { looks: 1000, ..verified(1, Kind::Descent, 0.2) },
        verified(2, Kind::Descent, 0.4),
        verified(3, Kind::Population, 0.3),
    ];
    assert_eq!(after(entries.clone()), lean_from(&claim(0.2, 0.5)));
    let without = PortfolioConfig { ties: 0, ..PortfolioConfig::default() };
    assert!(matches!(with_config(entries.clone(), &without), Next::Restart(_)));
    // One for each population.
    let leant = [&entries[..], &[ended(4, Kind::LeanHere, End::Converged, 0.2)]].concat();
    assert!(matches!(after(leant), Next::Restart(Kind::Descent | Kind::Population)));
    // Six, if one of them found the elite.
    let won = |leans: u64| {
        let mut entries =
            vec![verified(1, Kind::Descent, 0.2), verified(2, Kind::Exact, 0.1), verified(3, Kind::Finish, 0.1)];
        entries.extend((4..4 + leans).map(|restart| ended(restart, Kind::LeanAway, End::Converged, 0.5)));
        entries.push(verified(4 + leans, Kind::Descent, 0.2));
        lean_is_due(&history(entries), &PortfolioConfig::default())
    };
    assert!(won(5) && !won(6));
}

#[test]
fn a_tie_that_matters_to_the_leader_is_followed_at_once() {
    let tied = |value: f64, tied: bool| {
        let mut entry = verified(1, Kind::Descent, 0.5);
        entry.verdict = entry.verdict.map(|v| Verdict { others: vec![claim(value, 0.9)], tied, ..v });
        after(vec![entry])
    };
    assert_eq!(tied(0.3, true), lean_from(&claim(0.5, 0.5)));
    assert_eq!(tied(0.7, true), lean_from(&claim(0.5, 0.5)));
    assert_eq!(tied(0.5, true), Next::Restart(Kind::Descent), "both answers are the same to the leader");
    assert_eq!(tied(0.3, false), Next::Restart(Kind::Descent), "the follower is not indifferent");
}

#[test]
fn borders_that_failed_in_three_restarts_are_given_up() {
    let failed = |restart: u64| {
        let border = Entry { spent: 1, claim: None, ..ended(restart, Kind::Border, End::Spent, 0.6) };
        [corrected(restart, Kind::Descent, 0.2, 0.8), verified(restart, Kind::Finish, 0.7), border]
    };
    let after_failures = |count: u64| {
        let mut entries = vec![Entry { looks: 1000, ..verified(1, Kind::Descent, 0.5) }];
        entries.extend((2..2 + count).flat_map(failed));
        let last = 2 + count;
        entries.extend([corrected(last, Kind::Descent, 0.2, 0.8), verified(last, Kind::Finish, 0.7)]);
        after(entries)
    };
    assert!(matches!(after_failures(2), Next::Border(..)));
    assert!(!matches!(after_failures(3), Next::Border(..)));
}

#[test]
fn the_first_finish_of_a_population_begins_with_steps_of_its_size() {
    let Next::Finish(_, size) = after(vec![ended(1, Kind::Population, End::Converged, 0.5)]) else { panic!() };
    assert!((size - NARROW).abs() < 1e-15, "{size}");
}

#[test]
fn on_a_plateau_nobody_agrees_and_descents_come_closer_and_closer_to_the_ends_of_the_box() {
    let flat = |entry: Entry| Entry { flat: true, ..entry };
    let history = |entries: &[Entry]| History { entries: entries.to_vec(), ..empty() };
    let mut entries = agreed();
    entries.push(ended(4, Kind::LeanAway, End::Converged, 0.2));
    assert_eq!(history(&entries).agreement().0, 4);
    // Who saw but one value says nothing; the others agree still, unless their value is that of a plateau.
    entries[1].flat = true;
    assert_eq!(history(&entries).agreement().0, 3);
    entries[0].flat = true;
    assert!(history(&entries).is_on_plateau());
    assert_eq!(history(&entries).agreement().0, 1);
    // In the end it is looked for closer and closer to both corners.
    let mut entries: Vec<Entry> = (1..=16).map(|restart| flat(verified(restart, Kind::Descent, 0.2))).collect();
    assert!(!is_agreed(&history(&entries), &PortfolioConfig::default()));
    assert_eq!(after(entries.clone()), Next::Restart(Kind::Survey));
    entries.push(surveyed(17));
    for restart in 18..24 {
        assert_eq!(after(entries.clone()), Next::Restart(Kind::NearEnds), "{restart}");
        entries.push(flat(verified(restart, Kind::NearEnds, 0.2)));
    }
    assert_eq!(after(entries), Next::Verify(0, Depth::Wide));
}
