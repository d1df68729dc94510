//! `cargo xtask mutants`: puts small faults into the search, one at a time. Which of them do the tests of
//! `bilevo-core` find?
//!
//! A whole run takes hours, so it is not part of `cargo xtask test`; `--shard 0/12` tries every twelfth fault, and
//! other arguments are passed on to cargo-mutants. With `default` as the first argument, it examines the default
//! method instead of the published ones.

use crate::shell::{cargo, exists_as_cargo_subcommand};
use std::process::Command;

/// What is examined: the parts that decide what a run of a published method does, ...
const PARTS: [&str; 7] = ["engine", "nested", "allocate", "lower", "upper", "stop", "order"];
/// ... and a run of the default method.
const DEFAULT: [&str; 3] = ["portfolio", "surrogate", "minimise"];

/// Runs cargo-mutants; false if a fault was missed.
pub(crate) fn run(args: &[&str]) -> Result<bool, String> {
    if !exists_as_cargo_subcommand("mutants") {
        return Err("cargo-mutants is not installed\nhint: cargo install cargo-mutants --locked".into());
    }
    let status = command(args).status().map_err(|e| format!("cargo-mutants could not be started: {e}"))?;
    match status.code() {
        Some(0) => Ok(true),
        // Missed faults, or faults that made a test endless: the program names both.
        Some(2 | 3) => Ok(false),
        code => Err(format!("cargo-mutants ended with {code:?}")),
    }
}

fn command(args: &[&str]) -> Command {
    let (parts, args) = match args {
        ["default", args @ ..] => (&DEFAULT[..], args),
        _ => (&PARTS[..], args),
    };
    let mut command = cargo(&["mutants", "--package", "bilevo-core", "--jobs", "1", "--timeout", "120"]);
    command.args(["--cap-lints", "true", "--output", "target/mutants"]);
    if args.contains(&"--shard") {
        command.args(["--sharding", "round-robin"]);
    }
    for part in parts {
        let path = format!("crates/bilevo-core/src/{part}");
        command.args(["--file", &format!("{path}.rs"), "--file", &format!("{path}/**")]);
    }
    // Every fault needs a build, so compiling fast matters more than running fast.
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "false");
    if exists_as_cargo_subcommand("nextest") {
        command.args(["--test-tool", "nextest"]);
    }
    command.args(args);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_there_and_further_arguments_are_handed_on() {
        for part in PARTS.iter().chain(&DEFAULT) {
            assert!(crate::root().join(format!("crates/bilevo-core/src/{part}.rs")).is_file(), "{part}");
        }
        let args = |given: &[&str]| -> Vec<String> {
            command(given).get_args().map(|a| a.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(args(&["--list"]).last().map(String::as_str), Some("--list"));
        // A part of the faults is taken from all files.
        assert!(
            args(&["--shard", "0/12"]).contains(&"round-robin".into()) && !args(&[]).contains(&"--sharding".into())
        );
        let default = args(&["default", "--list"]).join(" ");
        assert!(default.contains("src/portfolio/**") && !default.contains("engine"), "{default}");
        assert!(default.ends_with(" --list") && !default.contains(" default"), "{default}");
    }
}
