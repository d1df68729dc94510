//! `cargo xtask calibrate [--resume] [ARGUMENT]...`: measures how often results that look alike are right, and writes
//! that to the file that results read and to the guide's page. Every run is kept as soon as it ends: `--resume`
//! continues a calibration that was interrupted, if the method is still the same.

use crate::shell::{cargo, succeed};
use std::fs;

const PAGE: &str = "docs/src/planted.md";
const RESUME: &str = "--resume";
const COUNTS: &str = "crates/bilevo";
const RUNS: &str = "target/calibration.jsonl";
const START: &str = "<!-- calibrate -->";
const END: &str = "<!-- end of calibrate -->";
const COMMAND: &str = "cargo xtask calibrate";
const MADE: &str = "*Made ";

pub(crate) fn run(args: &[&str]) -> Result<bool, String> {
    let before = ["run", "--release", "--quiet", "--locked", "--package", "bilevo-bench", "--bin", "calibrate", "--"];
    let counts = crate::root().join(COUNTS).display().to_string();
    let runs = crate::root().join(RUNS);
    let resumed = args.contains(&RESUME);
    if !resumed && runs.exists() {
        fs::remove_file(&runs).map_err(|e| format!("{RUNS}: {e}"))?;
    }
    let runs = runs.display().to_string();
    let own = args.iter().copied().filter(|arg| *arg != RESUME);
    let all: Vec<&str> = before.into_iter().chain(["--write", &counts, "--runs", &runs]).chain(own).collect();
    let printed = succeed(&mut cargo(&all))?.stdout;
    println!("{printed}");
    let path = crate::root().join(PAGE);
    let page = fs::read_to_string(&path).map_err(|e| format!("{PAGE}: {e}"))?;
    let note = note(args, &crate::study::made()?);
    let made = replaced(&page, &printed, &note).ok_or_else(|| format!("{PAGE}: {START} and {END} are missing"))?;
    fs::write(&path, made).map_err(|e| format!("{PAGE}: {e}"))?;
    Ok(true)
}

/// How the tables were made.
fn note(args: &[&str], made: &str) -> String {
    let args: Vec<&str> = args.iter().copied().filter(|arg| *arg != RESUME).collect();
    format!("{MADE}{made}, with `{COMMAND} {}`.*", args.join(" "))
}

/// Measures with the arguments with which the tables of the page were made.
pub(crate) fn again() -> Result<bool, String> {
    let page = fs::read_to_string(crate::root().join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    let line = page.lines().find(|line| line.starts_with(MADE) && line.contains(COMMAND));
    let args = line.and_then(arguments).ok_or_else(|| format!("{PAGE} does not say how its tables were made"))?;
    run(&args)
}

/// The arguments in such a line.
fn arguments(note: &str) -> Option<Vec<&str>> {
    Some(note.split_once(COMMAND)?.1.strip_suffix("`.*")?.split_whitespace().collect())
}

/// The page with the printed tables, without the list of wrong runs, and the note between the two comments.
fn replaced(page: &str, printed: &str, note: &str) -> Option<String> {
    let (before, rest) = page.split_once(START)?;
    let (_, after) = rest.split_once(END)?;
    let shown: Vec<&str> = printed.lines().filter(|line| !line.starts_with("    ")).collect();
    Some(format!("{before}{START}\n\n{}\n\n{note}\n\n{END}{after}", shown.join("\n").trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_stands_between_the_comments() {
        let page = format!("a\n{START}\nold\n{END}\nb\n");
        let made = replaced(&page, "3 runs\n\n| t |\n    wrong one\n", "*Made*").unwrap();
        assert_eq!(made, format!("a\n{START}\n\n3 runs\n\n| t |\n\n*Made*\n\n{END}\nb\n"));
        assert_eq!(replaced("nothing", "x", ""), None);
    }

    #[test]
    fn the_note_says_how_to_measure_again() {
        let note = note(&["--seeds", "1-9", RESUME], "on Monday");
        assert_eq!(note, "*Made on Monday, with `cargo xtask calibrate --seeds 1-9`.*");
        assert_eq!(arguments(&note).unwrap(), ["--seeds", "1-9"]);
        let page = fs::read_to_string(crate::root().join(PAGE)).unwrap();
        let (_, rest) = page.split_once(START).unwrap();
        let last = rest.split_once(END).unwrap().0.trim_end().lines().last().unwrap();
        assert!(arguments(last).is_some_and(|arguments| arguments.contains(&"--seeds")), "{last}");
    }
}
