//! Names of random problems: `smd1-rotated:7` is instance 7 of `smd1-rotated`.

/// A name before its colon, and what follows it.
pub(crate) fn split(name: &str) -> (&str, Option<&str>) {
    name.split_once(':').map_or((name, None), |(base, rest)| (base, Some(rest)))
}

/// The number of an instance. There is only one way to write it, because names identify runs.
pub(crate) fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|k: &u32| *k > 0 && k.to_string() == text)
}
