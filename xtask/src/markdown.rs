//! The Markdown files of the repository, and the few things the checks need from them.

use std::fs;
use std::path::{Path, PathBuf};

/// One line of a file.
pub(crate) struct Line {
    /// Number, from 1.
    pub(crate) number: usize,
    /// Text without the line end.
    pub(crate) text: String,
    /// Language of the fenced block that contains it (may be empty), if any.
    pub(crate) fence: Option<String>,
}

/// Every Markdown file of the repository, sorted.
pub(crate) fn files() -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    collect(&crate::root(), &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                collect(&path, found)?;
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
    Ok(())
}

/// The lines of a file, each with the fenced block it belongs to. Fence lines are left out.
pub(crate) fn lines(path: &Path) -> Result<Vec<Line>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(parse(&text))
}

/// The lines of a text, each with the fenced block it belongs to.
pub(crate) fn parse(text: &str) -> Vec<Line> {
    let mut fence: Option<String> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language.trim().to_string()) };
        } else {
            lines.push(Line { number: index + 1, text: line.to_string(), fence: fence.clone() });
        }
    }
    lines
}

/// The anchor that a heading gets: lower case, blanks to hyphens, other punctuation dropped.
pub(crate) fn anchor(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

/// Targets of the links in one line of text: `[words](target)`, code spans left out.
pub(crate) fn targets(text: &str) -> Vec<String> {
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join("");
    plain
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(|target| target.split_whitespace().next().unwrap_or_default().to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        assert_eq!(targets("see [a](b.md#c), `[no](x)` and [d](e \"title\")"), ["b.md#c", "e"]);
    }

    #[test]
    fn headings_become_anchors() {
        assert_eq!(anchor("## Add a lower search, in six steps"), "add-a-lower-search-in-six-steps");
        assert_eq!(anchor("# `solve`"), "solve");
    }

    #[test]
    fn lines_know_their_fence() {
        let lines = parse("a\n```sh\nb\n```\nc");
        let fences: Vec<_> = lines.iter().map(|l| (l.number, l.fence.as_deref())).collect();
        assert_eq!(fences, [(1, None), (3, Some("sh")), (5, None)]);
    }
}
