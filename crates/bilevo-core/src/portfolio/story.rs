//! The history in the words of a result.

use super::history::{Entry, History, Kind};
use super::search::End;
use crate::problem::ProblemSpec;
use crate::record::{Fate, Step};

impl Kind {
    /// What a result tells its reader.
    fn words(self) -> &'static str {
        match self {
            Kind::Descent => "descent",
            Kind::Known => "descent from the best known pair",
            Kind::NearEnds => "descent from a corner of the box",
            Kind::Survey => "survey of the box",
            Kind::Dent => "descent from the survey",
            Kind::Population => "population",
            Kind::Finish => "finishing descent",
            Kind::Feasible => "descent to a feasible answer",
            Kind::Sample => "sample of the box",
            Kind::LeanHere | Kind::LeanAway | Kind::LeanOn => "tie search",
            Kind::Regret => "tie at no cost to the follower",
            Kind::Exact => "exact end of a tie search",
            Kind::Border => "border between answers",
            Kind::Edge => "last decision with an answer",
            Kind::Smooth => "smoothed search",
            Kind::SmoothHere => "smoothed search from there",
        }
    }
}

impl Entry {
    fn fate(&self) -> Fate {
        match &self.verdict {
            _ if self.claim.is_none() => Fate::Nothing,
            Some(_) if self.is_corrected() => Fate::Corrected,
            Some(_) => Fate::Confirmed,
            None if self.end == End::Arrived => Fate::Arrived,
            None => Fate::Passed,
        }
    }
}

impl History {
    /// Every search, with its claim as it stood after the verdict.
    pub(super) fn story(&self, spec: &ProblemSpec) -> Vec<Step> {
        let step = |entry: &Entry| {
            let claim = entry.verified().or(entry.claim.as_ref());
            Step {
                search: entry.kind.words().into(),
                restart: entry.restart,
                upper_value: claim.map(|claim| spec.upper.direction.flip(claim.value()) + 0.0),
                feasible: claim.is_some_and(|claim| self.scales.is_feasible(claim)),
                fate: entry.fate(),
                evaluations: entry.spent,
            }
        };
        self.entries.iter().map(step).collect()
    }
}
