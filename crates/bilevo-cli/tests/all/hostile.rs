//! Files and programs of somebody else: what they say is shown as text, what they change is noticed, and
//! what they leave behind is removed.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

const BILEVO: &str = env!("CARGO_BIN_EXE_bilevo");
/// Clears the screen, then sets a colour by a control character beyond ASCII, then turns the text round.
const ESCAPES: &str = "\u{1b}[2J\u{9b}31m\u{202e}";

/// Runs with colours as on a terminal: without them every escape would be taken away, also a foreign one.
fn bilevo(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(BILEVO).current_dir(folder).env("CLICOLOR_FORCE", "1").args(arguments).output().unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A program that answers each point by a value, or by whatever this Python expression says.
fn plant(folder: &Path, head: &str, reply: &str) {
    let levels = "[upper]\nvariables = { x = [0, 1] }\n[lower]\nvariables = { y = [0, 1] }\n";
    std::fs::write(folder.join("plant.toml"), format!("command = [\"python3\", \"plant.py\"]\n{head}\n{levels}"))
        .unwrap();
    let program = format!(
        "import json, sys\nfor line in sys.stdin:\n    ask = json.loads(line)\n    reply = {{\"id\": ask[\"id\"]}}\n    \
         reply.update({reply})\n    print(json.dumps(reply), flush=True)\n"
    );
    std::fs::write(folder.join("plant.py"), program).unwrap();
}

const VALUE: &str = "{\"value\": (ask[\"x\"][0] - 0.3) ** 2 + (ask[\"y\"][0] - ask[\"x\"][0]) ** 2}";

#[test]
fn nothing_foreign_reaches_a_terminal_but_text() {
    let folder = folder();
    let path = folder.path();
    let toml = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    let levels = "[upper]\nminimize = \"x\"\nvariables = { x = [0, 1] }\n[lower]\nminimize = \"y\"\nvariables = { y = [0, 1] }\n";
    // A key, the excerpt of a line, a cell of a table, a reply, words on stderr, and the name of a file.
    toml("key.toml", &format!("\"{}\" = 1\n{levels}", "\\u001b[2J\\u009b31m\\u202e"));
    toml("excerpt.toml", &format!("about = 3 # {}\nabouts = 4 # \u{9b}31m\u{202e}\n{levels}", "\u{202e}"));
    toml("cell.toml", &format!("[data]\nroads = \"roads.csv\"\n{levels}"));
    std::fs::write(path.join("roads.csv"), format!("1,2\n3,{ESCAPES}{}\n", "z".repeat(500))).unwrap();
    toml(&format!("file{ESCAPES}.toml"), "nonsense");
    plant(path, "", &format!("{{\"error\": \"{}\"}}", "\\u001b[2J\\u009b31m\\u202e"));
    let renamed = format!("file{ESCAPES}.toml");
    let calls: [&[&str]; 8] = [
        &["check", "key.toml"],
        &["check", "excerpt.toml"],
        &["check", "cell.toml"],
        &["check", "cell.toml", "--format", "json"],
        &["check", &renamed],
        &["solve", &renamed],
        &["eval", "plant.toml", "--x", "0", "--y", "0"],
        &["solve", "smd1", "--method", ESCAPES],
    ];
    for call in calls {
        let output = bilevo(path, call);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(2), "{call:?}: {said:?}");
        // Our own colours are plain ones.
        let ours = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[33m", "\u{1b}[1;31m"];
        let foreign = ours.iter().fold(said.clone(), |text, colour| text.replace(colour, ""));
        assert!(!foreign.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{call:?}: {said:?}");
        assert!(!said.contains(&"z".repeat(81)), "{call:?}: {said:?}");
    }
    // A sound file is solved whatever it is called, and a picture of the run is text as well.
    toml(&renamed, levels);
    for more in [["--plot", "-"], ["--trace", "-"], ["--format", "json"]] {
        let said = words(&bilevo(path, &[&["solve", &renamed, "--max-evals", "30"], &more[..]].concat()));
        assert!(said.contains("file") && !said.contains(['\u{9b}', '\u{202e}']), "{more:?}: {said:?}");
    }
    let typed = words(&bilevo(path, &["solve", "smd1", &format!("--{ESCAPES}")]));
    assert!(!typed.contains("\u{1b}[2J") && !typed.contains('\u{9b}'), "{typed:?}");
}

#[test]
fn a_check_without_a_run_starts_nothing() {
    let folder = folder();
    plant(folder.path(), "", "open('started', 'w').close() or {\"value\": 1.0}");
    let read = bilevo(folder.path(), &["check", "plant.toml", "--no-run"]);
    assert_eq!(read.status.code(), Some(0), "{}", words(&read));
    assert!(words(&read).contains("python3 plant.py"), "{}", words(&read));
    assert!(!folder.path().join("started").exists());
    bilevo(folder.path(), &["check", "plant.toml"]);
    assert!(folder.path().join("started").exists());
}

/// The run saved in `run.ckpt` goes on, or the words of the refusal.
fn resumed(folder: &Path, problem: &[&str]) -> Result<(), String> {
    let more = ["--resume", "run.ckpt", "--max-upper-evals", "8", "--format", "json"];
    let output = bilevo(folder, &[&["solve"], problem, &more].concat());
    if output.status.code() == Some(2) { Err(words(&output)) } else { Ok(()) }
}

fn saved(folder: &Path, problem: &str) {
    let start = ["solve", problem, "--method", "bl-cma-es", "--seed", "1", "--max-upper-evals", "4"];
    let output = bilevo(folder, &[&start[..], &["--checkpoint", "run.ckpt"]].concat());
    assert!(folder.join("run.ckpt").exists(), "{}", words(&output));
}

#[test]
fn an_edited_program_is_another_program() {
    let folder = folder();
    let path = folder.path();
    plant(path, "depends = [\"model.txt\"]", VALUE);
    let (program, file) = (path.join("plant.py"), path.join("plant.toml"));
    std::fs::write(path.join("model.txt"), "1").unwrap();
    saved(path, "plant.toml");
    assert_eq!(resumed(path, &[]), Ok(()));
    // Patience and comments are no part of the problem.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("timeout = 9.5 # seconds\n{text}")).unwrap();
    assert_eq!(resumed(path, &[]), Ok(()));
    for changed in [&program, &path.join("model.txt")] {
        let before = std::fs::read_to_string(changed).unwrap();
        std::fs::write(changed, format!("{before}\n# another one\n")).unwrap();
        assert!(resumed(path, &[]).unwrap_err().contains("has changed since the run was saved"));
        std::fs::write(changed, before).unwrap();
    }
    assert_eq!(resumed(path, &[]), Ok(()));
    std::fs::remove_file(path.join("model.txt")).unwrap();
    assert!(resumed(path, &[]).unwrap_err().contains("`model.txt`, which the problem depends on, cannot be read"));
    std::fs::write(path.join("model.txt"), "1").unwrap();
    // A grid runs again what it knows of another program only.
    let grid = ["experiment", "run", "--methods", "bl-cma-es", "--problems", "plant.toml", "--runs", "1"];
    let grid = [&grid[..], &["--set", "stop.max_upper_evals=2"]].concat();
    for (comment, done) in [("", "1 runs done"), ("", "0 runs done"), ("# new\n", "1 runs done")] {
        let before = std::fs::read_to_string(&program).unwrap();
        std::fs::write(&program, format!("{before}{comment}")).unwrap();
        let output = bilevo(path, &grid);
        assert!(words(&output).contains(done), "{}", words(&output));
    }
}

#[test]
fn a_file_is_the_same_with_another_comment_and_another_name() {
    let folder = folder();
    let path = folder.path();
    let file = |text: &str| std::fs::write(path.join("toll.toml"), text).unwrap();
    let toll = "[upper]\nmaximize = \"t * y\"\nvariables = { t = [0, 10] }\n\
                [lower]\nminimize = \"(y - 8 + t)^2\"\nvariables = { y = [0, 10] }\n";
    file(toll);
    saved(path, "toll.toml");
    file(&format!("# a comment\nabout = \"words\"\n{}", toll.replace("[0, 10]", "[ 0.0, 1e1 ]")));
    assert_eq!(resumed(path, &[]), Ok(()));
    std::fs::rename(path.join("toll.toml"), path.join("road.toml")).unwrap();
    assert!(resumed(path, &[]).unwrap_err().contains("NEW.toml --resume"));
    assert_eq!(resumed(path, &["road.toml"]), Ok(()));
    file(&toll.replace("(y - 8 + t)^2", "(y - 7 + t)^2"));
    assert!(resumed(path, &["toll.toml"]).unwrap_err().contains("has changed since the run was saved"));
    file(&format!("note = 1\n{toll}"));
    let refused = resumed(path, &["toll.toml"]).unwrap_err();
    assert!(refused.contains("unknown key `note`") && !refused.contains("NEW.toml --resume"), "{refused}");
    assert!(resumed(path, &["smd1"]).is_err());
}

#[test]
fn folders_that_a_program_locked_are_removed() {
    let folder = folder();
    let path = folder.path();
    let levels = "[upper]\nvariables = { x = [0, 1] }\n[lower]\nvariables = { y = [0, 1] }\n";
    let script = "mkdir -p a/b && echo 1 > a/b/f && chmod 500 a/b a . && echo 1";
    let head = format!("command = [\"sh\", \"-c\", \"{script}\"]\nonce = {{ own_folder = true }}\n");
    std::fs::write(path.join("plant.toml"), format!("{head}{levels}")).unwrap();
    let place = path.join("temporary");
    std::fs::create_dir(&place).unwrap();
    let mut command = Command::new(BILEVO);
    if rustix::process::geteuid().is_root() {
        // Nothing is locked for root: somebody else runs a program of their own.
        let own = path.join("bilevo");
        // Copied by another process: a child that a test beside this one forks meanwhile would inherit
        // the file while it is written, and a file that somebody may write to cannot be started.
        assert!(Command::new("cp").arg(BILEVO).arg(&own).status().unwrap().success());
        for open in [path, &place] {
            std::fs::set_permissions(open, std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        command = Command::new(own);
        command.uid(65534).gid(65534);
    }
    let call = ["eval", "plant.toml", "--x", "0", "--y", "0"];
    let output = command.current_dir(path).env("TMPDIR", &place).args(call).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn the_folder_of_a_problem_may_be_called_anything() {
    let folder = folder();
    let path = folder.path().join("it's; touch gone $HOME");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("value.txt"), "4.5").unwrap();
    let levels = "[upper]\nvariables = { x = [0, 1] }\n[lower]\nvariables = { y = [0, 1] }\n";
    for script in ["cat {home}/value.txt", "cat '{home}/value.txt'", "cat \\\"{home}/value.txt\\\""] {
        let head = format!("command = [\"sh\", \"-c\", \"{script}\"]\nonce = {{ own_folder = true }}\n");
        std::fs::write(path.join("plant.toml"), format!("{head}{levels}")).unwrap();
        let output = bilevo(&path, &["eval", "plant.toml", "--x", "0", "--y", "0", "--format", "json"]);
        assert!(words(&output).contains("\"F\": 4.5"), "{script}: {}", words(&output));
    }
}
