//! Parts of the default method, and the setting that leaves each out.

use std::iter::once;

/// A part that can be left out.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    path: &'static str,
    value: &'static str,
}

impl Part {
    const fn new(name: &'static str, path: &'static str, value: &'static str) -> Part {
        Part { name, path, value }
    }

    /// The setting, in the form of `--set`.
    pub(crate) fn setting(&self) -> (String, String) {
        (self.path.into(), self.value.into())
    }
}

/// The baseline: a setting that is the default anyway.
const NOTHING: Part = Part::new("nothing", "portfolio.borders", "on");

const PARTS: [Part; 11] = [
    Part::new("descents", "portfolio.descent", "0"),
    Part::new("borders", "portfolio.borders", "off"),
    Part::new("tie searches", "portfolio.ties", "0"),
    Part::new("contrastive allocator", "allocator.kind", "all"),
    Part::new("survey", "portfolio.survey", "off"),
    Part::new("arrival", "portfolio.arrival", "off"),
    Part::new("other answers", "portfolio.others", "off"),
    Part::new("scan of verdicts", "portfolio.scan", "off"),
    Part::new("descents into feasibility", "portfolio.feasible", "off"),
    Part::new("doubt of the elite", "portfolio.doubt", "off"),
    Part::new("exact end", "portfolio.exact", "off"),
];

/// Nothing, then each part: the rows of an ablation.
pub(crate) fn each() -> impl Iterator<Item = Part> {
    once(NOTHING).chain(PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilevo_core::methods::{self, AUTO};

    #[test]
    fn taking_nothing_away_changes_nothing_and_taking_a_part_away_does() {
        let problem = bilevo_problems::problem("smd1", None).unwrap();
        let plain = methods::choose(AUTO, problem.spec(), &[]).unwrap().config;
        for part in each() {
            let mut config = plain.clone();
            let (path, value) = part.setting();
            config.set(&path, &value).unwrap();
            assert_eq!(config == plain, part.name == "nothing", "{}", part.name);
        }
    }
}
