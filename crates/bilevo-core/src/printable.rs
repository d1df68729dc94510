//! Makes text of unknown origin safe for terminals and messages, and formats numbers for people.

use std::borrow::Cow;

/// The text without anything that controls a terminal: every control character except the end of a line, and
/// everything that changes the direction of writing, becomes `�`; a tab becomes a space.
pub fn printable(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

/// The same for one character.
pub fn printable_char(c: char) -> char {
    match c {
        '\n' => c,
        '\t' => ' ',
        // Embeddings, overrides and isolates: text after them may be displayed in another order.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// The beginning of a text: at most this many bytes, cut between characters.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().map(|(at, _)| at).find(|at| *at >= most) {
        Some(end) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whole numbers up to this size are written in full.
const FULL: f64 = 1e15;

/// A number with six significant digits, in the more readable form; whole numbers in full.
pub fn short(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < FULL && number != 0.0 {
        return number.to_string();
    }
    digits(number, 6)
}

/// A number with this many significant digits, if it is neither tiny nor huge.
pub fn digits(number: f64, significant: i32) -> String {
    let size = number.abs();
    if number == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&size) {
        let decimals = (significant - 1 - libm::floor(libm::log10(size)) as i32).max(0) as usize;
        let text = format!("{number:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
    } else {
        format!("{number:.precision$e}", precision = significant as usize / 2)
    }
}

/// A number without hundreds of zeros if it is huge or tiny.
pub fn number(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-5..1e15).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_would_obey() {
        assert_eq!(printable("a\x1b[2J\tb\r\n\u{9b}31m\u{7f}\u{202e}é…"), "a�[2J b�\n�31m��é…");
    }

    #[test]
    fn huge_and_tiny_numbers_stay_short() {
        let shown = [1.0, -0.25, 0.0, 1e-5, 5e-324, -1.7e308, f64::INFINITY].map(number);
        assert_eq!(shown, ["1", "-0.25", "0", "0.00001", "5e-324", "-1.7e308", "inf"]);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shorten("äöü", 4), "äö…");
        assert_eq!(shorten("abc", 4), "abc");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!([grouped(0), grouped(999), grouped(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([short(0.0), short(-2.5), short(1.0 / 3.0)], ["0", "-2.5", "0.333333"]);
        assert_eq!([short(123_456.789), short(100.0), short(1.5e-9)], ["123457", "100", "1.500e-9"]);
        assert_eq!([short(1e9), short(-12_345_678.0), short(1e9 + 0.5)], ["1000000000", "-12345678", "1.000e9"]);
        assert_eq!([short(-0.0), short(1e15), short(f64::INFINITY)], ["0", "1.000e15", "inf"]);
        assert_eq!([digits(0.123_456, 3), digits(1.234e-9, 3), short(f64::NAN)], ["0.123", "1.2e-9", "NaN"]);
    }
}
