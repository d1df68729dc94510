//! The parts of one generation: what is opened, what is compared, what is remembered, and when it is the last.

use super::*;
use crate::portfolio::follower::Effort;

/// One that stands in the middle of a problem whose F and f are x and y.
fn standing() -> (Bench, Population) {
    let bench = Bench::new(|p| vec![p[0]], |p| vec![p[1]]);
    let search = population(&bench, &config(), Vec::new());
    (bench, search)
}

/// A claim at x with F = x and an answer at y with f = y.
fn claim(x: f64, y: f64) -> Claim {
    Claim { x: vec![x], y: vec![y], upper: vec![x], lower: vec![y], settled: true }
}

#[test]
fn the_incumbent_is_the_best_of_a_generation_and_of_settled_ones_before() {
    let (bench, mut search) = standing();
    let mut after = |solutions: Vec<Claim>, judged: Vec<Claim>| {
        (search.solutions, search.judged) = (solutions, judged);
        search.close(&bench.ground());
        search.claim().map(|c| c.value())
    };
    let failed = Claim { upper: Vec::new(), ..claim(0.0, 0.5) };
    let unsettled = Claim { settled: false, ..claim(0.1, 0.5) };
    assert_eq!(after(vec![failed.clone()], vec![]), None);
    assert_eq!(after(vec![claim(0.8, 0.5), claim(0.7, 0.5), failed.clone()], vec![]), Some(0.7));
    assert_eq!(after(vec![claim(0.9, 0.5)], vec![]), Some(0.7), "it stays");
    assert_eq!(after(vec![claim(0.9, 0.5)], vec![unsettled.clone(), failed, claim(0.6, 0.5)]), Some(0.6));
    assert_eq!(after(vec![unsettled], vec![]), Some(0.1), "what is new was refined");
}

#[test]
fn the_answers_of_four_generations_are_remembered() {
    let (bench, mut search) = standing();
    for generation in 0..6 {
        search.solutions = (0..6).map(|i| claim(0.5 + 0.01 * f64::from(6 * generation + i), 0.5)).collect();
        search.close(&bench.ground());
    }
    // The latest 24 of 36.
    let decisions: Vec<f64> = search.judged.iter().map(|c| c.x[0]).collect();
    assert_eq!((decisions.len(), decisions[0], search.solutions.len()), (24, 0.5 + 0.12, 0));
}

#[test]
fn two_generations_without_any_difference_are_the_end() {
    let (bench, mut search) = standing();
    let mut close = |values: &[f64]| {
        search.solutions = values.iter().map(|v| claim(*v, 0.5)).collect();
        search.close(&bench.ground());
        (search.flat, search.end())
    };
    let (same, spent) = ([0.5, 0.5 + 1e-12, 0.5], Some(End::Spent));
    assert_eq!(close(&same), (1, None));
    assert_eq!(close(&[0.5, 0.5 + 1e-9]), (0, None), "F changes by a half over the box");
    assert_eq!(close(&[0.5]), (0, None), "one alone says nothing");
    assert_eq!((close(&same), close(&same)), ((1, None), (2, spent)));
}

#[test]
fn it_ends_beyond_its_patience_or_when_nothing_is_left_of_it() {
    let end = |clock: u64, step_size: f64, narrow: f64| {
        let (bench, mut search) = standing();
        (search.patience, search.narrow, search.record) = (150, narrow, Some(claim(0.5, 0.5)));
        (search.clock, search.incumbent, search.cma.step_size) = ((clock, 0), Some(claim(0.5, 0.5)), step_size);
        search.close(&bench.ground());
        search.end()
    };
    assert_eq!((end(150, 0.3, 0.1), end(151, 0.3, 0.1)), (None, Some(End::Spent)));
    // A tenth of its first size of 0.3; where it may go on, until it has collapsed.
    assert_eq!((end(0, 0.04, 0.1), end(0, 0.02, 0.1)), (None, Some(End::Converged)));
    assert_eq!((end(0, 1e-8, 0.0), end(0, 1e-10, 0.0)), (None, Some(End::Spent)));
}

#[test]
fn it_arrives_with_a_settled_incumbent_only() {
    let end = |settled: bool, x: f64| {
        let (bench, mut search) = standing();
        search.goal = Some(Goal { claim: claim(0.5, 0.5), near: 0.01, above: 0.1, below: 0.1 });
        search.incumbent = Some(Claim { settled, ..claim(x, 0.5) });
        search.close(&bench.ground());
        search.end()
    };
    assert_eq!([end(true, 0.505), end(false, 0.505), end(true, 0.52)], [Some(End::Arrived), None, None]);
    // One that arrived goes on to its own end; another one may still arrive.
    let (_, mut search) = standing();
    let goal = Goal { claim: claim(0.5, 0.5), near: 0.01, above: 0.1, below: 0.1 };
    search.end = Some(End::Arrived);
    search.resume(None, Some(goal.clone()));
    assert_eq!((search.goal.take(), search.end()), (None, None));
    search.end = Some(End::Converged);
    search.resume(None, Some(goal.clone()));
    assert_eq!(search.goal, Some(goal));
}

#[test]
fn every_few_generations_the_incumbent_is_a_parent_if_it_is_better_than_all() {
    let moved = |generation: u64, incumbent: f64| {
        let (bench, mut search) = standing();
        (search.recall, search.generation) = (5, generation);
        search.solutions = (0..3).map(|_| claim(0.5, 0.5)).collect();
        search.incumbent = Some(Claim { upper: vec![incumbent], ..claim(0.9, 0.9) });
        search.close(&bench.ground());
        search.cma.mean[0] > 0.55
    };
    assert!(moved(5, 0.4) && moved(10, 0.4), "the first of the parents");
    assert!(!moved(4, 0.4) && !moved(6, 0.4) && !moved(5, 0.6));
}

#[test]
fn refined_answers_take_the_place_of_what_was_found_at_the_same_decision() {
    let (bench, mut search) = standing();
    (search.solutions, search.judged) = (vec![claim(0.4, 0.6), claim(0.3, 0.7)], vec![claim(0.4, 0.6)]);
    search.incumbent = Some(claim(0.4, 0.6));
    search.clock = (10, 10);
    let effort = Effort { radius: 0.1, tolerance: 0.1, evaluations: 5 };
    let refined = |x: f64| Follower::new(vec![x], vec![0.2], vec![0.2], effort);
    search.followers = vec![refined(0.4), refined(0.3)];
    search.confirm(&bench.ground(), &vec![vec![0.8], vec![]]);
    // The incumbent's answer was another one: it is worse, so that the second one is the best, whose F failed.
    assert_eq!((search.claim().map(|c| c.x[0]), search.clock.0), (Some(0.3), 12));
    assert!(search.rivals.contains(&(vec![0.4], vec![0.2])));
    let found: Vec<(f64, f64, f64)> = search.judged.iter().map(|c| (c.x[0], c.y[0], c.value())).collect();
    assert_eq!(found, [(0.4, 0.2, 0.8), (0.4, 0.2, 0.8), (0.3, 0.7, 0.3)]);
}

#[test]
fn a_corrected_incumbent_is_a_new_beginning_but_not_for_ever() {
    let (bench, mut search) = standing();
    let effort = Effort { radius: 0.1, tolerance: 0.1, evaluations: 5 };
    // F looked like -9 until the answer was found: is 0.8 progress?
    let mut begins = || {
        let false_one = Claim { upper: vec![-9.0], ..claim(0.4, 0.6) };
        (search.incumbent, search.record) = (Some(false_one.clone()), Some(false_one));
        search.clock = (100, 0);
        (search.solutions, search.judged) = (Vec::new(), Vec::new());
        search.followers = vec![Follower::new(vec![0.4], vec![0.2], vec![0.2], effort)];
        search.confirm(&bench.ground(), &vec![vec![0.8]]);
        search.clock.1 > 0
    };
    assert_eq!([0; 7].map(|_| begins()), [true, true, true, true, true, false, false]);
}

#[test]
fn the_best_is_refined_if_it_would_be_the_incumbent_and_a_scout_if_it_wins() {
    let (bench, mut search) = standing();
    search.cma.step_size = 0.1;
    let mut refined = |best: f64, scouts: &[f64]| {
        (search.solutions, search.incumbent) = (vec![claim(best, 0.6)], Some(claim(0.5, 0.5)));
        search.scouts = scouts.iter().map(|y| vec![*y]).collect();
        let rows: Rows = scouts.iter().map(|f| vec![*f]).collect();
        search.refine(&bench.ground(), &rows);
        search.followers.clone()
    };
    // A fiftieth of the leader's spread, and four times that; twenty evaluations, and five for the variable.
    let follower = |x: f64, y: f64, radius: f64| {
        Follower::new(vec![x], vec![y], vec![y], Effort { radius, tolerance: 0.02 * 0.1, evaluations: 25 })
    };
    let [best, scout] = [follower(0.4, 0.6, 4.0 * (0.02 * 0.1)), follower(0.5, 0.3, 0.05)];
    assert_eq!(refined(0.4, &[]), std::slice::from_ref(&best));
    assert_eq!(refined(0.6, &[0.4, 0.3, 0.7]), std::slice::from_ref(&scout));
    assert_eq!(refined(0.4, &[0.3]), [best, scout]);
    assert_eq!(refined(0.5, &[0.5]), []);
}

#[test]
fn at_the_incumbent_an_answer_from_elsewhere_and_a_random_one_are_tried() {
    let (bench, mut search) = standing();
    let mut wanted = Wanted::new(2);
    search.scout(&bench.ground(), &mut wanted);
    assert!(wanted.is_empty(), "there is none yet");
    search.incumbent = Some(claim(0.25, 0.5));
    search.judged = vec![claim(0.3, 0.505)];
    search.scout(&bench.ground(), &mut wanted);
    assert_eq!(wanted.iter().len(), 1, "the only other one is alike");
    search.rivals = vec![(vec![0.9], vec![0.75])];
    search.scout(&bench.ground(), &mut wanted);
    assert_eq!((wanted.iter().len(), &wanted.points[..2], wanted.points[2]), (2, &[0.25, 0.75][..], 0.25));
    search.others = Switch::Off;
    search.scout(&bench.ground(), &mut wanted);
    assert!(wanted.is_empty() && search.scouts.is_empty());
    search.try_rivals(&mut wanted);
    assert!(wanted.is_empty());
}

#[test]
fn followers_are_solved_to_a_tenth_of_the_leaders_spread() {
    let (bench, mut search) = standing();
    search.cma.step_size = 0.1;
    search.open(&bench.ground());
    assert_eq!((search.generation, search.followers.len(), search.starts.len()), (1, 6, 6));
    // Nothing was judged before: they start as sampled, with steps of the spread.
    let effort = Effort { radius: 0.1, tolerance: 0.1 * 0.1, evaluations: 14 };
    for (follower, start) in search.followers.iter().zip(&search.starts) {
        assert_eq!(*follower, Follower::new(follower.x.clone(), start.clone(), Vec::new(), effort));
    }
    // Every other population predicts the answers from the nearest known one, with steps of half the way to it.
    (search.number, search.judged) = (2, vec![claim(0.0, 0.5), claim(1.0, 0.5)]);
    search.open(&bench.ground());
    for follower in &search.followers {
        let far = follower.x[0].min(1.0 - follower.x[0]);
        assert!((follower.radius - (0.5 * far).max(4.0 * follower.tolerance)).abs() < 1e-12, "{follower:?}");
    }
    search.number = 1;
    search.open(&bench.ground());
    assert!(search.followers.iter().all(|f| f.radius == 0.1));
    assert_eq!(search.searches, LowerSearches { run: 18, skipped: 0, resampled: 0 });
}

#[test]
fn a_rival_that_wins_is_searched_from() {
    let (bench, mut search) = standing();
    let effort = Effort { radius: 0.3, tolerance: 0.1, evaluations: 5 };
    let solved = |x: f64, y: f64| Follower::new(vec![x], vec![y], vec![y], effort);
    search.followers = vec![solved(0.2, 0.5), solved(0.4, 0.5), solved(0.6, 0.1), solved(0.8, 0.5)];
    search.followers[1].row.clear();
    search.rivals = vec![(vec![0.0], vec![0.3]), (vec![1.0], vec![0.505])];
    let mut wanted = Wanted::new(2);
    search.try_rivals(&mut wanted);
    // Those that found an answer, each with the nearest rival that is not alike.
    assert_eq!(wanted.points, [0.2, 0.3, 0.6, 0.505, 0.8, 0.3]);
    search.judge_rivals(&bench.ground(), &wanted, &vec![vec![0.3], vec![0.505], vec![0.3]]);
    let answers: Vec<(f64, f64)> = search.followers.iter().map(|f| (f.y[0], f.radius)).collect();
    assert_eq!(answers, [(0.3, 0.05), (0.5, 0.3), (0.1, 0.3), (0.3, 0.05)]);
    // With as much to spend as others: ten evaluations, and four for its variable.
    let won = Effort { radius: 0.05, tolerance: 0.1 * 0.3, evaluations: 14 };
    assert_eq!(search.followers[0], Follower::new(vec![0.2], vec![0.3], vec![0.3], won));
}
