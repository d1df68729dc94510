//! `cargo xtask faults [WORD]...`: puts faults into the rules by which `bilevo-proof` excludes boxes, one at a time.
//! Do its unit tests, and random problems against brute force, find all of them?
//!
//! A copy of the crate has all faults, each behind a switch, so that one build is enough.

mod list;

use crate::shell::{output, succeed};
use list::FAULTS;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One fault: in `file`, the text `right` directly after `before` becomes `wrong`.
struct Fault {
    name: &'static str,
    file: &'static str,
    before: &'static str,
    right: &'static str,
    wrong: &'static str,
}

/// How many random problems of every family are tried on each fault.
const PROBLEMS: &str = "40";
/// The environment variable that selects the fault.
const SWITCH: &str = "BILEVO_FAULT";

/// Tries the faults whose name contains one of the words, or all; false if one was missed.
pub(crate) fn run(args: &[&str]) -> Result<bool, String> {
    let place = copy()?;
    let mut missed = Vec::new();
    succeed(&mut cargo(&place, &["test", "--lib", "--no-run"], None))?;
    for (index, fault) in FAULTS.iter().enumerate() {
        if !args.is_empty() && !args.iter().any(|word| fault.name.contains(word)) {
            continue;
        }
        let fails = |args: &[&str]| Ok::<bool, String>(output(&mut cargo(&place, args, Some(index)))?.code != Some(0));
        let caught = if fails(&["test", "--lib", "--quiet"])? {
            Some("by a unit test")
        } else if fails(&["test", "--test", "all", "--quiet", "whole::both"])? {
            Some("by trying all whole numbers")
        } else {
            fails(&["run", "--example", "fuzz", "--", PROBLEMS, "0"])?.then_some("by brute force")
        };
        println!("{}: {}", fault.name, caught.unwrap_or("MISSED"));
        missed.extend(caught.is_none().then_some(fault.name));
    }
    println!("{}", if missed.is_empty() { "every fault was found".into() } else { format!("missed: {missed:?}") });
    Ok(missed.is_empty())
}

/// `cargo` in the copy, with a fault or without.
fn cargo(place: &Path, args: &[&str], fault: Option<usize>) -> Command {
    let mut command = crate::shell::cargo(&args[..1]);
    command.arg("--release").args(&args[1..]).current_dir(place);
    command.env(SWITCH, fault.map_or(String::new(), |index| index.to_string()));
    command
}

/// A copy of the crate with all faults, in its own workspace.
fn copy() -> Result<PathBuf, String> {
    let root = crate::root();
    let (from, place) = (root.join("crates/bilevo-proof"), root.join("target/faults"));
    for folder in ["src", "tests", "examples"] {
        copy_folder(&from.join(folder), &place.join(folder))?;
    }
    for (index, fault) in FAULTS.iter().enumerate() {
        let path = place.join(fault.file);
        let text = read(&path)?;
        write(&path, &insert(&text, fault, index)?)?;
    }
    let library = place.join("src/lib.rs");
    write(&library, &format!("{}{}", read(&library)?, switch()))?;
    let crates = root.join("crates");
    let libm = read(&root.join("Cargo.toml"))?.lines().find(|line| line.starts_with("libm")).unwrap_or("").to_string();
    let manifest = format!(
        "[package]\nname = \"bilevo-proof\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         {libm}\nbilevo-core.path = {:?}\nbilevo-problems.path = {:?}\n",
        crates.join("bilevo-core"),
        crates.join("bilevo-problems")
    );
    write(&place.join("Cargo.toml"), &manifest)?;
    write(&place.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
    Ok(place)
}

/// The text with a fault behind its switch.
fn insert(text: &str, fault: &Fault, index: usize) -> Result<String, String> {
    let Fault { name, file, before, right, wrong } = fault;
    let found =
        text.find(&format!("{before}{right}")).ok_or_else(|| format!("`{name}`: {file} has no `{before}{right}`"))?;
    let start = found + before.len();
    let end = start + right.len();
    Ok(format!("{}(if !crate::is_faulty({index}) {{ {right} }} else {{ {wrong} }}){}", &text[..start], &text[end..]))
}

/// The expression that asks whether a fault is on.
fn switch() -> String {
    format!(
        "\npub(crate) fn is_faulty(index: usize) -> bool {{\n\
             static ON: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();\n\
             *ON.get_or_init(|| std::env::var({SWITCH:?}).ok()?.parse().ok()) == Some(index)\n\
         }}\n"
    )
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let say = |e: std::io::Error| format!("{}: {e}", from.display());
    fs::create_dir_all(to).map_err(say)?;
    for entry in fs::read_dir(from).map_err(say)? {
        let path = entry.map_err(say)?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(say)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rewritten rule must keep its fault.
    #[test]
    fn every_fault_has_its_place() {
        for (index, fault) in FAULTS.iter().enumerate() {
            let text = read(&crate::root().join("crates/bilevo-proof").join(fault.file)).unwrap();
            assert!(insert(&text, fault, index).is_ok(), "{}", fault.name);
        }
    }
}
