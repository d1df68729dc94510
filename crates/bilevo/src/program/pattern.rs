//! Finds numbers in a program's output.

use bilevo_problems::program::Pattern;
use regex_lite::Regex;

/// A pattern, ready for use.
#[derive(Debug)]
pub(super) enum Finder {
    Key(String),
    Regex(Regex),
    Place { line: i64, column: i64 },
}

impl Finder {
    /// # Errors
    /// What is wrong with the pattern, in words.
    pub(super) fn new(pattern: &Pattern) -> Result<Self, String> {
        match pattern {
            Pattern::Key { key } if key.trim().is_empty() => Err("a key must not be empty".into()),
            Pattern::Key { key } => Ok(Finder::Key(key.trim().into())),
            Pattern::Regex { regex } => {
                Regex::new(regex).map(Finder::Regex).map_err(|error| format!("bad regular expression: {error}"))
            }
            Pattern::Place { line: 0, .. } | Pattern::Place { column: 0, .. } => {
                Err("lines and columns are counted from 1, or from -1 backwards".into())
            }
            Pattern::Place { line, column } => Ok(Finder::Place { line: *line, column: *column }),
        }
    }

    /// The number that this pattern locates.
    ///
    /// # Errors
    /// It is not there, or no number, in words.
    pub(super) fn find(&self, text: &str) -> Result<f64, String> {
        let word = match self {
            Finder::Key(key) => text.lines().rev().find_map(|line| behind(line, key)),
            Finder::Regex(regex) => {
                regex.captures_iter(text).last().and_then(|found| found.get(1).or(found.get(0))).map(|m| m.as_str())
            }
            Finder::Place { line, column } => {
                let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
                nth(&lines, *line).and_then(|line| nth(&words(line), *column).copied())
            }
        };
        let word = word.ok_or_else(|| format!("there is no {}", self.describe()))?;
        number(word).ok_or_else(|| format!("`{word}` is not a number ({})", self.describe()))
    }

    fn describe(&self) -> String {
        match self {
            Finder::Key(key) => format!("line `{key} = …`"),
            Finder::Regex(regex) => format!("match of `{regex}`"),
            Finder::Place { line, column } => format!("word {column} in line {line}"),
        }
    }
}

/// The first word after a key and its `=` or `:`.
fn behind<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = line.trim_start().strip_prefix(key)?;
    let value = rest.trim_start();
    let separated = value.strip_prefix(['=', ':']).or((value.len() < rest.len()).then_some(value))?;
    words(separated).first().copied()
}

fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|word| !word.is_empty()).collect()
}

/// Element `position`, counted from 1, or backwards from -1.
fn nth<T>(list: &[T], position: i64) -> Option<&T> {
    let index = usize::try_from(position.unsigned_abs()).ok()?;
    if position > 0 { list.get(index - 1) } else { list.len().checked_sub(index).and_then(|index| list.get(index)) }
}

/// A number, also in Fortran's notation (`1.5D+03`).
fn number(word: &str) -> Option<f64> {
    word.parse().ok().or_else(|| word.replace(['d', 'D'], "e").parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: Pattern, text: &str) -> Result<f64, String> {
        Finder::new(&pattern)?.find(text)
    }

    fn key(key: &str) -> Pattern {
        Pattern::Key { key: key.into() }
    }

    #[test]
    fn keys() {
        let text = "cost = 1\nother: 7\n  cost: 2.5, euros\ncosts = 9\ntotal 4\n";
        assert_eq!(find(key("cost"), text), Ok(2.5));
        assert_eq!(find(key("other"), text), Ok(7.0));
        assert_eq!(find(key("total"), text), Ok(4.0));
        assert!(find(key("gain"), text).unwrap_err().contains("no line `gain"));
        assert!(find(key("a"), "a = b").unwrap_err().contains("`b` is not a number"));
        assert!(find(key(" "), text).is_err());
    }

    #[test]
    fn expressions() {
        let regex = |regex: &str| Pattern::Regex { regex: regex.into() };
        assert_eq!(find(regex(r"drag\s*=\s*(\S+)"), "drag = 1.5D+03\ndrag=-2e1 N"), Ok(-20.0));
        assert_eq!(find(regex(r"drag = (\S+)"), "drag = 1.5D+03"), Ok(1500.0));
        assert_eq!(find(regex(r"\d+"), "a 12 b 34"), Ok(34.0));
        assert!(find(regex("("), "").unwrap_err().contains("bad regular expression"));
    }

    #[test]
    fn places() {
        let place = |line, column| Pattern::Place { line, column };
        let text = "\n1 2,3\n\n4;5 6\n";
        assert_eq!(find(place(1, 2), text), Ok(2.0));
        assert_eq!(find(place(-1, -1), text), Ok(6.0));
        assert_eq!(find(Pattern::default(), "8.5"), Ok(8.5));
        for (line, column) in [(3, 1), (-3, 1), (1, 4), (1, -4), (i64::MIN, i64::MAX)] {
            assert!(find(place(line, column), text).is_err(), "{line}, {column}");
        }
        assert!(find(place(0, 1), text).is_err());
    }
}
