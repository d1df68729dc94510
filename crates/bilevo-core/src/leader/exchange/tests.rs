use super::*;

/// What a thorough or brief look around a point finds, whether that is better, and the calls.
fn looked(function: impl Fn(&[f64]) -> f64, start: &[f64], thorough: bool) -> (Point, bool, usize) {
    let space = Space::from(vec![(0.0, 1.0); start.len()]);
    let point = |at: &[f64]| {
        let value = function(at);
        Point { at: at.to_vec(), row: vec![value], outcome: Outcome { value, violation: 0.0 } }
    };
    let mut exchange = Exchange::new(point(start), 1e-6, thorough);
    let mut calls = 0;
    loop {
        let asked = exchange.next(&space);
        if asked.is_empty() {
            return (exchange.best().clone(), exchange.improved(), calls);
        }
        calls += asked.len();
        asked.iter().for_each(|at| exchange.tell(&point(at)));
    }
}

/// Two offers below a competitor at 0.4: alone the second earns its price; below the first, which is then
/// sold as well, a little more.
fn offers(at: &[f64]) -> f64 {
    match (at[1] < 0.4, at[0] < 0.4 && at[1] < at[0]) {
        (true, true) => -at[0] - 0.02,
        (true, false) => -at[1],
        (false, _) => 0.0,
    }
}

#[test]
fn a_step_behind_the_edge_of_another_variable_is_found() {
    let start = [0.7, 0.399_999_9];
    let (best, improved, calls) = looked(offers, &start, true);
    assert!(improved && best.row[0] < -0.4, "{best:?}");
    assert!(calls < 200, "{calls}");
    let (_, improved, _) = looked(offers, &start, false);
    assert!(!improved, "along one variable there is nothing to be seen");
}

#[test]
fn an_edge_between_two_points_of_a_look_is_found() {
    // Teeth that rise to their edges; the one that ends at 0.2 is better than all by less than a point shows.
    let teeth = |at: &[f64]| {
        let edge = (at[0] * 5.0 + 1e-12).floor() / 5.0 + 0.2;
        5.0 * (edge - at[0]) - if edge < 0.3 { 1.05 } else { 1.0 }
    };
    let (best, improved, calls) = looked(teeth, &[0.799_999_9], false);
    assert!(improved && best.row[0] < -1.04, "{best:?}");
    assert!(calls < 100, "{calls}");
}

#[test]
fn a_step_that_falls_to_the_very_edge_of_a_plateau_is_found() {
    // The only point of a look on this step is worse than the plateau.
    let edge = |at: &[f64]| if at[0] < 0.035 { -0.9 - 5.0 * at[0] } else { -1.0 };
    let (best, improved, calls) = looked(edge, &[0.7], false);
    assert!(improved && best.row[0] < -1.07, "{best:?}");
    assert!(calls < 60, "{calls}");
}

#[test]
fn a_narrow_step_at_the_end_of_a_plateau_is_found() {
    // No point of a look lies on it, and it is worse than the plateau where it begins.
    let step = |at: &[f64]| match at[0] {
        place if place < 0.4 => -1.0,
        place if place < 0.405 => -0.998 - 2.0 * (place - 0.4),
        _ => 0.0,
    };
    let (best, improved, calls) = looked(step, &[0.1], false);
    assert!(improved && best.row[0] < -1.007, "{best:?}");
    assert!(calls < 80, "{calls}");
}

#[test]
fn the_best_of_all_steps_stays() {
    let best = [0.399_999_9, 0.399_999_8];
    let (end, improved, _) = looked(offers, &best, true);
    assert!(!improved && end.at == best, "{end:?}");
}
