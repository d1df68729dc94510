//! The store: finished runs in one SQLite file.
//!
//! Every finished run is one [`RunRow`], written in a transaction of its own when it ends, so that
//! a kill, a full disk or a power cut loses at most runs that were not written yet. The file is in
//! WAL mode: others may read while one process writes. A row is found again by its [`RunKey`],
//! which holds the version and the hashes of config and problem, so that nothing old passes for
//! something new.
//!
//! ```no_run
//! use bilevo_lab::store::{Filter, Store};
//! let store = Store::open_existing("study.db".as_ref())?;
//! let rows = store.rows(&Filter::default())?;              // newest rows, without traces
//! let with_curves = store.rows(&Filter::default().with_traces())?;
//! # Ok::<(), bilevo_lab::store::StoreError>(())
//! ```

mod columns;
mod error;
mod file;
mod trace;

pub use error::StoreError;
pub use file::WriterLock;

use crate::row::{RunRow, TracePoint};
use rusqlite::{Connection, OpenFlags, params};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What makes two runs the same run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    /// Problem.
    pub problem: String,
    /// Hash of the problem's file; empty for a built-in problem.
    pub problem_hash: String,
    /// Upper variables.
    pub upper_dim: usize,
    /// Lower variables.
    pub lower_dim: usize,
    /// Method.
    pub method: String,
    /// Hash of the whole config.
    pub config_hash: String,
    /// Version of bilevo.
    pub version: String,
    /// Seed.
    pub seed: u64,
}

impl RunKey {
    /// The key of a row.
    pub fn of(row: &RunRow) -> RunKey {
        RunKey {
            problem: row.problem.clone(),
            problem_hash: row.problem_hash.clone(),
            upper_dim: row.upper_dim,
            lower_dim: row.lower_dim,
            method: row.method.clone(),
            config_hash: row.config_hash.clone(),
            version: row.version.clone(),
            seed: row.seed,
        }
    }
}

/// Which generations of rows to give back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// For every method, problem, size and settings only the rows of the version, config and
    /// problem file that were run last: what tables compare.
    #[default]
    Newest,
    /// Every row.
    All,
}

/// Whether to load convergence traces, which are most of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traces {
    /// Leave [`RunRow::trace`] empty.
    #[default]
    Leave,
    /// Load them.
    Load,
}

/// Which rows to give back; empty lists mean all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Methods.
    pub methods: Vec<String>,
    /// Problems.
    pub problems: Vec<String>,
    /// Old rows too?
    pub history: History,
    /// Traces too?
    pub traces: Traces,
}

impl Filter {
    /// Every row of every version.
    pub fn all() -> Filter {
        Filter { history: History::All, ..Filter::default() }
    }

    /// The same with traces.
    pub fn with_traces(self) -> Filter {
        Filter { traces: Traces::Load, ..self }
    }

    fn wants(&self, row: &RunRow) -> bool {
        let listed = |list: &[String], name: &String| list.is_empty() || list.contains(name);
        listed(&self.methods, &row.method) && listed(&self.problems, &row.problem)
    }
}

/// A run that ended in an error, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// Which run.
    pub key: RunKey,
    /// What went wrong.
    pub message: String,
}

/// Finished runs in one file.
#[derive(Debug)]
pub struct Store {
    conn: Connection,
    path: PathBuf,
    _registration: file::Registration,
}

impl Store {
    /// Opens a store, making a new one where there is no file.
    ///
    /// # Errors
    /// A file that is not a store, is damaged, or was made by a newer version (all left untouched).
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let path = file::locate(path)?;
        if !path.exists() {
            file::create(&path)?;
        }
        Store::open_located(path)
    }

    /// Opens a store that is there already.
    ///
    /// # Errors
    /// As [`Store::open`], and a missing file.
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing { path: path.to_path_buf() });
        }
        file::locate(path).and_then(Store::open_located).map_err(StoreError::for_reading)
    }

    fn open_located(path: PathBuf) -> Result<Store, StoreError> {
        let (registration, version) = file::Registration::checked(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let context = |source| StoreError::sqlite(&path, source);
        let mut conn = Connection::open_with_flags(&path, flags).map_err(context)?;
        conn.busy_timeout(Duration::from_secs(10)).map_err(context)?;
        // A killed process loses nothing this way; a power cut may undo the latest rows, which are
        // then simply run again.
        conn.pragma_update(None, "synchronous", "NORMAL").map_err(context)?;
        if version < columns::SCHEMA_VERSION {
            columns::migrate(&mut conn).map_err(context)?;
        }
        Ok(Store { conn, path, _registration: registration })
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a path leads to the store itself or to a file beside it that belongs to it: nothing
    /// else may be written there.
    pub fn owns(&self, path: &Path) -> bool {
        file::belongs(path, &self.path)
    }

    /// Lets the file grow by so many pages only, as a full disk would.
    #[cfg(test)]
    pub(crate) fn limit_growth(&self, pages: u32) -> rusqlite::Result<()> {
        let now: u32 = self.conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
        self.conn.pragma_update_and_check(None, "max_page_count", now + pages, |_| Ok(()))
    }

    /// Becomes the one writer, until the lock is dropped or the process ends in whatever way.
    ///
    /// # Errors
    /// Another process is the writer, or the file turns out to be damaged.
    pub fn lock(&self) -> Result<WriterLock, StoreError> {
        let lock = file::lock(&self.path)?;
        let verdict: String =
            self.conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|e| self.context(e))?;
        if verdict == "ok" { Ok(lock) } else { Err(self.damaged(verdict)) }
    }

    /// Writes a finished run with its trace; does nothing if the store has it already.
    ///
    /// # Errors
    /// The disk is full, or whatever SQLite reports; the store is unchanged then.
    pub fn insert(&mut self, row: &RunRow) -> Result<(), StoreError> {
        insert(&mut self.conn, row).map_err(|e| StoreError::sqlite(&self.path, e))
    }

    /// Notes that a run ended in an error; forgotten when the run succeeds later.
    ///
    /// # Errors
    /// As [`Store::insert`].
    pub fn insert_failure(&mut self, key: &RunKey, message: &str) -> Result<(), StoreError> {
        columns::note_failure(&self.conn, key, message).map_err(|e| self.context(e))
    }

    /// The keys of all rows.
    ///
    /// # Errors
    /// Whatever SQLite reports.
    pub fn keys(&self) -> Result<BTreeSet<RunKey>, StoreError> {
        self.query(columns::SELECT_KEYS, columns::read_key)
    }

    /// Number of rows.
    ///
    /// # Errors
    /// Whatever SQLite reports.
    pub fn count(&self) -> Result<u64, StoreError> {
        let count = self.conn.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0));
        count.map(i64::cast_unsigned).map_err(|e| self.context(e))
    }

    /// Runs that ended in an error and have not succeeded since.
    ///
    /// # Errors
    /// Whatever SQLite reports.
    pub fn failures(&self) -> Result<Vec<FailedRun>, StoreError> {
        self.query(columns::SELECT_FAILURES, |row| Ok(FailedRun { key: columns::read_key(row)?, message: row.get(8)? }))
    }

    /// The rows a filter asks for, in the order of problem, size, method, settings, seed, version:
    /// the same for the same runs, whichever of them finished first.
    ///
    /// # Errors
    /// Whatever SQLite reports, or a trace that cannot be read.
    pub fn rows(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        let mut stored: Vec<(i64, RunRow)> = self.query(columns::SELECT_ROWS, columns::read_row)?;
        if filter.history == History::Newest {
            keep_newest(&mut stored);
        }
        stored.retain(|(_, row)| filter.wants(row));
        if filter.traces == Traces::Load {
            for (id, row) in &mut stored {
                row.trace = self.trace(*id)?;
            }
        }
        Ok(stored.into_iter().map(|(_, row)| row).collect())
    }

    fn trace(&self, id: i64) -> Result<Vec<TracePoint>, StoreError> {
        let found = self.conn.prepare_cached("SELECT trace FROM traces WHERE run = ?1").and_then(|mut statement| {
            statement.query_row([id], |row| Ok(trace::decode(row.get_ref(0)?.as_blob().unwrap_or_default())))
        });
        match found {
            Ok(Some(points)) => Ok(points),
            Ok(None) | Err(rusqlite::Error::QueryReturnedNoRows) => Err(self.damaged(format!("the trace of run {id}"))),
            Err(e) => Err(self.context(e)),
        }
    }

    fn query<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C, StoreError> {
        let all = self.conn.prepare_cached(sql).and_then(|mut statement| statement.query_map([], read)?.collect());
        all.map_err(|e| self.context(e))
    }

    fn context(&self, source: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, source)
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), detail }
    }
}

fn insert(conn: &mut Connection, row: &RunRow) -> rusqlite::Result<()> {
    let transaction = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction
        .prepare_cached("INSERT OR IGNORE INTO configs (hash, config) VALUES (?1, ?2)")?
        .execute([&row.config_hash, &row.config])?;
    if columns::write_row(&transaction, row)? {
        let id = transaction.last_insert_rowid();
        transaction
            .prepare_cached("INSERT INTO traces (run, trace) VALUES (?1, ?2)")?
            .execute(params![id, trace::encode(&row.trace)])?;
    }
    columns::forget_failure(&transaction, &RunKey::of(row))?;
    transaction.commit()
}

/// Drops rows of a (method, problem, size, settings) that were made by another version, config or
/// problem file than the row written last.
fn keep_newest(rows: &mut Vec<(i64, RunRow)>) {
    let cell =
        |row: &RunRow| (row.problem.clone(), row.upper_dim, row.lower_dim, row.method.clone(), row.settings.clone());
    let origin = |row: &RunRow| (row.version.clone(), row.config_hash.clone(), row.problem_hash.clone());
    let mut newest = BTreeMap::new();
    for (id, row) in rows.iter() {
        let entry = newest.entry(cell(row)).or_insert_with(|| (*id, origin(row)));
        if *id > entry.0 {
            *entry = (*id, origin(row));
        }
    }
    rows.retain(|(_, row)| newest.get(&cell(row)).is_none_or(|(_, wanted)| *wanted == origin(row)));
}
