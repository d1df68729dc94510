//! Whole numbers from the outside: files, results, checkpoints, stores, and what `check` says of them.

use crate::daily::{bilevo, done, here, json, stderr, stdout};
use serde_json::Value;
use std::path::Path;

/// Lots up to 10^9: the follower orders twice as many as the leader offers, and the rent is fixed.
const LOTS: &str = r#"
name = "lots"
[upper]
minimize = "abs(n - 123456789)/1e6 + abs(k - 246913578)/1e6 + rent"
variables = { n = { integer = [-0.5, 1e9] }, rent = [2, 2] }
[lower]
minimize = "abs(k - 2*n)/1e6"
variables = { k = { integer = [0, 2e9] } }
"#;

/// A knapsack interdiction; `KIND` says what the variables are.
const PACK: &str = r#"
name = "pack"
[data]
value = [9, 8, 7, 5, 5, 4]
weight = [5, 4, 4, 3, 2, 2]
[upper]
minimize = "sum(i in 1..6, value[i]*y[i])"
variables = { x = { size = 6, KIND = [0, 1] } }
subject_to = ["sum(x) <= 2"]
[lower]
maximize = "sum(i in 1..6, value[i]*y[i])"
variables = { y = { size = 6, KIND = [0, 1] } }
subject_to = ["sum(i in 1..6, weight[i]*y[i]) <= 8.5", "y[i] <= 1 - x[i] for i in 1..6"]
"#;

fn written(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

#[test]
fn wide_ranges_are_searched_exactly_and_printed_in_full() {
    let folder = here();
    written(folder.path(), "lots.toml", LOTS);
    let output = done(folder.path(), &["solve", "lots.toml", "--seed", "1"]);
    assert!(stdout(&output).contains("n = 123456789, rent = 2"), "{}", stdout(&output));
    assert!(stdout(&output).contains("k = 246913578"), "{}", stdout(&output));
}

#[test]
fn checkpoints_keep_kinds() {
    let folder = here();
    written(folder.path(), "lots.toml", LOTS);
    let run = ["solve", "lots.toml", "--seed", "2", "--format", "json"];
    let whole = json(&done(folder.path(), &run));
    let cut = ["--max-upper-evals", "30", "--checkpoint", "a"];
    let first = bilevo(folder.path(), &[&run[..], &cut].concat());
    assert_eq!(first.status.code(), Some(1), "{}", stderr(&first));
    let rest = done(folder.path(), &["solve", "--resume", "a", "--max-upper-evals", "100000", "--format", "json"]);
    assert_eq!((&json(&rest)["x"], &json(&rest)["evaluations"]), (&whole["x"], &whole["evaluations"]));
    assert_eq!(numbers(&json(&rest)["x"]), [123_456_789.0, 2.0]);
}

#[test]
fn stores_keep_whole_answers_and_tell_kinds_apart() {
    let folder = here();
    written(folder.path(), "whole.toml", &PACK.replace("KIND", "integer"));
    written(folder.path(), "real.toml", &PACK.replace("KIND", "bounds"));
    let run = |file: &str| {
        let grid = ["experiment", "run", "--problems", file, "--methods", "auto", "--runs", "1", "--store", "s.db"];
        done(folder.path(), &[&grid[..], &["--set", "stop.max_evals=2000"]].concat());
    };
    run("whole.toml");
    // The same variables as reals are another problem: nothing is taken over.
    run("real.toml");
    let output = done(folder.path(), &["experiment", "export", "--store", "s.db", "--format", "jsonl", "--all"]);
    let rows: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2, "{}", stdout(&output));
    let whole = |row: &&Value| numbers(&row["x"]).iter().chain(&numbers(&row["y"])).all(|v| v.fract() == 0.0);
    assert!(rows.iter().any(|row| whole(&row)), "{}", stdout(&output));
}

#[test]
fn check_knows_whole_numbers() {
    let folder = here();
    written(folder.path(), "pack.toml", &PACK.replace("KIND", "integer"));
    let report = json(&done(folder.path(), &["check", "pack.toml", "--format", "json"]));
    let whole = &report["problem"]["whole"];
    assert_eq!((whole["upper"].as_u64(), whole["lower"].as_u64()), (Some(64), Some(64)));
    let rounding = ["decisions", "infeasible", "worse"].map(|key| whole["rounding"][key].as_u64().unwrap());
    assert!(rounding[0] >= 10 && rounding[1] + rounding[2] > rounding[0] / 2, "{rounding:?}");
    let text = done(folder.path(), &["check", "pack.toml"]);
    assert!(stdout(&text).contains("would mislead"), "{}", stdout(&text));
    // Rounding is as good as anything where the follower wants one number and no other matters.
    written(folder.path(), "lots.toml", LOTS);
    let text = done(folder.path(), &["check", "lots.toml"]);
    assert!(stdout(&text).contains("1,000,000,001 combinations at the upper level"), "{}", stdout(&text));
    assert!(!stdout(&text).contains("mislead"), "{}", stdout(&text));
    assert!(stdout(&text).contains("the variable has only one value, 2: it is fixed"), "{}", stdout(&text));
    written(folder.path(), "one.toml", &LOTS.replace("[-0.5, 1e9]", "[0.5, 1.4]").replace("[2, 2]", "[2, 3]"));
    let text = done(folder.path(), &["check", "one.toml"]);
    assert!(stdout(&text).contains("the variable has only one value, 1: it is fixed"), "{}", stdout(&text));
}

#[test]
fn bounds_without_whole_numbers_are_refused() {
    let folder = here();
    for (bounds, message) in [
        ("[0.2, 0.8]", "no whole number lies within [0.2, 0.8]"),
        ("[3.5, 3.2]", "the box [3.5, 3.2] is empty"),
        ("[0, 1e17]", "too large to be exact"),
        ("[inf, 9]", "the number is not finite"),
    ] {
        written(folder.path(), "bad.toml", &LOTS.replace("[-0.5, 1e9]", bounds));
        let output = bilevo(folder.path(), &["solve", "bad.toml"]);
        assert_eq!(output.status.code(), Some(2), "{bounds}");
        let said = stderr(&output);
        assert!(said.contains(message) && said.contains("hint: "), "{bounds}: {said}");
    }
}
