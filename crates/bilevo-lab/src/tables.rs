//! Tables: a small model (columns, rows, marks), made from groups of runs and written as text,
//! Markdown, LaTeX, CSV or HTML.
//!
//! [`groups`] groups the runs, [`marks`] tests them, and [`general`] is the table of any experiment. [`mod@format`]
//! writes tables; whatever the names of problems and methods, the output stays a table.

pub mod format;
pub mod general;
pub mod groups;
pub mod marks;

pub use format::Format;

/// A mark after a number; the note of a table explains it.
pub use crate::stats::Verdict as Mark;

/// How often each mark was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// `+`
    pub plus: usize,
    /// `≈`
    pub same: usize,
    /// `−`
    pub minus: usize,
}

impl Tally {
    /// Counts one mark, if there is one.
    pub fn add(&mut self, mark: Option<Mark>) {
        match mark {
            Some(Mark::Better) => self.plus += 1,
            Some(Mark::Similar) => self.same += 1,
            Some(Mark::Worse) => self.minus += 1,
            None => {}
        }
    }

    /// Marks counted.
    pub fn count(&self) -> usize {
        self.plus + self.same + self.minus
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.plus, self.same, self.minus)
    }
}

impl FromIterator<Option<Mark>> for Tally {
    fn from_iter<I: IntoIterator<Item = Option<Mark>>>(marks: I) -> Self {
        let mut tally = Tally::default();
        marks.into_iter().for_each(|m| tally.add(m));
        tally
    }
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// Mark after the text.
    pub mark: Option<Mark>,
}

impl Cell {
    /// Words or an already formatted number.
    pub fn new(text: impl Into<String>) -> Self {
        Cell { text: text.into(), mark: None }
    }

    /// The same with a mark.
    pub fn marked(self, mark: Option<Mark>) -> Self {
        Cell { mark, ..self }
    }

    /// A number as in the paper (`1.28E+04`), a dash if there is none.
    pub fn sci(value: Option<f64>) -> Self {
        Cell::new(value.map_or_else(missing, sci))
    }

    /// A number with a fixed number of decimals, a dash if there is none.
    pub fn fixed(value: Option<f64>, decimals: usize) -> Self {
        Cell::new(match value {
            Some(v) if v.is_finite() => format!("{v:.decimals$}"),
            Some(v) => sci(v),
            None => missing(),
        })
    }
}

fn missing() -> String {
    "–".into()
}

/// `1.28E+04`: two decimals and at least two digits of exponent.
pub fn sci(value: f64) -> String {
    if value == f64::INFINITY {
        return "∞".into();
    }
    if !value.is_finite() {
        return missing();
    }
    let text = format!("{value:.2E}");
    match text.split_once('E') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
            format!("{mantissa}E{sign}{digits:0>2}")
        }
        None => text,
    }
}

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// Its alignment.
    pub align: Align,
}

/// A table, independent of its format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Caption.
    pub title: String,
    /// What the reader must know about the numbers.
    pub note: String,
    /// Columns; the first `heads` of them name the row.
    pub columns: Vec<Column>,
    /// Number of leading columns that name the row.
    pub heads: usize,
    /// Lines, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// Closing lines (counts, averages).
    pub footer: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table; the first `heads` columns are names, the others numbers.
    pub fn new(title: impl Into<String>, heads: usize, columns: &[&str]) -> Self {
        let align = |k| if k < heads { Align::Left } else { Align::Right };
        let columns =
            columns.iter().enumerate().map(|(k, &t)| Column { title: t.to_string(), align: align(k) }).collect();
        Table { title: title.into(), heads, columns, ..Table::default() }
    }

    /// The closing lines as a separate table, for formats in which all lines are data.
    pub fn closing(&self) -> Option<Table> {
        let title = format!("{}: closing lines", self.title);
        (!self.footer.is_empty()).then(|| Table {
            title,
            rows: self.footer.clone(),
            footer: Vec::new(),
            ..self.clone()
        })
    }

    /// Whether no line has been added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_in_the_paper() {
        assert_eq!(sci(1e-6), "1.00E-06");
        assert_eq!(sci(12_800.0), "1.28E+04");
        assert_eq!(sci(-314.2), "-3.14E+02");
        assert_eq!(sci(1.5e120), "1.50E+120");
        assert_eq!(sci(f64::INFINITY), "∞");
        assert_eq!(sci(f64::NAN), "–");
    }
}
