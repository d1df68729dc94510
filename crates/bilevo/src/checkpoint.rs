//! Saved runs: bytes from which a run continues as if it had never stopped, in a file or elsewhere.
//!
//! Layout: the magic line, the format version (u32), length and text of a JSON header, length and bytes of the
//! payload (the engine's state, in binary so that every bit survives), and a CRC-32 of all that; numbers are
//! little-endian. You can read the magic line and the header with `head`.
//!
//! In a file ([`load`], [`Slot`]), a checkpoint is replaced as a whole, and only by a later state of the same
//! run: never by another run, by an earlier state, or by a second process.

mod bytes;
mod slot;

pub(crate) use slot::State;
pub use slot::{Saved, Slot, header, load};

use crate::files::FileError;
use crate::id::RunId;
use crate::result::Times;
use bilevo_core::Engine;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a checkpoint says about itself, readable without the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The identity of the run.
    #[serde(flatten)]
    pub id: RunId,
    /// The name under which the problem can be found again: a built-in name or a file.
    pub source: String,
    /// Evaluations at both levels so far.
    pub evaluations: u64,
    /// Whether the run finished.
    pub finished: bool,
}

/// A run as it is saved.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The identity of the run.
    pub header: Header,
    /// The state.
    pub engine: Engine,
    /// Wall time so far.
    pub times: Times,
}

/// Why a checkpoint could not be read or written; the existing file stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written, or is of another kind.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not a checkpoint at all.
    #[error("these bytes are not a bilevo checkpoint\nhint: pass the saved bytes unchanged and complete")]
    Foreign,
    /// The file is incomplete.
    #[error(
        "the checkpoint{} is cut off: {got} bytes, {expected} expected\nhint: the copy is incomplete; use another copy or start the run again", named(.path)
    )]
    Truncated {
        /// The file, if it is one.
        path: Option<PathBuf>,
        /// Its length.
        got: u64,
        /// The length it should have, if known.
        expected: u64,
    },
    /// Bytes were changed.
    #[error("the checkpoint{} is damaged: {reason}\nhint: use another copy or start the run again", named(.path))]
    Damaged {
        /// The file, if it is one.
        path: Option<PathBuf>,
        /// How that was detected.
        reason: String,
    },
    /// Written by another version.
    #[error(
        "the checkpoint{} was written by {written_by}, this is bilevo {}\nhint: finish the run with the version that started it", named(.path),
        crate::VERSION
    )]
    Version {
        /// The file, if it is one.
        path: Option<PathBuf>,
        /// The version that wrote it.
        written_by: String,
    },
    /// Another run is saved there.
    #[error(
        "`{}` holds {}: {}\nhint: it was left unchanged; give the name of another file, or delete this one",
        .path.display(), whose(.header), .header.id
    )]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// What is in it.
        header: Box<Header>,
    },
    /// The same run is saved there, in a later state.
    #[error(
        "`{}` holds this run after {} evaluations already\nhint: it was left unchanged; resume it, give the name of another file, or delete this one",
        .path.display(), .header.evaluations
    )]
    Ahead {
        /// The file.
        path: PathBuf,
        /// What is in it.
        header: Box<Header>,
    },
    /// Another process is saving a run there.
    #[error("another process is saving a run into `{}`\nhint: wait until it ends, or give the name of another file", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
}

fn named(path: &Option<PathBuf>) -> String {
    path.as_ref().map(|path| format!(" `{}`", path.display())).unwrap_or_default()
}

fn whose(header: &Header) -> &'static str {
    if header.finished { "another run" } else { "another, unfinished run" }
}

impl CheckpointError {
    /// The same error, naming a file.
    fn in_file(self, file: &std::path::Path) -> Self {
        let place = || Some(file.to_path_buf());
        match self {
            CheckpointError::Foreign => {
                FileError::Foreign { path: file.into(), description: slot::KIND.description }.into()
            }
            CheckpointError::Truncated { got, expected, .. } => {
                CheckpointError::Truncated { path: place(), got, expected }
            }
            CheckpointError::Damaged { reason, .. } => CheckpointError::Damaged { path: place(), reason },
            CheckpointError::Version { written_by, .. } => CheckpointError::Version { path: place(), written_by },
            other => other,
        }
    }
}
