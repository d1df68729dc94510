//! Changed problems on points that are written down here.

use super::change::PRICE;
use super::*;
use crate::portfolio::claim::Scales;
use crate::problem::{LevelSpec, ProblemSpec};

/// One variable each, with one inequality each: F = x + y, G = x - y, f = x * y, g = y - 0.5.
fn run(points: &[[f64; 2]]) -> (Shape, Archive, Scales) {
    let level = || LevelSpec { inequalities: 1, ..LevelSpec::boxed(vec![(0.0, 1.0)]) };
    let spec = ProblemSpec::new("scripted", level(), level());
    let shape = Shape::of(&spec);
    let mut archive = shape.archive();
    for [x, y] in points {
        archive.push(Level::Upper, &[*x, *y], &[x + y, x - y]);
        archive.push(Level::Lower, &[*x, *y], &[x * y, y - 0.5]);
    }
    let scales = Scales::new(&spec, &archive);
    (shape, archive, scales)
}

#[test]
fn leaning_adds_what_the_leader_likes() {
    let (shape, archive, scales) = run(&[[0.0, 0.5], [0.25, 0.5], [0.5, 0.5], [1.0, 0.25]]);
    let change = Change::Lean(0.5, scales.clone());
    let row = change.row(shape, &archive, Level::Lower, &[0.25, 0.5]).unwrap();
    let expected = 0.125 + 0.5 * scales.follower() * 0.75 / scales.leader();
    assert!((row[0] - expected).abs() < 1e-15 && row[1] == 0.0, "{row:?}");
    // A violation above costs: G = 0.75 at the last point.
    let row = change.row(shape, &archive, Level::Lower, &[1.0, 0.25]).unwrap();
    assert!(row[0] > 0.25 + 0.5 * scales.follower() * 1.25 / scales.leader());
    assert_eq!(change.row(shape, &archive, Level::Upper, &[0.25, 0.5]), Some(vec![0.75, -0.25]));
    assert_eq!(change.row(shape, &archive, Level::Upper, &[0.3, 0.5]), None);
}

#[test]
fn an_exact_end_bounds_f_by_the_answer_and_its_rivals() {
    let (shape, archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.5, 1.0], [0.5, 0.0]]);
    let rivals = Rivals { answers: vec![vec![0.0], vec![1.0]], scales, range: 1.0 };
    let price = PRICE * rivals.scales.follower() * rivals.scales.lower_violation(&[0.5, 0.5]);
    let change = Change::Exact(rivals);
    assert_eq!(change.shape(shape), Shape { upper: [2, 5, 0], lower: [1, 1, 0] });
    // The point is (x, y, z).
    let row = change.row(shape, &archive, Level::Upper, &[0.5, 0.25, 0.5]).unwrap();
    // F, G, f - f(z), f - f of both rivals (the second breaks g), g.
    assert_eq!(row, [0.75, 0.25, -0.125, 0.125, 0.125 - (0.5 + price), -0.25]);
    assert!(price > 0.0);
    assert_eq!(change.row(shape, &archive, Level::Lower, &[0.5, 0.25, 0.5]), Some(vec![0.25, 0.0]));
}

#[test]
fn a_regret_is_what_the_follower_loses_below_a_level_of_f() {
    let (shape, archive, _) = run(&[[0.5, 0.25], [0.5, 0.5]]);
    let change = Change::Regret(0.7, 2.0);
    assert_eq!(change.shape(shape), Shape { upper: [2, 3, 0], lower: [1, 1, 0] });
    // The point is (x, y, z): f - f(z), G, F above the level, g.
    let row = change.row(shape, &archive, Level::Upper, &[0.5, 0.5, 0.25]).unwrap();
    assert_eq!((row.len(), row[0], row[1], row[3]), (4, 0.125, 0.0, 0.0));
    assert!((row[2] - 0.3).abs() < 1e-15, "F = 1");
    assert_eq!(change.row(shape, &archive, Level::Lower, &[0.5, 0.5, 0.25]), Some(vec![0.125, -0.25]));
    assert!(change.costs_more(0.06, shape, &row) && !change.costs_more(0.07, shape, &row), "of 2");
    let reached = |regret: f64, above: f64| change.is_reached(shape, &[regret, 9.0, above, 9.0]);
    assert!(reached(1e-9, 0.0) && !reached(1e-8, 0.0) && !reached(1e-9, 0.1));
}

#[test]
fn a_follower_that_still_loses_much_after_a_quarter_of_the_evaluations_is_not_indifferent() {
    assert!(loses_still(25, 100, 0.2, 1.0) && !loses_still(24, 100, 0.2, 1.0), "it has only begun");
    assert!(!loses_still(25, 100, 0.05, 1.0), "it is on its way");
}

#[test]
fn an_answer_that_costs_the_follower_a_lot_is_no_tie() {
    let (shape, _, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.5, 1.0], [0.5, 0.0]]);
    let scale = scales.follower();
    let change = Change::Exact(Rivals { answers: vec![vec![0.0]], range: scales.follower(), scales: scales.clone() });
    // F, G, then what the follower loses against its answer and against a rival, g.
    let lost = |own: f64, rival: f64| change.costs_more(TIED, shape, &[0.0, 9.0, own * scale, rival * scale, 9.0]);
    assert!(lost(4.1, 0.0) && lost(0.0, 4.1) && !lost(3.9, 3.9));
    let border = Change::Border(Rivals { answers: vec![vec![0.0]], scales, range: 1.0 });
    assert!(!border.costs_more(TIED, shape, &[0.0, 9.0, 9.0 * scale]));
}

/// A border between the answers 0.25 and 0.5, from where the first is worse, with other places to begin.
fn border(starts: Vec<Vec<f64>>) -> Vec<f64> {
    let (shape, archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.75, 0.75]]);
    let change = Change::Border(Rivals { answers: vec![vec![0.5]], scales: scales.clone(), range: 1.0 });
    let start = Start { point: vec![0.75, 0.75], size: 0.25, budget: 100, still: 1e-3, goal: None };
    let mut search = Changed::new(shape, &archive, change, start, false).or_from(starts);
    let level = || LevelSpec { inequalities: 1, ..LevelSpec::boxed(vec![(0.0, 1.0)]) };
    let spec = ProblemSpec::new("scripted", level(), level());
    let streams = crate::rng::Streams::new(1);
    let ground = Ground { spec: &spec, archive: &archive, scales: &scales, streams };
    search.ask(&ground, &mut Wanted::new(2));
    search.descent.start().point.clone()
}

#[test]
fn a_border_begins_at_the_best_decision_that_keeps_it() {
    // G = x - y and f(x, y) <= f(x, 0.5) hold at the first and the third alone.
    assert_eq!(border(vec![vec![0.5, 0.5], vec![0.5, 0.25], vec![0.25, 0.5]]), [0.25, 0.5]);
    assert_eq!(border(vec![vec![0.5, 0.25]]), [0.75, 0.75], "none does");
    assert_eq!(border(Vec::new()), [0.75, 0.75]);
}

#[test]
fn a_feasible_descent_sees_the_constraints_of_both() {
    let (shape, archive, _) = run(&[[0.5, 0.25]]);
    assert_eq!(Change::Feasible.shape(shape), Shape { upper: [1, 2, 0], ..shape });
    assert_eq!(Change::Feasible.row(shape, &archive, Level::Upper, &[0.5, 0.25]), Some(vec![0.75, 0.25, -0.25]));
    assert_eq!(Change::Feasible.row(shape, &archive, Level::Lower, &[0.5, 0.25]), Some(vec![0.125, -0.25]));
}

#[test]
fn along_a_border_the_follower_is_the_true_one() {
    let (shape, archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [1.0, 0.0]]);
    let change = Change::Border(Rivals { answers: vec![vec![0.5]], scales, range: 1.0 });
    assert_eq!(change.shape(shape), Shape { upper: [1, 2, 0], ..shape });
    assert_eq!(change.row(shape, &archive, Level::Lower, &[0.5, 0.25]), Some(vec![0.125, -0.25]));
    assert_eq!(change.row(shape, &archive, Level::Upper, &[0.5, 0.25]), Some(vec![0.75, 0.25, -0.125]));
    // Three true evaluations are wanted for one above, one for one below.
    assert_eq!(change.points(shape, Level::Upper, &[0.5, 0.25]).len(), 3);
    assert_eq!(change.points(shape, Level::Lower, &[0.5, 0.25]), [(Level::Lower, vec![0.5, 0.25])]);
}

#[test]
fn a_tracked_rival_is_a_second_answer() {
    let (shape, archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.5, 1.0]]);
    let change = Change::Tracked(Rivals { answers: vec![vec![1.0], vec![0.5]], scales, range: 1.0 });
    assert_eq!(change.shape(shape), Shape { upper: [1, 3, 0], lower: [2, 2, 0] });
    // The point is (x, y, z): the sum of f, and g of both.
    assert_eq!(change.row(shape, &archive, Level::Lower, &[0.5, 0.25, 0.5]), Some(vec![0.375, -0.25, 0.0]));
    // F, G, f less that of the rival that stays (at a price, as it breaks g), f less that of the one that goes along.
    let row = change.row(shape, &archive, Level::Upper, &[0.5, 0.25, 0.5]).unwrap();
    assert_eq!((row[0], row[1], row[3], row.len()), (0.75, 0.25, -0.125, 4));
    assert!(row[2] < 0.125 - 0.5, "{row:?}");
}
