//! Verdicts on followers that are written down here: a bowl, two basins, a tie, a needle, failures.

use super::*;
use crate::problem::{LevelSpec, ProblemSpec};
use crate::rng::Streams;

mod judgement;
mod parts;

/// One upper variable; F is the first variable of the answer, and so is f where others looked.
fn look_at(f: fn(&[f64]) -> Option<f64>, y: Vec<f64>, look: Look, known: Vec<Vec<f64>>) -> (Verdict, usize) {
    let row = |y: &[f64]| f(y).map_or_else(Vec::new, |f| vec![f]);
    constrained(0, &row, y, look, known)
}

/// The same with inequalities after f.
fn constrained(
    inequalities: usize,
    row: &dyn Fn(&[f64]) -> Vec<f64>,
    y: Vec<f64>,
    look: Look,
    known: Vec<Vec<f64>>,
) -> (Verdict, usize) {
    let n = y.len();
    let lower = LevelSpec { inequalities, ..LevelSpec::boxed(vec![(0.0, 1.0); n]) };
    let spec = ProblemSpec::new("scripted", LevelSpec::boxed(vec![(0.0, 1.0)]), lower);
    let shape = Shape::of(&spec);
    let mut archive = shape.archive();
    for i in 0..9 {
        let y = vec![f64::from(i) / 8.0; n];
        let point = [vec![0.5], y.clone()].concat();
        archive.push(Level::Upper, &point, &[y[0]]);
        archive.push(Level::Lower, &point, &vec![y[0]; 1 + inequalities]);
    }
    let scales = Scales::new(&spec, &archive);
    let claim = Claim { x: vec![0.5], upper: vec![y[0]], lower: row(&y), y, settled: true };
    let mut verify = Verify::new(shape, claim, known, look);
    let mut wanted = Wanted::new(1 + n);
    let mut spent = 0;
    while verify.verdict().is_none() {
        let ground = Ground { spec: &spec, archive: &archive, scales: &scales, streams: Streams::new(1) };
        verify.ask(&ground, &mut wanted);
        if wanted.is_empty() {
            continue;
        }
        spent += wanted.iter().len();
        let value = |point: &[f64]| match wanted.level {
            Level::Upper => vec![point[1]],
            Level::Lower => row(&point[1..]),
        };
        let rows: Rows = wanted.iter().map(value).collect();
        verify.tell(&ground, &wanted, &rows);
    }
    (verify.verdict().cloned().unwrap(), spent)
}

const FULL: Look = Look {
    depth: Depth::Full,
    number: 0,
    range: None,
    decided: false,
    chosen: Chosen::ByFollower,
    scan: Switch::On,
    room: usize::MAX,
};

fn square(v: f64) -> f64 {
    v * v
}

#[test]
fn a_true_answer_stands() {
    let bowl = |y: &[f64]| Some(square(y[0] - 0.3) + square(y[1] - 0.6));
    let (verdict, spent) = look_at(bowl, vec![0.3, 0.6], FULL, Vec::new());
    assert!(verdict.hoped.is_none() && !verdict.tied && verdict.claim.settled, "{verdict:?}");
    assert_eq!(verdict.claim.y, [0.3, 0.6]);
    // A light look costs next to nothing.
    let (light, cheap) = look_at(bowl, vec![0.3, 0.6], Look { depth: Depth::Light, ..FULL }, Vec::new());
    assert!(light.hoped.is_none() && cheap < spent / 4, "{cheap} of {spent}");
}

#[test]
fn an_inexact_answer_is_made_exact_without_a_correction() {
    let bowl = |y: &[f64]| Some(square(y[0] - 0.3));
    let (verdict, _) = look_at(bowl, vec![0.301], FULL, Vec::new());
    assert!(verdict.hoped.is_none() && (verdict.claim.y[0] - 0.3).abs() < 1e-5, "{verdict:?}");
    assert_eq!(verdict.claim.upper[0], verdict.claim.y[0]);
}

#[test]
fn the_deeper_of_two_basins_corrects_the_claim() {
    let basins = |y: &[f64]| Some(square(y[0] - 0.2).min(square(y[0] - 0.8) - 0.01));
    let (verdict, _) = look_at(basins, vec![0.2], FULL, Vec::new());
    assert_eq!(verdict.hoped.as_ref().map(|c| c.y[0]), Some(0.2));
    assert!((verdict.claim.y[0] - 0.8).abs() < 1e-5, "{verdict:?}");
    // The other way round it is another minimum, if all are wanted.
    let (verdict, _) = look_at(basins, vec![0.8], Look { depth: Depth::Wide, ..FULL }, Vec::new());
    assert!(verdict.hoped.is_none() && verdict.others.iter().any(|c| (c.y[0] - 0.2).abs() < 1e-3), "{verdict:?}");
}

#[test]
fn between_equally_good_answers_the_claim_stands_unless_the_problem_decides() {
    let tie = |y: &[f64]| Some(square(y[0] - 0.2).min(square(y[0] - 0.8) - 1e-8));
    let (verdict, _) = look_at(tie, vec![0.2], FULL, Vec::new());
    assert!(verdict.hoped.is_none() && verdict.tied, "{verdict:?}");
    let (verdict, _) = look_at(tie, vec![0.2], Look { decided: true, ..FULL }, Vec::new());
    assert!(verdict.hoped.is_some() && (verdict.claim.y[0] - 0.8).abs() < 1e-4, "{verdict:?}");
}

#[test]
fn an_answer_that_the_leader_chose_stands_where_the_follower_hardly_cares() {
    // Along the first variable f changes by a millionth of what it does along the second.
    let valley = |y: &[f64]| Some(1e-6 * square(y[0] - 0.3) + square(y[1] - 0.6));
    let chosen = Look { chosen: Chosen::ByLeader, ..FULL };
    let (verdict, _) = look_at(valley, vec![0.31, 0.6], chosen, Vec::new());
    assert_eq!(verdict.claim.y, [0.31, 0.6], "1e-10 is less than 1e-4 times the square of 0.01");
    let (verdict, _) = look_at(valley, vec![0.31, 0.6], FULL, Vec::new());
    assert!((verdict.claim.y[0] - 0.31).abs() > 1e-4, "what a follower found is made exact: {verdict:?}");
    let bowl = |y: &[f64]| Some(square(y[0] - 0.3) + square(y[1] - 0.6));
    let (verdict, _) = look_at(bowl, vec![0.31, 0.6], chosen, Vec::new());
    assert!((verdict.claim.y[0] - 0.3).abs() < 1e-5, "here it cares: {verdict:?}");
}

#[test]
fn a_follower_that_does_not_care_is_judged_by_what_f_changes_by_elsewhere() {
    let slope = |y: &[f64]| Some(-1e-9 * y[0]);
    let (verdict, _) = look_at(slope, vec![0.4], FULL, Vec::new());
    assert!(verdict.hoped.is_some() && verdict.range.is_some_and(|range| range < 1.1e-9), "{verdict:?}");
    let (verdict, _) = look_at(slope, vec![0.4], Look { range: Some(0.3), ..FULL }, Vec::new());
    assert!(verdict.hoped.is_none(), "{verdict:?}");
}

#[test]
fn a_needle_is_found_where_it_is_known_from_elsewhere() {
    let needle = |y: &[f64]| Some(square(y[0] - 0.3) + if (y[0] - 0.77).abs() < 1e-4 { -1.0 } else { 0.0 });
    let (verdict, _) = look_at(needle, vec![0.3], FULL, vec![vec![0.77]]);
    assert!(verdict.hoped.is_some() && (verdict.claim.y[0] - 0.77).abs() < 1e-3, "{verdict:?}");
}

#[test]
fn answers_at_corners_are_found() {
    let saddle = |y: &[f64]| {
        let [a, b, c] = [y[0] - 0.4, y[1] - 0.45, y[2] - 0.55];
        Some(-a * b * c - 0.1 * (a * a + b * b + c * c))
    };
    let (verdict, _) = look_at(saddle, vec![0.0, 0.0, 1.0], FULL, Vec::new());
    let all = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from));
    let best = all.min_by(|a, b| saddle(a).unwrap().total_cmp(&saddle(b).unwrap())).unwrap();
    assert!(verdict.claim.lower[0] < saddle(&best).unwrap() + 1e-12, "{verdict:?}");
}

#[test]
fn failures_are_no_answers() {
    let half = |y: &[f64]| (y[0] < 0.5).then(|| square(y[0] - 0.3));
    let (verdict, _) = look_at(half, vec![0.3], FULL, Vec::new());
    assert!(verdict.hoped.is_none() && verdict.claim.y == [0.3], "{verdict:?}");
}

#[test]
fn what_the_follower_would_like_is_tried_close_by() {
    // It wants both large. Feasible are a < 0.3 with b < 0.3, and a thin triangle at the corner (1, 1) of the box,
    // which no probe meets.
    let corner = |y: &[f64]| {
        let (a, b) = (y[0], y[1]);
        vec![-a - b, (a.max(b) - 0.3).min((0.98 - a).max(b - 0.5 * a - 0.49).max(0.5 * a + 0.48 - b))]
    };
    let (verdict, _) = constrained(1, &corner, vec![0.3, 0.3], FULL, Vec::new());
    assert!(verdict.hoped.is_some() && (verdict.claim.lower[0] + 1.99).abs() < 1e-4, "{verdict:?}");
}

#[test]
fn a_known_answer_that_breaks_a_constraint_here_is_tried_close_by() {
    // Feasible below 0.2, and between 0.700 and 0.701; another decision had its answer at 0.71.
    let two = |y: &[f64]| vec![-y[0], (y[0] - 0.2).min((0.7 - y[0]).max(y[0] - 0.701))];
    let (verdict, _) = constrained(1, &two, vec![0.2], FULL, vec![vec![0.71]]);
    assert!((verdict.claim.y[0] - 0.701).abs() < 1e-4, "{verdict:?}");
}

#[test]
fn a_deeper_basin_close_by_is_another_answer() {
    // In a box far too wide, the basins of two answers lie close together.
    let two: fn(&[f64]) -> Option<f64> = |y| {
        let bowl = |y: &[f64], at: [f64; 3]| y.iter().zip(at).map(|(v, at)| square(v - at)).sum::<f64>();
        Some(bowl(y, [0.5; 3]).min(400.0 * bowl(y, [0.53, 0.5, 0.5]) - 0.05))
    };
    let look = Look { scan: Switch::Off, ..FULL };
    let (alone, _) = look_at(two, vec![0.5; 3], look, Vec::new());
    assert!(alone.hoped.is_none(), "nobody knows of it: {alone:?}");
    // The answer to a near decision: better here already, or only once it is made exact.
    for known in [0.535, 0.5412] {
        let (verdict, _) = look_at(two, vec![0.5; 3], look, vec![vec![known, 0.501, 0.5]]);
        assert!(verdict.hoped.is_some_and(|hoped| hoped.y == [0.5; 3]), "{known}");
        assert!((verdict.claim.y[0] - 0.53).abs() < 1e-4, "{known}: {:?}", verdict.claim);
    }
}

#[test]
fn an_answer_that_was_not_exact_is_no_other_answer() {
    let bowl = |y: &[f64]| Some(square(y[0] - 0.3));
    let (verdict, _) = look_at(bowl, vec![0.32], FULL, Vec::new());
    assert!(verdict.hoped.is_none() && (verdict.claim.y[0] - 0.3).abs() < 1e-4, "{verdict:?}");
}
