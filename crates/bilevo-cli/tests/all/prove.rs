//! `bilevo prove`, and what runs of problem files say of proofs.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Two basins below; the deeper one turns with x.
const FORK: &str = r#"
name = "basins"
[upper]
minimize = "(x - 0.6)^2 + (y - 1)^2"
variables = { x = [-1, 1] }
[lower]
minimize = "(y^2 - 1)^2 + 0.3*x*y"
variables = { y = [-2, 2] }
"#;

fn bilevo(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bilevo")).current_dir(folder).args(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    let words = String::from_utf8_lossy(&output.stderr);
    let read = serde_json::from_slice(&output.stdout);
    assert!(read.is_ok(), "{read:?}: {words}");
    read.unwrap()
}

fn with_file() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("basins.toml"), FORK).unwrap();
    folder
}

#[test]
fn a_wrong_answer_of_the_follower_is_refuted_and_a_right_one_proven() {
    let folder = with_file();
    let prove = |y: &str| bilevo(folder.path(), &["prove", "basins.toml", "--x", "0.6", "--y", y, "--format", "json"]);
    // At x = 0.6 the follower prefers y near −1.
    let output = prove("0.976");
    let proof = json(&output);
    assert_eq!(output.status.code(), Some(1), "{proof}");
    assert_eq!(proof["follower"]["verdict"], "refuted");
    let y = proof["follower"]["better"]["y"][0].as_f64().unwrap();
    assert!((y + 1.02).abs() < 0.05, "{proof}");
    assert!(proof["follower"]["better"]["f"].as_f64().unwrap() < -0.17);
    let proof = json(&prove("-1.0219"));
    assert_eq!(proof["follower"]["verdict"], "proven", "{proof}");
    assert_eq!((&proof["position"], &proof["feasibility"]), (&"optimistic".into(), &"exact".into()));
    // The better decision has x ≤ 0, where the follower comes over.
    assert_eq!(proof["leader"]["verdict"], "better");
    assert!(proof["leader"]["better"]["x"][0].as_f64().unwrap() <= 0.0);
    let value = proof["leader"]["better"]["F"].as_f64().unwrap();
    assert!((value - 0.36).abs() < 1e-2, "{proof}");
    assert!(proof["leader"]["lower_bound"].as_f64().unwrap() <= 0.36);
}

#[test]
fn claims_results_and_runs_are_proven() {
    let folder = with_file();
    let run = |args: &[&str]| bilevo(folder.path(), args);
    let output = run(&["prove", "basins.toml", "--claim", "0.36", "--format", "json"]);
    let proof = json(&output);
    assert_eq!((output.status.code(), &proof["leader"]["verdict"]), (Some(0), &"proven".into()), "{proof}");
    assert_eq!((&proof["x"], &proof["follower"]), (&Value::Null, &Value::Null));
    // Nothing is better than what nobody can reach: the bound is proven, the value is not.
    let output = run(&["prove", "basins.toml", "--claim", "-7"]);
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        words.contains("whether F = -7.0 is reached was not asked") && !words.contains("value is proven"),
        "{words}"
    );
    let output = run(&["prove", "basins.toml", "--claim", "0.5"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("there is a better decision: F = 0.3"));
    let solved = run(&["solve", "basins.toml", "--seed", "1", "--audit", "--format", "json"]);
    let result = json(&solved);
    assert_eq!(result["audit"]["verdict"], "proven", "{result}");
    assert_eq!(result["proof"]["follower"]["verdict"], "proven", "{result}");
    let text = run(&["solve", "basins.toml", "--seed", "1", "--audit"]).stdout;
    let said = String::from_utf8_lossy(&text).matches("the follower's answer is proven").count();
    assert_eq!(said, 1, "the audit rests on the proof and says it once");
    std::fs::write(folder.path().join("result.json"), &solved.stdout).unwrap();
    let proof = json(&run(&["prove", "basins.toml", "--result", "result.json", "--format", "json"]));
    assert_eq!((&proof["x"], &proof["follower"]["verdict"]), (&result["x"], &"proven".into()));
    let solved = run(&["prove", "basins.toml", "--seed", "1", "--format", "json"]);
    assert_eq!(json(&solved)["leader"]["verdict"], "proven");
    let proven = json(&run(&["solve", "basins.toml", "--seed", "1", "--prove", "--format", "json"]));
    assert_eq!(proven["proof"]["leader"]["verdict"], "proven", "{proven}");
    assert_eq!(proven["success"], true, "{proven}");
}

/// A point that is no answer is not called proven, whatever its F.
#[test]
fn words_fit_points_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[upper]\nminimize = \"x + y\"\nvariables = { x = [0, 1] }\n\
                [lower]\nminimize = \"(y - 2*x)^2\"\nvariables = { y = { integer = [0, 3] } }\n\
                subject_to = [\"y <= 1 + x\"]\n";
    std::fs::write(folder.path().join("w.toml"), text).unwrap();
    let prove = |x: &str, y: &str| {
        let output = bilevo(folder.path(), &["prove", "w.toml", "--x", x, "--y", y]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, words) = prove("0", "0");
    assert!(code == Some(0) && words.contains("the leader's value is proven"), "{words}");
    for y in ["2", "0.5"] {
        let (code, words) = prove("0", y);
        assert!(code == Some(1) && words.contains("violates its own constraints by"), "{words}");
        assert!(words.contains("one that meets them is y = ") && !words.contains("value is proven"), "{words}");
    }
    let (code, words) = prove("0", "1");
    assert!(code == Some(1) && words.contains("the follower has a better answer: f = 0.0 at y = 0.0"), "{words}");
}

/// Built-in problems that come in several sizes are proven in any of them.
#[test]
fn sizes_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["prove", "indefinite:4", "--dims", "1+2", "--claim", "1e3", "--format", "json"];
    let proof = json(&bilevo(folder.path(), &args));
    assert_eq!(proof["leader"]["verdict"], "better", "{proof}");
    assert_eq!(proof["leader"]["better"]["y"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_proven_is_said_with_a_way_out() {
    let folder = with_file();
    let says = |args: &[&str], words: &str| {
        let output = bilevo(folder.path(), args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(words), "{args:?}: {text}");
    };
    says(&["prove", "smd1"], "has no formulas");
    says(&["solve", "smd1", "--prove"], "needs formulas");
    says(&["prove", "basins.toml", "--x", "1 2", "--y", "1"], "x has 2 numbers, basins takes 1");
    says(&["prove", "basins.toml", "--claim", "nan"], "expected a finite number");
    says(&["prove", "basins.toml", "--dims", "2+2", "--claim", "1"], "hint");
    std::fs::write(folder.path().join("other.json"), "{}").unwrap();
    says(&["prove", "basins.toml", "--result", "other.json"], "has no x and y");
    says(&["prove", "basins.toml", "--result", "/dev/zero"], "more than 16000000 bytes");
    let open = FORK.replace("y = [-2, 2]", "y = [-2, inf]");
    std::fs::write(folder.path().join("open.toml"), open).unwrap();
    let output = bilevo(folder.path(), &["prove", "open.toml", "--claim", "1"]);
    assert_eq!(output.status.code(), Some(2));
}
