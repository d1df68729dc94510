//! Reads a store without writing anything, wherever it is.
//!
//! SQLite's own reader of a WAL file creates files next to it. Without a log, there is nothing to share: the file is
//! complete and opened as immutable (on Unix; file addresses differ elsewhere). With a log, another process is
//! writing or was killed, and SQLite's reader shares what it left there. If that is not allowed (in a read-only
//! folder whose log has no index), copies are read.

use super::StoreError;
use super::file::beside;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The state of a file when it was opened without locks, or its copy.
#[derive(Debug)]
pub(super) enum Snapshot {
    /// Length and time of the last change.
    Unlocked(Option<(u64, SystemTime)>),
    /// A copy, removed when this is dropped.
    Copy(#[expect(dead_code, reason = "kept for its drop")] tempfile::TempDir),
}

impl Snapshot {
    /// Whether the file is still the same as when it was opened.
    pub(super) fn holds(&self, path: &Path) -> bool {
        match self {
            Snapshot::Unlocked(then) => *then == look(path),
            Snapshot::Copy(_) => true,
        }
    }
}

fn look(path: &Path) -> Option<(u64, SystemTime)> {
    let found = fs::metadata(path).ok()?;
    Some((found.len(), found.modified().ok()?))
}

/// Opens a store at its canonical path for reading.
pub(super) fn connect(path: &Path) -> Result<(Connection, Option<Snapshot>), StoreError> {
    let then = look(path);
    let log = fs::metadata(beside(path, "-wal")).map_or(0, |m| m.len());
    if log == 0 && cfg!(unix) {
        let flags = OpenFlags::SQLITE_OPEN_URI | read_only();
        let conn = Connection::open_with_flags(immutable(path), flags).and_then(probe);
        return conn.map(|conn| (conn, Some(Snapshot::Unlocked(then)))).map_err(|e| StoreError::sqlite(path, e));
    }
    match Connection::open_with_flags(path, read_only()).and_then(probe) {
        Ok(conn) => Ok((conn, None)),
        Err(e) if matches!(e.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)) => copied(path),
        Err(e) => Err(StoreError::sqlite(path, e)),
    }
}

fn read_only() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// SQLite reads a file only when it has to.
fn probe(conn: Connection) -> rusqlite::Result<Connection> {
    conn.busy_timeout(Duration::from_secs(10))?;
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(conn)
}

/// Copies of the file and its log, in a folder where SQLite may write.
fn copied(path: &Path) -> Result<(Connection, Option<Snapshot>), StoreError> {
    let folder = tempfile::tempdir().map_err(|e| StoreError::io(&std::env::temp_dir(), e))?;
    let copy = folder.path().join("store.db");
    for suffix in ["", "-wal"] {
        let to = beside(&copy, suffix);
        fs::copy(beside(path, suffix), &to).map_err(|e| StoreError::io(&to, e))?;
    }
    let conn = Connection::open(&copy).and_then(probe).map_err(|e| StoreError::sqlite(path, e))?;
    Ok((conn, Some(Snapshot::Copy(folder))))
}

/// The address under which SQLite takes no locks and creates no files.
fn immutable(path: &Path) -> PathBuf {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let mut address = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            byte if plain(byte) => address.push(char::from(byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address.push_str("?immutable=1");
    PathBuf::from(address)
}
