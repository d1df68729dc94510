use super::*;

fn around(points: &Points, since: usize, limit: usize, reach: f64) -> Vec<f64> {
    let learner = Learner::new(vec![1.0; 2], since);
    let sample = points.around(&[0.5, 0.5], &[0.0], &learner, limit, reach);
    sample.points.chunks_exact(2).map(|p| p[0]).collect()
}

/// Points right of the centre, each a little farther.
fn row_of(count: usize) -> Points {
    let mut points = Points::new(2, 1);
    (1..=count).for_each(|i| points.push(&[0.5 + 1e-4 * i as f64, 0.5], &[1.0]));
    points
}

#[test]
fn a_model_sees_its_own_points_and_those_of_others_close_by() {
    let points = row_of(5);
    assert_eq!(around(&points, 0, 10, 0.0).len(), 5);
    assert_eq!(around(&points, 5, 10, 2.5e-4).len(), 2);
    assert_eq!(around(&points, 3, 10, 1.5e-4).len(), 3);
    let nearest = around(&points, 0, 2, 0.0);
    assert!((nearest[0] - 1e-4).abs() < 1e-12 && (nearest[1] - 2e-4).abs() < 1e-12);
}

#[test]
fn only_the_latest_are_looked_through() {
    let latest = 2 * LATEST.0 + LATEST.1;
    let nearest = around(&row_of(latest + 7), 0, 1, 0.0);
    assert!((nearest[0] - 8e-4).abs() < 1e-12, "{nearest:?}");
}

#[test]
fn failures_and_poles_teach_nothing() {
    let mut points = row_of(5);
    points.push(&[0.5, 0.50001], &[]);
    points.push(&[0.5, 0.50002], &[1e6]);
    points.push(&[0.5, 0.50003], &[-1e6]);
    assert_eq!(points.row(5), None);
    let seen = around(&points, 0, 10, 0.0);
    assert_eq!(seen.len(), 6, "what is far better is no pole: {seen:?}");
}

#[test]
fn a_smooth_model_sees_the_latest_points_of_a_region_with_their_means() {
    let mut points = row_of(5);
    points.push(&[0.5, 0.5001], &[3.0]);
    points.push(&[0.5, 0.5001], &[]);
    let (sample, means) = points.within(&[0.5, 0.5], 2.5e-4, 10);
    assert_eq!((sample.len, means[0]), (3, 5.0 / 3.0));
    assert!((sample.values.iter().sum::<f64>()).abs() < 1e-12);
    let (sample, means) = points.within(&[0.5, 0.5], 2.5e-4, 1);
    assert_eq!((sample.len, means[0]), (1, 3.0), "the latest");
}

#[test]
fn a_scale_is_what_a_function_changes_by_over_the_box() {
    let mut points = Points::new(1, 1);
    assert_eq!(points.scale(0), 1.0);
    (0..8).for_each(|i| points.push(&[f64::from(i) / 8.0], &[f64::from(i)]));
    assert_eq!(points.scale(0), 4.0);
    // Many points in one place count as one.
    (0..100).for_each(|i| points.push(&[0.01 + 1e-5 * f64::from(i)], &[1e9]));
    assert_eq!(points.scale(0), 4.0);
    let mut constant = Points::new(1, 1);
    (0..8).for_each(|i| constant.push(&[f64::from(i) / 8.0], &[-3.0]));
    assert_eq!(constant.scale(0), 3.0);
}

#[test]
fn scales_and_means_are_those_of_the_function_asked_for() {
    let mut points = Points::new(1, 2);
    (0..8).for_each(|i| points.push(&[f64::from(i) / 8.0], &[f64::from(i), 10.0 - 3.0 * f64::from(i)]));
    // The third and the seventh of eight.
    assert_eq!((points.scale(0), points.scale(1)), (4.0, 12.0));
    let (sample, means) = points.within(&[0.5], 0.13, 10);
    assert_eq!((sample.len, means), (3, vec![4.0, -2.0]));
    // The latest first, function after function.
    assert_eq!(*sample.points, [0.125, 0.0, -0.125]);
    assert_eq!(sample.values, [1.0, 0.0, -1.0, -3.0, 0.0, 3.0]);
    points.set_row(3, &[7.0, 8.0]);
    assert_eq!((points.row(3), points.values(2)), (Some(&[7.0, 8.0][..]), &[2.0, 4.0][..]));
}

#[test]
fn points_count_apart_from_more_than_a_twentieth_on_up_to_a_number() {
    let mut points = Points::new(1, 1);
    [0.0, 0.05, 0.051, 0.09].into_iter().for_each(|v| points.push(&[v], &[v]));
    assert_eq!(points.spread(), 2);
    let mut many = Points::new(2, 1);
    (0..121).for_each(|i| many.push(&[f64::from(i / 11) / 10.0, f64::from(i % 11) / 10.0], &[1.0]));
    assert_eq!((many.spread(), many.len()), (SCALED, 121));
}

#[test]
fn the_latest_evaluation_of_a_point_is_found() {
    let mut points = row_of(3);
    points.push(&[0.5 + 1e-4, 0.5], &[2.0]);
    assert_eq!(points.find(&[0.5 + 1e-4, 0.5]), Some(3));
    assert_eq!(points.find(&[0.5, 0.5]), None);
    let after = |count: usize| {
        let mut points = row_of(1);
        (0..count).for_each(|i| points.push(&[0.1, i as f64 / 200.0], &[1.0]));
        points.has_lately(&[0.5 + 1e-4, 0.5])
    };
    assert!(after(LATELY - 1) && !after(LATELY));
}

#[test]
fn others_points_count_by_their_distance_in_all_variables() {
    let mut points = Points::new(2, 1);
    // 0.113, 0.085 and 0.4 away; the last ones are close along one variable.
    [[0.58, 0.58], [0.56, 0.56], [0.5, 0.9], [0.9, 0.5]].iter().for_each(|p| points.push(p, &[1.0]));
    let seen = around(&points, 4, 10, 0.1);
    assert!(seen.len() == 1 && (seen[0] - 0.06).abs() < 1e-12, "{seen:?}");
}

#[test]
fn near_is_what_is_near_in_units_of_the_lengths_and_the_centre_is_no_point() {
    let mut points = Points::new(2, 1);
    [[0.5, 0.5], [0.55, 0.5], [0.5, 0.9]].iter().for_each(|p| points.push(p, &[1.0]));
    let learner = Learner::new(vec![0.1, 10.0], 0);
    let sample = points.around(&[0.5, 0.5], &[0.0], &learner, 1, 0.0);
    // Half a length, and a twenty-fifth of one.
    assert_eq!((sample.len, &**sample.points), (1, &[0.0, 0.4][..]));
}

#[test]
fn poles_of_the_objective_are_left_out_whatever_the_constraints_are() {
    let mut points = Points::new(1, 2);
    (1..=4).for_each(|i| points.push(&[0.5 + 0.125 * f64::from(i)], &[f64::from(i), 1e9 * f64::from(i)]));
    points.push(&[0.45], &[1e6, 0.0]);
    let around = |points: &Points| points.around(&[0.5], &[0.5, 1e9], &Learner::new(vec![1.0], 0), 10, 0.0);
    // The third smallest rise is 2.5.
    let sample = around(&points);
    assert_eq!(*sample.points, [0.125, 0.25, 0.375, 0.5]);
    assert_eq!(sample.values, [0.5, 1.5, 2.5, 3.5, 0.0, 1e9, 2e9, 3e9]);
    // One point alone says nothing about poles.
    let mut few = Points::new(1, 2);
    few.push(&[0.45], &[1e6, 0.0]);
    assert_eq!(around(&few).len, 1);
}

#[test]
fn a_model_takes_half_as_many_more_points_than_a_quadratic_needs() {
    // One variable: three coefficients, four points. The fifth is not met.
    let mut points = Points::new(1, 1);
    let values = [(0.6, 1.0), (0.4, -1.0), (0.7, 1.5), (0.3, -1.2), (0.8, 9.0)];
    values.iter().for_each(|(at, value)| points.push(&[*at], &[*value]));
    let mut learner = Learner::new(vec![0.3], 0);
    let model = learner.model(&points, &[0.5], &[0.0], 0.0);
    let off = |(at, value): (f64, f64)| {
        let mut predicted = [0.0];
        model.values(&[at - 0.5], &mut predicted);
        (predicted[0] - value).abs()
    };
    assert!(values[..4].iter().all(|v| off(*v) < 1e-6) && off(values[4]) > 0.1);
    // Fits are counted: lengths take turns.
    learner.model(&points, &[0.5], &[0.0], 0.0);
    assert_eq!(learner.tick, 2);
}

#[test]
fn the_nearest_of_many_are_those_of_a_full_sort() {
    for (dim, limit) in [(1, 4), (3, 15), (7, 54), (9, 76)] {
        let mut stream = crate::rng::Streams::new(dim as u64).open(crate::rng::Purpose::Start, 0, 0);
        let mut points = Points::new(dim, 1);
        for i in 0..1000 {
            // A coarse grid, so that many are equally far away; every seventh fails.
            let point: Vec<f64> = (0..dim).map(|_| (8.0 * stream.uniform()).round() / 8.0).collect();
            points.push(&point, if i % 7 == 0 { &[] } else { &[1.0] });
        }
        let (centre, lengths) = (vec![0.5; dim], (0..dim).map(|i| 0.3 + 0.3 * i as f64).collect::<Vec<_>>());
        let square = |i: usize| -> f64 {
            points.point(i).iter().zip(&lengths).map(|(p, l)| ((p - 0.5) / l) * ((p - 0.5) / l)).sum()
        };
        let sound = (0..1000).filter(|i| points.row(*i).is_some()).map(|i| (square(i), i)).filter(|(d, _)| *d > 1e-24);
        let mut expected: Vec<(f64, usize)> = sound.collect();
        expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        expected.truncate(limit);
        let learner = Learner::new(lengths.clone(), 0);
        assert_eq!(points.nearest(&centre, &learner, limit, 0.0), expected, "{dim}");
    }
}

#[test]
fn after_forty_fits_lengths_are_known_and_change_one_at_a_time() {
    let mut points = Points::new(2, 1);
    for i in 0..20 {
        let (u, v) = (f64::from(i % 5) / 5.0, f64::from(i / 5) / 4.0);
        points.push(&[u, v], &[libm::sin(9.0 * u) + v]);
    }
    let fit = |mut learner: Learner, fits: usize| {
        learner.tick = fits;
        learner.model(&points, &[0.5, 0.5], &[1.0], 0.0);
        learner.lengths
    };
    let expected = |fits: usize, seasoned: bool| {
        let (mut lengths, learner) = (vec![0.3; 2], Learner::new(vec![0.3; 2], 0));
        // One and a half times the six coefficients of a quadratic function.
        let sample = points.around(&[0.5, 0.5], &[1.0], &learner, 9, 0.0);
        Surrogate::fit(&sample, 1, &mut lengths, fits + 1, seasoned);
        lengths
    };
    // Of one search; what serves many goes on learning.
    let (own, lasting) = (Learner::new(vec![0.3; 2], 0), Learner::lasting(vec![0.3; 2]));
    for fits in [SEASONED - 1, SEASONED + 1] {
        assert_ne!(expected(fits, false), expected(fits, true));
        assert_eq!(fit(own.clone(), fits), expected(fits, fits > SEASONED));
        assert_eq!(fit(lasting.clone(), fits), expected(fits, false));
    }
}
