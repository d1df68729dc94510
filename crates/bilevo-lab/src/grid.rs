//! Grids: methods x problems x sizes x settings x seeds, from a TOML file or from code, checked
//! before anything runs.
//!
//! ```toml
//! methods = ["bl-cma-es", "cr-bl-cma-es"]
//! problems = ["smd1", "smd2", "tp3"]
//! dims = ["2+3", "5+5"]      # for the problems that come in several sizes; the usual size if absent
//! runs = 21                  # seeds 1 to 21
//! first_seed = 1
//!
//! [[settings]]               # the methods as they are
//! [[settings]]               # and once more without a target
//! stop.target = "off"
//! ```
//!
//! The tasks of a grid come seed by seed, so that an interrupted grid has about as many runs of
//! every method on every problem.

use bilevo::config::ConfigError;
use bilevo::{Config, ProblemSpec, methods, problems};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toml::Spanned;

use crate::store::RunKey;

/// Runs of every cell unless said otherwise, as in the paper.
pub const DEFAULT_RUNS: u64 = 21;
/// More tasks than anybody can wait for.
pub const MAX_TASKS: u64 = 1_000_000;

/// One combination of settings: (path, value) pairs as [`Config::set`] takes them.
pub type Settings = Vec<(String, String)>;

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Methods by name.
    pub methods: Vec<String>,
    /// Problems by name.
    pub problems: Vec<String>,
    /// Sizes (upper, lower) for the problems that come in several; their usual size if empty.
    pub dims: Vec<(usize, usize)>,
    /// Runs of every combination.
    pub runs: u64,
    /// Seed of the first run; the others follow.
    pub first_seed: u64,
    /// Changes to the methods' own settings; if empty, the methods as they are.
    pub settings: Vec<Settings>,
}

/// A method with its settings on a problem of a size: what a table has one entry for.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Method.
    pub method: String,
    /// Problem.
    pub problem: String,
    /// Hash of the problem's file; empty for a built-in one.
    pub problem_hash: String,
    /// Upper and lower variables.
    pub dims: (usize, usize),
    /// Settings that differ from the method's own, as `path=value` joined by blanks.
    pub settings: String,
    /// The whole config.
    pub config: Config,
    /// Its hash.
    pub config_hash: String,
}

/// One run of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// What to run.
    pub cell: Arc<Cell>,
    /// With which seed.
    pub seed: u64,
}

impl Task {
    /// The key under which this version of bilevo stores the run.
    pub fn key(&self) -> RunKey {
        let Cell { method, problem, problem_hash, dims, config_hash, .. } = &*self.cell;
        RunKey {
            problem: problem.clone(),
            problem_hash: problem_hash.clone(),
            upper_dim: dims.0,
            lower_dim: dims.1,
            method: method.clone(),
            config_hash: config_hash.clone(),
            version: bilevo::VERSION.into(),
            seed: self.seed,
        }
    }
}

impl Grid {
    /// A grid of methods and problems with [`DEFAULT_RUNS`] runs each, from seed 1.
    pub fn new<S: Into<String>>(methods: impl IntoIterator<Item = S>, problems: impl IntoIterator<Item = S>) -> Grid {
        Grid {
            methods: methods.into_iter().map(Into::into).collect(),
            problems: problems.into_iter().map(Into::into).collect(),
            dims: Vec::new(),
            runs: DEFAULT_RUNS,
            first_seed: 1,
            settings: Vec::new(),
        }
    }

    /// Reads and checks a grid file.
    ///
    /// # Errors
    /// Anything that is not a grid, with the line.
    pub fn parse(text: &str) -> Result<Grid, GridError> {
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
            dims,
            runs: file.runs,
            first_seed: file.first_seed,
            settings,
        };
        grid.cells(&place)?;
        Ok(grid)
    }

    /// Every run of the grid, each once, seed by seed.
    ///
    /// # Errors
    /// An unknown or impossible method, problem, size or setting; a grid without runs or with
    /// absurdly many.
    pub fn tasks(&self) -> Result<Vec<Task>, GridError> {
        let cells = self.cells(&|_, _| None)?;
        let seeds = self.first_seed..self.first_seed.saturating_add(self.runs);
        Ok(seeds.flat_map(|seed| cells.iter().map(move |cell| Task { cell: cell.clone(), seed })).collect())
    }

    fn cells(&self, place: &dyn Fn(Part, usize) -> Option<usize>) -> Result<Vec<Arc<Cell>>, GridError> {
        self.check_counts()?;
        let own = [Settings::new()];
        let all_settings = if self.settings.is_empty() { &own[..] } else { &self.settings };
        let mut sized = Vec::new();
        for (index, problem) in self.problems.iter().enumerate() {
            sized.extend(self.sizes_of(problem, index, place)?);
        }
        let mut cells = Vec::new();
        let mut seen = BTreeSet::new();
        for (m, method) in self.methods.iter().enumerate() {
            let base = methods::find(method).map_err(|e| GridError::entry(place(Part::Method, m), e))?.config();
            for (s, settings) in all_settings.iter().enumerate() {
                let wrong = |e: ConfigError| GridError::entry(place(Part::Settings, s), format!("with {method}: {e}"));
                let mut config = base.clone();
                settings.iter().try_for_each(|(path, value)| config.set(path, value)).map_err(wrong)?;
                let (difference, hash) = (difference(&base, &config), config.hash());
                for Sized { problem, spec } in &sized {
                    config.check(spec).map_err(wrong)?;
                    let dims = (spec.upper.dim(), spec.lower.dim());
                    if seen.insert((method.clone(), problem.clone(), dims, hash.clone())) {
                        cells.push(Arc::new(Cell {
                            method: method.clone(),
                            problem: problem.clone(),
                            problem_hash: String::new(),
                            dims,
                            settings: difference.clone(),
                            config: config.clone(),
                            config_hash: hash.clone(),
                        }));
                    }
                }
            }
        }
        Ok(cells)
    }

    fn check_counts(&self) -> Result<(), GridError> {
        for (list, what) in [(&self.methods, "methods"), (&self.problems, "problems")] {
            if list.is_empty() {
                return Err(GridError::Empty { what });
            }
        }
        if self.runs == 0 {
            return Err(GridError::Empty { what: "runs" });
        }
        let factors = [self.methods.len(), self.problems.len(), self.dims.len().max(1), self.settings.len().max(1)];
        let tasks = factors.iter().try_fold(self.runs, |product, &n| product.checked_mul(n as u64));
        match tasks.filter(|&n| n <= MAX_TASKS) {
            Some(_) if self.first_seed.checked_add(self.runs).is_some() => Ok(()),
            Some(_) => Err(GridError::Seeds),
            None => Err(GridError::TooMany),
        }
    }

    /// Whether a problem comes in several sizes: only then may the sizes pass the others by.
    fn scales(&self) -> bool {
        self.problems.iter().any(|name| problems::info(name).is_ok_and(|info| info.scalable))
    }

    /// Problems that are run in their only size although the grid asks for other ones, which are
    /// for the other problems.
    pub fn passed_by(&self) -> Vec<&str> {
        let other = |size: (usize, usize)| self.dims.iter().any(|&dims| dims != size);
        let fixed = |name: &str| problems::info(name).is_ok_and(|info| !info.scalable && other(info.default_dims));
        let named = self.problems.iter().map(String::as_str);
        if self.scales() { named.filter(|name| fixed(name)).collect() } else { Vec::new() }
    }

    /// A problem in the sizes asked for, or in its only one.
    fn sizes_of(
        &self,
        problem: &str,
        index: usize,
        place: &dyn Fn(Part, usize) -> Option<usize>,
    ) -> Result<Vec<Sized>, GridError> {
        let info = problems::info(problem).map_err(|e| GridError::entry(place(Part::Problem, index), e))?;
        let own = [info.default_dims];
        let sizes_apply = info.scalable || !self.scales();
        let dims = if sizes_apply && !self.dims.is_empty() { &self.dims[..] } else { &own };
        let sized = dims.iter().enumerate().map(|(d, &dims)| {
            check_dims(dims)
                .and_then(|()| problems::problem(problem, Some(dims)).map_err(|e| e.to_string()))
                .map(|found| Sized { problem: problem.into(), spec: found.spec().clone() })
                .map_err(|reason| GridError::entry(place(Part::Size, d), reason))
        });
        sized.collect()
    }
}

/// A problem in one size.
struct Sized {
    problem: String,
    spec: ProblemSpec,
}

/// The upper strategy keeps square matrices over all variables: more of them fit no memory.
const MAX_DIM: usize = 1000;

fn check_dims((upper, lower): (usize, usize)) -> Result<(), String> {
    let allowed = 1..=MAX_DIM;
    if allowed.contains(&upper) && allowed.contains(&lower) {
        return Ok(());
    }
    Err(format!("the size {upper}+{lower} is out of range\nhint: each level has between 1 and {MAX_DIM} variables"))
}

/// `2+3` as (2, 3).
///
/// # Errors
/// Anything else, in words.
pub fn parse_dims(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse().ok();
    let parts = text.split_once('+').and_then(|(upper, lower)| Some((number(upper)?, number(lower)?)));
    parts.ok_or_else(|| format!("`{text}` is no size\nhint: write upper and lower variables as in `2+3`"))
}

/// Settings in which a config differs from its method's own.
fn difference(own: &Config, config: &Config) -> String {
    let (own, config) = (leaves(own), leaves(config));
    let changed = config.iter().filter(|(path, value)| own.get(*path) != Some(value));
    changed.map(|(path, value)| format!("{path}={value}")).collect::<Vec<_>>().join(" ")
}

/// Every `section.field` of a config with its value as [`Config::set`] takes it.
fn leaves(config: &Config) -> BTreeMap<String, String> {
    let mut leaves = BTreeMap::new();
    let tree = serde_json::to_value(config).unwrap_or_default();
    for (section, fields) in tree.as_object().into_iter().flatten() {
        for (field, value) in fields.as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            leaves.insert(format!("{section}.{field}"), text);
        }
    }
    leaves
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Method,
    Problem,
    Size,
    Settings,
}

fn starts<T>(list: &[Spanned<T>]) -> Vec<usize> {
    list.iter().map(|item| item.span().start).collect()
}

/// `stop.target = "off"` and `[settings.stop] target = "off"` alike as (path, value).
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

/// Why a grid was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// Not a grid file at all.
    #[error("{}\nhint: a grid has `methods`, `problems` and, if wanted, `dims`, `runs`, `first_seed`, `settings`", .0.to_string().trim_end())]
    Toml(#[from] toml::de::Error),
    /// One entry is wrong.
    #[error("{}{reason}", .line.map(|l| format!("line {l}: ")).unwrap_or_default())]
    Entry {
        /// Its line, if it comes from a file.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// Nothing to run.
    #[error("the grid has no {what}")]
    Empty {
        /// Which list is empty.
        what: &'static str,
    },
    /// Far too much to run.
    #[error("the grid has more than {MAX_TASKS} runs\nhint: split it into several")]
    TooMany,
    /// The seeds do not fit into 64 bits.
    #[error("the seeds run past the largest number\nhint: choose a smaller first seed")]
    Seeds,
}

impl GridError {
    fn entry(line: Option<usize>, reason: impl ToString) -> GridError {
        GridError::Entry { line, reason: reason.to_string() }
    }
}
