//! Text to tokens, one at a time.

use super::error::{ExpressionError, Result};
use std::ops::Range;

/// One word or sign of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A number.
    Number(f64),
    /// A name, a keyword, or the name of a column (`links.cost`).
    Name(&'a str),
    /// An operator or bracket, as written; `**` becomes `^`.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Signs, the longer before those they begin with.
const SIGNS: [(&str, &str); 22] = [
    ("**", "^"),
    ("..", ".."),
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("≤", "<="),
    ("≥", ">="),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("+", "+"),
    ("-", "-"),
    ("−", "-"),
    ("*", "*"),
    ("/", "/"),
    ("^", "^"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    (",", ","),
];

/// Reads tokens from a text, one token ahead.
#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    /// The next token and its place.
    next: (Token<'a>, Range<usize>),
    /// End of the token taken last.
    pub(crate) before: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self> {
        let mut lexer = Lexer { text, next: (Token::End, 0..0), before: 0 };
        lexer.advance()?;
        Ok(lexer)
    }

    /// The next token, left where it is.
    pub(crate) fn peek(&self) -> Token<'a> {
        self.next.0
    }

    /// Place of the next token.
    pub(crate) fn span(&self) -> Range<usize> {
        self.next.1.clone()
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Result<(Token<'a>, Range<usize>)> {
        let taken = self.next.clone();
        self.advance()?;
        Ok(taken)
    }

    /// Takes the next token if it is this sign.
    pub(crate) fn take_sign(&mut self, sign: &str) -> Result<bool> {
        let found = matches!(self.peek(), Token::Sign(s) if s == sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Takes the next token if it is this keyword.
    pub(crate) fn take_word(&mut self, word: &str) -> Result<bool> {
        let found = self.peek() == Token::Name(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// The next token, for messages.
    pub(crate) fn found(&self) -> String {
        match self.next.0 {
            Token::End => "the end of the expression".into(),
            _ => format!("`{}`", &self.text[self.span()]),
        }
    }

    fn advance(&mut self) -> Result<()> {
        self.before = self.next.1.end;
        let rest = &self.text[self.before..];
        let start = self.before + (rest.len() - rest.trim_start().len());
        self.next = self.read(start)?;
        Ok(())
    }

    fn read(&self, start: usize) -> Result<(Token<'a>, Range<usize>)> {
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else { return Ok((Token::End, start..start)) };
        if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            return self.number(start);
        }
        if is_letter(first) {
            let end = start + name_length(rest);
            return Ok((Token::Name(&self.text[start..end]), start..end));
        }
        if let Some((written, sign)) = SIGNS.iter().find(|(written, _)| rest.starts_with(written)) {
            return Ok((Token::Sign(sign), start..start + written.len()));
        }
        let error = ExpressionError::new(start..start + first.len_utf8(), format!("`{first}` has no meaning here"));
        Err(match first {
            '&' => error.hint("write `and`"),
            '|' => error.hint("write `or`, or `abs(...)` for an absolute value"),
            '!' => error.hint("write `not`"),
            '%' => error.hint("write `mod(a, b)` for the remainder"),
            _ => error.hint("expressions consist of numbers, names, + - * / ^, brackets and functions"),
        })
    }

    fn number(&self, start: usize) -> Result<(Token<'a>, Range<usize>)> {
        let bytes = self.text.as_bytes();
        let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = digits(start);
        // `1..n` is a range, not the number `1.` followed by a dot.
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let stop = digits(signed);
            if stop > signed {
                end = stop;
            }
        }
        let span = start..end;
        let text = &self.text[span.clone()];
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok((Token::Number(number), span)),
            _ => Err(ExpressionError::new(span, format!("`{text}` is not a number that fits in 64 bits"))
                .hint("numbers reach from 1e-308 to 1e308")),
        }
    }
}

/// Whether a name may begin with this character.
pub(crate) fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Length of the name a text begins with; a single dot inside joins a table and its column.
fn name_length(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = c == '.' && chars.peek().is_some_and(|&(_, next)| is_letter(next));
        if !(is_letter(c) || c.is_numeric() || joins) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}
