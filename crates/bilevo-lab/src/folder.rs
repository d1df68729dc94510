//! Several files that belong together: either all of them are written, or none.
//!
//! They are written into a temporary folder first, so that a full disk is noticed before anything is replaced;
//! moving them afterwards needs no space.

use bilevo::files::{self, FileError, Kind};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// A file: its path within the folder, with slashes, and its bytes.
pub(crate) type NamedFile = (String, Vec<u8>);

/// Files in our own folder: existing files are never replaced.
const NEW: Kind = Kind { name: "file", description: "a file of this folder", is_ours: |_| false };

/// A file in a staging folder, locked by the process that fills it, which distinguishes it from the leftovers of a
/// killed process.
const LOCK: &str = ".lock";

/// Creates a folder with these files; an empty folder may already exist.
pub(crate) fn write_new(folder: &Path, files: &[NamedFile]) -> Result<(), FileError> {
    let context = |source| failed(folder, source);
    let name = folder.file_name().ok_or_else(|| context(io::Error::other("it has no name")))?;
    let parent = folder.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let staged = Staged::write(parent, &name.to_string_lossy(), files)?;
    // On some systems an empty folder is in the way.
    let _ = fs::remove_dir(folder);
    fs::remove_file(staged.folder.path().join(LOCK)).map_err(context)?;
    fs::rename(staged.folder.path(), folder).map_err(context)?;
    // It has another name now.
    let _ = staged.folder.keep();
    Ok(())
}

fn failed(path: &Path, source: io::Error) -> FileError {
    FileError::Io { doing: "write", kind: "folder", path: path.into(), source }
}

/// Files in their own folder that have not been moved into place yet; removed when this is dropped.
pub(crate) struct Staged {
    folder: TempDir,
    _lock: File,
}

impl Staged {
    /// Writes files into a new folder within `parent` whose name begins with `name`. Leftovers of killed processes
    /// are removed.
    pub(crate) fn write(parent: &Path, name: &str, files: &[NamedFile]) -> Result<Staged, FileError> {
        remove_leftovers(parent, name);
        let made = tempfile::Builder::new().prefix(&format!("{name}.")).suffix(".tmp").tempdir_in(parent);
        let folder = made.map_err(|source| failed(parent, source))?;
        let lock = File::create_new(folder.path().join(LOCK)).map_err(|source| failed(folder.path(), source))?;
        // Without locks, nothing counts as a leftover either.
        let _ = lock.try_lock();
        let staged = Staged { folder, _lock: lock };
        for (name, bytes) in files {
            let file = staged.folder.path().join(name);
            make_parent(&file)?;
            files::write(&file, &NEW, |out| out.write_all(bytes))?;
        }
        Ok(staged)
    }

    /// Moves a file into place within `folder`, replacing what is there.
    pub(crate) fn place(&self, name: &str, folder: &Path) -> Result<(), FileError> {
        let place = folder.join(name);
        make_parent(&place)?;
        fs::rename(self.folder.path().join(name), &place).map_err(|source| failed(&place, source))
    }
}

fn make_parent(file: &Path) -> Result<(), FileError> {
    match file.parent() {
        Some(parent) => fs::create_dir_all(parent).map_err(|source| failed(parent, source)),
        None => Ok(()),
    }
}

/// Removes staging folders that no living process holds. Failure is harmless.
fn remove_leftovers(parent: &Path, name: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let own = entry.file_name();
        let own = own.to_string_lossy();
        let ours = own.strip_prefix(name).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".tmp"));
        let abandoned = || File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && abandoned() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_made_whole() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("curves");
        fs::create_dir(&folder).unwrap();
        write_new(&folder, &[("a.txt".into(), b"1".to_vec()), ("b/c.txt".into(), b"2".to_vec())]).unwrap();
        assert_eq!(
            (names(parent.path()), names(&folder)),
            (vec!["curves".to_string()], vec!["a.txt".into(), "b".into()])
        );
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let parent = tempfile::tempdir().unwrap();
        // No file can be created below a file.
        let files = [("a".to_string(), b"1".to_vec()), ("a/b".into(), b"2".to_vec())];
        assert!(write_new(&parent.path().join("curves"), &files).is_err());
        assert!(names(parent.path()).is_empty());
    }

    #[test]
    fn leftovers_of_the_killed_are_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str| fs::create_dir(parent.path().join(name)).unwrap();
        make("curves.abandoned.tmp");
        fs::write(parent.path().join("curves.abandoned.tmp").join(LOCK), "").unwrap();
        make("curves.mine.tmp");
        fs::write(parent.path().join("curves.mine.tmp/notes"), "dear diary").unwrap();
        make("others.tmp");
        let held = Staged::write(parent.path(), "curves", &[]).unwrap();
        write_new(&parent.path().join("curves"), &[("a.txt".into(), b"1".to_vec())]).unwrap();
        assert!(held.folder.path().exists(), "another process is at it");
        drop(held);
        assert_eq!(names(parent.path()), ["curves", "curves.mine.tmp", "others.tmp"]);
    }
}
