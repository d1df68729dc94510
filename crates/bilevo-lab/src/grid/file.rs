//! Grid files: TOML in, a checked grid or the line of the mistake out.

use super::{DEFAULT_RUNS, Grid, GridError, Part, Settings, parse_dims};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

impl Grid {
    /// Reads and checks the text of a grid file; relative paths of problem files start from `folder`.
    ///
    /// # Errors
    /// Anything that is not a grid, with the line.
    pub fn parse(text: &str, folder: &Path) -> Result<Grid, GridError> {
        let file: GridFile = toml::from_str(text)?;
        let line = |start: usize| text.get(..start).map(|before| before.matches('\n').count() + 1);
        let mut lines = BTreeMap::new();
        let mut note = |part: Part, spans: Vec<usize>| {
            lines.extend(spans.into_iter().enumerate().map(|(index, start)| ((part, index), line(start))));
        };
        note(Part::Method, starts(&file.methods));
        note(Part::Problem, starts(&file.problems));
        note(Part::Size, starts(&file.dims));
        note(Part::Settings, starts(&file.settings));
        let place = |part, index| lines.get(&(part, index)).copied().flatten();
        let mut dims = Vec::new();
        for (index, text) in file.dims.iter().enumerate() {
            let size = parse_dims(text.get_ref());
            dims.push(size.map_err(|reason| GridError::entry(place(Part::Size, index), reason))?);
        }
        let mut settings = Vec::new();
        for (index, table) in file.settings.iter().enumerate() {
            let flat = flatten(table.get_ref());
            settings.push(flat.map_err(|reason| GridError::entry(place(Part::Settings, index), reason))?);
        }
        let plain = |list: Vec<Spanned<String>>| list.into_iter().map(Spanned::into_inner).collect();
        let grid = Grid {
            methods: plain(file.methods),
            problems: plain(file.problems),
            folder: folder.into(),
            dims,
            runs: file.runs,
            first_seed: file.first_seed,
            settings,
        };
        grid.first_tasks(&place)?;
        Ok(grid)
    }
}

/// A grid as written in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GridFile {
    methods: Vec<Spanned<String>>,
    problems: Vec<Spanned<String>>,
    #[serde(default)]
    dims: Vec<Spanned<String>>,
    #[serde(default = "default_runs")]
    runs: u64,
    #[serde(default = "one")]
    first_seed: u64,
    #[serde(default)]
    settings: Vec<Spanned<toml::Table>>,
}

fn default_runs() -> u64 {
    DEFAULT_RUNS
}

fn one() -> u64 {
    1
}

fn starts<T>(list: &[Spanned<T>]) -> Vec<usize> {
    list.iter().map(|item| item.span().start).collect()
}

/// `stop.target = "off"` and `[settings.stop] target = "off"`, both as (path, value).
fn flatten(table: &toml::Table) -> Result<Settings, String> {
    let mut flat = Settings::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => {
                flat.extend(flatten(inner)?.into_iter().map(|(path, value)| (format!("{key}.{path}"), value)));
            }
            toml::Value::String(text) => flat.push((key.clone(), text.clone())),
            toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {
                flat.push((key.clone(), value.to_string()));
            }
            _ => return Err(format!("`{key}` cannot be a list or a date")),
        }
    }
    Ok(flat)
}
