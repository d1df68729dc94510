//! The Python package: its tests in a fresh environment, and its archives.

use crate::shell::{as_others_build, exists, install_packages, output, succeed};
use crate::stages::{Done, Outcome};
use crate::steps::on_ci;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What the package itself needs, and what its types and examples are checked with.
const BARE: [&str; 3] = ["numpy", "mypy", "pytest"];
/// Everything else that its tests use. All of it comes from pip, so the same tests run everywhere.
const MORE: [&str; 12] = [
    "maturin>=1.9,<2",
    "pytest-xdist",
    "cloudpickle",
    "distributed",
    "mpi4py>=4.1",
    "pandas",
    "pandas-stubs",
    "matplotlib",
    "scipy",
    "tqdm",
    "scikit-learn",
    "jsonschema",
];
/// An MPI for machines that have none.
const MPI: &str = "mpich";

/// Fetched once, by the first step that needs it.
static PACKAGES: OnceLock<Result<Packages, String>> = OnceLock::new();

/// The environments of the tests, or why there are none.
enum Packages {
    There {
        /// NumPy alone, as after `pip install bilevo`.
        bare: Environment,
        /// With every optional package.
        full: Environment,
    },
    Absent(String),
}

/// Creates fresh environments with everything that the package's tests need, but without the package.
pub(crate) fn packages() -> Outcome {
    match fetched()? {
        Packages::There { .. } => Ok(Done::Passed(String::new())),
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
    if !has_venv(&python) && on_ci() {
        // Debian has a separate package for this module.
        install_packages(&["python3-venv"])?;
    }
    if !has_venv(&python) {
        return Ok(Packages::Absent(format!("`{python}` has no module `venv`: the Python package is not tested")));
    }
    let bare = Environment::fresh(&python, "bare")?;
    bare.install(&BARE)?;
    let full = Environment::fresh(&python, "environment")?;
    let mpi = (!exists("mpiexec")).then_some(MPI);
    full.install(&BARE.into_iter().chain(MORE).chain(mpi).collect::<Vec<_>>())?;
    Ok(Packages::There { bare, full })
}

/// Whether environments can be created: the module alone is not enough, it also needs a pip to put into them.
fn has_venv(python: &str) -> bool {
    output(Command::new(python).args(["-c", "import venv, ensurepip"])).is_ok_and(|o| o.code == Some(0))
}

/// Checks the types of the package with and without the optional packages (and their types).
pub(crate) fn types() -> Outcome {
    let (bare, full) = match fetched()? {
        Packages::There { bare, full } => (bare, full),
        Packages::Absent(reason) => return Ok(Done::NotRun(reason.clone())),
    };
    for (environment, words) in [(bare, "with NumPy alone"), (full, "with every optional package")] {
        // Each environment has its own cache.
        let cache = environment.folder.join("mypy");
        succeed(environment.python().args(["-m", "mypy", "--cache-dir"]).arg(cache))
            .map_err(|error| format!("{error}\n{words}"))?;
    }
    Ok(Done::Passed("with and without the optional packages".into()))
}

/// Builds the wheel, installs it, and runs its examples and tests.
pub(crate) fn test() -> Outcome {
    let (bare, full) = match fetched()? {
        Packages::There { bare, full } => (bare, full),
        Packages::Absent(reason) => return Ok(Done::NotRun(reason.clone())),
    };
    // Before the wheel: if it is built for another interpreter, the module would have to be built again.
    crate::commands::build_program()?;
    let wheel = build(full, &["--profile", "dev"])?;
    for environment in [bare, full] {
        environment.install(&["--no-deps", "--force-reinstall", &wheel.to_string_lossy()])?;
    }
    // NumPy alone must be enough for everything except figures, frames and clusters.
    pytest(bare, &["--doctest-modules", "--pyargs", "bilevo"])?;
    let doctests = pytest(full, &["--doctest-modules", "--pyargs", "bilevo"])?;
    // Two at a time, except for tests that share something expensive.
    let tests = pytest(full, &["-n", "2", "--dist", "loadgroup"])?;
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

/// A virtual environment for the tests.
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
        succeed(Command::new(python).args(["-m", "venv"]).arg(&folder))?;
        Ok(Environment { folder })
    }

    /// Its interpreter, in the folder of the workspace.
    pub(crate) fn python(&self) -> Command {
        let place = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        let mut command = Command::new(self.folder.join(place));
        command.current_dir(crate::root()).env("VIRTUAL_ENV", &self.folder);
        command
    }

    /// Lets a command find the programs of the environment, as if it were activated.
    pub(crate) fn activate(&self, command: &mut Command) -> Result<(), String> {
        let programs = self.folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        let before = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&before)));
        command.env("PATH", path.map_err(|e| e.to_string())?);
        Ok(())
    }

    /// Installs packages or archives, without compiling them to bytecode, since only a small part is imported.
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
    as_others_build(&mut command);
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

/// The summary of a pytest run.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    passed: u64,
    skipped: u64,
    /// Why tests were skipped, each reason once.
    reasons: String,
}

fn pytest(environment: &Environment, arguments: &[&str]) -> Result<Counts, String> {
    let mut command = environment.python();
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).args(arguments);
    command.env("BILEVO_PROGRAM", crate::commands::program());
    let counts = counted(&succeed(&mut command)?.stdout);
    match counts {
        Counts { passed: 0, .. } => Err("no test of the Python package ran".into()),
        // Everything from pip is installed, so only a missing system package can be the reason.
        Counts { reasons, .. } if reasons.contains("could not import") => Err(format!("tests left out: {reasons}")),
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
        let reason = line.splitn(3, ':').last().unwrap_or(line).trim();
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
        assert_eq!(counts.reasons, "could not import 'mpi4py': No module; no mpiexec here");
        assert_eq!(counted("no tests ran"), Counts::default());
    }
}
