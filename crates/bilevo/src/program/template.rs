//! Text with placeholders: arguments and input files of programs that are started for every evaluation.

use super::shell::{Quotes, Script};
use bilevo_core::config::{did_you_mean, nearest};
use bilevo_core::problem::Level;
use std::fmt::Write;
use std::path::Path;

/// The names that placeholders may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) upper: &'a [String],
    pub(super) lower: &'a [String],
}

/// The values of the placeholders in one evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'a> {
    pub(super) level: Level,
    pub(super) id: u64,
    pub(super) x: &'a [f64],
    pub(super) y: &'a [f64],
    pub(super) home: &'a Path,
    pub(super) folder: &'a Path,
    pub(super) file: &'a Path,
}

/// A text, split into plain parts and placeholders, with the quotes around each of them if it is a script.
#[derive(Debug, PartialEq)]
pub(super) struct Template(Vec<(Part, Quotes)>);

#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    Variable(Level, usize),
    All(Level),
    Level,
    Id,
    Home,
    Folder,
    File,
}

impl Template {
    /// # Errors
    /// An unknown placeholder or a brace without its partner, in words.
    pub(super) fn new(text: &str, names: Names<'_>) -> Result<Self, String> {
        let parts = parts(text, names)?;
        Ok(Template(parts.into_iter().map(|part| (part, Quotes::Nowhere)).collect()))
    }

    /// The same for a script of a shell, in which paths are quoted.
    ///
    /// # Errors
    /// As for [`Template::new`].
    pub(super) fn script(text: &str, names: Names<'_>) -> Result<Self, String> {
        let mut script = Script::default();
        let with_quotes = |part: Part| {
            let quotes = script.quotes();
            // Inserted values do not change what is open.
            script.read(if let Part::Text(plain) = &part { plain } else { "x" });
            (part, quotes)
        };
        Ok(Template(parts(text, names)?.into_iter().map(with_quotes).collect()))
    }

    /// Whether it refers to the evaluation's folder or a file in it.
    pub(super) fn needs_folder(&self) -> bool {
        self.0.iter().any(|(part, _)| matches!(part, Part::Folder | Part::File))
    }

    /// Whether it refers to the first input file.
    pub(super) fn names_file(&self) -> bool {
        self.0.iter().any(|(part, _)| *part == Part::File)
    }

    /// The text for one evaluation.
    pub(super) fn fill(&self, values: &Values<'_>) -> String {
        let mut text = String::new();
        for (part, quotes) in &self.0 {
            let mut path = |path: &Path| text.push_str(&quotes.quote(&path.to_string_lossy()));
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Variable(level, index) => numbers(&mut text, values.of(*level).get(*index..=*index)),
                Part::All(level) => numbers(&mut text, Some(values.of(*level))),
                Part::Level => text.push_str(&values.level.to_string()),
                Part::Id => text.push_str(&values.id.to_string()),
                Part::Home => path(values.home),
                Part::Folder => path(values.folder),
                Part::File => path(values.file),
            }
        }
        text
    }
}

/// # Errors
/// See [`Template::new`].
fn parts(text: &str, names: Names<'_>) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        let behind = &rest[at + 1..];
        if let Some(after) = behind.strip_prefix(brace) {
            plain.push_str(brace);
            rest = after;
            continue;
        }
        let end = behind.find('}').filter(|_| brace == "{");
        let end = end.ok_or_else(|| {
            format!("`{brace}` is not closed or was never opened\nhint: `{brace}{brace}` stands for a plain brace")
        })?;
        parts.push(Part::Text(std::mem::take(&mut plain)));
        parts.push(placeholder(&behind[..end], names)?);
        rest = &behind[end + 1..];
    }
    plain.push_str(rest);
    parts.push(Part::Text(plain));
    parts.retain(|part| *part != Part::Text(String::new()));
    Ok(parts)
}

impl Values<'_> {
    fn of(&self, level: Level) -> &[f64] {
        match level {
            Level::Upper => self.x,
            Level::Lower => self.y,
        }
    }
}

/// Numbers with all their digits, separated by spaces.
fn numbers(text: &mut String, numbers: Option<&[f64]>) {
    for (index, number) in numbers.unwrap_or_default().iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        // Writing to memory cannot fail. `Debug` prints the fewest digits that identify the number, with an exponent
        // if it is long.
        let _ = write!(text, "{space}{number:?}");
    }
}

const FIXED: [(&str, Part); 7] = [
    ("x", Part::All(Level::Upper)),
    ("y", Part::All(Level::Lower)),
    ("level", Part::Level),
    ("id", Part::Id),
    ("home", Part::Home),
    ("folder", Part::Folder),
    ("file", Part::File),
];

fn placeholder(name: &str, names: Names<'_>) -> Result<Part, String> {
    let levels = [(Level::Upper, names.upper, "x"), (Level::Lower, names.lower, "y")];
    for (level, names, _) in levels {
        if let Some(index) = names.iter().position(|known| known == name) {
            return Ok(Part::Variable(level, index));
        }
    }
    for (known, part) in FIXED {
        if known == name {
            return Ok(part);
        }
    }
    for (level, names, letter) in levels {
        let number = name.strip_prefix(letter).and_then(|digits| digits.parse::<usize>().ok());
        if let Some(number) = number.filter(|number| (1..=names.len()).contains(number)) {
            return Ok(Part::Variable(level, number - 1));
        }
    }
    let known = FIXED.iter().map(|(name, _)| *name).chain(names.upper.iter().chain(names.lower).map(String::as_str));
    let nearest = nearest(name, known);
    Err(format!(
        "`{{{name}}}` is not a placeholder{}\nhint: use a variable's name, x1 … y1 …, x, y, level, id, home, folder or file; `{{{{` is a plain brace",
        did_you_mean(&nearest)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let (upper, lower) = (["tax".to_string(), "id".into()], ["y2".to_string(), "q".into()]);
        let values = Values {
            level: Level::Lower,
            id: 9,
            x: &[0.1, 1e300],
            y: &[3.0, -1e-9],
            home: Path::new("/models"),
            folder: Path::new("/tmp/e9"),
            file: Path::new("/tmp/e9/in.txt"),
        };
        Template::new(text, Names { upper: &upper, lower: &lower }).map(|template| template.fill(&values))
    }

    #[test]
    fn placeholders_become_values() {
        assert_eq!(fill("tax={tax} q={q}").unwrap(), "tax=0.1 q=-1e-9");
        assert_eq!(fill("{x};{y};{level}").unwrap(), "0.1 1e300;3.0 -1e-9;lower");
        assert_eq!(fill("{home} {folder} {file}").unwrap(), "/models /tmp/e9 /tmp/e9/in.txt");
        assert_eq!(fill("{x2} {y1} {{{q}}} }}").unwrap(), "1e300 3.0 {-1e-9} }");
        assert_eq!(fill("").unwrap(), "");
    }

    #[test]
    fn a_variable_goes_before_what_else_has_its_name() {
        assert_eq!(fill("{y2} {id}").unwrap(), "3.0 1e300");
    }

    #[test]
    fn mistakes_are_named() {
        assert!(fill("{taxx}").unwrap_err().contains("`tax`"));
        assert!(fill("{x3}").is_err() && fill("{x0}").is_err() && fill("{}").is_err());
        for text in ["{tax", "tax}", "{{tax}", "é{"] {
            assert!(fill(text).unwrap_err().contains("is not closed or was never opened"), "{text}");
        }
    }
}
