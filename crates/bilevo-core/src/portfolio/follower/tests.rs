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
