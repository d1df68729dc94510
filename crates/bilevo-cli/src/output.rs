//! Where output goes: data to stdout, messages to stderr, colours only to terminals.
//!
//! All text passes through [`terminal`]. Names, replies and excerpts may come from anybody's files and programs, so
//! they reach a terminal only as plain text.

use bilevo::printable::printable;
pub(crate) use bilevo::printable::{digits, grouped, short};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::sync::LazyLock;

/// The style of a piece of text, written as `{WARN}text{WARN:#}`: a mark that only this process knows, so that no
/// foreign text can imitate it. [`terminal`] turns marks into colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style(char);

/// No style.
pub(crate) const PLAIN: Style = Style('p');
/// Style of headings and names.
pub(crate) const BOLD: Style = Style('b');
/// Style of secondary information.
pub(crate) const DIM: Style = Style('d');
/// Style of success.
pub(crate) const GOOD: Style = Style('g');
/// Style of warnings.
pub(crate) const WARN: Style = Style('w');
/// Style of mistakes.
pub(crate) const BAD: Style = Style('e');

/// What a mark begins with.
static MARK: LazyLock<String> = LazyLock::new(|| format!("\u{fdd0}{:016x}", RandomState::new().hash_one(0)));

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, f.alternate()) {
            (PLAIN, _) => Ok(()),
            (_, true) => write!(f, "{}.", *MARK),
            (Style(letter), false) => write!(f, "{}{letter}", *MARK),
        }
    }
}

/// Text that is safe for a terminal: marks become colours, and all other control characters are removed.
fn terminal(text: &str) -> String {
    let mut parts = text.split(MARK.as_str());
    let mut out = printable(parts.next().unwrap_or_default());
    for part in parts {
        let mut rest = part.chars();
        out.push_str(match rest.next() {
            Some('b') => "\x1b[1m",
            Some('d') => "\x1b[2m",
            Some('g') => "\x1b[32m",
            Some('w') => "\x1b[33m",
            Some('e') => "\x1b[1;31m",
            _ => "\x1b[0m",
        });
        out.push_str(&printable(rest.as_str()));
    }
    out
}

/// A stream for text, which is written line by line.
pub(crate) struct Lines<W: Write> {
    inner: W,
    waiting: Vec<u8>,
}

impl<W: Write> Lines<W> {
    fn send(&mut self, length: usize) -> io::Result<()> {
        let bytes: Vec<u8> = self.waiting.drain(..length).collect();
        self.inner.write_all(terminal(&String::from_utf8_lossy(&bytes)).as_bytes())
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if let Some(end) = self.waiting.iter().rposition(|byte| *byte == b'\n') {
            self.send(end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send(self.waiting.len())?;
        self.inner.flush()
    }
}

impl<W: Write> Drop for Lines<W> {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// stdout; with colours if it is a terminal that supports them.
pub(crate) fn stdout() -> impl Write {
    Lines { inner: anstream::stdout().lock(), waiting: Vec::new() }
}

/// stderr, likewise.
pub(crate) fn stderr() -> impl Write {
    Lines { inner: anstream::stderr().lock(), waiting: Vec::new() }
}

/// Prints a value as one line of JSON.
pub(crate) fn json_line(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_json(&serde_json::to_string(value)?)
}

/// Prints a value as JSON, one object for the whole output.
pub(crate) fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_json(&serde_json::to_string_pretty(value)?)
}

fn print_json(json: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", escaped(json))?;
    Ok(out.flush()?)
}

/// JSON does not escape control characters beyond ASCII, which some terminals obey. They occur only in strings, where
/// we can escape them.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' => out.push(c),
            c if printable(c.encode_utf8(&mut [0; 4])).starts_with(c) => out.push(c),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out
}

/// Prints to stderr. If that fails, there is nowhere to report it.
pub(crate) fn say(text: impl fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{}", terminal(&text.to_string()));
}

/// Prints a warning with its code ([`bilevo::codes::WARNINGS`]).
pub(crate) fn warn(code: &str, text: impl fmt::Display) {
    debug_assert!(bilevo::codes::WARNINGS.iter().any(|(known, _)| *known == code), "no such code: {code}");
    say(format_args!("{WARN}warning[{code}]{WARN:#}: {text}"));
}

/// Prints what is wrong with an answer.
pub(crate) fn warn_of(warnings: &[bilevo::Warning]) {
    warnings.iter().for_each(|warning| warn(&warning.code, warning));
}

/// Warns if a store is incomplete.
pub(crate) fn warn_of_missing_log(store: &bilevo_lab::store::Store) {
    store.missing_log().into_iter().for_each(|words| warn("W402", words));
}

/// Text of unknown origin on one line.
pub(crate) fn plain(text: &str) -> String {
    printable(text).replace('\n', " ")
}

/// A message of this program that has one of the stable codes ([`bilevo::codes::ERRORS`]).
#[derive(Debug)]
struct Coded {
    code: &'static str,
    message: String,
}

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Coded {}

/// An error with a code.
pub(crate) fn coded(code: &'static str, message: String) -> anyhow::Error {
    debug_assert!(bilevo::codes::ERRORS.iter().any(|(known, _)| *known == code), "no such code: {code}");
    Coded { code, message }.into()
}

/// Prints why a command failed.
pub(crate) fn say_error(error: &anyhow::Error) {
    let mut said = error.to_string();
    let own = |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<Coded>().map(|coded| coded.code);
    let code = error.chain().find_map(|cause| own(cause).or_else(|| bilevo_lab::code(cause)));
    let code = code.map(|code| format!("[{code}]")).unwrap_or_default();
    say(format_args!("{BAD}error{code}{BAD:#}: {said}"));
    for cause in error.chain().skip(1) {
        let words = cause.to_string();
        // Some errors quote their cause, or say it in plain words.
        let missing = cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::NotFound);
        let is_said = said.contains(&words) || missing && said.contains("there is no such file");
        if !is_said {
            say(format_args!("  because: {words}"));
        }
        said = words;
    }
}

/// Prints what is wrong with the command line. Colours only if nothing in it could imitate them.
pub(crate) fn say_usage(error: &clap::Error) {
    let foreign = std::env::args_os().any(|word| printable(&word.to_string_lossy()) != word.to_string_lossy());
    if foreign {
        say(error.render().to_string().trim_end());
    } else {
        // Help and version go to stdout, the rest to stderr; clap knows which is which.
        let _ = error.print();
    }
}

/// Whether the reader of our stdout has gone, which is not an error (`bilevo list problems | head -1`).
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

/// A best known value; a zero with rounding errors is shown as zero.
pub(crate) fn best_known(number: f64) -> String {
    short(if number.abs() < 1e-12 { 0.0 } else { number })
}

/// `1 generation`, `2 generations`, `2 inequalities`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{} {stem}ies", grouped(number)),
        (_, None) => format!("{} {noun}s", grouped(number)),
    }
}

/// A point with the names of its variables, as in `toll = 4, fee = 2.5`, or as a vector if they have none.
pub(crate) fn point(names: Option<&[String]>, values: &[f64]) -> String {
    // Answers of the follower's own solver have any length, and no names.
    let Some(names) = names.filter(|names| names.len() == values.len()) else { return vector(values) };
    let texts: Vec<String> =
        names.iter().zip(values).map(|(name, value)| format!("{} = {}", plain(name), short(*value))).collect();
    texts.join(", ")
}

/// A vector as `[1, 2.5, 1e-9]`.
pub(crate) fn vector(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(|&v| short(v)).collect();
    format!("[{}]", texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_ours_alone() {
        let text = format!("{WARN}a{WARN:#} {PLAIN}{} \x1b[31m\u{fdd0}0123456789abcdefb\nc", "\u{9b}2J");
        assert_eq!(terminal(&text), "\x1b[33ma\x1b[0m �2J �[31m\u{fdd0}0123456789abcdefb\nc");
        assert_eq!(escaped("{\"a\": \"ä\u{9b}\u{7f}\u{202e}\"}\n"), "{\"a\": \"ä\\u009b\\u007f\\u202e\"}\n");
    }

    #[test]
    fn lines_leave_whole() {
        let mut bytes = Vec::new();
        let mut out = Lines { inner: &mut bytes, waiting: Vec::new() };
        let mark = format!("{BOLD}ä{BOLD:#}\nend");
        for byte in mark.as_bytes() {
            out.write_all(&[*byte]).unwrap();
        }
        drop(out);
        assert_eq!(String::from_utf8(bytes).unwrap(), "\x1b[1mä\x1b[0m\nend");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(counted(1, "generation"), "1 generation");
        assert_eq!(counted(1000, "number"), "1,000 numbers");
        assert_eq!(counted(2, "inequality"), "2 inequalities");
        assert_eq!(best_known(-8.882e-16), "0");
        assert_eq!(vector(&[1.0, f64::INFINITY]), "[1, inf]");
        assert_eq!(point(None, &[1.0]), "[1]");
        let names = ["toll".to_string(), "a\u{1b}b".to_string()];
        assert_eq!(point(Some(&names), &[4.0, 2.5]), "toll = 4, a\u{FFFD}b = 2.5");
    }
}
