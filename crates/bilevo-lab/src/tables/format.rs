//! Writes a [`Table`] as text, Markdown, LaTeX (booktabs), CSV or HTML.
//!
//! Names come from problem files and may contain anything: each format escapes what would change its structure or be
//! executed (`<script>`, LaTeX commands, CSV formulas, pipes, terminal escapes).

use super::{Align, Cell, Column, Mark, Table};
use crate::csv;
use bilevo::printable::printable_char;
use std::fmt::Write;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Columns aligned with blanks.
    Text,
    /// A GitHub table.
    Markdown,
    /// A `booktabs` table.
    Latex,
    /// Comma-separated values, one line per row; marks have their own columns, and there are no closing lines
    /// ([`Table::closing`] returns those).
    Csv,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Format::Text, Format::Markdown, Format::Latex, Format::Csv];

    /// Ending of a file in this format.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Text => "txt",
            Format::Markdown => "md",
            Format::Latex => "tex",
            Format::Csv => "csv",
        }
    }
}

impl Table {
    /// The table in a format.
    pub fn write(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Markdown => self.markdown(),
            Format::Latex => self.latex(),
            Format::Csv => self.csv(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<Cell>> {
        self.rows.iter().chain(&self.footer)
    }

    fn marked_columns(&self) -> Vec<bool> {
        let marked = |k: usize| self.lines().any(|line| line.get(k).is_some_and(|c| c.mark.is_some()));
        (0..self.columns.len()).map(marked).collect()
    }

    fn text(&self) -> String {
        let marked = self.marked_columns();
        let pad = |marked: bool| if marked { "  " } else { "" };
        // A mark must not shift its number: in a column with marks, cells without one end in blanks.
        let shown = |(cell, &marked): (&Cell, &bool)| match cell.mark {
            Some(mark) => format!("{} {}", plain(&cell.text), mark.symbol()),
            None => plain(&cell.text) + pad(marked),
        };
        let heads: Vec<String> = self.columns.iter().zip(&marked).map(|(c, &m)| plain(&c.title) + pad(m)).collect();
        let body: Vec<Vec<String>> = self.lines().map(|line| line.iter().zip(&marked).map(shown).collect()).collect();
        let width = |k: usize| {
            let cells = body.iter().filter_map(|line| line.get(k)).chain(heads.get(k));
            cells.map(|c| c.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let rule = "─".repeat(widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1));
        let mut out = String::new();
        for title in [&self.title].into_iter().filter(|t| !t.is_empty()) {
            let _ = writeln!(out, "{}", plain(title));
        }
        self.text_line(&mut out, &heads, &widths);
        let _ = writeln!(out, "{rule}");
        for (k, line) in body.iter().enumerate() {
            if k == self.rows.len() {
                let _ = writeln!(out, "{rule}");
            }
            self.text_line(&mut out, line, &widths);
        }
        if !self.note.is_empty() {
            let _ = writeln!(out, "{}", plain(&self.note));
        }
        out
    }

    fn text_line(&self, out: &mut String, cells: &[String], widths: &[usize]) {
        let mut line = String::new();
        for ((cell, &width), column) in cells.iter().zip(widths).zip(&self.columns) {
            let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
            let separator = if line.is_empty() { "" } else { "  " };
            let _ = match column.align {
                Align::Left => write!(line, "{separator}{cell}{gap}"),
                Align::Right => write!(line, "{separator}{gap}{cell}"),
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }

    fn markdown(&self) -> String {
        let mut out = String::new();
        if !self.title.is_empty() {
            let _ = writeln!(out, "**{}**\n", markdown(&self.title));
        }
        let heads: Vec<String> = self.columns.iter().map(|c| markdown(&c.title)).collect();
        let _ = writeln!(out, "| {} |", heads.join(" | "));
        let rules: Vec<&str> =
            self.columns.iter().map(|c| if c.align == Align::Left { "---" } else { "---:" }).collect();
        let _ = writeln!(out, "| {} |", rules.join(" | "));
        for line in self.lines() {
            let cells: Vec<String> = line
                .iter()
                .map(|c| match c.mark {
                    Some(mark) => format!("{} {}", markdown(&c.text), mark.symbol()),
                    None => markdown(&c.text),
                })
                .collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        if !self.note.is_empty() {
            let _ = writeln!(out, "\n{}", markdown(&self.note));
        }
        out
    }

    fn latex(&self) -> String {
        let spec: String = self.columns.iter().map(|c| if c.align == Align::Left { 'l' } else { 'r' }).collect();
        let join = |cells: Vec<String>| cells.join(" & ");
        let mut out = String::from("% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n");
        let _ = writeln!(out, "\\caption{{{}}}", latex(&self.title));
        let _ = writeln!(out, "\\begin{{tabular}}{{{spec}}}\n\\toprule");
        let _ = writeln!(out, "{} \\\\\n\\midrule", join(self.columns.iter().map(|c| latex(&c.title)).collect()));
        for (k, line) in self.lines().enumerate() {
            if k == self.rows.len() {
                out.push_str("\\midrule\n");
            }
            let cells = line.iter().map(|c| format!("{}{}", latex(&c.text), latex_mark(c.mark))).collect();
            let _ = writeln!(out, "{} \\\\", join(cells));
        }
        out.push_str("\\bottomrule\n\\end{tabular}\n");
        if !self.note.is_empty() {
            let _ = writeln!(out, "\\par\\smallskip\\footnotesize {}", latex(&self.note));
        }
        out.push_str("\\end{table}\n");
        out
    }

    /// Title, note and closing lines are left out: every line is data.
    fn csv(&self) -> String {
        let marked = self.marked_columns();
        let with_marks = |columns: Vec<[String; 2]>| {
            let kept = columns.into_iter().zip(&marked);
            csv::line(kept.flat_map(|([text, mark], &marked)| std::iter::once(text).chain(marked.then_some(mark))))
        };
        let head = |column: &Column| [csv::text(&column.title), csv::text(&format!("{} mark", column.title))];
        let entry = |cell: &Cell| [csv_cell(&cell.text), cell.mark.map(|m| m.symbol().to_string()).unwrap_or_default()];
        let mut out = with_marks(self.columns.iter().map(head).collect());
        for row in &self.rows {
            out.push_str(&with_marks(row.iter().map(entry).collect()));
        }
        out
    }
}

/// A number unchanged, nothing for a dash, and text that no spreadsheet executes.
fn csv_cell(text: &str) -> String {
    match text {
        "–" => String::new(),
        number if number.parse::<f64>().is_ok() => number.into(),
        _ => plain(&csv::text(text)),
    }
}

/// Text without control characters (terminal escapes, line ends) and characters that change the direction of writing.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { printable_char(c) }).collect()
}

fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in plain(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '#' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

fn latex(text: &str) -> String {
    let mut out = String::new();
    for c in plain(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            // After `\\`, these two would be arguments of the line break.
            '[' => out.push_str("{[}"),
            '*' => out.push_str("{*}"),
            '≈' => out.push_str("$\\approx$"),
            '−' => out.push_str("$-$"),
            '±' => out.push_str("$\\pm$"),
            '∞' => out.push_str("$\\infty$"),
            '≤' => out.push_str("$\\le$"),
            '≥' => out.push_str("$\\ge$"),
            '×' => out.push_str("$\\times$"),
            '–' => out.push_str("--"),
            _ => out.push(c),
        }
    }
    out
}

fn latex_mark(mark: Option<Mark>) -> &'static str {
    match mark {
        Some(Mark::Better) => " $+$",
        Some(Mark::Similar) => " $\\approx$",
        Some(Mark::Worse) => " $-$",
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "<script>alert(\"1\")</script> | \\input{x} $a_b^c$ % & # ~ [1] *b* `c`\u{1b}[31m\n=1+1";

    fn table(name: &str) -> Table {
        let mut table = Table::new(name, 1, &["Problem", "FEs_t"]);
        table.note = name.to_string();
        table.rows.push(vec![Cell::new(name), Cell::sci(Some(-12_800.0)).marked(Some(Mark::Better))]);
        table.footer.push(vec![Cell::new("all"), Cell::sci(None)]);
        table
    }

    #[test]
    fn a_terminal_sees_one_line_per_row_and_no_escapes() {
        let text = table(NASTY).write(Format::Text);
        assert_eq!(text.lines().count(), 7);
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn markdown_keeps_its_cells() {
        let text = table(NASTY).write(Format::Markdown);
        assert!(!text.contains("<script"));
        let row = text.lines().nth(4).unwrap();
        let bars = row.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 3, "{row}");
    }

    #[test]
    fn latex_runs_nothing_of_a_name() {
        let text = table(NASTY).write(Format::Latex);
        assert!(!text.contains("\\input"));
        assert!(text.contains("\\textbackslash{}input\\{x\\}"));
        let bare = |c: char| {
            let chars: Vec<char> = latex(NASTY).chars().collect();
            (1..chars.len()).any(|i| chars[i] == c && chars[i - 1] != '\\')
        };
        assert!(!['$', '&', '#', '%', '_'].into_iter().any(bare));
        assert!(latex("[1]").starts_with("{[}"));
    }

    #[test]
    fn csv_holds_no_formula_and_keeps_negative_numbers() {
        for name in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "=HYPERLINK(\"http://x\",\"y\")"] {
            let text = table(name).write(Format::Csv);
            let row = text.lines().nth(1).unwrap();
            assert!(row.trim_start_matches('"').starts_with('\''), "{row}");
        }
        let text = table("a,\"b\"").write(Format::Csv);
        assert_eq!(text.lines().nth(1).unwrap(), "\"a,\"\"b\"\"\",-1.28E+04,+");
        assert_eq!(text.lines().next().unwrap(), "Problem,FEs_t,FEs_t mark");
        assert_eq!(text.lines().count(), 2, "closing lines are no data");
        let closing = table("a").closing().unwrap().write(Format::Csv);
        assert_eq!(closing.lines().nth(1), Some("all,"));
    }

    #[test]
    fn text_is_aligned() {
        let text = table("smd1").write(Format::Text);
        assert_eq!(
            text,
            "smd1\nProblem      FEs_t\n────────────────────\nsmd1     -1.28E+04 +\n────────────────────\nall              –\nsmd1\n"
        );
    }
}
