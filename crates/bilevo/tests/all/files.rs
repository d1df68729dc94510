//! Files are written whole or not at all, and nothing that is not ours is touched.

use bilevo::files::{self, FileError, Kind};
use std::fs;
use std::io;
use std::path::Path;

const NOTES: Kind = Kind { name: "note", description: "a note of ours", is_ours: |start| start.starts_with(b"note") };

fn put(path: &Path, text: &str) -> Result<(), FileError> {
    files::write(path, &NOTES, |out| out.write_all(text.as_bytes()))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn ours_is_replaced_and_foreign_files_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    put(&path, "note 1").unwrap();
    put(&path, "note 2").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "note 2");
    fs::write(&path, "thesis").unwrap();
    for refused in [put(&path, "note 3"), files::prepare(&path, &NOTES)] {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("exists and is not a note of ours\nhint: it was left unchanged"), "{message}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "thesis");
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn what_ends_in_the_middle_leaves_the_earlier_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    put(&path, "note 1").unwrap();
    let full = files::write(&path, &NOTES, |out| {
        out.write_all(&[b'x'; 1 << 20])?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    });
    assert!(full.unwrap_err().to_string().starts_with("cannot write the note `"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "note 1");
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn folders_and_missing_folders_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(matches!(put(folder.path(), "note"), Err(FileError::NotAFile { what: "a folder", .. })));
    assert!(matches!(put(Path::new("/"), "note"), Err(FileError::NotAFile { .. })));
    let message = put(&at("no/such"), "note").unwrap_err().to_string();
    assert!(message.contains("there is no folder") && message.contains("hint"), "{message}");
    assert!(files::open(&at("none"), &NOTES).unwrap_err().is_not_found());
    assert!(names(folder.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&*pipe, Path::new("/dev/null"), Path::new("/dev/full")] {
        let refused = [
            put(path, "note"),
            files::prepare(path, &NOTES),
            files::open(path, &NOTES).map(drop),
            files::open_growing(path, &NOTES).map(drop),
        ];
        for refused in refused {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("is a pipe or a device"), "{message}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_also_to_files_that_do_not_exist_yet() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    symlink("deep/real", at("link")).unwrap();
    symlink("link", at("again")).unwrap();
    for text in ["note 1", "note 2"] {
        put(&at("again"), text).unwrap();
        assert_eq!(fs::read_to_string(at("deep/real")).unwrap(), text);
    }
    assert!(at("link").is_symlink() && at("again").is_symlink());
    assert!(files::same_place(&at("again"), &at("deep/../deep/real")));
    assert!(!files::same_place(&at("again"), &at("other")));
    symlink("loop", at("loop")).unwrap();
    assert!(put(&at("loop"), "note").is_err());
    symlink("no/such", at("lost")).unwrap();
    assert!(matches!(put(&at("lost"), "note"), Err(FileError::NoFolder { .. })));
    assert_eq!(names(&at("deep")), ["real"]);
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_read_only_files_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    put(&path, "note 1").unwrap();
    let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    put(&path, "note 2").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    mode(0o400);
    assert!(matches!(put(&path, "note 3"), Err(FileError::ReadOnly { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "note 2");
}

#[test]
fn what_a_killed_process_left_is_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["a.99.7.tmp", "a.99.x.tmp", "b.99.7.tmp", "a.tmp"] {
        fs::write(at(name), "half").unwrap();
    }
    fs::write(at("a.98.1.tmp"), "in use").unwrap();
    let held = fs::File::open(at("a.98.1.tmp")).unwrap();
    held.lock().unwrap();
    files::prepare(&at("a"), &NOTES).unwrap();
    assert_eq!(names(folder.path()), ["a.98.1.tmp", "a.99.x.tmp", "a.tmp", "b.99.7.tmp"]);
}
