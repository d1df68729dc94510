//! Grids: methods x problems x sizes x settings x seeds, from a TOML file or from code, checked
//! before anything runs.
//!
//! ```toml
//! methods = ["bl-cma-es", "cr-bl-cma-es"]
//! problems = ["smd1", "smd2", "tp3", "toll.toml"]      # built-in ones, and problem files
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

mod file;
mod sources;

use bilevo::config::ConfigError;
use bilevo::methods::{self, Choice};
use bilevo::{Config, RunId, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Default number of runs of every cell, as in the paper.
pub const DEFAULT_RUNS: u64 = 21;
/// Largest number of runs in a grid.
pub const MAX_TASKS: u64 = 1_000_000;

/// One combination of settings: (path, value) pairs as [`Config::set`] takes them.
pub type Settings = Vec<(String, String)>;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Methods by name.
    pub methods: Vec<String>,
    /// Problems: built-in names, or problem files.
    pub problems: Vec<String>,
    /// Where relative paths of problem files start; the current folder if empty.
    pub folder: PathBuf,
    /// Sizes (upper, lower) for the problems that come in several; their usual size if empty.
    pub dims: Vec<(usize, usize)>,
    /// Runs of every combination.
    pub runs: u64,
    /// Seed of the first run; the others follow.
    pub first_seed: u64,
    /// Changes to the methods' own settings; if empty, the methods as they are.
    pub settings: Vec<Settings>,
}

/// One run of a grid.
#[derive(Clone)]
pub struct Task {
    /// The identity of the run.
    pub id: RunId,
    /// The method with its settings.
    pub config: Arc<Config>,
    /// The problem.
    pub source: Arc<dyn Source>,
    /// Why `auto` switched to this method, if it did.
    pub notice: Option<String>,
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Grid {
    /// A grid of methods and problems with [`DEFAULT_RUNS`] runs each, from seed 1.
    pub fn new<S: Into<String>>(methods: impl IntoIterator<Item = S>, problems: impl IntoIterator<Item = S>) -> Grid {
        Grid {
            methods: methods.into_iter().map(Into::into).collect(),
            problems: problems.into_iter().map(Into::into).collect(),
            folder: PathBuf::new(),
            dims: Vec::new(),
            runs: DEFAULT_RUNS,
            first_seed: 1,
            settings: Vec::new(),
        }
    }

    /// Every run of the grid, each once, seed by seed.
    ///
    /// # Errors
    /// An unknown or impossible method, problem, size or setting; a grid without runs or with too many.
    pub fn tasks(&self) -> Result<Vec<Task>, GridError> {
        let first = self.first_tasks(&|_, _| None)?;
        let seeds = self.first_seed..self.first_seed.saturating_add(self.runs);
        let with = |task: &Task, seed| Task { id: RunId { seed, ..task.id.clone() }, ..task.clone() };
        Ok(seeds.flat_map(|seed| first.iter().map(move |task| with(task, seed))).collect())
    }

    /// The runs with the first seed.
    fn first_tasks(&self, place: &Place<'_>) -> Result<Vec<Task>, GridError> {
        self.check_counts()?;
        let own = [Settings::new()];
        let all_settings = if self.settings.is_empty() { &own[..] } else { &self.settings };
        let sources = self.sources(place)?;
        let mut tasks = Vec::new();
        let mut seen = BTreeSet::new();
        for (m, method) in self.methods.iter().enumerate() {
            methods::find(method).map_err(|e| GridError::entry(place(Part::Method, m), e))?;
            for (s, settings) in all_settings.iter().enumerate() {
                let wrong = |e: ConfigError| GridError::entry(place(Part::Settings, s), format!("with {method}: {e}"));
                for source in &sources {
                    let spec = source.spec();
                    let Choice { method, config, notice } = methods::choose(method, spec, settings).map_err(wrong)?;
                    config.check(spec).map_err(wrong)?;
                    let id = RunId::of(spec, &config, method.name(), source.hash(), self.first_seed);
                    if seen.insert(id.clone()) {
                        tasks.push(Task { id, config: Arc::new(config), source: source.clone(), notice });
                    }
                }
            }
        }
        Ok(tasks)
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

    /// Problems of the grid's tasks that come in one size only, and so are not run in every size asked for.
    pub fn passed_by(&self, tasks: &[Task]) -> Vec<String> {
        let mut sizes: BTreeMap<&str, BTreeSet<(usize, usize)>> = BTreeMap::new();
        for RunId { problem, upper_dim, lower_dim, .. } in tasks.iter().map(|task| &task.id) {
            sizes.entry(problem).or_default().insert((*upper_dim, *lower_dim));
        }
        let passed = |(_, own): &(&str, BTreeSet<_>)| !self.dims.iter().all(|dims| own.contains(dims));
        sizes.into_iter().filter(passed).map(|(name, _)| name.to_string()).collect()
    }
}

/// `2+3` as (2, 3).
///
/// # Errors
/// Anything else, in words.
pub fn parse_dims(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse().ok();
    let parts = text.split_once('+').and_then(|(upper, lower)| Some((number(upper)?, number(lower)?)));
    parts.ok_or_else(|| format!("`{text}` is not a size\nhint: write upper and lower variables, as in `2+3`"))
}

/// A list of a grid, for finding the line of an entry in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Method,
    Problem,
    Size,
    Settings,
}

/// The line of an entry of a list, if the grid comes from a file.
type Place<'a> = dyn Fn(Part, usize) -> Option<usize> + 'a;

/// Why a grid was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// Not a grid file at all.
    #[error("{}\nhint: a grid has the lists `methods` and `problems`, and optionally the list `dims`, the whole numbers `runs` and `first_seed`, and tables `[[settings]]`", .0.to_string().trim_end())]
    Toml(#[from] toml::de::Error),
    /// One entry is wrong.
    #[error("{}{reason}", .line.map(|l| format!("line {l}: ")).unwrap_or_default())]
    Entry {
        /// Its line, if it comes from a file.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// Two problems have the same name.
    #[error("two different problems are called `{name}`\nhint: give one of the files another `name`")]
    SameName {
        /// The name.
        name: String,
    },
    /// Nothing to run.
    #[error("the grid has no {what}\nhint: it needs at least one method, one problem and one run")]
    Empty {
        /// Which list is empty.
        what: &'static str,
    },
    /// There are too many runs.
    #[error("the grid has more than {MAX_TASKS} runs\nhint: split it into several")]
    TooMany,
    /// The seeds do not fit into 64 bits.
    #[error("the seeds exceed the largest number\nhint: choose a smaller first seed")]
    Seeds,
}

impl GridError {
    fn entry(line: Option<usize>, reason: impl ToString) -> GridError {
        GridError::Entry { line, reason: reason.to_string() }
    }
}
