//! Scripted histories: what happened, and what comes next.

use super::borders::ROUNDS;
use super::ties::{GENTLE, WEIGHTS, is_found_by_leaning, lean_from};
use super::*;
use crate::portfolio::archive::Archive;
use crate::portfolio::claim::Scales;
use crate::portfolio::config::{Effort, Switch};
use crate::portfolio::verify::Verdict;
use crate::problem::{Level, LevelSpec, ProblemSpec};

mod agreement;
mod course;
mod ties;

fn empty() -> History {
    with_noise([0.0; 2])
}

fn with_noise(noise: [f64; 2]) -> History {
    let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
    let spec = ProblemSpec::new("scripted", level(), level());
    let mut archive = Archive { noise, ..Archive::new(2, 1, 1) };
    for i in 0..9 {
        let v = f64::from(i) / 8.0;
        archive.push(Level::Upper, &[v, v], &[v]);
        archive.push(Level::Lower, &[v, v], &[v]);
    }
    History { entries: Vec::new(), scales: Scales::new(&spec, &archive), is_known_widely: false, dents: Vec::new() }
}

fn claim(value: f64, y: f64) -> Claim {
    Claim { x: vec![value], y: vec![y], upper: vec![value], lower: vec![0.0], settled: true }
}

/// A search that ended at a value, not yet verified.
fn ended(restart: u64, kind: Kind, end: End, value: f64) -> Entry {
    let claim = Some(claim(value, 0.5));
    let rivals = Vec::new();
    Entry { kind, restart, end, claim, rivals, verdict: None, looks: 0, corrections: 0, flat: false, spent: 100 }
}

fn verdict(claim: Claim, depth: Depth) -> Option<Verdict> {
    Some(Verdict { claim, hoped: None, others: Vec::new(), tied: false, range: Some(1.0), depth })
}

/// A survey of the box.
fn surveyed(restart: u64) -> Entry {
    Entry { claim: None, ..ended(restart, Kind::Survey, End::Converged, 0.0) }
}

/// The same with a verdict that left it as it was.
fn verified(restart: u64, kind: Kind, value: f64) -> Entry {
    Entry { verdict: verdict(claim(value, 0.5), Depth::Full), looks: 1, ..ended(restart, kind, End::Converged, value) }
}

/// The same with a verdict that found another answer, with which F is `truly`.
fn corrected(restart: u64, kind: Kind, value: f64, truly: f64) -> Entry {
    let mut entry = verified(restart, kind, value);
    let hoped = entry.claim.clone();
    let claim = Claim { x: vec![value], ..claim(truly, 0.9) };
    entry.verdict = verdict(claim, Depth::Full).map(|verdict| Verdict { hoped, ..verdict });
    entry.corrections = 1;
    entry
}

fn after(entries: Vec<Entry>) -> Next {
    next(&History { entries, ..empty() }, &PortfolioConfig::default())
}

#[test]
fn a_run_begins_with_two_descents_and_a_survey_if_they_agree() {
    assert_eq!(after(vec![]), Next::Restart(Kind::Descent));
    let first = verified(1, Kind::Descent, 0.2);
    assert_eq!(after(vec![first.clone()]), Next::Restart(Kind::Descent));
    let second = verified(2, Kind::Descent, 0.2);
    assert_eq!(after(vec![first.clone(), second.clone()]), Next::Restart(Kind::Survey));
    let config = PortfolioConfig { survey: Switch::Off, ..PortfolioConfig::default() };
    assert_eq!(next(&History { entries: vec![first, second], ..empty() }, &config), Next::Restart(Kind::Population));
}

#[test]
fn a_survey_without_another_basin_is_a_wide_restart_that_agrees() {
    let run = |dents: &[f64], more: &[Entry]| {
        let dents = dents.iter().map(|x| claim(*x, 0.5)).collect();
        let first = [verified(1, Kind::Descent, 0.2), verified(2, Kind::Descent, 0.2), surveyed(3)];
        let history = History { entries: [&first[..], more].concat(), dents, ..empty() };
        (history.agreement(), next(&history, &PortfolioConfig::default()))
    };
    assert_eq!(run(&[], &[]), ((3, 1), Next::Verify(0, Depth::Wide)));
    // A dent has to be followed, and its descent has to end at the elite.
    assert_eq!(run(&[0.4], &[]), ((2, 0), Next::Dent(claim(0.4, 0.5))));
    let arrived = ended(4, Kind::Dent, End::Arrived, 0.2);
    assert_eq!(run(&[0.4], std::slice::from_ref(&arrived)), ((3, 1), Next::Verify(0, Depth::Wide)));
    let elsewhere = verified(4, Kind::Dent, 0.4);
    assert_eq!(run(&[0.4], &[elsewhere]), ((2, 0), Next::Restart(Kind::Population)));
    // There may be more dents than descents.
    let three: Vec<Entry> = (4..7).map(|restart| ended(restart, Kind::Dent, End::Arrived, 0.2)).collect();
    assert_eq!(run(&[0.3, 0.4, 0.5], &three).0, (3, 1));
    assert_eq!(run(&[0.3, 0.4, 0.5, 0.6], &three), ((2, 0), Next::Restart(Kind::Population)));
    // Four variables at the most.
    let of = |variables: usize| {
        let many = |mut e: Entry| {
            let verdict = e.verdict.as_mut().map(|v| &mut v.claim);
            e.claim.iter_mut().chain(verdict).for_each(|c| c.x = vec![0.2; variables]);
            e
        };
        let first = [verified(1, Kind::Descent, 0.2), verified(2, Kind::Descent, 0.2), surveyed(3)];
        History { entries: first.map(many).to_vec(), ..empty() }.agreement()
    };
    assert_eq!((of(4), of(5)), ((3, 1), (2, 0)));
    // One that found the elite is a restart like others.
    assert_eq!(run(&[0.4], &[verified(4, Kind::Dent, 0.1)]).0, (2, 1));
}

#[test]
fn a_survey_comes_when_one_more_restart_has_to_agree() {
    let run = |entries: &[Entry], effort: Effort| {
        let config = PortfolioConfig { effort, ties: 0, ..PortfolioConfig::default() };
        next(&History { entries: entries.to_vec(), ..empty() }, &config) == Next::Restart(Kind::Survey)
    };
    assert!(!run(&agreed()[..1], Effort::Normal) && run(&agreed()[..2], Effort::Normal));
    assert!(!run(&agreed(), Effort::Thorough) && !run(&agreed(), Effort::Budget) && !run(&agreed(), Effort::Quick));
    let fourth = [&agreed()[..], &[verified(4, Kind::Descent, 0.2)]].concat();
    assert!(run(&fourth, Effort::Thorough));
    // One more where two have ended elsewhere.
    let others = [verified(3, Kind::Population, 0.4), verified(4, Kind::Population, 0.5)];
    let split = [&agreed()[..2], &others].concat();
    assert!(!run(&split, Effort::Normal));
    assert!(run(&[&split[..], &[verified(5, Kind::Population, 0.2)]].concat(), Effort::Normal));
}

#[test]
fn descents_that_end_elsewhere_give_way_to_populations() {
    let entries = vec![verified(1, Kind::Descent, 0.2), verified(2, Kind::Descent, 0.4)];
    assert_eq!(after(entries), Next::Restart(Kind::Population));
}

#[test]
fn a_claim_gets_a_verdict_and_a_known_one_a_light_one() {
    let fresh = ended(1, Kind::Descent, End::Converged, 0.2);
    assert_eq!(after(vec![fresh]), Next::Verify(0, Depth::Full));
    let again = ended(2, Kind::Descent, End::Converged, 0.2);
    assert_eq!(after(vec![verified(1, Kind::Descent, 0.2), again]), Next::Verify(1, Depth::Light));
}

#[test]
fn a_descent_that_ran_out_goes_on_while_it_pays() {
    let first = ended(1, Kind::Descent, End::Spent, 0.5);
    let Next::Finish(from, _) = after(vec![first.clone()]) else { panic!() };
    assert_eq!(from, claim(0.5, 0.5));
    let better = ended(1, Kind::Finish, End::Spent, 0.3);
    assert!(matches!(after(vec![first.clone(), better]), Next::Finish(..)));
    let same = ended(1, Kind::Finish, End::Spent, 0.5);
    assert_eq!(after(vec![first, same]), Next::Verify(1, Depth::Full));
}

#[test]
fn a_population_is_finished_and_goes_on_where_that_fails() {
    let population = ended(1, Kind::Population, End::Converged, 0.5);
    assert!(matches!(after(vec![population.clone()]), Next::Finish(..)));
    let lost = Entry { claim: None, ..ended(1, Kind::Finish, End::Lost, 0.5) };
    assert_eq!(after(vec![population.clone(), lost.clone()]), Next::Resume);
    // At its own end it is verified as it is.
    let over = Entry { end: End::Spent, ..population };
    assert_eq!(after(vec![over, lost]), Next::Verify(0, Depth::Full));
}

#[test]
fn after_a_correction_a_descent_goes_on_from_the_true_answer_then_comes_the_border() {
    let mut entries = vec![verified(1, Kind::Descent, 0.5), corrected(2, Kind::Descent, 0.2, 0.8)];
    let Next::Finish(from, _) = after(entries.clone()) else { panic!() };
    assert_eq!(from.y, vec![0.9]);
    // One that is corrected in its turn does not go on again.
    for finish in [verified(2, Kind::Finish, 0.7), corrected(2, Kind::Finish, 0.2, 0.7)] {
        let Next::Border(hoped, rivals) = after([&entries[..], &[finish]].concat()) else { panic!() };
        assert_eq!((hoped.y, rivals), (vec![0.5], vec![vec![0.9]]));
    }
    entries.push(verified(2, Kind::Finish, 0.7));
    // A third answer there: once more, with both as rivals; one that moved a little is tracked.
    let again = |rival: f64| {
        let border = Entry { rivals: vec![vec![rival]], ..corrected(2, Kind::Border, 0.3, 0.9) };
        after([&entries[..], &[border]].concat())
    };
    let hoped = Claim { x: vec![0.3], ..claim(0.3, 0.5) };
    assert_eq!(again(0.88), Next::Tracked(hoped.clone(), vec![vec![0.9]]));
    assert_eq!(again(0.1), Next::Border(hoped, vec![vec![0.1], vec![0.9]]));
    // Until it promises nothing any more; and there is none where the claim would not have paid.
    entries.push(corrected(2, Kind::Border, 0.6, 0.9));
    assert!(matches!(after(entries), Next::Restart(_)));
    let entries =
        [verified(1, Kind::Descent, 0.1), corrected(2, Kind::Descent, 0.2, 0.8), verified(2, Kind::Finish, 0.7)];
    assert!(matches!(after(entries.to_vec()), Next::Restart(_)));
}

#[test]
fn rounds_along_a_border_end_and_so_does_what_they_may_cost() {
    let before =
        vec![verified(1, Kind::Descent, 0.5), corrected(2, Kind::Descent, 0.2, 0.8), verified(2, Kind::Finish, 0.7)];
    let rounds = |spent: u64| {
        let mut entries = before.clone();
        while matches!(after(entries.clone()), Next::Border(..)) {
            entries.push(Entry { spent, ..corrected(2, Kind::Border, 0.3, 0.9) });
        }
        entries.len() - before.len()
    };
    // Three descents of 2 variables are 480 evaluations, a quarter of the other 300 makes 75.
    assert_eq!((rounds(10), rounds(200), rounds(1000)), (ROUNDS, 3, 1));
}

#[test]
fn rounds_that_converge_go_on_whatever_they_cost() {
    let entries = [verified(1, Kind::Descent, 0.5), corrected(2, Kind::Descent, 0.2, 0.8)];
    let dear =
        |rival: f64| Entry { rivals: vec![vec![rival]], spent: 1_000_000, ..corrected(2, Kind::Border, 0.3, 0.9) };
    assert!(matches!(after([&entries[..], &[dear(0.88)]].concat()), Next::Tracked(..)));
    assert!(!matches!(after([&entries[..], &[dear(0.1)]].concat()), Next::Border(..)));
}

/// What comes next where the follower has a constraint.
fn constrained(entries: Vec<Entry>) -> Next {
    let level = |count| LevelSpec { inequalities: count, ..LevelSpec::boxed(vec![(0.0, 1.0)]) };
    let spec = ProblemSpec::new("scripted", level(0), level(1));
    let scales = Scales::new(&spec, &Archive::new(2, 1, 2));
    next(&History { entries, scales, ..empty() }, &PortfolioConfig::default())
}

/// The same entry with this value of the follower's constraint.
fn breaks(mut entry: Entry, by: f64) -> Entry {
    let verdict = entry.verdict.as_mut().map(|v| &mut v.claim);
    entry.claim.iter_mut().chain(verdict).for_each(|claim| claim.lower = vec![0.0, by]);
    entry
}

#[test]
fn a_descent_without_a_feasible_answer_goes_on_with_the_followers_constraints() {
    let mut entries = vec![breaks(ended(1, Kind::Population, End::Converged, 0.5), -0.1)];
    entries.push(breaks(ended(1, Kind::Finish, End::Converged, 0.2), 0.1));
    // From the latest claim of the restart with a feasible answer, once.
    assert_eq!(constrained(entries.clone()), Next::Feasible(entries[0].claim.clone().unwrap()));
    assert_eq!(constrained(entries[1..].to_vec()), Next::Feasible(entries[1].claim.clone().unwrap()));
    entries.push(breaks(ended(1, Kind::Feasible, End::Converged, 0.4), 0.0));
    assert_eq!(constrained(entries), Next::Verify(2, Depth::Full));
}

#[test]
fn where_there_is_no_answer_the_last_decision_that_has_one_is_looked_for() {
    let better = breaks(ended(1, Kind::Descent, End::Converged, 0.2), 0.1);
    let inside = breaks(verified(1, Kind::Feasible, 0.4), -0.1);
    let mut entries = vec![better.clone(), inside.clone()];
    assert_eq!(constrained(entries.clone()), Next::Edge(inside.claim.clone().unwrap(), vec![0.2]));
    // Once in a restart, and not where nothing is to be gained.
    entries.push(breaks(ended(1, Kind::Edge, End::Converged, 0.45), 0.0));
    assert!(matches!(constrained(entries), Next::Restart(_)));
    let worse = breaks(ended(1, Kind::Descent, End::Converged, 0.6), 0.1);
    assert!(matches!(constrained(vec![worse, inside]), Next::Restart(_)));
}

#[test]
fn corrected_restarts_do_not_agree() {
    let mut history = empty();
    history.entries = vec![verified(1, Kind::Descent, 0.2), verified(2, Kind::Descent, 0.2)];
    assert_eq!(history.agreement(), (2, 0));
    history.entries.push(verified(3, Kind::Population, 0.2));
    assert_eq!(history.agreement(), (3, 1));
    history.entries[1] = corrected(2, Kind::Descent, 0.1, 0.2);
    assert_eq!(history.agreement(), (2, 1));
    assert_eq!(history.entries[1].verified().map(Claim::value), Some(0.2));
}

/// Three restarts that agree, one of them a population.
fn agreed() -> Vec<Entry> {
    vec![verified(1, Kind::Descent, 0.2), verified(2, Kind::Descent, 0.2), verified(3, Kind::Population, 0.2)]
}

#[test]
fn before_the_end_come_a_survey_a_wide_look_and_leaning_descents() {
    let mut entries = agreed();
    assert_eq!(after(entries.clone()), Next::Restart(Kind::Survey));
    entries.push(surveyed(4));
    assert_eq!(after(entries.clone()), Next::Verify(0, Depth::Wide));
    entries[0].verdict = verdict(claim(0.2, 0.5), Depth::Wide);
    let Next::Lean { kind: Kind::LeanHere, .. } = after(entries.clone()) else { panic!() };
    entries.push(ended(5, Kind::LeanHere, End::Converged, 0.2));
    assert_eq!(after(entries.clone()), Next::Restart(Kind::Sample));
    entries.push(ended(6, Kind::Sample, End::Converged, 0.9));
    let Next::Lean { kind: Kind::LeanAway, from: Some(from), weight } = after(entries.clone()) else { panic!() };
    assert_eq!((from.value(), weight), (0.9, WEIGHTS[0]));
    entries.push(ended(7, Kind::LeanAway, End::Converged, 0.2));
    assert!(matches!(after(entries.clone()), Next::Lean { from: None, .. }));
    entries.push(ended(8, Kind::LeanAway, End::Converged, 0.2));
    assert_eq!(after(entries), Next::End);
}

#[test]
fn restarts_that_end_elsewhere_ask_for_more_agreement() {
    let elsewhere = |restart| verified(restart, Kind::Descent, 0.5);
    let once = [agreed(), vec![elsewhere(4)]].concat();
    assert!(is_agreed(&History { entries: once.clone(), ..empty() }, &PortfolioConfig::default()));
    let twice = [once, vec![elsewhere(5)]].concat();
    assert!(!is_agreed(&History { entries: twice.clone(), ..empty() }, &PortfolioConfig::default()));
    let again = [twice, vec![verified(6, Kind::Descent, 0.2)]].concat();
    assert!(is_agreed(&History { entries: again, ..empty() }, &PortfolioConfig::default()));
}

#[test]
fn a_leaning_descent_that_loses_its_way_goes_to_its_exact_end_from_the_step_before() {
    let exact = |value: f64| Next::Exact(claim(value, 0.5), Vec::new());
    let lean = |kind: Kind, value: f64| ended(4, kind, End::Converged, value);
    let rungs = [lean(Kind::LeanAway, 0.01), lean(Kind::LeanOn, 0.02), lean(Kind::LeanOn, 0.2)];
    assert_eq!(after([&agreed()[..], &rungs].concat()), exact(0.02));
    // Where it promises nothing any more, it was on its way there a step before.
    let slipping = [rungs[0].clone(), lean(Kind::LeanOn, 0.02), lean(Kind::LeanOn, 0.04), lean(Kind::LeanOn, 0.2)];
    assert_eq!(after([&agreed()[..], &slipping].concat()), exact(0.02));
    // Unless the gain went with the weight, or nothing came before.
    let rungs = [lean(Kind::LeanAway, 0.02), lean(Kind::LeanOn, 0.11), lean(Kind::LeanOn, 0.2)];
    assert!(!matches!(after([&agreed()[..], &rungs].concat()), Next::Exact(..)));
    assert!(!matches!(
        after([&agreed()[..], &[lean(Kind::LeanAway, 0.01), rungs[2].clone()]].concat()),
        Next::Exact(..)
    ));
}

#[test]
fn what_the_leader_alone_would_choose_gets_one_exact_end() {
    let lean = |restart: u64, kind: Kind, value: f64| ended(restart, kind, End::Converged, value);
    let wish =
        |restart| [(Kind::LeanAway, 0.01), (Kind::LeanOn, 0.01), (Kind::LeanOn, 0.2)].map(|(k, v)| lean(restart, k, v));
    let mut entries = [&agreed()[..], &wish(4)].concat();
    assert_eq!(after(entries.clone()), Next::Exact(claim(0.01, 0.5), Vec::new()));
    entries.push(Entry { claim: None, ..ended(4, Kind::Exact, End::Lost, 0.1) });
    assert!(!matches!(after([&entries[..], &wish(5)].concat()), Next::Exact(..)));
    // Where F follows the weight the leader had to give way: that is another matter.
    let way = [lean(5, Kind::LeanAway, 0.01), lean(5, Kind::LeanOn, 0.02), lean(5, Kind::LeanOn, 0.2)];
    assert_eq!(after([&entries[..], &way].concat()), Next::Exact(claim(0.02, 0.5), Vec::new()));
}

#[test]
fn a_leaning_descent_may_break_a_constraint_by_a_little_on_its_way() {
    let lean = |by: f64| breaks(ended(4, Kind::LeanAway, End::Converged, 0.01), by);
    let goes_on =
        |entry: Entry| matches!(constrained([&agreed()[..], &[entry]].concat()), Next::Lean { kind: Kind::LeanOn, .. });
    assert!(goes_on(lean(0.01)) && !goes_on(lean(0.1)));
}

#[test]
fn an_exact_end_without_a_tie_gets_no_verdict() {
    let exact = |entry: Entry| after([&agreed()[..], &[entry]].concat());
    assert_eq!(exact(ended(4, Kind::Exact, End::Converged, 0.1)), Next::Verify(3, Depth::Full));
    // At a tie no answer settles: what it claims there counts.
    let lost = ended(4, Kind::Exact, End::Lost, 0.1);
    assert_eq!(exact(lost.clone()), Next::Verify(3, Depth::Full));
    assert!(!matches!(exact(Entry { claim: None, ..lost }), Next::Verify(3, _)));
}

#[test]
fn a_population_that_its_descent_left_behind_gets_a_verdict() {
    let population = ended(2, Kind::Population, End::Converged, 0.15);
    let finish = |entry: Entry| vec![verified(1, Kind::Descent, 0.2), population.clone(), entry];
    let border = Entry { claim: None, ..ended(2, Kind::Border, End::Spent, 0.1) };
    let mut entries = finish(corrected(2, Kind::Finish, 0.1, 0.8));
    entries.push(corrected(2, Kind::Finish, 0.1, 0.8));
    entries.push(border.clone());
    assert_eq!(after(entries.clone()), Next::Verify(1, Depth::Full));
    // Once; and not where it promises nothing.
    entries[1] = Entry { looks: 1, verdict: verdict(claim(0.15, 0.5), Depth::Full), ..entries[1].clone() };
    assert!(!matches!(after(entries.clone()), Next::Verify(1, Depth::Full)));
    entries[1] = ended(2, Kind::Population, End::Converged, 0.3);
    assert!(!matches!(after(entries), Next::Verify(1, _)));
    // So does the claim of a descent that slid off an edge when it went on.
    let spent = ended(2, Kind::Descent, End::Spent, 0.15);
    let slid = vec![verified(1, Kind::Descent, 0.2), spent, verified(2, Kind::Finish, 0.9)];
    assert_eq!(after(slid), Next::Verify(1, Depth::Full));
}

#[test]
fn effort_says_how_many_must_agree() {
    let run = |effort: Effort, entries: Vec<Entry>| {
        let config = PortfolioConfig { effort, ..PortfolioConfig::default() };
        next(&History { entries, ..empty() }, &config)
    };
    assert_eq!(run(Effort::Local, agreed()[..1].to_vec()), Next::End);
    assert!(matches!(run(Effort::Quick, agreed()[..1].to_vec()), Next::Restart(_)));
    assert_eq!(run(Effort::Quick, agreed()[..2].to_vec()), Next::End);
    assert!(matches!(run(Effort::Thorough, agreed()), Next::Restart(_) | Next::Lean { .. }));
    assert!(matches!(run(Effort::Budget, agreed()), Next::Restart(_) | Next::Lean { .. }));
}

#[test]
fn a_population_goes_on_where_its_descent_runs_out_of_evaluations() {
    let population = |end| ended(2, Kind::Population, end, 0.5);
    let mut entries = vec![verified(1, Kind::Descent, 0.2), population(End::Converged)];
    entries.push(ended(2, Kind::Finish, End::Spent, 0.45));
    assert!(matches!(after(entries.clone()), Next::Finish(..)), "as long as that pays");
    entries.push(ended(2, Kind::Finish, End::Spent, 0.45));
    assert_eq!(after(entries.clone()), Next::Resume);
    // The next descent begins with shorter steps.
    entries.push(population(End::Converged));
    let Next::Finish(_, size) = after(entries.clone()) else { panic!() };
    assert!((size - NARROW * NARROW).abs() < 1e-12);
    // What promises more than the elite is verified first, and what ends at the elite is the end of it.
    let better = |verdict| Entry { verdict, ..ended(2, Kind::Finish, End::Spent, 0.1) };
    let run =
        |last: Entry| after(vec![verified(1, Kind::Descent, 0.2), population(End::Converged), last.clone(), last]);
    assert_eq!(run(better(None)), Next::Verify(3, Depth::Full));
    assert_eq!(run(better(verdict(claim(0.1, 0.5), Depth::Full))), Next::Resume);
    let same = Entry { verdict: verdict(claim(0.2, 0.5), Depth::Full), ..ended(2, Kind::Finish, End::Spent, 0.2) };
    assert_ne!(run(same), Next::Resume);
}

#[test]
fn a_claim_that_breaks_a_constraint_by_a_hair_agrees() {
    let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
    let spec = ProblemSpec::new("limited", level().with_inequalities(1), level());
    let mut archive = Archive::new(2, 2, 1);
    for i in 0..9 {
        let v = f64::from(i) / 8.0;
        archive.push(Level::Upper, &[v, v], &[v, v - 0.5]);
        archive.push(Level::Lower, &[v, v], &[v]);
    }
    let mut history = History { scales: Scales::new(&spec, &archive), ..empty() };
    let broken = |by: f64| Some(Claim { upper: vec![0.2, by], ..claim(0.2, 0.5) });
    let first = Entry {
        claim: broken(0.0),
        verdict: verdict(broken(0.0).unwrap(), Depth::Full),
        ..verified(1, Kind::Descent, 0.2)
    };
    let second = |by: f64| Entry { claim: broken(by), ..ended(2, Kind::Descent, End::Converged, 0.2) };
    history.entries = vec![first.clone(), second(1e-6)];
    assert_eq!(next(&history, &PortfolioConfig::default()), Next::Verify(1, Depth::Light));
    history.entries = vec![first, second(1e-2)];
    assert!(matches!(next(&history, &PortfolioConfig::default()), Next::Restart(_)));
}

#[test]
fn an_elite_that_stands_alone_is_verified_again() {
    let lone = verified(1, Kind::Descent, 0.1);
    let others = |count: u64| (2..2 + count).map(|restart| verified(restart, Kind::Population, 0.4));
    let history = |lone: &Entry, count: u64| std::iter::once(lone.clone()).chain(others(count)).collect::<Vec<_>>();
    assert!(!matches!(after(history(&lone, 1)), Next::Verify(..)));
    assert_eq!(after(history(&lone, 2)), Next::Verify(0, Depth::Full));
    // The more verdicts it has survived, the more it takes; and none while another restart agrees.
    let twice = Entry { looks: 2, ..lone.clone() };
    assert!(!matches!(after(history(&twice, 3)), Next::Verify(..)));
    assert_eq!(after(history(&twice, 4)), Next::Verify(0, Depth::Full));
    let agreeing = [history(&lone, 3), vec![verified(9, Kind::Descent, 0.1)]].concat();
    assert!(!matches!(after(agreeing), Next::Verify(..)));
}

#[test]
fn an_exact_end_that_won_is_finished_by_a_plain_descent() {
    let lean = ended(4, Kind::LeanHere, End::Converged, 0.1);
    let run = |exact: Entry| after([&agreed()[..], &[lean.clone(), exact]].concat());
    assert_eq!(run(verified(4, Kind::Exact, 0.1)), Next::Finish(claim(0.1, 0.5), NARROW * NARROW));
    assert!(!matches!(run(corrected(4, Kind::Exact, 0.1, 0.6)), Next::Finish(..)));
}

#[test]
fn an_exact_end_short_of_its_promise_gets_the_answers_that_are_as_good_as_rivals() {
    let leant = Entry { verdict: None, ..ended(2, Kind::LeanHere, End::Converged, 0.2) };
    let exact = |tied: bool, rivals: Vec<Vec<f64>>| {
        let mut entry = Entry { rivals, ..verified(2, Kind::Exact, 0.3) };
        let others = vec![claim(0.3, 0.1), claim(0.3, 0.9)];
        entry.verdict = entry.verdict.map(|verdict| Verdict { tied, others, ..verdict });
        after(vec![verified(1, Kind::Descent, 0.5), leant.clone(), entry])
    };
    assert_eq!(exact(true, vec![vec![0.88]]), Next::Exact(claim(0.2, 0.5), vec![vec![0.88], vec![0.1]]));
    // Nothing is new, or nothing is tied.
    assert!(matches!(exact(true, vec![vec![0.12], vec![0.88]]), Next::Finish(..)));
    assert!(matches!(exact(false, vec![]), Next::Finish(..)));
}

#[test]
fn a_verdict_tries_the_answers_to_the_nearest_decisions() {
    let at = |x: f64, y: f64| {
        let mut entry = verified(1, Kind::Descent, x);
        entry.verdict = verdict(Claim { x: vec![x], ..claim(0.5, y) }, Depth::Full);
        entry
    };
    let mut entries: Vec<Entry> = (0..30).map(|i| at(0.9, f64::from(i) / 30.0)).collect();
    entries.insert(0, at(0.11, 0.333));
    entries.insert(0, at(0.13, 0.34));
    let answers = History { entries, ..empty() }.answers(&[0.1]);
    // The nearest first, of those that are alike only that one, and no more than a few.
    assert_eq!(answers[0], [0.333]);
    assert!(!answers.contains(&vec![0.34]) && answers.len() == 12, "{answers:?}");
}

#[test]
fn before_the_end_an_elite_that_is_not_the_end_of_a_descent_is_finished_by_one() {
    let run = |kind: Kind, end: End, more: &[Entry]| {
        let elite = Entry { end, ..verified(3, kind, 0.2) };
        let others = [verified(1, Kind::Descent, 0.20001), verified(2, Kind::Population, 0.20002)];
        after([&others[..], &[elite], more, &[surveyed(9)]].concat())
    };
    let (finish, wide) = (Next::Finish(claim(0.2, 0.5), NARROW * NARROW), Next::Verify(2, Depth::Wide));
    assert_eq!(run(Kind::Descent, End::Spent, &[]), finish);
    assert_eq!(run(Kind::Population, End::Converged, &[verified(4, Kind::LeanHere, 0.9)]), finish);
    assert_eq!(run(Kind::Descent, End::Converged, &[]), wide, "it is one");
    assert_eq!(run(Kind::Descent, End::Spent, &[verified(3, Kind::Finish, 0.20003)]), wide, "that was tried");
}

#[test]
fn descents_follow_from_every_dent_of_the_survey_once() {
    let history = |more: &[Entry]| History {
        entries: [&agreed()[..], &[surveyed(4)], more].concat(),
        dents: vec![claim(0.4, 0.5), claim(0.6, 0.5)],
        ..empty()
    };
    let next = |more: &[Entry]| next(&history(more), &PortfolioConfig::default());
    let first = ended(5, Kind::Dent, End::Arrived, 0.2);
    assert_eq!(next(&[]), Next::Dent(claim(0.4, 0.5)));
    assert_eq!(next(std::slice::from_ref(&first)), Next::Dent(claim(0.6, 0.5)));
    let found = ended(6, Kind::Dent, End::Converged, 0.1);
    assert_eq!(next(&[first.clone(), found]), Next::Verify(5, Depth::Full), "it found something better");
    assert_eq!(next(&[first.clone(), verified(6, Kind::Dent, 0.3)]), Next::Verify(0, Depth::Wide));
    // Something better has to be agreed on; then there is no second survey.
    let better = verified(6, Kind::Dent, 0.1);
    assert!(matches!(next(&[first.clone(), better.clone()]), Next::Lean { .. } | Next::Restart(Kind::Population)));
    let others = [verified(7, Kind::Descent, 0.1), verified(8, Kind::Population, 0.1), verified(9, Kind::Descent, 0.1)];
    assert_eq!(next(&[&[first, better], &others[..]].concat()), Next::Verify(5, Depth::Wide));
}

#[test]
fn what_a_whole_run_left_counts_as_two_restarts_if_one_more_agrees() {
    let known = |value: f64, is_known_widely: bool| {
        let entries = vec![verified(1, Kind::Known, value), verified(2, Kind::Descent, 0.2)];
        History { entries, is_known_widely, ..empty() }
    };
    let config = PortfolioConfig::default();
    assert!(is_agreed(&known(0.2, true), &config));
    assert!(!is_agreed(&known(0.2, false), &config), "a few evaluations are one restart");
    assert!(!is_agreed(&known(0.4, true), &config), "a better value was found elsewhere");
    let alone = History { entries: vec![verified(1, Kind::Known, 0.2)], is_known_widely: true, ..empty() };
    assert_eq!(next(&alone, &config), Next::Restart(Kind::Descent));
    // No survey, and one tie search.
    assert_eq!(next(&known(0.2, true), &config), Next::Verify(0, Depth::Wide));
    let mut history = known(0.2, true);
    history.entries[0].verdict = verdict(claim(0.2, 0.5), Depth::Wide);
    assert_eq!(next(&history, &config), lean_from(&claim(0.2, 0.5)));
    history.entries.push(ended(3, Kind::LeanHere, End::Converged, 0.2));
    assert_eq!(next(&history, &config), Next::End);
}

#[test]
fn parts_that_are_switched_off_are_left_out() {
    let (on, off) = (PortfolioConfig::default(), Switch::Off);
    let differ = |entries: Vec<Entry>, without: PortfolioConfig| {
        let history = History { entries, ..empty() };
        [next(&history, &on), next(&history, &without)]
    };
    let [with, without] = differ(agreed(), PortfolioConfig { survey: off, ..on.clone() });
    assert_eq!([with, without], [Next::Restart(Kind::Survey), Next::Verify(0, Depth::Wide)]);
    let lone =
        vec![verified(1, Kind::Descent, 0.1), verified(2, Kind::Population, 0.4), verified(3, Kind::Population, 0.4)];
    let [with, without] = differ(lone, PortfolioConfig { doubt: off, ..on.clone() });
    assert!(with == Next::Verify(0, Depth::Full) && !matches!(without, Next::Verify(..)), "{without:?}");
    let mut loose = agreed();
    loose[0] = Entry { end: End::Spent, ..verified(1, Kind::Descent, 0.2) };
    loose[1] = verified(2, Kind::Descent, 0.20001);
    loose[2] = verified(3, Kind::Population, 0.20002);
    loose.push(surveyed(4));
    let [with, without] = differ(loose, PortfolioConfig { exact: off, ..on.clone() });
    assert!(matches!(with, Next::Finish(..)) && without == Next::Verify(0, Depth::Wide), "{with:?} {without:?}");
}

#[test]
fn where_values_are_noisy_smoothed_searches_follow_until_they_agree() {
    let after =
        |entries: Vec<Entry>| next(&History { entries, ..with_noise([0.05, 0.05]) }, &PortfolioConfig::default());
    let cut = ended(1, Kind::Descent, End::Spent, 0.3);
    assert_eq!(after(vec![cut.clone()]), Next::Smooth(cut.claim.clone()), "from where the run stood");
    assert_eq!(after(vec![Entry { claim: None, ..cut.clone() }]), Next::Smooth(None));
    let smooth = ended(1, Kind::SmoothHere, End::Converged, 0.2);
    assert_eq!(after(vec![cut.clone(), smooth]), Next::Verify(1, Depth::Full));
    let wrong = corrected(1, Kind::SmoothHere, 0.2, 0.5);
    assert_eq!(after(vec![cut.clone(), wrong.clone()]), Next::Smooth(wrong.verified().cloned()));
    let often = vec![cut.clone(), wrong.clone(), wrong.clone(), wrong];
    assert_eq!(after(often), Next::Smooth(None), "corrections may come from noise");
    let agreeing = |count: u64| -> Vec<Entry> {
        let mut entries = vec![cut.clone(), verified(1, Kind::SmoothHere, 0.2)];
        entries.extend((2..=count).map(|restart| verified(restart, Kind::Smooth, 0.2 + 0.03 * (restart % 2) as f64)));
        entries
    };
    assert_eq!(after(agreeing(2)), Next::Smooth(None));
    assert_eq!(after(agreeing(3)), Next::End, "what differs by less than the noise agrees");
    let apart = |count: u64| (1..=count).map(|restart| verified(restart, Kind::Smooth, 0.5 * restart as f64)).collect();
    assert_eq!((after(apart(7)), after(apart(8))), (Next::Smooth(None), Next::End));
}
