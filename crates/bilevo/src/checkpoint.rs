//! Saved runs: one file from which a run goes on as if it had never stopped.
//!
//! Layout: the magic line, format version (u32), length and text of a JSON header, length and
//! bytes of the payload (the engine's state, binary so that every bit survives), CRC-32 of all
//! that; numbers little-endian. The magic line and the header can be read with `head`.
//!
//! A file is written beside its place, flushed to the disk and renamed: a crash leaves the earlier
//! checkpoint or the new one, never half of one, so no second copy is kept. A file that is not a
//! checkpoint is never overwritten.

use crate::id::RunId;
use crate::panics;
use bilevo_core::Engine;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// First bytes of every checkpoint.
const MAGIC: &[u8] = b"bilevo checkpoint\n";
/// Version of the layout described above.
const FORMAT: u32 = 2;
/// Longest header that is believed.
const MAX_HEADER: u32 = 1 << 20;
/// Magic, version, header length.
const PREFIX: usize = MAGIC.len() + 8;

/// What a checkpoint says about itself, readable without the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// What it is a run of.
    #[serde(flatten)]
    pub id: RunId,
    /// The name under which the problem can be found again: a built-in name or a file.
    pub source: String,
    /// Evaluations at both levels so far.
    pub evaluations: u64,
    /// Whether the run has ended by itself.
    pub finished: bool,
}

/// A run as it is saved.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// What it is a run of.
    pub header: Header,
    /// The state.
    pub engine: Engine,
    /// Wall time so far.
    pub seconds: f64,
    /// Wall time of the trainings within it.
    pub training_seconds: f64,
}

/// Why a checkpoint could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The system refused.
    #[error("cannot {doing} the checkpoint `{path}`: {source}")]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not a checkpoint at all.
    #[error("`{path}` is not a bilevo checkpoint\nhint: it was left as it is; give the name of another file")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The end is missing.
    #[error(
        "the checkpoint `{path}` is cut off: {got} bytes, {expected} expected\nhint: it was not copied in full; use another copy or start the run again"
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its length.
        got: u64,
        /// The length it should have, as far as known.
        expected: u64,
    },
    /// Bytes were changed.
    #[error("the checkpoint `{path}` is damaged: {reason}\nhint: use another copy or start the run again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that was noticed.
        reason: String,
    },
    /// Written by another version.
    #[error(
        "the checkpoint `{path}` was written by {written_by}, this is bilevo {}\nhint: finish the run with the version that started it",
        crate::VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version that wrote it.
        written_by: String,
    },
}

/// The part of a checkpoint that only bilevo reads.
#[derive(Serialize)]
struct PayloadOut<'a> {
    engine: &'a Engine,
    seconds: f64,
    training_seconds: f64,
}

#[derive(Deserialize)]
struct Payload {
    engine: Engine,
    seconds: f64,
    training_seconds: f64,
}

/// Writes a checkpoint atomically, replacing an earlier one of the same name.
///
/// # Errors
/// The file there is not a checkpoint, or the system refuses; what was there is left as it was.
pub fn save(
    path: &Path,
    header: &Header,
    engine: &Engine,
    seconds: f64,
    training_seconds: f64,
) -> Result<(), CheckpointError> {
    may_write(path)?;
    let error = |source| CheckpointError::Io { doing: "write", path: path.into(), source };
    let payload = PayloadOut { engine, seconds, training_seconds };
    let bytes = encode(header, &payload).map_err(error)?;
    write_atomically(path, &bytes).map_err(error)
}

fn encode(header: &Header, payload: &PayloadOut<'_>) -> io::Result<Vec<u8>> {
    let header = serde_json::to_vec(header)?;
    let payload = postcard::to_stdvec(payload).map_err(io::Error::other)?;
    let mut bytes = Vec::with_capacity(PREFIX + header.len() + payload.len() + 12);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&payload);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    Ok(bytes)
}

fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    // Through a link the file it points to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = path.file_name().ok_or_else(|| io::Error::other("this is not the name of a file"))?;
    let unique = format!(".{}.{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let mut temporary = name.to_os_string();
    temporary.push(unique);
    let temporary = path.with_file_name(temporary);
    let written = write_and_sync(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        // Whatever part of it was written is of no use to anybody.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    sync_directory(&path);
    Ok(())
}

fn write_and_sync(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the new name last through a power cut, where the system can do that.
fn sync_directory(path: &Path) {
    if cfg!(unix)
        && let Some(directory) = path.parent()
    {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
}

/// Refuses to replace a file that is not a checkpoint, be it empty.
///
/// # Errors
/// [`CheckpointError::Foreign`], or the file cannot be read.
pub fn may_write(path: &Path) -> Result<(), CheckpointError> {
    let foreign = || CheckpointError::Foreign { path: path.into() };
    let error = |source| CheckpointError::Io { doing: "write", path: path.into(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(error(e)),
    };
    if !file.metadata().map_err(error)?.is_file() {
        return Err(foreign());
    }
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(error)?;
    if start == MAGIC { Ok(()) } else { Err(foreign()) }
}

/// Reads what a checkpoint says about itself, without its state.
///
/// # Errors
/// As for [`load`], as far as the beginning of the file tells.
pub fn header(path: &Path) -> Result<Header, CheckpointError> {
    Ok(read_header(path)?.header)
}

/// Reads a checkpoint.
///
/// # Errors
/// The file cannot be read, is no checkpoint, is cut off or damaged, or comes from another version.
pub fn load(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let Opened { header, mut bytes, file, length } = read_header(path)?;
    file.take(length).read_to_end(&mut bytes).map_err(|source| read_error(path, source))?;
    let truncated = |expected| CheckpointError::Truncated { path: path.into(), got: bytes.len() as u64, expected };
    let damaged = |reason: &str| CheckpointError::Damaged { path: path.into(), reason: reason.into() };

    let body = PREFIX + le_u32(&bytes, PREFIX - 4).unwrap_or(0) as usize;
    let payload_length = le_u64(&bytes, body).ok_or_else(|| truncated(body as u64 + 12))?;
    let expected = (body as u64 + 12).saturating_add(payload_length);
    let got = bytes.len() as u64;
    if got < expected {
        return Err(truncated(expected));
    }
    if got > expected {
        return Err(damaged("there are bytes after its end"));
    }
    let (content, checksum) = bytes.split_at(bytes.len() - 4);
    if le_u32(checksum, 0) != Some(crc32fast::hash(content)) {
        return Err(damaged("its checksum does not fit its content"));
    }
    if header.id.version != crate::VERSION {
        let written_by = format!("bilevo {}", header.id.version);
        return Err(CheckpointError::Version { path: path.into(), written_by });
    }
    let payload: Payload =
        postcard::from_bytes(&content[body + 8..]).map_err(|e| damaged(&format!("its state cannot be read ({e})")))?;
    let engine = payload.engine;
    // A forged state may make even a question about it panic.
    if !panics::quietly(|| fits(&header, &engine)).unwrap_or(false) {
        return Err(damaged("its header does not fit its state"));
    }
    let (seconds, training_seconds) = (payload.seconds, payload.training_seconds);
    if !(seconds >= 0.0 && training_seconds >= 0.0 && seconds < 1e15 && training_seconds < 1e15) {
        return Err(damaged("its times are not times"));
    }
    Ok(Checkpoint { header, engine, seconds, training_seconds })
}

/// Whether a header tells the truth about a state that can go on.
fn fits(header: &Header, engine: &Engine) -> bool {
    let summary = engine.summary();
    header.id == RunId::new(engine, &header.id.method, &header.id.problem_hash)
        && header.evaluations == summary.evaluations.total()
        && header.finished == summary.stop.is_some()
        && engine.config().check(engine.spec()).is_ok()
}

struct Opened {
    header: Header,
    /// The bytes up to the end of the header.
    bytes: Vec<u8>,
    /// The file, placed behind them.
    file: File,
    length: u64,
}

fn read_header(path: &Path) -> Result<Opened, CheckpointError> {
    let error = |source| read_error(path, source);
    let file = File::open(path).map_err(error)?;
    let metadata = file.metadata().map_err(error)?;
    let length = metadata.len();
    if !metadata.is_file() {
        return Err(CheckpointError::Foreign { path: path.into() });
    }
    let truncated = |expected| CheckpointError::Truncated { path: path.into(), got: length, expected };
    let mut bytes = Vec::new();
    (&file).take(PREFIX as u64).read_to_end(&mut bytes).map_err(error)?;
    let magic = &bytes[..bytes.len().min(MAGIC.len())];
    if magic != &MAGIC[..magic.len()] {
        return Err(CheckpointError::Foreign { path: path.into() });
    }
    let (Some(format), Some(header_length)) = (le_u32(&bytes, MAGIC.len()), le_u32(&bytes, MAGIC.len() + 4)) else {
        return Err(truncated(PREFIX as u64));
    };
    if format != FORMAT {
        let written_by = format!("a version with checkpoint format {format} (ours is {FORMAT})");
        return Err(CheckpointError::Version { path: path.into(), written_by });
    }
    let damaged = |reason: String| CheckpointError::Damaged { path: path.into(), reason };
    if header_length > MAX_HEADER {
        return Err(damaged(format!("its header would be {header_length} bytes long")));
    }
    (&file).take(u64::from(header_length)).read_to_end(&mut bytes).map_err(error)?;
    if bytes.len() < PREFIX + header_length as usize {
        return Err(truncated((PREFIX + header_length as usize) as u64));
    }
    let header =
        serde_json::from_slice(&bytes[PREFIX..]).map_err(|e| damaged(format!("its header cannot be read ({e})")))?;
    Ok(Opened { header, bytes, file, length })
}

fn read_error(path: &Path, source: io::Error) -> CheckpointError {
    CheckpointError::Io { doing: "read", path: path.into(), source }
}

fn le_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn le_u64(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}
