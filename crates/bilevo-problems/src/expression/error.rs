//! What is wrong with an expression, and where.

use std::fmt;
use std::ops::Range;

/// A mistake in an expression, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The bytes of the text that it refers to.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do, if known.
    pub hint: Option<String>,
    /// Whether it only follows from another mistake that has been reported.
    pub(crate) follows: bool,
}

impl ExpressionError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        ExpressionError { span, message: message.into(), hint: None, follows: false }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.span.start)?;
        self.hint.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

impl std::error::Error for ExpressionError {}

/// The result of reading or compiling a part of an expression.
pub(crate) type Result<T> = std::result::Result<T, ExpressionError>;
