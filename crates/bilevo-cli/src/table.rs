//! Text tables: columns aligned, nothing drawn around them. On a terminal, long lines are broken between words.

use crate::output::{BOLD, DIM, PLAIN};
use std::io::{self, IsTerminal, Write};

/// Lines are not longer than this, however wide the terminal is.
const WIDEST: usize = 110;
/// The narrowest column that is worth breaking lines for.
const NARROWEST: usize = 24;

/// How long a line may be; `None` if stdout is not a terminal, where a line is a record for other programs.
fn room() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0).min(WIDEST))
}

/// Writes rows with their columns aligned; the first row is the heading.
pub(crate) fn columns(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    columns_within(out, rows, room())
}

fn columns_within(out: &mut impl Write, rows: &[Vec<String>], room: Option<usize>) -> io::Result<()> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    // The last column begins after the others and the gaps between them.
    let begin: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    for (number, row) in rows.iter().enumerate() {
        let style = if number == 0 { DIM } else { PLAIN };
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        for line in hanging(cells.join("  ").trim_end(), begin, room) {
            writeln!(out, "{style}{line}{style:#}")?;
        }
    }
    Ok(())
}

/// Writes a paragraph; all its lines but the first are indented.
pub(crate) fn paragraph(out: &mut impl Write, text: &str, indent: usize) -> io::Result<()> {
    hanging(text, indent, room()).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// The lines of a text, all but the first of them indented; a single line if there is no room for several.
fn hanging(text: &str, indent: usize, room: Option<usize>) -> Vec<String> {
    let Some(room) = room.filter(|room| *room >= indent + NARROWEST) else { return vec![text.into()] };
    let split = text.char_indices().nth(indent).map_or(text.len(), |(at, _)| at);
    let (head, rest) = text.split_at(split);
    let (mut lines, mut length) = (vec![head.to_string()], indent);
    for (index, word) in rest.split(' ').enumerate() {
        let wide = word.chars().count();
        if index > 0 && length > indent && length + 1 + wide > room {
            lines.push(" ".repeat(indent));
            length = indent;
        } else if index > 0 {
            length += 1;
            lines.iter_mut().last().into_iter().for_each(|line| line.push(' '));
        }
        length += wide;
        lines.iter_mut().last().into_iter().for_each(|line| line.push_str(word));
    }
    lines
}

/// Writes one `label  text` line of a result.
pub(crate) fn line(out: &mut impl Write, label: &str, text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(out, "  {DIM}{label:<12}{DIM:#} {text}")
}

/// Writes a heading.
pub(crate) fn heading(out: &mut impl Write, text: impl std::fmt::Display) -> io::Result<()> {
    writeln!(out, "{BOLD}{text}{BOLD:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[[&str; 3]], room: Option<usize>) -> String {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(String::from).to_vec()).collect();
        let mut out = Vec::new();
        columns_within(&mut out, &rows, room).unwrap();
        let dim = (DIM.to_string(), format!("{DIM:#}"));
        String::from_utf8(out).unwrap().replace(&dim.0, "").replace(&dim.1, "")
    }

    #[test]
    fn the_last_column_is_broken_between_words_where_there_is_room_for_it() {
        let rows = [["name", "n", "about"], ["first", "1", "one long line with a word äöü that ends here"]];
        let whole = "name   n  about\nfirst  1  one long line with a word äöü that ends here\n";
        assert_eq!(shown(&rows, None), whole);
        assert_eq!(shown(&rows, Some(20)), whole, "too narrow to break lines well");
        let broken = "name   n  about\nfirst  1  one long line with a\n          word äöü that ends here\n";
        assert_eq!(shown(&rows, Some(34)), broken);
    }

    #[test]
    fn a_word_that_is_too_long_gets_a_line_of_its_own() {
        let word = "x".repeat(40);
        let lines = hanging(&format!("1. a {word} b"), 3, Some(30));
        assert_eq!(lines, ["1. a".to_string(), format!("   {word}"), "   b".into()]);
        assert_eq!(hanging("short", 0, Some(30)), ["short"]);
        assert_eq!(hanging("", 4, Some(30)), [""]);
    }
}
