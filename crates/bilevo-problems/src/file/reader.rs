//! Typed access to the fields of a TOML document; anything that does not fit becomes a message.

use super::diagnostic::{Diagnostic, Document, Severity};
use super::reading::Reading;
use crate::expression::ExpressionError;
use crate::expression::expand::Expander;
use crate::expression::parser::parse;
use crate::expression::scope::{Allowance, Scope};
use bilevo_core::config::{did_you_mean, nearest};
use bilevo_core::printable::number;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What other tools call some keys.
const OTHER_WORDS: [(&str, &str); 8] = [
    ("constraints", "subject_to"),
    ("st", "subject_to"),
    ("objective", "minimize"),
    ("min", "minimize"),
    ("max", "maximize"),
    ("vars", "variables"),
    ("bounds", "variables"),
    ("leader", "upper"),
];

/// The usual cause of something that is not a number.
pub(crate) const NOT_FINITE: &str =
    "is there a division by zero, or the root or logarithm of a number that is too small?";

/// Maximum number of messages: more would not help.
const MAX_REMARKS: usize = 20;

/// A field of the document: its path, as in `upper.variables`, and its value.
#[derive(Clone)]
pub(crate) struct Field<'d> {
    pub(crate) path: String,
    pub(crate) key: String,
    /// Place of the key; for elements of a list, of the value.
    pub(crate) key_span: Range<usize>,
    pub(crate) span: Range<usize>,
    pub(crate) value: &'d DeValue<'d>,
}

impl<'d> Field<'d> {
    fn new(path: String, key: &str, key_span: Range<usize>, value: &'d Spanned<DeValue<'d>>) -> Self {
        Field { path, key: key.into(), key_span, span: value.span(), value: value.get_ref() }
    }

    /// The elements of a list.
    pub(crate) fn elements(&self) -> Option<Vec<Field<'d>>> {
        let array = self.value.as_array()?;
        let element = |(number, value): (usize, &'d Spanned<DeValue<'d>>)| {
            Field::new(format!("{}[{}]", self.path, number + 1), &self.key, value.span(), value)
        };
        Some(array.iter().enumerate().map(element).collect())
    }

    /// The kind of a value, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }
}

/// The fields of a table in the order of the file.
pub(crate) fn fields<'d>(path: &str, table: &'d DeTable<'d>) -> Vec<Field<'d>> {
    let mut fields: Vec<Field<'d>> = table
        .iter()
        .map(|(key, value)| {
            let name: &str = key.get_ref();
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            Field::new(path, name, key.span(), value)
        })
        .collect();
    fields.sort_by_key(|field| field.key_span.start);
    fields
}

/// Collects messages while a document is read.
pub(crate) struct Reader<'r> {
    pub(crate) document: &'r Document,
    pub(crate) remarks: Vec<Diagnostic>,
    pub(crate) allowance: Allowance,
    pub(crate) reading: &'r Reading,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(document: &'r Document, reading: &'r Reading) -> Self {
        Reader { document, remarks: Vec::new(), allowance: Allowance::default(), reading }
    }

    pub(crate) fn failed(&self) -> bool {
        self.remarks.iter().any(|remark| remark.severity == Severity::Error)
    }

    pub(crate) fn remark(
        &mut self,
        severity: Severity,
        span: Range<usize>,
        field: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        if self.remarks.len() < MAX_REMARKS {
            let hint = Some(hint.into()).filter(|hint| !hint.is_empty());
            self.remarks.push(self.document.diagnostic(severity, span, field, message, hint));
        }
    }

    /// A mistake in the value of a field.
    pub(crate) fn error(&mut self, field: &Field, message: impl Into<String>, hint: impl Into<String>) {
        self.remark(Severity::Error, field.span.clone(), &field.path, message, hint);
    }

    /// A mistake in the name of a field.
    pub(crate) fn key_error(&mut self, field: &Field, message: impl Into<String>, hint: impl Into<String>) {
        self.remark(Severity::Error, field.key_span.clone(), &field.path, message, hint);
    }

    /// A value of the wrong kind.
    pub(crate) fn expected(&mut self, field: &Field, what: &str, hint: impl Into<String>) {
        self.error(field, format!("{} is found where {what} is expected", field.kind()), hint);
    }

    /// A mistake inside a text that is an expression.
    pub(crate) fn expression_error(&mut self, field: &Field, error: ExpressionError) {
        if error.follows {
            return;
        }
        let span = self.inside(field, &error.span);
        self.remark(Severity::Error, span, &field.path, error.message, error.hint.unwrap_or_default());
    }

    /// The position in the file of a part of a text. If the text has escapes, it is the position of the whole text.
    pub(crate) fn inside(&self, field: &Field, span: &Range<usize>) -> Range<usize> {
        let Some(text) = field.value.as_str() else { return field.span.clone() };
        let raw = &self.document.text[field.span.clone()];
        let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") { 3 } else { 1 };
        // A line end directly after three quotes is not part of the text.
        let begins = |skip: &usize| raw.get(*skip..).is_some_and(|raw| raw.starts_with(text));
        match [quotes, quotes + 1, quotes + 2].iter().find(|skip| begins(skip)) {
            Some(skip) => field.span.start + skip + span.start..field.span.start + skip + span.end,
            None => field.span.clone(),
        }
    }

    /// Reports unknown keys, with the closest known one.
    pub(crate) fn unknown_keys(&mut self, fields: &[Field], known: &[&str]) {
        for field in fields.iter().filter(|field| !known.contains(&field.key.as_str())) {
            let other = OTHER_WORDS.iter().find(|(word, key)| *word == field.key && known.contains(key));
            let near = other.map(|(_, key)| (*key).to_string()).or_else(|| nearest(&field.key, known.iter().copied()));
            let message = format!("unknown key `{}`{}", field.key, did_you_mean(&near));
            self.key_error(field, message, format!("known keys: {}", known.join(", ")));
        }
    }

    /// A table's fields, in order.
    pub(crate) fn table<'d>(&mut self, field: &Field<'d>, hint: &str) -> Option<Vec<Field<'d>>> {
        match field.value {
            DeValue::Table(table) => Some(fields(&field.path, table)),
            _ => {
                self.expected(field, "a table", hint);
                None
            }
        }
    }

    pub(crate) fn text<'d>(&mut self, field: &Field<'d>, hint: &str) -> Option<&'d str> {
        let text = field.value.as_str();
        if text.is_none() {
            self.expected(field, "a text in quotes", hint);
        }
        text
    }

    pub(crate) fn boolean(&mut self, field: &Field) -> Option<bool> {
        let value = field.value.as_bool();
        if value.is_none() {
            self.expected(field, "true or false", "write it without quotes");
        }
        value
    }

    /// A finite number.
    pub(crate) fn number(&mut self, field: &Field) -> Option<f64> {
        let value = plain_number(field.value);
        match value {
            Some(number) if number.is_finite() => return value,
            Some(_) => self.error(field, "the number is not finite", "write a finite number"),
            None => self.expected(field, "a number", "write a number, or an expression in quotes"),
        }
        None
    }

    /// A whole number from `least` on.
    pub(crate) fn whole(&mut self, field: &Field, least: u64) -> Option<u64> {
        // Larger numbers may not be exact.
        const MOST: f64 = 9e15;
        let value = self.number(field)?;
        if value.fract() == 0.0 && value >= least as f64 && value <= MOST {
            return Some(value as u64);
        }
        let message = format!("{} is not a whole number from {least} on", number(value));
        self.error(field, message, "write it without a decimal point or quotes");
        None
    }

    /// A finite number, or an expression of what is known before the run.
    pub(crate) fn known(&mut self, field: &Field, scope: &Scope, indices: &[(&'static str, f64)]) -> Option<f64> {
        let DeValue::String(text) = field.value else { return self.number(field) };
        let computed = parse(text).and_then(|ast| {
            let indices = indices.to_vec();
            Expander { scope, allowance: &mut self.allowance, indices }.known(&ast, "this value")
        });
        match computed {
            Ok(value) if value.is_finite() => Some(value),
            Ok(value) => {
                self.error(field, format!("this is {value}, not a finite number"), NOT_FINITE);
                None
            }
            Err(error) => {
                self.expression_error(field, error);
                None
            }
        }
    }
}

/// The number a value is, if it is one.
pub(crate) fn plain_number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix()).ok().map(|v| v as f64),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}
