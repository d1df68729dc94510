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

/// One variable each; two inequalities and three equations above, four and five below. Every value is different.
fn many() -> (Shape, Archive, Scales) {
    let level = |inequalities: usize, equalities: usize| LevelSpec {
        inequalities,
        equalities,
        ..LevelSpec::boxed(vec![(0.0, 1.0)])
    };
    let spec = ProblemSpec::new("scripted", level(2, 3), level(4, 5));
    let shape = Shape::of(&spec);
    let mut archive = shape.archive();
    let row = |first: f64, count: i32| (0..count).map(|i| first + f64::from(i)).collect::<Vec<f64>>();
    archive.push(Level::Upper, &[0.5, 0.25], &row(100.0, 6));
    archive.push(Level::Lower, &[0.5, 0.25], &row(200.0, 10));
    archive.push(Level::Lower, &[0.5, 0.5], &row(300.0, 10));
    archive.push(Level::Lower, &[0.5, 0.75], &[&[190.0][..], &[-1.0; 4], &[0.0; 5]].concat());
    let scales = Scales::new(&spec, &archive);
    (shape, archive, scales)
}

#[test]
fn inequalities_of_both_levels_come_first_and_equations_last() {
    let (shape, archive, scales) = many();
    let rivals = || Rivals { answers: vec![vec![0.75]], scales: scales.clone(), range: 1.0 };
    let [above, below, equal_above, equal_below] = [
        vec![101.0, 102.0],
        vec![201.0, 202.0, 203.0, 204.0],
        vec![103.0, 104.0, 105.0],
        (205..210).map(f64::from).collect(),
    ];
    let joined = |parts: &[&[f64]]| parts.concat();
    let row = |change: &Change, point: &[f64]| change.row(shape, &archive, Level::Upper, point).unwrap();
    let check = |change: Change, point: &[f64], upper: [usize; 3], expected: Vec<f64>| {
        assert_eq!(change.shape(shape).upper, upper);
        assert_eq!((row(&change, point), expected.len()), (expected, 1 + upper[1] + upper[2]));
    };
    check(Change::Feasible, &[0.5, 0.25], [1, 6, 8], joined(&[&[100.0], &above, &below, &equal_above, &equal_below]));
    // f is 200; 300 with the follower's own answer, 190 with the rival, which breaks nothing.
    check(
        Change::Exact(rivals()),
        &[0.5, 0.25, 0.5],
        [2, 8, 8],
        joined(&[&[100.0], &above, &[-100.0, 10.0], &below, &equal_above, &equal_below]),
    );
    check(
        Change::Regret(90.0, 1.0),
        &[0.5, 0.25, 0.5],
        [2, 7, 8],
        joined(&[&[-100.0], &above, &[10.0], &below, &equal_above, &equal_below]),
    );
    check(Change::Border(rivals()), &[0.5, 0.25], [1, 3, 3], joined(&[&[100.0], &above, &[10.0], &equal_above]));
    // Two followers side by side.
    let tracked = Change::Tracked(rivals());
    assert_eq!(tracked.shape(shape), Shape { upper: [1, 3, 3], lower: [2, 8, 10] });
    let both = tracked.row(shape, &archive, Level::Lower, &[0.5, 0.25, 0.75]).unwrap();
    assert_eq!(both, joined(&[&[390.0], &below, &[-1.0; 4], &equal_below, &[0.0; 5]]));
    assert_eq!(Change::Lean(1.0, scales.clone()).shape(shape), shape);
}

#[test]
fn an_answer_without_values_is_no_rival() {
    let (shape, mut archive, scales) = run(&[[0.5, 0.25]]);
    archive.push(Level::Lower, &[0.5, 0.5], &[]);
    let (scale, rivals) = (scales.follower(), Rivals { answers: vec![vec![0.5]], scales, range: 1.0 });
    let row = Change::Border(rivals).row(shape, &archive, Level::Upper, &[0.5, 0.25]).unwrap();
    assert_eq!(row, [0.75, 0.25, -scale], "it is as if it were worse by what f changes by");
}

fn lean(run: &Archive, shape: Shape, scales: &Scales, informed: bool) -> Changed {
    let start = Start { point: vec![0.5, 0.5], size: 0.25, budget: 100, still: 1e-3, goal: None };
    Changed::new(shape, run, Change::Lean(0.5, scales.clone()), start, informed)
}

#[test]
fn an_informed_descent_begins_with_what_both_levels_are_known_at() {
    let (shape, mut archive, scales) = run(&[[0.5, 0.25], [0.5, 0.5], [0.25, 0.5]]);
    archive.push(Level::Upper, &[0.1, 0.1], &[0.2, 0.0]);
    archive.push(Level::Lower, &[0.9, 0.1], &[0.09, -0.4]);
    assert_eq!(lean(&archive, shape, &scales, false).archive.upper.len(), 0);
    let informed = lean(&archive, shape, &scales, true);
    let known = |points: &crate::portfolio::archive::Points| -> Vec<Vec<f64>> {
        (0..points.len()).map(|i| points.point(i).to_vec()).collect()
    };
    // Without its own start.
    assert_eq!(known(&informed.archive.upper), [[0.5, 0.25], [0.25, 0.5]]);
    assert_eq!(known(&informed.archive.lower), [[0.5, 0.25], [0.25, 0.5]]);
    let leaned = Change::Lean(0.5, scales.clone()).leaned(&[0.125, 0.0], &[0.75, -0.25]);
    assert_eq!(
        (informed.archive.lower.row(1), informed.archive.upper.row(1)),
        (Some(&leaned[..]), Some(&[0.75, -0.25][..]))
    );
    // The latest three hundred.
    let grid: Vec<[f64; 2]> = (0..310).map(|i| [f64::from(i) / 310.0, 0.5]).collect();
    let (shape, archive, scales) = run(&grid);
    let informed = lean(&archive, shape, &scales, true);
    assert_eq!((known(&informed.archive.upper)[0].clone(), informed.archive.upper.len()), (grid[10].to_vec(), 299));
}

#[test]
fn true_points_are_asked_for_once_and_the_lower_ones_first() {
    let (shape, archive, scales) = run(&[[0.5, 0.25]]);
    let search = lean(&archive, shape, &scales, false);
    let points = [[0.5, 0.25], [0.5, 0.5], [0.5, 0.5], [0.25, 0.25]];
    let mut wanted = Wanted::new(2);
    let mut known = |archive: &Archive| {
        let known = search.all_known(archive, Level::Upper, points.iter().map(|p| &p[..]), &mut wanted);
        (known, wanted.level, wanted.points.clone())
    };
    assert_eq!(known(&archive), (false, Level::Lower, vec![0.5, 0.5, 0.25, 0.25]));
    let mut half = archive.clone();
    half.push(Level::Lower, &[0.5, 0.5], &[0.25, 0.0]);
    half.push(Level::Lower, &[0.25, 0.25], &[]);
    assert_eq!(known(&half), (false, Level::Upper, vec![0.5, 0.5, 0.25, 0.25]), "a failure is known, too");
    let (_, all, _) = run(&[[0.5, 0.25], [0.5, 0.5], [0.25, 0.25]]);
    assert!(known(&all).0);
}

#[test]
fn a_claim_of_a_changed_problem_gets_the_true_values() {
    let (_, mut archive, _) = run(&[[0.5, 0.25]]);
    archive.push(Level::Upper, &[0.5, 0.5], &[1.0, 0.0]);
    let claim = |y: f64| Claim { x: vec![0.5], y: vec![y], upper: vec![9.0], lower: vec![9.0], settled: false };
    let found = with_true_rows(claim(0.25), &archive).unwrap();
    assert_eq!((found.upper, found.lower), (vec![0.75, 0.25], vec![0.125, -0.25]));
    assert_eq!(with_true_rows(claim(0.5), &archive), None, "the follower was not asked");
    assert_eq!(with_true_rows(claim(0.1), &archive), None);
}
