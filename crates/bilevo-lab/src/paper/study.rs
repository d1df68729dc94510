//! The study as a list of comparisons: what is run, what is tested against what, and which published figures it
//! is compared with. To add a comparison, add an entry to [`COMPARISONS`].
//!
//! Some comparisons are not in the paper: the default method, controls that have our ranking without its model,
//! readings of the paper's text, the steps from there to our ranking, a control that caps lower searches, the
//! stopping rule on gold mining, and `decision-making` with its misprint corrected.

mod comparisons;

pub use comparisons::COMPARISONS;
pub(super) use comparisons::{SMD, TP};

use crate::grid::{Grid, GridError, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A part of the study that can be run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Five pairs of methods on SMD1 to SMD12.
    Smd,
    /// One pair of methods on TP1 to TP10.
    Tp,
    /// Random and one-shot allocation instead of the whole method.
    Ablation,
    /// Gold mining and decision making.
    Applications,
    /// What the ranking model brings: the same methods without it.
    Controls,
    /// What the paper's text may mean.
    Readings,
    /// What else is not in the paper: the default method, also on rotated problems and without some of its parts; the
    /// steps from the paper to our ranking; capped lower searches.
    Beyond,
}

impl Part {
    /// Every part.
    pub const ALL: [Part; 7] =
        [Part::Smd, Part::Tp, Part::Ablation, Part::Applications, Part::Controls, Part::Readings, Part::Beyond];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Part::Smd => "smd",
            Part::Tp => "tp",
            Part::Ablation => "ablation",
            Part::Applications => "applications",
            Part::Controls => "controls",
            Part::Readings => "readings",
            Part::Beyond => "beyond",
        }
    }
}

/// Some methods on some problems, one of which is tested against the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Short name, for files.
    pub id: &'static str,
    /// Part it belongs to.
    pub part: Part,
    /// Caption.
    pub title: &'static str,
    /// Methods, in the order of the lines. Changed settings follow the name, by path, as in `cr-boc upper.recall=4`;
    /// the unchanged method must then be part of the same comparison.
    pub methods: &'static [&'static str],
    /// The method that the others are tested against.
    pub reference: &'static str,
    /// The baseline for savings.
    pub base: &'static str,
    /// The problems.
    pub on: Problems,
    /// The published counterpart of the reference; `None` if nothing was published.
    pub published_as: Option<&'static str>,
}

/// Problems of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problems {
    /// Their common name.
    pub name: &'static str,
    /// Their names.
    pub names: &'static [&'static str],
    /// Their size; if absent, their usual one.
    pub dims: Option<(usize, usize)>,
}

/// The comparisons of some parts.
pub fn comparisons(parts: &[Part]) -> Vec<Comparison> {
    COMPARISONS.iter().filter(|c| parts.contains(&c.part)).copied().collect()
}

/// The runs of some comparisons, each once, `runs` seeds from the first one on, seed by seed.
///
/// # Errors
/// No runs, or more than anybody can wait for.
pub fn tasks(comparisons: &[Comparison], first_seed: u64, runs: u64) -> Result<Vec<Task>, GridError> {
    let mut tasks = Vec::new();
    for comparison in comparisons {
        for method in comparison.all_methods() {
            tasks.extend(comparison.grid(method, first_seed, runs).tasks()?);
        }
    }
    let mut seen = BTreeSet::new();
    tasks.retain(|task| seen.insert(task.id.clone()));
    tasks.sort_by_key(|task| task.id.seed);
    Ok(tasks)
}

impl Comparison {
    /// Its methods, including those that it is only compared with.
    pub fn all_methods(&self) -> impl Iterator<Item = &'static str> {
        let (listed, others) = (self.methods, [self.base, self.reference]);
        listed.iter().copied().chain(others.into_iter().filter(|other| !listed.contains(other)))
    }

    fn grid(&self, method: &str, first_seed: u64, runs: u64) -> Grid {
        let mut words = method.split(' ');
        let mut grid = Grid::new(words.next(), self.on.names.iter().copied());
        let setting = |word: &str| word.split_once('=').map(|(path, value)| (path.into(), value.into()));
        grid.settings = vec![words.filter_map(setting).collect()];
        grid.dims = self.on.dims.into_iter().collect();
        (grid.first_seed, grid.runs) = (first_seed, runs);
        grid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{published, readings};

    #[test]
    fn the_whole_study_is_there_once() {
        let tasks = tasks(&comparisons(&Part::ALL), 1, 1).unwrap();
        // Ten methods of the pairs, an ablation, two readings with a step each and two caps on SMD; a
        // pair on TP and on three applications.
        let paper = 17 * 12 + 2 * 10 + 2 * 3;
        // Three controls of five bases, two more for four of them and one for the fifth on SMD, five on
        // TP and on decision making; further readings on SMD; six further rules on gold mining.
        let controls = (3 * 5 + 2 * 4 + 1) * 12 + 5 * 10 + 5;
        let readings = (readings::METHODS.len() - 1) * 12;
        // The default method on SMD, TP and, with the one beside it, rotated SMD, and without three parts.
        let beyond = 12 + 10 + 2 * 12 + 3 * 12;
        assert_eq!(tasks.len(), paper + controls + readings + 6 + beyond);
        assert_eq!(comparisons(&Part::ALL), COMPARISONS);
    }

    #[test]
    fn names_of_files_are_not_given_twice() {
        let ids: BTreeSet<&str> = COMPARISONS.iter().map(|c| c.id).collect();
        assert_eq!(ids.len(), COMPARISONS.len());
    }

    #[test]
    fn a_table_shows_what_it_is_tested_against() {
        for comparison in COMPARISONS {
            assert!(comparison.methods.contains(&comparison.reference), "{}", comparison.id);
        }
    }

    #[test]
    fn changed_settings_stand_as_labels_have_them_beside_the_method_as_it_is() {
        for comparison in COMPARISONS {
            for method in comparison.methods.iter().filter(|m| m.contains(' ')) {
                let plain = method.split(' ').next().unwrap();
                assert!(comparison.all_methods().any(|m| m == plain), "{}: {method}", comparison.id);
                let task = comparison.grid(method, 1, 1).tasks().unwrap().remove(0);
                assert_eq!(format!("{} {}", task.id.method, task.id.settings), *method);
            }
        }
    }

    #[test]
    fn tasks_come_seed_by_seed_and_in_the_published_sizes() {
        let tasks = tasks(&comparisons(&[Part::Smd, Part::Tp]), 7, 2).unwrap();
        assert_eq!(tasks.len(), 2 * (10 * 12 + 2 * 10));
        assert!(tasks.is_sorted_by_key(|t| t.id.seed));
        assert_eq!((tasks[0].id.seed, tasks[tasks.len() - 1].id.seed), (7, 8));
        for (problem, dims) in [("smd1", (2, 3)), ("tp4", (2, 3)), ("tp9", (5, 5)), ("tp10", (10, 10))] {
            let own = tasks.iter().filter(|t| t.id.problem == problem);
            assert!(own.clone().count() > 0);
            assert!(own.into_iter().all(|t| (t.id.upper_dim, t.id.lower_dim) == dims));
        }
    }

    #[test]
    fn a_part_brings_what_it_is_compared_with() {
        let tasks = tasks(&comparisons(&[Part::Ablation]), 1, 1).unwrap();
        assert!(tasks.iter().any(|t| t.id.method == "tlea-cma-es"));
        assert!(tasks.iter().all(|t| t.id.problem.starts_with("smd")));
    }

    #[test]
    fn published_lines_exist_for_all_that_claims_them() {
        for comparison in COMPARISONS {
            let Some(method) = comparison.published_as else { continue };
            for problem in comparison.on.names {
                assert!(published::find(method, problem).is_some(), "{method} {problem}");
                assert!(published::find(comparison.base, problem).is_some());
            }
        }
    }
}
