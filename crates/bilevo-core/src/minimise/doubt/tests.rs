//! √tr(H⁻¹ Cov(g) H⁻¹) by hand; H has a thousandth of its largest diagonal element added.

use super::*;
use crate::minimise::formula::Formula;

/// What is not known of a minimiser with this Hessian, these slopes and these free variables.
fn doubt_of(hessian: &[f64], covariance: &[f64], slopes: &[f64], free: &[usize]) -> Doubt {
    let zeros = vec![0.0; hessian.len()];
    let mut model = Formula::quadratic(slopes, &zeros);
    model.covariance = covariance.to_vec();
    model.variances = vec![4.0];
    let (curvature, augmented) = (hessian.to_vec(), hessian.to_vec());
    let step = Step { curvature, augmented, slopes: slopes.to_vec(), free: free.to_vec(), ..Step::default() };
    doubt(&mut model, &step)
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.max(1.0), "{found}, not {expected}");
}

#[test]
fn one_variable_is_known_as_well_as_its_slope_over_the_curvature() {
    // The slope's deviation is √(4 · 0.09) = 0.6.
    let doubt = doubt_of(&[2.0], &[0.09], &[0.0], &[0]);
    close(doubt.size, 0.6 / 2.002);
    assert_eq!(doubt.direction, [1.0]);
}

#[test]
fn constraints_add_their_variances_by_the_squares_of_their_multipliers() {
    let mut model = Formula::new(1, |_| vec![0.0; 3], |_| vec![0.0; 3], |_| vec![0.0; 3]);
    (model.covariance, model.variances) = (vec![0.09], vec![4.0, 0.5, 0.25]);
    let (curvature, augmented, slopes) = (vec![2.0], vec![2.0], vec![0.0]);
    let step = Step { curvature, augmented, slopes, free: vec![0], multipliers: vec![3.0, 2.0], ..Step::default() };
    // 4 + 9 / 2 + 4 / 4.
    close(doubt(&mut model, &step).size, (9.5_f64 * 0.09).sqrt() / 2.002);
}

#[test]
fn a_bound_holds_a_variable_only_if_the_slope_is_beyond_two_deviations() {
    // 2 · 0.6 is the limit.
    assert_eq!(doubt_of(&[2.0], &[0.09], &[1.21], &[]).size, 0.0);
    assert_eq!(doubt_of(&[2.0], &[0.09], &[-1.21], &[]).size, 0.0);
    close(doubt_of(&[2.0], &[0.09], &[1.19], &[]).size, 0.6 / 2.002);
    // One held, the other one alone counts.
    let doubt = doubt_of(&[2.0, 0.5, 0.5, 4.0], &[0.09, 0.0, 0.0, 0.01], &[0.0, 3.0], &[0]);
    close(doubt.size, 0.6 / 2.002);
    assert_eq!(doubt.direction, [1.0, 0.0]);
    let doubt = doubt_of(&[2.0, 0.5, 0.5, 4.0], &[0.09, 0.0, 0.0, 0.01], &[3.0, 0.0], &[1]);
    close(doubt.size, 0.2 / 4.004);
    assert_eq!(doubt.direction, [0.0, 1.0]);
}

#[test]
fn most_of_it_lies_where_the_curvature_is_least() {
    // Eigenvalues 3 along (1, 1) and 1 along (1, -1), each with 0.002 more; deviations of 0.2.
    let doubt = doubt_of(&[2.0, 1.0, 1.0, 2.0], &[0.01, 0.0, 0.0, 0.01], &[0.0; 2], &[0, 1]);
    let (across, along): (f64, f64) = (0.2 / 1.002, 0.2 / 3.002);
    close(doubt.size, (across * across + along * along).sqrt());
    let [a, b] = doubt.direction[..] else { panic!() };
    close(a.abs(), 0.5_f64.sqrt());
    close(a, -b);
    // Where a slope is known less, there, though it is steeper.
    let doubt = doubt_of(&[1.0, 0.0, 0.0, 2.0], &[0.01, 0.0, 0.0, 0.25], &[0.0; 2], &[0, 1]);
    assert!(doubt.direction[0].abs() < 1e-6 && (doubt.direction[1].abs() - 1.0).abs() < 1e-9, "{doubt:?}");
}
