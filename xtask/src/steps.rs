//! The steps of `cargo xtask test`, cheapest first; the first failure ends them.
//!
//! What needs every core (the compiler) comes before what needs one at a time (programs that are tried), which then
//! run in parallel.

use crate::shell::{cargo, exists, install_packages, output, succeed};
use crate::stages::{self, Done, Outcome, Stage, Step};
use crate::{commands, deny, links, python};

const STAGES: [Stage; 3] = [
    &[&[
        Step { name: "format", about: "the code is formatted", run: format_check },
        Step { name: "links", about: "links in Markdown files lead somewhere", run: links_check },
        Step { name: "deny", about: "licences and sources of all dependencies", run: deny::check },
        Step { name: "browser", about: "a browser for the test of the report", run: browser },
        Step { name: "octave", about: "Octave for the test of its example", run: octave },
        Step { name: "cpp", about: "a C++ compiler for the test of its example", run: cpp },
    ]],
    &[
        &[
            Step { name: "clippy", about: "no warnings from the compiler or clippy", run: clippy },
            Step { name: "docs", about: "the reference builds without warnings", run: docs },
            Step { name: "build", about: "everything compiles", run: build },
        ],
        &[
            Step { name: "packages", about: "what the tests of the Python package need", run: python::packages },
            Step { name: "types", about: "types of the Python package, with and without others", run: python::types },
        ],
    ],
    &[
        &[
            Step { name: "tests", about: "all tests", run: tests },
            Step { name: "doctests", about: "examples in the reference, the README and the guide", run: doctests },
            Step { name: "commands", about: "command lines shown in the README and the guide", run: commands_check },
        ],
        &[Step { name: "python", about: "the Python package, installed from its wheel", run: python::test }],
    ],
];

/// Runs the named steps, or all of them. False if one failed.
pub(crate) fn run(args: &[&str]) -> Result<bool, String> {
    let steps = || stages::steps(&STAGES);
    if args == ["--list"] {
        steps().for_each(|s| println!("{:<10} {}", s.name, s.about));
        return Ok(true);
    }
    if let Some(unknown) = args.iter().find(|a| steps().all(|s| s.name != **a)) {
        return Err(format!("there is no step `{unknown}`\nhint: `cargo xtask test --list` shows all"));
    }
    Ok(stages::run(&STAGES, args))
}

/// Whether system packages may be installed, and nothing may be left out. That is all that `CI` changes.
pub(crate) fn on_ci() -> bool {
    std::env::var_os("CI").is_some_and(|v| !v.is_empty() && v != "false" && v != "0")
}

fn passed(words: impl Into<String>) -> Outcome {
    Ok(Done::Passed(words.into()))
}

/// A component of the Rust tool chain, installed if allowed.
fn component(subcommand: &str, name: &str) -> Result<(), String> {
    let there = || output(&mut cargo(&[subcommand, "--version"])).is_ok_and(|o| o.code == Some(0));
    if there() {
        return Ok(());
    }
    if on_ci() && exists("rustup") {
        succeed(std::process::Command::new("rustup").args(["component", "add", name]))?;
    }
    if there() { Ok(()) } else { Err(format!("{name} is not installed\nhint: rustup component add {name}")) }
}

fn format_check() -> Outcome {
    component("fmt", "rustfmt")?;
    succeed(&mut cargo(&["fmt", "--all", "--check"])).map_err(|e| format!("{e}\nhint: cargo fmt --all"))?;
    passed("")
}

fn links_check() -> Outcome {
    links::check().and_then(|(files, links)| passed(format!("{links} links in {files} files")))
}

fn clippy() -> Outcome {
    component("clippy", "clippy")?;
    succeed(&mut cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    passed("")
}

fn docs() -> Outcome {
    // The program and the library share the name `bilevo`, so only libraries have pages.
    let mut command = cargo(&["doc", "--quiet", "--workspace", "--no-deps", "--lib", "--locked"]);
    succeed(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    passed("")
}

/// Names under which the test of the report looks for Chromium, unless `BILEVO_BROWSER` names it.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn browser() -> Outcome {
    let named = std::env::var("BILEVO_BROWSER").ok();
    let names: Vec<&str> = named.as_deref().into_iter().chain(BROWSERS).collect();
    from_the_system("Chromium", &names, "chromium", "the test of the report in a browser")
}

fn octave() -> Outcome {
    from_the_system("Octave", &["octave-cli"], "octave", "the test of its example")
}

fn cpp() -> Outcome {
    from_the_system("C++ compiler", &["g++"], "g++", "the test of its example")
}

/// A program from the system's own packages, under one of its names. It is the only kind of thing that may be
/// missing; what needs it is then reported as not run. With `CI` set, it is installed.
fn from_the_system(what: &str, names: &[&str], package: &str, needed_by: &str) -> Outcome {
    let found = || names.iter().find(|name| exists(name));
    if found().is_none() && on_ci() {
        install_packages(&[package])?;
    }
    match found() {
        Some(name) => passed(*name),
        None if on_ci() => Err(format!("no {what} could be installed\nhint: apt-get install -y {package}")),
        None => Ok(Done::NotRun(format!("no {what} here: {needed_by} is left out"))),
    }
}

/// Includes the command line: one build serves every step that runs something. Clippy checks programs that no test
/// runs (examples, benchmarks), and the Python module is built with its wheel.
fn build() -> Outcome {
    commands::build_program()?;
    passed("")
}

fn tests() -> Outcome {
    counted(&succeed(&mut cargo(&["test", "--workspace", "--tests", "--locked", "--no-fail-fast"]))?.stdout)
}

fn doctests() -> Outcome {
    counted(&succeed(&mut cargo(&["test", "--workspace", "--doc", "--locked", "--no-fail-fast"]))?.stdout)
}

/// The number of tests that ran. None at all means that the step checked nothing.
fn counted(stdout: &str) -> Outcome {
    let count = |what: &str| -> u64 {
        let marker = format!(" {what}");
        let results = stdout.lines().filter(|line| line.starts_with("test result:"));
        results.filter_map(|line| line.split(&marker).next()?.split_whitespace().last()?.parse::<u64>().ok()).sum()
    };
    match (count("passed"), count("ignored")) {
        (0, _) => Err("no test ran".into()),
        (n, 0) => passed(format!("{n} tests")),
        (n, ignored) => passed(format!("{n} tests, {ignored} ignored")),
    }
}

fn commands_check() -> Outcome {
    let counts = commands::check()?;
    passed(format!("{} run, {} read", counts.run, counts.read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_over_all_programs() {
        let stdout = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\nnoise\n\
                      test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured";
        assert!(matches!(counted(stdout), Ok(Done::Passed(words)) if words == "7 tests, 1 ignored"));
        assert!(counted("test result: ok. 0 passed; 0 failed; 0 ignored").is_err());
    }

    #[test]
    fn step_names_are_unique() {
        let mut names: Vec<&str> = stages::steps(&STAGES).map(|s| s.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
