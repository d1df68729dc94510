//! The folder of a study: it describes its contents, and holds one study only.
//!
//! `contents.json` names the parts, the runs and every file. A study may replace one that it includes (more runs,
//! more parts); all files of the older one are then removed. A smaller or different study is refused, and so is a
//! folder that contains anything else.

use super::study::{Comparison, Part};
use crate::folder::Staged;
use crate::report::{PAGE, Report, ReportError};
use bilevo::files::{self, FileError, Kind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The list of contents within the folder.
const CONTENTS: &str = "contents.json";
/// Folders of files within the folder.
const FOLDERS: [&str; 2] = ["tables", "figures"];

const KIND: Kind = Kind {
    name: "list of contents",
    description: "the list of contents of a study",
    is_ours: |start| start.starts_with(b"{\n  \"study\":"),
};

/// What a study consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// Its name, which identifies the file as ours.
    study: String,
    /// The parts.
    parts: BTreeSet<Part>,
    /// The first seed.
    #[serde(default = "first_seed")]
    first_seed: u64,
    /// Runs of every method on every problem.
    runs: u64,
    /// Version of bilevo.
    version: String,
    /// Whether every file is in place; if not, writing was interrupted.
    complete: bool,
    /// Every file, by its path within the folder.
    files: BTreeSet<String>,
}

/// Why a folder was refused; nothing in it has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// Not a folder at all.
    #[error("`{}` is not a folder; it is left unchanged\nhint: give another folder with --out", .path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// It holds a study that this one does not include.
    #[error("`{}` holds another study ({found}), and this one ({wanted}) does not include it\nhint: give another folder with --out; with --store its runs can be used there too", .path.display())]
    OtherStudy {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What should have been written.
        wanted: String,
    },
    /// The folder contains something that no study wrote.
    #[error("`{}` exists and belongs to no study; it is left unchanged\nhint: give another folder with --out, or move it away", .path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
    },
    /// The report could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] FileError),
}

impl FolderError {
    /// The stable code of this error ([`bilevo::codes::ERRORS`]).
    pub(crate) fn code(&self) -> Option<&'static str> {
        match self {
            FolderError::NotAFolder { .. } => Some("E404"),
            FolderError::OtherStudy { .. } | FolderError::Foreign { .. } => Some("E403"),
            FolderError::Report(error) => bilevo::codes::code(error),
            FolderError::Files(error) => bilevo::codes::code(error),
        }
    }
}

impl Contents {
    /// The contents of a study of some comparisons, without files yet.
    pub fn new(comparisons: &[Comparison], first_seed: u64, runs: u64) -> Contents {
        Contents {
            study: "the published study, measured again".into(),
            parts: comparisons.iter().map(|c| c.part).collect(),
            first_seed,
            runs,
            version: bilevo::VERSION.into(),
            complete: false,
            files: BTreeSet::new(),
        }
    }

    /// Whether a path within a folder is reserved for a study's own files, so that a store must not be there.
    pub fn owns(folder: &Path, path: &Path) -> bool {
        let inner = FOLDERS.iter().any(|inner| path.starts_with(folder.join(inner)));
        inner || [PAGE, CONTENTS].iter().any(|name| files::same_place(path, &folder.join(name)))
    }

    fn words(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|part| part.name()).collect();
        let seeds = if self.first_seed == 1 { String::new() } else { format!(" from seed {}", self.first_seed) };
        format!("{} with {} runs each{seeds}", parts.join(", "), self.runs)
    }

    fn includes(&self, other: &Contents) -> bool {
        self.parts.is_superset(&other.parts) && self.first_seed == other.first_seed && self.runs >= other.runs
    }

    /// Whether this study may be written into a folder; to be asked before it is run, too.
    ///
    /// # Errors
    /// See [`FolderError`].
    pub fn check(&self, folder: &Path) -> Result<(), FolderError> {
        self.earlier(folder).map(|_| ())
    }

    /// The study in a folder that this one replaces.
    fn earlier(&self, folder: &Path) -> Result<Option<Contents>, FolderError> {
        match fs::metadata(folder) {
            Ok(found) if !found.is_dir() => return Err(FolderError::NotAFolder { path: folder.into() }),
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(cannot_read(folder, e).into()),
        }
        let earlier = read(&folder.join(CONTENTS))?;
        let listed = |name: &str| earlier.as_ref().is_some_and(|c| c.files.contains(name));
        if let Some(name) = present(folder)?.into_iter().find(|name| !listed(name)) {
            return Err(FolderError::Foreign { path: folder.join(name) });
        }
        match earlier {
            Some(earlier) if !self.includes(&earlier) => {
                let (found, wanted) = (earlier.words(), self.words());
                Err(FolderError::OtherStudy { path: folder.into(), found, wanted })
            }
            earlier => Ok(earlier),
        }
    }

    /// Writes a report as the files of this study, replacing those of an earlier one; returns the number of files.
    /// Nothing is replaced before everything is on the disk.
    ///
    /// # Errors
    /// See [`FolderError`].
    pub fn write(mut self, report: &Report, folder: &Path) -> Result<usize, FolderError> {
        let earlier = self.earlier(folder)?;
        let written = report.files()?;
        self.files = written.iter().map(|(name, _)| name.clone()).collect();
        let staged = Staged::write(folder, "study", &written)?;
        let old = earlier.map(|c| c.files).unwrap_or_default();
        let both = Contents { files: self.files.union(&old).cloned().collect(), ..self.clone() };
        both.save(folder)?;
        for name in &self.files {
            staged.place(name, folder)?;
        }
        for name in old.difference(&self.files) {
            let path = folder.join(name);
            fs::remove_file(&path).or_else(gone).map_err(|source| cannot_write(&path, source))?;
        }
        self.complete = true;
        self.save(folder)?;
        Ok(self.files.len() + 1)
    }

    fn save(&self, folder: &Path) -> Result<(), FileError> {
        files::write(&folder.join(CONTENTS), &KIND, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            writeln!(out)
        })
    }
}

/// The first seed, for lists that do not name it.
fn first_seed() -> u64 {
    1
}

fn gone(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn cannot_read(path: &Path, source: std::io::Error) -> FileError {
    FileError::Io { doing: "read", kind: "study", path: path.into(), source }
}

fn cannot_write(path: &Path, source: std::io::Error) -> FileError {
    FileError::Io { doing: "write", kind: "study", path: path.into(), source }
}

/// The list of contents at `path`, if there is one.
fn read(path: &Path) -> Result<Option<Contents>, FolderError> {
    let mut file = match files::open(path, &KIND) {
        Err(error) if error.is_not_found() => return Ok(None),
        opened => opened?,
    };
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|e| cannot_read(path, e))?;
    let contents = serde_json::from_str(&text).map_err(|_| FolderError::Foreign { path: path.into() })?;
    Ok(Some(contents))
}

/// What occupies the places of a study's files.
fn present(folder: &Path) -> Result<Vec<String>, FolderError> {
    let mut names = Vec::new();
    if folder.join(PAGE).symlink_metadata().is_ok() {
        names.push(PAGE.to_string());
    }
    for inner in FOLDERS {
        let path = folder.join(inner);
        match fs::read_dir(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) if e.kind() == ErrorKind::NotADirectory => names.push(inner.to_string()),
            entries => {
                for entry in entries.map_err(|e| cannot_read(&path, e))? {
                    let name = entry.map_err(|e| cannot_read(&path, e))?.file_name();
                    names.push(format!("{inner}/{}", name.to_string_lossy()));
                }
            }
        }
    }
    Ok(names)
}
