//! The guide for programs that read: an index of its pages in `llms.txt`, and all of it in one file.

use crate::markdown::{lines, targets};
use std::fs;
use std::path::Path;

/// The index, at the root of the repository.
pub(crate) const INDEX: &str = "llms.txt";
/// Where `cargo xtask guide` puts the whole guide.
const WHOLE: &str = "dist/guide.md";
const PAGES: &str = "docs/src";
/// What headings, tables, pictures, comments, lists and quotations begin with.
const NOT_WORDS: [char; 6] = ['#', '|', '!', '<', '-', '>'];

const HEAD: &str = "\
# bilevo

> bilevo solves bilevel (leader-follower) optimisation problems: the leader chooses x, the follower responds with
> its own best y, and bilevo finds the best x given that response. Objectives and constraints can be any code.
> Python: `bilevo.minimize(F, f, bounds_upper, bounds_lower)`. Command line: `bilevo solve problem.toml`.

Both objectives are minimised unless `maximize` says otherwise. A constraint is met when its value is <= 0. Every
variable has bounds; `inf` (`None` in Python) leaves a side open. `result.success` says whether the answer is good, `result.warnings` what is wrong.
If you can compute the follower's response yourself, pass it as `follower=`. `cargo xtask guide` writes the whole
guide into one Markdown file.

";

const TAIL: &str = "
## Formats

- [JSON schema of problem files](docs/schema/problem.schema.json)
- [JSON schema of results](docs/schema/result.schema.json): what `bilevo solve --format json` prints
- [JSON schema of other output](docs/schema/output.schema.json): what the other commands print with `--format json`
- [README](README.md), [CHANGELOG](CHANGELOG.md), [CONTRIBUTING](CONTRIBUTING.md), [SECURITY](SECURITY.md)
";

/// The pages in the order of the table of contents: title and file.
fn pages() -> Result<Vec<(String, String)>, String> {
    let summary = lines(&crate::root().join(PAGES).join("SUMMARY.md"))?;
    let title = |text: &str| Some(text.split_once('[')?.1.split_once("](")?.0.to_string());
    Ok(summary.iter().filter_map(|l| Some((title(&l.text)?, targets(&l.text).into_iter().next()?))).collect())
}

/// The index: every page with its first sentence.
pub(crate) fn index() -> Result<String, String> {
    let mut text = format!("{HEAD}## Guide\n\n");
    for (title, file) in pages()? {
        let page = lines(&crate::root().join(PAGES).join(&file))?;
        let first = page.iter().find(|l| l.fence.is_none() && !l.text.is_empty() && !l.text.starts_with(NOT_WORDS));
        let about = first
            .map(|l| first_sentence(without_links(&l.text).trim_start_matches("**Problem.** ")))
            .unwrap_or_default();
        text += &format!("- [{title}]({PAGES}/{file}): {about}\n");
    }
    Ok(text + TAIL)
}

/// Checks that the index matches the pages, and that its links lead somewhere.
pub(crate) fn wrong_index() -> Result<Vec<String>, String> {
    let path = crate::root().join(INDEX);
    let text = fs::read_to_string(&path).map_err(|e| format!("{INDEX}: {e}"))?;
    let stale = (text != index()?).then(|| format!("{INDEX} is out of date\nhint: cargo xtask generate"));
    let named: Vec<String> = lines(&path)?.iter().flat_map(|l| targets(&l.text)).collect();
    let lost = named.iter().filter(|target| !crate::root().join(target).exists());
    Ok(stale.into_iter().chain(lost.map(|target| format!("{INDEX}: {target} does not exist"))).collect())
}

/// Writes the whole guide into one file.
pub(crate) fn write() -> Result<bool, String> {
    let root = crate::root();
    let mut whole = String::new();
    for (_, file) in pages()? {
        let page = fs::read_to_string(root.join(PAGES).join(&file)).map_err(|e| format!("{file}: {e}"))?;
        whole += &format!("<!-- {PAGES}/{file} -->\n\n{}\n\n", from_dist(page.trim()));
    }
    let path = root.join(WHOLE);
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(|e| e.to_string())?;
    fs::write(&path, whole).map_err(|e| format!("{WHOLE}: {e}"))?;
    println!("{WHOLE} written");
    Ok(true)
}

/// Relative links of a page of the guide, relative to the folder of the whole guide.
fn from_dist(page: &str) -> String {
    let mut parts = page.split("](");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let elsewhere = part.starts_with('#') || part.split(')').next().is_some_and(|link| link.contains("://"));
        text += if elsewhere { "](" } else { "](../docs/src/" };
        text += part;
    }
    text
}

/// Text in which links are replaced by their words.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        plain += part.split_once(')').map_or(part, |(_, rest)| rest);
    }
    plain.replace('[', "")
}

fn first_sentence(text: &str) -> String {
    let ends_here = |at: usize| text[at..].is_empty() || text[at..].starts_with(' ');
    // The full stop after an initial does not end a sentence.
    let initial = |at: usize| text[..at].ends_with(char::is_uppercase);
    let mut ends = text.match_indices(['.', '?', '!']).map(|(at, _)| at);
    let end = ends.find(|&at| ends_here(at + 1) && !initial(at));
    text[..end.map_or(text.len(), |at| at + 1)].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_described_by_its_first_sentence() {
        assert_eq!(first_sentence("One of 1.5 things. Another."), "One of 1.5 things.");
        assert_eq!(first_sentence("How far? Far."), "How far?");
        assert_eq!(first_sentence("By A. B. Who wrote it? Both."), "By A. B. Who wrote it?");
        assert_eq!(first_sentence("no end"), "no end");
        assert_eq!(without_links("see [a](b.md) and [c](d)"), "see a and c");
    }

    #[test]
    fn links_of_the_whole_guide_lead_back() {
        assert_eq!(from_dist("[a](b.md#c) ![d](p.png)"), "[a](../docs/src/b.md#c) ![d](../docs/src/p.png)");
        assert_eq!(from_dist("[a](#b) [c](https://d.org)"), "[a](#b) [c](https://d.org)");
    }

    #[test]
    fn every_page_is_in_the_index() {
        let text = index().unwrap();
        assert!(pages().unwrap().iter().all(|(_, file)| text.contains(&format!("({PAGES}/{file})"))));
    }
}
