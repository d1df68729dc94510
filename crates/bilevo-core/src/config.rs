//! What users write about a method ([`Config`]), presets by name, and the checked form.
//!
//! A config is plain data with defaults. `Config::named("cr-tlea-cma-es")` gives a published
//! method; single values are changed by path (`allocator.window=48`); [`Config::check`] fills in
//! what depends on the problem and refuses what makes no sense, naming the field.

mod check;

pub use crate::suggest::{did_you_mean, nearest};
pub use check::Settings;

use crate::order::ConstraintRule;
use crate::problem::SpecError;
use serde::{Deserialize, Serialize};

/// The lower search, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LowerKind {
    /// One CMA-ES for each task (BL-CMA-ES).
    #[default]
    Independent,
    /// CMA-ES for each task in lockstep, with transfer between neighbours (TLEA-CMA-ES).
    TransferCma,
    /// Success-history DE for each task in lockstep, with transfer (TLEA-DE).
    TransferDe,
    /// All tasks as one multiobjective problem (MOTEA, reconstructed).
    Multiobjective,
    /// One solution for each task, collaborating (BOC, reconstructed).
    Collaborative,
}

/// The allocator, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllocatorKind {
    /// A lower search for every candidate.
    #[default]
    All,
    /// A random share of the candidates.
    Random,
    /// The share a learned ranking finds most promising.
    Contrastive,
}

/// Rule for the number of candidates in a generation of `d` variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PopulationRule {
    /// 4 + floor(3 ln d), which reproduces the published runs.
    #[default]
    Usual,
    /// 4 + floor(ln d), as printed in the paper.
    Printed,
}

impl PopulationRule {
    /// The population for `dim` variables.
    pub fn size(self, dim: usize) -> usize {
        let factor = match self {
            PopulationRule::Usual => 3.0,
            PopulationRule::Printed => 1.0,
        };
        4 + libm::floor(factor * libm::log(dim as f64)) as usize
    }
}

/// When the known optimum ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Never.
    Off,
    /// As soon as |F - F*| is within the tolerance (the published rule).
    #[default]
    Upper,
    /// As soon as both accuracies and both violations are within their tolerances.
    Both,
}

/// The upper strategy: CMA-ES on the joint vector (x, y).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UpperConfig {
    /// Candidates in a generation; by `population_rule` if absent.
    pub population: Option<usize>,
    /// Rule for the population at both levels.
    pub population_rule: PopulationRule,
    /// First step size as a share of the median box width.
    pub initial_step: f64,
    /// How infeasible candidates are ranked.
    pub constraint_rule: ConstraintRule,
}

impl Default for UpperConfig {
    fn default() -> Self {
        UpperConfig {
            population: None,
            population_rule: PopulationRule::Usual,
            initial_step: 0.3,
            constraint_rule: ConstraintRule::FeasibleFirst,
        }
    }
}

/// The lower search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LowerConfig {
    /// Which search.
    pub kind: LowerKind,
    /// Points of a task in a generation; the published size if absent.
    pub population: Option<usize>,
    /// Generations of a task at most; from the evaluation budget if absent.
    pub max_generations: Option<usize>,
    /// Tasks that count as neighbours (searches with exchange).
    pub neighbours: usize,
    /// A task has converged when its record changed by less than this, relative ...
    pub relative_tolerance: f64,
    /// ... or absolute.
    pub absolute_tolerance: f64,
}

impl Default for LowerConfig {
    fn default() -> Self {
        LowerConfig {
            kind: LowerKind::Independent,
            population: None,
            max_generations: None,
            neighbours: 2,
            relative_tolerance: 1e-4,
            absolute_tolerance: 1e-5,
        }
    }
}

/// Which evaluated solutions the ranking model learns from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolRule {
    /// The latest `window` solutions; training after every generation.
    #[default]
    Window,
    /// Collect until the pairs are `pairs_per_weight` times the weights, train, start anew (as
    /// published).
    Accumulate,
}

/// Where a training starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightsRule {
    /// New random weights for every training.
    #[default]
    Fresh,
    /// The weights of the previous training (as published).
    Carried,
}

/// Units in which the model sees a leader's decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputRule {
    /// Mean 0 and deviation 1 over the pool.
    #[default]
    Standardised,
    /// As they are (as published).
    Raw,
}

/// What happens when the model turns out to rank badly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustRule {
    /// The share of candidates searched follows the model's measured accuracy.
    #[default]
    Earned,
    /// A fixed share, whatever the model is worth (as published).
    Always,
}

/// The allocator: which candidates get a lower search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AllocatorConfig {
    /// Which allocator.
    pub kind: AllocatorKind,
    /// Share of the candidates that get a lower search, where it is fixed.
    pub keep: f64,
    /// Share under a model that ranks no better than a coin (earned trust).
    pub keep_doubted: f64,
    /// Share under a model that ranks well (earned trust).
    pub keep_proven: f64,
    /// Further samplings at most when the candidates look poor.
    pub resample_rounds: usize,
    /// Hidden units of the ranking network.
    pub hidden: usize,
    /// Epochs of one training.
    pub epochs: usize,
    /// Learning rate of Adam.
    pub learning_rate: f64,
    /// Which solutions it learns from.
    pub pool: PoolRule,
    /// Size of the window.
    pub window: usize,
    /// Solutions seen before the first training (window rule).
    pub first_training: usize,
    /// Pairs for each weight that make a training due (accumulate rule).
    pub pairs_per_weight: usize,
    /// Units of the inputs.
    pub inputs: InputRule,
    /// Start of a training.
    pub weights: WeightsRule,
    /// Reaction to a bad model.
    pub trust: TrustRule,
    /// Places among the searched candidates that go to random ones.
    pub explore: usize,
    /// Every so many generations the elite joins the parents; 0 = never.
    pub recall: usize,
}

impl Default for AllocatorConfig {
    fn default() -> Self {
        AllocatorConfig {
            kind: AllocatorKind::All,
            keep: 0.5,
            keep_doubted: 0.625,
            keep_proven: 0.375,
            resample_rounds: 1,
            hidden: 32,
            epochs: 100,
            learning_rate: 0.1,
            pool: PoolRule::Window,
            window: 32,
            first_training: 16,
            pairs_per_weight: 10,
            inputs: InputRule::Standardised,
            weights: WeightsRule::Fresh,
            trust: TrustRule::Earned,
            explore: 1,
            recall: 4,
        }
    }
}

impl AllocatorConfig {
    /// The allocator as it works best.
    pub fn windowed() -> Self {
        AllocatorConfig { kind: AllocatorKind::Contrastive, ..Self::default() }
    }

    /// A plain window: a fresh model in every generation, always trusted, nothing against greed.
    pub fn plain_window() -> Self {
        AllocatorConfig { trust: TrustRule::Always, explore: 0, recall: 0, ..Self::windowed() }
    }

    /// The allocator as the paper's text has it.
    pub fn published() -> Self {
        AllocatorConfig {
            pool: PoolRule::Accumulate,
            inputs: InputRule::Raw,
            weights: WeightsRule::Carried,
            ..Self::plain_window()
        }
    }
}

/// The second look at the best candidate or the elite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RefineConfig {
    /// Chance that a candidate worse than the elite is refined instead of the elite.
    pub probability: f64,
    /// Generations of a refining search at most; as for a lower search if absent.
    pub max_generations: Option<usize>,
}

impl Default for RefineConfig {
    fn default() -> Self {
        RefineConfig { probability: 0.5, max_generations: None }
    }
}

/// When a run, and a lower search, ends. What is absent comes from the problem or its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopConfig {
    /// Upper evaluations of the run.
    pub max_upper_evals: Option<u64>,
    /// Lower evaluations of the run; unlimited if absent.
    pub max_lower_evals: Option<u64>,
    /// Upper evaluations without change of the elite.
    pub upper_window: Option<u64>,
    /// What counts as change.
    pub flat_tolerance: f64,
    /// Lower evaluations of one lower search.
    pub lower_search_evals: Option<u64>,
    /// Lower evaluations without change of a lower search.
    pub lower_window: Option<u64>,
    /// Whether a known optimum ends the run.
    pub target: Target,
    /// Accuracy that counts as reached at the upper level (and violation, for `both`).
    pub target_tolerance: f64,
    /// Accuracy that counts as reached at the lower level (for `both`).
    pub lower_target_tolerance: f64,
}

impl Default for StopConfig {
    fn default() -> Self {
        StopConfig {
            max_upper_evals: None,
            max_lower_evals: None,
            upper_window: None,
            flat_tolerance: 1e-6,
            lower_search_evals: None,
            lower_window: None,
            target: Target::Upper,
            target_tolerance: 1e-6,
            lower_target_tolerance: 1e-4,
        }
    }
}

/// A method and its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The upper strategy.
    pub upper: UpperConfig,
    /// The lower search.
    pub lower: LowerConfig,
    /// The allocator.
    pub allocator: AllocatorConfig,
    /// The refinement.
    pub refine: RefineConfig,
    /// The stop rules.
    pub stop: StopConfig,
}

/// Generations of a lower search under the `-capped` control.
pub const CAP: usize = 4;

impl Config {
    /// The config of a named method; see [`crate::methods`] for the names.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn named(name: &str) -> Result<Config, ConfigError> {
        crate::methods::config(name)
    }

    /// Changes one value by its path, as in `allocator.window` = `48`. The text is read as JSON
    /// where that fits (`48`, `null`, `0.5`), else as a word.
    ///
    /// # Errors
    /// An unknown path or a value of the wrong type; the config is unchanged then.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), ConfigError> {
        let mut tree = serde_json::to_value(&*self).map_err(|e| ConfigError::invalid(path, value, e.to_string()))?;
        let known = leaf_paths(&tree);
        let pointer = format!("/{}", path.replace('.', "/"));
        let leaf = match tree.pointer_mut(&pointer) {
            Some(leaf) if known.iter().any(|name| name == path) => leaf,
            _ => {
                let nearest = nearest(path, known.iter().map(String::as_str));
                return Err(ConfigError::UnknownField { field: path.into(), nearest });
            }
        };
        *leaf = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        match serde_json::from_value(tree.clone()) {
            Ok(changed) => *self = changed,
            Err(_) => return Err(ConfigError::invalid(path, value, format!("it takes {}", expected(tree, &pointer)))),
        }
        Ok(())
    }

    /// A hash of all settings that is stable between runs and machines.
    pub fn hash(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        // FNV-1a, 64 bits
        let hash =
            text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        format!("{hash:016x}")
    }
}

/// What the value at `pointer` can be, in words: found by offering it a word that nothing takes and,
/// for what may be absent, `null`.
fn expected(mut tree: serde_json::Value, pointer: &str) -> String {
    let mut offer = |value: serde_json::Value| {
        if let Some(leaf) = tree.pointer_mut(pointer) {
            *leaf = value;
        }
        serde_json::from_value::<Config>(tree.clone()).map_err(|e| e.to_string())
    };
    let refusal = offer("?".into()).err().unwrap_or_default();
    let words = match refusal.split_once("expected ").map_or("", |(_, words)| words) {
        "usize" | "u64" => "a whole number from 0 on",
        "f64" => "a number",
        words => words,
    };
    let or_null = if offer(serde_json::Value::Null).is_ok() { ", or null for the default" } else { "" };
    format!("{words}{or_null}")
}

/// The range as far as it says something about the number given.
fn range_hint(got: f64, low: f64, high: f64) -> String {
    const BEYOND_ALL_USE: f64 = 1e15;
    if high < BEYOND_ALL_USE {
        format!("it must lie between {} and {}", plain(low), plain(high))
    } else if got > high {
        format!("it must be at most {}", plain(high))
    } else {
        format!("it must be at least {}", plain(low))
    }
}

/// A number without rows of zeros.
fn plain(number: f64) -> String {
    if number == 0.0 || (1e-4..1e15).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}

/// Every `a.b` path of a settings tree.
fn leaf_paths(tree: &serde_json::Value) -> Vec<String> {
    let Some(sections) = tree.as_object() else { return Vec::new() };
    let fields = |section: &serde_json::Value| {
        section.as_object().map(|f| f.keys().cloned().collect::<Vec<_>>()).unwrap_or_default()
    };
    sections
        .iter()
        .flat_map(|(name, section)| fields(section).into_iter().map(move |f| format!("{name}.{f}")))
        .collect()
}

/// Why a config was refused.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number outside its range.
    #[error("`{field}` is {}\nhint: {}", plain(*.got), range_hint(*.got, *.low, *.high))]
    OutOfRange {
        /// Path of the field.
        field: &'static str,
        /// Value given.
        got: f64,
        /// Smallest value.
        low: f64,
        /// Largest value.
        high: f64,
    },
    /// A field that does not exist.
    #[error("there is no setting `{field}`{}\nhint: `bilevo explain METHOD` shows all", did_you_mean(.nearest))]
    UnknownField {
        /// Path given.
        field: String,
        /// A known path like it.
        nearest: Option<String>,
    },
    /// A value of the wrong type.
    #[error("`{field}` cannot be `{got}`\nhint: {reason}")]
    Invalid {
        /// Path of the field.
        field: String,
        /// Text given.
        got: String,
        /// What was expected.
        reason: String,
    },
    /// A method that does not exist.
    #[error("there is no method `{name}`{}\nhint: `bilevo list methods` shows all", did_you_mean(.nearest))]
    UnknownMethod {
        /// Name given.
        name: String,
        /// A known name like it.
        nearest: Option<String>,
    },
    /// The problem itself cannot be run.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl ConfigError {
    fn invalid(field: &str, got: &str, reason: String) -> Self {
        ConfigError::Invalid { field: field.into(), got: got.into(), reason }
    }
}
