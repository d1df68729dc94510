use super::*;
use crate::rng::{Purpose, Streams};
use crate::surrogate::Sample;

type Function<'a> = &'a dyn Fn(&[f64]) -> f64;

/// Models around (0, 0) of functions over (x1, x2, y1, y2) that are given as differences to there.
fn model(functions: &[Function]) -> Surrogate {
    let mut stream = Streams::new(4).open(Purpose::Start, 0, 0);
    let points: Vec<f64> = (0..60 * 4).map(|_| 0.3 * stream.normal()).collect();
    let values = functions.iter().flat_map(|f| points.chunks_exact(4).map(f)).collect();
    Surrogate::with_lengths(&Sample { points, values, len: 60 }, functions.len(), &[0.5; 4])
}

fn upper() -> Surrogate {
    model(&[&|z| z[0] * z[0] + z[1] * z[2] + z[3] - 0.5 * z[2], &|z| z[0] + z[1] + z[2]])
}

/// The follower wants y1 = x1 + 0.5 x2 and y2 = -x2, under y1 <= 0.05.
fn lower() -> Surrogate {
    model(&[
        &|z| (z[2] - z[0] - 0.5 * z[1]).powi(2) + (z[3] + z[1]).powi(2) - (z[0] + 0.5 * z[1]).powi(2) - z[1] * z[1],
        &|z| z[2],
    ])
}

fn region() -> Region {
    Region { radius: 1e-6, low: vec![-1.0; 2], high: vec![1.0; 2] }
}

fn near(a: &[f64], b: &[f64], tolerance: f64) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance), "{a:?} {b:?}");
}

#[test]
fn predicts_the_answer_on_both_sides_of_a_kink() {
    let (upper, lower) = (upper(), lower());
    let constraints = Constraints { inequalities: 1, centre: &[-0.05] };
    let mut response = Response::new(&upper, &lower, region(), constraints, &[0.0]);
    near(response.answer(&[0.02, 0.02]), &[0.03, -0.02], 1e-3);
    near(response.answer(&[0.1, 0.1]), &[0.05, -0.1], 1e-3);
    near(response.answer(&[-0.1, 0.1]), &[-0.05, -0.1], 1e-3);
    assert!(response.kinked());
}

#[test]
fn gradients_are_those_of_the_values() {
    let (upper, lower) = (upper(), lower());
    let constraints = Constraints { inequalities: 1, centre: &[-0.05] };
    let mut response = Response::new(&upper, &lower, region(), constraints, &[0.0]);
    for x in [[0.02, 0.02], [0.1, 0.1]] {
        let mut gradients = [0.0; 4];
        response.gradients(&x, &mut gradients);
        for i in 0..2 {
            let mut at = |by: f64| {
                let mut moved = x;
                moved[i] += by;
                let mut values = [0.0; 2];
                response.values(&moved, &mut values);
                values
            };
            let (up, down) = (at(1e-3), at(-1e-3));
            let expected: Vec<f64> = up.iter().zip(down).map(|(u, d)| (u - d) / 2e-3).collect();
            near(&[gradients[i], gradients[2 + i]], &expected, 2e-3);
        }
    }
}

#[test]
fn what_the_follower_keeps_active_is_no_constraint_of_the_leader() {
    let (upper, lower) = (model(&[&|z| z[0], &|z| z[2]]), lower());
    let constraints = Constraints { inequalities: 1, centre: &[-0.05] };
    let mut response = Response::new(&upper, &lower, region(), constraints, &[0.0]);
    let mut gradients = [1.0; 4];
    response.gradients(&[0.1, 0.1], &mut gradients);
    assert_eq!(gradients[2..], [0.0, 0.0]);
    response.gradients(&[0.0, 0.0], &mut gradients);
    near(&gradients[2..], &[1.0, 0.5], 1e-2);
}
