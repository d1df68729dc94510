//! What is wrong with a problem file, with its position.

use bilevo_core::printable::printable;
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// Whether a file can be used in spite of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// It can, but something looks wrong.
    Warning,
}

/// One message about a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it was named.
    pub file: String,
    /// Line, from 1; 0 if the file could not be read.
    pub line: usize,
    /// Column in characters, from 1; 0 likewise.
    pub column: usize,
    /// The line itself, or the part of a very long one.
    pub text: String,
    /// The marked part of `text`: characters before it, and its length.
    #[serde(skip)]
    pub mark: (usize, usize),
    /// The field, as in `upper.maximize`; empty for the file as a whole.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { line, column, mark: (before, width), .. } = self;
        // The quoted text comes from whoever wrote the file.
        let [file, text, field, message] = [&self.file, &self.text, &self.field, &self.message].map(|t| printable(t));
        let hint = |f: &mut fmt::Formatter<'_>| match &self.hint {
            Some(hint) => write!(f, "\nhint: {}", printable(hint)),
            None => Ok(()),
        };
        if *line == 0 {
            write!(f, "{file}: {message}")?;
            return hint(f);
        }
        let separator = if field.is_empty() { "" } else { ": " };
        writeln!(f, "{file}:{line}:{column}: {field}{separator}{message}")?;
        let margin = line.to_string().len();
        writeln!(f, " {line} | {text}")?;
        write!(f, " {:margin$} | {:before$}{}", "", "", "^".repeat((*width).max(1)))?;
        hint(f)
    }
}

impl Diagnostic {
    /// An error about a file whose text is not known.
    pub(crate) fn unreadable(file: String, message: String, hint: String) -> Self {
        let (text, field) = (String::new(), String::new());
        let severity = Severity::Error;
        Diagnostic { severity, file, line: 0, column: 0, text, mark: (0, 0), field, message, hint: Some(hint) }
    }
}

/// Why a problem file cannot be used: at least one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The messages, in the order of the file; warnings are left out.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, diagnostic) in self.diagnostics.iter().enumerate() {
            write!(f, "{}{diagnostic}", if number > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for FileError {}

/// A text with its name, in which messages are located.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Longest part of a line, a cell or a name that is shown.
pub(crate) const MAX_SHOWN: usize = 80;

impl Document {
    /// A message about some bytes of the text.
    pub(crate) fn diagnostic(
        &self,
        severity: Severity,
        span: Range<usize>,
        field: impl Into<String>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Diagnostic {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end).max(start);
        let begin = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[..begin].matches('\n').count() + 1;
        let rest = &self.text[begin..];
        let whole = rest.lines().next().unwrap_or_default();
        let before = self.text[begin..start].chars().count();
        let meant = self.text[start..end].lines().next().unwrap_or_default().chars().count();
        let skipped = before.saturating_sub(MAX_SHOWN / 2);
        // One column per character: tabs would shift the mark.
        let shown: String =
            whole.chars().skip(skipped).take(MAX_SHOWN).map(|c| if c == '\t' { ' ' } else { c }).collect();
        let width = meant.min(shown.chars().count().saturating_sub(before - skipped)).max(1);
        Diagnostic {
            severity,
            file: self.name.clone(),
            line,
            column: before + 1,
            text: shown,
            mark: (before - skipped, width),
            field: field.into(),
            message: message.into(),
            hint,
        }
    }

    /// The last place up to `at` where a character begins.
    fn boundary(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}
