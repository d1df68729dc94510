//! `cargo xtask tables [WORD]...`: measures tables of the README and the guide again, in place.
//!
//! A table that a command prints stands between `<!-- table COMMAND -->` and `<!-- end of table -->`, and ends with a
//! line that says when and by which version it was made. With words, only tables whose page or command contains one
//! of them are made again; `--list` names them all. A `python` command needs the package in the active environment.
//! `--everything` also measures what other commands write: the study, the calibration, the comparison with other
//! libraries.

use crate::shell::{cargo, succeed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const START: &str = "<!-- table ";
const END: &str = "<!-- end of table -->";
const EVERYTHING: &str = "--everything";

/// Programs that write their pages themselves.
const WRITERS: [&str; 1] = ["python python/bench/neighbours.py --only bilevo"];

pub(crate) fn run(words: &[&str]) -> Result<bool, String> {
    let tables = tables()?;
    if words == ["--list"] {
        tables.iter().for_each(|(page, command)| println!("{}: {command}", shown(page)));
        return Ok(true);
    }
    let everything = words == [EVERYTHING];
    if everything {
        for program in WRITERS {
            eprintln!("{program}");
            output_of(program)?;
        }
        crate::calibrate::again()?;
        crate::study::run(&[])?;
    }
    let words = if everything { &[] } else { words };
    let wanted = |text: &str| words.iter().any(|word| text.contains(word));
    let chosen = tables.iter().filter(|(page, command)| words.is_empty() || wanted(command) || wanted(&shown(page)));
    let mut made = 0;
    for (page, command) in chosen {
        eprintln!("{}: {command}", shown(page));
        let printed = printed(command)?;
        let text = format!("{printed}\n\n{}", note(command, &crate::study::made()?));
        // Read again, because somebody may have edited the page in the meantime.
        let whole =
            replaced(&read(page)?, command, &text).ok_or_else(|| format!("{}: {END} is missing", shown(page)))?;
        fs::write(page, whole).map_err(|e| format!("{}: {e}", shown(page)))?;
        made += 1;
    }
    if made == 0 { Err("no table fits these words\nhint: cargo xtask tables --list".into()) } else { Ok(true) }
}

/// Every table that a command prints: its page and the command.
fn tables() -> Result<Vec<(PathBuf, String)>, String> {
    let mut found = Vec::new();
    for page in crate::markdown::files()? {
        found.extend(read(&page)?.lines().filter_map(command).map(|command| (page.clone(), command.to_string())));
    }
    Ok(found)
}

/// The command of a line that says how the table below is made.
fn command(line: &str) -> Option<&str> {
    line.strip_prefix(START)?.strip_suffix(" -->")
}

/// What a command prints.
fn output_of(command: &str) -> Result<String, String> {
    let mut words = command.split(' ');
    let out = match words.next() {
        Some("cargo") => succeed(&mut cargo(&words.collect::<Vec<_>>()))?,
        Some("python") => {
            let python = crate::python::interpreter()?.ok_or("no Python 3.10 or newer was found")?;
            succeed(Command::new(python).args(words).current_dir(crate::root()))?
        }
        _ => return Err(format!("`{command}` begins with neither `cargo` nor `python`")),
    };
    Ok(out.stdout)
}

/// The table that a command prints, and what follows it; other lines come before.
fn printed(command: &str) -> Result<String, String> {
    let out = output_of(command)?;
    let lines: Vec<&str> = out.lines().skip_while(|line| !line.starts_with('|')).collect();
    match lines.is_empty() {
        true => Err(format!("`{command}` printed no table")),
        false => Ok(lines.join("\n").trim_end().to_string()),
    }
}

/// How a table was made.
fn note(command: &str, made: &str) -> String {
    format!("*Made {made}, with `{command}`.*")
}

/// The page with `text` in the place of the table of a command.
fn replaced(page: &str, command: &str, text: &str) -> Option<String> {
    let start = format!("{START}{command} -->");
    let (before, rest) = page.split_once(&start)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{start}\n\n{text}\n\n{END}{after}"))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(crate::root()).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_command_is_replaced() {
        let page = format!("a\n{START}cargo x -->\n\n| old |\n\n{END}\nb\n{START}cargo y -->\n| c |\n{END}\n");
        let made = replaced(&page, "cargo x", "| new |").unwrap();
        assert_eq!(made, page.replace("old", "new"));
        assert_eq!(replaced(&page, "cargo z", ""), None);
        assert_eq!(command("<!-- table cargo x -- 1 -->"), Some("cargo x -- 1"));
    }

    #[test]
    fn every_table_says_when_it_was_made_and_by_which_command() {
        let tables = tables().unwrap();
        assert!(tables.len() > 5);
        for (page, command) in tables {
            let text = read(&page).unwrap();
            let block = text.split_once(&format!("{START}{command} -->")).and_then(|(_, rest)| rest.split_once(END));
            let (table, _) = block.unwrap_or_else(|| panic!("{}: no end of `{command}`", shown(&page)));
            let last = table.trim_end().lines().last().unwrap_or_default();
            assert!(
                last.starts_with("*Made on ") && last.ends_with(&format!(", with `{command}`.*")),
                "{page:?}: {last}"
            );
        }
    }
}
