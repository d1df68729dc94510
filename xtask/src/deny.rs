//! Which dependencies are allowed: licences and sources, by the lists in `deny.toml`.
//!
//! `cargo deny` is the tool for this, and is used if it is installed. It takes minutes to install, so otherwise
//! `cargo tree` lists the packages, and the two most important rules are checked here: every package comes from
//! the registry or this workspace, and has a licence from the list.

use crate::shell::{cargo, exists_as_cargo_subcommand, output, succeed};
use crate::stages::{Done, Outcome};

pub(crate) fn check() -> Outcome {
    let path = crate::root().join("deny.toml");
    let rules = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let allowed = allowed(&rules).ok_or("deny.toml: no line `allow = [...]`")?;
    // With everything a package may need on any system.
    let everything = ["--workspace", "--all-features", "--target", "all", "--edges", "normal,build,dev"];
    let shown = ["--locked", "--prefix", "none", "--format", "{p}\t{l}"];
    let tree = succeed(&mut cargo(&[&["tree"], &everything[..], &shown].concat()))?.stdout;
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    let mut packages: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    packages.sort_unstable();
    packages.dedup();
    let root = crate::root().display().to_string();
    let faults: Vec<String> = packages.iter().filter_map(|line| fault(line, &allowed, &root)).collect();
    if packages.is_empty() {
        return Err("cargo tree names no package".into());
    }
    if !faults.is_empty() {
        return Err(format!("{}\nhint: take another package, or change `deny.toml` on purpose", faults.join("\n")));
    }
    Ok(Done::Passed(format!("{} packages; {}", packages.len(), with_cargo_deny()?)))
}

/// Runs the tool itself, if it is installed; returns what it checked.
fn with_cargo_deny() -> Result<&'static str, String> {
    if !exists_as_cargo_subcommand("deny") {
        return Ok("known vulnerabilities NOT checked: cargo-deny is not installed");
    }
    succeed(&mut cargo(&["deny", "check", "licenses", "bans", "sources"]))?;
    // The database of advisories is on another host, which not every machine can reach.
    if output(&mut cargo(&["deny", "fetch", "db"]))?.code != Some(0) {
        return Ok("cargo deny passed; known vulnerabilities NOT checked: their database could not be fetched");
    }
    succeed(&mut cargo(&["deny", "check", "advisories"]))?;
    Ok("cargo deny passed, known vulnerabilities included")
}

/// The licences of the list `allow = [...]`.
fn allowed(rules: &str) -> Option<Vec<&str>> {
    let list = rules.split_once("\nallow = [")?.1.split_once(']')?.0;
    Some(list.split('"').skip(1).step_by(2).collect())
}

/// What is wrong with a package: `NAME VERSION [(PLACE)]`, a tab, its licences. Packages from the registry show no
/// place.
fn fault(line: &str, allowed: &[&str], root: &str) -> Option<String> {
    let (package, licences) = line.split_once('\t')?;
    let places: Vec<&str> = package.split('(').skip(1).map(|part| part.trim_end_matches([')', ' '])).collect();
    let foreign = places.iter().any(|place| *place != "proc-macro" && !place.starts_with(root));
    if foreign {
        return Some(format!("{package}: neither from the registry nor from this workspace"));
    }
    (!permits(licences, allowed)).then(|| format!("{package}: the licence `{licences}` is not allowed"))
}

/// Whether an SPDX expression can be satisfied by licences from the list. `OR` binds weaker than `AND`; an
/// old-fashioned slash is an `OR`.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any_of(&mut rest, allowed) && rest.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = all_of(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = licence(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        met &= licence(words, allowed);
    }
    met
}

fn licence(words: &mut &[&str], allowed: &[&str]) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let met = any_of(words, allowed);
            *words = words.strip_prefix(&[")"]).unwrap_or(&[]);
            met
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(&format!("{name} WITH {exception}").as_str())
        }
        [name, rest @ ..] => {
            *words = rest;
            allowed.contains(name)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: [&str; 4] = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];

    #[test]
    fn expressions_are_met_or_not() {
        let met = |expression: &str| permits(expression, &ALLOWED);
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-2.0 AND BSD-2-Clause OR MIT",
        ] {
            assert!(met(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-3.0) AND LGPL-3.0", "MIT WITH x", "MIT MIT", "()"] {
            assert!(!met(bad), "{bad}");
        }
    }

    #[test]
    fn packages_of_other_places_and_licences_are_named() {
        let fault = |line: &str| fault(line, &ALLOWED, "/home/me/bilevo");
        assert_eq!(fault("serde v1.0.228\tMIT OR Apache-2.0"), None);
        assert_eq!(fault("thiserror-impl v2.0.17 (proc-macro)\tMIT"), None);
        assert_eq!(fault("bilevo-core v0.1.0 (/home/me/bilevo/crates/bilevo-core)\tMIT"), None);
        assert!(
            fault("left v1.0.0 (https://git.example/left#1a2b)\tMIT").unwrap().contains("neither from the registry")
        );
        assert!(fault("left v1.0.0 (/home/me/left)\tMIT").unwrap().contains("nor from this workspace"));
        assert!(fault("copyleft v1.0.0\tGPL-3.0").unwrap().contains("`GPL-3.0` is not allowed"));
    }

    #[test]
    fn the_list_is_read() {
        assert_eq!(allowed("[licenses]\nallow = [\"MIT\", \"Zlib\"]\n"), Some(vec!["MIT", "Zlib"]));
        assert_eq!(allowed("[licenses]\n"), None);
    }
}
