//! A run's generations as JSON lines, one for each, flushed as they come.
//!
//! Numbers that are not finite are written as `null`. A resumed run goes on in the file of the
//! first one; generations after the checkpoint, or half of a line, are cut off before, so every
//! generation stands there once.

use crate::observe::{Event, Observer};
use bilevo_core::record::GenerationRecord;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
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

/// The part of a line that tells a trace from other files.
#[derive(Deserialize)]
struct Numbered {
    generation: u64,
}

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The system refused.
    #[error("cannot write the trace `{path}`: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else is in that file.
    #[error("`{path}` exists and is not a trace\nhint: it was left as it is; give the name of another file")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
}

/// Writes a trace.
#[derive(Debug)]
pub struct TraceWriter {
    path: PathBuf,
    file: File,
    error: Option<io::Error>,
}

impl TraceWriter {
    /// Opens `path` for a run that has finished `generations` so far: 0 starts the file anew.
    ///
    /// # Errors
    /// The file cannot be opened, or holds something that is not a trace.
    pub fn open(path: &Path, generations: u64) -> Result<Self, TraceError> {
        let error = |source| TraceError::Io { path: path.into(), source };
        let regular = match path.metadata() {
            Ok(metadata) => metadata.is_file(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => true,
            Err(e) => return Err(error(e)),
        };
        // A pipe or a terminal has no past.
        let file = if regular {
            let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
            let mut file = options.map_err(error)?;
            let keep = kept_length(&file, generations).map_err(error)?;
            let keep = keep.ok_or_else(|| TraceError::Foreign { path: path.into() })?;
            file.set_len(keep).and_then(|()| file.seek(SeekFrom::End(0))).map_err(error)?;
            file
        } else {
            OpenOptions::new().write(true).open(path).map_err(error)?
        };
        Ok(TraceWriter { path: path.into(), file, error: None })
    }

    /// Whether every line was written.
    ///
    /// # Errors
    /// The first thing that went wrong; the run went on without further lines.
    pub fn finish(self) -> Result<(), TraceError> {
        match self.error {
            None => Ok(()),
            Some(source) => Err(TraceError::Io { path: self.path, source }),
        }
    }

    fn write(&mut self, record: &GenerationRecord, seconds: f64) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { record, seconds })?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

/// Bytes up to the end of the last generation to keep; none if this is not a trace.
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
            Err(e) if e.is_eof() && !line.ends_with(b"\n") && line.starts_with(b"{\"generation\"") => {
                return Ok(Some(keep));
            }
            Err(_) => return Ok(None),
        }
    }
}

impl Observer for TraceWriter {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::GenerationDone { record, seconds, .. } = event
            && self.error.is_none()
        {
            self.error = self.write(record, *seconds).err();
        }
        ControlFlow::Continue(())
    }
}
