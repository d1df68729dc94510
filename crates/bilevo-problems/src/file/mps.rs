//! Mixed-integer bilevel linear instances in the format of MibS: an MPS file with all variables and rows, and an
//! auxiliary file next to it that says which of them are the follower's.
//!
//! An instance becomes the text of a problem file ([`text`]), so that everything that works with problem files
//! works with it: `check`, `solve`, `audit`, `prove`. Fields may be anywhere on a line (free MPS); the fixed
//! columns of old files are read the same way as long as names have no spaces.
//!
//! We tried the crate `mps` (1.0.1): it skips the markers for whole-number variables, and brings 49 packages.

mod auxiliary;
mod bounds;
mod rows;
mod write;

use super::diagnostic::{Diagnostic, FileError, Severity};
use std::path::{Path, PathBuf};

/// Why an instance cannot be read: the line (0 for the whole file), what is wrong, and what to do.
#[derive(Debug)]
pub(super) struct Mistake {
    line: usize,
    message: String,
    hint: String,
}

impl Mistake {
    fn new(line: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Mistake { line, message: message.into(), hint: hint.into() }
    }

    /// As a message about a file.
    fn remark(self, file: &Path, text: &str) -> FileError {
        let Mistake { line, message, hint } = self;
        let quoted: String = match line {
            0 => String::new(),
            line => text.lines().nth(line - 1).unwrap_or("").chars().take(120).collect(),
        };
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            file: file.display().to_string(),
            line,
            column: usize::from(line > 0),
            mark: (0, quoted.trim_end().chars().count()),
            text: quoted,
            field: String::new(),
            message,
            hint: Some(hint),
        };
        FileError { diagnostics: vec![diagnostic] }
    }
}

/// Whether a path names an MPS file.
pub(super) fn is_mps(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("mps"))
}

/// The auxiliary file next to an MPS file.
fn beside(path: &Path) -> Option<PathBuf> {
    ["aux", "txt"].iter().map(|end| path.with_extension(end)).find(|aux| aux.is_file())
}

/// An instance as the text of a problem file.
pub(super) fn text(path: &Path, mps: &str, limit: usize) -> Result<String, FileError> {
    let Some(aux_path) = beside(path) else {
        let missing = path.with_extension("aux").display().to_string();
        let hint =
            format!("put the auxiliary file beside it, as `{missing}`: it says which variables are the follower's");
        return Err(Mistake::new(0, "an MPS file alone is no bilevel problem", hint).remark(path, mps));
    };
    let aux = super::open::text_of(&aux_path, limit).map_err(|reason| {
        Mistake::new(0, format!("cannot be read: {reason}"), "an auxiliary file is a text").remark(&aux_path, "")
    })?;
    let mut instance = rows::read(mps).map_err(|mistake| mistake.remark(path, mps))?;
    let lower = auxiliary::read(&aux, &instance).map_err(|mistake| mistake.remark(&aux_path, &aux))?;
    bounds::tighten(&mut instance, &lower);
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    write::problem(&name, &instance, &lower).map_err(|mistake| mistake.remark(path, mps))
}

#[cfg(test)]
mod tests;
