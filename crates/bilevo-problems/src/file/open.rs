//! Problem files and their tables on disk, and the hash of their content.

use super::diagnostic::{Diagnostic, FileError};
use super::{ProblemFile, parse};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest problem file, in bytes.
pub const MAX_FILE: usize = 1_000_000;
/// Largest CSV table, in bytes.
pub const MAX_TABLE: usize = 16_000_000;

/// Reads a problem file; CSV tables are looked for beside it.
///
/// # Errors
/// When the file cannot be read, or everything that is wrong with it.
pub fn read(path: &Path) -> Result<ProblemFile, FileError> {
    let name = path.display().to_string();
    let text = text_of(path, MAX_FILE).map_err(|reason| {
        let diagnostic = Diagnostic::unreadable(name.clone(), format!("cannot be read: {reason}"), way_out(path));
        FileError { diagnostics: vec![diagnostic] }
    })?;
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut file = parse(&name, &text, &mut |table| text_of(&folder.join(table), MAX_TABLE))?;
    if let ProblemFile::Program { spec, .. } = &mut file {
        // The program may run elsewhere, in a folder of its evaluation.
        spec.folder = std::path::absolute(&folder).unwrap_or(folder);
    }
    Ok(file)
}

/// What to do about a file that cannot be read.
fn way_out(path: &Path) -> String {
    match std::fs::metadata(path) {
        Ok(kind) if kind.is_dir() => "name a file in that folder".into(),
        Ok(kind) if kind.len() > MAX_FILE as u64 => "put large tables into CSV files under [data]".into(),
        Ok(_) => "a problem file is TOML, a text in UTF-8".into(),
        Err(_) => "is the path right? `bilevo new NAME` writes a problem file to start from".into(),
    }
}

/// For texts without a folder: there are no tables beside them.
///
/// # Errors
/// Always.
pub fn no_tables(_: &str) -> Result<String, String> {
    Err("there are no files beside this one".into())
}

/// The text of an ordinary file that is not too large.
fn text_of(path: &Path, limit: usize) -> Result<String, String> {
    // Pipes and devices might never end.
    let kind = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !kind.is_file() {
        return Err("it is not an ordinary file".into());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > limit {
        return Err(format!("it has more than {limit} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| format!("it is not text in UTF-8 ({})", error.utf8_error()))
}

/// FNV-1a, 64 bits, over the file and each table with its name.
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn new(text: &str) -> Self {
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        hash.bytes(text.as_bytes());
        hash
    }

    pub(crate) fn add(&mut self, name: &str, text: &str) {
        // What separates them cannot be part of a text.
        for part in [name, text] {
            self.bytes(&[0xff]);
            self.bytes(part.as_bytes());
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}
