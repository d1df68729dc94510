//! Stores of the first format, and stores that may not be written to.

use crate::common::row;
use bilevo::{RunResult, Status, StopReason};
use bilevo_lab::row::Row;
use bilevo_lab::store::{Filter, Store, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

/// Ten runs and a failure, written by version 0.1.0 before results were stored whole.
const FORMAT_1: &[u8] = include_bytes!("../data/format1.db");

fn old_store() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    fs::write(&path, FORMAT_1).unwrap();
    (folder, path)
}

fn find<'r>(rows: &'r [Row], problem: &str, method: &str, seed: u64) -> &'r RunResult {
    let is = |row: &&Row| row.id().problem == problem && row.id().method == method && row.id().seed == seed;
    &rows.iter().find(is).unwrap().result
}

fn holds_what_it_held(store: &Store) -> Vec<Row> {
    let rows = store.rows(&Filter::all().with_traces()).unwrap();
    assert_eq!((rows.len(), store.count().unwrap(), store.ids().unwrap().len()), (10, 10, 10));
    let failures = store.failures().unwrap();
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].id.problem.as_str(), failures[0].message.as_str()), ("smd2", "it broke"));
    let gold = find(&rows, "gold-mining", "bl-cma-es", 1);
    assert_eq!((gold.upper_value(), gold.lower_value()), (Some(-314.21950451954194), Some(1320.335674995823)));
    assert_eq!(gold.x(), Some(&[51.37687558050129, 0.9519812415927204][..]));
    assert_eq!((gold.evaluations.upper, gold.evaluations.lower, gold.evaluations.refine_lower), (401, 9348, 1132));
    assert_eq!((gold.lower_searches.run, gold.generations), (371, 53));
    assert_eq!((gold.stop, gold.accuracy, gold.solved), (Status::Finished(StopReason::Flat), None, None));
    let smd = rows.iter().find(|row| row.id().problem == "smd1").unwrap();
    assert_eq!(smd.id().settings, "stop.max_upper_evals=60");
    assert!(smd.config.contains("\"max_upper_evals\":60"), "{}", smd.config);
    assert_eq!(smd.result.solved, Some(false));
    assert!(find(&rows, "tp2", "cr-bl-cma-es", 1).model_accuracy.is_some());
    for row in &rows {
        let last = row.trace.last().unwrap();
        assert_eq!((last.upper_evals, last.lower_evals), (row.result.evaluations.upper, row.result.evaluations.lower));
    }
    // Judged anew: the second optimum of tp2 was not known then.
    let second = find(&rows, "tp2", "bl-cma-es", 2);
    assert_eq!((second.solved, second.accuracy.unwrap().lower.unwrap() < 1e-4), (Some(true), true));
    assert_eq!(find(&rows, "tp2", "bl-cma-es", 1).solved, Some(false));
    rows
}

#[test]
fn an_old_store_is_read_as_it_is() {
    let (_folder, path) = old_store();
    holds_what_it_held(&Store::read(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap(), FORMAT_1);
}

#[test]
fn an_old_store_is_brought_over_and_goes_on() {
    let (_folder, path) = old_store();
    let before = Store::read(&path).unwrap().rows(&Filter::all().with_traces()).unwrap();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(holds_what_it_held(&store), before);
    store.insert(&row("m", "p", 1)).unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.count().unwrap(), 11);
    store.lock().unwrap();
    let tables = rusqlite::Connection::open(&path).unwrap();
    let names: Vec<String> = tables
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(names, ["configs", "failures", "runs", "traces"], "nothing of the old tables is left");
}

/// Files of a folder with their bytes, and the time of the last change of the folder itself.
fn look(folder: &Path) -> (Vec<(String, Vec<u8>)>, std::time::SystemTime) {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap()))
        .collect();
    files.sort();
    (files, fs::metadata(folder).unwrap().modified().unwrap())
}

#[cfg(unix)]
#[test]
fn reading_never_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("50% done? #1.db");
    let mut store = Store::open(&path).unwrap();
    (0..5).for_each(|seed| store.insert(&row("m", "p", seed)).unwrap());
    drop(store);
    let before = look(folder.path());
    let store = Store::read(&path).unwrap();
    assert_eq!(store.rows(&Filter::all().with_traces()).unwrap().len(), 5);
    assert_eq!(look(folder.path()), before, "nothing is made beside an open store");
    drop(store);
    assert_eq!(look(folder.path()), before);
}

/// What a killed writer leaves behind: a store and a log that is not yet in it.
fn killed(folder: &Path) -> PathBuf {
    let (path, copy) = (folder.join("a.db"), folder.join("copy.db"));
    let mut store = Store::open(&path).unwrap();
    (0..5).for_each(|seed| store.insert(&row("m", "p", seed)).unwrap());
    fs::copy(&path, &copy).unwrap();
    fs::copy(folder.join("a.db-wal"), folder.join("copy.db-wal")).unwrap();
    copy
}

#[test]
fn the_log_of_a_killed_writer_is_read_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = killed(folder.path());
    let (file, log) = (fs::read(&path).unwrap(), fs::read(folder.path().join("copy.db-wal")).unwrap());
    let store = Store::read(&path).unwrap();
    assert_eq!(store.count().unwrap(), 5);
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), file);
    assert_eq!(fs::read(folder.path().join("copy.db-wal")).unwrap(), log);
}

#[cfg(unix)]
#[test]
fn a_store_in_a_folder_that_may_not_be_written_is_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path());
    let allow = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    // The system's administrator may write there all the same; then nothing is to be seen here.
    let counts = ["a.db", "copy.db"].map(|name| Store::read(&folder.path().join(name)).and_then(|s| s.count()));
    allow(0o755);
    assert_eq!(counts.map(Result::unwrap), [5, 5]);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.db");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    for path in [pipe.as_path(), &link, Path::new("/dev/null"), Path::new("/dev/zero")] {
        for refused in [Store::open(path), Store::read(path)] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("a pipe, a socket or a device") && message.contains("hint:"), "{message}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_store_that_is_not_there_yet_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (link, path) = (folder.path().join("link.db"), folder.path().join("real.db"));
    std::os::unix::fs::symlink("real.db", &link).unwrap();
    Store::open(&link).unwrap().insert(&row("m", "p", 1)).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(Store::read(&path).unwrap().count().unwrap(), 1);
}

#[test]
fn other_tables_are_called_so() {
    let (_folder, path) = old_store();
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("ALTER TABLE runs RENAME COLUMN upper_evals TO evals; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(conn);
    let before = fs::read(&path).unwrap();
    for refused in [Store::read(&path), Store::open(&path)] {
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::Tables { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("its tables are not those of one: no such column: upper_evals"), "{message}");
        assert!(!message.contains("SELECT") && message.contains("hint:"), "{message}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_result_that_is_none_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    Store::open(&path).unwrap().insert(&row("m", "p", 1)).unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("UPDATE runs SET result = '{}'").unwrap();
    drop(conn);
    let error = Store::read(&path).unwrap().rows(&Filter::all()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}
