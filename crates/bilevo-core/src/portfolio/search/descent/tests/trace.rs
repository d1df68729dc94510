//! The steps of a descent, one by one, on the bowl whose follower answers y = x.

use super::*;
use crate::portfolio::search::tests::{Bench, bowl, follows};

fn begun(size: f64) -> (Bench, Descent) {
    let bench = Bench::new(bowl, follows);
    let start = Start { point: vec![0.1, 0.75], size, budget: 400, still: STILL, goal: None };
    let descent = Descent::new(bench.shape(), &bench.archive, start);
    (bench, descent)
}

/// One that has judged a few decisions.
fn under_way() -> (Bench, Descent) {
    let (mut bench, mut descent) = begun(1.0);
    while descent.leader.answers.len() < 3 || !matches!(descent.phase, Phase::Follow(_)) {
        assert!(bench.step(&mut descent));
    }
    (bench, descent)
}

#[test]
fn it_begins_with_the_start_and_a_neighbour_inwards_as_large_as_its_size() {
    for size in [1.0, 0.5] {
        let descent = begun(size).1;
        assert_eq!(
            (descent.wanted.level, &descent.wanted.points[..]),
            (Level::Lower, &[0.1, 0.75, 0.1, 0.75 - 0.1 * size][..])
        );
        // A tenth of the box; the answer to a tenth of the leader's first radius, with a hundred evaluations.
        let effort = Effort { radius: 0.1 * size, tolerance: size * 0.1 * RADIUS, evaluations: 100 };
        assert_eq!(descent.follower, Follower::new(vec![0.1], vec![0.75], Vec::new(), effort));
        assert_eq!(descent.reach(), (RADIUS * size, 1.0));
        // What the archive teaches already is not asked for.
        let informed = begun(size).1.informed();
        assert_eq!(informed.wanted.points, [0.1, 0.75]);
    }
}

#[test]
fn an_informed_one_takes_its_first_step_at_once() {
    let (mut bench, descent) = begun(1.0);
    // Both levels are known around the start.
    for i in 0..5 {
        for j in 0..5 {
            let point = [0.05 + 0.05 * f64::from(i), 0.05 + 0.05 * f64::from(j)];
            bench.archive.push(Level::Upper, &point, &bowl(&point));
            bench.archive.push(Level::Lower, &point, &follows(&point));
        }
    }
    let start = Start { point: vec![0.1, 0.15], ..descent.start };
    // All points are its own.
    let mut descent = Descent::new(bench.shape(), &bench.shape().archive(), start).informed();
    while bench.judged().len() < 2 {
        assert!(bench.step(&mut descent));
    }
    // Not the first point along x, which would be 0.3, but towards the minimum at 0.45, as far as it may go.
    assert!((bench.judged()[1][0] - 0.3).abs() > 1e-3 && bench.judged()[1][0] > 0.2, "{:?}", bench.judged());
}

#[test]
fn a_base_that_was_judged_too_coarsely_for_the_step_is_settled_first() {
    let after = |old: f64| {
        let (bench, mut descent) = under_way();
        let base = descent.leader.base;
        descent.leader.answers[base].tolerance = old;
        descent.settle_or_go_on(&bench.archive, 0.2);
        // Here the surrogate knows the answer well enough without an evaluation.
        descent.leader.answers[base].tolerance
    };
    // A step of 0.2 wants an answer to 0.02.
    assert_eq!([after(0.1), after(0.0203), after(0.0201)], [0.1 * 0.2, 0.1 * 0.2, 0.0201]);
}

#[test]
fn a_proposals_follower_looks_half_as_far_as_the_step_went() {
    let (bench, mut descent) = under_way();
    descent.propose(&bench.archive);
    let Phase::Follow(proposal) = &descent.phase else { panic!() };
    let tolerance = 0.1 * proposal.length;
    assert_eq!((descent.follower.tolerance, descent.follower.radius), (tolerance, 0.5 * proposal.length));
    // It begins at the predicted answer.
    assert_eq!(descent.wanted.points, [&proposal.x[..], &proposal.y].concat());
}

#[test]
fn at_its_end_the_answer_is_made_exact_unless_it_is_to_be_coarse() {
    let end = |still: f64| {
        let (mut bench, descent) = begun(1.0);
        let start = Start { still, ..descent.start };
        let mut descent = Descent::new(bench.shape(), &bench.archive, start);
        assert_eq!(bench.run(&mut descent), Some(End::Converged));
        descent.leader.answer().tolerance
    };
    assert_eq!(end(STILL), POLISHED);
    assert!(end(2.0 * STILL) > POLISHED);
}

#[test]
fn cut_short_it_judges_what_it_has_and_nothing_else() {
    let cut = |phase: fn(Proposal) -> Phase, solved: bool| {
        let mut descent = under_way().1;
        let Phase::Follow(proposal) = descent.phase.clone() else { panic!() };
        descent.phase = phase(proposal);
        descent.follower.row = if solved { vec![0.0] } else { Vec::new() };
        descent.cut();
        (descent.wanted.level, descent.wanted.iter().len(), descent.end())
    };
    let judges = (Level::Upper, 1, None);
    assert_eq!(cut(Phase::Follow, true), judges);
    assert_eq!((cut(Phase::Judge, true), cut(|_| Phase::Correct(0.1), true)), (judges, judges));
    let spent = |found: (Level, usize, Option<End>)| found.1 == 0 && found.2 == Some(End::Spent);
    assert!(spent(cut(Phase::Follow, false)) && spent(cut(|_| Phase::Settle(0.1), true)));
    assert!(spent(cut(|_| Phase::Ended(End::Converged), true)));
}

#[test]
fn it_arrives_with_a_settled_answer_only() {
    let (_, mut descent) = under_way();
    let claim = descent.claim().unwrap();
    assert!(claim.settled && !descent.has_arrived(), "there is no goal");
    descent.start.goal = Some(Goal { claim, near: 1e-3, above: 1e-3, below: 1e-3 });
    assert!(descent.has_arrived());
    let base = descent.leader.base;
    descent.leader.answers[base].settled = false;
    assert!(!descent.has_arrived());
}

#[test]
fn short_steps_without_an_answer_are_counted_as_long_as_they_follow_each_other() {
    let (bench, mut descent) = under_way();
    let Phase::Follow(proposal) = descent.phase.clone() else { panic!() };
    let mut judge = |settled: bool, length: f64| {
        descent.follower.settled = settled;
        descent.spent = 0;
        let mut proposal = proposal.clone();
        proposal.length = length;
        descent.judge(&bench.archive, proposal, &[9.0]);
        (descent.astray, descent.end())
    };
    assert_eq!((judge(false, 0.9e-3), judge(false, 0.9e-3)), ((1, None), (2, None)));
    assert_eq!((judge(true, 0.9e-3).0, judge(false, 0.9e-3).0, judge(false, 1.1e-3).0), (0, 1, 0));
    assert_eq!((judge(false, 1e-4).0, judge(false, 1e-4).0, judge(false, 1e-4)), (1, 2, (3, Some(End::Lost))));
}

#[test]
fn a_first_follower_of_many_variables_may_spend_more() {
    let shape = Shape { upper: [1, 0, 0], lower: [5, 0, 0] };
    let start = Start { point: vec![0.5; 6], size: 1.0, budget: 400, still: STILL, goal: None };
    let effort = Effort { radius: 0.1, tolerance: 0.1 * RADIUS, evaluations: 120 };
    let expected = Follower::new(vec![0.5], vec![0.5; 5], Vec::new(), effort);
    assert_eq!(Descent::new(shape, &shape.archive(), start).follower, expected, "24 for each");
}
