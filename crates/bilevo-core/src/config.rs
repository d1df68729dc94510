//! What users write about a method ([`Config`]), presets by name, and the checked form.
//!
//! A config is plain data with defaults. `Config::named("cr-tlea-cma-es")` gives a published
//! method; single values are changed by path (`allocator.window=48`); [`Config::check`] fills in
//! what depends on the problem and refuses what makes no sense, naming the field.

use crate::order::ConstraintRule;
use crate::problem::{Budget, ProblemSpec, SpecError};
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
        *self = serde_json::from_value(tree).map_err(|e| ConfigError::invalid(path, value, e.to_string()))?;
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

    /// Fills in what depends on the problem and refuses what makes no sense.
    ///
    /// # Errors
    /// The first field that is out of range, or a problem that cannot be run.
    pub fn check(&self, spec: &ProblemSpec) -> Result<Settings, ConfigError> {
        spec.check()?;
        self.check_ranges()?;
        let own = spec.budget();
        let stop = &self.stop;
        let budget = Budget {
            upper_evals: stop.max_upper_evals.unwrap_or(own.upper_evals),
            upper_window: stop.upper_window.unwrap_or(own.upper_window),
            lower_evals: stop.lower_search_evals.unwrap_or(own.lower_evals),
            lower_window: stop.lower_window.unwrap_or(own.lower_window),
        };
        let usual = self.upper.population_rule.size(spec.lower.dim());
        let lower_population = self.lower.population.unwrap_or(match self.lower.kind {
            LowerKind::TransferDe => 4,
            LowerKind::Collaborative => 1,
            _ => usual,
        });
        let generations = |population: usize| (budget.lower_evals as usize).div_ceil(population).max(1);
        let lower_generations = self.lower.max_generations.unwrap_or(match self.lower.kind {
            LowerKind::Collaborative => 18,
            _ => generations(lower_population),
        });
        let refine_generations = self.refine.max_generations.unwrap_or(generations(usual));
        Ok(Settings {
            population: self.upper.population.unwrap_or(self.upper.population_rule.size(spec.dim())),
            budget,
            lower_population,
            lower_generations,
            refine_population: usual,
            refine_generations,
        })
    }

    fn check_ranges(&self) -> Result<(), ConfigError> {
        const MANY: usize = 1_000_000;
        let whole =
            |field, value: Option<usize>, low: usize| in_range(field, value.map(|v| v as f64), low as f64, MANY as f64);
        let evals = |field, value: Option<u64>| in_range(field, value.map(|v| v as f64), 1.0, 1e15);
        let share = |field, value: f64, low: f64, high: f64| in_range(field, Some(value), low, high);
        let (upper, lower, allocator, stop) = (&self.upper, &self.lower, &self.allocator, &self.stop);
        whole("upper.population", upper.population, 4)?;
        share("upper.initial_step", upper.initial_step, 1e-9, 1e3)?;
        let least = match lower.kind {
            LowerKind::Collaborative => {
                if lower.population.is_some_and(|p| p != 1) {
                    let reason = "a collaborative search has one solution for each task".into();
                    return Err(ConfigError::invalid("lower.population", &format!("{:?}", lower.population), reason));
                }
                1
            }
            _ => 4,
        };
        whole("lower.population", lower.population, least)?;
        whole("lower.max_generations", lower.max_generations, 1)?;
        whole("lower.neighbours", Some(lower.neighbours), 1)?;
        share("lower.relative_tolerance", lower.relative_tolerance, 0.0, 1.0)?;
        share("lower.absolute_tolerance", lower.absolute_tolerance, 0.0, 1e300)?;
        share("allocator.keep", allocator.keep, 0.01, 1.0)?;
        share("allocator.keep_doubted", allocator.keep_doubted, 0.01, 1.0)?;
        share("allocator.keep_proven", allocator.keep_proven, 0.01, 1.0)?;
        in_range("allocator.explore", Some(allocator.explore as f64), 0.0, 1000.0)?;
        in_range("allocator.recall", Some(allocator.recall as f64), 0.0, 1e6)?;
        in_range("allocator.resample_rounds", Some(allocator.resample_rounds as f64), 0.0, 1000.0)?;
        in_range("allocator.hidden", Some(allocator.hidden as f64), 1.0, 4096.0)?;
        whole("allocator.epochs", Some(allocator.epochs), 1)?;
        share("allocator.learning_rate", allocator.learning_rate, 1e-9, 1e3)?;
        in_range("allocator.window", Some(allocator.window as f64), 2.0, 10_000.0)?;
        in_range("allocator.first_training", Some(allocator.first_training as f64), 2.0, allocator.window as f64)?;
        whole("allocator.pairs_per_weight", Some(allocator.pairs_per_weight), 1)?;
        share("refine.probability", self.refine.probability, 0.0, 1.0)?;
        whole("refine.max_generations", self.refine.max_generations, 1)?;
        evals("stop.max_upper_evals", stop.max_upper_evals)?;
        evals("stop.max_lower_evals", stop.max_lower_evals)?;
        evals("stop.upper_window", stop.upper_window)?;
        evals("stop.lower_search_evals", stop.lower_search_evals)?;
        evals("stop.lower_window", stop.lower_window)?;
        share("stop.flat_tolerance", stop.flat_tolerance, 0.0, 1e300)?;
        share("stop.target_tolerance", stop.target_tolerance, 0.0, 1e300)?;
        share("stop.lower_target_tolerance", stop.lower_target_tolerance, 0.0, 1e300)
    }
}

/// The numbers that a config and a problem's size give together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Candidates in an upper generation.
    pub population: usize,
    /// Budgets of the run and of a lower search.
    pub budget: Budget,
    /// Points of a lower task in a generation.
    pub lower_population: usize,
    /// Generations of a lower task at most.
    pub lower_generations: usize,
    /// Points of a refining search in a generation.
    pub refine_population: usize,
    /// Generations of a refining search at most.
    pub refine_generations: usize,
}

fn in_range(field: &'static str, value: Option<f64>, low: f64, high: f64) -> Result<(), ConfigError> {
    match value {
        Some(got) if !(low..=high).contains(&got) => Err(ConfigError::OutOfRange { field, got, low, high }),
        _ => Ok(()),
    }
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

/// The known name most like `word`, if any is close enough to be a slip.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let word = word.to_lowercase();
    known
        .map(|name| (edit_distance(&word, &name.to_lowercase()), name))
        .filter(|&(distance, name)| distance <= 1 + name.len().min(word.len()) / 4)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name.to_string())
}

/// Insertions, deletions and replacements between two words.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Why a config was refused.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number outside its range.
    #[error("`{field}` is {got}\nhint: it must lie between {low} and {high}")]
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
    #[error("there is no setting `{field}`{}", did_you_mean(.nearest))]
    UnknownField {
        /// Path given.
        field: String,
        /// A known path like it.
        nearest: Option<String>,
    },
    /// A value of the wrong type.
    #[error("`{field}` cannot be `{got}`: {reason}")]
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

/// A question to append to a message about an unknown name.
pub fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
}
