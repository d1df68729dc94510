//! The guide's page on settings, generated from their descriptions.

use super::{Setting, all};
use crate::config::Config;
use crate::methods::{self, Method};
use crate::problem::Budget;
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Settings

<!-- Made from the descriptions in the code by `cargo xtask generate`; change those instead. -->

A method is a named set of settings. `bilevo explain METHOD` prints the settings that a method uses; `--set path=value` changes one of them for a run:

```sh
bilevo explain cr-tlea-cma-es
bilevo solve smd1 --method cr-tlea-cma-es --set allocator.window=48 --set stop.target=both
```

`bilevo` refuses a setting that the method does not use, because it would have no effect. The column *Used* says when a setting is in use; if it is empty, always.
`null` means that the value follows from the problem, its size or the kind of search.
The defaults are those of `bl-cma-es`; [the end of this page](#what-the-methods-change) lists what the other methods change.
";

/// Heading and introduction of a part of the settings.
const SECTIONS: [(&str, &str, &str); 8] = [
    ("scheme", "The scheme", "How a method searches both levels."),
    ("upper", "The upper strategy", "How the leader's next candidates are chosen."),
    ("lower", "The lower search", "How the follower's answers are found."),
    ("allocator", "The allocator", "Which candidates get a lower search."),
    ("refine", "The refinement", "How the best candidate or the elite is rechecked by another lower search."),
    ("portfolio", "The portfolio scheme", "Which searches the method may use, and when it has searched enough."),
    ("position", "Ties of the follower", "Which answer counts if several are equally good for the follower."),
    ("stop", "The end of a run", "When a run, and a lower search, ends."),
];

/// The page in Markdown.
pub fn page() -> String {
    let mut page = INTRODUCTION.to_string();
    let mut sections: Vec<&str> = all().iter().map(Setting::section).collect();
    sections.dedup();
    for section in sections {
        let known = SECTIONS.iter().find(|(name, ..)| *name == section);
        let (title, words) = known.map_or((section, ""), |(_, title, words)| (*title, *words));
        let _ = write!(page, "\n## {title}\n\n{words}\n\n");
        page += "| Setting | Meaning | Default | Takes | Used |\n|---|---|---|---|---|\n";
        all().iter().filter(|s| s.section() == section).for_each(|setting| page += &row(setting));
    }
    page + &variants() + &budgets()
}

fn row(setting: &Setting) -> String {
    let config = Config::default();
    let cells = [
        format!("`{}`", setting.path),
        setting.meaning(),
        setting.text(&config),
        setting.takes(&config).replace(" for the default", ""),
        setting.used_by(),
    ];
    format!("| {} |\n", cells.join(" | ").replace("|  |", "| |"))
}

/// What the variants of a method change, and the bases.
fn variants() -> String {
    let mut text = "\n## What the methods change\n\n| Method | Settings |\n|---|---|\n".to_string();
    let plain = |m: &Method| m.name() == m.base.name;
    let first = &methods::BASES[0];
    for method in methods::all().filter(|m| plain(m) || m.base.name == first.name) {
        let changed = changes(&method.config(), &Config::default());
        if !changed.is_empty() {
            let _ = writeln!(text, "| `{}` | {} |", method.name(), changed.join(", "));
        }
    }
    text + "\nThe variants of the other bases make the same changes to their base. In addition, \
            `cr-motea` and `motea-random-recall` have `refine.max_generations=6`, every variant of `boc` that recalls \
            the elite has `upper.recall=1`, and the published variants of the two TLEA methods have \
            `lower.transfer_window=3`.\n"
}

/// Settings in use that differ between two configs, as `path=value`.
fn changes(config: &Config, from: &Config) -> Vec<String> {
    let differs = |s: &&Setting| s.is_used_by(config) && s.value(config) != s.value(from);
    all().iter().filter(differs).map(|s| format!("`{}={}`", s.path, s.text(config))).collect()
}

fn budgets() -> String {
    let mut text = "\n## Budgets by size\n\n\
        | m + n | upper evaluations | upper window | lower evaluations of a search | lower window |\n\
        |---|---|---|---|---|\n"
        .to_string();
    for (dims, dim) in [("up to 3", 3), ("4 to 6", 6), ("7 to 10", 10), ("11 to 20", 20)] {
        let Budget { upper_evals, upper_window, lower_evals, lower_window } = Budget::for_dim(dim);
        let _ = writeln!(text, "| {dims} | {upper_evals} | {upper_window} | {lower_evals} | {lower_window} |");
    }
    text + "\nBeyond 20 variables, budgets grow in proportion. A problem may define its own.\n"
}
