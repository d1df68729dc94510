//! Other programs: run them, keep their output, say what went wrong.

use std::path::Path;
use std::process::{Command, Stdio};

/// Lines of a failed program's output that are shown.
const SHOWN: usize = 80;

/// What a program printed and how it ended.
pub(crate) struct Output {
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
    /// Exit code; none if a signal ended the program.
    pub(crate) code: Option<i32>,
}

/// A `cargo` command in the workspace.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(crate::root()).env("CARGO_TERM_COLOR", "never");
    command
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

/// Runs a command that must succeed; an error holds the end of what it printed.
pub(crate) fn succeed(command: &mut Command) -> Result<Output, String> {
    let out = output(command)?;
    if out.code == Some(0) {
        return Ok(out);
    }
    let text = format!("{}\n{}", out.stdout.trim_end(), out.stderr.trim_end());
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines.len().saturating_sub(SHOWN);
    let end = out.code.map_or("a signal".into(), |c| format!("exit code {c}"));
    let note = if cut > 0 { format!("... {cut} lines before\n") } else { String::new() };
    Err(format!("{note}{}\n`{}` ended with {end}", lines[cut..].join("\n").trim(), shown(command)))
}

/// Whether a program can be found and started.
pub(crate) fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Whether cargo knows a subcommand.
pub(crate) fn exists_as_cargo_subcommand(name: &str) -> bool {
    output(&mut cargo(&[name, "--version"])).is_ok_and(|o| o.code == Some(0))
}

/// Installs packages of the distribution: only on a build machine, where CI is set.
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
