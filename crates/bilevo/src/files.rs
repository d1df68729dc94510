//! The one way to write a file, used by every command.
//!
//! Content goes to a temporary file in the same folder, which is flushed to disk and renamed. After a crash or with a
//! full disk, you have the old file or the new one, never half a file. Only our own files are replaced: no file of
//! another kind ([`Kind`]), no read-only file, no folder, pipe or device. Links are followed, even to a file that
//! does not exist yet. Temporary files of a killed process are removed by the next process that writes to the same
//! place.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A kind of file that we write, and how to recognise it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name in messages, as in `checkpoint`.
    pub name: &'static str,
    /// The same with its article, as in `a bilevo checkpoint`.
    pub description: &'static str,
    /// Whether a file that starts with these bytes (at most [`START`]) is of this kind.
    pub is_ours: fn(&[u8]) -> bool,
}

/// Bytes at the start of a file that [`Kind::is_ours`] sees.
pub const START: usize = 1024;

/// Maximum length of a chain of links.
const MAX_LINKS: usize = 40;

/// Why a file could not be read or written; the existing file stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("cannot {doing} the {kind} `{path}`: {}", reason(.doing, .source))]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        /// Name of the kind.
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// The folder is missing.
    #[error(
        "cannot write the {kind} `{path}`: there is no folder `{folder}`\nhint: create it first, or give another name"
    )]
    NoFolder {
        /// Name of the kind.
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// The file is something else.
    #[error("`{path}` exists and is not {description}\nhint: it was left unchanged; give the name of another file")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it should be.
        description: &'static str,
    },
    /// A folder, a pipe, a device.
    #[error("`{path}` is {what} and cannot be a {kind}\nhint: give the name of a file{}", dash(.kind))]
    NotAFile {
        /// The name given.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
        /// Name of the kind.
        kind: &'static str,
    },
    /// The file is read-only.
    #[error("the {kind} `{path}` is read-only\nhint: it was left unchanged; give another name, or make it writable")]
    ReadOnly {
        /// Name of the kind.
        kind: &'static str,
        /// The file.
        path: PathBuf,
    },
}

/// Some kinds can be written to standard output instead.
fn dash(kind: &str) -> &'static str {
    if matches!(kind, "trace" | "plot") { ", or `-` for standard output" } else { "" }
}

/// The system's message, or plain words and a way out for a file that is not there.
fn reason(doing: &str, source: &io::Error) -> String {
    match doing == "read" && source.kind() == io::ErrorKind::NotFound {
        true => "there is no such file\nhint: is the path right? It is relative to the folder in which you are".into(),
        false => source.to_string(),
    }
}

impl FileError {
    /// Whether the file simply does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, FileError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl Kind {
    fn failed(&self, doing: &'static str, path: &Path, source: io::Error) -> FileError {
        FileError::Io { doing, kind: self.name, path: path.into(), source }
    }

    fn not_a_file(&self, path: &Path, what: &'static str) -> FileError {
        FileError::NotAFile { path: path.into(), what, kind: self.name }
    }
}

/// Where a file goes, with all links followed, and what is there now.
struct Target {
    place: PathBuf,
    permissions: Option<Permissions>,
}

/// Writes a file, replacing an earlier one of the same kind.
///
/// # Errors
/// See [`FileError`]; also what `content` returns.
pub fn write(
    path: &Path,
    kind: &Kind,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    let target = find(path, kind)?;
    let temporary = target.fill(path, kind, content)?;
    let placed = temporary.replace(&target.place);
    placed.map(drop).map_err(|source| kind.failed("write", path, source))
}

/// Writes a file that does not exist yet, or that the caller has locked. Returns the new file, locked as long as it
/// stays open, or `None` if another process was faster. The caller knows what it replaces.
pub(crate) fn write_locked(
    path: &Path,
    kind: &Kind,
    held: Option<&File>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Option<File>, FileError> {
    let target = find_any(path, kind)?;
    let failed = |source| kind.failed("write", path, source);
    let temporary = target.fill(path, kind, content)?;
    match held.filter(|held| is_at(held, &target.place)) {
        Some(_) => temporary.replace(&target.place).map(Some).map_err(failed),
        None => temporary.appear(&target.place).map_err(failed),
    }
}

/// Whether an open file is the one at a path; true if the system cannot tell.
pub fn is_at(file: &File, place: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let same = |(a, b): (fs::Metadata, fs::Metadata)| (a.dev(), a.ino()) == (b.dev(), b.ino());
        file.metadata().ok().zip(fs::metadata(place).ok()).is_some_and(same)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        place.exists()
    }
}

/// Checks that [`write()`] would work, before a long run depends on it, and removes what killed processes have left.
///
/// # Errors
/// See [`FileError`].
pub fn prepare(path: &Path, kind: &Kind) -> Result<(), FileError> {
    let target = find(path, kind)?;
    remove_leftovers(&target.place);
    Temporary::create(&target.place).map(drop).map_err(|source| kind.failed("write", path, source))
}

/// Opens an ordinary file for reading; a pipe, which could block forever, is an error.
///
/// # Errors
/// See [`FileError`].
pub fn open(path: &Path, kind: &Kind) -> Result<File, FileError> {
    let failed = |source| kind.failed("read", path, source);
    let metadata = fs::metadata(path).map_err(failed)?;
    match other_than_file(&metadata) {
        Some(what) => Err(kind.not_a_file(path, what)),
        None => File::open(path).map_err(failed),
    }
}

/// Opens a file that grows line by line, for reading and appending; creates it if necessary. The caller checks its
/// content.
///
/// # Errors
/// See [`FileError`].
pub fn open_growing(path: &Path, kind: &Kind) -> Result<File, FileError> {
    let place = find_any(path, kind)?.place;
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(place);
    opened.map_err(|source| kind.failed("write", path, source))
}

/// Whether two names refer to the same file, which need not exist.
pub fn same_place(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let place = resolve(path).unwrap_or_else(|_| path.into());
        let folder = folder_of(&place).canonicalize().ok();
        folder.zip(place.file_name()).map_or_else(|| place.clone(), |(folder, name)| folder.join(name))
    };
    place(a) == place(b)
}

/// The place of a file that may be written, after checking what is there.
fn find(path: &Path, kind: &Kind) -> Result<Target, FileError> {
    let target = find_any(path, kind)?;
    if target.permissions.is_some() {
        let mut start = Vec::new();
        let read = File::open(&target.place).and_then(|file| file.take(START as u64).read_to_end(&mut start));
        read.map_err(|source| kind.failed("read", path, source))?;
        if !(kind.is_ours)(&start) {
            return Err(FileError::Foreign { path: path.into(), description: kind.description });
        }
    }
    Ok(target)
}

fn find_any(path: &Path, kind: &Kind) -> Result<Target, FileError> {
    let failed = |source| kind.failed("write", path, source);
    let permissions = match fs::metadata(path) {
        Ok(found) => {
            if let Some(what) = other_than_file(&found) {
                return Err(kind.not_a_file(path, what));
            }
            if found.permissions().readonly() {
                return Err(FileError::ReadOnly { kind: kind.name, path: path.into() });
            }
            Some(found.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let place = resolve(path).map_err(failed)?;
    if place.file_name().is_none() {
        return Err(kind.not_a_file(path, "not the name of a file"));
    }
    let folder = folder_of(&place);
    if !folder.is_dir() {
        return Err(FileError::NoFolder { kind: kind.name, path: path.into(), folder });
    }
    Ok(Target { place, permissions })
}

/// What is there, if it is not a regular file.
fn other_than_file(metadata: &fs::Metadata) -> Option<&'static str> {
    if metadata.is_file() {
        None
    } else if metadata.is_dir() {
        Some("a folder")
    } else {
        Some("a pipe or a device")
    }
}

/// Follows links; the last one may lead to a file that does not exist yet.
///
/// # Errors
/// A link that cannot be read, or links that lead in a circle.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => place = folder_of(&place).join(fs::read_link(&place)?),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(place),
        }
    }
    Err(io::Error::other("too many links"))
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.into(),
        _ => PathBuf::from("."),
    }
}

impl Target {
    /// A temporary file with the content, ready to be moved into place.
    fn fill(
        &self,
        path: &Path,
        kind: &Kind,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Temporary, FileError> {
        let failed = |source| kind.failed("write", path, source);
        let temporary = Temporary::create(&self.place).map_err(failed)?;
        temporary.fill(content).map_err(failed)?;
        if let Some(permissions) = &self.permissions {
            // If the system does not allow it, the new file has the permissions of any new file.
            let _ = temporary.file.set_permissions(permissions.clone());
        }
        Ok(temporary)
    }
}

/// A new file in the same folder as its final place, removed unless it is moved there. It stays locked, which
/// distinguishes it from the leftovers of a killed process.
struct Temporary {
    path: PathBuf,
    file: File,
    placed: bool,
}

impl Temporary {
    fn create(place: &Path) -> io::Result<Temporary> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = place.file_name().unwrap_or_default();
        loop {
            let mut temporary = name.to_os_string();
            temporary.push(format!(".{}.{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
            let path = place.with_file_name(temporary);
            let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            // Without locks, nothing counts as a leftover either.
            let _ = file.try_lock();
            // Another process removed it between the two lines above.
            if path.exists() {
                return Ok(Temporary { path, file, placed: false });
            }
        }
    }

    fn fill(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut writer = BufWriter::new(&self.file);
        content(&mut writer)?;
        writer.flush()?;
        drop(writer);
        self.file.sync_all()
    }

    /// Replaces whatever is in place.
    fn replace(mut self, place: &Path) -> io::Result<File> {
        fs::rename(&self.path, place)?;
        self.placed = true;
        sync_folder(place);
        self.file.try_clone()
    }

    /// Moves into a free place, or gives up without touching what is there.
    fn appear(self, place: &Path) -> io::Result<Option<File>> {
        match fs::hard_link(&self.path, place) {
            Ok(()) => {
                sync_folder(place);
                self.file.try_clone().map(Some)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            // Not every file system supports links.
            Err(_) if !place.exists() => self.replace(place).map(Some),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            // A partly written file is of no use.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes temporary files for `place` that no living process holds. Failure is harmless.
fn remove_leftovers(place: &Path) {
    let (Some(name), Ok(entries)) = (place.file_name(), fs::read_dir(folder_of(place))) else { return };
    for entry in entries.flatten() {
        let own = entry.file_name();
        let rest = own.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        if rest.is_some_and(is_temporary) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let abandoned = File::open(entry.path())
                .is_ok_and(|file| !matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))));
            if abandoned {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether this is the suffix `.PID.COUNTER.tmp` of a temporary name.
fn is_temporary(end: &[u8]) -> bool {
    let parts: Vec<&[u8]> = end.split(|byte| *byte == b'.').collect();
    let number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    matches!(parts[..], [b"", pid, counter, b"tmp"] if number(pid) && number(counter))
}

/// Makes the new name survive a power cut, if the system supports that.
fn sync_folder(place: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder_of(place)).and_then(|folder| folder.sync_all());
    }
}
