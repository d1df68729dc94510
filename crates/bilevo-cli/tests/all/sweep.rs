//! `bilevo solve --front` and `--sweep`.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn bilevo(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilevo"));
    command.current_dir(folder).args(args).env_remove("CLICOLOR_FORCE").output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(!output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Two tolls; drivers make a - x1 and b - x2 trips, the second ones twice as dirty.
const TOLLS: &str = r#"
[parameters]
a = 8
b = 6
weights = [1, 2]
[upper]
maximize = ["x[1]*y[1] + x[2]*y[2]", "-(weights[1]*y[1] + weights[2]*y[2])"]
variables = { x = { size = 2, bounds = [0, 8] } }
[lower]
minimize = "(y[1] - max(a - x[1], 0))^2 + (y[2] - max(b - x[2], 0))^2"
variables = { y = { size = 2, bounds = [0, 8] } }
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tolls.toml"), TOLLS).unwrap();
    let one = TOLLS
        .replace(r#"["x[1]*y[1] + x[2]*y[2]", "-(weights[1]*y[1] + weights[2]*y[2])"]"#, r#""x[1]*y[1] + x[2]*y[2]""#);
    std::fs::write(folder.path().join("income.toml"), one).unwrap();
    folder
}

/// The income at a limit on the dirt: each road's trips are half of the demand, less by a price of dirt.
fn income(dirt: f64) -> f64 {
    let price = (4.0 + 6.0 - dirt) * 2.0 / 5.0;
    let trips = if price <= 3.0 { [4.0 - price / 2.0, 3.0 - price] } else { [dirt, 0.0] };
    (8.0 - trips[0]) * trips[0] + (6.0 - trips[1]) * trips[1]
}

#[test]
fn a_front_is_that_of_the_formulas_and_every_point_is_verified() {
    let folder = folder();
    let args = ["solve", "tolls.toml", "--front", "--points", "5", "--seed", "1", "--format", "json"];
    let output = bilevo(folder.path(), &args);
    let front = json(&output);
    assert_eq!(output.status.code(), Some(0), "{front}");
    let points = front["points"].as_array().unwrap();
    assert_eq!(points.len(), 5);
    for (point, dirt) in points.iter().zip([10.0, 7.5, 5.0, 2.5, 0.0]) {
        let goal = |i: usize| point["goals"][i].as_f64().unwrap();
        assert!((goal(1) + dirt).abs() < 0.02 && (goal(0) - income(-goal(1))).abs() < 1e-3, "{}", point["goals"]);
        assert_eq!(point["verified"], true);
    }
    let total: u64 = points.iter().map(|p| p["result"]["evaluations"]["total"].as_u64().unwrap()).sum();
    assert!(front["evaluations"].as_u64().unwrap() >= total);
    assert_eq!(json(&bilevo(folder.path(), &args))["points"][2]["goals"], points[2]["goals"], "the same seed");
    let text = bilevo(folder.path(), &args[..7]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("5 points") && text.lines().count() == 7 && text.contains("verified"), "{text}");
}

#[test]
fn a_sweep_follows_the_answer() {
    let folder = folder();
    let args = ["solve", "income.toml", "--sweep", "a=4:8:3", "--seed", "1", "--format", "json"];
    let output = bilevo(folder.path(), &args);
    let sweep = json(&output);
    assert_eq!((output.status.code(), &sweep["parameter"]), (Some(0), &Value::from("a")), "{sweep}");
    for (point, a) in sweep["points"].as_array().unwrap().iter().zip([4.0_f64, 6.0, 8.0]) {
        assert_eq!(point["value"], a);
        let income = point["result"]["F"].as_f64().unwrap();
        assert!((income - a * a / 4.0 - 9.0).abs() < 1e-3, "{a}: {income}");
    }
}

#[test]
fn what_cannot_be_swept_is_said() {
    let folder = folder();
    for (args, words) in [
        (&["solve", "tolls.toml", "--seed", "1"][..], "the leader has two goals"),
        (&["solve", "income.toml", "--sweep", "c=1:2:3"], "there is no parameter `c`"),
        (&["solve", "income.toml", "--sweep", "x=1:2:3"], "`x` is a variable, and a sweep changes a parameter"),
        (&["solve", "income.toml", "--sweep", "weights=1:2:3"], "a list of numbers cannot be swept over"),
        (&["solve", "income.toml", "--sweep", "a=1"], "FROM:TO:COUNT"),
        (&["solve", "tolls.toml", "--front", "--audit"], "cannot be used with"),
        (&["solve", "smd1", "--front"], "needs a problem file, but smd1 is built in"),
    ] {
        let output = bilevo(folder.path(), args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(words), "{args:?}: {:?} {said}", output.status);
    }
    assert_eq!(bilevo(folder.path(), &["check", "tolls.toml"]).status.code(), Some(0));
    let args = ["solve", "income.toml", "--front", "--points", "3", "--seed", "1"];
    let output = bilevo(folder.path(), &args);
    assert!(String::from_utf8(output.stderr).unwrap().contains("has one goal"));
}
