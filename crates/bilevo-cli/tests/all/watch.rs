//! `bilevo watch`: what another process is doing, in the terminal and as a page.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn bilevo(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bilevo")).current_dir(folder).args(args).output().unwrap()
}

fn saved_run(folder: &Path) {
    let run = ["solve", "smd1", "--seed", "3", "--max-evals", "300", "--target", "off", "--checkpoint", "run.ckpt"];
    assert_eq!(bilevo(folder, &run).status.code(), Some(1), "cut short");
}

#[test]
fn a_saved_run_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    saved_run(folder.path());
    let before = std::fs::read(folder.path().join("run.ckpt")).unwrap();
    // It has ended, so that there is nothing to wait for.
    for args in [&["watch", "run.ckpt"][..], &["watch", "run.ckpt", "--once"]] {
        let output = bilevo(folder.path(), args);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0));
        for needed in ["smd1 · ", "seed 3", "ended: ", "evaluations  ", "\n  F ", "\n  y ", "finished; the last: "] {
            assert!(text.contains(needed), "{needed}: {text}");
        }
    }
    assert_eq!(std::fs::read(folder.path().join("run.ckpt")).unwrap(), before, "watching changes nothing");
}

#[test]
fn an_experiment_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let grid = ["--methods", "bl-cma-es", "--problems", "tp1", "--runs", "2", "--store", "a.db"];
    let run = bilevo(folder.path(), &[&["experiment", "run"][..], &grid].concat());
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let output = bilevo(folder.path(), &["watch", "a.db", "--once"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("2 runs done, 0 failed") && text.contains("bl-cma-es"), "{text}");
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "hello").unwrap();
    for file in ["notes.txt", "missing.ckpt"] {
        let output = bilevo(folder.path(), &["watch", file]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr).unwrap().contains(file));
    }
}

/// What the page answers to a request.
fn ask(place: &str, line: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(place).unwrap();
    write!(stream, "{line}\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_page_is_there_for_this_computer_alone() {
    let folder = tempfile::tempdir().unwrap();
    saved_run(folder.path());
    let mut child = Command::new(env!("CARGO_BIN_EXE_bilevo"))
        .current_dir(folder.path())
        .args(["watch", "run.ckpt", "--open"])
        .env("PATH", "") // nothing that opens a browser
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let place = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_string();
    assert!(place.starts_with("127.0.0.1:"), "{said}");
    let page = ask(&place, "GET / HTTP/1.1", &place);
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<h1>smd1"), "{page}");
    assert!(!page.contains("http-equiv=\"refresh\""), "the run has ended");
    assert!(ask(&place, "GET /run.ckpt HTTP/1.1", &place).starts_with("HTTP/1.1 404"));
    assert!(ask(&place, "GET / HTTP/1.1", "elsewhere.example").starts_with("HTTP/1.1 403"));
    child.kill().unwrap();
    child.wait().unwrap();
}
