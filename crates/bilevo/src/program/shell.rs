//! Shell scripts among arguments and input files. A path that is filled into a script is quoted, so that a folder
//! with a space or a `;` in its name stays one word, whatever quotes surround it.

/// Shells that read POSIX quotes.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

fn is_shell(program: &str) -> bool {
    program.rsplit('/').next().is_some_and(|name| SHELLS.contains(&name))
}

/// Whether a word of a command is a script: it follows the option `-c` of a shell.
pub(super) fn is_script(words: &[String], index: usize) -> bool {
    let Some((option, before)) = words.get(..index).and_then(<[String]>::split_last) else { return false };
    let takes_script = option.starts_with('-') && !option.starts_with("--") && option.ends_with('c');
    takes_script && before.iter().any(|word| is_shell(word))
}

/// Whether a file is a script: it begins with `#!/bin/sh` or the like.
pub(super) fn is_script_file(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| line.strip_prefix("#!"));
    first.is_some_and(|line| line.split_whitespace().any(is_shell))
}

/// The quotes around a position in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// The text is not a script.
    Nowhere,
    None,
    Single,
    Double,
}

impl Quotes {
    /// A value, quoted so that it stands for itself at this position.
    pub(super) fn quote(self, value: &str) -> String {
        let plain = |c: char| c.is_alphanumeric() || "-_./+=:,@%".contains(c);
        let single = || value.replace('\'', "'\\''");
        match self {
            Quotes::Nowhere => value.into(),
            Quotes::None if !value.is_empty() && value.chars().all(plain) => value.into(),
            Quotes::None => format!("'{}'", single()),
            Quotes::Single => single(),
            Quotes::Double => {
                let escape = |c: char| if "\\\"$`".contains(c) { format!("\\{c}") } else { c.to_string() };
                value.chars().map(escape).collect()
            }
        }
    }
}

/// What is open at a position of a script, innermost last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Single,
    Double,
    /// `(` or `$(`
    Bracket,
    Backtick,
}

/// Reads a script from its beginning.
#[derive(Debug, Default)]
pub(super) struct Script {
    open: Vec<Open>,
    escaped: bool,
    in_comment: bool,
    last: Option<char>,
}

impl Script {
    /// The quotes around the next character.
    pub(super) fn quotes(&self) -> Quotes {
        match self.open.last() {
            Some(Open::Single) => Quotes::Single,
            Some(Open::Double) => Quotes::Double,
            _ => Quotes::None,
        }
    }

    /// Reads the next part.
    pub(super) fn read(&mut self, text: &str) {
        for c in text.chars() {
            self.step(c);
            self.last = Some(c);
        }
    }

    fn step(&mut self, c: char) {
        if self.in_comment || std::mem::take(&mut self.escaped) {
            self.in_comment &= c != '\n';
            return;
        }
        match (self.open.last(), c) {
            (Some(Open::Single), '\'') | (Some(Open::Double), '"') | (Some(Open::Bracket), ')') => {
                self.open.pop();
            }
            (Some(Open::Single), _) => {}
            (_, '\\') => self.escaped = true,
            (Some(Open::Backtick), '`') => {
                self.open.pop();
            }
            (_, '`') => self.open.push(Open::Backtick),
            (_, '(') if self.last == Some('$') => self.open.push(Open::Bracket),
            (Some(Open::Double), _) => {}
            (_, '(') => self.open.push(Open::Bracket),
            (_, '\'') => self.open.push(Open::Single),
            (_, '"') => self.open.push(Open::Double),
            (_, '#') if self.last.is_none_or(|last| last.is_whitespace() || last == ';') => self.in_comment = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_told_from_other_words() {
        let script = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).into()).collect();
            is_script(&words, words.len() - 1)
        };
        assert!(script(&["sh", "-c", "a"]) && script(&["env", "A=1", "/bin/bash", "-lc", "a"]));
        assert!(!script(&["python3", "-c", "a"]) && !script(&["sh", "a"]) && !script(&["-c"]));
        assert!(!script(&["sh", "-c", "a", "b"]) && !script(&["sh", "--rc", "a"]));
        assert!(is_script_file("#!/usr/bin/env bash\na") && is_script_file("#!/bin/sh -e"));
        assert!(!is_script_file("#!/usr/bin/python3\n") && !is_script_file("sh") && !is_script_file(""));
    }

    #[test]
    fn the_quotes_around_a_place_are_known() {
        let quotes = |text: &str| {
            let mut script = Script::default();
            script.read(text);
            script.quotes()
        };
        for text in ["", "cd ", "'a' ", "\\' ", "\"a\"", "\"$(cat ", "# don't\n", "(a) '`' ", "\"`cat ", "\"\\\"\" "] {
            assert_eq!(quotes(text), Quotes::None, "{text}");
        }
        for text in ["'", "\"a\" 'b # \"", "\"$(cat '", "a#b'"] {
            assert_eq!(quotes(text), Quotes::Single, "{text}");
        }
        for text in ["\"", "'a' \"b'", "\"$(cat x) ", "\"$(\"", "\"(", "\"\\\"", "\"# "] {
            assert_eq!(quotes(text), Quotes::Double, "{text}");
        }
    }

    /// The shell itself decides.
    #[test]
    fn values_stay_one_word() {
        let value = "/tmp/it's \"my\" $HOME `id`; \\ folder";
        for script in ["printf %s @", "printf %s '@'", "printf %s \"@\"", "printf %s \"$(printf %s @)\""] {
            let (before, after) = script.split_once('@').unwrap();
            let mut reading = Script::default();
            reading.read(before);
            let filled = format!("{before}{}{after}", reading.quotes().quote(value));
            let out = std::process::Command::new("sh").args(["-c", &filled]).output().unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), value, "{script}");
        }
    }
}
