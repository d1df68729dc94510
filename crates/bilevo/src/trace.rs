//! A run's generations as JSON lines, one line each, flushed immediately.
//!
//! Numbers that are not finite are written as `null`. A resumed run continues the file; generations after the
//! checkpoint and incomplete lines are removed first, so every generation appears once.

use crate::files::{self, FileError, Kind};
use crate::observe::{Event, Observer};
use bilevo_core::record::GenerationRecord;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// One line of a trace.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    record: &'a GenerationRecord,
    seconds: f64,
}

/// The part of a line by which a trace is recognised.
#[derive(Deserialize)]
struct Numbered {
    generation: u64,
}

/// How to recognise traces.
const KIND: Kind = Kind { name: "trace", description: "a trace", is_ours: |start| start.starts_with(START) };
const START: &[u8] = b"{\"generation\"";

/// Writes a trace.
pub struct TraceWriter {
    path: PathBuf,
    out: Box<dyn Write>,
    error: Option<io::Error>,
}

impl fmt::Debug for TraceWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceWriter").field("path", &self.path).field("error", &self.error).finish_non_exhaustive()
    }
}

impl TraceWriter {
    /// Opens `path` for a run that has finished `generations` so far: 0 starts a new file.
    ///
    /// # Errors
    /// The file cannot be opened, or holds something that is not a trace.
    pub fn open(path: &Path, generations: u64) -> Result<Self, FileError> {
        let mut file = files::open_growing(path, &KIND)?;
        let error = |source| FileError::Io { doing: "write", kind: KIND.name, path: path.into(), source };
        let keep = kept_length(&file, generations).map_err(error)?;
        let keep = keep.ok_or_else(|| FileError::Foreign { path: path.into(), description: KIND.description })?;
        file.set_len(keep).and_then(|()| file.seek(SeekFrom::End(0))).map_err(error)?;
        Ok(TraceWriter { path: path.into(), out: Box::new(file), error: None })
    }

    /// A trace to a stream, which messages call `name`.
    pub fn to(out: impl Write + 'static, name: impl Into<PathBuf>) -> Self {
        TraceWriter { path: name.into(), out: Box::new(out), error: None }
    }

    /// Whether every line was written.
    ///
    /// # Errors
    /// The first error; the run continued without writing further lines.
    pub fn finish(self) -> Result<(), FileError> {
        match self.error {
            None => Ok(()),
            Some(source) => Err(FileError::Io { doing: "write", kind: KIND.name, path: self.path, source }),
        }
    }

    fn write(&mut self, record: &GenerationRecord, seconds: f64) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { record, seconds })?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}

/// The number of bytes up to the last generation to keep; `None` if this is not a trace.
fn kept_length(file: &File, generations: u64) -> io::Result<Option<u64>> {
    /// No line of a trace is longer; binary files have no line ends to wait for.
    const LONGEST: u64 = 1 << 16;
    let mut reader = BufReader::new(file);
    let mut keep = 0;
    loop {
        let mut line = Vec::new();
        let length = io::Read::take(&mut reader, LONGEST).read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(Some(keep));
        }
        match serde_json::from_slice::<Numbered>(&line) {
            Ok(Numbered { generation }) if generation <= generations => keep += length,
            Ok(_) => return Ok(Some(keep)),
            // Half of a line at the end is what a crash leaves behind.
            Err(e) if e.is_eof() && !line.ends_with(b"\n") && line.starts_with(START) => {
                return Ok(Some(keep));
            }
            Err(_) => return Ok(None),
        }
    }
}

impl Observer for TraceWriter {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::GenerationDone { record, times, .. } = event
            && self.error.is_none()
        {
            self.error = self.write(record, times.seconds).err();
        }
        ControlFlow::Continue(())
    }
}
