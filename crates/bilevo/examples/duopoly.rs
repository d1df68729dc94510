//! A Stackelberg duopoly: the leader decides how much to produce, the follower answers, and both
//! sell at the price 12 - x - y. The leader also pays 1 for each unit, the follower 2.

use bilevo::{Functions, RunError, RunResult, Solver};

/// Solves it.
pub(crate) fn solve() -> Result<RunResult, RunError> {
    let price = |x: f64, y: f64| 12.0 - x - y;
    let market = Functions::new(
        "duopoly",
        vec![(0.0, 12.0)],
        vec![(0.0, 12.0)],
        move |x, y| x[0] * (price(x[0], y[0]) - 1.0),
        move |x, y| y[0] * (price(x[0], y[0]) - 2.0),
    );
    Solver::new(&market.maximize_upper().maximize_lower()).method("auto").seed(1).run()
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), RunError> {
    let result = solve()?;
    println!(
        "leader {:?}, follower {:?}, profits {:?} {:?}",
        result.x(),
        result.y(),
        result.upper_value(),
        result.lower_value()
    );
    Ok(())
}
