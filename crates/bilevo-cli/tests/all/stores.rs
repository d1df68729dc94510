//! Stores from elsewhere, and files that are not ours: nothing is lost, nothing misread.

use bilevo_lab::row::Row;
use bilevo_lab::store::Store;
use serde_json::json;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::SystemTime;

const BILEVO: &str = env!("CARGO_BIN_EXE_bilevo");

fn bilevo(folder: &Path, args: &[&str]) -> Output {
    Command::new(BILEVO).args(args).current_dir(folder).output().unwrap()
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let output = bilevo(folder, args);
    assert!(output.status.success(), "{args:?}: {}", words(&output.stderr));
    words(&output.stdout)
}

fn refused(folder: &Path, args: &[&str], message: &str) {
    let output = bilevo(folder, args);
    let said = words(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.contains(message) && said.contains("hint:"), "{args:?}: {said}");
}

/// A run that nobody made.
fn row(method: &str, version: &str, seed: u64) -> Row {
    let result = json!({
        "problem": "toll", "problem_hash": "", "upper_dim": 1, "lower_dim": 1, "method": method, "settings": "",
        "config_hash": "0", "version": version, "seed": seed, "x": [0.0], "y": [0.0], "F": 0.0, "f": 0.0,
        "upper_violation": 0.0, "lower_violation": 0.0, "accuracy": null, "solved": null, "target_met": null,
        "evaluations": {
            "upper": 9, "lower": 100 + seed, "refine_lower": 0, "failed_upper": 0, "failed_lower": 0, "retried": 0,
        },
        "lower_searches": { "run": 9, "skipped": 0, "resampled": 0 }, "model_accuracy": null, "trainings": 0,
        "stop": "flat", "generations": 3, "seconds": 0.1, "training_seconds": 0.0,
    });
    Row { result: serde_json::from_value(result).unwrap(), config: "{}".into(), trace: vec![] }
}

fn store(path: &Path, rows: &[Row]) {
    let mut store = Store::open(path).unwrap();
    rows.iter().for_each(|row| store.insert(row).unwrap());
}

/// Every file below a folder with its length and a hash of its bytes; locks, which hold the number of
/// a process, left aside.
fn files(folder: &Path) -> Vec<(String, usize, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let inner = files(&entry.path()).into_iter();
            found.extend(inner.map(|(inner, length, hash)| (format!("{name}/{inner}"), length, hash)));
        } else if !name.ends_with(".lock") {
            let bytes = fs::read(entry.path()).unwrap();
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            found.push((name, bytes.len(), hasher.finish()));
        }
    }
    found.sort();
    found
}

fn changed(folder: &Path) -> SystemTime {
    fs::metadata(folder).unwrap().modified().unwrap()
}

#[test]
fn reading_leaves_the_folder_of_a_store_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, out) = (folder.path().join("kept"), folder.path().join("out"));
    fs::create_dir(&kept).unwrap();
    fs::create_dir(&out).unwrap();
    store(&kept.join("s.db"), &[row("a", "0.1.0", 1), row("b", "0.1.0", 1)]);
    // The administrator may write here all the same: the time of the last change tells.
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o555)).unwrap();
    let before = (files(&kept), changed(&kept));
    for args in [
        &["experiment", "status", "--store", "../kept/s.db"][..],
        &["experiment", "table", "--store", "../kept/s.db", "--reference", "a"],
        &["experiment", "report", "--store", "../kept/s.db", "--out", "r.html"],
        &["experiment", "export", "--store", "../kept/s.db", "--format", "csv"],
        &["experiment", "export", "--store", "../kept/s.db", "--format", "jsonl", "--traces"],
    ] {
        done(&out, args);
        assert_eq!((files(&kept), changed(&kept)), before, "{args:?}");
    }
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_pipe_or_a_device_is_no_store_and_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
    for store in ["pipe", "/dev/zero", "/dev/null"] {
        for args in [
            &["experiment", "run", "-m", "boc", "-p", "tp1", "--runs", "1", "--store", store][..],
            &["experiment", "status", "--store", store],
            &["reproduce", "--runs", "1", "--only", "applications", "--out", "o", "--store", store],
        ] {
            let output = Command::new("timeout").arg("600").arg(BILEVO).args(args).current_dir(path).output().unwrap();
            let said = words(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
            assert!(said.contains("a pipe, a socket or a device"), "{args:?}: {said}");
        }
    }
}

/// Makes a store look like a copy taken while somebody wrote, without the log beside it.
fn lose_log(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    // The versions of the format for writing and reading: 2 with a write-ahead log.
    bytes[18..20].copy_from_slice(&[2, 2]);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_copy_without_its_log_is_told_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for args in [
        &["experiment", "status", "--store", "s.db"][..],
        &["experiment", "table", "--store", "s.db"],
        &["experiment", "export", "--format", "csv", "--store", "s.db"],
        &["experiment", "run", "-m", "boc", "-p", "tp1", "--runs", "1", "--store", "s.db"],
        &["reproduce", "--runs", "1", "--only", "applications", "--out", "o", "--store", "s.db"],
    ] {
        let _ = fs::remove_file(path.join("s.db"));
        store(&path.join("s.db"), &[row("m", "0.1.0", 1)]);
        assert!(!words(&bilevo(path, args).stderr).contains("without its log"), "{args:?}");
        let _ = fs::remove_dir_all(path.join("o"));
        lose_log(&path.join("s.db"));
        assert!(words(&bilevo(path, args).stderr).contains("was copied without its log"), "{args:?}");
    }
}

#[test]
fn exports_replace_exports_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    store(&path.join("s.db"), &[row("a", "0.1.0", 1)]);
    let export = |format: &'static str, out: &'static str| {
        ["experiment", "export", "--store", "s.db", "--format", format, "--out", out]
    };
    fs::write(path.join("notes.csv"), "dear,diary\n").unwrap();
    refused(path, &export("csv", "notes.csv"), "is not a CSV export of bilevo");
    refused(path, &export("jsonl", "notes.csv"), "is not a JSON lines export of bilevo");
    refused(path, &export("csv", "s.db"), "belongs to the store");
    refused(path, &export("ioh", "s.db"), "belongs to the store");
    refused(path, &export("ioh", "notes.csv"), "exists already");
    assert_eq!(fs::read_to_string(path.join("notes.csv")).unwrap(), "dear,diary\n");
    for (format, out) in [("csv", "rows.csv"), ("jsonl", "rows.jsonl")] {
        done(path, &export(format, out));
        let first = fs::read(path.join(out)).unwrap();
        done(path, &export(format, out));
        assert_eq!(fs::read(path.join(out)).unwrap(), first);
    }
    refused(path, &export("csv", "rows.jsonl"), "is not a CSV export");
}

fn reproduce(more: &[&'static str]) -> Vec<&'static str> {
    [&["reproduce", "--out", "study", "--store", "study.db", "--jobs", "2"][..], more].concat()
}

#[test]
fn a_folder_holds_one_study_and_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let study = path.join("study");
    let contents =
        || -> serde_json::Value { serde_json::from_slice(&fs::read(study.join("contents.json")).unwrap()).unwrap() };
    done(path, &reproduce(&["--runs", "2", "--only", "applications"]));
    assert_eq!((&contents()["parts"], &contents()["runs"]), (&json!(["applications"]), &json!(2)));
    let before = files(&study);
    let listed = contents()["files"].as_array().unwrap().len();
    assert_eq!(before.len(), listed + 1, "every file is listed, but for the list");
    let smaller = reproduce(&["--runs", "1", "--only", "applications"]);
    refused(path, &smaller, "holds another study (applications with 2 runs each)");
    refused(path, &reproduce(&["--runs", "2", "--only", "tp"]), "does not include it");
    assert_eq!(files(&study), before);
    done(path, &reproduce(&["--runs", "3", "--only", "applications"]));
    assert_eq!((&contents()["runs"], &contents()["complete"]), (&json!(3), &json!(true)));
    let page = fs::read_to_string(study.join("report.html")).unwrap();
    assert!(page.contains("Parts of the study") && page.contains("36 runs of 8 methods"), "it is said on the page");
}

#[test]
fn what_is_not_ours_in_the_folder_of_a_study_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let args = reproduce(&["--runs", "1", "--only", "applications"]);
    for foreign in ["report.html", "tables/summary.csv", "figures/holiday.png", "contents.json"] {
        let file = path.join("study").join(foreign);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        refused(path, &args, foreign);
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        assert!(!path.join("study.db").exists(), "nothing was run");
        fs::remove_dir_all(path.join("study")).unwrap();
    }
    done(path, &args);
    fs::write(path.join("study/tables/notes.txt"), "mine").unwrap();
    refused(path, &args, "notes.txt");
}

/// Runs a command on a system that lets no file grow beyond 48 KiB.
fn without_room(folder: &Path, args: &[&str]) -> Output {
    let script = "trap '' XFSZ; ulimit -f 48; exec \"$0\" \"$@\"";
    Command::new("bash").args(["-c", script, BILEVO]).args(args).current_dir(folder).output().unwrap()
}

#[test]
fn without_room_the_good_report_stays_and_the_next_try_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let study = reproduce(&["--runs", "1", "--only", "applications"]);
    done(path, &study);
    let report = ["experiment", "report", "--store", "study.db", "--out", "r.html"];
    done(path, &report);
    let before = files(path);
    assert!(
        before.iter().filter(|(name, length, _)| name.ends_with("html") && *length > 48 << 10).count() == 2,
        "the pages are larger than that"
    );
    for args in [&report[..], &study] {
        let output = without_room(path, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", words(&output.stderr));
        assert_eq!(files(path), before, "{args:?}");
    }
    done(path, &report);
    done(path, &study);
}

#[test]
fn a_setting_of_all_methods_does_not_hide_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let grid = ["-m", "boc,cr-boc", "-p", "tp6", "--runs", "4", "--set", "stop.max_upper_evals=80", "--store", "s.db"];
    done(path, &[&["experiment", "run"][..], &grid].concat());
    let table = done(path, &["experiment", "table", "--store", "s.db", "--reference", "boc"]);
    assert!(
        table.contains("against boc:") && table.contains("Settings of every method: stop.max_upper_evals=80."),
        "{table}"
    );
    done(path, &["experiment", "report", "--store", "s.db", "--out", "r.html"]);
    let page = fs::read_to_string(path.join("r.html")).unwrap();
    assert!(page.contains("significantly better than boc"), "the only base is the reference");
}

#[test]
fn too_few_runs_and_other_versions_are_mentioned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let rows: Vec<Row> = (1..=3).flat_map(|s| [row("a", "0.1.0", s), row("b", "0.2.0", s)]).collect();
    store(&path.join("s.db"), &rows);
    let table = done(path, &["experiment", "table", "--store", "s.db", "--reference", "a"]);
    assert!(table.contains("too few runs"), "{table}");
    let note = table.lines().last().unwrap();
    assert!(!table.replace(note, "").contains('≈'), "{table}");
    assert!(table.contains("Runs of different versions of bilevo stand side by side (0.1.0, 0.2.0)"), "{table}");
    let csv = bilevo(path, &["experiment", "table", "--store", "s.db", "--format", "csv"]);
    assert!(words(&csv.stderr).contains("different versions"), "{}", words(&csv.stderr));
}

#[test]
fn names_of_a_store_are_text_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let red = "\u{1b}[31mred\u{7}\u{9b}2J";
    store(&path.join("s.db"), &[row(red, red, 1), row("b", "0.1.0", 1)]);
    Store::open(&path.join("s.db")).unwrap().insert_failure(row(red, red, 2).id(), red).unwrap();
    for args in [
        &["experiment", "status", "--store", "s.db"][..],
        &["experiment", "table", "--store", "s.db", "--reference", "b"],
        &["experiment", "table", "--store", "s.db", "--reference", "c"],
        &["experiment", "table", "--store", "s.db", "--methods", "c"],
        &["experiment", "table", "--store", "s.db", "--format", "csv"],
    ] {
        // As on a terminal: nothing is stripped on the way.
        let output = Command::new(BILEVO).args(args).current_dir(path).env("CLICOLOR_FORCE", "1").output().unwrap();
        let said = words(&output.stdout) + &words(&output.stderr);
        assert!(said.contains("red"), "{args:?}: {said}");
        for sign in ["\u{1b}[31mred", "\u{7}", "\u{9b}"] {
            assert!(!said.contains(sign), "{args:?}: {said:?}");
        }
    }
}
