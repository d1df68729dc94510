//! The tables of the levels, and the keys that a file may have.

use super::diagnostic::Severity;
use super::reader::{Field, Reader};
use super::{UNITS, program};
use bilevo_core::config::nearest;

/// Keys that only people read.
pub(super) const NOTES: [&str; 8] =
    ["about", "description", "source", "reference", "url", "notes", "family", "license"];
const GENERAL: [&str; 14] = [
    "name",
    UNITS,
    "upper",
    "lower",
    "follower",
    "parameters",
    "data",
    "best_known",
    "budget",
    "equality_tolerance",
    "position",
    "position_tolerance",
    "lower_constraints",
    "definitions",
];
const EXPRESSION_LEVEL: [&str; 4] = ["minimize", "maximize", "variables", "subject_to"];

/// The keys of a file outside its tables.
fn known_keys(is_program: bool) -> Vec<&'static str> {
    GENERAL.iter().chain(&NOTES).chain(if is_program { &program::KEYS[..] } else { &[] }).copied().collect()
}

/// A table of the file with its fields.
pub(super) type Table<'f, 'd> = (&'f Field<'d>, Vec<Field<'d>>);

/// The tables of the levels: the leader's, and the follower's.
pub(super) struct Tables<'f, 'd> {
    pub(super) upper: Table<'f, 'd>,
    /// A follower that is searched.
    pub(super) lower: Option<Table<'f, 'd>>,
    /// A program that answers for the follower.
    pub(super) follower: Option<Table<'f, 'd>>,
    pub(super) is_program: bool,
}

/// Finds the tables of the levels and refuses unknown keys.
pub(super) fn tables<'f, 'd>(reader: &mut Reader, top: &'f [Field<'d>]) -> Option<Tables<'f, 'd>> {
    let find = |key: &str| top.iter().find(|field| field.key == key);
    let (Some(upper), true) = (find("upper"), find("lower").or(find("follower")).is_some()) else {
        missing_levels(reader, top);
        return None;
    };
    let mut table = |key: &str, hint: &str| match find(key) {
        Some(field) => reader.table(field, hint).map(|fields| Some((field, fields))),
        None => Some(None),
    };
    let upper_fields = table("upper", "[upper] holds the leader's objective and variables")?.map(|table| table.1)?;
    let lower = table("lower", "[lower] holds the follower's objective and variables")?;
    let hint = "[follower] says that a program answers for the follower; it may have a `command` of its own";
    let follower = table("follower", hint)?;
    let levels = [Some(&upper_fields), lower.as_ref().map(|lower| &lower.1)];
    let all = levels.iter().flatten().copied().chain(follower.as_ref().map(|follower| &follower.1)).flatten();
    let is_program = top.iter().chain(all).any(|field| field.key == "command");
    reader.unknown_keys(top, &known_keys(is_program));
    for fields in levels.iter().flatten() {
        reader.unknown_keys(fields, if is_program { &program::LEVEL_KEYS } else { &EXPRESSION_LEVEL });
    }
    if let Some((field, fields)) = &follower {
        if !is_program {
            let hint = "formulas of the follower stand under [lower]; a program that answers for it needs `command`";
            reader.key_error(field, "[follower] needs a program", hint);
            return None;
        }
        reader.unknown_keys(fields, &program::FOLLOWER_KEYS);
    }
    Some(Tables { upper: (upper, upper_fields), lower, follower, is_program })
}

/// Reports which level is missing. If its heading is misspelt, it is not missing.
fn missing_levels(reader: &mut Reader, top: &[Field]) {
    let known = known_keys(true);
    reader.unknown_keys(top, &known);
    let meant: Vec<_> = top.iter().filter_map(|field| nearest(&field.key, known.iter().copied())).collect();
    let levels: [&[&str]; 2] = [&["upper"], &["lower", "follower"]];
    let missing = levels.iter().find(|names| !meant.iter().any(|meant| names.contains(&meant.as_str())));
    if let Some([missing, ..]) = missing {
        let whole = 0..reader.document.text.lines().next().map_or(0, str::len);
        let hint = "a problem has the leader's level [upper] and the follower's [lower]";
        reader.remark(Severity::Error, whole, "", format!("[{missing}] is missing"), hint);
    }
}
