//! Files in all states of disorder: nothing is lost, nothing hangs, and the exit code tells.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const RUN: [&str; 10] =
    ["solve", "smd1", "--seed", "21", "--max-upper-evals", "150", "--target", "off", "--effort", "budget"];
/// Where the run is saved if no other name is given.
const DEFAULT: &str = "smd1-2+3-portfolio-21.checkpoint";

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilevo"));
    command.current_dir(folder).args(args);
    command
}

fn bilevo(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

fn run(folder: &Path, more: &[&str]) -> Output {
    bilevo(folder, &[&RUN[..], more].concat())
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn refused(output: &Output, parts: &[&str]) {
    let words = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{words}");
    for part in parts {
        assert!(words.contains(part), "`{part}` is missing in\n{words}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs until an evaluation fails: about every `every`-th point does.
fn broken_off(folder: &Path, every: u32) -> Output {
    run(folder, &["--inject", &format!("error:{every}"), "--on-failure", "stop"])
}

#[test]
fn a_run_saved_by_itself_is_not_replaced_by_an_earlier_state() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    refused(&broken_off(at, 800), &["saved to", DEFAULT]);
    let long = std::fs::read(at.join(DEFAULT)).unwrap();
    // The same run again, which breaks off much earlier.
    let short = broken_off(at, 50);
    refused(&short, &["has been saved further on before", &format!("--resume {DEFAULT}")]);
    assert_eq!(std::fs::read(at.join(DEFAULT)).unwrap(), long);
    // A new start that names the file is told to go on with it.
    refused(&run(at, &["--checkpoint", DEFAULT]), &["this run, unfinished", &format!("--resume {DEFAULT}")]);
    assert_eq!(std::fs::read(at.join(DEFAULT)).unwrap(), long);
    // Another run does not take its name either.
    let other =
        bilevo(at, &[&RUN[..6], &["--target", "both", "--inject", "error:50", "--on-failure", "stop"]].concat());
    refused(&other, &["saved to"]);
    assert_eq!(std::fs::read(at.join(DEFAULT)).unwrap(), long);
    assert_eq!(names(at).len(), 2);
    assert_eq!(bilevo(at, &["solve", "--resume", DEFAULT]).status.code(), Some(1));
}

#[test]
fn a_second_process_with_the_same_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let args = [&RUN[..], &["--checkpoint", "a", "--inject", "hang:1"]].concat();
    let mut first = command(at, &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = BufReader::new(first.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(words.any(|line| line == "hanging"));
    let before = std::fs::read(at.join("a")).unwrap();
    refused(&run(at, &["--checkpoint", "a"]), &["another process is saving a run into `a`", "hint"]);
    refused(&bilevo(at, &["solve", "--resume", "a"]), &["another process is saving a run into `a`"]);
    assert_eq!(std::fs::read(at.join("a")).unwrap(), before);
    first.kill().unwrap();
    first.wait().unwrap();
    // A killed process does not keep others out.
    assert_eq!(bilevo(at, &["solve", "--resume", "a"]).status.code(), Some(1));
    assert_eq!(names(at), ["a"]);
}

#[test]
fn a_checkpoint_taken_away_is_told_and_the_run_is_saved_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("d")).unwrap();
    let args = [&RUN[..], &["--checkpoint", "d/a", "--trace", "-", "--inject", "slow:100"]].concat();
    let mut child = command(at, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("{\"generation\":1,"));
    std::fs::remove_dir_all(at.join("d")).unwrap();
    assert!(lines.all(|line| line.is_ok()));
    let output = child.wait_with_output().unwrap();
    refused(&output, &["cannot write the checkpoint `d/a`", &format!("saved to `{DEFAULT}`"), "could not be written"]);
    assert_eq!(bilevo(at, &["solve", "--resume", DEFAULT]).status.code(), Some(1));
}

#[cfg(unix)]
#[test]
fn a_finished_run_is_shown_without_touching_its_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let whole = run(at, &["--checkpoint", "a", "--format", "json"]);
    assert_eq!(whole.status.code(), Some(1));
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let changed = || std::fs::metadata(at.join("a")).unwrap().modified().unwrap();
    let before = changed();
    mode(&at.join("a"), 0o444);
    mode(at, 0o555);
    let again = bilevo(at, &["solve", "--resume", "a", "--format", "json"]);
    mode(at, 0o755);
    assert_eq!(again.status.code(), Some(1));
    let timeless = |output: &Output| {
        let text = std::str::from_utf8(&output.stdout).unwrap();
        text.lines().filter(|line| !line.contains("seconds\":")).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(timeless(&again), timeless(&whole));
    assert_eq!(changed(), before, "nobody wrote, root included");
}

/// Runs where no file can grow beyond `blocks` of at most 1 KiB.
#[cfg(unix)]
fn on_a_small_disk(folder: &Path, blocks: u32, more: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", &script, env!("CARGO_BIN_EXE_bilevo")]).args(RUN).args(more);
    shell.output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_that_names_the_file_and_leaves_no_fragment() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // The run itself is fine and its result is printed.
    let plot = on_a_small_disk(at, 2, &["--plot", "a.svg"]);
    refused(&plot, &["cannot write the plot `a.svg`"]);
    assert!(String::from_utf8_lossy(&plot.stdout).contains("evaluations"));
    let trace = on_a_small_disk(at, 2, &["--trace", "a.jsonl"]);
    refused(&trace, &["cannot write the trace `a.jsonl`"]);
    assert!(String::from_utf8_lossy(&trace.stdout).contains("evaluations"));
    // Without a place for the first checkpoint it does not start.
    let checkpoint = on_a_small_disk(at, 2, &["--checkpoint", "a"]);
    refused(&checkpoint, &["cannot write the checkpoint `a`"]);
    assert!(checkpoint.stdout.is_empty());
    assert_eq!(names(at), ["a.jsonl"]);
    // The next try is not refused because of what the first one left.
    let again = run(at, &["--plot", "a.svg", "--trace", "a.jsonl", "--checkpoint", "a"]);
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    // An earlier picture and an earlier checkpoint survive.
    let kept = [std::fs::read(at.join("a.svg")).unwrap(), std::fs::read(at.join("a")).unwrap()];
    refused(&on_a_small_disk(at, 2, &["--plot", "a.svg"]), &["cannot write the plot"]);
    assert_eq!([std::fs::read(at.join("a.svg")).unwrap(), std::fs::read(at.join("a")).unwrap()], kept);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_at_once_and_links_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert!(Command::new("mkfifo").args(["pipe", "pipe.svg"]).current_dir(at).status().unwrap().success());
    let not_a_file = &["is a pipe or a device", "hint"];
    refused(&bilevo(at, &["solve", "--resume", "pipe"]), not_a_file);
    for (flag, file) in
        [("--checkpoint", "pipe"), ("--trace", "pipe"), ("--plot", "pipe.svg"), ("--checkpoint", "/dev/null")]
    {
        refused(&run(at, &[flag, file]), not_a_file);
    }
    std::os::unix::fs::symlink("real", at.join("link")).unwrap();
    std::os::unix::fs::symlink("real.jsonl", at.join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink("real.svg", at.join("link.svg")).unwrap();
    let links = ["--checkpoint", "link", "--trace", "link.jsonl", "--plot", "link.svg"];
    let output = run(at, &links);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    for (link, real) in [("link", "real"), ("link.jsonl", "real.jsonl"), ("link.svg", "real.svg")] {
        assert!(at.join(link).is_symlink() && at.join(real).metadata().unwrap().len() > 100, "{real}");
    }
    refused(&run(at, &["--trace", "link.jsonl", "--plot", "link.svg", "--checkpoint", "real.svg"]), &["the same file"]);
}

#[test]
fn a_refused_checkpoint_leaves_the_other_files_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    refused(&broken_off(at, 500), &[DEFAULT]);
    std::fs::write(at.join("t.jsonl"), "{\"generation\":1}\n").unwrap();
    refused(&run(at, &["--checkpoint", DEFAULT, "--trace", "t.jsonl", "--plot", "p.svg"]), &["unfinished"]);
    assert_eq!(std::fs::read_to_string(at.join("t.jsonl")).unwrap(), "{\"generation\":1}\n");
    assert!(!at.join("p.svg").exists());
}
