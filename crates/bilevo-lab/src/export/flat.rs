//! A serialisable value as a flat list of named fields, in the order in which it is written.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    /// Null.
    Null,
    /// Text.
    Text(String),
    /// A boolean.
    Truth(bool),
    /// Numbers and lists, as JSON.
    Json(String),
}

/// The fields of a value that serialises to an object; a nested field joins both names.
pub(super) fn fields(value: &impl Serialize) -> serde_json::Result<Vec<(String, Field)>> {
    let mut fields = Vec::new();
    add("", &serde_json::to_string(value)?, &mut fields)?;
    Ok(fields)
}

fn add(prefix: &str, json: &str, fields: &mut Vec<(String, Field)>) -> serde_json::Result<()> {
    for (name, value) in serde_json::from_str::<Ordered>(json)?.0 {
        let name = if prefix.is_empty() { name } else { format!("{prefix}_{name}") };
        let text = value.get();
        match text.as_bytes().first() {
            Some(b'{') => add(&name, text, fields)?,
            Some(b'"') => fields.push((name, Field::Text(serde_json::from_str(text)?))),
            Some(b'n') => fields.push((name, Field::Null)),
            Some(b't') => fields.push((name, Field::Truth(true))),
            Some(b'f') => fields.push((name, Field::Truth(false))),
            _ => fields.push((name, Field::Json(text.into()))),
        }
    }
    Ok(())
}

/// All names in some lists of fields, each once. If a field is null in one list and an object in another, the names
/// of the object's fields are used.
pub(super) fn columns(lines: &[Vec<(String, Field)>]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for line in lines {
        let mut at = 0;
        for (name, _) in line {
            match columns.iter().position(|known| known == name) {
                Some(known) => at = known + 1,
                None => {
                    columns.insert(at, name.clone());
                    at += 1;
                }
            }
        }
    }
    let filled = |name: &String| lines.iter().flatten().any(|(own, field)| own == name && *field != Field::Null);
    let within = |name: &String| format!("{name}_");
    let stands_aside = |name: &String| !filled(name) && columns.iter().any(|other| other.starts_with(&within(name)));
    let kept: Vec<String> = columns.iter().filter(|name| !stands_aside(name)).cloned().collect();
    kept
}

/// The members of a JSON object in their original order, which a map of `serde_json` does not keep.
struct Ordered(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Ordered;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Ordered(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(value: serde_json::Value) -> Vec<(String, Field)> {
        fields(&value).unwrap()
    }

    #[test]
    fn objects_are_opened_and_lists_are_not() {
        let json = |text: &str| Field::Json(text.into());
        let flat = names(json!({"a": {"b": 1, "c": {"d": null}}, "e": [1.5, 2.0], "f": "x", "g": true}));
        let expected = [("a_b", json("1")), ("a_c_d", Field::Null), ("e", json("[1.5,2.0]"))];
        let more = [("f", Field::Text("x".into())), ("g", Field::Truth(true))];
        let expected: Vec<_> = expected.into_iter().chain(more).map(|(n, f)| (n.to_string(), f)).collect();
        assert_eq!(flat, expected);
    }

    #[test]
    fn a_missing_object_takes_the_columns_of_a_present_one() {
        let lines = [names(json!({"a": null, "b": 1})), names(json!({"a": {"x": 1, "y": 2}, "b": 1}))];
        assert_eq!(columns(&lines), ["a_x", "a_y", "b"]);
        assert_eq!(columns(&lines[..1]), ["a", "b"]);
        assert!(columns(&[]).is_empty());
    }
}
