use super::*;

/// What a follower asks for whose start turned out to be worth `row`, where another one promises 1.
fn after(row: &[f64], other: f64) -> Option<Vec<f64>> {
    let effort = Effort { radius: 0.1, tolerance: 1e-3, evaluations: 5 };
    let mut follower = Follower::new(vec![], vec![0.9], Vec::new(), effort).or(Some((vec![other], 1.0)));
    let mut points = Points::new(1, 1);
    points.push(&[0.9], row);
    let mut knowledge = Knowledge { learner: Learner::new(vec![0.3], 0), merit: Merit::new(0, 0) };
    follower.tell(&[0.9], row, &knowledge.merit);
    follower.next(&points, &mut knowledge)
}

#[test]
fn a_start_on_a_pole_gives_way_to_the_other_one() {
    assert_eq!(after(&[1e10], 0.2), Some(vec![0.2]));
    assert_eq!(after(&[], 0.2), Some(vec![0.2]), "a failure is worse than anything");
    assert_ne!(after(&[0.9], 0.2), Some(vec![0.2]), "it is as good as promised");
    let close = 0.9 + 0.5 * TEACH;
    assert_ne!(after(&[1e10], close), Some(vec![close]), "so close by it is no better");
}

#[test]
fn a_promise_is_what_the_surrogate_says_of_the_old_answer() {
    let mut sample = crate::surrogate::Sample::default();
    for (dx, dy) in [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1), (0.1, 0.1)] {
        sample.points.extend([dx, dy]);
        sample.values.push(3.0 * dx - dy);
        sample.len += 1;
    }
    let model = Surrogate::with_lengths(&sample, 1, &[0.5; 2]);
    let (y, worth) = promise(&[0.4], &[2.0], &[0.1], &model, &Merit::new(0, 0));
    assert!(y == [0.4] && (worth - 2.3).abs() < 1e-6, "{worth}");
}

#[test]
fn a_radius_grows_with_steps_that_keep_their_promise_and_shrinks_with_those_that_do_not() {
    let cases = [
        // Radius, length of the step, gain over promise; what follows.
        (0.2, 0.19, 0.8, 0.5),
        (0.6, 0.6, 1.0, 1.0),
        (0.2, 0.1, 0.8, 0.2),
        (0.2, 0.2, 0.5, 0.2),
        (0.2, 0.2, 0.1, 0.2),
        (0.2, 0.2, 0.05, 0.08),
        (0.2, 0.4, -1.0, 0.1),
    ];
    for (radius, length, ratio, expected) in cases {
        let found = trust(radius, length, ratio);
        assert!((found - expected).abs() < 1e-15, "{radius} {length} {ratio}: {found}");
    }
}

#[test]
fn a_point_that_teaches_lies_in_the_box_on_the_side_that_has_room() {
    let point = |from: f64, reach: f64| teaching_point(&[from, 0.5], &[1.0, 0.0], reach);
    assert_eq!(point(0.5, 0.25), Some(vec![0.75, 0.5]));
    assert_eq!(point(0.5, -0.25), Some(vec![0.25, 0.5]));
    assert_eq!(point(0.875, 0.25), Some(vec![1.0, 0.5]), "half of the way is enough");
    assert_eq!(point(1.0, 0.25), Some(vec![0.75, 0.5]), "on the other side");
    assert_eq!(teaching_point(&[0.5], &[0.0], 0.1), None);
    assert_eq!(apart(&[0.0, 1.0], &[3.0, 5.0]), 5.0);
}

fn knowledge(dim: usize) -> Knowledge {
    Knowledge { learner: Learner::new(vec![0.3; dim], 0), merit: Merit::new(0, 0) }
}

/// Solves the follower f over y from 0.6, whose neighbour is known, and returns it with the points it asked for.
fn solve(f: fn(f64) -> f64, effort: Effort) -> (Follower, Vec<f64>) {
    let (mut points, mut knowledge, mut asked) = (Points::new(1, 1), knowledge(1), Vec::new());
    let mut follower = Follower::new(Vec::new(), vec![0.6], Vec::new(), effort);
    for y in [0.6, 0.65] {
        points.push(&[y], &[f(y)]);
        follower.tell(&[y], &[f(y)], &knowledge.merit);
    }
    while let Some(y) = follower.next(&points, &mut knowledge) {
        points.push(&y, &[f(y[0])]);
        follower.tell(&y, &[f(y[0])], &knowledge.merit);
        asked.push(y[0]);
        assert!(asked.len() < 100);
    }
    (follower, asked)
}

#[test]
fn a_follower_walks_downhill_in_growing_steps_until_its_answer_is_known() {
    let effort = Effort { radius: 0.1, tolerance: 1e-4, evaluations: 30 };
    let (follower, asked) = solve(|y| (y - 0.3) * (y - 0.3), effort);
    // From 0.6 it falls towards smaller values: a whole radius, which is then 0.25.
    assert!((asked[0] - 0.5).abs() < 1e-12, "{asked:?}");
    assert!((0.25..0.4).contains(&asked[1]), "{asked:?}");
    assert!(follower.settled && (follower.y[0] - 0.3).abs() < 1e-4, "{follower:?}");
    assert!(asked.len() <= 8, "{asked:?}");
    // Until its evaluations are used up; the first two count.
    let (follower, asked) = solve(|y| (y - 0.3) * (y - 0.3), Effort { evaluations: 4, ..effort });
    assert!(asked.len() == 2 && !follower.settled, "{asked:?}");
}

#[test]
fn an_answer_at_the_end_of_the_box_settles() {
    let effort = Effort { radius: 0.3, tolerance: 1e-4, evaluations: 30 };
    let (follower, asked) = solve(|y| -y, effort);
    assert!(follower.settled && follower.y == [1.0] && asked.len() <= 4, "{follower:?} {asked:?}");
}

#[test]
fn a_point_that_is_known_counts_as_a_failed_step_and_a_wider_search_is_not_settled() {
    let effort = Effort { radius: 0.2, tolerance: 1e-3, evaluations: 3 };
    let mut follower = Follower::new(Vec::new(), vec![0.5], vec![1.0], effort);
    follower.expected = Some((0.1, 1.0));
    follower.refuse();
    // 0.4 times the step, and one evaluation.
    assert!((follower.radius - 0.04).abs() < 1e-15 && follower.left == 2, "{follower:?}");
    follower.refuse();
    assert!((follower.radius - 0.016).abs() < 1e-15 && follower.left == 1, "{follower:?}");
    follower.settled = true;
    follower.widen(0.1);
    assert!(follower.radius == 0.1 && !follower.settled);
    follower.widen(0.05);
    assert_eq!(follower.radius, 0.1);
}

#[test]
fn answers_are_predicted_along_the_response() {
    // f = (y - x)²; known around (0.5, 0.5).
    let f = |x: f64, y: f64| (y - x) * (y - x);
    let (mut points, mut knowledge) = (Points::new(2, 1), knowledge(2));
    for (dx, dy) in [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1), (0.1, 0.1), (-0.1, 0.1), (0.1, -0.1)] {
        points.push(&[0.5 + dx, 0.5 + dy], &[f(0.5 + dx, 0.5 + dy)]);
    }
    let (x, y, lower) = (vec![0.5], vec![0.5], vec![0.0]);
    let base = Claim { x, y, upper: vec![0.0], lower, settled: true };
    let (y, (old, worth)) = predict(&base, &[0.6], 0.0, &points, &mut knowledge);
    assert!((y[0] - 0.6).abs() < 0.01, "{y:?}");
    // The old answer would cost 0.01 there.
    assert!(old == [0.5] && (worth - 0.01).abs() < 1e-3, "{old:?} {worth}");
}

#[test]
fn a_coarser_answer_is_known_sooner() {
    let bowl = |y: f64| (y - 0.3) * (y - 0.3);
    let to = |tolerance: f64| solve(bowl, Effort { radius: 0.1, tolerance, evaluations: 30 });
    let (coarse, fine) = (to(0.05), to(1e-6));
    for (follower, _) in [&coarse, &fine] {
        assert!(follower.settled && (follower.y[0] - 0.3).abs() <= follower.tolerance, "{follower:?}");
    }
    assert!(coarse.1.len() < fine.1.len(), "{:?} {:?}", coarse.1, fine.1);
}

#[test]
fn what_is_told_is_the_answer_if_it_is_better() {
    let effort = Effort { radius: 0.2, tolerance: 1e-3, evaluations: 3 };
    let merit = Merit::new(0, 0);
    let mut follower = Follower::new(Vec::new(), vec![0.5], vec![1.0], effort);
    follower.tell(&[0.6], &[1.0], &merit);
    assert_eq!((&follower.y[..], follower.radius, follower.left), (&[0.5][..], 0.2, 2), "as good is no better");
    follower.tell(&[0.7], &[], &merit);
    follower.tell(&[0.4], &[0.9], &merit);
    assert_eq!((&follower.y[..], &follower.row[..], follower.left), (&[0.4][..], &[0.9][..], 0));
    // A step is judged by its promise: half of it keeps the radius, a failure shrinks it to 0.4 times the step.
    for (row, radius) in [(&[0.8][..], 0.2), (&[0.72], 0.5), (&[0.9], 0.08), (&[], 0.08)] {
        let mut follower = Follower { expected: Some((0.2, 0.2)), ..follower.clone() };
        follower.tell(&[0.3], row, &merit);
        assert!((follower.radius - radius).abs() < 1e-12 && follower.expected.is_none(), "{row:?} {follower:?}");
    }
    // The first value is better than none.
    let mut fresh = Follower::new(Vec::new(), vec![0.5], Vec::new(), effort);
    fresh.tell(&[0.5], &[], &merit);
    assert!(fresh.row.is_empty());
    fresh.tell(&[0.6], &[7.0], &merit);
    assert_eq!((&fresh.y[..], &fresh.row[..]), (&[0.6][..], &[7.0][..]));
}

#[test]
fn a_search_that_may_step_no_farther_than_a_tenth_of_the_tolerance_is_over() {
    let next = |radius: f64| {
        let (mut points, mut knowledge) = (Points::new(1, 1), knowledge(1));
        let f = |y: f64| (y - 0.3) * (y - 0.3);
        [0.55, 0.6, 0.65].into_iter().for_each(|y| points.push(&[y], &[f(y)]));
        let effort = Effort { radius, tolerance: 1e-3, evaluations: 3 };
        let mut follower = Follower::new(Vec::new(), vec![0.6], vec![f(0.6)], effort);
        follower.next(&points, &mut knowledge).is_some()
    };
    assert!(next(2e-3) && !next(0.9e-4));
}
