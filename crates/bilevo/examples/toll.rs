//! Toll pricing: what should the toll on a bridge be, if drivers choose their way accordingly?
//!
//! Six thousand drivers go from A to D over B, over C, or from B to C over the tolled bridge. They
//! settle where no driver gains by taking another route: Wardrop's equilibrium, the minimum of Beckmann's sum of
//! integrals over the roads (minutes and money count the same).

use bilevo::{Functions, RunError, RunResult, Solver};

/// Solves it.
pub(crate) fn solve() -> Result<RunResult, RunError> {
    // y = flows over B alone and over the bridge; the rest goes over C. Minutes on a road with flow v:
    // 10 v from A to B and C to D, 50 + v from B to D and A to C, 10 + v on the bridge.
    let potential = |x: &[f64], y: &[f64]| {
        let (over_b, bridge) = (y[0], y[1]);
        let over_c = 6.0 - over_b - bridge;
        let square = |v: f64| 0.5 * v * v;
        10.0 * (square(over_b + bridge) + square(over_c + bridge))
            + (50.0 * over_b + square(over_b) + 50.0 * over_c + square(over_c))
            + (10.0 * bridge + square(bridge) + x[0] * bridge)
    };
    let roads = Functions::new("toll", vec![(0.0, 13.0)], vec![(0.0, 6.0), (0.0, 6.0)], |x, y| x[0] * y[1], potential)
        .maximize_upper()
        .lower_constraint(|_, y| y[0] + y[1] - 6.0);
    Solver::new(&roads).method("auto").seed(1).run()
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), RunError> {
    let result = solve()?;
    println!("toll {:?}, flows {:?}, revenue {:?}", result.x(), result.y(), result.upper_value());
    Ok(())
}
