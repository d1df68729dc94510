//! `cargo xtask tables [WORD]...`: tables of the guide measured again, in place.
//!
//! A comment `<!-- ert ARGUMENTS -->` above a table in the page of the default method's figures says how `ert`
//! makes it. With words, only tables whose arguments hold one of them are made.

use crate::shell::{cargo, succeed};
use std::fs;

const PAGE: &str = "docs/src/default-evidence.md";

pub(crate) fn run(words: &[&str]) -> Result<bool, String> {
    let path = crate::root().join(PAGE);
    let read = || fs::read_to_string(&path).map_err(|e| format!("{PAGE}: {e}"));
    let wanted = |arguments: &str| words.is_empty() || arguments.split(' ').any(|word| words.contains(&word));
    for arguments in read()?.lines().filter_map(arguments).filter(|arguments| wanted(arguments)) {
        eprintln!("ert {arguments}");
        let before = ["run", "--release", "--quiet", "--locked", "--package", "bilevo-bench", "--bin", "ert", "--"];
        let args: Vec<&str> = before.into_iter().chain(arguments.split(' ')).chain(["--markdown"]).collect();
        let printed = succeed(&mut cargo(&args))?.stdout;
        // Read again: somebody may have written to the page in the meantime.
        fs::write(&path, replaced(&read()?, arguments, &printed)).map_err(|e| format!("{PAGE}: {e}"))?;
    }
    Ok(true)
}

/// The arguments of a line that says how the table below is made.
fn arguments(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- ert ")?.strip_suffix(" -->")
}

fn is_row(line: &&str) -> bool {
    line.starts_with('|')
}

/// The page with the rows printed in the place of the table below its comment.
fn replaced(page: &str, made_by: &str, printed: &str) -> String {
    let rows: Vec<&str> = printed.lines().filter(is_row).collect();
    let mut lines = page.lines().peekable();
    let mut out: Vec<&str> = Vec::new();
    while let Some(line) = lines.next() {
        out.push(line);
        if arguments(line) == Some(made_by) {
            out.extend(lines.next_if(|line| line.is_empty()));
            while lines.next_if(is_row).is_some() {}
            out.extend(&rows);
        }
    }
    out.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_below_its_comment_is_replaced() {
        let page = "| a |\n\n<!-- ert smd -->\n\n| old |\n|---|\n\nwords\n<!-- ert tp -->\n\n| b |\n";
        let made = replaced(page, "smd", "problem\n| new |\n|---|\n| 1 |\nall\n");
        assert_eq!(made, "| a |\n\n<!-- ert smd -->\n\n| new |\n|---|\n| 1 |\n\nwords\n<!-- ert tp -->\n\n| b |\n");
    }
}
