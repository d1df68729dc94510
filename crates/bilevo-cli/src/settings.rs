//! `KEY=VALUE`, the argument of `--set`.

/// Splits `key=value`.
pub(crate) fn parse_assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, as in allocator.window=48")?;
    Ok((key.trim().into(), value.trim().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_split_at_the_first_equals_sign() {
        assert_eq!(parse_assignment("a.b = 1=2"), Ok(("a.b".into(), "1=2".into())));
        assert!(parse_assignment("a.b").is_err());
    }
}
