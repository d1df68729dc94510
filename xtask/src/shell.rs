//! Runs other programs, keeps their output, and reports what went wrong.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines of a failed program's output that are shown.
const SHOWN: usize = 80;

/// Lines that say why a test failed.
const REASON: usize = 3;

/// What a program printed and how it ended.
pub(crate) struct Output {
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
    /// Exit code; `None` if a signal ended the program.
    pub(crate) code: Option<i32>,
}

/// A `cargo` command in the workspace.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(crate::root()).env("CARGO_TERM_COLOR", "never");
    as_others_build(&mut command);
    command
}

/// For a build that is not repeated: without incremental compilation, which makes a first build a tenth slower, and
/// with one codegen unit per crate, which is less work than several that are inlined into each other.
const ONCE: [(&str, &str); 3] =
    [("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_CODEGEN_UNITS", "1"), ("CARGO_PROFILE_DEV_LTO", "off")];

/// Lets a command that builds share what other steps and people have built. Most test runs are a first build, so
/// incremental compilation is used only if a developer has already used it.
pub(crate) fn as_others_build(command: &mut Command) {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from);
    if std::env::var_os("CARGO_INCREMENTAL").map_or_else(|| !has_notes(&target), |notes| notes == "0") {
        command.envs(ONCE);
    }
}

/// Whether the largest crate was built incrementally; this program always is.
fn has_notes(target: &Path) -> bool {
    let notes = std::fs::read_dir(target.join("debug/incremental"));
    notes.is_ok_and(|mut all| {
        all.any(|entry| entry.is_ok_and(|e| e.file_name().to_string_lossy().starts_with("bilevo_core-")))
    })
}

/// Runs a command to its end, whatever its exit code.
pub(crate) fn output(command: &mut Command) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.stdin(Stdio::null()).output().map_err(|e| format!("`{name}` could not be started: {e}"))?;
    Ok(Output {
        stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
        code: out.status.code(),
    })
}

/// Runs a command that must succeed; the error contains the end of its output.
pub(crate) fn succeed(command: &mut Command) -> Result<Output, String> {
    let out = output(command)?;
    if out.code == Some(0) {
        return Ok(out);
    }
    let text = format!("{}\n{}", out.stdout.trim_end(), out.stderr.trim_end());
    let end = out.code.map_or("a signal".into(), |c| format!("exit code {c}"));
    Err(format!("{}\n`{}` ended with {end}", excerpt(&text), shown(command)))
}

/// The end of a program's output and, from the part before it, the tests that failed and why.
fn excerpt(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (before, last) = lines.split_at(lines.len().saturating_sub(SHOWN));
    let mut shown: Vec<String> = Vec::new();
    if !before.is_empty() {
        shown.push(format!("... {} lines before", before.len()));
    }
    for (i, line) in before.iter().enumerate() {
        if line.ends_with("... FAILED") {
            shown.push((*line).into());
        } else if line.contains("panicked at ") {
            shown.extend(before[i..].iter().take(REASON).map(|line| line.to_string()));
        }
    }
    shown.push(last.join("\n").trim().into());
    shown.join("\n")
}

/// Whether a program can be found and started.
pub(crate) fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Whether cargo knows a subcommand.
pub(crate) fn exists_as_cargo_subcommand(name: &str) -> bool {
    output(&mut cargo(&[name, "--version"])).is_ok_and(|o| o.code == Some(0))
}

/// Installs packages of the distribution: only if CI is set.
pub(crate) fn install_packages(packages: &[&str]) -> Result<(), String> {
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        succeed(&mut command).map(|_| ())
    };
    let mut args = vec!["install", "-y", "--no-install-recommends"];
    args.extend(packages);
    apt(&args).or_else(|_| apt(&["update"]).and_then(|()| apt(&args)))
}

/// A command as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let args = command.get_args().map(|a| a.to_string_lossy().into_owned());
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_notes_of_the_engine_count() {
        let target = std::env::temp_dir().join(format!("bilevo-notes-{}", std::process::id()));
        assert!(!has_notes(&target));
        for (name, count) in [("xtask-1a2b", false), ("bilevo_core-1a2b", true)] {
            std::fs::create_dir_all(target.join("debug/incremental").join(name)).unwrap();
            assert_eq!(has_notes(&target), count, "{name}");
        }
        std::fs::remove_dir_all(&target).unwrap();
    }

    #[test]
    fn an_excerpt_names_the_tests_that_failed() {
        let mut lines = vec!["test a ... ok", "test b ... FAILED", "thread 'b' panicked at b.rs:1:2:", "1 is not 2"];
        lines.extend(std::iter::repeat_n("test c ... ok", 2 * SHOWN));
        let text = excerpt(&lines.join("\n"));
        assert!(text.contains("test b ... FAILED\nthread 'b' panicked at b.rs:1:2:\n1 is not 2"), "{text}");
        assert!(!text.contains("test a") && text.lines().count() < SHOWN + 6, "{text}");
        assert_eq!(excerpt("one\ntwo"), "one\ntwo");
    }
}
