//! Real stores in temporary folders: what goes in comes out, and no foreign or damaged file is
//! touched.

use crate::common::{FAR_FROM_SQUARE, row, seconds};
use bilevo_lab::store::{Filter, Store, StoreError};
use std::fs;
use std::path::Path;

#[test]
fn rows_come_back_as_they_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path).unwrap();
    let mut odd = row("m", "p", u64::MAX);
    let solution = odd.result.solution.as_mut().unwrap();
    (solution.x, solution.y) = (vec![f64::MIN_POSITIVE, -0.0, f64::MAX], vec![0.1 + 0.2]);
    odd.result.accuracy = None;
    odd.result.evaluations.failed_lower = u64::MAX;
    odd.result.id.settings = "stop.target=off \u{1f980} '; DROP TABLE runs; --".into();
    let plain = row("m", "o", 0);
    store.insert(&odd).unwrap();
    store.insert(&plain).unwrap();
    drop(store);
    let store = Store::read(&path).unwrap();
    let rows = store.rows(&Filter::default().with_traces()).unwrap();
    assert_eq!(rows, [plain.clone(), odd.clone()], "ordered by problem");
    let without = store.rows(&Filter::default()).unwrap();
    assert!(without.iter().all(|r| r.trace.is_empty()));
    assert_eq!(without[1].result.x().as_ref().unwrap()[1].to_bits(), (-0.0_f64).to_bits());
    let only = Filter { problems: vec!["o".into()], ..Filter::default() };
    assert_eq!(store.rows(&only).unwrap().len(), 1);
    assert_eq!(store.ids().unwrap().iter().collect::<Vec<_>>(), [plain.id(), odd.id()]);
}

#[test]
fn values_that_are_no_numbers_come_back_as_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("a.db")).unwrap();
    let mut lost = row("m", "p", 1);
    let solution = lost.result.solution.as_mut().unwrap();
    (solution.upper_value, solution.lower_value) = (f64::NAN, f64::NEG_INFINITY);
    store.insert(&lost).unwrap();
    let result = &store.rows(&Filter::all()).unwrap()[0].result;
    assert_eq!((result.upper_value(), result.lower_value()), (None, None));
}

#[test]
fn the_same_run_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("a.db")).unwrap();
    let first = row("m", "p", 1);
    let mut again = first.clone();
    again.result.times.seconds = 99.0;
    store.insert(&first).unwrap();
    store.insert(&again).unwrap();
    assert_eq!(store.rows(&Filter::all().with_traces()).unwrap(), [first]);
}

#[test]
fn another_version_config_or_problem_file_never_mixes() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("a.db")).unwrap();
    let old = row("m", "p", 1);
    store.insert(&old).unwrap();
    let changes: [fn(&mut bilevo::RunId); 3] = [
        |id| id.version = "0.2.0".into(),
        |id| id.config_hash = "other".into(),
        |id| id.problem_hash = "edited".into(),
    ];
    for (count, change) in changes.iter().enumerate() {
        let mut new = row("m", "p", 1);
        change(&mut new.result.id);
        store.insert(&new).unwrap();
        assert_eq!(store.count().unwrap(), count as u64 + 2);
        let newest = store.rows(&Filter::default().with_traces()).unwrap();
        assert_eq!(newest.iter().map(|r| r.id()).collect::<Vec<_>>(), [new.id()], "only what was run last");
    }
    assert_eq!(store.rows(&Filter::all()).unwrap().len(), 4);
}

#[test]
fn a_failure_is_kept_until_the_run_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("a.db")).unwrap();
    let (one, two) = (row("m", "p", 1), row("m", "p", 2));
    for run in [&one, &two] {
        store.insert_failure(run.id(), "first").unwrap();
        store.insert_failure(run.id(), "second").unwrap();
    }
    store.insert(&one).unwrap();
    let failures = store.failures().unwrap();
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].id.seed, failures[0].message.as_str()), (2, "second"));
}

#[test]
fn loading_ten_times_the_rows_takes_about_ten_times_as_long() {
    let folder = tempfile::tempdir().unwrap();
    let taken = [1_000, 10_000].map(|count| {
        let path = folder.path().join(format!("{count}.db"));
        let mut store = Store::open(&path).unwrap();
        for seed in 0..count {
            store.insert(&row(["a", "b", "c"][seed as usize % 3], "smd1", seed)).unwrap();
        }
        drop(store);
        let start = seconds();
        let rows = Store::read(&path).unwrap().rows(&Filter::default()).unwrap();
        assert_eq!(rows.len(), count as usize);
        seconds() - start
    });
    assert!(taken[1] < FAR_FROM_SQUARE * taken[0], "{taken:?} s");
}

/// Opening must fail and leave every byte of the folder's files as it was.
fn refused_untouched(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let files = || fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
    let listing = files();
    let error = Store::open(path).map(|_| ()).unwrap_err();
    Store::read(path).map(|_| ()).unwrap_err();
    assert_eq!(fs::read(path).unwrap(), before);
    assert_eq!(files(), listing);
    error
}

#[test]
fn other_files_are_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    for content in ["", "dear diary", "SQLite", "SQLite format 4\0 and more"] {
        fs::write(&path, content).unwrap();
        assert!(matches!(refused_untouched(&path), StoreError::NotAStore { .. }), "{content:?}");
    }
    let path = folder.path().join("foreign.db");
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE runs (id INTEGER); INSERT INTO runs VALUES (7)")
        .unwrap();
    drop(foreign);
    let error = refused_untouched(&path);
    assert!(error.to_string().contains("another program"), "{error}");
    assert!(matches!(Store::open(folder.path()), Err(StoreError::NotAStore { .. })), "a folder");
    assert!(matches!(Store::read(&folder.path().join("none.db")), Err(StoreError::Missing { .. })));
    assert!(matches!(Store::open(&folder.path().join("no/such/folder.db")), Err(StoreError::Io { .. })));
}

fn filled(path: &Path, rows: u64) {
    let mut store = Store::open(path).unwrap();
    for seed in 0..rows {
        store.insert(&row("m", "p", seed)).unwrap();
    }
}

#[test]
fn the_log_of_a_removed_store_stays_out_of_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let (path, log) = (folder.path().join("a.db"), folder.path().join("a.db-wal"));
    let mut store = Store::open(&path).unwrap();
    store.insert(&row("m", "p", 1)).unwrap();
    let left_by_a_kill = fs::read(&log).unwrap();
    assert!(!left_by_a_kill.is_empty());
    drop(store);
    fs::remove_file(&path).unwrap();
    fs::write(&log, left_by_a_kill).unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.count().unwrap(), 0);
    store.lock().unwrap();
}

#[test]
fn a_newer_store_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.db");
    filled(&path, 1);
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 1000).unwrap();
    drop(conn);
    let error = refused_untouched(&path);
    assert!(matches!(error, StoreError::Newer { found: 1000, .. }), "{error}");
}

#[test]
fn an_older_store_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    filled(&path, 1);
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch(
        "DROP TABLE traces; DROP TABLE runs; DROP TABLE configs; DROP TABLE failures; PRAGMA user_version = 0",
    )
    .unwrap();
    drop(conn);
    filled(&path, 3);
    assert_eq!(Store::open(&path).unwrap().count().unwrap(), 3);
}

#[test]
fn a_truncated_store_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.db");
    filled(&path, 40);
    let whole = fs::read(&path).unwrap();
    for length in [1, 15, 16, 60, 99, 100, 4096, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let error = refused_untouched(&path);
        assert!(matches!(error, StoreError::Damaged { .. } | StoreError::NotAStore { .. }), "{length}: {error}");
    }
}

#[test]
fn garbage_inside_a_store_is_an_error_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.db");
    filled(&path, 40);
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for page in 1..whole.len() / 4096 {
        let mut bad = whole.clone();
        bad[page * 4096..(page + 1) * 4096].fill(0xa5);
        fs::write(&path, &bad).unwrap();
        let outcome = Store::open(&path).and_then(|store| {
            store.rows(&Filter::all().with_traces())?;
            store.lock()
        });
        refused += usize::from(matches!(outcome, Err(StoreError::Damaged { .. })));
        assert_eq!(fs::read(&path).unwrap(), bad, "page {page}");
    }
    assert_eq!(refused, whole.len() / 4096 - 1);
}

#[test]
fn one_writer_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (one, two) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
    let lock = one.lock().unwrap();
    let error = two.lock().unwrap_err();
    assert!(matches!(error, StoreError::Busy { process: Some(p), .. } if p == std::process::id()), "{error}");
    drop(lock);
    two.lock().unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_to_a_store_meets_the_same_lock() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("a.db"), folder.path().join("link.db"));
    let one = Store::open(&path).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let two = Store::open(&link).unwrap();
    let _lock = one.lock().unwrap();
    assert!(matches!(two.lock(), Err(StoreError::Busy { .. })));
}

/// The names of what lies in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_store_is_one_file_when_nobody_writes_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    filled(&path, 3);
    assert_eq!(names(folder.path()), ["a.db"]);
    let mut store = Store::open(&path).unwrap();
    let lock = store.lock().unwrap();
    store.insert(&row("m", "p", 50)).unwrap();
    assert!(names(folder.path()).contains(&"a.db-wal".into()) && names(folder.path()).contains(&"a.db.lock".into()));
    let reader = Store::read(&path).unwrap();
    assert_eq!((reader.count().unwrap(), reader.missing_log()), (4, None));
    // What a kill leaves behind, copied in full and in part.
    let copied = |name: &str, suffixes: &[&str]| {
        for suffix in suffixes {
            fs::copy(folder.path().join(format!("a.db{suffix}")), folder.path().join(format!("{name}{suffix}")))
                .unwrap();
        }
        let copy = Store::read(&folder.path().join(name)).unwrap();
        (copy.count().unwrap(), copy.missing_log().is_some())
    };
    assert_eq!(copied("whole.db", &["", "-wal"]), (4, false));
    assert_eq!(copied("part.db", &[""]), (3, true));
    drop((reader, lock, store));
    let left: Vec<String> = names(folder.path()).into_iter().filter(|name| name.starts_with("a.db")).collect();
    assert_eq!(left, ["a.db"]);
    assert_eq!(copied("late.db", &[""]), (4, false));
}
