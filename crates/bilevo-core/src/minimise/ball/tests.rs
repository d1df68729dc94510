//! Functions whose minimisers on a ball are known: the one of g'z + z'Hz / 2 solves (H + μ) z = -g with a μ >= 0
//! that makes H + μ positive definite.

use super::*;
use crate::minimise::formula::Formula;

fn open(radius: f64) -> Region {
    Region { radius, low: vec![-9.0; 2], high: vec![9.0; 2] }
}

fn search(model: &mut Formula, region: &Region, start: [f64; 2]) -> Step {
    Search::new(model, region, &start).run()
}

fn close(found: &[f64], expected: [f64; 2], tolerance: f64) {
    let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= tolerance);
    assert!(near, "{found:?}, not {expected:?}");
}

#[test]
fn a_quadratic_function_takes_one_step() {
    // H = (4 1; 1 3) and H (0.1, -0.2) = (0.2, -0.5).
    let mut model = Formula::quadratic(&[-0.2, 0.5], &[4.0, 1.0, 1.0, 3.0]);
    let region = open(1.0);
    let step = search(&mut model, &region, [0.0; 2]);
    close(&step.z, [0.1, -0.2], 1e-12);
    // g'z / 2 at the minimiser.
    assert!((step.values[0] + 0.06).abs() < 1e-12 && step.free == [0, 1], "{step:?}");
    close(&step.slopes, [0.0; 2], 1e-12);
    assert_eq!((step.curvature.clone(), step.augmented.clone()), (vec![4.0, 1.0, 1.0, 3.0], step.curvature));
    // At the start, after the step, and after one that shows that nothing is left; then for the result.
    assert!(model.differentiated <= 4, "{}", model.differentiated);
}

#[test]
fn a_minimiser_outside_is_replaced_by_the_one_on_the_ball() {
    // H + 2 = diag(4, 8), H + 3 = diag(5, 2), H + 40 = diag(42, 38): times (0.3, 0.4), which is 0.5 long.
    let cases = [([2.0, 6.0], [-1.2, -3.2]), ([2.0, -1.0], [-1.5, -0.8]), ([2.0, -2.0], [-12.6, -15.2])];
    for (h, g) in cases {
        let hessian = [h[0], 0.0, 0.0, h[1]];
        for scale in [1.0, 1e-8, 1e6] {
            let (g, hessian) = (g.map(|v| v * scale), hessian.map(|v| v * scale));
            let mut model = Formula::quadratic(&g, &hessian);
            let region = open(0.5);
            let step = search(&mut model, &region, [0.0; 2]);
            close(&step.z, [0.3, 0.4], 1e-6);
            assert!(norm(&step.z) <= 0.5 * (1.0 + 1e-12), "{:?}", step.z);
            assert!(model.differentiated <= 5, "{h:?} {}", model.differentiated);
            // From elsewhere to the same point.
            close(&search(&mut Formula::quadratic(&g, &hessian), &region, [-0.3, 0.1]).z, [0.3, 0.4], 1e-5);
        }
    }
}

#[test]
fn small_balls_are_as_good_as_large_ones() {
    // H + 2 times (0.3, 0.4) a thousandth as large.
    let mut model = Formula::quadratic(&[-1.2e-3, -3.2e-3], &[2.0, 0.0, 0.0, 6.0]);
    let step = search(&mut model, &open(5e-4), [0.0; 2]);
    close(&step.z, [3e-4, 4e-4], 1e-9);
    assert!(model.differentiated <= 5, "{}", model.differentiated);
}

#[test]
fn variables_at_the_box_are_held_against_the_slope_only() {
    // The minimiser (0.5, 0.25) of a bowl, cut off at x = 0.2.
    let (g, h) = ([-1.0, -0.5], [2.0, 0.0, 0.0, 2.0]);
    let cut = Region { radius: 1.0, low: vec![-1.0; 2], high: vec![0.2, 1.0] };
    let step = search(&mut Formula::quadratic(&g, &h), &cut, [0.0; 2]);
    close(&step.z, [0.2, 0.25], 1e-9);
    assert_eq!(step.free, [1]);
    close(&step.slopes, [-0.6, 0.0], 1e-9);
    // From the other end of the box it is free to go; the same mirrored.
    let step = search(&mut Formula::quadratic(&g, &h), &Region { low: vec![-0.3; 2], ..cut.clone() }, [-0.3; 2]);
    close(&step.z, [0.2, 0.25], 1e-9);
    let mirrored = Region { radius: 1.0, low: vec![-0.2, -1.0], high: vec![1.0; 2] };
    let step = search(&mut Formula::quadratic(&[1.0, 0.5], &h), &mirrored, [0.0; 2]);
    close(&step.z, [-0.2, -0.25], 1e-9);
    assert_eq!(step.free, [1]);
    // With x held at 0.3, where it would like to go on, a ball of 0.5 leaves y the way to 0.4.
    let both = Region { radius: 0.5, low: vec![-1.0; 2], high: vec![0.3, 1.0] };
    let step = search(&mut Formula::quadratic(&[-9.0, -3.0], &h), &both, [0.3, 0.0]);
    close(&step.z, [0.3, 0.4], 1e-6);
    // All held: nothing to do.
    let point = Region { radius: 1.0, low: vec![0.1; 2], high: vec![0.1; 2] };
    let step = search(&mut Formula::quadratic(&g, &h), &point, [0.0; 2]);
    assert_eq!((step.z, step.free), (vec![0.1; 2], vec![]));
}

#[test]
fn a_start_outside_is_brought_onto_the_ball() {
    // Where the function is constant it stays there.
    let mut model = Formula::quadratic(&[0.0; 2], &[0.0; 4]);
    close(&search(&mut model, &open(0.5), [3.0, 4.0]).z, [0.3, 0.4], 1e-15);
    close(&search(&mut model, &open(0.5), [0.1, -0.2]).z, [0.1, -0.2], 0.0);
}

/// √(1 + 100 (x - 0.3)²) + y²: from 0.9 Newton's step leads to 0.3 - 100 · 0.6³, far beyond the ball.
fn root() -> Formula<'static> {
    let root = |z: &[f64]| (1.0 + 100.0 * (z[0] - 0.3).powi(2)).sqrt();
    Formula::new(
        2,
        move |z| vec![root(z) + z[1] * z[1]],
        move |z| vec![100.0 * (z[0] - 0.3) / root(z), 2.0 * z[1]],
        move |z| vec![100.0 / root(z).powi(3), 0.0, 0.0, 2.0],
    )
}

#[test]
fn steps_that_overshoot_are_damped() {
    let mut model = root();
    let step = search(&mut model, &open(1.0), [0.9, 0.2]);
    close(&step.z, [0.3, 0.0], 1e-5);
    assert!((step.values[0] - 1.0).abs() < 1e-9, "{step:?}");
}

#[test]
fn units_of_length_and_of_values_do_not_matter() {
    let saddle = || Formula::quadratic(&[-1.5, -0.8], &[2.0, 0.5, 0.5, -1.0]);
    let models: [(&dyn Fn() -> Formula<'static>, [f64; 2]); 3] = [
        (&root, [0.9, 0.2]),
        (&saddle, [-0.3, 0.1]),
        (&|| Formula::quadratic(&[-9.0, -3.0], &[2.0, 0.0, 0.0, 2.0]), [0.0; 2]),
    ];
    let region = Region { high: vec![0.375, 9.0], ..open(0.75) };
    for (model, start) in models {
        let mut plain = model();
        let expected = search(&mut plain, &region, start);
        // Powers of two, so that nothing is rounded.
        for [length, value] in [[-10, 20], [-3, -40]].map(|of| of.map(|n| 2.0_f64.powi(n))) {
            let mut model = model().in_units(length, &[value]);
            let found = search(&mut model, &region.in_units(length), start.map(|v| v * length));
            let times = |v: &[f64], unit: f64| v.iter().map(|v| v * unit).collect::<Vec<f64>>();
            assert_eq!(found.z, times(&expected.z, length));
            assert_eq!(found.slopes, times(&expected.slopes, value / length));
            assert_eq!((&found.free, model.differentiated), (&expected.free, plain.differentiated));
        }
    }
}
