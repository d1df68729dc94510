//! Checkpoints, Ctrl-C and resuming, with the real program and real signals.

#[cfg(unix)]
use crate::signals::{children_hear_signals, send, within_ages};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilevo"));
    command.current_dir(directory).args(args);
    command
}

fn bilevo(directory: &Path, args: &[&str]) -> Output {
    command(directory, args).output().unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn timeless(text: &str) -> String {
    text.lines().filter(|line| !line.contains("seconds\":")).collect::<Vec<_>>().join("\n")
}

fn result(output: &Output) -> String {
    timeless(std::str::from_utf8(&output.stdout).unwrap())
}

const RUN: [&str; 10] =
    ["smd1", "--seed", "21", "--max-upper-evals", "150", "--target", "off", "--format=json", "--effort", "budget"];

/// Starts a slow run, waits for its first generation, sends the signal, and returns what it said
/// on stderr and its exit code. The pause per evaluation makes the run take minutes if nobody
/// stops it.
#[cfg(unix)]
fn interrupted(directory: &Path, extra: &[&str], signal: &str) -> (String, Option<i32>) {
    let slow = ["--inject", "slow:2000", "--trace", "-"];
    let args = [&["solve"], &RUN[..], &slow[..], extra].concat();
    children_hear_signals();
    let mut child = command(directory, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"generation\":1,"), "{line}");
    send(signal, child.id());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"stop\":\"interrupted\""), "{rest}");
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    (words, child.wait().unwrap().code())
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_the_resumed_run_ends_like_an_uninterrupted_one() {
    let directory = tempfile::tempdir().unwrap();
    let whole = bilevo(directory.path(), &[&["solve"], &RUN[..]].concat());
    assert_eq!(whole.status.code(), Some(1));

    // With a checkpoint named, and two interruptions in a row.
    let (words, code) = interrupted(directory.path(), &["--checkpoint", "a.ckpt"], "-INT");
    assert_eq!(code, Some(130), "{words}");
    assert!(words.contains("go on with: bilevo solve --resume a.ckpt"), "{words}");
    let resumed = bilevo(directory.path(), &["solve", "--resume", "a.ckpt", "--format", "json"]);
    assert_eq!(resumed.status.code(), Some(1), "{}", stderr(&resumed));
    assert_eq!(result(&resumed), result(&whole));
    // A finished run prints its result again.
    let again = bilevo(directory.path(), &["solve", "--resume", "a.ckpt", "--format", "json"]);
    assert_eq!(result(&again), result(&whole));

    // Without one: a file in the current directory, and the other signal; resumed on two threads.
    let (words, code) = interrupted(directory.path(), &[], "-TERM");
    assert_eq!(code, Some(130), "{words}");
    let file = "smd1-2+3-portfolio-21.checkpoint";
    assert!(words.contains(&format!("--resume {file}")), "{words}");
    let resumed = bilevo(directory.path(), &["solve", "--resume", file, "--format", "json", "--jobs", "2"]);
    assert_eq!(result(&resumed), result(&whole));
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let directory = tempfile::tempdir().unwrap();
    // The first evaluation never ends, so only the second signal can end this.
    let args = ["solve", "smd1", "--inject", "hang:1"];
    children_hear_signals();
    let mut child = command(directory.path(), &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(words.any(|line| line == "hanging"));
    send("-INT", child.id());
    assert!(within_ages(move || words.any(|line| line.contains("stopping after this batch"))));
    send("-INT", child.id());
    let output = within_ages(move || child.wait_with_output().unwrap());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
}

/// A directory with the checkpoint `half` of an unfinished run.
fn with_half_a_run() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let stop = ["--inject", "error:500", "--on-failure", "stop", "--checkpoint", "half"];
    let output = bilevo(directory.path(), &[&["solve"], &RUN[..], &stop[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    directory
}

fn refused(directory: &Path, args: &[&str], parts: &[&str]) {
    let output = bilevo(directory, args);
    let words = stderr(&output);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {words}");
    for part in parts {
        assert!(words.contains(part), "{args:?}: `{part}` is missing in\n{words}");
    }
}

#[test]
fn a_resumed_run_keeps_its_problem_method_seed_and_settings() {
    let directory = with_half_a_run();
    let at = directory.path();
    let before = std::fs::read(at.join("half")).unwrap();
    let resume = |flags: &[&str], parts: &[&str]| refused(at, &[&["solve", "--resume", "half"], flags].concat(), parts);
    resume(&["smd2"], &["PROBLEM", "smd2", "smd1"]);
    resume(&["--method", "boc"], &["--method", "portfolio"]);
    resume(&["--seed", "5"], &["`--seed` is 5", "21"]);
    resume(&["--dims", "5+5"], &["--dims", "2+3"]);
    resume(&["--set", "allocator.window=40"], &["`--set` cannot be changed"]);
    resume(&["--max-upper-evals", "9"], &["`--max-upper-evals` cannot be changed"]);
    resume(&["--target", "on"], &["`--target` cannot be changed"]);
    resume(&["--max-lower-evals", "9"], &["`--max-lower-evals` cannot be changed"]);
    assert_eq!(std::fs::read(at.join("half")).unwrap(), before, "nothing was overwritten");
    let same = ["solve", "--resume", "half", "--checkpoint", "other", "--set", "stop.target=off"];
    let output = bilevo(at, &[&same[..], &RUN[..]].concat());
    assert_eq!(output.status.code(), Some(1), "flags may repeat the settings: {}", stderr(&output));
    assert_eq!(std::fs::read(at.join("half")).unwrap(), before, "the other file was used");
    assert!(at.join("other").exists());
}

#[test]
fn a_new_run_does_not_wipe_out_an_unfinished_one_or_any_other_file() {
    let directory = with_half_a_run();
    let at = directory.path();
    let before = std::fs::read(at.join("half")).unwrap();
    refused(at, &["solve", "smd1", "--seed", "1", "--checkpoint", "half"], &["unfinished run", "--resume half"]);
    assert_eq!(std::fs::read(at.join("half")).unwrap(), before);
    std::fs::write(at.join("notes"), "notes").unwrap();
    refused(at, &["solve", "smd1", "--seed", "1", "--checkpoint", "notes"], &["not a bilevo checkpoint"]);
    refused(at, &["solve", "smd1", "--seed", "1", "--trace", "notes"], &["is not a trace"]);
    assert_eq!(std::fs::read(at.join("notes")).unwrap(), b"notes");
    refused(at, &["solve", "smd1", "--seed", "1", "--checkpoint", "new", "--trace", "new"], &["the same file"]);
    assert!(!at.join("new").exists());
    refused(at, &["solve", "smd1", "--seed", "1", "--checkpoint", "no/such/file"], &["cannot write the checkpoint"]);
}

#[test]
fn the_checkpoint_of_another_run_is_kept_even_when_finished() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let first = ["solve", "smd8", "--seed", "3", "--max-upper-evals", "20", "--target", "off", "--checkpoint", "a"];
    assert_eq!(bilevo(at, &first).status.code(), Some(1));
    let before = std::fs::read(at.join("a")).unwrap();
    let others = [
        vec!["solve", "smd1", "--seed", "3", "--max-upper-evals", "20", "--target", "off", "--checkpoint", "a"],
        vec!["solve", "smd8", "--seed", "2", "--max-upper-evals", "20", "--target", "off", "--checkpoint", "a"],
        vec!["solve", "smd8", "--seed", "3", "--max-upper-evals", "21", "--target", "off", "--checkpoint", "a"],
        [&first[..], &["--method", "boc"]].concat(),
    ];
    for other in others {
        refused(at, &other, &["error[E504]", "another run: smd8 2+3 with portfolio, seed 3", "--resume a", "delete"]);
    }
    std::fs::write(at.join("cut"), &before[..60]).unwrap();
    refused(at, &["solve", "smd1", "--seed", "3", "--checkpoint", "cut"], &["left unchanged", "is cut off"]);
    std::fs::write(at.join("empty"), "").unwrap();
    refused(at, &["solve", "smd1", "--seed", "3", "--checkpoint", "empty"], &["not a bilevo checkpoint"]);
    assert_eq!(std::fs::read(at.join("a")).unwrap(), before);
    assert_eq!(bilevo(at, &first).status.code(), Some(1), "the same run again");
}

#[test]
fn a_plot_replaces_nothing_but_pictures() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let run = ["solve", "smd1", "--seed", "1", "--max-upper-evals", "20", "--target", "off"];
    let with = |flags: &[&'static str]| [&run[..], flags].concat();
    std::fs::write(at.join("notes.svg"), "notes").unwrap();
    refused(at, &with(&["--plot", "notes.svg"]), &["exists and is not a picture"]);
    assert_eq!(std::fs::read(at.join("notes.svg")).unwrap(), b"notes");
    refused(at, &with(&["--plot", "store.db"]), &["ends in .svg or .png"]);
    for flag in ["--trace", "--checkpoint"] {
        refused(at, &with(&["--plot", "new.svg", flag, "./new.svg"]), &["the same file", "--plot", flag]);
    }
    refused(at, &["solve", "--resume", "new.svg", "--plot", "new.svg"], &["new.svg"]);
    assert!(!at.join("store.db").exists() && !at.join("new.svg").exists());
    for (file, start) in [("a.svg", &b"<svg"[..]), ("a.png", b"\x89PNG")] {
        for _ in 0..2 {
            let output = bilevo(at, &with(&["--plot", file]));
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
            assert!(std::fs::read(at.join(file)).unwrap().starts_with(start), "{file}");
        }
    }
}

#[test]
fn the_resume_command_can_be_pasted_and_keeps_the_flags() {
    let directory = tempfile::tempdir().unwrap();
    let files = ["--checkpoint", "it's half", "--trace", "my trace", "--plot", "a.svg"];
    let how = ["--inject", "error:500", "--on-failure", "stop", "--retries", "1", "--jobs", "2"];
    let output = bilevo(directory.path(), &[&["solve"], &RUN[..], &files[..], &how[..]].concat());
    let command = "bilevo solve --resume 'it'\\''s half' --trace 'my trace' --plot a.svg --jobs 2 --on-failure stop \
                   --retries 1 --format json";
    assert!(stderr(&output).contains(command), "{}", stderr(&output));
}

#[test]
fn files_that_cannot_be_resumed_say_why() {
    let directory = with_half_a_run();
    let at = directory.path();
    let bytes = std::fs::read(at.join("half")).unwrap();
    let case = |name: &str, bytes: &[u8], part: &str| {
        std::fs::write(at.join(name), bytes).unwrap();
        refused(at, &["solve", "--resume", name], &[part, "hint"]);
        assert_eq!(std::fs::read(at.join(name)).unwrap(), bytes, "{name} was changed");
    };
    case("cut", &bytes[..bytes.len() / 2], "is cut off");
    case("empty", b"", "is cut off");
    case("foreign", b"{\"a\": 1}", "error[E501]: `foreign` is not a bilevo checkpoint");
    let mut future = bytes.clone();
    future[18] = 200;
    case("future", &future, "checkpoint format 200");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 16;
    case("flipped", &flipped, "is damaged");
    refused(at, &["solve", "--resume", "missing"], &["cannot read the checkpoint", "missing"]);
    let missing = bilevo(at, &["solve", "--resume", "missing"]);
    let lines: Vec<&str> = stderr(&missing).lines().collect();
    assert!(lines.len() == 2 && lines[1].starts_with("hint: "), "the cause stands there once: {lines:?}");
    refused(at, &["solve", "--resume", "."], &["checkpoint"]);
}
