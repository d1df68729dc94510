//! The program as a user meets it: output, messages, exit codes.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn bilevo(args: &[&str]) -> Output {
    bilevo_in(Path::new("."), args)
}

fn bilevo_in(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilevo"));
    command.current_dir(directory).args(args).env_remove("CLICOLOR_FORCE").output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// The JSON of a run that must succeed, with its timings taken out.
fn timeless(args: &[&str]) -> String {
    let output = bilevo(args);
    let text = stdout(&output);
    assert!(!text.is_empty(), "{}", stderr(&output));
    let keep = |line: &&str| !line.contains("seconds\":");
    text.lines().filter(keep).collect::<Vec<_>>().join("\n")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn solve_prints_one_json_object_with_the_agreed_keys() {
    let output = bilevo(&["solve", "smd1", "--seed", "3", "--format", "json"]);
    assert_eq!((code(&output), stderr(&output)), (0, ""));
    let result: Value = serde_json::from_str(stdout(&output)).unwrap();
    let agreed = [
        "problem",
        "method",
        "seed",
        "x",
        "y",
        "F",
        "f",
        "upper_violation",
        "lower_violation",
        "evaluations",
        "lower_searches",
        "accuracy",
        "target_met",
        "model_accuracy",
        "stop",
        "generations",
        "seconds",
    ];
    for key in agreed {
        assert!(result.get(key).is_some(), "`{key}` is missing");
    }
    let mut counts = keys(&result["evaluations"]);
    counts.retain(|key| *key != "retried");
    assert_eq!(counts, ["failed_lower", "failed_upper", "lower", "refine_lower", "total", "upper"]);
    assert_eq!(keys(&result["lower_searches"]), ["resampled", "run", "skipped"]);
    assert_eq!(keys(&result["accuracy"]), ["lower", "upper"]);
    assert_eq!((&result["method"], &result["seed"]), (&"portfolio".into(), &3.into()));
    assert_eq!(result["stop"], "target");
    assert!(result["accuracy"]["upper"].as_f64().unwrap() <= 1e-6);
    let evaluations = &result["evaluations"];
    let count = |key: &str| evaluations[key].as_u64().unwrap();
    assert_eq!(count("upper") + count("lower"), count("total"));
}

#[test]
fn accuracy_is_null_when_the_optimum_is_unknown() {
    let output = bilevo(&["solve", "gold-mining", "--seed", "3", "--format", "json", "--max-upper-evals", "50"]);
    let result: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((code(&output), &result["success"]), (1, &Value::Bool(false)), "the budget ended it");
    assert_eq!((&result["accuracy"], &result["target_met"]), (&Value::Null, &Value::Null));
}

#[test]
fn an_infeasible_problem_is_called_so_and_is_exit_code_one() {
    let output = bilevo(&["solve", "bolib/jointc1", "--seed", "1", "--audit"]);
    assert_eq!(code(&output), 1);
    let words = "no decision was found at which the follower's answer meets the leader's constraints; the smallest violation was 2.0";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
    assert!(!stdout(&output).contains("searches 0 run"), "{}", stdout(&output));
}

#[test]
fn what_went_well_is_not_painted_as_a_warning() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilevo"));
    let output = command.args(["solve", "smd1", "--seed", "1", "--target", "off", "--effort", "quick"]);
    let output = output.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let end = stdout(&output).lines().find(|line| line.contains("restarts agree") && line.contains("end")).unwrap();
    assert!(end.contains("\u{1b}[32m") && !end.contains("\u{1b}[33m"), "{end:?}");
}

#[test]
fn the_text_is_plain_when_nobody_looks_and_has_no_words_on_stderr() {
    let output = bilevo(&["solve", "smd1", "--seed", "3"]);
    assert_eq!((code(&output), stderr(&output)), (0, ""));
    let text = stdout(&output);
    assert!(!text.contains('\u{1b}'), "colours");
    for part in ["smd1 2+3", "seed 3", "target reached", "evaluations", "answer", "violation"] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn a_drawn_seed_is_printed_and_repeats_the_run() {
    let output = bilevo(&["solve", "smd1", "--format", "json"]);
    let result: Value = serde_json::from_str(stdout(&output)).unwrap();
    let seed = result["seed"].to_string();
    assert!(stderr(&output).contains(&format!("--seed {seed}")));
    let again = bilevo(&["solve", "smd1", "--format", "json", "--seed", &seed]);
    let again: Value = serde_json::from_str(stdout(&again)).unwrap();
    assert_eq!((&result["x"], &result["y"]), (&again["x"], &again["y"]));
}

#[test]
fn jobs_do_not_change_the_answer() {
    for method in ["bl-cma-es", "tlea-de", "cr-tlea-cma-es"] {
        let base = ["solve", "smd3", "-m", method, "--seed", "11", "--max-upper-evals", "100", "--format", "json"];
        let with = |jobs: &str| timeless(&[&base[..], &["--jobs", jobs]].concat());
        let one = with("1");
        assert_eq!(one, with("2"), "{method}");
        assert_eq!(one, with("0"), "{method}");
    }
}

#[test]
fn a_missed_target_and_a_budget_that_ends_a_run_are_exit_code_one() {
    let base = ["solve", "smd1", "--seed", "1", "--max-upper-evals", "8"];
    let missed = bilevo(&base);
    assert_eq!(code(&missed), 1);
    assert!(stdout(&missed).contains("best known value not reached"), "{}", stdout(&missed));
    assert!(stdout(&bilevo(&[&base[..], &["--format", "json"]].concat())).contains("\"target_met\": false"));
    assert_eq!(code(&bilevo(&[&base[..], &["--target", "on"]].concat())), 1);
    assert_eq!(code(&bilevo(&[&base[..], &["--target", "both"]].concat())), 1);
    let off = bilevo(&[&base[..], &["--target", "off"]].concat());
    assert_eq!((code(&off), stdout(&off).contains("not reached")), (1, false));
    assert!(stderr(&off).contains("the upper budget was spent before the restarts agreed"), "{}", stderr(&off));
}

#[test]
fn effort_decides_when_a_run_ends_and_the_answer_tells_how_it_was_verified() {
    let run = |effort: &str| -> serde_json::Value {
        let base = ["solve", "smd1", "--seed", "1", "--target", "off", "--effort", effort];
        let output = bilevo(&[&base[..], &["--format", "json"]].concat());
        serde_json::from_str(stdout(&output)).unwrap()
    };
    let (quick, normal) = (run("quick"), run("normal"));
    let of = |result: &serde_json::Value, key: &str| result["verification"][key].as_u64().unwrap();
    assert_eq!((&quick["stop"], &normal["stop"]), (&"agreed".into(), &"agreed".into()));
    assert!(of(&quick, "agreeing") == 2 && of(&normal, "agreeing") >= 3);
    assert!(of(&normal, "restarts") >= 3 && of(&normal, "rechecks") >= 2);
    assert_eq!(normal["verification"]["rechecked"], true);
    let text = bilevo(&["solve", "smd1", "--seed", "1", "--target", "off", "--effort", "quick"]);
    assert!(stdout(&text).contains("rechecked; 2 of 2 restarts agree"), "{}", stdout(&text));
    // What only those want who compare methods is shown for the methods they compare.
    let nested = bilevo(&["solve", "smd1", "--method", "cr-bl-cma-es", "--seed", "1"]);
    let inner = |output: &Output| ["\n  searches ", "\n  model "].map(|line| stdout(output).contains(line));
    assert_eq!((inner(&text), inner(&nested)), ([false; 2], [true; 2]));
    refused(&["solve", "smd1", "--method", "bl-cma-es", "--effort", "quick"], &["portfolio.effort"]);
}

/// The command must fail with exit code 2, print nothing on stdout and say all of `parts`.
fn refused(args: &[&str], parts: &[&str]) {
    let output = bilevo(args);
    let words = stderr(&output);
    assert_eq!((code(&output), stdout(&output)), (2, ""), "{args:?}: {words}");
    for part in parts {
        assert!(words.contains(part), "{args:?}: `{part}` is missing in\n{words}");
    }
    assert!(!words.contains("panicked"), "{words}");
    assert!(!words.contains("repeats this run"), "nothing ran: {words}");
}

#[test]
fn what_cannot_be_meant_is_refused_with_one_clear_message() {
    refused(&["solve"], &["<PROBLEM>"]);
    refused(&["slove", "smd1"], &["slove", "solve"]);
    refused(&["solve", "smd1", "--methd", "boc"], &["--method"]);
    refused(&["solve", "smb1"], &["there is no problem `smb1`", "did you mean `smd1`?"]);
    refused(&["solve", ""], &["there is no problem"]);
    refused(&["solve", "toll.tml"], &["error[E101]: there is no problem or file `toll.tml`", "ends in `.toml`"]);
    refused(&["solve", "/"], &["error[E404]: `/` is a folder", "hint: name the problem file in it"]);
    refused(&["solve", "smd1", "--report", "run.pdf"], &["`--report run.pdf` is not the name of a page", "hint:"]);
    refused(&["solve", "smd1", "--jobs", "-3"], &["expected a whole number from 0 to 1024"]);
    refused(
        &["solve", "smd1", "--known", "none.csv"],
        &["error[E401]", "there is no such file\nhint: is the path right?"],
    );
    refused(&["solve", "smd1", "--x0", "1 2 3"], &["error[E207]: start 1 has 3 numbers for x, which has 2 variables"]);
    refused(&["explain", "upper.populaton"], &["there is no method or problem", "`bilevo list settings`"]);
    refused(&["solve", "smd1", "-m", "tlea-dd"], &["did you mean `tlea-de`?"]);
    refused(&["explain", "bl-cma-se"], &["did you mean `bl-cma-es`?"]);
    refused(&["explain", "xyzzy"], &["error[E101]: there is no method or problem `xyzzy`", "`bilevo list problems`"]);
    refused(&["list"], &["[possible values: problems, methods, parts, settings]"]);
    refused(&["list", "problem"], &["problems"]);
    refused(&["man", "slove"], &["did you mean `solve`?"]);
    for seed in ["-1", "1.5", "x", "", "18446744073709551616"] {
        refused(&["solve", "smd1", "--seed", seed], &["--seed", "whole number from 0 to 18446744073709551615"]);
    }
    for dims in ["0+3", "2+0", "-2+3", "2", "2x3", "+", "2+3+4", "99999999999999999999+1"] {
        refused(&["solve", "smd1", "--dims", dims], &["--dims", "as in 2+3"]);
    }
    refused(&["solve", "smd1", "--dims", "1000000+3"], &["more than 1000 variables"]);
    refused(&["solve", "tp1", "--dims", "5+5"], &["tp1", "2+2"]);
    refused(&["solve", "smd1", "--max-upper-evals", "0"], &["stop.max_upper_evals"]);
    refused(&["solve", "smd1", "--max-lower-evals", "-5"], &["--max-lower-evals"]);
    refused(&["solve", "smd1", "--jobs", "-1"], &["--jobs"]);
    refused(&["solve", "smd1", "--jobs", "100000"], &["--jobs"]);
    refused(&["solve", "smd1", "--target", "maybe"], &["--target"]);
    refused(&["solve", "gold-mining", "--target", "on"], &["best known value"]);
    refused(&["solve", "smd1", "--set", "allocator.windw=3"], &["did you mean `allocator.window`?"]);
    for (assignment, hint) in [
        ("allocator.window=big", "hint: it takes a whole number"),
        ("upper.population=1.5", "a whole number from 4 to 1000000, or null"),
        ("allocator.keep=much", "hint: it takes a number"),
        ("allocator.kind=3", "hint: it takes all, random or contrastive"),
        ("allocator.keep_max=7", "hint: it must lie between 0.01 and 1\n"),
        ("allocator.keep=0.5", "is not used by this method\nhint: it is used with allocator.kind = random"),
        ("stop.flat_tolerance=-1", "hint: it must be at least 0\n"),
        ("stop.max_upper_evals=9999999999999999", "hint: it must be at most 1e15\n"),
        ("no.such=1", "`bilevo explain METHOD`"),
    ] {
        let key = assignment.split('=').next().unwrap();
        let method = ["--method", "cr-tlea-cma-es"];
        refused(&[&["solve", "smd1", "--seed", "1", "--set", assignment][..], &method].concat(), &[key, hint]);
    }
    refused(&["solve", "smd1", "--target", "on", "--set", "stop.target=off"], &["`--target` and `--set stop.target`"]);
    refused(
        &["solve", "smd1", "--max-lower-evals", "9", "--set", "stop.max_lower_evals=9"],
        &["`--max-lower-evals` and `--set stop.max_lower_evals`"],
    );
    refused(&["solve", "smd1", "-m", "cr-tlea"], &["did you mean `cr-tlea-"]);
    refused(&["solve", "smd1", "--set", "window"], &["KEY=VALUE"]);
    refused(&["solve", "smd1", "--retries", "-1"], &["--retries"]);
    refused(&["solve", "smd1", "--trace", "no/such/directory/t.jsonl"], &["cannot write the trace"]);
    refused(&["eval", "smd1", "--x", "1 2", "--y", "1 2"], &["`--y` has 2 numbers", "takes 3"]);
    refused(&["eval", "smd1", "--x", "1", "--y", "1 2 3"], &["`--x` has 1 number,"]);
    refused(&["eval", "smd1", "--x", "1 two", "--y", "1 2 3"], &["`two` is not a finite number"]);
    refused(&["eval", "smd1", "--x", "nan 1", "--y", "1 2 3"], &["not a finite number"]);
}

#[test]
fn eval_gives_objectives_and_constraints() {
    let output = bilevo(&["eval", "smd12", "--x", "1,-1", "--y", "1, 2 0.5", "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let result: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(result["upper_constraints"].as_array().unwrap().len(), 3);
    assert_eq!(result["lower_constraints"].as_array().unwrap().len(), 3);
    assert_eq!(result["inside_box"], true);
    let output = bilevo(&["eval", "smd1", "--x", "1 2", "--y", "0 3 0"]);
    let unconstrained = bilevo(&["eval", "smd1", "--x", "1 2", "--y", "0 3 0", "--format", "json"]);
    assert!(!stdout(&unconstrained).contains("-0.0"), "{}", stdout(&unconstrained));
    assert!(stdout(&output).contains("18") && stdout(&output).contains("14"));
    let larger = bilevo(&["eval", "smd1", "--dims", "5+5", "--x", "1 2 3 4 5", "--y", "0 3 0 0 0"]);
    assert_eq!(code(&larger), 0);
    let outside = bilevo(&["eval", "smd1", "--x", "1 2000", "--y", "0 3 0"]);
    assert!(stdout(&outside).contains("outside"));
}

#[test]
fn list_and_explain_cover_everything() {
    let names = |what: &str| -> Vec<String> {
        let output = bilevo(&["list", what, "--format", "json"]);
        let rows: Vec<Value> = serde_json::from_str(stdout(&output)).unwrap();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_string()).collect()
    };
    let text = bilevo(&["list", "problems"]);
    let problems = names("problems");
    assert!(problems.len() >= 25 && problems.iter().all(|name| stdout(&text).contains(name)));
    let methods = names("methods");
    assert_eq!(methods.len(), 5 * 10 + 2, "five bases in ten variants, portfolio and exchange-cma-es");
    for method in &methods {
        let output = bilevo(&["explain", method]);
        let text = stdout(&output);
        assert_eq!(code(&output), 0);
        for part in [method.as_str(), "Step by step", "upper.initial_step", "Source"] {
            assert!(text.contains(part), "{method}: {part}");
        }
        let contrastive = method.starts_with("cr-") || method == "portfolio";
        assert_eq!(text.contains("allocator.hidden"), contrastive, "{method}: what it does not use is not shown");
        let reconstructed = method.contains("motea") || method.contains("boc");
        assert_eq!(text.contains("reconstructed from the published description"), reconstructed, "{method}");
    }
}

#[test]
fn parts_and_settings_are_listed_by_the_names_that_set_takes() {
    let list =
        |what| -> Vec<Value> { serde_json::from_str(stdout(&bilevo(&["list", what, "--format", "json"]))).unwrap() };
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_string();
    let settings: Vec<String> = list("settings").iter().map(|row| text(row, "setting")).collect();
    let parts = list("parts");
    assert!(settings.len() > 35 && parts.len() >= 11, "{} settings, {} parts", settings.len(), parts.len());
    for part in &parts {
        let (setting, name) = (text(part, "setting"), text(part, "name"));
        assert!(settings.contains(&setting) && !text(part, "about").is_empty(), "{part}");
        assert!(stdout(&bilevo(&["list", "parts"])).contains(&name));
    }
    let listed = bilevo(&["list", "settings"]);
    assert!(settings.iter().all(|path| stdout(&listed).contains(path)));
}

#[test]
fn completions_and_manual_are_generated() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = bilevo(&["completions", shell]);
        assert!(code(&output) == 0 && stdout(&output).contains("solve"), "{shell}");
        // The other two complete no values.
        if ["bash", "zsh", "fish"].contains(&shell) {
            for known in ["cr-tlea-de-capped", "allocator.window=", "lower.kind=transfer_cma"] {
                assert!(stdout(&output).contains(known), "{shell} completes {known}");
            }
        }
    }
    assert!(stdout(&bilevo(&["man"])).contains(".TH bilevo"));
    assert!(stdout(&bilevo(&["man", "solve"])).contains("max\\-upper\\-evals"));
    assert!(!stdout(&bilevo(&["solve", "--help"])).contains("--inject"));
    assert_eq!(code(&bilevo(&["--version"])), 0);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    use std::process::Stdio;
    // The pipe is closed before anything is read from it.
    let mut child = Command::new(env!("CARGO_BIN_EXE_bilevo"))
        .args(["list", "methods"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output)), (0, ""));
}

#[test]
fn a_misbehaving_problem_is_counted_or_stops_the_run_with_a_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let base = ["solve", "smd1", "--seed", "2", "--max-upper-evals", "20", "--target", "off", "--format", "json"];
    for fault in ["nan:9", "inf:9", "shape:9", "panic:9", "error:9"] {
        let output = bilevo_in(directory.path(), &[&base[..], &["--inject", fault]].concat());
        assert_eq!(code(&output), 1, "{fault}");
        // The first one is told with its point, the others are counted.
        let told: Vec<&str> = stderr(&output).lines().collect();
        assert!(told[0].starts_with("warning[W301]: the first failed evaluation, at the lower level: "), "{told:?}");
        assert!(told[1].starts_with("  at x = ["), "{told:?}");
        assert_eq!(told.iter().filter(|line| line.contains("failed evaluation")).count(), 1, "{told:?}");
        let result: Value = serde_json::from_str(stdout(&output)).unwrap();
        assert!(result["evaluations"]["failed_lower"].as_u64().unwrap() > 0, "{fault}");

        let stopping = [&base[..], &["--inject", fault, "--on-failure", "stop", "--retries", "1"]].concat();
        let output = bilevo_in(directory.path(), &stopping);
        let words = stderr(&output);
        assert_eq!((code(&output), stdout(&output)), (2, ""), "{fault}");
        assert!(words.contains("lower evaluation") && words.contains("x = [") && words.contains("--resume"), "{words}");
        assert!(!words.contains("panicked at"), "{words}");
        let file = "smd1-2+3-portfolio-2.checkpoint";
        assert!(words.contains(file), "{words}");
        let output = bilevo_in(directory.path(), &["solve", "--resume", file, "--format", "json"]);
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        std::fs::remove_file(directory.path().join(file)).unwrap();
    }
    let mended = bilevo(&[&base[..], &["--inject", "flaky:9", "--on-failure", "stop", "--retries", "1"]].concat());
    assert_eq!(code(&mended), 1, "{}", stderr(&mended));
}
