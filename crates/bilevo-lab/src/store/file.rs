//! The file of a store, seen from outside: where it is, whether it is a store, how it is created, and who may write
//! to it.
//!
//! Whether a file is a store is decided from its first bytes, before SQLite touches it, because SQLite may write to
//! whatever it opens. A new store is created under another name and renamed when it is complete. The writer is the
//! process that holds an operating-system lock on `FILE.lock`; the kernel releases it when the process ends, for
//! whatever reason.
//!
//! A store is one file while no process writes to it. Its write-ahead log exists from the first write to the
//! end of the writer, who then takes the store out of WAL mode. So a store in WAL mode without its log is
//! a copy that was made too early, or of what a kill left behind.

use super::{StoreError, schema};
use bilevo::files;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Marks the SQLite files that are ours ("bilv").
pub(super) const APPLICATION_ID: u32 = 0x6269_6c76;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The right to write to a store, until this is dropped.
#[derive(Debug)]
pub struct WriterLock {
    file: File,
    path: PathBuf,
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Before the lock is released; afterwards, the file may belong to another process.
        let _ = fs::remove_file(&self.path);
        // Closing is not enough: a child process that is just being started has a copy of every open file.
        let _ = self.file.unlock();
    }
}

/// The canonical path of a store, with links resolved, so that all its writers use the same lock.
pub(super) fn locate(path: &Path) -> Result<PathBuf, StoreError> {
    let context = |e| StoreError::io(path, e);
    let full = files::resolve(path).and_then(std::path::absolute).map_err(context)?;
    match full.canonicalize() {
        Ok(found) => match found.metadata().map_err(context)?.file_type() {
            kind if kind.is_file() => Ok(found),
            kind if kind.is_dir() => Err(StoreError::not_a_store(&found, "it is a folder")),
            // Opening a pipe would block until somebody opens its other end.
            _ => Err(StoreError::not_a_store(&found, "it is a pipe, a socket or a device")),
        },
        Err(e) if e.kind() == ErrorKind::NotFound => match (full.parent(), full.file_name()) {
            (Some(folder), Some(name)) => Ok(folder.canonicalize().map_err(context)?.join(name)),
            _ => Err(context(e)),
        },
        Err(e) => Err(context(e)),
    }
}

/// Whether a path is the store at `store` (canonical) or one of its companion files.
pub(super) fn belongs(path: &Path, store: &Path) -> bool {
    let located = locate(path).unwrap_or_else(|_| path.to_path_buf());
    located == store || ["-wal", "-shm", "-journal", ".lock", ".new"].iter().any(|s| located == beside(store, s))
}

/// How many stores of this process are open at each path.
static OPEN: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

/// Counts an open store; drop it after its connection.
#[derive(Debug)]
pub(super) struct Registration {
    path: PathBuf,
    /// Whether the latest rows may be in a log that is missing.
    pub(super) log_is_missing: bool,
}

impl Registration {
    /// Counts a store in after checking its file.
    ///
    /// The file is looked at only while no other store of this process has it open: on Unix,
    /// closing any handle of a file gives up all locks the process has on it, SQLite's included.
    pub(super) fn checked(path: &Path) -> Result<Registration, StoreError> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let log_is_missing = if open.contains_key(path) { false } else { check_header(path)? };
        *open.entry(path.to_path_buf()).or_default() += 1;
        Ok(Registration { path: path.to_path_buf(), log_is_missing })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.path) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.path);
            }
        }
    }
}

/// Rejects a file that is not a store, is truncated, or comes from a newer version. Returns true if its log is
/// missing.
fn check_header(path: &Path) -> Result<bool, StoreError> {
    let context = |e| StoreError::io(path, e);
    let foreign = |found| Err(StoreError::not_a_store(path, found));
    let mut header = Vec::with_capacity(100);
    let file = File::open(path).map_err(context)?;
    file.take(100).read_to_end(&mut header).map_err(context)?;
    if header.is_empty() {
        return foreign("it is empty");
    }
    if !header.starts_with(MAGIC) {
        return foreign("it is some other kind of file");
    }
    let number = |at: usize| header.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
    let (Some(pages), Some(version), Some(application)) = (number(28), number(60), number(68)) else {
        return Err(StoreError::Damaged { path: path.to_path_buf(), detail: "it is cut off".into() });
    };
    if application != APPLICATION_ID {
        return foreign("it is an SQLite file of another program");
    }
    let known = schema::FORMAT;
    if version > known {
        return Err(StoreError::Newer { path: path.to_path_buf(), found: version, known });
    }
    check_length(path, &header, pages)?;
    // If a writer holds the lock, a missing log is not needed.
    let in_wal_mode = header.get(18) == Some(&2);
    Ok(in_wal_mode && !beside(path, "-wal").exists() && !beside(path, ".lock").exists())
}

/// Rejects a truncated file. With a write-ahead log, the file itself may be behind.
fn check_length(path: &Path, header: &[u8], pages: u32) -> Result<(), StoreError> {
    let log = fs::metadata(beside(path, "-wal")).map_or(0, |m| m.len());
    let length = fs::metadata(path).map_err(|e| StoreError::io(path, e))?.len();
    let page_size = match header.get(16..18) {
        Some(&[0, 1]) => 65_536,
        Some(&[high, low]) => u64::from(u16::from_be_bytes([high, low])),
        _ => 0,
    };
    let expected = u64::from(pages) * page_size;
    if log == 0 && length < expected {
        let detail = format!("{length} bytes are left of {expected}");
        return Err(StoreError::Damaged { path: path.to_path_buf(), detail });
    }
    Ok(())
}

/// Creates an empty store, complete or not at all.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    let context = |e| StoreError::io(path, e);
    // The lock is held while creating: of two processes, the second finds the store complete.
    let _guard = hold_lock_file(path, |file| file.lock().map_err(context))?;
    if path.exists() {
        return Ok(());
    }
    let unfinished = beside(path, ".new");
    remove(&unfinished)?;
    // Leftovers of a removed store: SQLite would apply an old log to the new file.
    for name in [&unfinished, path] {
        for suffix in ["-wal", "-shm", "-journal"] {
            remove(&beside(name, suffix))?;
        }
    }
    fill(&unfinished).map_err(|e| StoreError::sqlite(path, e))?;
    fs::rename(&unfinished, path).map_err(context)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(StoreError::io(path, e)),
        _ => Ok(()),
    }
}

fn fill(path: &Path) -> rusqlite::Result<()> {
    let mut conn = Connection::open(path)?;
    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    schema::prepare(&mut conn)?;
    conn.close().map_err(|(_, e)| e)
}

/// From now on, others may read while we write. If the mode cannot be set (another process holds the file), they
/// wait.
pub(super) fn begin_writing(conn: &Connection) {
    let _ = conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
}

/// Moves everything into the single file. If other connections are open, the last one does it.
pub(super) fn end_writing(conn: &Connection) {
    let _ = conn.busy_timeout(std::time::Duration::ZERO);
    conn.flush_prepared_statement_cache();
    if conn.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).is_err() {
        let _ = conn.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()));
    }
}

/// Becomes the writer, or reports which process is.
pub(super) fn lock(path: &Path) -> Result<WriterLock, StoreError> {
    let mut lock = hold_lock_file(path, |mut file| match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let process = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
            Err(StoreError::Busy { path: path.to_path_buf(), process })
        }
        Err(TryLockError::Error(e)) => Err(StoreError::io(path, e)),
    })?;
    // The number is only used in the message above.
    let file = &mut lock.file;
    let noted = file
        .set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| write!(file, "{}", std::process::id()));
    noted.map_err(|e| StoreError::io(path, e))?;
    Ok(lock)
}

/// Locks the file next to a store. Its previous owner may have removed it in the meantime: then there is another one,
/// or none.
fn hold_lock_file(path: &Path, lock: impl Fn(&File) -> Result<(), StoreError>) -> Result<WriterLock, StoreError> {
    let name = beside(path, ".lock");
    loop {
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let file = options.open(&name).map_err(|e| StoreError::io(&name, e))?;
        lock(&file)?;
        if files::is_at(&file, &name) {
            return Ok(WriterLock { file, path: name });
        }
    }
}

/// A file name with something appended.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
