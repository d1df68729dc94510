//! `bilevo new` and `bilevo check` as a user meets them.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn bilevo(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilevo"));
    command.current_dir(folder).args(args).env_remove("CLICOLOR_FORCE").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

const TEMPLATES: [&str; 4] = ["empty", "toll", "tax", "stackelberg"];

#[test]
fn every_template_is_a_sound_file_with_the_name_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for template in TEMPLATES {
        let name = format!("my-{template}");
        let output = bilevo(folder.path(), &["new", &name, "--template", template]);
        assert_eq!((code(&output), text(&output.stdout)), (0, ""), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(&format!("bilevo check {name}.toml")));
        let output = bilevo(folder.path(), &["check", &format!("{name}.toml"), "--format", "json"]);
        let report: Value = serde_json::from_str(text(&output.stdout)).unwrap();
        assert_eq!((code(&output), &report["errors"]), (0, &Value::from(0)), "{report}");
        assert_eq!(report["problem"]["name"], name);
        // The leader of the tax limits what the follower leaves; that deserves a second look.
        assert_eq!(report["warnings"], u8::from(template == "tax"), "{report}");
        assert!(report["problem"]["lower_seconds"].as_f64().unwrap() > 0.0);
    }
}

/// What a new user does first must not end with a warning about digits.
#[test]
fn every_template_is_solved_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    for template in TEMPLATES {
        bilevo(folder.path(), &["new", template, "--template", template]);
        for seed in ["1", "2", "3"] {
            let output = bilevo(folder.path(), &["solve", &format!("{template}.toml"), "--seed", seed]);
            assert_eq!(code(&output), 0, "{template} {seed}");
            // A slow machine is told how the run gets on.
            assert!(!text(&output.stderr).contains("warning"), "{template} {seed}: {}", text(&output.stderr));
            assert!(!text(&output.stdout).contains("not reached"), "{template} {seed}: {}", text(&output.stdout));
        }
    }
}

#[test]
fn the_program_template_brings_a_script_that_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(code(&bilevo(folder.path(), &["new", "plant", "--template", "program"])), 0);
    let script = std::fs::read_to_string(folder.path().join("plant.py")).unwrap();
    assert!(script.contains("json.loads"));
    let file = std::fs::read_to_string(folder.path().join("plant.toml")).unwrap();
    assert!(file.contains("command = [\"python3\", \"plant.py\"]"));
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let output = bilevo(folder.path(), &["check", "plant.toml", "--format", "json"]);
    let report: Value = serde_json::from_str(text(&output.stdout)).unwrap();
    assert_eq!((code(&output), &report["errors"]), (0, &Value::from(0)), "{report}");
}

#[test]
fn new_never_writes_over_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.toml"), "precious").unwrap();
    for name in ["mine", "mine.toml"] {
        let output = bilevo(folder.path(), &["new", name]);
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).contains("error[E403]: `mine.toml` exists already"), "{}", text(&output.stderr));
    }
    // A template of two files writes neither if one is there.
    std::fs::write(folder.path().join("plant.py"), "precious").unwrap();
    assert_eq!(code(&bilevo(folder.path(), &["new", "plant", "--template", "program"])), 2);
    assert!(!folder.path().join("plant.toml").exists());
    for file in ["mine.toml", "plant.py"] {
        assert_eq!(std::fs::read_to_string(folder.path().join(file)).unwrap(), "precious");
    }
    let output = bilevo(folder.path(), &["new", "two words"]);
    assert!(text(&output.stderr).ends_with("then `bilevo solve 'two words.toml'`\n"), "{}", text(&output.stderr));
    let output = bilevo(folder.path(), &["solve", "mine"]);
    assert!(text(&output.stderr).contains("did you mean `mine.toml`?"), "{}", text(&output.stderr));
    let output = bilevo(folder.path(), &["new", "no/such/folder/x"]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("hint:"), "{}", text(&output.stderr));
}

#[test]
fn mistakes_end_with_code_2_and_are_shown_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    bilevo(folder.path(), &["new", "toll", "--template", "toll"]);
    let path = folder.path().join("toll.toml");
    let wrong = std::fs::read_to_string(&path).unwrap().replace("t * y\"", "t * yy\"");
    std::fs::write(&path, wrong).unwrap();
    let output = bilevo(folder.path(), &["check", "toll.toml"]);
    assert_eq!((code(&output), text(&output.stderr)), (2, ""));
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("error[E103]: toll.toml:7:17: upper.maximize: unknown name `yy`; did you mean `y`?\n"),
        "{shown}"
    );
    assert!(shown.ends_with("toll.toml: 1 error, 0 warnings\n"), "{shown}");
    let output = bilevo(folder.path(), &["check", "absent.toml"]);
    assert_eq!(code(&output), 2);
    let (first, rest) = text(&output.stdout).split_once('\n').unwrap();
    assert_eq!(first, "error[E103]: absent.toml: cannot be read: there is no such file");
    assert!(rest.starts_with("hint: is the path right?") && !rest.contains('|'), "{rest}");
    let output = bilevo(folder.path(), &["solve", "tol.toml"]);
    let shown = text(&output.stderr);
    assert!(shown.contains("there is no such file; did you mean `toll.toml`?"), "{shown}");
}

#[test]
fn the_estimate_is_that_of_the_method_and_equations_are_told_to_those_that_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[upper]\nminimize = \"x + y\"\nvariables = { x = [0, 1] }\n\
        [lower]\nminimize = \"y^2\"\nvariables = { y = [0, 1] }\nsubject_to = [\"x + y == 1\"]\n";
    std::fs::write(folder.path().join("equal.toml"), file).unwrap();
    let check = |method: &str| -> Value {
        let args = ["check", "equal.toml", "-m", method, "--format", "json"];
        serde_json::from_str(text(&bilevo(folder.path(), &args).stdout)).unwrap()
    };
    let (default, nested) = (check("auto"), check("bl-cma-es"));
    assert_eq!((&default["warnings"], &nested["warnings"]), (&Value::from(0), &Value::from(1)), "{nested}");
    let remark = &nested["remarks"][0];
    assert_eq!((&remark["line"], &remark["field"]), (&Value::from(7), &Value::from("lower.subject_to[1]")));
    assert!(remark["hint"].as_str().unwrap().contains("--method auto"));
    assert_eq!(default["problem"]["run"]["method"], "portfolio");
    // What test runs of this size took, each evaluation at 30 microseconds of the method's own.
    let run = &default["problem"]["run"];
    let [low, high] = [0, 1].map(|end| run["evaluations"][end].as_f64().unwrap());
    assert!(low >= 100.0 && high > low, "{default}");
    let least = run["seconds"][0].as_f64().unwrap();
    assert!((30e-6 * low..2.0).contains(&least), "{default}");
    // The published budget of this size: 1,500 searches of 150 evaluations, and one of each answer.
    assert_eq!(nested["problem"]["run"]["evaluations"][1], 226_500);
    assert_eq!(code(&bilevo(folder.path(), &["check", "equal.toml", "-m", "no-such"])), 2);
}

#[test]
fn auto_says_where_it_hands_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = |size: usize| {
        format!(
            "[upper]\nminimize = \"sum(x) + sum(y)\"\nvariables = {{ x = {{ size = 50, bounds = [0, 1] }} }}\n\
             [lower]\nminimize = \"sum(i in 1..{size}, (y[i] - x[1])^2)\"\n\
             variables = {{ y = {{ size = {size}, bounds = [0, 1] }} }}\n"
        )
    };
    for (size, method) in [(50, "portfolio"), (51, "cr-tlea-cma-es")] {
        std::fs::write(folder.path().join("many.toml"), file(size)).unwrap();
        let said = |notice: &Value| notice.as_str().is_some_and(|words| words.contains("101 variables"));
        let checked = bilevo(folder.path(), &["check", "many.toml", "--format", "json"]);
        let checked: Value = serde_json::from_str(text(&checked.stdout)).unwrap();
        assert_eq!(checked["problem"]["run"]["method"], method);
        // No test problem of the default method is as large: its evaluations are not guessed.
        assert_eq!(checked["problem"]["run"]["evaluations"][1].is_null(), size == 50);
        assert_eq!(said(&checked["problem"]["notice"]), size == 51, "{checked}");
        let solve = ["solve", "many.toml", "--seed", "1", "--max-lower-evals", "1"];
        let solved = bilevo(folder.path(), &[&solve[..], &["--format", "json"]].concat());
        let solved: Value = serde_json::from_str(text(&solved.stdout)).unwrap();
        assert_eq!(solved["method"], method);
        assert_eq!(said(&solved["notice"]), size == 51, "{solved}");
        let words = bilevo(folder.path(), &solve);
        assert_eq!(text(&words.stdout).contains("`auto` is `cr-tlea-cma-es`"), size == 51);
    }
    let named = ["solve", "many.toml", "--seed", "1", "--max-lower-evals", "1", "-m", "portfolio"];
    assert!(text(&bilevo(folder.path(), &named).stdout).contains("· portfolio ·"));
    let explained = bilevo(folder.path(), &["explain", "auto"]);
    assert!(text(&explained.stdout).contains("With more than 100 variables, `auto` switches to `cr-tlea-cma-es`"));
    assert!(text(&explained.stdout).contains("With whole numbers, `auto` switches to `exchange-cma-es`"));
}

#[test]
fn a_program_that_cannot_be_started_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file =
        "command = ['./no-such-program']\n[upper]\nvariables = { x = [0, 1] }\n[lower]\nvariables = { y = [0, 1] }\n";
    std::fs::write(folder.path().join("p.toml"), file).unwrap();
    let output = bilevo(folder.path(), &["check", "p.toml"]);
    assert_eq!(code(&output), 2);
    let shown = text(&output.stdout);
    assert!(shown.contains("p.toml:1:1: command:") && shown.contains("no-such-program"), "{shown}");
    assert!(shown.ends_with("p.toml: 1 error, 0 warnings\n"), "{shown}");
}

#[test]
fn a_program_in_a_folder_of_its_evaluation_finds_its_way_home() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("factor"), "2").unwrap();
    let script = folder.path().join("plant.sh");
    std::fs::write(&script, "#!/bin/sh\necho $(cat $1/factor) > report\n").unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&script).status().unwrap().success());
    for command in [r#"["sh", "{home}/plant.sh", "{home}"]"#, r#"["./plant.sh", "{home}"]"#] {
        let file = format!(
            "command = {command}\n[once]\noutput = \"report\"\nown_folder = true\n\
             [upper]\nvariables = {{ x = [0, 1] }}\n[lower]\nvariables = {{ y = [0, 1] }}\n"
        );
        std::fs::write(folder.path().join("p.toml"), file).unwrap();
        let output = bilevo(folder.path(), &["eval", "p.toml", "--x", "0", "--y", "0", "--format", "json"]);
        assert!(text(&output.stdout).contains("2"), "{command}: {}", text(&output.stderr));
        assert_eq!(code(&output), 0, "{command}: {}", text(&output.stderr));
    }
}
