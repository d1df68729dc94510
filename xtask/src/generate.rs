//! `cargo xtask generate`: pages of the guide that are made from the code.

use crate::shell::{cargo, succeed};
use std::fs;

/// The pages, and the example program that prints each.
const PAGES: [(&str, &str); 1] = [("docs/src/settings.md", "settings_page")];

/// Writes the pages, or with `--check` only says whether they are up to date.
pub(crate) fn run(args: &[&str]) -> Result<bool, String> {
    let check = match args {
        [] => false,
        ["--check"] => true,
        _ => return Err("usage: cargo xtask generate [--check]".into()),
    };
    let mut current = true;
    for (page, example) in PAGES {
        let args = ["run", "--quiet", "--locked", "--package", "bilevo-core", "--example", example];
        let made = succeed(&mut cargo(&args))?.stdout;
        let path = crate::root().join(page);
        if fs::read_to_string(&path).is_ok_and(|text| text == made) {
            println!("{page} is up to date");
        } else if check {
            println!("{page} is out of date\nhint: cargo xtask generate");
            current = false;
        } else {
            fs::write(&path, made).map_err(|e| format!("{page}: {e}"))?;
            println!("{page} written");
        }
    }
    Ok(current)
}
