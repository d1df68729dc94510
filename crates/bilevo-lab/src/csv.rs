//! CSV according to RFC 4180, safe to open in a spreadsheet.

/// A line of cells.
pub(crate) fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    cells.join(",") + "\n"
}

/// Text as a CSV cell that no spreadsheet executes: quoted if necessary, with an apostrophe before anything that
/// would start a formula.
pub(crate) fn text(text: &str) -> String {
    const STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    let formula = text.trim_start_matches(' ').starts_with(STARTS);
    if formula { quoted(&format!("'{text}")) } else { quoted(text) }
}

/// A cell in quotes if it needs them.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A strict reader of one line.
    fn read(line: &str) -> Vec<String> {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        let mut chars = line.strip_suffix('\n').unwrap().chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => cells.last_mut().unwrap().push(chars.next().unwrap()),
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                _ => {
                    assert!(quoted || c != '\n');
                    cells.last_mut().unwrap().push(c);
                }
            }
        }
        assert!(!quoted);
        cells
    }

    proptest! {
        #[test]
        fn any_text_survives(content in "\\PC*|[=+@\", \r\n\t-]{0,8}") {
            let read = read(&line([text(&content), "end".into()]));
            let marked = format!("'{content}");
            prop_assert!(read[0] == content || read[0] == marked);
            prop_assert!(!read[0].starts_with(['=', '+', '-', '@', '\t', '\r']));
            prop_assert_eq!(&read[1..], ["end"]);
        }
    }
}
