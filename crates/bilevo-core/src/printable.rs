//! Text of unknown origin, made fit for a terminal and for a message.

use std::borrow::Cow;

/// The text without anything a terminal would obey: every control character but the end of a line, and
/// what turns the direction of writing, becomes `�`; a tab becomes a space.
pub fn printable(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

fn printable_char(c: char) -> char {
    match c {
        '\n' => c,
        '\t' => ' ',
        // Embeddings, overrides and isolates: text after them may be shown in another order than it has.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// The beginning of a text: at most so many bytes, cut between characters.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().map(|(at, _)| at).find(|at| *at >= most) {
        Some(end) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_would_obey() {
        assert_eq!(printable("a\x1b[2J\tb\r\n\u{9b}31m\u{7f}\u{202e}é…"), "a�[2J b�\n�31m��é…");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shorten("äöü", 4), "äö…");
        assert_eq!(shorten("abc", 4), "abc");
    }
}
