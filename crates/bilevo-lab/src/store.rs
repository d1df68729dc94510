//! The store: finished runs in one SQLite file.
//!
//! Every finished run is one [`Row`], written in its own transaction when the run ends, so a kill, a full disk or
//! a power cut loses at most the runs in progress. While one process writes, in WAL mode, others may read; when it
//! has ended, the store is a single file. A run is found by its [`RunId`], which includes the version and the
//! hashes of config and problem, so old rows are never mistaken for new ones. [`Store::read`] never writes, not
//! even next to the store; it can read older formats.
//!
//! ```no_run
//! use bilevo_lab::store::{Filter, Store};
//! let store = Store::read("study.db".as_ref())?;
//! let rows = store.rows(&Filter::default())?;              // newest rows, without traces
//! let with_curves = store.rows(&Filter::default().with_traces())?;
//! # Ok::<(), bilevo_lab::store::StoreError>(())
//! ```

mod error;
mod file;
mod format1;
mod reading;
mod schema;
mod trace;

pub use error::StoreError;
pub use file::WriterLock;

use crate::row::{Row, TracePoint};
use bilevo::RunId;
use rusqlite::{Connection, OpenFlags, params};
use schema::Line;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which rows to return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// For every method, problem, size and settings, only the rows of the version, config and problem file that were
    /// run last. Tables compare these.
    #[default]
    Newest,
    /// Every row.
    All,
}

/// Whether to load convergence traces, which are most of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traces {
    /// Leave [`Row::trace`] empty.
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
    /// Whether to include old rows.
    pub history: History,
    /// Whether to load traces.
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

    fn wants(&self, id: &RunId) -> bool {
        let listed = |list: &[String], name: &String| list.is_empty() || list.contains(name);
        listed(&self.methods, &id.method) && listed(&self.problems, &id.problem)
    }
}

/// A run that ended in an error, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// The identity of the run.
    pub id: RunId,
    /// What went wrong.
    pub message: String,
}

/// Finished runs in one file.
#[derive(Debug)]
pub struct Store {
    conn: Connection,
    path: PathBuf,
    format: u32,
    snapshot: Option<reading::Snapshot>,
    /// Whether anything was or may have been written.
    writing: Cell<bool>,
    registration: file::Registration,
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.writing.get() {
            file::end_writing(&self.conn);
        }
    }
}

impl Store {
    /// Opens a store for writing; creates a new one if there is no file, and updates an older format.
    ///
    /// # Errors
    /// A file that is not a store, is damaged, or was made by a newer version (all left untouched).
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let path = file::locate(path)?;
        if !path.exists() {
            file::create(&path)?;
        }
        let registration = file::Registration::checked(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let context = |source| StoreError::sqlite(&path, source);
        let mut conn = Connection::open_with_flags(&path, flags).map_err(context)?;
        conn.busy_timeout(Duration::from_secs(10)).map_err(context)?;
        // A killed process loses nothing this way; a power cut may undo the latest rows, which are then simply run
        // again.
        conn.pragma_update(None, "synchronous", "NORMAL").map_err(context)?;
        check_tables(&conn, &path)?;
        schema::prepare(&mut conn).map_err(context)?;
        Ok(Store { conn, path, format: schema::FORMAT, snapshot: None, writing: Cell::new(false), registration })
    }

    /// Opens an existing store for reading only: neither the file nor its folder is written to.
    ///
    /// # Errors
    /// As [`Store::open`], and a missing file.
    pub fn read(path: &Path) -> Result<Store, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing { path: path.to_path_buf() });
        }
        file::locate(path).and_then(Store::read_located).map_err(StoreError::for_reading)
    }

    fn read_located(path: PathBuf) -> Result<Store, StoreError> {
        let registration = file::Registration::checked(&path)?;
        let (conn, snapshot) = reading::connect(&path)?;
        let format = check_tables(&conn, &path)?;
        Ok(Store { conn, path, format, snapshot, writing: Cell::new(false), registration })
    }

    /// A message if this is an incomplete copy: made without the log next to the store, while a process was
    /// writing to it or after one was killed.
    pub fn missing_log(&self) -> Option<String> {
        let path = self.path.display();
        self.registration.log_is_missing.then(|| {
            format!(
                "`{path}` was copied without its log `{path}-wal`: the latest runs may be missing\nhint: copy both files, or only after `bilevo experiment run` has ended"
            )
        })
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a path is the store itself or one of the files that belong to it; nothing else may be written
    /// there.
    pub fn owns(&self, path: &Path) -> bool {
        file::belongs(path, &self.path)
    }

    /// Lets the file grow by this many pages only, as a full disk would.
    #[cfg(test)]
    pub(crate) fn limit_growth(&self, pages: u32) -> rusqlite::Result<()> {
        let now: u32 = self.conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
        self.conn.pragma_update_and_check(None, "max_page_count", now + pages, |_| Ok(()))
    }

    /// Becomes the only writer, until the lock is dropped or the process ends.
    ///
    /// # Errors
    /// Another process is the writer, or the file turns out to be damaged.
    pub fn lock(&self) -> Result<WriterLock, StoreError> {
        let lock = file::lock(&self.path)?;
        let verdict: String =
            self.conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|e| self.context(e))?;
        if verdict == "ok" { Ok(lock) } else { Err(self.damaged(verdict)) }
    }

    /// Only once there is something to write: a complete grid leaves its store unchanged.
    fn begin_writing(&self) {
        if !self.writing.replace(true) {
            file::begin_writing(&self.conn);
        }
    }

    /// Writes a finished run with its trace; does nothing if the store has it already.
    ///
    /// # Errors
    /// The disk is full, or whatever SQLite reports; the store is unchanged then.
    pub fn insert(&mut self, row: &Row) -> Result<(), StoreError> {
        self.begin_writing();
        insert(&mut self.conn, row).map_err(|e| StoreError::sqlite(&self.path, e))
    }

    /// Records that a run ended in an error; the record is removed when the run succeeds later.
    ///
    /// # Errors
    /// As [`Store::insert`].
    pub fn insert_failure(&mut self, id: &RunId, message: &str) -> Result<(), StoreError> {
        self.begin_writing();
        schema::note_failure(&self.conn, id, message).map_err(|e| self.context(e))
    }

    /// The identities of all runs.
    ///
    /// # Errors
    /// Whatever SQLite reports.
    pub fn ids(&self) -> Result<BTreeSet<RunId>, StoreError> {
        Ok(self.lines()?.into_iter().map(|(_, id)| id).collect())
    }

    /// Number of rows.
    ///
    /// # Errors
    /// Whatever SQLite reports.
    pub fn count(&self) -> Result<u64, StoreError> {
        let count = self.conn.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0));
        self.checked(count.map(i64::cast_unsigned))
    }

    /// Runs that ended in an error and have not succeeded since.
    ///
    /// # Errors
    /// Whatever SQLite reports.
    pub fn failures(&self) -> Result<Vec<FailedRun>, StoreError> {
        self.checked(if self.format == 1 { format1::failures(&self.conn) } else { schema::failures(&self.conn) })
    }

    /// The rows that match a filter, ordered by problem, size, method, settings, seed and version, whatever the order
    /// in which they finished.
    ///
    /// # Errors
    /// Whatever SQLite reports, or a trace that cannot be read.
    pub fn rows(&self, filter: &Filter) -> Result<Vec<Row>, StoreError> {
        let mut lines = self.lines()?;
        if filter.history == History::Newest {
            keep_newest(&mut lines);
        }
        let wanted: BTreeSet<Line> = lines.iter().filter(|(_, id)| filter.wants(id)).map(|(line, _)| *line).collect();
        let wanted = |line: Line| wanted.contains(&line);
        let read = if self.format == 1 { format1::runs } else { schema::runs };
        let mut rows = self.checked(read(&self.conn, &wanted))?;
        if filter.traces == Traces::Load {
            for (line, row) in &mut rows {
                row.trace = self.trace(*line)?;
            }
        }
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn lines(&self) -> Result<Vec<(Line, RunId)>, StoreError> {
        self.checked(if self.format == 1 { format1::ids(&self.conn) } else { schema::ids(&self.conn) })
    }

    fn trace(&self, line: Line) -> Result<Vec<TracePoint>, StoreError> {
        let found = self.conn.prepare_cached(schema::SELECT_TRACE).and_then(|mut statement| {
            statement.query_row([line], |row| Ok(trace::decode(row.get_ref(0)?.as_blob().unwrap_or_default())))
        });
        match found {
            Ok(Some(points)) => self.checked(Ok(points)),
            Ok(None) | Err(rusqlite::Error::QueryReturnedNoRows) => {
                Err(self.damaged(format!("the trace of run {line}")))
            }
            Err(e) => self.checked(Err(e)),
        }
    }

    /// What was read, unless the file changed in the meantime under a reader without locks.
    fn checked<T>(&self, read: rusqlite::Result<T>) -> Result<T, StoreError> {
        match &self.snapshot {
            Some(snapshot) if !snapshot.holds(&self.path) => Err(StoreError::Changed { path: self.path.clone() }),
            _ => read.map_err(|e| self.context(e)),
        }
    }

    fn context(&self, source: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, source)
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), detail }
    }
}

/// The format of a store, if its tables are those of that format.
fn check_tables(conn: &Connection, path: &Path) -> Result<u32, StoreError> {
    let format = schema::format(conn).map_err(|e| StoreError::sqlite(path, e))?;
    let tables = match format {
        0 => Ok(()),
        1 => format1::check(conn),
        schema::FORMAT => schema::check(conn),
        found => {
            return Err(StoreError::Newer { path: path.to_path_buf(), found, known: schema::FORMAT });
        }
    };
    tables.map_err(|e| StoreError::tables(path, e))?;
    Ok(format)
}

fn insert(conn: &mut Connection, row: &Row) -> rusqlite::Result<()> {
    let transaction = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    if let Some(line) = schema::write(&transaction, row)? {
        transaction
            .prepare_cached("INSERT INTO traces (run, trace) VALUES (?1, ?2)")?
            .execute(params![line, trace::encode(&row.trace)])?;
    }
    schema::forget_failure(&transaction, row.id())?;
    transaction.commit()
}

/// Drops runs of a (method, problem, size, settings) from another version, config or problem file than the latest
/// run.
fn keep_newest(lines: &mut Vec<(Line, RunId)>) {
    let cell = |id: &RunId| (id.problem.clone(), id.upper_dim, id.lower_dim, id.method.clone(), id.settings.clone());
    let origin = |id: &RunId| (id.version.clone(), id.config_hash.clone(), id.problem_hash.clone());
    let mut newest = BTreeMap::new();
    for (line, id) in lines.iter() {
        let entry = newest.entry(cell(id)).or_insert_with(|| (*line, origin(id)));
        if *line > entry.0 {
            *entry = (*line, origin(id));
        }
    }
    lines.retain(|(_, id)| newest.get(&cell(id)).is_none_or(|(_, wanted)| *wanted == origin(id)));
}
