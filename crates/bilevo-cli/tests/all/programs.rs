//! External programs, the audit and what remains of a run that is interrupted.

use crate::signals::{AGES, children_hear_signals, has, mask, within_ages};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const BILEVO: &str = env!("CARGO_BIN_EXE_bilevo");

fn bilevo(folder: &Path, args: &[&str]) -> Output {
    Command::new(BILEVO).current_dir(folder).args(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A problem file with a program and the boxes of smd1.
fn program(folder: &Path, head: &str) {
    let spec = bilevo::problems::problem("smd1", None).unwrap().spec().clone();
    let variables = |letter: &str, bounds: &[(f64, f64)]| {
        let one = |(i, (low, high)): (usize, &(f64, f64))| format!("{letter}{i} = [{low:?}, {high:?}]");
        bounds.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    };
    let (x, y) = (variables("x", spec.upper.space.bounds()), variables("y", spec.lower.space.bounds()));
    let text = format!(
        "name = \"smd1\"\n{head}\n[upper]\nvariables = {{ {x} }}\n[lower]\nvariables = {{ {y} }}\n\
         [best_known]\nupper = 0\nlower = 0\n"
    );
    std::fs::write(folder.join("plant.toml"), text).unwrap();
}

#[test]
fn a_problem_served_by_a_program_gives_the_run_of_the_problem_itself() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), &format!("command = [{BILEVO:?}, \"serve-problem\", \"smd1\"]\nbatch = 50"));
    let run = |problem: &str, jobs: &str| {
        let args = ["solve", problem, "--method", "bl-cma-es", "--seed", "3", "--format", "json", "--jobs", jobs];
        let args = [&args[..], &["--max-upper-evals", "60"]].concat();
        let result = json(&bilevo(folder.path(), &args));
        (result["x"].clone(), result["y"].clone(), result["evaluations"].clone())
    };
    let own = run("smd1", "1");
    assert!(own.0.is_array());
    assert_eq!(run("plant.toml", "1"), own);
    assert_eq!(run("plant.toml", "3"), own);
}

#[test]
fn a_problem_whose_follower_has_its_own_solver_is_served_too() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/programs").canonicalize().unwrap();
    let own = examples.join("own-follower.toml").display().to_string();
    let text = std::fs::read_to_string(&own).unwrap();
    let served = text.replace(r#"["python3", "drivers.py"]"#, &format!("[{BILEVO:?}, \"serve-problem\", {own:?}]"));
    assert_ne!(served, text);
    std::fs::write(folder.path().join("served.toml"), served).unwrap();
    let run = |problem: &str| {
        let args = ["solve", problem, "--seed", "3", "--max-evals", "40", "--format", "json"];
        let result = json(&bilevo(folder.path(), &args));
        (result["x"].clone(), result["y"].clone(), result["F"].clone(), result["evaluations"]["total"].clone())
    };
    let itself = run(&own);
    assert!(itself.0.is_array());
    assert_eq!(run("served.toml"), itself);
}

/// A solver need not say what its answer is worth to the follower; nobody is told that f is NaN.
#[test]
fn an_unknown_f_is_not_shown() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = "command = [\"python3\", \"solver.py\"]\n[upper]\nvariables = { x = [0, 8] }\n[follower]\n";
    let solver = r#"import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    answer = {"y": [8 - ask["x"][0]]} if ask["level"] == "follower" else {"value": ask["x"][0] - ask["y"][0]}
    print(json.dumps(answer | {"id": ask["id"]}), flush=True)
"#;
    std::fs::write(folder.path().join("own.toml"), file).unwrap();
    std::fs::write(folder.path().join("solver.py"), solver).unwrap();
    for args in [&["solve", "own.toml", "--seed", "1", "--max-evals", "20"][..], &["eval", "own.toml", "--x", "2"]] {
        let output = bilevo(folder.path(), args);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("  F  ") && !text.contains("  f  ") && !text.contains("NaN"), "{text}");
    }
}

#[test]
fn an_audit_is_part_of_the_result_and_of_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let good = bilevo(folder.path(), &["solve", "smd1", "--seed", "1", "--audit", "--format", "json"]);
    let result = json(&good);
    assert_eq!((good.status.code(), &result["audit"]["verdict"]), (Some(0), &"stands".into()), "{result}");
    assert!(result["audit"]["gap"].as_f64().unwrap() < 1e-4 && result["warnings"].as_array().unwrap().is_empty());
    let hasty = ["solve", "smd1", "--method", "bl-cma-es", "--seed", "1", "--target", "off", "--max-upper-evals", "1"];
    let hasty = [&hasty[..], &["--set", "lower.max_generations=1", "--audit"]].concat();
    let poor = bilevo(folder.path(), &hasty);
    assert_eq!(poor.status.code(), Some(1));
    let words = String::from_utf8_lossy(&poor.stderr);
    assert!(words.contains("warning[W606]: audit: the follower has a better answer"), "{words}");
    assert!(String::from_utf8_lossy(&poor.stdout).contains("a gap of"));
}

#[test]
fn the_position_decides_which_of_equal_answers_counts() {
    let folder = tempfile::tempdir().unwrap();
    let value = |position: &str| {
        let args = ["solve", "smd6", "--seed", "1", "--position", position, "--format", "json"];
        json(&bilevo(folder.path(), &args))["F"].as_f64().unwrap()
    };
    assert!(value("optimistic") < 1e-3);
    assert!(value("pessimistic") > 100.0);
}

/// The stated optimum is optimistic, so missing it says nothing about the pessimistic one.
#[test]
fn an_optimum_of_the_other_position_is_no_target() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["solve", "basblib/cw_1990_01", "--seed", "1", "--position", "pessimistic", "--format", "json"];
    let output = bilevo(folder.path(), &args);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !words.contains("W612"), "{words}");
    let found = json(&output);
    assert!((found["F"].as_f64().unwrap() + 9.5).abs() < 0.01, "{found}");
    for absent in ["accuracy", "solved", "target_met"] {
        assert!(found[absent].is_null(), "{absent}: {found}");
    }
}

#[test]
fn the_position_decides_where_the_search_goes() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[upper]\nminimize = \"(x-2)^2 + (y1-x)^2 + x*y2\"\nvariables = { x = [0, 4] }\n\
        [lower]\nminimize = \"(y1-x)^2\"\nvariables = { y1 = [-10, 10], y2 = [-1, 1] }\n";
    std::fs::write(folder.path().join("indifferent.toml"), file).unwrap();
    for (position, x, value) in [("optimistic", 2.5, -2.25), ("pessimistic", 1.5, 1.75)] {
        for method in ["auto", "tlea-de"] {
            let args = ["solve", "indifferent.toml", "--seed", "1", "-m", method, "--position", position];
            let result = json(&bilevo(folder.path(), &[&args[..], &["--format", "json"]].concat()));
            let (found, reached) = (result["x"][0].as_f64().unwrap(), result["F"].as_f64().unwrap());
            assert!(
                (found - x).abs() < 0.03 && (reached - value).abs() < 3e-3,
                "{method} {position} {found} {reached}"
            );
            assert_eq!(result["audit"]["verdict"], "proven");
        }
    }
    // The file may say it, too; the command has the last word.
    std::fs::write(folder.path().join("worst.toml"), format!("position = \"pessimistic\"\n{file}")).unwrap();
    for (option, x) in [(&[][..], 1.5), (&["--position", "optimistic"], 2.5)] {
        let args = [&["solve", "worst.toml", "--seed", "1", "--format", "json"], option].concat();
        let found = json(&bilevo(folder.path(), &args));
        assert!((found["x"][0].as_f64().unwrap() - x).abs() < 0.03, "{found}");
        assert_eq!(found["audit"]["verdict"], "proven");
    }
}

#[test]
fn a_method_that_fails_on_equalities_says_which_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[upper]\nminimize = \"x + y\"\nvariables = { x = [0, 1] }\n\
        [lower]\nminimize = \"y^2\"\nvariables = { y = [0, 1] }\nsubject_to = [\"x + y == 1\"]\n";
    std::fs::write(folder.path().join("equal.toml"), file).unwrap();
    let words = |method: &str| {
        let args = ["solve", "equal.toml", "--seed", "1", "--max-upper-evals", "1", "-m", method];
        String::from_utf8(bilevo(folder.path(), &args).stderr).unwrap()
    };
    assert!(words("bl-cma-es").contains("--method auto"), "{}", words("bl-cma-es"));
    assert!(!words("auto").contains("--method auto"));
}

#[test]
fn a_check_waits_for_a_silent_program_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plant.sh"), "echo started >> starts; exec sleep 1000").unwrap();
    program(folder.path(), "command = [\"sh\", \"plant.sh\"]\ntimeout = 0.1\nstart_timeout = 2");
    let output = bilevo(folder.path(), &["check", "plant.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(words.contains("no answer within") && words.contains("flush it?"), "{words}");
    assert!(words.contains("1 error") && !words.contains("evaluation "), "{words}");
    assert_eq!(std::fs::read_to_string(folder.path().join("starts")).unwrap(), "started\n");
}

/// Starts a run whose program hangs, with some signals ignored; the run, and the program as something to wait for.
fn hanging(folder: &Path, ignored: &[&str]) -> (Child, OwnedFd) {
    children_hear_signals();
    // The program tells its number through a pipe that somebody must read.
    assert!(Command::new("mkfifo").arg(folder.join("started")).status().unwrap().success());
    std::fs::write(folder.join("plant.sh"), "echo $$ > started; exec sleep 1000").unwrap();
    program(folder, "command = [\"sh\", \"plant.sh\"]\ntimeout = 1000");
    let traps: String = ignored.iter().map(|signal| format!("trap '' {signal}; ")).collect();
    let run = Command::new("sh")
        .current_dir(folder)
        .args(["-c", &format!("{traps}exec \"$@\""), "sh", BILEVO, "solve", "plant.toml", "--seed", "1"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pipe = folder.join("started");
    let number = within_ages(|| std::fs::read_to_string(pipe).unwrap());
    let pid = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
    (run, pidfd_open(pid, PidfdFlags::empty()).unwrap())
}

fn ends(process: &OwnedFd) -> bool {
    let time = Timespec { tv_sec: AGES.as_secs() as i64, tv_nsec: 0 };
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&time)).unwrap() > 0
}

/// Sends a signal to a run until it ends; how it ended.
fn stopped(mut run: Child, signal: Signal) -> Option<i32> {
    let (pid, words) = (Pid::from_child(&run), BufReader::new(run.stderr.take().unwrap()));
    kill_process(pid, signal).unwrap();
    if signal != Signal::KILL {
        // The first one asks to finish the batch, which never ends; the second does not ask.
        let asked = |line: String| line.contains("stopping after this batch");
        assert!(within_ages(move || words.lines().map(Result::unwrap).any(asked)));
        kill_process(pid, signal).unwrap();
    }
    within_ages(move || run.wait().unwrap()).code()
}

#[test]
fn no_program_survives_ctrl_c_or_a_killed_run() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        let folder = tempfile::tempdir().unwrap();
        let (run, program) = hanging(folder.path(), &[]);
        assert_eq!(stopped(run, signal), if signal == Signal::KILL { None } else { Some(130) }, "{signal:?}");
        assert!(ends(&program), "{signal:?}");
    }
}

/// `nohup`, and a script that starts a run in its background.
#[test]
fn what_was_ignored_before_the_run_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let (run, program) = hanging(folder.path(), &["HUP", "INT"]);
    for signal in [Signal::HUP, Signal::INT] {
        assert!(has(mask(run.id(), "SigIgn:"), signal.as_raw()), "{signal:?}");
        kill_process(Pid::from_child(&run), signal).unwrap();
    }
    assert_eq!(stopped(run, Signal::TERM), Some(130));
    assert!(ends(&program));
}
