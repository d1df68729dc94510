//! The file to which a run is saved.
//!
//! While a [`Slot`] is open, its file is locked: each new version is locked before it replaces the old one, and a new
//! file is created only if there is none. So if two processes use the same name, one of them is told about the other.
//! On systems without locks, every save still checks what it would replace.

use super::bytes::{self, MAGIC};
use super::{Checkpoint, CheckpointError, Header};
use crate::files::{self, FileError, Kind};
use crate::id::RunId;
use crate::result::Times;
use bilevo_core::Engine;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// How to recognise checkpoints.
pub(super) const KIND: Kind =
    Kind { name: "checkpoint", description: "a bilevo checkpoint", is_ours: |start| start.starts_with(MAGIC) };

/// Reads what a checkpoint says about itself, without its state.
///
/// # Errors
/// As for [`load`], as far as the beginning of the file tells.
pub fn header(path: &Path) -> Result<Header, CheckpointError> {
    header_of(&files::open(path, &KIND)?, path)
}

/// Reads a checkpoint.
///
/// # Errors
/// The file cannot be read, is no checkpoint, is cut off or damaged, or comes from another version.
pub fn load(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let file = files::open(path, &KIND)?;
    // A large file of another kind is not read completely.
    header_of(&file, path)?;
    let mut bytes = Vec::new();
    let read = (&file).rewind().and_then(|()| (&file).read_to_end(&mut bytes));
    read.map_err(|source| read_error(path, source))?;
    Checkpoint::from_bytes(&bytes).map_err(|error| error.in_file(path))
}

fn header_of(mut file: &File, path: &Path) -> Result<Header, CheckpointError> {
    let length = file.metadata().map_err(|source| read_error(path, source))?.len();
    let read = file.rewind().and_then(|()| bytes::read_header(file, length));
    read.map_err(|source| read_error(path, source))?.map_err(|error| error.in_file(path))
}

/// An empty file could become anything, so it is not replaced.
fn refuse_foreign(mut file: &File, path: &Path) -> Result<(), CheckpointError> {
    let mut start = Vec::new();
    let read = file.rewind().and_then(|()| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    read.map_err(|source| read_error(path, source))?;
    if (KIND.is_ours)(&start) { Ok(()) } else { Err(CheckpointError::Foreign.in_file(path)) }
}

fn read_error(path: &Path, source: io::Error) -> CheckpointError {
    FileError::Io { doing: "read", kind: KIND.name, path: path.into(), source }.into()
}

/// What happened to a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The state is in the file.
    Written,
    /// The file holds the same run at this point or later, after this many evaluations, and was kept.
    Kept(u64),
}

/// The state of a run that goes into a file.
pub(crate) struct State<'a> {
    pub(crate) header: Header,
    /// The identity of the run before its budget was raised.
    pub(crate) earlier: Option<&'a RunId>,
    pub(crate) engine: &'a Engine,
    pub(crate) times: Times,
}

/// How the file's content relates to the run that will be saved there.
enum There {
    /// The same run, not later than this; or nothing at all.
    Behind,
    /// The same run, at the same point or later.
    Ahead(Header),
    /// Another run.
    Other(Header),
}

/// A file to which a run is saved again and again.
#[derive(Debug)]
pub struct Slot {
    path: PathBuf,
    /// The current file, locked.
    held: Option<File>,
}

impl Slot {
    /// A slot at `path`; nothing is touched yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Slot { path: path.into(), held: None }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Claims the file for a run that is about to start, and saves its first state: better to learn now than after
    /// hours that saving is not possible.
    ///
    /// # Errors
    /// See [`CheckpointError`]; also if the file holds this run further on and unfinished, which
    /// should be resumed.
    pub(crate) fn claim(&mut self, state: &State<'_>) -> Result<Saved, CheckpointError> {
        self.hold()?;
        match self.there(state)? {
            There::Ahead(header) if header.finished => return Ok(Saved::Kept(header.evaluations)),
            There::Ahead(header) if header.evaluations > state.header.evaluations => {
                return Err(CheckpointError::Ahead { path: self.path.clone(), header: Box::new(header) });
            }
            There::Other(_) => {}
            There::Behind | There::Ahead(_) => files::prepare(&self.path, &KIND)?,
        }
        self.save(state)
    }

    /// Saves a state, unless the file already has the same or a later one.
    ///
    /// # Errors
    /// See [`CheckpointError`].
    pub(crate) fn save(&mut self, state: &State<'_>) -> Result<Saved, CheckpointError> {
        loop {
            self.hold()?;
            match self.there(state)? {
                There::Behind => {}
                There::Ahead(header) => return Ok(Saved::Kept(header.evaluations)),
                There::Other(header) => {
                    return Err(CheckpointError::OtherRun { path: self.path.clone(), header: Box::new(header) });
                }
            }
            let State { header, engine, times, .. } = state;
            let put = |out: &mut dyn Write| out.write_all(&bytes::encode(header, engine, *times)?);
            // The file was free, but another process was faster; we meet it in the next round.
            if let Some(file) = files::write_locked(&self.path, &KIND, self.held.as_ref(), put)? {
                self.held = Some(file);
                return Ok(Saved::Written);
            }
        }
    }

    /// Locks the current file, if there is one.
    fn hold(&mut self) -> Result<(), CheckpointError> {
        if self.held.as_ref().is_some_and(|held| files::is_at(held, &self.path)) {
            return Ok(());
        }
        loop {
            self.let_go();
            let file = match files::open(&self.path, &KIND) {
                Err(error) if error.is_not_found() => return Ok(()),
                opened => opened?,
            };
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                return Err(CheckpointError::InUse { path: self.path.clone() });
            }
            // Its owner may have replaced it before we got the lock.
            if files::is_at(&file, &self.path) {
                self.held = Some(file);
                return Ok(());
            }
        }
    }

    /// Unlocks before closing: a child process that is just being started has a copy of every open file, and would
    /// keep the lock a moment longer.
    fn let_go(&mut self) {
        if let Some(file) = self.held.take() {
            let _ = file.unlock();
        }
    }

    fn there(&self, state: &State<'_>) -> Result<There, CheckpointError> {
        let Some(held) = &self.held else { return Ok(There::Behind) };
        refuse_foreign(held, &self.path)?;
        let header = header_of(held, &self.path)?;
        let (own, known) = (&state.header, |id: &RunId| id == &header.id);
        Ok(if known(&own.id) && header.evaluations >= own.evaluations && (header.finished || !own.finished) {
            There::Ahead(header)
        } else if known(&own.id) || (state.earlier.is_some_and(known) && header.evaluations <= own.evaluations) {
            There::Behind
        } else {
            There::Other(header)
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.let_go();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_just_being_started_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        std::fs::write(&path, "").unwrap();
        let mut slot = Slot::new(&path);
        slot.hold().unwrap();
        let of_the_child = slot.held.as_ref().unwrap().try_clone().unwrap();
        drop(slot);
        Slot::new(&path).hold().unwrap();
        drop(of_the_child);
    }
}
