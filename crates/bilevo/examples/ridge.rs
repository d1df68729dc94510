//! Tuning a regression: the leader chooses the penalty so that the error on data kept aside is
//! small; the follower fits the weights to the training data under that penalty.

use bilevo::{Functions, RunError, RunResult, Solver};

/// Rows of inputs with the value to predict, to train on.
pub(crate) const TRAIN: [([f64; 2], f64); 6] =
    [([1.0, 0.9], 2.3), ([0.2, 0.1], 0.1), ([0.7, 0.8], 1.2), ([0.4, 0.5], 1.3), ([0.9, 0.7], 1.4), ([0.1, 0.3], 0.6)];
/// Rows kept aside.
pub(crate) const KEPT: [([f64; 2], f64); 4] =
    [([0.8, 0.6], 1.4), ([0.3, 0.4], 0.6), ([0.6, 0.5], 1.2), ([0.5, 0.9], 1.4)];

/// The sum of squared errors.
pub(crate) fn error(data: &[([f64; 2], f64)], w: &[f64]) -> f64 {
    data.iter().map(|(row, value)| (row[0] * w[0] + row[1] * w[1] - value).powi(2)).sum()
}

/// Solves it.
pub(crate) fn solve() -> Result<RunResult, RunError> {
    // x is the decimal logarithm of the penalty.
    let tuning = Functions::new(
        "ridge",
        vec![(-4.0, 2.0)],
        vec![(-5.0, 5.0); 2],
        |_, w| error(&KEPT, w),
        |x, w| error(&TRAIN, w) + 10_f64.powf(x[0]) * (w[0] * w[0] + w[1] * w[1]),
    );
    Solver::new(&tuning).method("auto").seed(1).run()
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), RunError> {
    let result = solve()?;
    println!("log10 of the penalty {:?}, weights {:?}, error {:?}", result.x(), result.y(), result.upper_value());
    Ok(())
}
