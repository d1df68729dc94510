//! What a verdict is made of: how much is probed, where, and how f is measured.

use super::*;
use crate::portfolio::verify::sample::{anywhere, away, usual_change};

/// The first points that a verdict with so much room asks for; one upper variable, the answer in the middle.
fn probes(n: usize, look: Look, known: Vec<Vec<f64>>) -> usize {
    let spec = ProblemSpec::new("scripted", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::boxed(vec![(0.0, 1.0); n]));
    let shape = Shape::of(&spec);
    let (archive, mut wanted) = (shape.archive(), Wanted::new(1 + n));
    let scales = Scales::new(&spec, &archive);
    let claim = Claim { x: vec![0.5], y: vec![0.5; n], upper: vec![0.0], lower: vec![0.0], settled: true };
    let ground = Ground { spec: &spec, archive: &archive, scales: &scales, streams: Streams::new(1) };
    Verify::new(shape, claim, known, look).ask(&ground, &mut wanted);
    wanted.iter().len()
}

#[test]
fn a_probe_tries_values_of_each_variable_a_sample_and_what_is_known() {
    // 30 values and 10 + 10 points; twice 30 and 10 + 20 points.
    assert_eq!(probes(1, FULL, Vec::new()), 50);
    assert_eq!(probes(2, FULL, Vec::new()), 90);
    assert_eq!(probes(1, FULL, vec![vec![0.1], vec![0.2]]), 52);
    assert_eq!(probes(1, Look { scan: Switch::Off, ..FULL }, Vec::new()), 20);
    // Four times the sample where all minima are wanted; a neighbour of the answer where nothing is probed.
    assert_eq!(probes(1, Look { depth: Depth::Wide, ..FULL }, Vec::new()), 110);
    assert_eq!(probes(1, Look { depth: Depth::Light, ..FULL }, Vec::new()), 1);
}

#[test]
fn half_of_what_is_left_goes_into_the_probe() {
    let with = |room: usize| probes(1, Look { room, ..FULL }, Vec::new());
    // 15 and 10 of 25; 30 and 20 of 50; 6 and 4 of 10; one of each at least.
    assert_eq!([with(50), with(100), with(20), with(0)], [25, 50, 10, 2]);
}

fn answer(value: f64, constraint: f64) -> Answer {
    Answer { y: vec![0.5], row: vec![value, constraint] }
}

#[test]
fn f_usually_changes_by_what_lies_between_the_best_and_the_median() {
    let level = |count: usize| LevelSpec::boxed(vec![(0.0, 1.0)]).with_inequalities(count);
    let spec = ProblemSpec::new("scripted", level(0), level(1));
    let scales = Scales::new(&spec, &Shape::of(&spec).archive());
    let of = |feasible: &[f64], infeasible: &[f64]| {
        let all = feasible.iter().map(|v| answer(*v, -1.0)).chain(infeasible.iter().map(|v| answer(*v, 1.0)));
        usual_change(&all.collect::<Vec<_>>(), &scales)
    };
    assert_eq!(of(&[4.0, 3.0, 2.0, 1.0, 0.0], &[]), 2.0);
    assert_eq!(of(&[0.0, 0.0, 0.0, 0.0, 5.0], &[]), 5.0, "where most are the same, what the others differ by");
    // Eight feasible ones are enough to leave the others out; seven are not: the median of ten is 2.
    assert_eq!(of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], &[-100.0; 3]), 4.0);
    assert_eq!(of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[-100.0; 3]), 102.0);
    assert_eq!(of(&[], &[]), 0.0);
}

#[test]
fn rays_from_an_answer_are_met_evenly_up_to_the_box() {
    let from = [0.9, 0.2, 0.5];
    let mut stream = Streams::new(1).open(Purpose::Recheck, 0, 0);
    let mut shares = Vec::new();
    for _ in 0..600 {
        let y = away(&from, &mut stream);
        // The share of the way to the first bound that is met.
        let share = |(y, f): (&f64, &f64)| if y > f { (y - f) / (1.0 - f) } else { (f - y) / f };
        shares.push(y.iter().zip(&from).map(share).fold(0.0, f64::max));
    }
    // Uniform: mean 1/2, and a tenth of them below 0.1; within four standard deviations.
    let mean = shares.iter().sum::<f64>() / 600.0;
    let tenth = shares.iter().filter(|s| **s < 0.1).count();
    assert!((mean - 0.5).abs() < 0.05 && (31..=89).contains(&tenth), "{mean} {tenth}");
    assert!(shares.iter().all(|s| *s <= 1.0 + 1e-12));
}

#[test]
fn answers_at_bounds_are_a_third_each() {
    let mut stream = Streams::new(1).open(Purpose::Recheck, 0, 0);
    let drawn = anywhere(900, true, &mut stream);
    let count = |of: f64| drawn.iter().filter(|v| **v == of).count();
    // 300 of 900; the deviation is 14.
    assert!((240..=360).contains(&count(0.0)) && (240..=360).contains(&count(1.0)));
    assert!(anywhere(900, false, &mut stream).iter().all(|v| *v > 0.0 && *v < 1.0));
    assert!(differs_in_one(&[0.1, 0.2], &[0.1, 0.3]) && !differs_in_one(&[0.1, 0.2], &[0.2, 0.3]));
    assert!(!differs_in_one(&[0.1, 0.2], &[0.1, 0.2]));
}

#[test]
fn a_verdict_that_is_cut_short_judges_the_best_it_has_tried() {
    // A deeper basin at 0.8; cut after the first points, before anything is made exact.
    let row = |y: f64| square(y - 0.2).min(square(y - 0.8) - 0.01);
    let spec = ProblemSpec::new("scripted", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::boxed(vec![(0.0, 1.0)]));
    let shape = Shape::of(&spec);
    let (mut archive, mut wanted) = (shape.archive(), Wanted::new(2));
    for i in 0..9 {
        let y = f64::from(i) / 8.0;
        archive.push(Level::Upper, &[0.5, y], &[y]);
        archive.push(Level::Lower, &[0.5, y], &[row(y)]);
    }
    let scales = Scales::new(&spec, &archive);
    let claim = Claim { x: vec![0.5], y: vec![0.2], upper: vec![0.2], lower: vec![0.0], settled: true };
    let ground = Ground { spec: &spec, archive: &archive, scales: &scales, streams: Streams::new(1) };
    let mut verify = Verify::new(shape, claim.clone(), Vec::new(), FULL);
    verify.ask(&ground, &mut wanted);
    let rows: Rows = wanted.iter().map(|p| vec![row(p[1])]).collect();
    verify.tell(&ground, &wanted, &rows);
    verify.cut();
    verify.ask(&ground, &mut wanted);
    assert_eq!((wanted.level, wanted.iter().len()), (Level::Upper, 1));
    let tried = wanted.points[1];
    assert!((tried - 0.8).abs() < 0.1, "{tried}");
    verify.tell(&ground, &wanted, &vec![vec![tried]]);
    let verdict = verify.verdict().unwrap();
    assert_eq!((verdict.hoped.as_ref(), verdict.claim.y[0], verdict.claim.value()), (Some(&claim), tried, tried));
    assert_eq!(verify.claim(), Some(verdict.claim.clone()));
}
