//! Minimisers under constraints, at bounds and on kinks that are known exactly.

use super::*;
use crate::minimise::formula::Formula;

fn open(radius: f64) -> Region {
    Region { radius, low: vec![-9.0; 2], high: vec![9.0; 2] }
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    let near = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= tolerance);
    assert!(near, "{found:?}, not {expected:?}");
}

fn search(model: &mut Formula, region: &Region, constraints: Constraints, start: [f64; 2]) -> Step {
    let multipliers = vec![0.0; constraints.centre.len()];
    Sequential::new(model, region, constraints, &start, &multipliers).run()
}

const NONE: Constraints<'static> = Constraints { inequalities: 0, centre: &[] };

/// |z - (0.6, 0.2)|² / 2 under a linear constraint with gradient (1, 1).
fn projection() -> Formula<'static> {
    Formula::new(
        2,
        |z| vec![0.5 * (z[0] * z[0] + z[1] * z[1]) - 0.6 * z[0] - 0.2 * z[1], z[0] + z[1]],
        |z| vec![z[0] - 0.6, z[1] - 0.2, 1.0, 1.0],
        |_| vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    )
}

#[test]
fn a_linear_constraint_is_met_with_its_multiplier() {
    // x + y <= 0.4: the projection goes (0.2, 0.2) back, which is the multiplier times the gradient.
    let constraints = Constraints { inequalities: 1, centre: &[-0.4] };
    let mut model = projection();
    let step = search(&mut model, &open(1.0), constraints, [0.0; 2]);
    close(&step.z, &[0.4, 0.0], 1e-6);
    close(&step.multipliers, &[0.2], 1e-6);
    close(&step.values, &[0.08 - 0.24, 0.4], 1e-6);
    close(&step.slopes, &[0.0; 2], 1e-6);
    assert_eq!((step.free, step.curvature.clone()), (vec![0, 1], vec![1.0, 0.0, 0.0, 1.0]));
    // Its square is added to the curvature, at more than what there is.
    let penalty = step.penalties[0];
    assert!(penalty > 1.0, "{penalty}");
    close(&step.augmented, &[1.0 + penalty, penalty, penalty, 1.0 + penalty], 1e-12 * penalty);
    assert!(model.differentiated <= 5, "{}", model.differentiated);
    // The same from a point beyond it.
    close(&search(&mut projection(), &open(1.0), constraints, [0.9, 0.8]).z, &[0.4, 0.0], 1e-6);
}

#[test]
fn a_constraint_that_does_not_matter_leaves_no_trace() {
    let constraints = Constraints { inequalities: 1, centre: &[-2.0] };
    let step = search(&mut projection(), &open(1.0), constraints, [0.0; 2]);
    close(&step.z, &[0.6, 0.2], 1e-6);
    assert_eq!((step.multipliers, step.penalties), (vec![0.0], vec![0.0]));
    assert_eq!(step.augmented, step.curvature);
}

#[test]
fn an_equation_holds_from_either_side() {
    // x + y = 1.2 asks for (0.2, 0.2) more: the multiplier is negative.
    let constraints = Constraints { inequalities: 0, centre: &[-1.2] };
    let step = search(&mut projection(), &open(1.0), constraints, [0.0; 2]);
    close(&step.z, &[0.8, 0.4], 1e-6);
    close(&step.multipliers, &[-0.2], 1e-6);
    let constraints = Constraints { inequalities: 0, centre: &[-0.4] };
    let step = search(&mut projection(), &open(1.0), constraints, [0.0; 2]);
    close(&step.multipliers, &[0.2], 1e-6);
    assert!(step.penalties[0] > 0.0);
}

#[test]
fn a_curved_constraint_is_followed() {
    // Of -x - 2 y on x² + y² <= 1/4: z = (1, 2) / √20, and (1, 2) = λ 2 z gives λ = √5.
    let mut model = Formula::new(
        2,
        |z| vec![-z[0] - 2.0 * z[1], z[0] * z[0] + z[1] * z[1]],
        |z| vec![-1.0, -2.0, 2.0 * z[0], 2.0 * z[1]],
        |_| vec![0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0],
    );
    let constraints = Constraints { inequalities: 1, centre: &[-0.25] };
    let step = search(&mut model, &open(1.0), constraints, [0.3, 0.1]);
    let unit = 20.0_f64.sqrt().recip();
    close(&step.z, &[unit, 2.0 * unit], 1e-6);
    close(&step.multipliers, &[5.0_f64.sqrt()], 1e-4);
    let curvature = 2.0 * 5.0_f64.sqrt();
    close(&step.curvature, &[curvature, 0.0, 0.0, curvature], 1e-3);
    // Newton's method near its end: the digits double with every round.
    assert!(model.differentiated <= 12, "{}", model.differentiated);
}

#[test]
fn only_the_box_holds_a_variable() {
    for sign in [1.0, -1.0] {
        let slope = [sign; 2];
        let mut model = Formula::quadratic(&slope, &[0.0; 4]);
        let (near, far) = (vec![-0.2, -1.0], vec![1.0; 2]);
        let flipped = |v: &[f64]| v.iter().map(|v| -v).collect::<Vec<f64>>();
        let (low, high) = if sign > 0.0 { (near, far) } else { (flipped(&far), flipped(&near)) };
        let step = search(&mut model, &Region { radius: 0.5, low, high }, NONE, [0.0; 2]);
        // The second one stops where the region does, and would go on.
        close(&step.z, &[-0.2 * sign, -0.5 * sign], 1e-8);
        assert_eq!((step.free, step.slopes), (vec![1], slope.to_vec()));
    }
}

#[test]
fn a_kink_is_found() {
    // |x - 0.2| + (y - 0.1)²
    let mut model = Formula::new(
        2,
        |z| vec![(z[0] - 0.2).abs() + (z[1] - 0.1).powi(2)],
        |z| vec![if z[0] < 0.2 { -1.0 } else { 1.0 }, 2.0 * (z[1] - 0.1)],
        |_| vec![0.0, 0.0, 0.0, 2.0],
    );
    model.kinked = true;
    let step = search(&mut model, &open(1.0), NONE, [0.0; 2]);
    close(&step.z, &[0.2, 0.1], 1e-4);
    assert!(step.values[0] < 1e-6, "{step:?}");
    assert_eq!(step.curvature, [0.0, 0.0, 0.0, 2.0]);
}

#[test]
fn a_search_goes_along_a_kink() {
    // 2 |x - y| + (x + y - 0.6)² / 2: the kink is x = y, and 0.3 is best on it.
    let mut model = Formula::new(
        2,
        |z| vec![2.0 * (z[0] - z[1]).abs() + 0.5 * (z[0] + z[1] - 0.6).powi(2)],
        |z| {
            let (side, along) = (if z[0] < z[1] { -2.0 } else { 2.0 }, z[0] + z[1] - 0.6);
            vec![side + along, -side + along]
        },
        |_| vec![1.0; 4],
    );
    model.kinked = true;
    for start in [[0.1, -0.1], [-0.2, 0.3], [0.9, 0.8]] {
        let step = search(&mut model, &open(1.0), NONE, start);
        close(&step.z, &[0.3, 0.3], 5e-3);
        assert!(step.values[0] < 1e-4, "{step:?}");
    }
}
