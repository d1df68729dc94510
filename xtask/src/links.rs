//! Checks that relative links in Markdown files lead to a file and, if they name one, to a heading; and that no table
//! contains NaN or the like.
//!
//! Addresses on the network are not followed: a check must not depend on someone else's server.

use crate::markdown::{anchor, files, lines, targets};
use std::path::Path;

/// Checks all files; returns the number of files and of links.
pub(crate) fn check() -> Result<(usize, usize), String> {
    let files = files()?;
    let mut broken = Vec::new();
    let mut count = 0;
    for file in &files {
        let shown = file.strip_prefix(crate::root()).unwrap_or(file).display().to_string();
        for line in lines(file)?.iter().filter(|l| l.fence.is_none()) {
            if has_no_number(&line.text) {
                broken.push(format!("{shown}:{}: a cell of this table holds no number", line.number));
            }
            for target in targets(&line.text) {
                count += 1;
                if let Err(reason) = resolve(file, &target) {
                    broken.push(format!("{shown}:{}: {target}: {reason}", line.number));
                }
            }
        }
    }
    broken.extend(unlisted_pages()?);
    broken.extend(crate::guide::wrong_index()?);
    if broken.is_empty() { Ok((files.len(), count)) } else { Err(broken.join("\n")) }
}

/// Whether a row of a table has a cell with something that is not a number.
fn has_no_number(row: &str) -> bool {
    let is_none = |cell: &str| ["NaN", "nan", "inf", "-inf"].contains(&cell.trim().trim_matches('*'));
    row.trim_start().starts_with('|') && row.split('|').any(is_none)
}

fn resolve(file: &Path, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, heading) = target.split_once('#').map_or((target, None), |(p, h)| (p, Some(h)));
    let destination =
        if path.is_empty() { file.to_path_buf() } else { file.parent().unwrap_or(Path::new(".")).join(path) };
    if !destination.exists() {
        return Err("no such file".into());
    }
    match heading {
        Some(heading) if destination.extension().is_some_and(|e| e == "md") => {
            let found = lines(&destination)?
                .iter()
                .any(|l| l.fence.is_none() && l.text.starts_with('#') && anchor(&l.text) == heading);
            if found { Ok(()) } else { Err("no such heading".into()) }
        }
        _ => Ok(()),
    }
}

/// Pages of the guide that are missing from its table of contents, where no reader would find them.
fn unlisted_pages() -> Result<Vec<String>, String> {
    let folder = crate::root().join("docs/src");
    let summary = folder.join("SUMMARY.md");
    if !summary.exists() {
        return Ok(Vec::new());
    }
    let listed: Vec<String> = lines(&summary)?.iter().flat_map(|l| targets(&l.text)).collect();
    let pages = files()?.into_iter().filter(|f| f.parent() == Some(&folder) && *f != summary);
    Ok(pages
        .map(|page| page.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .filter(|name| !listed.contains(name))
        .map(|name| format!("docs/src/{name}: not in SUMMARY.md"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_hold_no_number_are_found() {
        assert!(has_no_number("| smd1 | 3.5 | NaN |") && has_no_number("| **nan** |"));
        assert!(!has_no_number("| `max_failures` | 50 | NaN does not count |") && !has_no_number("NaN"));
    }
}
