//! `experiment table`, `experiment report`, `reproduce` and `solve --plot` as a user runs them.

use std::path::Path;
use std::process::{Command, Output};

fn bilevo(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bilevo")).args(args).current_dir(folder).output().unwrap()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let output = bilevo(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_store_becomes_tables_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    done(path, &["experiment", "run", "-m", "boc,cr-boc", "-p", "tp6", "--runs", "4", "--store", "s.db"]);
    let table = |more: &[&str]| done(path, &[&["experiment", "table", "--store", "s.db"], more].concat());
    let plain = table(&[]);
    assert!(plain.contains("cr-boc"));
    for column in ["Acc_u, Acc_l: ", "FEs_u, FEs_l, FEs_t: ", "ERT: "] {
        assert!(plain.contains(column), "the note explains the columns: {plain}");
    }
    assert!(table(&["--format", "markdown", "--reference", "cr-boc", "--holm"]).contains("| +/≈/− | boc |"));
    assert!(table(&["--format", "latex"]).contains("\\toprule"));
    let csv = table(&["--format", "csv", "--reference", "boc"]);
    assert_eq!(csv.lines().count(), 3, "a heading and data, nothing else: {csv}");
    let closing = table(&["--format", "csv", "--reference", "boc", "--closing"]);
    assert!(closing.lines().count() == 2 && closing.contains("/0"), "{closing}");
    let unknown = bilevo(path, &["experiment", "table", "--store", "s.db", "--reference", "motea"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("hint:"));
    std::fs::write(path.join("result.json"), "{}").unwrap();
    for (args, words) in [
        (["--store", "s.db", "--methods", "bocc"], "did you mean `boc`?"),
        (["--store", "s.db", "--methods", "motea"], "hint: it holds boc, cr-boc"),
        (["--store", "s.db", "--problems", "tp7"], "did you mean `tp6`?"),
        (["--store", "result.json", "--methods", "boc"], "hint: give the file that `bilevo experiment run`"),
    ] {
        let refused = bilevo(path, &[&["experiment", "table"], &args[..]].concat());
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(message.contains(words), "{message}");
    }
    done(path, &["experiment", "report", "--store", "s.db", "--out", "r.html", "--title", "Two <methods>"]);
    let page = std::fs::read_to_string(path.join("r.html")).unwrap();
    assert!(page.contains("bilevo experiment report --store s.db --out r.html"));
    assert!(page.contains("Two &#60;methods&#62;"));
    assert!(page.contains("significantly better than boc"), "the only base is the reference");
    assert_eq!(page.matches("class=\"curve\"").count(), 2);
    assert_eq!(bilevo(path, &["experiment", "report", "--store", "none.db"]).status.code(), Some(2));
}

#[test]
fn a_report_overwrites_nothing_but_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    done(path, &["experiment", "run", "-m", "boc", "-p", "tp6", "--runs", "1", "--store", "s.db"]);
    std::fs::write(path.join("notes.html"), "<!DOCTYPE html><title>mine</title>").unwrap();
    let store = std::fs::read(path.join("s.db")).unwrap();
    let report = |out: &str| bilevo(path, &["experiment", "report", "--store", "s.db", "--out", out]);
    for (out, words) in [
        ("s.db", "belongs to the store"),
        ("./s.db-wal", "belongs to the store"),
        ("s.db-shm", "belongs to the store"),
        ("s.db.lock", "belongs to the store"),
        ("notes.html", "is not a report of bilevo"),
    ] {
        let refused = report(out);
        assert_eq!(refused.status.code(), Some(2), "{out}");
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(message.contains(words) && message.contains("hint:"), "{message}");
    }
    assert_eq!(std::fs::read(path.join("s.db")).unwrap(), store);
    assert_eq!(std::fs::read(path.join("notes.html")).unwrap(), b"<!DOCTYPE html><title>mine</title>");
    assert!(report("r.html").status.success());
    assert!(report("r.html").status.success(), "an older report is replaced");
    let study = bilevo(path, &["reproduce", "--runs", "1", "--only", "applications", "--out", "notes.html"]);
    assert_eq!(study.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&study.stderr).contains("is not a folder"));
    for store in ["new/report.html", "new/tables/study.db", "new/contents.json"] {
        let study = bilevo(path, &["reproduce", "--runs", "1", "--out", "new", "--store", store]);
        assert_eq!((study.status.code(), path.join("new").exists()), (Some(2), false), "{store}");
    }
    let csv = bilevo(path, &["experiment", "export", "--store", "s.db", "--format", "csv", "--out", "s.db.lock"]);
    assert_eq!(csv.status.code(), Some(2));
}

#[test]
fn the_study_is_written_and_not_run_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let args = ["reproduce", "--runs", "1", "--only", "applications", "--out", "out", "--jobs", "2"];
    let first = done(path, &args);
    assert!(first.contains("cr-tlea-cma-es") && first.contains("68.5"), "{first}");
    assert!(first.contains("too few runs to test") && !first.contains("does not hold "), "{first}");
    for file in [
        "report.html",
        "study.db",
        "contents.json",
        "tables/summary.md",
        "figures/applications-tlea-cma-es-convergence.png",
    ] {
        assert!(path.join("out").join(file).is_file(), "{file}");
    }
    let page = std::fs::read(path.join("out/report.html")).unwrap();
    assert_eq!(done(path, &args), first);
    assert_eq!(std::fs::read(path.join("out/report.html")).unwrap(), page, "the same rows give the same page");
    assert_eq!(bilevo(path, &["reproduce", "--runs", "0", "--out", "no"]).status.code(), Some(2));
}

#[test]
fn one_run_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let solve = ["solve", "gold-mining", "--seed", "1", "--plot"];
    done(path, &[&solve[..], &["run.svg"]].concat());
    let svg = std::fs::read_to_string(path.join("run.svg")).unwrap();
    assert_eq!(svg.matches("class=\"curve\"").count(), 3);
    done(path, &[&solve[..], &["run.PNG"]].concat());
    assert!(std::fs::read(path.join("run.PNG")).unwrap().starts_with(b"\x89PNG"));
    let nowhere = bilevo(path, &[&solve[..], &["missing/run.svg"]].concat());
    assert_eq!(nowhere.status.code(), Some(2));
}
