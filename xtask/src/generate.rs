//! `cargo xtask generate`: the page of settings, made from the code, and the index `llms.txt`, made from the guide.

use crate::guide;
use crate::shell::{cargo, succeed};
use std::fs;

/// The pages, and the example program that prints each.
const PAGES: [(&str, &str); 1] = [("docs/src/settings.md", "settings_page")];

/// Writes the pages, or with `--check` only reports whether they are up to date.
pub(crate) fn run(args: &[&str]) -> Result<bool, String> {
    let check = match args {
        [] => false,
        ["--check"] => true,
        _ => return Err("usage: cargo xtask generate [--check]".into()),
    };
    let mut current = true;
    for (page, example) in PAGES {
        let args = ["run", "--quiet", "--locked", "--package", "bilevo-core", "--example", example];
        current &= keep(page, succeed(&mut cargo(&args))?.stdout, check)?;
    }
    current &= keep(guide::INDEX, guide::index()?, check)?;
    Ok(current)
}

/// Writes a file if it has changed, or with `check` only reports that. False if it is out of date.
fn keep(file: &str, made: String, check: bool) -> Result<bool, String> {
    let path = crate::root().join(file);
    if fs::read_to_string(&path).is_ok_and(|text| text == made) {
        println!("{file} is up to date");
    } else if check {
        println!("{file} is out of date\nhint: cargo xtask generate");
        return Ok(false);
    } else {
        fs::write(&path, made).map_err(|e| format!("{file}: {e}"))?;
        println!("{file} written");
    }
    Ok(true)
}
