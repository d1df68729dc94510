//! The Rust examples against answers computed in another way.

#[path = "../../examples/duopoly.rs"]
mod duopoly;
#[path = "../../examples/mine.rs"]
mod mine;
#[path = "../../examples/ridge.rs"]
mod ridge;
#[path = "../../examples/toll.rs"]
mod toll;

use bilevo::RunResult;

/// F, x and y of a result.
fn answer(result: RunResult) -> (f64, Vec<f64>, Vec<f64>) {
    let solution = result.solution.unwrap();
    (solution.upper_value, solution.x, solution.y)
}

#[test]
fn toll_on_a_bridge() {
    // With p on the bridge the others split evenly and their way takes 83 + 4.5 p minutes, that over
    // the bridge 70 + 11 p and the toll: p = 2 - toll / 6.5, and toll * p is largest at toll 6.5.
    let (revenue, toll, flows) = answer(toll::solve().unwrap());
    assert!((revenue - 6.5).abs() < 1e-2, "{revenue}");
    assert!((toll[0] - 6.5).abs() < 0.3, "{toll:?}");
    assert!((flows[0] - 2.5).abs() < 0.1 && (flows[1] - 1.0).abs() < 0.1, "{flows:?}");
}

#[test]
fn stackelberg_duopoly() {
    // y = (10 - x) / 2, so the leader maximises x (6 - x / 2): x = 6, y = 2, profits 18 and 4.
    let (profit, x, y) = answer(duopoly::solve().unwrap());
    assert!(
        (profit - 18.0).abs() < 1e-2 && (x[0] - 6.0).abs() < 0.1 && (y[0] - 2.0).abs() < 0.1,
        "{profit} {x:?} {y:?}"
    );
}

/// The weights of ridge regression by the normal equations.
fn weights(penalty: f64) -> [f64; 2] {
    let sum = |f: &dyn Fn(&[f64; 2], f64) -> f64| ridge::TRAIN.iter().map(|(row, value)| f(row, *value)).sum::<f64>();
    let (a, b, d) = (sum(&|r, _| r[0] * r[0]) + penalty, sum(&|r, _| r[0] * r[1]), sum(&|r, _| r[1] * r[1]) + penalty);
    let (p, q) = (sum(&|r, v| r[0] * v), sum(&|r, v| r[1] * v));
    let determinant = a * d - b * b;
    [(d * p - b * q) / determinant, (a * q - b * p) / determinant]
}

#[test]
fn penalty_of_a_regression() {
    let errors =
        (0..=6000).map(|step| ridge::error(&ridge::KEPT, &weights(10_f64.powf(f64::from(step) / 1000.0 - 4.0))));
    let (best, least) = errors.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert!((500..5500).contains(&best), "the optimum is inside: {best}");
    let (error, x, w) = answer(ridge::solve().unwrap());
    assert!((error - least).abs() < 1e-4, "{error} instead of {least} at {x:?}");
    let exact = weights(10_f64.powf(x[0]));
    assert!((w[0] - exact[0]).abs() < 1e-2 && (w[1] - exact[1]).abs() < 1e-2, "{w:?} instead of {exact:?}");
}

#[test]
fn tax_on_a_mine() {
    // The mine digs q = (99 - tax) / 4; (tax - 1) q is largest at tax 50: q = 12.25, gain 600.25.
    let (gain, tax, q) = answer(mine::solve().unwrap());
    assert!(
        (gain - 600.25).abs() < 0.1 && (tax[0] - 50.0).abs() < 1.0 && (q[0] - 12.25).abs() < 0.2,
        "{gain} {tax:?} {q:?}"
    );
}
