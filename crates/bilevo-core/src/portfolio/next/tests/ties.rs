//! Leaning descents, what their promises are worth, and what follows them.

use super::*;

#[test]
fn leaning_that_promises_more_goes_on_to_its_exact_end() {
    let exact = |value: f64| Next::Exact(claim(value, 0.5), Vec::new());
    let mut entries = agreed();
    // Under one weight after the other: from the elite under small ones, from elsewhere under all. F hardly changes.
    let value = |number: usize| 0.01 + 1e-6 * number as f64;
    for (kind, first) in [(Kind::LeanHere, GENTLE), (Kind::LeanAway, 0)] {
        entries.truncate(3);
        entries.push(ended(4, kind, End::Converged, value(first)));
        for number in first + 1..WEIGHTS.len() {
            let last = entries.len() - 1;
            // Once on the way: is the follower indifferent right there?
            if after(entries.clone()) == Next::Verify(last, Depth::Full) {
                let at = WEIGHTS[number - 1];
                assert_eq!(at, if kind == Kind::LeanHere { 0.0125 } else { 0.1 }, "the fourth, or the first small one");
                entries[last] = corrected(4, entries[last].kind, value(number - 1), 0.3);
            }
            let from = Some(claim(value(number - 1), 0.5));
            assert_eq!(after(entries.clone()), Next::Lean { kind: Kind::LeanOn, from, weight: WEIGHTS[number] });
            entries.push(ended(4, Kind::LeanOn, End::Converged, value(number)));
        }
        // And at the end. Whether it is or not, the exact end begins there.
        let (last, at) = (entries.len() - 1, value(WEIGHTS.len() - 1));
        assert_eq!(after(entries.clone()), Next::Verify(last, Depth::Full));
        entries[last] = corrected(4, Kind::LeanOn, at, 0.3);
        assert_eq!(after(entries.clone()), Next::Exact(claim(at, 0.5), vec![vec![0.9]]));
        entries[last] = verified(4, Kind::LeanOn, at);
        assert_eq!(after(entries.clone()), exact(at));
    }
    let last = entries.len() - 1;
    entries[last - 2] = ended(4, Kind::LeanOn, End::Converged, 0.01);
    // A gain that goes with the weight is none.
    entries[last - 1] = ended(4, Kind::LeanOn, End::Converged, 0.1);
    entries[last] = ended(4, Kind::LeanOn, End::Converged, 0.15);
    assert_ne!(after(entries.clone()), exact(0.15));
    entries[last] = ended(4, Kind::LeanOn, End::Converged, 0.11);
    assert_eq!(after(entries), exact(0.11));
}

#[test]
fn a_promise_does_not_depend_on_the_weight_if_little_of_it_fades_under_an_eighth_of_it() {
    let is_verified = |values: [f64; 4]| {
        let [first, rest @ ..] = values;
        let mut entries = [&agreed()[..], &[ended(4, Kind::LeanHere, End::Converged, first)]].concat();
        entries.extend(rest.map(|value| ended(4, Kind::LeanOn, End::Converged, value)));
        after(entries) == Next::Verify(6, Depth::Full)
    };
    // The elite has 0.2: a twentieth of 0.1 is 0.005.
    assert!(is_verified([0.1, 0.102, 0.103, 0.1045]) && !is_verified([0.1, 0.102, 0.104, 0.1055]));
    assert!(!is_verified([0.1, 0.106, 0.1, 0.101]), "nor on the way");
    assert!(!is_verified([0.1; 4]), "searches that do not move say nothing");
    // What stands is the elite, found by leaning.
    let stands = [&agreed()[..], &[verified(4, Kind::LeanHere, 0.1)]].concat();
    assert!(is_found_by_leaning(&History { entries: stands, ..empty() }));
}

#[test]
fn where_an_exact_end_leads_nowhere_the_follower_is_to_lose_nothing() {
    let lean = ended(4, Kind::LeanHere, End::Converged, 0.1);
    let failed = Entry { claim: None, ..ended(4, Kind::Exact, End::Lost, 0.1) };
    let mut entries = [&agreed()[..], &[lean, failed]].concat();
    // The elite has 0.2: a fiftieth of what is promised may be lost.
    let Next::Regret(from, level) = after(entries.clone()) else { panic!() };
    assert_eq!(from, claim(0.1, 0.5));
    assert!((level - 0.102).abs() < 1e-12, "{level}");
    // What it finds gets a verdict, then an exact end; nothing is tried twice.
    entries.push(ended(4, Kind::Regret, End::Converged, 0.101));
    assert_eq!(after(entries.clone()), Next::Verify(5, Depth::Full));
    entries[5] = verified(4, Kind::Regret, 0.101);
    assert_eq!(after(entries.clone()), Next::Exact(claim(0.101, 0.5), Vec::new()));
    entries[5] = corrected(4, Kind::Regret, 0.101, 0.9);
    assert!(!matches!(after(entries.clone()), Next::Exact(..) | Next::Regret(..)));
    // An exact end that won needs none, nor does what a whole earlier run has left; in the end they have cost enough.
    entries.truncate(4);
    let won = [&entries[..], &[verified(4, Kind::Exact, 0.1)]].concat();
    assert!(!matches!(after(won), Next::Regret(..)));
    let failed = Entry { claim: None, ..ended(4, Kind::Exact, End::Lost, 0.1) };
    let mut known = History { entries: [&entries[..], &[failed]].concat(), is_known_widely: true, ..empty() };
    assert!(matches!(next(&known, &PortfolioConfig::default()), Next::Regret(..)));
    known.entries[0].kind = Kind::Known;
    assert!(!matches!(next(&known, &PortfolioConfig::default()), Next::Regret(..)));
    let dear = Entry { spent: 700, claim: None, ..ended(4, Kind::Regret, End::Lost, 0.1) };
    entries.push(dear);
    entries.push(ended(5, Kind::LeanHere, End::Converged, 0.1));
    entries.push(Entry { claim: None, ..ended(5, Kind::Exact, End::Lost, 0.1) });
    assert!(!matches!(after(entries), Next::Regret(..)));
}

#[test]
fn one_leaning_descent_from_elsewhere_is_followed_whatever_others_cost() {
    let dear = |restart| Entry { spent: 1_000_000, ..corrected(restart, Kind::Exact, 0.1, 0.9) };
    let away = |restart| ended(restart, Kind::LeanAway, End::Converged, 0.01);
    let here = ended(4, Kind::LeanHere, End::Converged, 0.1);
    let mut entries = [&agreed()[..], &[here, dear(4), away(5)]].concat();
    assert!(matches!(after(entries.clone()), Next::Lean { kind: Kind::LeanOn, .. }));
    entries.extend([dear(5), away(6)]);
    assert!(!matches!(after(entries), Next::Lean { kind: Kind::LeanOn, .. }));
}

#[test]
fn exact_ends_that_fail_are_given_up_when_they_have_cost_enough() {
    let lean = |entries: &[Entry]| [entries, &[ended(9, Kind::LeanHere, End::Converged, 0.1)]].concat();
    let failed = |spent: u64| Entry { spent, ..corrected(4, Kind::Exact, 0.3, 0.6) };
    let goes_on = |exact: Entry| {
        matches!(after(lean(&[&agreed()[..], &[exact]].concat())), Next::Lean { kind: Kind::LeanOn, .. })
    };
    assert!(goes_on(failed(500)) && !goes_on(failed(700)));
    // One that led to the elite has not failed.
    let won = Entry { spent: 700, ..verified(4, Kind::Exact, 0.15) };
    assert!(goes_on(won));
}
