//! What names mean, and how much work expanding expressions may take.

use super::error::{ExpressionError, Result};
use super::functions::{self, NAMES};
use super::parser::KEYWORDS;
use bilevo_core::config::{did_you_mean, nearest};
use bilevo_core::printable::shorten;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Numbers in rows and columns; a list is a single column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) shape: Shape,
    /// Row by row.
    pub(crate) values: Arc<[f64]>,
}

/// How many indices a name takes, and the range of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    Vector(usize),
    Matrix(usize, usize),
}

impl Shape {
    /// Number of elements (saturating).
    pub(crate) fn len(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => n,
            Shape::Matrix(rows, columns) => rows.saturating_mul(columns),
        }
    }

    /// How the elements are written.
    pub(crate) fn example(self, name: &str) -> String {
        match self {
            Shape::Scalar => format!("`{name}`"),
            Shape::Vector(n) => format!("`{name}[1]` to `{name}[{n}]`"),
            Shape::Matrix(rows, columns) => format!("`{name}[1,1]` to `{name}[{rows},{columns}]`"),
        }
    }
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Symbol {
    /// Numbers that are known before the run.
    Data(Table),
    /// Slots of the machine's memory from `first` on, of which the first `defined` may be used.
    Slots { first: u32, shape: Shape, defined: usize },
}

impl Symbol {
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Symbol::Data(table) => table.shape,
            Symbol::Slots { shape, .. } => *shape,
        }
    }
}

/// The names of a problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) symbols: BTreeMap<String, Symbol>,
    /// Names whose declaration is wrong, with or without a column.
    pub(crate) broken: BTreeSet<String>,
}

impl Scope {
    /// What a name stands for.
    pub(crate) fn find(&self, name: &str, span: &Range<usize>, indices: &[&str]) -> Result<&Symbol> {
        self.symbols.get(name).ok_or_else(|| self.unknown(name, span, indices))
    }

    fn unknown(&self, name: &str, span: &Range<usize>, indices: &[&str]) -> ExpressionError {
        if functions::function(name).is_some() || NAMES.contains(&name) {
            let error = ExpressionError::new(span.clone(), format!("`{name}` is a function"));
            return error.hint(format!("call it, as in `{name}(...)`"));
        }
        let table = name.split('.').next().unwrap_or(name);
        if self.broken.contains(name) || self.broken.contains(table) {
            let error = ExpressionError::new(span.clone(), format!("the declaration of `{name}` has a mistake"));
            return ExpressionError { follows: true, ..error };
        }
        let known = self.symbols.keys().map(String::as_str).chain(indices.iter().copied()).chain(["pi", "e"]);
        // Names of one or two letters are all similar, so they are no suggestions.
        let alike = |near: &String| near.len().min(name.len()) > 2 || near.chars().any(|c| name.contains(c));
        let near = nearest(name, known.clone()).filter(alike);
        let error = ExpressionError::new(span.clone(), format!("unknown name `{name}`{}", did_you_mean(&near)));
        match near {
            Some(near) => error.hint(format!("replace it with `{near}`, or declare `{name}`")),
            None => error.hint(format!("known names: {}", listed(known))),
        }
    }

    /// Why something new cannot have this name.
    pub(crate) fn refuse(&self, name: &str) -> Option<String> {
        let mut chars = name.chars();
        let sound = chars.next().is_some_and(super::lexer::is_letter)
            && chars.all(|c| super::lexer::is_letter(c) || c.is_numeric());
        if !sound {
            let name = shorten(name, 80);
            return Some(format!("`{name}` cannot be a name: letters, digits and `_`, beginning with a letter"));
        }
        if NAMES.contains(&name) || functions::function(name).is_some() || name == "cols" {
            return Some(format!("`{name}` is a function and cannot be a name"));
        }
        if KEYWORDS.contains(&name) {
            return Some(format!("`{name}` is a keyword and cannot be a name"));
        }
        if functions::constant(name).is_some() {
            return Some(format!("`{name}` is a constant and cannot be a name"));
        }
        self.symbols.contains_key(name).then(|| format!("`{name}` is declared twice"))
    }
}

/// The first few names, for a message.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = names.collect();
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    format!("{}{more}", shown.join(", "))
}

/// How much work the unrolling of loops may still take, over all expressions of a problem.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) left: u64,
    whole: u64,
    /// Whether its end has been reported: everything after it fails for the same reason.
    told: bool,
}

/// How many parts of expressions may be expanded, for a whole problem. A run would spend as many operations on every
/// evaluation.
pub(crate) const MAX_OPERATIONS: u64 = 1_000_000;

impl Default for Allowance {
    fn default() -> Self {
        Allowance { left: MAX_OPERATIONS, whole: MAX_OPERATIONS, told: false }
    }
}

impl Allowance {
    /// Uses up one part.
    pub(crate) fn spend(&mut self, span: &Range<usize>) -> Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.exhausted(span)),
        }
    }

    /// Whether `count` rounds of a loop are affordable at all.
    pub(crate) fn afford(&mut self, count: f64, span: &Range<usize>) -> Result<()> {
        if count <= self.left as f64 { Ok(()) } else { Err(self.exhausted(span)) }
    }

    fn exhausted(&mut self, span: &Range<usize>) -> ExpressionError {
        let follows = std::mem::replace(&mut self.told, true) && self.left == 0;
        let message = format!("expanded, the expressions have more than {} operations", self.whole);
        let error = ExpressionError::new(span.clone(), message)
            .hint("every evaluation would compute all of them; use shorter loops, or an external program");
        ExpressionError { follows, ..error }
    }
}
