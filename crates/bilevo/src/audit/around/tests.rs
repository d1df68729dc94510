use super::*;
use crate::{Functions, Serial};

fn solution(x: f64, y: f64) -> Solution {
    let (upper_value, lower_value) = (f64::NAN, f64::NAN);
    Solution { x: vec![x], y: vec![y], upper_value, lower_value, upper_violation: 0.0, lower_violation: 0.0 }
}

fn seen(problem: &Functions, at: (f64, f64), evaluations: u64) -> Surroundings {
    look_around(&mut Serial::new(problem), &solution(at.0, at.1), evaluations, &AuditOptions::default())
}

fn slice(seen: &Surroundings, level: Level) -> &Slice {
    seen.slices.iter().find(|slice| slice.level == level).unwrap()
}

/// Drivers answer a toll x with 8 - x trips; the operator earns x y.
fn toll() -> Functions {
    let follower = |x: &[f64], y: &[f64]| (y[0] - 8.0 + x[0]).powi(2);
    Functions::new("toll", vec![(0.0, 10.0)], vec![(0.0, 10.0)], |x, y| x[0] * y[0], follower).maximize_upper()
}

#[test]
fn the_follower_answers_anew_along_the_leaders_variable() {
    let seen = seen(&toll(), (4.0, 4.0), 4000);
    let points = &slice(&seen, Level::Upper).points;
    assert!(points.len() > 20 && points.is_sorted_by(|a, b| a.at < b.at));
    assert!(points.iter().any(|p| p.at == 4.0) && points[0].at == 0.0 && points.last().unwrap().at == 10.0);
    for point in points {
        let trips = (8.0 - point.at).max(0.0);
        assert!((point.y[0] - trips).abs() < 1e-4, "{point:?}");
        assert!((point.upper_value.unwrap() - point.at * trips).abs() < 1e-2, "{point:?}");
    }
}

#[test]
fn everything_else_stands_still_along_the_followers_variable() {
    let seen = seen(&toll(), (4.0, 4.0), 4000);
    for point in &slice(&seen, Level::Lower).points {
        assert!((point.lower_value.unwrap() - (point.at - 4.0).powi(2)).abs() < 1e-12);
        assert_eq!(point.upper_value, None);
    }
}

#[test]
fn a_price_is_what_a_unit_of_the_constraint_is_worth() {
    // The follower wants y as large as 2y <= 6 lets it: f falls by 1/2 for each unit of the constraint. The
    // leader's (x - 5)^2 falls by 6 for each unit beyond x <= 2, and x + y >= 1 does not matter.
    let problem =
        Functions::new("p", vec![(0.0, 10.0)], vec![(0.0, 10.0)], |x, _| (x[0] - 5.0).powi(2), |_, y| 7.0 - y[0])
            .upper_constraint(|x, _| x[0] - 2.0)
            .upper_constraint(|x, y| 1.0 - x[0] - y[0])
            .lower_constraint(|_, y| 2.0 * y[0] - 6.0);
    let constraints = seen(&problem, (2.0, 3.0), 4000).constraints;
    let found: Vec<(Level, Option<bool>)> = constraints.iter().map(|c| (c.level, c.binds)).collect();
    assert_eq!(found, [(Level::Upper, Some(true)), (Level::Upper, Some(false)), (Level::Lower, Some(true))]);
    assert!((constraints[0].price.unwrap() - 6.0).abs() < 0.02, "{constraints:?}");
    assert!((constraints[2].price.unwrap() - 0.5).abs() < 1e-3, "{constraints:?}");
    assert_eq!((constraints[1].price, constraints[1].value), (None, -4.0));
}

#[test]
fn the_leaders_price_counts_the_reaction_in() {
    // y = x, so that F = x + y falls by 2 for each unit that 3 - x <= 0 gives way.
    let problem = Functions::new(
        "reaction",
        vec![(0.0, 10.0)],
        vec![(0.0, 10.0)],
        |x, y| x[0] + y[0],
        |x, y| (y[0] - x[0]).powi(2),
    )
    .upper_constraint(|x, _| 3.0 - x[0]);
    let price = seen(&problem, (3.0, 3.0), 4000).constraints[0].price.unwrap();
    assert!((price - 2.0).abs() < 1e-2, "{price}");
}

#[test]
fn own_solvers_are_asked() {
    let judge = |x: &[f64], answer: &OracleAnswer| -x[0] * answer.y[0];
    let problem = Functions::with_follower("own", vec![(0.0, 10.0)], judge, |x| Ok(OracleAnswer::new([8.0 - x[0]])));
    let seen = seen(&problem, (4.0, 4.0), 100);
    assert_eq!(seen.slices.len(), 1);
    assert!(
        seen.slices[0].points.iter().all(|p| p.upper_value == Some(-p.at * (8.0 - p.at)) && p.lower_value.is_none())
    );
}

#[test]
fn the_budget_holds_and_little_shows_nothing() {
    for budget in [0, 1, 10, 100, 300] {
        let seen = seen(&toll(), (4.0, 4.0), budget);
        let spent = seen.evaluations.upper + seen.evaluations.lower;
        assert!(spent <= budget + 5, "{spent} of {budget}");
    }
    assert_eq!(seen(&toll(), (4.0, 4.0), 0), Surroundings::default());
}

#[test]
fn whole_numbers_move_in_whole_steps() {
    let space = || bilevo_core::space::Space::new().whole("n", 0.0, 6.0);
    let problem = Functions::new("whole", space(), space(), |x, y| x[0] + y[0], |x, y| (y[0] - x[0]).powi(2));
    let seen = seen(&problem, (3.0, 3.0), 2000);
    let points = &slice(&seen, Level::Upper).points;
    let values: Vec<(f64, f64)> = points.iter().map(|p| (p.at, p.y[0])).collect();
    assert_eq!(values, (0..=6).map(|k| (f64::from(k), f64::from(k))).collect::<Vec<_>>());
}

#[test]
fn what_breaks_a_look_off_is_told() {
    let stopped = AuditOptions::default();
    stopped.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let problem = toll();
    let seen = look_around(&mut Serial::new(&problem), &solution(4.0, 4.0), 100, &stopped);
    assert_eq!(seen.broken_off.as_deref(), Some("interrupted"));
    assert!(seen.slices.iter().all(|slice| slice.points.is_empty()));
}
