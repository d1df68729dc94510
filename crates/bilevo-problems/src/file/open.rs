//! Problem files and their tables on disk.

use super::diagnostic::{Diagnostic, FileError};
use super::{ProblemFile, Reading, depends, mps, parse_and_hash};
use bilevo_core::config::{did_you_mean, nearest};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Largest problem file, in bytes.
pub const MAX_FILE: usize = 1_000_000;
/// Largest CSV table, in bytes.
pub const MAX_TABLE: usize = 16_000_000;

/// Reads a problem file; its CSV tables are in the same folder.
///
/// # Errors
/// The file cannot be read, or has mistakes: the error lists all of them.
pub fn read(path: &Path) -> Result<ProblemFile, FileError> {
    read_as(path, &Reading::default())
}

/// Reads a problem file and replaces some of its numbers.
///
/// # Errors
/// As for [`read`], and if the file does not have these numbers.
pub fn read_as(path: &Path, reading: &Reading) -> Result<ProblemFile, FileError> {
    let name = path.display().to_string();
    let text = text_of(path, MAX_FILE).map_err(|reason| {
        let words = format!("cannot be read: {reason}{}", did_you_mean(&sibling(path)));
        let diagnostic = Diagnostic::unreadable(name.clone(), words, way_out(path));
        FileError { diagnostics: vec![diagnostic] }
    })?;
    if mps::is_mps(path) {
        let text = mps::text(path, &text, MAX_FILE)?;
        return parse_and_hash(&name, &text, &mut |table| no_tables(table), reading).map(|(file, _)| file);
    }
    let folder = folder_of(path);
    let mut load = |table: &str| text_of(&folder.join(table), MAX_TABLE);
    let (mut file, mut meaning) = parse_and_hash(&name, &text, &mut load, reading)?;
    if let ProblemFile::Program { spec, hash, .. } = &mut file {
        // The program may run in another folder, that of its evaluation.
        spec.folder = std::path::absolute(&folder).unwrap_or(folder);
        depends::add(&mut meaning, spec, path)?;
        *hash = meaning.digits();
    }
    Ok(file)
}

/// If there is no such file: one in the same folder whose name is almost the same.
fn sibling(path: &Path) -> Option<String> {
    let name = path.file_name().filter(|_| !path.exists())?.to_str()?;
    let files = std::fs::read_dir(folder_of(path)).ok()?.flatten();
    let names: Vec<String> = files.filter_map(|file| file.file_name().into_string().ok()).collect();
    nearest(name, names.iter().map(String::as_str)).map(|name| path.with_file_name(name).display().to_string())
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
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

/// For text that does not come from a file: there are no tables next to it.
///
/// # Errors
/// Always.
pub fn no_tables(_: &str) -> Result<String, String> {
    Err("there are no files next to this one".into())
}

/// The text of an ordinary file of at most `limit` bytes.
///
/// # Errors
/// Why it cannot be read, in words.
pub fn text_of(path: &Path, limit: usize) -> Result<String, String> {
    // Pipes and devices might never end.
    let kind = std::fs::metadata(path).map_err(reason)?;
    if !kind.is_file() {
        return Err("it is not an ordinary file".into());
    }
    let file = File::open(path).map_err(reason)?;
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(reason)?;
    if bytes.len() > limit {
        return Err(format!("it has more than {limit} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| format!("it is not text in UTF-8 ({})", error.utf8_error()))
}

fn reason(error: io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".into(),
        ErrorKind::PermissionDenied => "you have no permission to read it".into(),
        _ => error.to_string(),
    }
}
