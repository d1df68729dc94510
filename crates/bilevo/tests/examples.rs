//! The problem files under `examples/`, each solved and compared with its answer in closed form.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bilevo::{RunResult, Solver, source};

fn solve(file: &str) -> RunResult {
    let path = format!("{}/../../examples/{file}", env!("CARGO_MANIFEST_DIR"));
    let source = source::open(&path, None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(source.hash().len(), 16);
    // The known optimum stays out of it: the answer must be found, not recognised.
    Solver::new(&*source).method("auto").set("stop.target", "off").seed(7).run().unwrap()
}

fn near(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() <= tolerance), "{got:?}, not {want:?}");
}

#[test]
fn toll() {
    let result = solve("toll.toml");
    near(&result.x.unwrap(), &[3.975], 0.02);
    near(&[result.upper_value.unwrap()], &[3.975 * 3.975], 1e-3);
}

#[test]
fn tax() {
    let result = solve("tax.toml");
    near(&result.x.unwrap(), &[2.0], 0.02);
    near(&result.y.unwrap(), &[4.0, 2.0], 0.05);
    near(&[result.upper_value.unwrap()], &[4.0], 0.02);
}

#[test]
fn stackelberg() {
    let (top, slope, cost) = (100.0, 1.0, [10.0, 16.0]);
    // The follower's best answer to q is (top - cost - slope*q)/(2*slope); the leader's profit is then
    // quadratic in q.
    let lead = (top - 2.0 * cost[0] + cost[1]) / (2.0 * slope);
    let follow = (top - cost[1] - slope * lead) / (2.0 * slope);
    let price = top - slope * (lead + follow);
    let result = solve("stackelberg.toml");
    near(&result.x.unwrap(), &[lead], 0.05);
    near(&result.y.unwrap(), &[follow], 0.05);
    near(
        &[result.upper_value.unwrap(), result.lower_value.unwrap()],
        &[(price - cost[0]) * lead, (price - cost[1]) * follow],
        1.0,
    );
}

#[test]
fn network() {
    let result = solve("network.toml");
    let (toll, y) = (result.x.unwrap()[0], result.y.unwrap());
    near(&[toll], &[6.5], 0.1);
    near(&y, &[2.5, 2.5], 0.05);
    // An equilibrium: all three paths take equally long, the toll counted.
    let bridge = 6.0 - y[0] - y[1];
    let times = [
        10.0 * (y[0] + bridge) + 50.0 + y[0],
        50.0 + y[1] + 10.0 * (y[1] + bridge),
        10.0 * (y[0] + bridge) + 10.0 + bridge + toll + 10.0 * (y[1] + bridge),
    ];
    near(&times, &[times[0]; 3], 0.5);
}
