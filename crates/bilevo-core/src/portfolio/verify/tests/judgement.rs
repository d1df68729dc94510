//! How answers are compared, which of them are made exact, and what the verdict says.

use super::*;

/// A follower of two variables with one inequality; f and g both change by 0.5 over the box.
fn scales(noise: f64) -> (Shape, Scales) {
    let level = |n: usize| LevelSpec::boxed(vec![(0.0, 1.0); n]);
    let spec = ProblemSpec::new("scripted", level(1), level(2).with_inequalities(1));
    let shape = Shape::of(&spec);
    let mut archive = shape.archive();
    archive.noise[1] = noise;
    for i in 0..9 {
        let v = f64::from(i) / 8.0;
        archive.push(Level::Lower, &[0.5, v, v], &[v, v]);
    }
    (shape, Scales::new(&spec, &archive))
}

/// A look at the answer (0.5, 0.5) with f = 1, where f is measured by `scale`.
fn verify(look: Look, scale: f64) -> Verify {
    let (x, y, upper, lower) = (vec![0.5], vec![0.5; 2], vec![3.0], vec![1.0, -1.0]);
    let mut verify = Verify::new(scales(0.0).0, Claim { x, y, upper, lower, settled: true }, Vec::new(), look);
    verify.scale = scale;
    verify
}

fn answer(y: [f64; 2], f: f64) -> Answer {
    Answer { y: y.to_vec(), row: vec![f, -1.0] }
}

#[test]
fn an_answer_beats_another_by_a_margin_of_the_scale_or_by_its_feasibility() {
    let (verify, (_, scales)) = (verify(FULL, 2.0), scales(0.0));
    let beats = |row: &[f64], other: &[f64]| verify.beats(&scales, row, other, 0.1);
    // A tenth of 2.
    assert!(beats(&[0.79, -1.0], &[1.0, -1.0]) && !beats(&[0.81, -1.0], &[1.0, -1.0]));
    assert!(beats(&[9.0, -1.0], &[1.0, 0.1]) && !beats(&[1.0, 0.1], &[9.0, -1.0]));
    // A violation of 0.1 is a fifth of what g changes by, and costs ten times the scale for each: 1 + 4.
    assert!(beats(&[4.79, 0.0], &[1.0, 0.1]) && !beats(&[5.0 - 0.19, 0.0001], &[1.0, 0.1]));
    assert!(beats(&[0.79, 0.1], &[1.0, 0.1]) && !beats(&[0.81, 0.1], &[1.0, 0.1]));
    // Anything is better than a failure, but for another one.
    assert!(beats(&[9.0, 9.0], &[]) && !beats(&[], &[9.0, 9.0]) && !beats(&[], &[]));
    // Noise of 0.1 hides differences up to 0.5.
    let noisy = self::scales(0.1).1;
    let beats = |f: f64| verify.beats(&noisy, &[f, -1.0], &[1.0, -1.0], 0.1);
    assert!(beats(0.49) && !beats(0.51));
}

#[test]
fn the_farther_an_answer_lies_the_clearer_it_must_be_better() {
    let scales = scales(0.0).1;
    let replaced = |look: Look, at: f64, gain: f64| {
        let mut verify = verify(look, 2.0);
        verify.exact = vec![answer([at, 0.5], 1.0 - 2.0 * gain)];
        let better = verify.decide(&scales);
        assert_eq!(better, verify.best.y != [0.5, 0.5]);
        better
    };
    let decided = Look { decided: true, ..FULL };
    let chosen = Look { chosen: Chosen::ByLeader, ..FULL };
    let leaning = Look { chosen: Chosen::Leaning, ..FULL };
    // In the same place, up to a twentieth of the box, beyond rounding; elsewhere by a ten thousandth of the scale.
    assert!(replaced(FULL, 0.549, 1e-11) && !replaced(FULL, 0.549, -1e-11));
    assert!(!replaced(FULL, 0.551, 0.9e-4) && replaced(FULL, 0.551, 1.1e-4));
    // Where f decides, by rounding and a little more.
    assert!(!replaced(decided, 0.551, 0.9e-10) && replaced(decided, 0.551, 1.1e-10) && replaced(decided, 0.549, 1e-11));
    // Where the leader chose, a ten thousandth of the square of the distance: 0.0016.
    assert!(!replaced(chosen, 0.54, 1.5e-7) && replaced(chosen, 0.54, 1.7e-7) && replaced(chosen, 0.551, 1.1e-4));
    // A follower that leant gave up to a ten thousandth away for it, unless f decides.
    assert!(!replaced(leaning, 0.501, 0.9e-4) && replaced(leaning, 0.501, 1.1e-4));
    assert!(!replaced(leaning, 0.551, 0.9e-4) && replaced(leaning, 0.551, 1.1e-4));
    assert!(replaced(Look { chosen: Chosen::Leaning, ..decided }, 0.501, 1e-11));
}

#[test]
fn other_minima_are_feasible_and_lie_apart_from_the_best_and_from_each_other() {
    let scales = scales(0.0).1;
    let mut verify = verify(FULL, 1.0);
    let broken = Answer { row: vec![0.0, 1.0], ..answer([0.1, 0.9], 0.0) };
    verify.exact = vec![answer([0.54, 0.5], 1.0), answer([0.9, 0.5], 2.0), answer([0.86, 0.5], 1.5), broken];
    verify.exact.push(answer([0.2, 0.2], 1.2));
    assert_eq!(verify.others(&scales), [answer([0.9, 0.5], 2.0), answer([0.2, 0.2], 1.2)]);
}

/// The verdict with these exact answers, the claim's own one first, and F of the best and the others.
fn judged(exact: Vec<Answer>, rows: Rows) -> Verdict {
    let scales = scales(0.0).1;
    let mut verify = verify(FULL, 1.0);
    (verify.exact, verify.settled) = (exact, true);
    verify.decide(&scales);
    verify.judged(&scales, &rows);
    verify.verdict().cloned().unwrap()
}

#[test]
fn what_was_hoped_for_is_told_where_the_true_answer_lies_elsewhere() {
    let own = answer([0.5, 0.5], 1.0);
    let stands = judged(vec![own.clone()], vec![]);
    assert!(stands.hoped.is_none() && stands.claim.settled && stands.claim.value() == 3.0, "{stands:?}");
    // Close by it was not exact; a thousandth of the box away and clearly better it is another answer.
    let finer = judged(vec![answer([0.51, 0.5], 0.9)], vec![vec![4.0]]);
    assert!(finer.hoped.is_none() && finer.claim.value() == 4.0 && finer.claim.y == [0.51, 0.5], "{finer:?}");
    let near = judged(vec![own.clone(), answer([0.51, 0.5], 0.9)], vec![vec![4.0]]);
    assert!(near.hoped.is_some_and(|hoped| hoped.y == [0.5, 0.5]) && near.claim.settled);
    let elsewhere = judged(vec![own.clone(), answer([0.9, 0.5], 0.9)], vec![vec![5.0], vec![6.0]]);
    assert!(elsewhere.hoped.is_some() && elsewhere.claim.value() == 5.0, "{elsewhere:?}");
    // Then the claim's own is another minimum, with its F.
    assert_eq!(elsewhere.others.iter().map(|c| (c.y[0], c.value())).collect::<Vec<_>>(), [(0.5, 6.0)]);
    // Where F fails, nothing is known but that the claim was wrong.
    let failed = judged(vec![own, answer([0.9, 0.5], 0.9)], vec![vec![], vec![]]);
    assert!(failed.hoped.is_none() && !failed.claim.settled && failed.others.is_empty(), "{failed:?}");
}

#[test]
fn an_answer_that_could_not_be_made_exact_is_not_settled() {
    let scales = scales(0.0).1;
    let mut verify = verify(FULL, 1.0);
    verify.exact = vec![answer([0.5, 0.5], 1.0)];
    verify.judged(&scales, &Rows::new());
    assert!(verify.claim.settled && verify.verdict().is_some_and(|verdict| !verdict.claim.settled));
}

#[test]
fn a_claim_that_stands_has_the_values_that_the_verdict_found() {
    let verdict = judged(vec![answer([0.5, 0.5], 0.9)], vec![]);
    assert_eq!((verdict.claim.lower, verdict.claim.upper), (vec![0.9, -1.0], vec![3.0]));
}

#[test]
fn a_tie_is_another_answer_within_a_ten_thousandth_of_the_scale() {
    let tied = |f: f64| judged(vec![answer([0.5, 0.5], 1.0), answer([0.9, 0.5], f)], vec![vec![2.0]]).tied;
    assert!(tied(1.0 + 0.9e-4) && tied(1.0 - 0.9e-4) && !tied(1.0 + 1.1e-4));
}

#[test]
fn f_is_measured_by_what_it_changes_by_here_or_elsewhere_but_not_by_more_than_over_the_box() {
    let measured = |own: Option<f64>, range: Option<f64>| {
        let mut verify = verify(Look { range, ..FULL }, 2.0);
        verify.range = own;
        verify.measure();
        verify.scale
    };
    assert_eq!([measured(None, None), measured(Some(0.5), None), measured(None, Some(0.25))], [2.0, 0.5, 0.25]);
    assert_eq!([measured(Some(0.5), Some(1.5)), measured(Some(9.0), None), measured(Some(0.0), None)], [1.5, 2.0, 2.0]);
}

/// The answers that are made exact of those probed, in this order; f changes by 1.
fn chosen(depth: Depth, probed: &[Answer]) -> Vec<Vec<f64>> {
    let (spec, scales) = (LevelSpec::boxed(vec![(0.0, 1.0)]), scales(0.0).1);
    let spec = ProblemSpec::new("scripted", spec.clone(), spec);
    let archive = Shape::of(&spec).archive();
    let ground = Ground { spec: &spec, archive: &archive, scales: &scales, streams: Streams::new(1) };
    let mut verify = verify(Look { depth, ..FULL }, 1.0);
    let mut scan = Scan::new(&verify.claim.y, 1.0);
    scan.tell(probed.iter().map(|a| (a, a.row[0])));
    verify.rough = probed.to_vec();
    verify.range = Some(1.0);
    verify.choose(&ground, &scan);
    verify.rough.into_iter().rev().map(|a| a.y).collect()
}

#[test]
fn the_claim_and_the_best_two_others_that_may_be_deeper_are_made_exact() {
    let own = vec![0.5, 0.5];
    let all = [
        answer([0.9, 0.9], 1.01),
        answer([0.1, 0.1], 1.015),
        answer([0.1, 0.9], 1.019),
        answer([0.505, 0.505], 0.9999),
        answer([0.9, 0.1], 1.5),
    ];
    // A fiftieth of what f changes by; the one beside the claim is the claim.
    assert_eq!(chosen(Depth::Full, &all), [own.clone(), vec![0.9, 0.9], vec![0.1, 0.1]]);
    assert_eq!(chosen(Depth::Full, &all[3..]), [own.clone(), vec![0.9, 0.1]], "the best of all in any case");
    assert_eq!(chosen(Depth::Full, &all[1..]), [own.clone(), vec![0.1, 0.1], vec![0.1, 0.9]]);
    // Where all are wanted, four, however high.
    let wide = chosen(Depth::Wide, &all);
    assert_eq!(wide, [own, vec![0.9, 0.9], vec![0.1, 0.1], vec![0.1, 0.9], vec![0.9, 0.1]]);
}

#[test]
fn along_a_variable_only_valleys_are_made_exact() {
    let line = [answer([0.7, 0.5], 1.01), answer([0.8, 0.5], 1.005), answer([0.9, 0.5], 1.015)];
    assert_eq!(chosen(Depth::Wide, &line), [[0.5, 0.5], [0.8, 0.5]]);
}

#[test]
fn what_is_preferred_but_breaks_a_constraint_is_tried_too() {
    let scales = scales(0.0).1;
    let mut verify = verify(FULL, 1.0);
    let mut probe = |y: [f64; 2], row: [f64; 2]| verify.points.push(&y, &row);
    probe([0.9, 0.9], [0.5, 0.4]);
    probe([0.1, 0.9], [0.2, 0.3]);
    probe([0.9, 0.1], [0.6, 0.2]);
    // Feasible; no better than the claim; where one is made exact already.
    probe([0.1, 0.1], [0.0, -0.1]);
    probe([0.3, 0.3], [1.1, 0.1]);
    probe([0.2, 0.7], [0.1, 0.5]);
    let tried = |verify: &Verify| verify.moved(&scales, &[vec![0.2, 0.705]]).map(|a| a.y);
    assert_eq!(tried(&verify), Some(vec![0.1, 0.9]), "what it would like best");
    // Of known answers the one that breaks it least.
    verify.known = vec![vec![0.9, 0.9], vec![0.9, 0.1]];
    assert_eq!(tried(&verify), Some(vec![0.9, 0.1]));
}

#[test]
fn an_answer_is_made_exact_from_a_neighbour_along_each_variable() {
    let mut verify = verify(FULL, 1.0);
    verify.rough = vec![answer([0.7, 0.2], 1.0), verify.best.clone()];
    verify.next_exact();
    // The claim is nearly exact; halfway it goes up. Another answer is not, and goes inwards.
    assert_eq!(verify.wanted, [[0.5 + 1e-3, 0.5], [0.5, 0.5 + 1e-3]]);
    verify.next_exact();
    assert_eq!(verify.wanted, [[0.7 - 0.01, 0.2], [0.7, 0.2 + 0.01]]);
    let Stage::Exact(follower) = &verify.stage else { panic!() };
    // Thirty evaluations, and ten for each variable.
    let effort = Effort { radius: 0.01, tolerance: 1e-7, evaluations: 50 };
    assert_eq!(*follower, Follower::new(Vec::new(), vec![0.7, 0.2], vec![1.0, -1.0], effort));
    verify.next_exact();
    assert_eq!(verify.stage, Stage::Judge);
}
