//! `bilevo experiment` as a real process: killed, interrupted, started twice, and exporting.

use bilevo::Times;
use bilevo_lab::row::Row;
use bilevo_lab::store::{Filter, Store};
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

const GRID: &str = r#"
methods = ["bl-cma-es", "tlea-cma-es"]
problems = ["smd1", "smd3", "tp1"]
runs = 4
"#;
const RUNS: u64 = 4;
/// So many that a process which is to be disturbed cannot come to its end before.
const ENDLESS: &str = "20000";

fn bilevo(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilevo"));
    command.current_dir(folder).arg("experiment").args(arguments).stdin(Stdio::null());
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    bilevo(folder, arguments).output().unwrap()
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("grid.toml"), GRID).unwrap();
    folder
}

/// A running grid with its progress lines.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts the grid with `runs` instead of its own number of runs.
    fn start(folder: &Path, runs: &str) -> Running {
        let mut command = bilevo(folder, &["run", "grid.toml", "--runs", runs, "--jobs", "2", "--format", "json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running { child, lines }
    }

    /// Waits until at least so many runs are in the store; false if the grid ended before.
    fn until(&mut self, runs: usize) -> bool {
        for line in self.lines.by_ref() {
            let progress: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            if progress["done"].as_u64().unwrap() as usize >= runs {
                return true;
            }
        }
        false
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end without closing the pipe; the exit code and stderr.
    fn end(mut self) -> (Option<i32>, String) {
        self.lines.by_ref().for_each(drop);
        let words = std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap();
        (self.child.wait().unwrap().code(), words)
    }
}

impl Drop for Running {
    /// A failed test leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The grid's own rows with traces, times set to zero.
fn rows(folder: &Path) -> Vec<Row> {
    let store = Store::read(&folder.join("grid.db")).unwrap();
    let mut rows = store.rows(&Filter::all().with_traces()).unwrap();
    rows.retain(|row| row.id().seed <= RUNS);
    rows.iter_mut().for_each(|row| row.result.times = Times::default());
    rows
}

/// Lets the grid come to its end and compares its rows with those of a grid left in peace.
fn ends_like_an_undisturbed_one(disturbed: &Path) {
    let peaceful = folder();
    for folder in [disturbed, peaceful.path()] {
        let output = output(folder, &["run", "grid.toml"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    }
    let expected = rows(peaceful.path());
    assert_eq!(expected.len() as u64, 2 * 3 * RUNS);
    assert_eq!(rows(disturbed), expected);
}

#[test]
fn killed_five_times_the_grid_ends_with_the_same_rows() {
    let folder = folder();
    for moment in [0, 3, 7, 8, 20] {
        let mut running = Running::start(folder.path(), ENDLESS);
        assert!(running.until(moment));
        running.kill();
        let stored = Store::read(&folder.path().join("grid.db")).unwrap().count().unwrap();
        assert!(stored >= moment as u64, "{stored} rows after a kill at {moment}");
    }
    ends_like_an_undisturbed_one(folder.path());
}

#[cfg(unix)]
#[test]
fn interrupted_it_says_how_to_go_on() {
    let folder = folder();
    crate::signals::children_hear_signals();
    let mut running = Running::start(folder.path(), ENDLESS);
    assert!(running.until(2));
    crate::signals::send("-INT", running.child.id());
    let (code, words) = running.end();
    assert_eq!(code, Some(130), "{words}");
    assert!(words.contains("the same command continues"), "{words}");
    assert!(Store::read(&folder.path().join("grid.db")).unwrap().count().unwrap() >= 2);
    ends_like_an_undisturbed_one(folder.path());
}

#[test]
fn a_second_process_is_told_and_nothing_is_damaged() {
    let folder = folder();
    let mut first = Running::start(folder.path(), ENDLESS);
    assert!(first.until(1));
    let second = output(folder.path(), &["run", "grid.toml"]);
    let message = words(&second.stderr);
    let pid = first.child.id().to_string();
    assert_eq!(second.status.code(), Some(2), "{message}");
    assert!(message.contains("is writing to") && message.contains(&pid), "{message}");
    // reading is possible all the time
    let status = output(folder.path(), &["status", "--store", "grid.db", "--format", "json"]);
    assert_eq!(status.status.code(), Some(0), "{}", words(&status.stderr));
    first.kill();
    ends_like_an_undisturbed_one(folder.path());
}

#[test]
fn stdout_has_data_and_stderr_words() {
    let folder = folder();
    let flags =
        ["-m", "bl-cma-es", "-p", "tp1,smd1", "--runs", "2", "--set", "stop.max_upper_evals=60", "--store", "a.db"];
    let run = output(folder.path(), &[&["run"][..], &flags].concat());
    assert_eq!((run.status.code(), words(&run.stdout)), (Some(0), String::new()));
    assert!(words(&run.stderr).contains("4 runs done"));
    let again = output(folder.path(), &[&["run"][..], &flags].concat());
    assert!(words(&again.stderr).contains("0 runs done, 4 were there before"));

    let status = output(
        folder.path(),
        &["status", "--store", "a.db", "-m", "bl-cma-es", "-p", "tp1", "--runs", "3", "--format", "json"],
    );
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((status["rows"].as_u64(), status["cells"][0]["runs"].as_u64()), (Some(4), Some(2)));
    assert_eq!(status["cells"][0]["settings"], "stop.max_upper_evals=60");
    assert_eq!(status["grid"]["missing"], 3, "the rows have other settings");

    let csv = output(folder.path(), &["export", "--store", "a.db", "--format", "csv"]);
    assert_eq!(words(&csv.stdout).lines().count(), 5);
    let lines = output(folder.path(), &["export", "--store", "a.db", "--format", "jsonl", "-p", "smd1", "--traces"]);
    let first: serde_json::Value = serde_json::from_str(words(&lines.stdout).lines().next().unwrap()).unwrap();
    assert_eq!((&first["problem"], words(&lines.stdout).lines().count()), (&"smd1".into(), 2));
    assert_eq!(first["config"]["stop"]["max_upper_evals"], 60);
    assert!(!first["trace"].as_array().unwrap().is_empty());
    let curves = output(folder.path(), &["export", "--store", "a.db", "--format", "ioh", "--out", "curves"]);
    assert_eq!((curves.status.code(), words(&curves.stdout)), (Some(0), String::new()));
    assert!(folder.path().join("curves").read_dir().unwrap().count() > 0);
}

const TOLL: &str = r#"
name = "toll"
[upper]
maximize = "t * q"
variables = { t = [0, 10] }
[lower]
minimize = "(q - 8 + t)^2"
variables = { q = [0, 10] }
[best_known]
upper = 16.0
"#;

/// The follower takes the least; so does the leader.
const PLANT: &str = r#"
name = "plant"
command = ["sh", "plant.sh"]
[upper]
variables = { t = [0, 10] }
[lower]
variables = { q = [0, 10] }
"#;
const ANSWERS: &str = r#"
while read -r line; do
    id=${line#*\"id\":}; q=${line##*[}
    echo "{\"id\":${id%%,*},\"value\":${q%%]*}}"
done
"#;

#[cfg(unix)]
#[test]
fn files_and_programs_are_problems_like_any_other() {
    let folder = folder();
    let inner = folder.path().join("problems");
    std::fs::create_dir(&inner).unwrap();
    for (name, text) in [("toll.toml", TOLL), ("plant.toml", PLANT), ("plant.sh", ANSWERS)] {
        std::fs::write(inner.join(name), text).unwrap();
    }
    let grid = "methods = ['bl-cma-es']\nproblems = ['toll.toml', 'plant.toml', 'tp1']\nruns = 2\n\
        [[settings]]\nstop.max_upper_evals = 40\nlower.max_generations = 3\n";
    std::fs::write(inner.join("own.toml"), grid).unwrap();
    let run = |found: &str| {
        let run = output(folder.path(), &["run", "problems/own.toml"]);
        assert_eq!(run.status.code(), Some(0), "{}", words(&run.stderr));
        assert!(words(&run.stderr).contains(found), "{}", words(&run.stderr));
    };
    run("6 runs done, 0 were there before");
    run("0 runs done, 6 were there before");
    // An edited file is another problem; the others stay as they are.
    std::fs::write(inner.join("toll.toml"), TOLL.replace("q - 8", "q - 7")).unwrap();
    run("2 runs done, 4 were there before");
    let rows = output(folder.path(), &["export", "--store", "problems/own.db", "--format", "jsonl", "--all"]);
    let rows: Vec<serde_json::Value> =
        words(&rows.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &'static str| rows.iter().filter(move |row| row["problem"] == name);
    assert_eq!([of("toll").count(), of("plant").count(), of("tp1").count()], [4, 2, 2]);
    let hash = |row: &serde_json::Value| row["problem_hash"].as_str().unwrap().to_string();
    assert_eq!(of("toll").map(hash).collect::<std::collections::BTreeSet<_>>().len(), 2);
    assert!(of("plant").all(|row| !hash(row).is_empty() && row["F"].as_f64().unwrap() < 1.0));
    assert!(of("tp1").all(|row| hash(row).is_empty()));
    assert!(of("toll").all(|row| row["accuracy"]["upper"].is_f64()));
}

#[test]
fn progress_lines_name_the_run() {
    let folder = folder();
    let grid = ["-m", "boc", "-p", "tp1,smd1", "--dims", "2+3", "--runs", "1", "--set", "stop.max_upper_evals=60"];
    let run = output(folder.path(), &[&["run", "--jobs", "1", "--format", "json"][..], &grid].concat());
    assert_eq!(run.status.code(), Some(0), "{}", words(&run.stderr));
    assert!(words(&run.stderr).contains("the sizes do not apply to tp1"), "{}", words(&run.stderr));
    let text = words(&run.stdout);
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!((&lines[0]["method"], &lines[0]["seed"]), (&"boc".into(), &1.into()));
    let cell =
        |k: usize| (lines[k]["problem"].as_str(), lines[k]["upper_dim"].as_u64(), lines[k]["lower_dim"].as_u64());
    assert_eq!([cell(0), cell(1)], [(Some("tp1"), Some(2), Some(2)), (Some("smd1"), Some(2), Some(3))]);
}

#[test]
fn mistakes_are_refused_before_anything_runs() {
    let folder = folder();
    std::fs::write(folder.path().join("bad.toml"), "methods = ['boc']\nproblems = ['smd13']\n").unwrap();
    std::fs::write(folder.path().join("notes.db"), "not a store").unwrap();
    for (arguments, message) in [
        (&["run", "bad.toml"][..], "line 2: there is no problem `smd13`"),
        (&["run", "none.toml"], "cannot read `none.toml`: there is no such file\nhint: is the path right?"),
        (&["run", "/dev/zero"], "cannot read `/dev/zero`: it is not an ordinary file"),
        (&["run"], "there is nothing to run"),
        (&["run", "-m", "boc"], "the grid has no problems"),
        (&["run", "-m", "bocc", "-p", "smd1"], "did you mean `boc`?"),
        (&["run", "grid.toml", "--store", "notes.db"], "is not a bilevo store"),
        (&["run", "grid.toml", "-m", "boc"], "cannot be used with"),
        (&["run", "-m", "boc", "-p", "tp1", "--dims", "5+5"], "only 2+2"),
        (&["status", "--store", "none.db"], "error[E401]: there is no store"),
        (&["export", "--store", "none.db", "--format", "csv", "--traces"], "CSV cannot hold"),
        (&["export", "--store", "none.db", "--format", "ioh"], "--out"),
    ] {
        let refused = output(folder.path(), arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(words(&refused.stderr).contains(message), "{arguments:?}: {}", words(&refused.stderr));
    }
    let left: Vec<_> = folder.path().read_dir().unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
    assert_eq!(std::fs::read(folder.path().join("notes.db")).unwrap(), b"not a store");
}

#[test]
fn auto_resumes_and_is_the_method_that_solve_runs() {
    let folder = folder();
    // Beyond 100 variables `auto` is another method.
    for dims in ["2+3", "60+60"] {
        let grid = ["run", "--methods", "auto", "--problems", "smd1", "--dims", dims, "--runs", "1", "--store", "a.db"];
        let limit = ["--set", "stop.max_upper_evals=3", "--set", "stop.max_lower_evals=200"];
        let arguments = [&grid[..], &limit].concat();
        assert!(words(&output(folder.path(), &arguments).stderr).contains("1 runs done, 0 were there before"));
        let again = output(folder.path(), &arguments);
        assert!(words(&again.stderr).contains("0 runs done, 1 were there before"), "{}", words(&again.stderr));
        let solve = ["solve", "smd1", "--dims", dims, "--seed", "1", "--format", "json"];
        let mut solved = Command::new(env!("CARGO_BIN_EXE_bilevo"));
        let solved = solved.current_dir(folder.path()).args(solve).args(limit).output().unwrap();
        let solved: serde_json::Value = serde_json::from_slice(&solved.stdout).unwrap();
        let store = Store::read(&folder.path().join("a.db")).unwrap();
        let rows = store.rows(&Filter::all()).unwrap();
        let row = rows.iter().find(|row| row.id().upper_dim.to_string() == dims.split_once('+').unwrap().0).unwrap();
        assert_eq!(solved["method"], row.id().method, "{dims}");
        assert_eq!(solved["F"].as_f64(), row.result.upper_value(), "{dims}");
        // And it is found again under the name it was given.
        let found = output(folder.path(), &["table", "--store", "a.db", "--methods", "auto"]);
        assert!(found.status.success(), "{}", words(&found.stderr));
    }
}
