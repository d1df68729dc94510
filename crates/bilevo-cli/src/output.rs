//! Where words and data go: data to stdout, words to stderr, colours only where people look.

use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

/// Style of headings and names.
pub(crate) const BOLD: Style = Style::new().bold();
/// Style of what matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Style of what went well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Style of what needs a second look.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// Style of mistakes.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// stdout, without colours unless it is a terminal that wants them.
pub(crate) fn stdout() -> impl Write {
    anstream::stdout().lock()
}

/// stderr, likewise.
pub(crate) fn stderr() -> impl Write {
    anstream::stderr().lock()
}

/// Prints a value as one line of JSON.
pub(crate) fn json_line(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Prints a value as JSON, one object for the whole output.
pub(crate) fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Says something on stderr. Nobody can be told if that fails.
pub(crate) fn say(text: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Says something that needs attention.
pub(crate) fn warn(text: impl std::fmt::Display) {
    say(format_args!("{WARN}warning{WARN:#}: {text}"));
}

/// Text of unknown origin for a terminal: without anything it would obey.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}

/// Says why a command failed.
pub(crate) fn say_error(error: &anyhow::Error) {
    // Messages quote names from files and stores.
    let lines = |text: &dyn std::fmt::Display| text.to_string().split('\n').map(plain).collect::<Vec<_>>().join("\n");
    let mut said = lines(error);
    say(format_args!("{BAD}error{BAD:#}: {said}"));
    for cause in error.chain().skip(1).map(|cause| lines(cause)) {
        // Some errors quote their cause.
        if !said.contains(&cause) {
            say(format_args!("  because: {cause}"));
        }
        said = cause;
    }
}

/// Whether whoever read our stdout has gone, which is no error (`bilevo list problems | head -1`).
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
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

/// A number with six significant digits, in whichever form is shorter to read.
pub(crate) fn short(number: f64) -> String {
    digits(number, 6)
}

/// A best known value; what rounding left of a zero is a zero.
pub(crate) fn best_known(number: f64) -> String {
    short(if number.abs() < 1e-12 { 0.0 } else { number })
}

/// `1 generation`, `2 generations`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number with so many significant digits where it is neither tiny nor huge.
pub(crate) fn digits(number: f64, significant: i32) -> String {
    let size = number.abs();
    if number == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&size) {
        let decimals = (significant - 1 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{number:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
    } else {
        format!("{number:.precision$e}", precision = significant as usize / 2)
    }
}

/// A vector as `[1, 2.5, 1e-9]`.
pub(crate) fn vector(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(|&v| short(v)).collect();
    format!("[{}]", texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "generation"), "1 generation");
        assert_eq!(counted(1000, "number"), "1,000 numbers");
        assert_eq!(best_known(-8.882e-16), "0");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(-2.5), "-2.5");
        assert_eq!(short(1.0 / 3.0), "0.333333");
        assert_eq!(short(123_456.789), "123457");
        assert_eq!(short(100.0), "100");
        assert_eq!(short(1.5e-9), "1.500e-9");
        assert_eq!(digits(0.123_456, 3), "0.123");
        assert_eq!(digits(1.234e-9, 3), "1.2e-9");
        assert_eq!(short(f64::NAN), "NaN");
        assert_eq!(vector(&[1.0, f64::INFINITY]), "[1, inf]");
    }
}
