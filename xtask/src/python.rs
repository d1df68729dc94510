//! The Python package: its tests in a fresh environment, and its archives.

use crate::shell::{exists, install_packages, output, succeed};
use crate::stages::{Done, Outcome};
use crate::steps::on_ci;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What the tests cannot do without.
const NEEDED: [&str; 5] = ["maturin>=1.9,<2", "numpy", "pytest", "mypy", "cloudpickle"];
/// What some tests need: absent, they are named as not run.
const OPTIONAL: [&str; 7] = ["distributed", "mpi4py", "pandas", "pandas-stubs", "matplotlib", "tqdm", "scikit-learn"];

/// Fetched once, by whichever step comes first.
static PACKAGES: OnceLock<Result<Packages, String>> = OnceLock::new();

/// An environment with what the tests need, or why there is none.
enum Packages {
    There(Environment),
    Absent(String),
}

/// Makes a fresh environment with all that the tests of the package need, but without the package.
pub(crate) fn packages() -> Outcome {
    match fetched()? {
        Packages::There(_) => Ok(Done::Passed(String::new())),
        Packages::Absent(reason) => Ok(Done::NotRun(reason.clone())),
    }
}

fn fetched() -> Result<&'static Packages, String> {
    PACKAGES.get_or_init(fetch).as_ref().map_err(Clone::clone)
}

fn fetch() -> Result<Packages, String> {
    let Some(python) = interpreter()? else {
        return Ok(Packages::Absent("no Python 3.10 or newer here: the Python package is not tested".into()));
    };
    let environment = match Environment::fresh(&python, "environment") {
        Ok(environment) => environment,
        Err(reason) if on_ci() => return Err(reason),
        Err(_) => return Ok(Packages::Absent("no virtual environment could be made".into())),
    };
    if on_ci() {
        if !exists("mpiexec") {
            install_packages(&["openmpi-bin", "libopenmpi3"])?;
        }
        environment.install(&[&NEEDED[..], &OPTIONAL].concat())?;
    } else if environment.install(&NEEDED).is_err() {
        return Ok(Packages::Absent(format!("pip cannot install {}", NEEDED.join(", "))));
    }
    Ok(Packages::There(environment))
}

/// Builds the wheel, installs it, checks its types and runs its tests.
pub(crate) fn test() -> Outcome {
    let environment = match fetched()? {
        Packages::There(environment) => environment,
        Packages::Absent(reason) => return Ok(Done::NotRun(reason.clone())),
    };
    // Before the wheel: built for another interpreter, the module would have to be built once more.
    crate::commands::build_program()?;
    let wheel = build(environment, &["--profile", "dev"])?;
    environment.install(&["--no-deps", "--force-reinstall", &wheel.to_string_lossy()])?;
    succeed(environment.python().args(["-m", "mypy"]))?;
    let doctests = pytest(environment, &["--doctest-modules", "--pyargs", "bilevo"])?;
    let tests = pytest(environment, &[])?;
    let skipped =
        if tests.skipped > 0 { format!(", {} not run: {}", tests.skipped, tests.reasons) } else { String::new() };
    Ok(Done::Passed(format!("{} tests, {} examples{skipped}", tests.passed, doctests.passed)))
}

/// A Python that is new enough.
pub(crate) fn interpreter() -> Result<Option<String>, String> {
    let named = std::env::var("BILEVO_PYTHON").ok();
    let new_enough = "import sys; sys.exit(sys.version_info < (3, 10))";
    let works = |name: &str| output(Command::new(name).args(["-c", new_enough])).is_ok_and(|o| o.code == Some(0));
    let find =
        || named.iter().map(String::as_str).chain(["python3", "python"]).find(|name| works(name)).map(String::from);
    if find().is_none() && on_ci() {
        install_packages(&["python3", "python3-venv"])?;
    }
    match find() {
        None if on_ci() => Err("no Python 3.10 or newer could be installed".into()),
        found => Ok(found),
    }
}

/// A virtual environment of our own.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// An empty one, in place of an earlier one of that name.
    pub(crate) fn fresh(python: &str, name: &str) -> Result<Self, String> {
        let folder = crate::root().join("target/python").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        let make = || succeed(Command::new(python).args(["-m", "venv"]).arg(&folder));
        if make().is_err() && on_ci() {
            // Debian keeps this module in a package of its own.
            install_packages(&["python3-venv"])?;
        }
        make()?;
        Ok(Environment { folder })
    }

    /// Its interpreter, in the folder of the workspace.
    pub(crate) fn python(&self) -> Command {
        let place = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        let mut command = Command::new(self.folder.join(place));
        command.current_dir(crate::root()).env("VIRTUAL_ENV", &self.folder);
        command
    }

    /// Lets a command find the programs of the environment, as if it had been activated.
    pub(crate) fn activate(&self, command: &mut Command) -> Result<(), String> {
        let programs = self.folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        let before = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&before)));
        command.env("PATH", path.map_err(|e| e.to_string())?);
        Ok(())
    }

    /// Installs packages or archives. Python compiles what it imports, which is a small part of them.
    pub(crate) fn install(&self, what: &[&str]) -> Result<(), String> {
        let mut command = self.python();
        command.args(["-m", "pip", "install", "--no-compile", "--quiet", "--disable-pip-version-check"]).args(what);
        succeed(&mut command).map(|_| ())
    }
}

/// Builds the wheel into a folder of its own and finds it there.
fn build(environment: &Environment, options: &[&str]) -> Result<PathBuf, String> {
    let folder = crate::root().join("target/python/wheel");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let mut command = environment.python();
    command.args(["-m", "maturin", "build", "--quiet", "--locked"]).args(options).arg("--out").arg(&folder);
    succeed(&mut command)?;
    only_file(&folder)
}

/// The one file or folder in a folder.
pub(crate) fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    match files.as_slice() {
        [file] => Ok(file.clone()),
        _ => Err(format!("{} holds {} files instead of one", folder.display(), files.len())),
    }
}

/// What pytest said at its end.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    passed: u64,
    skipped: u64,
    /// Why tests were left out, each reason once.
    reasons: String,
}

fn pytest(environment: &Environment, arguments: &[&str]) -> Result<Counts, String> {
    let mut command = environment.python();
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).args(arguments);
    command.env("BILEVO_PROGRAM", crate::commands::program());
    let counts = counted(&succeed(&mut command)?.stdout);
    match counts {
        Counts { passed: 0, .. } => Err("no test of the Python package ran".into()),
        Counts { skipped, reasons, .. } if skipped > 0 && on_ci() => {
            Err(format!("{skipped} tests left out: {reasons}"))
        }
        counts => Ok(counts),
    }
}

/// Reads `3 passed, 1 skipped in 0.5s` and the lines `SKIPPED [1] file: reason`.
fn counted(stdout: &str) -> Counts {
    let last = stdout.lines().rev().find(|line| line.contains(" passed")).unwrap_or_default();
    let count = |what: &str| {
        let part = last.split(", ").find(|part| part.contains(what))?;
        part.split_whitespace().find_map(|word| word.parse().ok())
    };
    let mut reasons: Vec<&str> = Vec::new();
    for line in stdout.lines().filter(|line| line.starts_with("SKIPPED")) {
        let reason = line.splitn(4, ':').last().unwrap_or(line).trim();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    Counts {
        passed: count(" passed").unwrap_or(0),
        skipped: count(" skipped").unwrap_or(0),
        reasons: reasons.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_pytest_is_read() {
        let stdout = "....\nSKIPPED [1] python/tests/test_mpi.py:14: could not import 'mpi4py': No module\n\
                      SKIPPED [2] python/tests/test_mpi.py:19: no mpiexec here\n3 passed, 3 skipped in 0.5s";
        let counts = counted(stdout);
        assert_eq!((counts.passed, counts.skipped), (3, 3));
        assert_eq!(counts.reasons, "No module; no mpiexec here");
        assert_eq!(counted("no tests ran"), Counts::default());
    }
}
