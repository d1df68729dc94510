//! The files of `bilevo solve`: which may be written, and their names.

use super::quoted;
use anyhow::{Context, bail};
use bilevo::{CheckpointError, Run, RunId, checkpoint};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A run must not wipe out another one, nor the progress of its own.
pub(super) fn refuse_other_runs(path: &Path, run: &Run) -> anyhow::Result<()> {
    checkpoint::may_write(path)?;
    let (own, file) = (run.id().clone(), path.display());
    let header = match checkpoint::header(path) {
        Ok(header) => header,
        Err(CheckpointError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            let hint = "give another name to keep it, or delete the file to overwrite it";
            return Err(error).with_context(|| format!("`{file}` was left as it is\nhint: {hint}"));
        }
    };
    let finished = header.finished;
    if finished && (RunId { version: own.version.clone(), ..header.id.clone() }) == own {
        return Ok(());
    }
    let what = if finished { "another run" } else { "an unfinished run" };
    let resume = if finished { "shows its result" } else { "goes on with it" };
    bail!(
        "`{file}` holds {what}: {}\nhint: `bilevo solve --resume {}` {resume}; give another name to keep it, or delete the file to overwrite it",
        header.id,
        quoted_path(path)
    );
}

/// The first two files, which a run writes beside its checkpoint, need names of their own.
pub(super) fn refuse_same_files(files: [(&str, Option<&Path>); 4]) -> anyhow::Result<()> {
    for (index, (flag, file)) in files.iter().enumerate().take(2) {
        for (other, other_file) in &files[index + 1..] {
            if let (Some(file), Some(other_file)) = (file, other_file)
                && same_file(file, other_file)
            {
                bail!("`{flag}` and `{other}` cannot be the same file\nhint: give `{flag}` another name");
            }
        }
    }
    Ok(())
}

/// Whether two names mean one file, which need not exist.
pub(super) fn same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let named = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(named).unwrap_or_else(|| path.to_path_buf())
    };
    place(a) == place(b)
}

/// A path as a shell and the program take it: one that begins with a dash would be a flag.
pub(super) fn quoted_path(path: &Path) -> String {
    let dash = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    quoted(&if dash { Path::new(".").join(path) } else { path.to_path_buf() }.to_string_lossy())
}

/// A name in the current directory that says what the run is; with the hash of its settings if
/// something else has that name.
pub(super) fn default_checkpoint(run: &Run) -> PathBuf {
    let RunId { problem, upper_dim, lower_dim, method, config_hash, seed, .. } = run.id();
    let name = format!("{problem}-{upper_dim}+{lower_dim}-{method}-{seed}");
    let path = PathBuf::from(format!("{name}.checkpoint"));
    let taken = path.exists() && checkpoint::header(&path).map_or(true, |there| there.id.config_hash != *config_hash);
    if taken { format!("{name}-{config_hash}.checkpoint").into() } else { path }
}
