//! What daily use asks for: time limits, larger budgets, standard output, words that help.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn bilevo(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bilevo")).current_dir(folder).args(args).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Of a run that a budget or the time ended.
fn cut(folder: &Path, args: &[&str]) -> Output {
    let output = bilevo(folder, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stderr(&output));
    assert!(stderr(&output).contains("warning[W"), "{}", stderr(&output));
    output
}

pub(crate) fn done(folder: &Path, args: &[&str]) -> Output {
    let output = bilevo(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    output
}

pub(crate) fn json(output: &Output) -> Value {
    let mut value: Value = serde_json::from_str(stdout(output)).unwrap();
    for time in ["seconds", "training_seconds"] {
        value[time] = Value::Null;
    }
    value
}

pub(crate) fn here() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_time_limit_ends_a_run_that_can_go_on() {
    let folder = here();
    let run = ["solve", "smd1", "--seed", "3", "--max-upper-evals", "50", "--target", "off", "--format", "json"];
    let whole = cut(folder.path(), &run);
    let limited = ["--time-limit", "0.05s", "--inject", "slow:1000", "--checkpoint", "a"];
    let first = cut(folder.path(), &[&run[..], &limited].concat());
    assert_eq!(json(&first)["stop"], "time_limit");
    assert!(stderr(&first).contains("go on with: bilevo solve --resume a --format json"), "{}", stderr(&first));
    // The time of all sessions counts: with the same limit there is none left.
    let again = ["solve", "--resume", "a", "--time-limit", "0.05s", "--format", "json"];
    assert_eq!(json(&cut(folder.path(), &again)), json(&first));
    let rest = cut(folder.path(), &["solve", "--resume", "a", "--time-limit", "1h", "--format", "json"]);
    assert_eq!(json(&rest), json(&whole));
    for wrong in ["-1", "soon", "5x", ""] {
        let output = bilevo(folder.path(), &[&run[..], &["--time-limit", wrong]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("as in 90s, 10m or 1h30m"), "{}", stderr(&output));
    }
}

#[test]
fn a_resumed_run_can_have_a_larger_budget() {
    let folder = here();
    let run = |budget, more: &[&str]| {
        let run = [
            "solve",
            "smd2",
            "--seed",
            "3",
            "--target",
            "off",
            "--format",
            "json",
            "--max-upper-evals",
            budget,
            "--effort",
            "budget",
        ];
        cut(folder.path(), &[&run[..], more].concat())
    };
    let whole = run("150", &[]);
    let first = run("60", &["--checkpoint", "a"]);
    assert_eq!(json(&first)["stop"], "upper_budget");
    let more = cut(folder.path(), &["solve", "--resume", "a", "--max-upper-evals", "150", "--format", "json"]);
    assert_eq!(json(&more), json(&whole));
    // From here on the file holds the larger run.
    assert_eq!(json(&cut(folder.path(), &["solve", "--resume", "a", "--format", "json"])), json(&whole));
}

#[test]
fn trace_and_plot_go_to_standard_output() {
    let folder = here();
    let run = ["solve", "smd1", "--seed", "3", "--max-upper-evals", "30", "--target", "off"];
    let with = |more: &[&str]| bilevo(folder.path(), &[&run[..], more].concat());
    let trace = with(&["--trace", "-"]);
    assert!(stdout(&trace).lines().count() > 3);
    assert!(stdout(&trace).lines().all(|line| line.starts_with("{\"generation\":")), "only the trace");
    assert!(stderr(&trace).contains("smd1 2+3"), "the result is for people");
    let lines = with(&["--trace", "-", "--format", "json"]);
    let last: Value = serde_json::from_str(stdout(&lines).lines().last().unwrap()).unwrap();
    assert_eq!((&last["problem"], &last["success"]), (&"smd1".into(), &Value::Bool(false)));
    let plot = with(&["--plot", "-"]);
    assert!(stdout(&plot).starts_with("<svg") && stdout(&plot).trim_end().ends_with("</svg>"));
    for (more, part) in [
        (&["--plot", "-", "--trace", "-"][..], "the same file"),
        (&["--plot", "-", "--format", "json"], "both want standard output"),
    ] {
        let refused = with(more);
        assert_eq!((refused.status.code(), stdout(&refused)), (Some(2), ""));
        assert!(stderr(&refused).contains(part), "{}", stderr(&refused));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn target_and_its_setting_speak_the_same_words() {
    let folder = here();
    let run = ["solve", "smd1", "--seed", "3", "--max-upper-evals", "60", "--format", "json"];
    for word in ["off", "upper", "both", "on"] {
        let flag = bilevo(folder.path(), &[&run[..], &["--target", word]].concat());
        let setting = bilevo(folder.path(), &[&run[..], &["--set", &format!("stop.target={word}")]].concat());
        assert_eq!(flag.status.code(), setting.status.code(), "{word}");
        assert_eq!(json(&flag), json(&setting), "{word}");
    }
}

#[test]
fn eval_says_what_lies_outside_and_what_is_no_number() {
    let folder = here();
    let eval =
        |x: &str, more: &[&str]| bilevo(folder.path(), &[&["eval", "smd1", "--x", x, "--y", "0 3 0"], more].concat());
    let outside = eval("1 2000", &[]);
    assert!(stdout(&outside).contains("x2 = 2000 lies outside [-5, 10]"), "{}", stdout(&outside));
    let outside = json(&eval("1 2000", &["--format", "json"]));
    assert_eq!(outside["outside"][0]["variable"], "x2");
    assert_eq!(outside["outside"].as_array().unwrap().len(), 1);
    for wrong in ["1,,2", ",1 2", "1, 2,", "1 , , 2"] {
        let output = eval(wrong, &[]);
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), ""), "{wrong}");
        assert!(stderr(&output).contains("a number is missing"), "{}", stderr(&output));
    }
    let overflow = eval("1e200 1", &[]);
    assert_eq!((overflow.status.code(), stdout(&overflow)), (Some(2), ""));
    assert!(stderr(&overflow).contains("the upper objective is inf"), "{}", stderr(&overflow));
}

const TOLL: &str = r#"
name = "toll"
[upper]
maximize = "t * trips"
variables = { t = [0, 10] }
[lower]
minimize = "(trips - 8 + t)^2 + 0.1*trips"
variables = { trips = [0, 10] }
"#;

#[test]
fn a_problem_file_is_a_problem() {
    let folder = here();
    std::fs::write(folder.path().join("toll.toml"), TOLL).unwrap();
    let solve = ["solve", "toll.toml", "--seed", "1", "--method", "bl-cma-es", "--format", "json"];
    let result = json(&done(folder.path(), &solve));
    assert_eq!((&result["problem"], &result["accuracy"]), (&"toll".into(), &Value::Null));
    assert!((result["F"].as_f64().unwrap() - 3.975_f64.powi(2)).abs() < 0.1, "{result}");
    assert_eq!((&result["names"]["x"][0], &result["names"]["y"][0]), (&"t".into(), &"trips".into()));
    let text = done(folder.path(), &solve[..6]);
    assert!(stdout(&text).contains("t = 3.9") && stdout(&text).contains("trips = 3.9"), "{}", stdout(&text));
    // Also in what was proven about it.
    let proof = bilevo(folder.path(), &["prove", "toll.toml", "--x", "3", "--y", "9"]);
    assert!(stdout(&proof).contains("the follower has a better answer: f = "), "{}", stdout(&proof));
    assert!(stdout(&proof).contains(" at trips = ") && !stdout(&proof).contains("y = ["), "{}", stdout(&proof));
    let eval = ["eval", "toll.toml", "--x", "11", "--y", "3"];
    let point = done(folder.path(), &eval);
    assert!(stdout(&point).contains("33") && stdout(&point).contains("t = 11 lies outside [0, 10]"));
    // Saved, changed, resumed.
    let limited = ["--checkpoint", "a", "--max-upper-evals", "20"];
    cut(folder.path(), &[&solve[..], &limited].concat());
    let resume = ["solve", "--resume", "a", "--max-upper-evals", "40"];
    std::fs::write(folder.path().join("toll.toml"), TOLL.replace("0.1", "0.2")).unwrap();
    let changed = bilevo(folder.path(), &resume);
    assert_eq!(changed.status.code(), Some(2));
    assert!(
        stderr(&changed).contains("`toll.toml`, or a file of its program, has changed since the run was saved"),
        "{}",
        stderr(&changed)
    );
    std::fs::write(folder.path().join("toll.toml"), TOLL).unwrap();
    cut(folder.path(), &resume);
}

#[test]
fn lists_and_manuals_answer_the_next_question() {
    let folder = here();
    let methods = done(folder.path(), &["list", "methods"]);
    let marked: Vec<&str> = stdout(&methods).lines().filter(|line| line.contains("(default)")).collect();
    assert!(marked.len() == 1 && marked[0].starts_with("portfolio "), "{marked:?}");
    let methods: Vec<Value> =
        serde_json::from_str(stdout(&done(folder.path(), &["list", "methods", "--format", "json"]))).unwrap();
    assert_eq!(methods.iter().filter(|method| method["default"] == true).count(), 1);
    let page = done(folder.path(), &["man", "experiment", "run"]);
    assert!(stdout(&page).contains("\\-\\-store") && stdout(&page).contains("bilevo\\-experiment\\-run"));
    let unknown = bilevo(folder.path(), &["man", "experiment", "staus"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("did you mean `status`?"), "{}", stderr(&unknown));
}

#[test]
fn explain_knows_problems_and_speaks_json() {
    let folder = here();
    std::fs::write(folder.path().join("toll.toml"), TOLL).unwrap();
    let text = |args: &[&str]| stdout(&done(folder.path(), &[&["explain"], args].concat())).to_string();
    let tp2 = text(&["tp2"]);
    for part in ["tp2 2+2", "The leader minimises", "x1", "[0, 0]", "f = 100", "f = 200", "Budget", "built in"] {
        assert!(tp2.contains(part), "`{part}` is missing in\n{tp2}");
    }
    assert!(text(&["smd1", "--dims", "5+5"]).contains("smd1 5+5"));
    let toll = text(&["toll.toml"]);
    for part in ["The leader maximises\n  t * trips\n", "constraints  none", "the file toll.toml"] {
        assert!(toll.contains(part), "`{part}` is missing in\n{toll}");
    }
    let bounded = TOLL.replace("[lower]", "subject_to = [\"t + trips <= 12\", \"t == 4\"]\n[lower]");
    std::fs::write(folder.path().join("bounded.toml"), bounded).unwrap();
    let bounded = text(&["bounded.toml"]);
    let constraints = "constraints  1 inequality, 1 equation\n    t + trips <= 12\n    t == 4\n";
    assert!(bounded.contains(constraints), "{bounded}");
    let json = |what: &str| json(&done(folder.path(), &["explain", what, "--format", "json"]));
    let tp2 = json("tp2");
    assert_eq!(tp2["best_known"].as_array().unwrap().len(), 2);
    assert_eq!(tp2["upper"]["variables"][0]["name"], "x1");
    let method = json("cr-tlea-cma-es");
    assert_eq!(
        (&method["base"], &method["config"]["allocator"]["kind"]),
        (&"tlea-cma-es".into(), &"contrastive".into())
    );
    assert!(method["steps"].as_array().unwrap().len() > 4);
    for (wrong, nearest) in [("tp22", "tp"), ("cr-tlea-cma-se", "cr-tlea-cma-es")] {
        let output = bilevo(folder.path(), &["explain", wrong]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(&format!("did you mean `{nearest}")), "{}", stderr(&output));
    }
}

#[test]
fn an_audit_is_part_of_the_result() {
    let folder = here();
    let run = ["solve", "smd1", "--seed", "3", "--audit"];
    let result = json(&done(folder.path(), &[&run[..], &["--format", "json"]].concat()));
    assert_eq!(result["audit"]["verdict"], "stands");
    assert!(result["audit"]["evaluations"]["lower"].as_u64().unwrap() > 0);
    assert!(stdout(&done(folder.path(), &run)).contains("audit"));
    // Whoever says how to audit wants one.
    let limited = ["solve", "smd1", "--seed", "3", "--audit-evals", "200", "--format", "json"];
    let spent = |result: &Value| result["audit"]["evaluations"]["lower"].as_u64().unwrap();
    assert!(spent(&json(&done(folder.path(), &limited))) < spent(&result));
}

#[test]
fn a_report_is_a_page_about_the_run() {
    let folder = here();
    let page = folder.path().join("run.html");
    let run = ["solve", "smd1", "--seed", "3", "--max-evals", "600", "--target", "off"];
    let plain = cut(folder.path(), &[&run[..], &["--format", "json"]].concat());
    let reported = cut(folder.path(), &[&run[..], &["--report", "run.html", "--format", "json"]].concat());
    assert_eq!(json(&reported), json(&plain), "a report changes nothing");
    let html = std::fs::read_to_string(&page).unwrap();
    for needed in ["<section id=\"around\"", "should not be trusted", "bilevo solve smd1 --method", "--seed 3"] {
        assert!(html.contains(needed), "{needed}");
    }
    // Without evaluations there is nothing to say about what lies around.
    cut(folder.path(), &[&run[..], &["--report", "run.html", "--report-evals", "0"]].concat());
    assert!(!std::fs::read_to_string(&page).unwrap().contains("<section id=\"around\""));
}

#[test]
fn a_report_overwrites_nothing_else() {
    let folder = here();
    std::fs::write(folder.path().join("mine.html"), "<html>mine</html>").unwrap();
    for (name, words) in [("mine.html", "mine.html"), ("run.txt", "ends in .html"), ("-", "ends in .html")] {
        let output = bilevo(folder.path(), &["solve", "smd1", "--seed", "1", "--report", name]);
        assert_ne!(output.status.code(), Some(0), "{name}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("mine.html")).unwrap(), "<html>mine</html>");
    let both = ["solve", "smd1", "--seed", "1", "--report", "a.html", "--plot", "a.html"];
    assert!(stderr(&bilevo(folder.path(), &both)).contains("cannot be the same file"));
}
