//! The archives that people install: the wheel, and an sdist that builds without a network.

use crate::python::{Environment, interpreter, only_file};
use crate::shell::{cargo, exists, output, succeed};
use crate::steps::on_ci;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The published crates, in the order of their dependencies.
const CRATES: [&str; 6] = ["bilevo-core", "bilevo-problems", "bilevo-proof", "bilevo", "bilevo-lab", "bilevo-cli"];
/// What an installation from the sdist needs besides Rust and a C compiler (for SQLite).
const BUILD_TOOLS: [&str; 2] = ["maturin>=1.9,<2", "numpy"];

/// Lets cargo take crates from the folder of an sdist instead of the registry.
const FROM_VENDOR: &str = "\
[source.crates-io]
replace-with = \"vendor\"

[source.vendor]
directory = \"vendor\"
";

/// `cargo xtask wheel`: both archives in `dist`.
pub(crate) fn wheel() -> Result<bool, String> {
    let environment = tools()?;
    let (wheel, sdist) = make(&environment)?;
    println!("{}\n{}", wheel.display(), sdist.display());
    Ok(true)
}

/// `cargo xtask package`: the guide builds as a book, every crate packages, and both archives install in an empty
/// environment.
pub(crate) fn package() -> Result<bool, String> {
    let mut clock = Instant::now();
    let mut done = |what: &str, result: &str| {
        println!("{what:<10} {:>5.0} s  {result}", clock.elapsed().as_secs_f64());
        clock = Instant::now();
    };
    done("guide", &book()?);
    crates()?;
    done("crates", &CRATES.join(", "));
    let (wheel, sdist) = make(&tools()?)?;
    done("archives", &format!("{}, {}", wheel.display(), sdist.display()));
    for archive in [&wheel, &sdist] {
        try_install(archive)?;
        done("installs", &archive.display().to_string());
    }
    Ok(true)
}

/// Packages every crate and compiles the contents of all packages together.
///
/// Cargo's own check compiles every package separately, and keeps what it unpacked: a second call with the same
/// version would use the files of the first one.
fn crates() -> Result<(), String> {
    let mut package = vec!["package", "--quiet", "--locked", "--allow-dirty", "--no-verify"];
    CRATES.iter().for_each(|name| package.extend(["--package", name]));
    succeed(&mut cargo(&package))?;
    let packages = crate::root().join("target/package");
    let unpacked = empty(&packages.join("unpacked"))?;
    let (mut members, mut patches) = (Vec::new(), String::new());
    for name in CRATES {
        let folder = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        succeed(
            Command::new("tar").arg("-xzf").arg(packages.join(format!("{folder}.crate"))).arg("-C").arg(&unpacked),
        )?;
        patches.push_str(&format!("{name} = {{ path = \"{folder}\" }}\n"));
        members.push(folder);
    }
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n[patch.crates-io]\n{patches}");
    let file = unpacked.join("Cargo.toml");
    std::fs::write(&file, manifest).map_err(|e| format!("{}: {e}", file.display()))?;
    succeed(cargo(&["check", "--quiet", "--workspace"]).current_dir(&unpacked)).map(|_| ())
}

/// A folder with nothing in it.
fn empty(folder: &Path) -> Result<PathBuf, String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder.to_path_buf())
}

/// Builds the guide and says where it is.
fn book() -> Result<String, String> {
    if !exists("mdbook") && on_ci() {
        succeed(&mut cargo(&["install", "--quiet", "--locked", "mdbook"]))?;
    }
    if !exists("mdbook") {
        return Err("the guide needs mdBook\nhint: cargo install --locked mdbook".into());
    }
    let book = crate::root().join("target/book");
    succeed(Command::new("mdbook").arg("build").arg(crate::root().join("docs")).arg("--dest-dir").arg(&book))?;
    Ok(book.display().to_string())
}

/// An environment with the build tools.
fn tools() -> Result<Environment, String> {
    let python = interpreter()?.ok_or("no Python 3.10 or newer here")?;
    let environment = Environment::fresh(&python, "tools")?;
    environment.install(&BUILD_TOOLS)?;
    Ok(environment)
}

/// Builds both archives into `dist`.
fn make(environment: &Environment) -> Result<(PathBuf, PathBuf), String> {
    let dist = crate::root().join("dist");
    let folder = |name: &str| empty(&crate::root().join("target/python").join(name));
    let maturin = |args: &[&str], out: &Path| {
        succeed(environment.python().args(["-m", "maturin"]).args(args).arg("--out").arg(out)).map(|_| ())
    };
    let (wheels, sources, work) = (folder("wheel")?, folder("sdist")?, folder("unpacked")?);
    maturin(&["build", "--quiet", "--locked", "--profile", "dist"], &wheels)?;
    maturin(&["sdist"], &sources)?;
    std::fs::create_dir_all(&dist).map_err(|e| format!("{}: {e}", dist.display()))?;
    let (wheel, sdist) = (only_file(&wheels)?, only_file(&sources)?);
    let placed = |file: &Path| dist.join(file.file_name().unwrap_or_default());
    std::fs::copy(&wheel, placed(&wheel)).map_err(|e| format!("{}: {e}", wheel.display()))?;
    vendor(&sdist, &work, &placed(&sdist))?;
    Ok((placed(&wheel), placed(&sdist)))
}

/// Adds the sources of all dependencies to an sdist, so that it builds without a network.
fn vendor(sdist: &Path, work: &Path, into: &Path) -> Result<(), String> {
    succeed(Command::new("tar").arg("-xzf").arg(sdist).arg("-C").arg(work))?;
    let inside = only_file(work)?;
    succeed(cargo(&["vendor", "--quiet", "--versioned-dirs", "vendor"]).current_dir(&inside))?;
    let config = empty(&inside.join(".cargo"))?.join("config.toml");
    std::fs::write(&config, FROM_VENDOR).map_err(|e| format!("{}: {e}", config.display()))?;
    let name = inside.file_name().unwrap_or_default();
    succeed(Command::new("tar").arg("-czf").arg(into).arg("-C").arg(work).arg(name)).map(|_| ())
}

/// Installs an archive into its own environment, without any index, and solves a problem.
fn try_install(archive: &Path) -> Result<(), String> {
    let python = interpreter()?.ok_or("no Python 3.10 or newer here")?;
    let environment = Environment::fresh(&python, "installed")?;
    environment.install(&BUILD_TOOLS)?;
    let mut pip = environment.python();
    pip.args(["-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation"]).arg(archive);
    environment.activate(&mut pip)?;
    succeed(pip.env("CARGO_NET_OFFLINE", "true").env("CARGO_HOME", crate::root().join("target/python/empty-home")))?;
    let solve = "import bilevo; assert bilevo.minimize('smd1', seed=1).solved";
    let solved = output(environment.python().args(["-c", solve]).current_dir(std::env::temp_dir()))?;
    if solved.code == Some(0) { Ok(()) } else { Err(format!("{} is broken:\n{}", archive.display(), solved.stderr)) }
}
