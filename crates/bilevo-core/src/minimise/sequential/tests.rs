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
    assert!(step.penalties[0] > 0.0, "it holds though its multiplier is negative");
    let constraints = Constraints { inequalities: 0, centre: &[-0.4] };
    let step = search(&mut projection(), &open(1.0), constraints, [0.0; 2]);
    close(&step.multipliers, &[0.2], 1e-6);
    assert!(step.penalties[0] > 0.0);
}

/// -x - 2 y under a constraint on x² + y².
fn disc() -> Formula<'static> {
    Formula::new(
        2,
        |z| vec![-z[0] - 2.0 * z[1], z[0] * z[0] + z[1] * z[1]],
        |z| vec![-1.0, -2.0, 2.0 * z[0], 2.0 * z[1]],
        |_| vec![0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0],
    )
}

#[test]
fn a_curved_constraint_is_followed() {
    // On x² + y² <= 1/4: z = (1, 2) / √20, and (1, 2) = λ 2 z gives λ = √5.
    let mut model = disc();
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

/// 2 |x - y| + (x + y - 0.6)² / 2: the kink is x = y, and 0.3 is best on it.
fn ridge() -> Formula<'static> {
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
    model
}

#[test]
fn a_search_goes_along_a_kink() {
    let mut model = ridge();
    for start in [[0.1, -0.1], [-0.2, 0.3], [0.9, 0.8]] {
        let step = search(&mut model, &open(1.0), NONE, start);
        close(&step.z, &[0.3, 0.3], 5e-3);
        assert!(step.values[0] < 1e-4, "{step:?}");
    }
}

/// The search in other units of length, of the objective and of the constraint: the same but for those.
fn compare(model: fn() -> Formula<'static>, constraints: Constraints, region: &Region, start: [f64; 2]) {
    let plain = (model(), search(&mut model(), region, constraints, start));
    let times = |v: &[f64], unit: f64| v.iter().map(|v| v * unit).collect::<Vec<f64>>();
    // Powers of two, so that nothing is rounded.
    for [length, objective, constraint] in
        [[-10, 20, -6], [-3, -40, 9], [5, 7, 30]].map(|of| of.map(|n| 2.0_f64.powi(n)))
    {
        let units = [objective, constraint];
        let centre = times(constraints.centre, constraint);
        let mut model = model().in_units(length, &units[..=centre.len()]);
        let constraints = Constraints { centre: &centre, ..constraints };
        let found = search(&mut model, &region.in_units(length), constraints, start.map(|v| v * length));
        let expected = &plain.1;
        assert_eq!(found.z, times(&expected.z, length));
        assert_eq!(found.multipliers, times(&expected.multipliers, objective / constraint));
        assert_eq!(found.penalties, times(&expected.penalties, objective / (constraint * constraint)));
        assert_eq!(found.slopes, times(&expected.slopes, objective / length));
        assert_eq!(found.augmented, times(&expected.augmented, objective / (length * length)));
        assert_eq!(found.free, expected.free);
    }
}

#[test]
fn units_of_length_and_of_values_do_not_matter() {
    let of = |inequalities: usize, centre: &'static [f64]| Constraints { inequalities, centre };
    compare(projection, of(1, &[-0.4]), &open(1.0), [0.9, 0.8]);
    compare(projection, of(0, &[-1.2]), &open(0.75), [0.0, 0.1]);
    compare(disc, of(1, &[-0.25]), &open(1.0), [0.3, 0.1]);
    compare(disc, of(1, &[-0.25]), &Region { high: vec![0.125, 9.0], ..open(0.75) }, [0.0; 2]);
    compare(ridge, NONE, &open(1.0), [0.1, -0.1]);
}

#[test]
fn a_quadratic_problem_is_posed_in_units_of_the_radius_and_of_what_f_changes_by() {
    // From (0.2, 0) with a radius of 0.5: the slope is (-0.4, -0.2), the curvature 1.
    let (mut model, region) = (projection(), Region { high: vec![0.3, 9.0], ..open(0.5) });
    let constraints = Constraints { inequalities: 1, centre: &[-0.4] };
    let mut search = Sequential::new(&mut model, &region, constraints, &[0.2, 0.0], &[0.0]);
    search.model.values(&search.z, &mut search.values);
    search.expand();
    search.choose_weights();
    let spread = (0.2_f64.sqrt() + 0.25) * 0.5;
    close(&[search.spread], &[spread], 1e-15);
    // The constraint changes by √2 / 2 over the region; a hundredth of its weight is the price of a violation.
    let reach = 0.5 * 2.0_f64.sqrt();
    close(&search.weights, &[100.0 * spread / reach], 1e-12);
    close(&search.prices, &[spread / reach], 1e-12);
    close(&[search.merit(&[3.0, 0.3]), search.merit(&[3.0, 0.5])], &[3.0, 3.0 + 0.1 * spread / reach], 1e-12);
    let (mut problem, mut owners) = (Quadratic::default(), Vec::new());
    search.pose(&mut problem, &mut owners);
    close(&problem.gradient, &[-0.2 / spread, -0.1 / spread], 1e-12);
    close(&problem.hessian, &[0.25 / spread, 0.0, 0.0, 0.25 / spread], 1e-12);
    // From -0.5 to 0.3, and from -0.5 to 0.5.
    close(&[&problem.low[..], &problem.high].concat(), &[-1.4, -1.0, 0.2, 1.0], 1e-12);
    // x + y - 0.4 is -0.2 here.
    close(&problem.rows, &[0.5 / reach, 0.5 / reach], 1e-12);
    close(&[problem.offsets[0], problem.weights[0], owners[0].1], &[-0.2 / reach, 100.0, spread / reach], 1e-9);
    // An equation has two sides.
    search.constraints.inequalities = 0;
    search.multipliers = vec![-1.0];
    search.pose(&mut problem, &mut owners);
    assert_eq!(
        (problem.rows[2], problem.offsets[1], owners[1]),
        (-problem.rows[0], -problem.offsets[0], (0, -owners[0].1))
    );
    // The square of its gradient joins the curvature at ten times the objective's own, which is spread / radius².
    close(&problem.hessian, &[0.25 / spread + 5.0, 5.0, 5.0, 0.25 / spread + 5.0], 1e-9);
}

#[test]
fn a_minimiser_on_a_kink_is_held_there() {
    let step = search(&mut ridge(), &open(1.0), NONE, [0.1, -0.1]);
    // Across the kink, along x - y, by at least ten times what F changes by; its curvature there is none.
    let [a, b, c, d] = step.augmented[..] else { panic!() };
    assert!(a - b - c + d > 20.0, "{step:?}");
    assert_eq!(step.curvature, [1.0; 4]);
}

#[test]
fn as_much_is_added_to_the_diagonal_as_a_matrix_needs() {
    let convex = |mut matrix: [f64; 4]| {
        make_convex(2, &mut matrix, &mut Vec::new());
        matrix
    };
    close(&convex([2.0, 0.5, 0.5, 1.0]), &[2.0, 0.5, 0.5, 1.0], 1e-8);
    // More than 1 and less than four times that, as a share of the largest element.
    for unit in [1.0, 1e6] {
        let [a, b, c, d] = convex([unit, 0.0, 0.0, -unit]).map(|v| v / unit);
        assert!(b == 0.0 && c == 0.0 && (a - d - 2.0).abs() < 1e-9 && d > 0.0 && d < 3.0, "{a} {d}");
    }
    let [a, .., d] = convex([0.01, 1.0, 1.0, 0.01]);
    assert!(a * d > 1.0 && a * d < 17.0, "{a} {d}");
}
