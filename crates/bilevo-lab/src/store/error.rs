//! What can be wrong with a store, and what to do about it.

use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Why a store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No such file.
    #[error("there is no store `{}`\nhint: `bilevo experiment run … --store FILE` makes one", .path.display())]
    Missing {
        /// The requested path.
        path: PathBuf,
    },
    /// Some other file.
    #[error("`{}` is not a bilevo store: {found}\nhint: {hint}; this one is left unchanged", .path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: &'static str,
        /// What to give instead.
        hint: &'static str,
    },
    /// Made by a newer version.
    #[error("`{}` has store format {found}, this version knows formats up to {known}\nhint: update bilevo, or use another store", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// Truncated or overwritten.
    #[error("the store `{}` is damaged: {detail}\nhint: restore it from a copy, or move it away and run the grid again", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// It has our mark, but other tables.
    #[error("`{}` is marked as a bilevo store, but its tables are not those of one: {detail}\nhint: restore it from a copy, or use another store; this one is left unchanged", .path.display())]
    Tables {
        /// The file.
        path: PathBuf,
        /// What is missing.
        detail: String,
    },
    /// Another process wrote to it while it was being read.
    #[error("the store `{}` was written to while it was read\nhint: try again", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Another process is writing to it.
    #[error("another process{} is writing to `{}`\nhint: wait for it to end, or use another store", .process.map(|p| format!(" ({p})")).unwrap_or_default(), .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// The other process.
        process: Option<u32>,
    },
    /// No space left.
    #[error("no space is left for the store `{}`; what was written before is safe\nhint: make room and run the same command again; it continues", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot use `{}`: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
    /// Anything else SQLite says.
    #[error("cannot use the store `{}`: {source}", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// The stable code of this error ([`bilevo::codes::ERRORS`]).
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::NotAStore { .. } => "E403",
            _ => "E401",
        }
    }

    /// Some other file is where the store should go.
    pub(super) fn not_a_store(path: &Path, found: &'static str) -> StoreError {
        StoreError::NotAStore { path: path.to_path_buf(), found, hint: "give a path where there is no file yet" }
    }

    /// The same error for someone who only wants to read.
    pub(super) fn for_reading(self) -> StoreError {
        let hint = "give the file that `bilevo experiment run` or `bilevo reproduce` wrote, mostly NAME.db";
        match self {
            StoreError::NotAStore { path, found, .. } => StoreError::NotAStore { path, found, hint },
            other => other,
        }
    }

    /// The tables are not those of a store.
    pub(super) fn tables(path: &Path, source: rusqlite::Error) -> StoreError {
        let (path, detail) = (
            path.to_path_buf(),
            match source {
                // The message alone: the whole error quotes the query.
                rusqlite::Error::SqlInputError { msg, .. } => msg,
                other => return StoreError::sqlite(path, other),
            },
        );
        StoreError::Tables { path, detail }
    }

    pub(super) fn sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Damaged { path, detail: source.to_string() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path, process: None },
            _ if matches!(
                source,
                rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)
            ) =>
            {
                StoreError::Damaged { path, detail: source.to_string() }
            }
            _ => StoreError::Sqlite { path, source },
        }
    }

    pub(super) fn io(path: &Path, source: std::io::Error) -> StoreError {
        match source.kind() {
            std::io::ErrorKind::StorageFull => StoreError::Full { path: path.to_path_buf() },
            _ => StoreError::Io { path: path.to_path_buf(), source },
        }
    }
}
