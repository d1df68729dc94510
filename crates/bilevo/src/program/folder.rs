//! Folders of evaluations, which are removed with everything in them, whatever programs did to the permissions.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Folder(TempDir);

impl Folder {
    /// A new folder in the system's folder for temporary files.
    ///
    /// # Errors
    /// There is no place for it.
    pub(super) fn new() -> io::Result<Self> {
        tempfile::Builder::new().prefix("bilevo-").tempdir().map(Folder)
    }

    /// A new folder inside another one.
    ///
    /// # Errors
    /// There is no place for it.
    pub(super) fn inside(place: &Path) -> io::Result<Self> {
        tempfile::Builder::new().tempdir_in(place).map(Folder)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if fs::remove_dir_all(self.path()).is_err() {
            make_writable(self.path());
            // There is nowhere to report an error; the folder is a temporary one.
            let _ = fs::remove_dir_all(self.path());
        }
    }
}

/// Restores our right to empty a folder and the folders in it. Links are not followed.
fn make_writable(folder: &Path) {
    let mut folders: Vec<PathBuf> = vec![folder.into()];
    while let Some(folder) = folders.pop() {
        let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()));
    }
}
