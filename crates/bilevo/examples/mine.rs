//! A tax on a gold mine: the authority (leader) wants revenue and little pollution, the mine
//! (follower) wants profit. The mine sells q tonnes at 100 - q, digs them for q^2 + q and pays the
//! tax on each; every tonne costs the authority 1 to clean up.

use bilevo::{Functions, RunError, RunResult, Solver};

/// Solves it.
pub(crate) fn solve() -> Result<RunResult, RunError> {
    let profit = |tax: f64, q: f64| (100.0 - q) * q - (q * q + q) - tax * q;
    let mine = Functions::new(
        "mine",
        vec![(0.0, 100.0)],
        vec![(0.0, 100.0)],
        |tax, q| tax[0] * q[0] - q[0],
        move |tax, q| profit(tax[0], q[0]),
    )
    .maximize_upper()
    .maximize_lower()
    .lower_constraint(move |tax, q| -profit(tax[0], q[0])); // no loss
    Solver::new(&mine).method("auto").seed(1).run()
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), RunError> {
    let result = solve()?;
    println!("tax {:?}, output {:?}, gain {:?}", result.x(), result.y(), result.upper_value());
    Ok(())
}
