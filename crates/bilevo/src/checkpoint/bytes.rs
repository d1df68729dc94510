//! A checkpoint as bytes.

use super::{Checkpoint, CheckpointError, Header};
use crate::id::RunId;
use crate::panics;
use crate::result::Times;
use bilevo_core::Engine;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// First bytes of every checkpoint.
pub(super) const MAGIC: &[u8] = b"bilevo checkpoint\n";
/// Version of the layout.
const FORMAT: u32 = 7;
/// The longest acceptable header.
const MAX_HEADER: u32 = 1 << 20;
/// Magic, version, header length.
const PREFIX: usize = MAGIC.len() + 8;

/// The part of a checkpoint that only bilevo reads.
#[derive(Serialize)]
struct PayloadOut<'a> {
    engine: &'a Engine,
    times: Times,
}

#[derive(Deserialize)]
struct Payload {
    engine: Engine,
    times: Times,
}

impl Checkpoint {
    /// The checkpoint as bytes, for a file or any other storage.
    ///
    /// # Errors
    /// Only if memory runs out on the way.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        encode(&self.header, &self.engine, self.times)
    }

    /// The run saved in these bytes.
    ///
    /// # Errors
    /// They are not a checkpoint, are incomplete or damaged, or come from another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
        let (header, body) = decode_header(bytes, bytes.len() as u64)?;
        let truncated = |expected| CheckpointError::Truncated { path: None, got: bytes.len() as u64, expected };
        let payload_length = le_u64(bytes, body).ok_or_else(|| truncated(body as u64 + 12))?;
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
            return Err(damaged("its checksum does not match its content"));
        }
        if header.id.version != crate::VERSION {
            let written_by = format!("bilevo {}", header.id.version);
            return Err(CheckpointError::Version { path: None, written_by });
        }
        let payload: Payload = postcard::from_bytes(&content[body + 8..])
            .map_err(|e| damaged(&format!("its state cannot be read ({e})")))?;
        let Payload { engine, times } = payload;
        // With a forged state, even reading it may panic.
        if !panics::quietly(|| fits(&header, &engine)).unwrap_or(false) {
            return Err(damaged("its header does not match its state"));
        }
        if ![times.seconds, times.training_seconds].iter().all(|seconds| (0.0..1e15).contains(seconds)) {
            return Err(damaged("its times are not valid"));
        }
        Ok(Checkpoint { header, engine, times })
    }
}

pub(super) fn encode(header: &Header, engine: &Engine, times: Times) -> io::Result<Vec<u8>> {
    let header = serde_json::to_vec(header)?;
    let payload = PayloadOut { engine, times };
    let payload = postcard::to_stdvec(&payload).map_err(io::Error::other)?;
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

/// Reads as much as the header needs.
pub(super) fn read_header(mut from: impl Read, length: u64) -> io::Result<Result<Header, CheckpointError>> {
    let mut bytes = Vec::new();
    from.by_ref().take(PREFIX as u64).read_to_end(&mut bytes)?;
    let header = u64::from(le_u32(&bytes, PREFIX - 4).unwrap_or(0).min(MAX_HEADER));
    from.take(header).read_to_end(&mut bytes)?;
    Ok(decode_header(&bytes, length).map(|(header, _)| header))
}

/// The header, and where the payload begins. `bytes` may be only the first of `length` bytes.
fn decode_header(bytes: &[u8], length: u64) -> Result<(Header, usize), CheckpointError> {
    let truncated = |expected: usize| CheckpointError::Truncated { path: None, got: length, expected: expected as u64 };
    let magic = &bytes[..bytes.len().min(MAGIC.len())];
    if magic != &MAGIC[..magic.len()] {
        return Err(CheckpointError::Foreign);
    }
    let (Some(format), Some(header_length)) = (le_u32(bytes, MAGIC.len()), le_u32(bytes, MAGIC.len() + 4)) else {
        return Err(truncated(PREFIX));
    };
    if format != FORMAT {
        let written_by = format!("a version with checkpoint format {format} (ours is {FORMAT})");
        return Err(CheckpointError::Version { path: None, written_by });
    }
    if header_length > MAX_HEADER {
        return Err(damaged(&format!("its header would be {header_length} bytes long")));
    }
    let body = PREFIX + header_length as usize;
    let text = bytes.get(PREFIX..body).ok_or_else(|| truncated(body))?;
    let header = serde_json::from_slice(text).map_err(|e| damaged(&format!("its header cannot be read ({e})")))?;
    Ok((header, body))
}

/// Whether a header matches its state, and the run can continue from it.
fn fits(header: &Header, engine: &Engine) -> bool {
    let summary = engine.summary();
    header.id == RunId::new(engine, &header.id.method, &header.id.problem_hash)
        && header.evaluations == summary.evaluations.total()
        && header.finished == summary.stop.is_some()
        && engine.sizes_fit()
}

fn damaged(reason: &str) -> CheckpointError {
    CheckpointError::Damaged { path: None, reason: reason.into() }
}

fn le_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

fn le_u64(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}
