//! A figure with its target, and tables of them.

use std::fmt::Write;

/// What a figure is compared with.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// It should not be larger.
    AtMost(f64),
    /// It should not be smaller.
    AtLeast(f64),
}

/// One measured figure.
pub(crate) struct Figure {
    /// What was measured.
    pub(crate) what: String,
    /// The figure; `None` if it could not be measured here.
    pub(crate) value: Option<f64>,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// Its target, if it has one.
    pub(crate) target: Option<Target>,
}

impl Figure {
    /// A figure without a target.
    pub(crate) fn new(what: impl Into<String>, value: Option<f64>, unit: &'static str) -> Self {
        Figure { what: what.into(), value, unit, target: None }
    }

    /// Adds its target.
    pub(crate) fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    fn verdict(&self) -> &'static str {
        match (self.value, self.target) {
            (Some(v), Some(Target::AtMost(t))) if v <= t => "met",
            (Some(v), Some(Target::AtLeast(t))) if v >= t => "met",
            (Some(_), Some(_)) => "MISSED",
            _ => "",
        }
    }

    fn target_shown(&self) -> String {
        match self.target {
            Some(Target::AtMost(t)) => format!("<= {}", shown(t)),
            Some(Target::AtLeast(t)) => format!(">= {}", shown(t)),
            None => String::new(),
        }
    }
}

/// A number with a sensible number of digits and thousands separators.
fn shown(value: f64) -> String {
    if value.abs() < 100.0 {
        let text = format!("{value:.2}");
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    let digits = format!("{:.0}", value);
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 && !text.ends_with('-') {
            text.push(',');
        }
        text.push(c);
    }
    text
}

/// A section as a table for people.
pub(crate) fn text(title: &str, figures: &[Figure]) -> String {
    let width = figures.iter().map(|f| f.what.len()).max().unwrap_or(0).max(20);
    let mut table = format!("\n{title}\n");
    for f in figures {
        let value = f.value.map_or("not measured".into(), |v| format!("{} {}", shown(v), f.unit));
        let line = format!("  {:<width$}  {value:>24}  {:>10}  {}", f.what, f.target_shown(), f.verdict());
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// A section as one JSON object in a line. Names are ours and need no escaping.
pub(crate) fn json(section: &str, figures: &[Figure]) -> String {
    let mut line = format!("{{\"section\":\"{section}\",\"figures\":[");
    for (i, f) in figures.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let value = f.value.map_or("null".into(), |v| v.to_string());
        let target = match f.target {
            Some(Target::AtMost(t)) => format!(",\"at_most\":{t}"),
            Some(Target::AtLeast(t)) => format!(",\"at_least\":{t}"),
            None => String::new(),
        };
        // Writing to a string cannot fail.
        let _ = write!(line, "{comma}{{\"what\":\"{}\",\"value\":{value},\"unit\":\"{}\"{target}}}", f.what, f.unit);
    }
    line + "]}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [1.0, 0.5, 99.123, 1234.4, 1_000_000.0, -123.0].map(shown),
            ["1", "0.5", "99.12", "1,234", "1,000,000", "-123"]
        );
    }

    #[test]
    fn a_target_is_met_or_missed() {
        let figure = |value, target| Figure::new("f", Some(value), "s").target(target).verdict();
        assert_eq!(figure(2.0, Target::AtMost(1.0)), "MISSED");
        assert_eq!(figure(1.0, Target::AtMost(1.0)), "met");
        assert_eq!(figure(1.9, Target::AtLeast(1.8)), "met");
    }

    #[test]
    fn json_is_one_line() {
        let figures = [Figure::new("a", None, "ms"), Figure::new("b", Some(2.5), "ms").target(Target::AtMost(3.0))];
        assert_eq!(
            json("s", &figures),
            "{\"section\":\"s\",\"figures\":[{\"what\":\"a\",\"value\":null,\"unit\":\"ms\"},\
             {\"what\":\"b\",\"value\":2.5,\"unit\":\"ms\",\"at_most\":3}]}"
        );
    }
}
