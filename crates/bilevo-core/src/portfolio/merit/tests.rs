use super::*;
use crate::minimise::formula::Formula;

fn weighted() -> Merit {
    Merit { inequalities: 1, weights: vec![2.0, 3.0], multipliers: vec![0.0; 2] }
}

#[test]
fn violations_have_their_prices_and_equations_two_sides() {
    let merit = weighted();
    // 1 + 2 · 0.5 + 3 · 0.25, and without the first one.
    assert_eq!((merit.of(&[1.0, 0.5, -0.25]), merit.of(&[1.0, -0.5, 0.25])), (2.75, 1.75));
    assert_eq!(merit.of(&[]), f64::INFINITY);
    let step = Step { values: vec![0.5, -1.0, 0.25], ..Step::default() };
    assert_eq!(merit.of_sum(&[1.0, 0.5, -0.25], &step.values), 1.5);
    assert_eq!(merit.predicted(&[1.0, 0.5, -0.25], &step), 1.25);
}

/// Functions with scales 2, 1 and 4.
fn model() -> Formula<'static> {
    let mut model = Formula::new(1, |_| vec![0.0; 3], |_| vec![0.0; 3], |_| vec![0.0; 3]);
    model.variances = vec![4.0, 1.0, 16.0];
    model
}

#[test]
fn prices_begin_with_the_scales_and_stay_above_twice_the_multipliers() {
    let mut merit = Merit::new(1, 1);
    let step =
        |multipliers: [f64; 2]| Step { values: vec![0.0; 3], multipliers: multipliers.into(), ..Step::default() };
    let mut learn = |multipliers: [f64; 2]| {
        merit.learn(&[0.0, -1.0, 0.0], &model(), &step(multipliers));
        assert_eq!(merit.multipliers(), multipliers);
        merit.weights.clone()
    };
    // 2 / 1 and 2 / 4 at first; the second has a multiplier of 2.
    assert_eq!(learn([0.5, -2.0]), [2.0, 4.0]);
    assert_eq!(learn([0.0, 0.0]), [2.0, 4.0]);
    // At most ten times as much at once.
    assert_eq!(learn([100.0, 3.0]), [20.0, 6.0]);
}

#[test]
fn a_step_towards_feasibility_is_worth_its_price() {
    // It rids the first constraint of its violation of 1, at a price of 2, and costs 3: twice what 0.75 · 2 allows.
    let step = |rise: f64| Step { values: vec![rise, -1.0, 0.0], multipliers: vec![0.0; 2], ..Step::default() };
    let learn = |rise: f64| {
        let mut merit = weighted();
        merit.learn(&[0.0, 1.0, 0.0], &model(), &step(rise));
        merit.weights
    };
    assert_eq!((learn(3.0), learn(1.5), learn(-1.0)), (vec![4.0, 6.0], vec![2.0, 3.0], vec![2.0, 3.0]));
    assert_eq!(learn(1e9), [200.0, 300.0], "a hundred times at most");
    // None where nothing becomes feasible.
    let mut merit = weighted();
    merit.learn(&[0.0, -1.0, 0.0], &model(), &step(3.0));
    assert_eq!(merit.weights, [2.0, 3.0]);
}
