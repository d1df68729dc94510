//! `cargo xtask study`: runs the published study and what goes beyond it again, and writes the results to
//! `docs/study`.
//!
//! Finished runs are kept in folders below `target`: after an interruption, the same command continues.

use crate::shell::{cargo, succeed};
use std::fs;
use std::path::Path;

/// A study: its folder, and the other arguments of `bilevo reproduce`.
type Study = (&'static str, &'static [&'static str]);
const PUBLISHED: Study =
    ("target/study-published", &["--runs", "21", "--only", "smd,tp,ablation,applications,controls,readings"]);
const BEYOND: Study = ("target/study-beyond", &["--runs", "5", "--only", "beyond"]);
const FRESH: Study = ("target/study-fresh", &["--runs", "21", "--first-seed", "1001", "--only", "controls"]);

/// The pages, the study of each, and the tables in it.
const PAGES: [(&str, Study, &[&str]); 3] = [
    ("summary.md", PUBLISHED, &["summary", "controls", "readings"]),
    ("beyond.md", BEYOND, &["beyond", "beyond-parts"]),
    ("fresh.md", FRESH, &["controls"]),
];

/// A caveat about the default method.
const AGREED: &str = " The default method also ends a run when its restarts agree, and its answer may then be right to \
                      fewer digits than the 1e-6 that *solved* asks for here. Finished runs, judged by 0.01, are in the \
                      guide's page on the default method in figures.";

/// Runs the studies whose folders contain one of the words, or all of them.
pub(crate) fn run(words: &[&str]) -> Result<bool, String> {
    let wanted = |folder: &str| words.is_empty() || words.iter().any(|word| folder.ends_with(word));
    for (folder, arguments) in [PUBLISHED, BEYOND, FRESH].into_iter().filter(|study| wanted(study.0)) {
        eprintln!("bilevo reproduce {} --out {folder}", arguments.join(" "));
        let before = ["run", "--release", "--quiet", "--locked", "--package", "bilevo-cli", "--", "reproduce"];
        let args: Vec<&str> = before.into_iter().chain(arguments.iter().copied()).chain(["--out", folder]).collect();
        succeed(&mut cargo(&args))?;
    }
    let made = made()?;
    let study = crate::root().join("docs/study");
    for (page, (folder, arguments), tables) in PAGES.into_iter().filter(|page| wanted(page.1.0)) {
        let note = if page == "beyond.md" { AGREED } else { "" };
        let head = format!(
            "Made {made}, with `bilevo reproduce {}`; `cargo xtask study` makes it again.{note}",
            arguments.join(" ")
        );
        let read = |table: &&str| read(&crate::root().join(folder).join(format!("tables/{table}.md")));
        let tables: Vec<String> = tables.iter().map(read).collect::<Result<_, _>>()?;
        let text = [vec![head], tables].concat().iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n");
        fs::write(study.join(page), text + "\n").map_err(|e| format!("{page}: {e}"))?;
    }
    if wanted(PUBLISHED.0) {
        let report = read(&crate::root().join(PUBLISHED.0).join("report.html"))?;
        fs::write(study.join("report.html"), dated(&report, &made)).map_err(|e| format!("report.html: {e}"))?;
    }
    println!("docs/study written");
    Ok(true)
}

/// The report, which is always the same, plus the date on which it was made.
fn dated(report: &str, made: &str) -> String {
    report.replacen(
        "<dt>Version of bilevo</dt>",
        &format!("<dt>Made</dt><dd>{made}</dd></div><div><dt>Version of bilevo</dt>"),
        1,
    )
}

/// The date, and the state of the sources.
pub(crate) fn made() -> Result<String, String> {
    let say = |program: &str, args: &[&str]| {
        let mut command = std::process::Command::new(program);
        succeed(command.args(args).current_dir(crate::root())).map(|out| out.stdout.trim().to_string())
    };
    let version = say(env!("CARGO"), &["pkgid", "--package", "bilevo"])?;
    let version = version.rsplit(['#', '@']).next().unwrap_or_default().to_string();
    Ok(format!(
        "on {} by version {version}, commit {}",
        say("date", &["-u", "+%F"])?,
        say("git", &["rev-parse", "--short", "HEAD"])?
    ))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_when_it_was_made() {
        let report = "<dl><div><dt>Version of bilevo</dt><dd>0.1.0</dd></div></dl>";
        let made = "<dl><div><dt>Made</dt><dd>today</dd></div><div><dt>Version of bilevo</dt><dd>0.1.0</dd></div></dl>";
        assert_eq!(dated(report, "today"), made);
    }
}
