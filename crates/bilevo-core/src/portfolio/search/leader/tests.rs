//! The leader's bookkeeping: trust, patience, which surrogate to believe, and what the base is.

use super::*;
use crate::minimise::formula::Formula;

fn leader(dim: usize) -> Leader {
    Leader::new([dim, 0, 0], 1, false, 0, (1.0, 5e-6))
}

fn answer(y: f64) -> Answer {
    Answer { y: vec![y], row: vec![0.0], tolerance: 0.01, settled: true }
}

fn proposal(x: &[f64], aim: Aim, length: f64, predicted: [f64; 2]) -> Proposal {
    Proposal { length, aim, predicted, ..Proposal::first(x.to_vec(), vec![0.5]) }
}

/// One that has judged F = 1 at 0.5 in every variable.
fn begun(dim: usize) -> Leader {
    let mut leader = leader(dim);
    assert!(leader.judge(&Proposal::first(vec![0.5; dim], vec![0.5]), answer(0.5), &[1.0]), "the first is the best");
    leader
}

#[test]
fn first_points_lie_a_fifth_of_the_box_inwards_along_each_variable() {
    let mut leader = begun(3);
    let mut next = |at: f64| leader.along_variable(&[at; 3]).unwrap();
    // Halfway and below it goes up, above it goes down.
    assert_eq!(next(0.5), [0.5 + 0.2, 0.5, 0.5]);
    assert_eq!(next(0.6), [0.6, 0.6 - 0.2, 0.6]);
    assert_eq!(next(0.9), [0.9, 0.9, 0.9 - 0.2]);
    assert_eq!((leader.round.seen, leader.radius()), (3, RADIUS));
    // Half as long for a descent of half the size.
    let mut half = Leader::new([1, 0, 0], 1, false, 0, (0.5, 5e-6));
    half.judge(&Proposal::first(vec![0.5], vec![0.5]), answer(0.5), &[1.0]);
    assert_eq!((half.along_variable(&[0.5]), half.radius()), (Some(vec![0.6]), 0.5 * RADIUS));
}

#[test]
fn a_first_point_that_fails_is_tried_closer_on_the_other_side() {
    let mut leader = begun(1);
    let x = leader.along_variable(&[0.5]).unwrap();
    assert!(!leader.judge(&proposal(&x, Aim::Round, 0.2, [1.0; 2]), answer(0.5), &[]));
    assert_eq!((leader.along_variable(&[0.5]), leader.answers.len()), (Some(vec![0.4]), 1));
}

#[test]
fn it_gives_up_after_four_failures_and_three_for_each_variable() {
    let mut leader = begun(2);
    let worse = proposal(&[0.7, 0.5], Aim::Teach, 0.2, [1.0; 2]);
    for _ in 0..10 {
        assert!(leader.failures <= leader.patience());
        assert!(!leader.judge(&worse, answer(0.5), &[2.0]));
    }
    assert_eq!(leader.patience(), 10);
    assert!(leader.along_variable(&[0.5; 2]).is_some());
    leader.judge(&worse, answer(0.5), &[2.0]);
    assert!(leader.along_variable(&[0.5; 2]).is_none());
    // What is better is the base, and patience begins anew.
    assert!(leader.judge(&proposal(&[0.6, 0.6], Aim::Teach, 0.1, [1.0; 2]), answer(0.3), &[0.5]));
    assert_eq!((leader.x(), leader.row(), leader.failures), (&[0.6, 0.6][..], &[0.5][..], 0));
    assert_eq!(leader.answer().y, [0.3]);
}

#[test]
fn steps_for_the_better_change_the_radius_and_others_do_not() {
    let radius = |aim: Aim, value: f64| {
        let mut leader = begun(1);
        leader.judge(&proposal(&[0.9], aim, 0.4, [1.0; 2]), answer(0.5), &[value]);
        leader.radius()
    };
    // The whole radius, with all that was promised: two and a half times as far. With a twentieth: 0.4 times the way.
    assert_eq!(radius(Aim::Better(0.5), 0.5), 1.0);
    assert!((radius(Aim::Better(0.5), 0.975) - 0.16).abs() < 1e-12);
    assert_eq!(radius(Aim::Better(0.5), 0.8), 0.4);
    assert_eq!((radius(Aim::Teach, 0.5), radius(Aim::Round, 2.0)), (0.4, 0.4));
}

#[test]
fn the_surrogate_that_predicted_better_of_late_is_believed() {
    let score = |predicted: [f64; 2]| {
        let mut leader = begun(1);
        leader.judge(&proposal(&[0.7], Aim::Teach, 0.2, [1.0; 2]), answer(0.5), &[2.0]);
        let before = leader.score;
        leader.judge(&proposal(&[0.6], Aim::Teach, 0.1, predicted), answer(0.5), &[1.0]);
        leader.score - 0.7 * before
    };
    // Errors of 0.04 and 0.02: the logarithm of 2, against the first. More than e² counts as that.
    assert!((score([1.04, 0.98]) - 2.0_f64.ln()).abs() < 1e-9);
    assert!((score([0.98, 1.04]) + 2.0_f64.ln()).abs() < 1e-9);
    assert_eq!((score([2.0, 1.001]), score([1.001, 2.0])), (2.0, -2.0));
    // It begins with the one along the response, unless that may have kinks.
    let kinked = Leader::new([1, 0, 0], 1, true, 0, (1.0, 5e-6));
    assert!(leader(1).score < 0.0 && kinked.score > 0.0);
}

#[test]
fn a_base_that_owed_its_value_to_its_answer_gives_way() {
    let mut leader = begun(1);
    leader.judge(&proposal(&[0.7], Aim::Better(0.5), 0.2, [1.0; 2]), answer(0.5), &[0.5]);
    assert_eq!(leader.base, 1);
    leader.failures = 3;
    leader.radius = 0.01;
    leader.correct(answer(0.6), &[1.5], 0.1);
    // The first one is better now; steps may be as long again as the one that failed.
    assert_eq!((leader.base, leader.failures, leader.radius), (0, 0, 0.1));
    assert_eq!(leader.answers[1].y, [0.6]);
    // An evaluation that fails leaves it as it was, but for the accuracy.
    let finer = Answer { tolerance: 1e-3, ..answer(0.9) };
    leader.failures = 2;
    leader.correct(finer, &[], 0.3);
    assert_eq!((leader.answer().y[0], leader.answer().tolerance, leader.failures, leader.radius), (0.5, 1e-3, 2, 0.1));
    leader.confirm(1e-4, false);
    assert_eq!((leader.answer().tolerance, leader.answer().settled), (1e-4, false));
}

/// F along one variable with its minimum 0.1 beyond 0.5, or at 0.5; the deviation of its slope is `doubt` times the
/// curvature of 2, a thousandth of which is added.
fn along(minimum: f64, doubt: f64) -> Formula<'static> {
    let mut model = Formula::new(
        1,
        move |z| vec![z[0] * z[0] - 2.0 * minimum * z[0]],
        move |z| vec![2.0 * (z[0] - minimum)],
        |_| vec![2.0],
    );
    model.covariance = vec![(2.002 * doubt) * (2.002 * doubt)];
    model
}

fn near(found: Option<(Vec<f64>, Aim)>, x: f64, aim: Aim) {
    let Some((point, found)) = found else { panic!("nothing, not {x}") };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let same = match (found, aim) {
        (Aim::Better(a), Aim::Better(b)) => close(a, b),
        _ => found == aim,
    };
    assert!(close(point[0], x) && same, "{point:?} {found:?}");
}

#[test]
fn a_step_goes_to_the_minimiser_if_that_is_known_and_promises_what_it_gains() {
    let mut leader = begun(1);
    near(leader.step(&mut along(0.1, 0.0), &[0.5], &[1.0]), 0.6, Aim::Better(0.01));
    // Within the radius, which is 0.4 at first, and within the box.
    near(leader.step(&mut along(0.45, 0.0), &[0.5], &[1.0]), 0.9, Aim::Better(0.36 - 0.16));
    near(leader.step(&mut along(0.45, 0.0), &[0.8], &[1.0]), 1.0, Aim::Better(0.18 - 0.04));
    // As long as it is at least half of what is not known of it.
    near(leader.step(&mut along(0.1, 0.19), &[0.5], &[1.0]), 0.6, Aim::Better(0.01));
}

#[test]
fn what_is_in_doubt_is_looked_at_on_one_side_and_then_on_the_other() {
    let mut leader = begun(1);
    near(leader.step(&mut along(0.1, 0.25), &[0.5], &[1.0]), 0.6 - 0.25, Aim::Teach);
    near(leader.step(&mut along(0.1, 0.25), &[0.5], &[1.0]), 0.6 + 0.25, Aim::Teach);
    // No farther than a step may go, and not so close that rounding hides the difference.
    near(leader.step(&mut along(0.1, 9.0), &[0.5], &[1.0]), 0.6 - 0.4, Aim::Teach);
    near(leader.step(&mut along(0.0, 1e-5), &[0.5], &[1.0]), 0.5 + TEACH, Aim::Teach);
    leader.radius = 2e-5;
    near(leader.step(&mut along(0.0, 1e-5), &[0.5], &[1.0]), 0.5 - 2e-5, Aim::Teach);
}

#[test]
fn where_nothing_is_left_to_gain_or_to_learn_it_is_over() {
    let over = |minimum: f64, doubt: f64| begun(1).step(&mut along(minimum, doubt), &[0.5], &[1.0]).is_none();
    // Five millionths, of both together.
    assert!(over(0.0, 0.0) && over(2e-6, 2e-6) && !over(3e-6, 3e-6) && !over(6e-6, 0.0) && !over(0.0, 6e-6));
}

#[test]
fn steps_that_fail_though_the_minimiser_is_in_doubt_begin_anew_with_points_close_by() {
    let anew = |leader: &mut Leader| leader.step(&mut along(0.1, 9.0), &[0.5], &[1.0]);
    // Too often, or too short.
    for (failures, radius) in [(8, 0.4), (0, 4e-6)] {
        let mut leader = begun(1);
        (leader.failures, leader.radius) = (failures, radius);
        near(anew(&mut leader), 0.5 + SPREAD_ANEW, Aim::Round);
        assert_eq!((leader.failures, leader.radius, leader.round.seen), (0, 2.0 * SPREAD_ANEW, 1));
        // Once; and not for a descent that is to be coarse.
        (leader.failures, leader.radius) = (failures, radius);
        assert_eq!(anew(&mut leader), None);
        let mut coarse = begun(1);
        (coarse.failures, coarse.radius, coarse.still) = (failures, radius, 0.02);
        assert_eq!(anew(&mut coarse), None);
    }
    let mut leader = begun(1);
    leader.failures = 7;
    assert!(matches!(anew(&mut leader), Some((_, Aim::Teach))), "four, and three for the variable, are few enough");
}
