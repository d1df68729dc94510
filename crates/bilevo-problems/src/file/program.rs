//! Files that name an external program.
//!
//! At the top: `command = ["python3", "plant.py"]`, `environment`, `batch`, `once`, `timeout` and
//! `start_timeout` in seconds, `max_failures`, `memory_mb`, `depends` (files). A level may have its own `command`,
//! `environment`, `batch` and `once`, says `maximize = true`, and how many `inequalities` and
//! `equalities` the program returns for it. A table `[follower]`, in place of `[lower]` or beside it, says
//! that a program answers for the follower by itself; it may have its own `command`, `environment` and `batch`.

use super::reader::{Field, Reader};
use super::tables::Tables;
use crate::program::{
    Command, Commands, DEFAULT_MAX_FAILURES, DEFAULT_START_TIMEOUT, DEFAULT_TIMEOUT, Mode, Once, ProgramSpec,
};
use bilevo_core::printable::number;
use bilevo_core::problem::{Direction, Follower, Level, ProblemSpec};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;

/// Keys at the top of a program file, in addition to those of every problem file.
pub(crate) const KEYS: [&str; 9] =
    ["command", "environment", "batch", "once", "timeout", "start_timeout", "max_failures", "memory_mb", "depends"];
/// Keys of a level.
pub(crate) const LEVEL_KEYS: [&str; 9] =
    ["command", "environment", "batch", "once", "maximize", "minimize", "variables", "inequalities", "equalities"];

/// Keys of the table of a follower with its own solver.
pub(crate) const FOLLOWER_KEYS: [&str; 5] = ["command", "environment", "batch", "maximize", "minimize"];

/// Reads a program file; `spec` has the variables already.
pub(crate) fn program(
    reader: &mut Reader,
    top: &[Field],
    tables: &Tables<'_, '_>,
    mut spec: ProblemSpec,
) -> Option<ProgramSpec> {
    let (upper, lower) = (&tables.upper, tables.lower.as_ref());
    let none = Vec::new();
    for (level, fields) in [(&mut spec.upper, &upper.1), (&mut spec.lower, lower.map_or(&none, |lower| &lower.1))] {
        if let Some(field) = find(fields, "inequalities") {
            level.inequalities = reader.whole(field, 0)? as usize;
        }
        if let Some(field) = find(fields, "equalities") {
            level.equalities = reader.whole(field, 0)? as usize;
        }
        level.direction = direction(reader, fields);
    }
    if let Some((_, fields)) = &tables.follower {
        spec.follower = Follower::Oracle;
        if lower.is_none() {
            spec.lower.direction = direction(reader, fields);
        }
    }
    let (commands, follower) = commands(reader, top, tables)?;
    let mut program = ProgramSpec {
        problem: spec,
        folder: PathBuf::new(),
        commands,
        follower,
        timeout: seconds(reader, top, "timeout", DEFAULT_TIMEOUT),
        start_timeout: seconds(reader, top, "start_timeout", DEFAULT_START_TIMEOUT),
        max_failures: DEFAULT_MAX_FAILURES,
        depends: Vec::new(),
        memory: None,
    };
    if let Some(field) = find(top, "depends") {
        let hint = "depends = [\"model.py\", \"data.csv\"]: further files that the program consists of";
        program.depends = texts(reader, field, hint)?;
    }
    if let Some(field) = find(top, "max_failures") {
        program.max_failures = u32::try_from(reader.whole(field, 1)?).unwrap_or(u32::MAX);
    }
    if let Some(field) = find(top, "memory_mb") {
        program.memory = Some(reader.whole(field, 1)?.saturating_mul(1_000_000));
    }
    if !reader.failed()
        && let Err(error) = program.check()
    {
        let message = error.to_string();
        let (message, hint) = message
            .split_once("\nhint: ")
            .unwrap_or((&message, "the guide's page on external programs has an example"));
        let field = find(top, "command").unwrap_or(upper.0);
        reader.key_error(field, message, hint);
        return None;
    }
    Some(program)
}

/// The commands of the levels, and that of the follower's own solver if it differs from the leader's.
fn commands(reader: &mut Reader, top: &[Field], tables: &Tables<'_, '_>) -> Option<(Commands, Option<Command>)> {
    let own =
        |fields: &[Field]| ["command", "environment", "batch", "once"].iter().any(|key| find(fields, key).is_some());
    let (upper, upper_fields) = (tables.upper.0, &tables.upper.1[..]);
    let commands = match &tables.lower {
        Some((lower, fields)) if own(upper_fields) || own(fields) => {
            let upper = command(reader, top, Some((Level::Upper, upper, upper_fields)));
            let lower = command(reader, top, Some((Level::Lower, lower, fields)));
            Commands::Each { upper: upper?, lower: lower? }
        }
        Some(_) => Commands::Both(command(reader, top, None)?),
        None => Commands::Both(command(reader, top, Some((Level::Upper, upper, upper_fields)))?),
    };
    let follower = match &tables.follower {
        Some((follower, fields)) if own(fields) || (own(upper_fields) && find(top, "command").is_some()) => {
            Some(command(reader, top, Some((Level::Lower, follower, fields)))?)
        }
        _ => None,
    };
    Some((commands, follower))
}

fn find<'f, 'd>(fields: &'f [Field<'d>], key: &str) -> Option<&'f Field<'d>> {
    fields.iter().find(|field| field.key == key)
}

/// `maximize = true`; minimised otherwise.
fn direction(reader: &mut Reader, fields: &[Field]) -> Direction {
    let mut direction = Direction::Minimize;
    for (key, meant) in [("maximize", Direction::Maximize), ("minimize", Direction::Minimize)] {
        let Some(field) = find(fields, key) else { continue };
        if field.value.is_str() {
            let hint = "a program returns the value of the objective; write `maximize = true`, or remove `command`";
            reader.expected(field, "true or false", hint);
        } else if let Some(yes) = reader.boolean(field) {
            let opposite = if meant == Direction::Maximize { Direction::Minimize } else { Direction::Maximize };
            direction = if yes { meant } else { opposite };
        }
    }
    direction
}

/// The command of a level, or of both; what the level does not say comes from the top of the file.
fn command(reader: &mut Reader, top: &[Field], level: Option<(Level, &Field, &[Field])>) -> Option<Command> {
    let find = |key: &str| level.and_then(|(_, _, fields)| find(fields, key)).or_else(|| self::find(top, key));
    let words = match find("command") {
        Some(field) => words(reader, field)?,
        None => {
            let (level, field, _) = level?;
            reader.key_error(
                field,
                format!("there is no command for the {level} level"),
                "command = [\"python3\", \"plant.py\"]",
            );
            return None;
        }
    };
    let mut environment = BTreeMap::new();
    if let Some(field) = find("environment") {
        for field in reader.table(field, "environment = { NAME = \"value\" }")? {
            environment.insert(field.key.clone(), reader.text(&field, "environment variables are text")?.to_string());
        }
    }
    let mode = match (find("once"), find("batch")) {
        (None, None) => Mode::Lines { batch: 1 },
        (None, Some(batch)) => Mode::Lines { batch: reader.whole(batch, 1)? as usize },
        (Some(_), Some(batch)) => {
            reader.key_error(
                batch,
                "a program that is started for every evaluation takes one point",
                "remove `batch` or `once`",
            );
            return None;
        }
        (Some(once), None) => Mode::Once(self::once(reader, once)?),
    };
    Some(Command { command: words, environment, mode })
}

/// The program and its arguments.
fn words(reader: &mut Reader, field: &Field) -> Option<Vec<String>> {
    let hint = "command = [\"python3\", \"plant.py\"]: the program and its arguments, each in quotes";
    let words = texts(reader, field, hint)?;
    if words.is_empty() {
        reader.error(field, "the command is empty", hint);
        return None;
    }
    Some(words)
}

fn texts(reader: &mut Reader, field: &Field, hint: &str) -> Option<Vec<String>> {
    let Some(list) = field.elements() else {
        reader.expected(field, "a list of words", hint);
        return None;
    };
    list.iter().map(|word| reader.text(word, hint).map(String::from)).collect()
}

/// How a program that is started for every evaluation receives its point.
fn once(reader: &mut Reader, field: &Field) -> Option<Once> {
    let hint = "once = { inputs = [{ file, template }], output, own_folder, value, constraints }; \
                a place is { key = \"cost\" }, { regex = \"...\" } or { line = 1, column = 2 }";
    let value = Spanned::new(field.span.clone(), field.value.clone());
    match Once::deserialize(toml::de::ValueDeserializer::from(value)) {
        Ok(once) => Some(once),
        Err(error) => {
            let span = error.span().unwrap_or(field.span.clone());
            reader.remark(super::Severity::Error, span, &field.path, error.message().to_string(), hint);
            None
        }
    }
}

fn seconds(reader: &mut Reader, top: &[Field], key: &str, default: Duration) -> Duration {
    let Some(field) = find(top, key) else { return default };
    let Some(seconds) = reader.number(field) else { return default };
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => duration,
        _ => {
            reader.error(field, format!("{} is not a time", number(seconds)), "seconds, more than 0");
            default
        }
    }
}
