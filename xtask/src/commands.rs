//! Checks the `bilevo ...` command lines shown in the README, CONTRIBUTING and the guide.
//!
//! Lines in `sh` blocks are run, one file after another, each file in its own folder, so that a line may use what an
//! earlier one wrote. A `toml` or `python` block that starts with the comment `# NAME.toml` or `# NAME.py` is stored
//! there under that name, and a problem file is checked. Complete commands in the middle of a sentence are run as well.
//! Commands that would take minutes, and those that a sentence only names, are parsed, with `--help` appended: an
//! unknown command, option or value still fails.

use crate::markdown::{Line, files, lines};
use crate::shell::{Output, cargo, exists, output, succeed};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands that take too long to run.
const READ: [&str; 1] = ["reproduce"];

/// How many command lines were checked.
#[derive(Default)]
pub(crate) struct Counts {
    /// Run.
    pub(crate) run: usize,
    /// Parsed only.
    pub(crate) read: usize,
}

/// Checks every command line.
pub(crate) fn check() -> Result<Counts, String> {
    build_program()?;
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for file in files()?.iter().filter(|f| shows_commands(f)) {
        let shown = file.strip_prefix(crate::root()).unwrap_or(file).display().to_string();
        let lines = lines(file)?;
        let folder = Scratch::new(&shown)?;
        let stored = example_files(&lines);
        // Problem files may name programs, and ours are in Python.
        let lacks_python = stored.iter().any(|(name, _)| name.ends_with(".py")) && !exists("python3");
        for (name, text) in stored {
            std::fs::write(folder.0.join(&name), &text).map_err(|e| format!("{name}: {e}"))?;
            if text.contains("[upper]") {
                counts.run += 1;
                let check = ["check", "--no-run", &name].map(String::from);
                wrong
                    .extend(try_line(&check, true, &folder.0).err().map(|reason| format!("{shown}: {name}\n{reason}")));
            }
        }
        let shown_lines = command_lines(&lines).into_iter().map(|line| (line, true));
        for ((number, words), alone) in shown_lines.chain(mentioned(&lines).into_iter().map(|line| (line, false))) {
            let words = with_examples(words);
            let short = words.first().is_some_and(|w| !READ.contains(&w.as_str()));
            let real = short && !lacks_python && (alone || is_complete(&words, &folder.0));
            *(if real { &mut counts.run } else { &mut counts.read }) += 1;
            if let Err(reason) = try_line(&words, real, &folder.0) {
                wrong.push(format!("{shown}:{number}: bilevo {}\n{reason}", words.join(" ")));
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    if counts.run == 0 { Err("no command line was found".into()) } else { Ok(counts) }
}

fn shows_commands(file: &Path) -> bool {
    let root = crate::root();
    file.starts_with(root.join("docs/src")) || ["README.md", "CONTRIBUTING.md"].iter().any(|f| *file == root.join(f))
}

fn try_line(words: &[String], real: bool, folder: &Path) -> Result<(), String> {
    let mut command = Command::new(program());
    command.args(words).current_dir(folder);
    if !real {
        command.arg("--help");
    }
    let Output { stderr, code, .. } = output(&mut command)?;
    match code {
        // 1 = finished without meeting the target: the line itself is fine
        Some(0 | 1) => Ok(()),
        Some(code) => Err(format!("exit code {code}: {}", stderr.trim())),
        None => Err("ended by a signal".into()),
    }
}

/// Builds the program from what the tests have already built: on its own, its dependencies would be built again, with
/// fewer features.
pub(crate) fn build_program() -> Result<(), String> {
    succeed(&mut cargo(&["test", "--quiet", "--workspace", "--tests", "--locked", "--no-run"])).map(|_| ())
}

/// The program just built, in the same folder as this one.
pub(crate) fn program() -> PathBuf {
    let name = format!("bilevo{}", std::env::consts::EXE_SUFFIX);
    std::env::current_exe().map(|p| p.with_file_name(&name)).unwrap_or_else(|_| PathBuf::from(name))
}

/// The command lines of a file, as words after `bilevo`, with their line numbers.
fn command_lines(lines: &[Line]) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for line in lines.iter().filter(|l| l.fence.as_deref() == Some("sh")) {
        let text = line.text.trim();
        let (number, before) = open.take().unwrap_or((line.number, String::new()));
        let whole = format!("{before}{text}");
        match whole.strip_suffix('\\') {
            Some(start) => open = Some((number, start.to_string())),
            None => found.extend(arguments(&whole).map(|words| (number, words))),
        }
    }
    found
}

/// The command lines in the middle of a sentence.
fn mentioned(lines: &[Line]) -> Vec<(usize, Vec<String>)> {
    let spans = |line: &Line| -> Vec<String> { line.text.split('`').skip(1).step_by(2).map(str::to_string).collect() };
    let found = |line: &Line| spans(line).iter().filter_map(|span| arguments(span)).collect::<Vec<_>>();
    let prose = lines.iter().filter(|line| line.fence.is_none());
    prose.flat_map(|line| found(line).into_iter().map(|words| (line.number, words))).collect()
}

/// The words, with paths in the folder `examples` from the root: the commands run elsewhere.
fn with_examples(words: Vec<String>) -> Vec<String> {
    let found = |word: String| match word.starts_with("examples/") {
        true => crate::root().join(word).display().to_string(),
        false => word,
    };
    words.into_iter().map(found).collect()
}

/// Whether a command in a sentence can be run: it says what to work on, without placeholders, and that exists.
fn is_complete(words: &[String], folder: &Path) -> bool {
    let placeholder = |word: &String| word.contains('…') || word.chars().any(|c| c.is_ascii_uppercase());
    let file = |word: &&String| [".toml", ".mps", ".ckpt"].iter().any(|ending| word.ends_with(ending));
    let (files, others): (Vec<&String>, Vec<&String>) = words.iter().partition(file);
    let names_something = !files.is_empty() || words.get(1).is_some_and(|word| !word.starts_with('-'));
    // The path of a file may have any letters.
    names_something && files.iter().all(|word| folder.join(word).exists()) && !others.into_iter().any(placeholder)
}

/// The blocks that name themselves in their first line, with their text.
fn example_files(lines: &[Line]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let (mut before, mut named) = (0, false);
    for line in lines.iter().filter(|l| matches!(l.fence.as_deref(), Some("toml" | "python"))) {
        if line.number != before + 1 {
            let name = line.text.strip_prefix("# ").filter(|name| name.ends_with(".toml") || name.ends_with(".py"));
            named = name.is_some();
            found.extend(name.map(|name| (name.to_string(), String::new())));
        }
        before = line.number;
        if let Some((_, text)) = found.last_mut().filter(|_| named) {
            text.push_str(&line.text);
            text.push('\n');
        }
    }
    found
}

/// The arguments of a line that calls bilevo, directly or through `cargo run`.
fn arguments(line: &str) -> Option<Vec<String>> {
    let rest = ["bilevo ", "cargo run --release -- ", "cargo run -- "].iter().find_map(|p| line.strip_prefix(p))?;
    Some(split(rest))
}

/// Words of a shell line up to a comment, a pipe or a redirection; quotes keep words together.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '|' | '>' | ';' | '&') => break,
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A folder that is removed when it goes out of scope.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Result<Self, String> {
        let name: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let path = std::env::temp_dir().join(format!("bilevo-commands-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Leaving a temporary folder behind does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::parse;

    #[test]
    fn blocks_that_name_themselves_become_files() {
        let page = "```toml\n# a.toml\nx = 1\n```\n```toml\ny = 2\n```\n```python\n# b.py\n```";
        let expected = [("a.toml", "# a.toml\nx = 1\n"), ("b.py", "# b.py\n")];
        assert_eq!(example_files(&parse(page)), expected.map(|(name, text)| (name.to_string(), text.to_string())));
    }

    #[test]
    fn long_lines_may_be_continued() {
        let found = command_lines(&parse("```sh\nbilevo solve \\\n  smd1\n```\n```text\nbilevo no\n```"));
        assert_eq!(found, [(2, vec!["solve".to_string(), "smd1".to_string()])]);
    }

    #[test]
    fn commands_in_a_sentence_are_found() {
        let found = mentioned(&parse("See `bilevo list parts` and `x`.\n```text\n`bilevo no`\n```"));
        assert_eq!(found, [(1, vec!["list".to_string(), "parts".to_string()])]);
    }

    #[test]
    fn a_command_in_a_sentence_is_complete_if_everything_it_names_exists() {
        let folder = Scratch::new("complete").unwrap();
        std::fs::write(folder.0.join("a.toml"), "").unwrap();
        let complete = |line: &str| is_complete(&with_examples(split(line)), &folder.0);
        for line in ["solve smd1 --seed 5", "check --no-run a.toml", "list parts", "solve examples/network.toml"] {
            assert!(complete(line), "{line}");
        }
        for line in ["prove", "solve --format json", "explain METHOD", "solve … --front", "solve b.toml"] {
            assert!(!complete(line), "{line}");
        }
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        assert_eq!(split("eval smd1 --x \"0 1\"  # words"), ["eval", "smd1", "--x", "0 1"]);
        assert_eq!(split("solve smd1 --format json > out.json"), ["solve", "smd1", "--format", "json"]);
        assert_eq!(split("solve '' a#b | jq ."), ["solve", "", "a#b"]);
    }

    #[test]
    fn only_lines_that_call_bilevo_count() {
        assert_eq!(arguments("cargo run --release -- solve smd1"), Some(vec!["solve".into(), "smd1".into()]));
        assert_eq!(arguments("cargo xtask test"), None);
    }
}
