//! The files of `bilevo solve`: which may be written, and their names.

use super::{Args, resume};
use crate::args::Format;
use crate::commands::quoted;
use crate::output;
use anyhow::bail;
use bilevo::files::same_place;
use bilevo::{CheckpointError, Run, RunError, RunId, checkpoint};
use std::path::{Path, PathBuf};

/// Whether a name means standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Checks that the files of a run have different names, and that only one of them goes to standard output.
pub(super) fn refuse_clashes(args: &Args, checkpoint: Option<&PathBuf>) -> anyhow::Result<()> {
    let files = [
        ("--trace", args.trace.as_deref()),
        ("--plot", args.plot.as_deref()),
        ("--report", args.report.as_deref()),
        ("--save-evaluations", args.save_evaluations.as_deref()),
        ("--checkpoint", checkpoint.map(PathBuf::as_path)),
        ("--resume", args.resume.as_deref()),
    ];
    for (index, (flag, file)) in files.iter().enumerate().take(4) {
        for (other, other_file) in &files[index + 1..] {
            if let (Some(file), Some(other_file)) = (file, other_file)
                && same_place(file, other_file)
            {
                bail!("`{flag}` and `{other}` cannot be the same file\nhint: give `{flag}` another name");
            }
        }
    }
    if args.plot.as_deref().is_some_and(is_stdout) && args.format == Format::Json {
        bail!("`--plot -` and `--format json` both want standard output\nhint: give the plot the name of a file");
    }
    Ok(())
}

/// An error together with the command that helps, if there is one.
pub(super) fn with_way_out(error: RunError, args: &Args) -> anyhow::Error {
    let (path, what, header) = match &error {
        RunError::Checkpoint(CheckpointError::OtherRun { path, header }) => {
            (path, if header.finished { "another run" } else { "an unfinished run" }, header)
        }
        RunError::Checkpoint(CheckpointError::Ahead { path, header }) => (path, "this run, unfinished", header),
        RunError::Checkpoint(CheckpointError::Truncated { path: Some(path), .. })
        | RunError::Checkpoint(CheckpointError::Damaged { path: Some(path), .. })
        | RunError::Checkpoint(CheckpointError::Version { path: Some(path), .. }) => {
            let hint = "give another name to keep it, or delete the file to overwrite it";
            let context = format!("`{}` was left unchanged\nhint: {hint}", path.display());
            return anyhow::Error::from(error).context(context);
        }
        _ => {
            let words = args.resume.as_ref().and_then(|_| resume::budget_words(&error));
            return words.map_or_else(|| error.into(), |words| output::coded("E206", words));
        }
    };
    let resume = if header.finished { "shows its result" } else { "continues it" };
    let hint = format!("`{}` {resume}; give another name to keep it", resume::command(args, path));
    let message =
        format!("`{}` holds {what}: {}\nhint: {hint}, or delete the file to overwrite it", path.display(), header.id);
    output::coded("E504", message)
}

/// A path that both the shell and the program understand: one that begins with a dash would be a flag, unless it is
/// standard output.
pub(super) fn quoted_path(path: &Path) -> String {
    let dash = !is_stdout(path) && path.as_os_str().as_encoded_bytes().starts_with(b"-");
    quoted(&if dash { Path::new(".").join(path) } else { path.to_path_buf() }.to_string_lossy())
}

/// A file name in the current directory that describes the run; with the hash of its settings if the name is taken.
pub(super) fn default_checkpoint(run: &Run) -> PathBuf {
    let RunId { problem, upper_dim, lower_dim, method, config_hash, seed, .. } = run.id();
    let problem: String =
        problem.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    let name = format!("{problem}-{upper_dim}+{lower_dim}-{method}-{seed}");
    let path = PathBuf::from(format!("{name}.checkpoint"));
    let other = || checkpoint::header(&path).map_or(true, |there| there.id != *run.id());
    if path.symlink_metadata().is_ok() && other() { format!("{name}-{config_hash}.checkpoint").into() } else { path }
}
