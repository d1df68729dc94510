//! Decisions that would pay if the follower gave another answer than it does.
//!
//! Where a recheck replaces the answer of a decision by one in another basin, or where the follower has
//! other local minima at the elite, F with such an answer may be better than the elite's. Then the best
//! decision to which the follower does give it is searched for (`border`). The elite is looked at so
//! before the run ends, and once more if answers were seen since that it was not tested with.

use super::border::Border;
use super::config::Effort;
use super::follower::FEASIBLE;
use super::recheck::Recheck;
use super::restarts::DESCENT_DIM;
use super::solution::Solution;
use super::{AGREEMENT, JointQuadratic, Phase};
use crate::config::{Config, PositionKind};
use crate::engine::RunView;
use crate::problem::ProblemSpec;
use serde::{Deserialize, Serialize};

/// Searches over the box in a last look, relative to those of a recheck.
const LOOKS: usize = 2;
/// Searches along a border in a restart or after a last look, at most.
const BORDERS: usize = 3;

/// What is known of other answers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Hopes {
    /// Whether a follower had its better answer elsewhere.
    pub(super) several: bool,
    /// Searches along a border in the present restart.
    pub(super) borders: usize,
    /// Whether the present search goes on from the elite.
    pub(super) lifts: bool,
    /// Whether it has other minima at the elite.
    wells: bool,
    /// Where the elite was looked at before the end, and how many rivals were known.
    looked: Option<(Vec<f64>, u64)>,
    /// What that look promised, the best last, and whether the answer is to be held.
    all: Vec<(Solution, bool)>,
}

impl Hopes {
    /// Whether the follower was seen to have several minima.
    pub(super) fn are_several(&self) -> bool {
        self.several || self.wells
    }
}

impl JointQuadratic {
    /// Whether it pays to know what an answer is worth that the follower gives to other decisions only.
    pub(super) fn may_keep_to_border(&self, hoped: &Solution) -> bool {
        let feasible = hoped.upper.violation.max(hoped.answer.outcome.violation) <= FEASIBLE;
        let wanted = self.descent_budget > 0 && self.config.position.kind != PositionKind::Pessimistic;
        wanted && feasible && self.hopes.borders < BORDERS && self.promises(hoped)
    }

    /// A search for the best decision to which the follower gives the answer in `hoped` rather than that
    /// in `exposed`, or the same answer if it is `held`.
    pub(super) fn keep_to_border(&mut self, hoped: Solution, held: bool, exposed: Solution, spec: &ProblemSpec) {
        self.hopes.borders += 1;
        self.population.incumbent = (!self.hopes.lifts).then(|| exposed.clone());
        self.phase = Phase::Border(Box::new(Border::new(spec, hoped, held, exposed, budget(&self.config, spec))));
    }

    /// From the end of a search along a border on.
    pub(super) fn leave_border(&mut self, border: Border, run: &mut RunView<'_>) {
        let found = border.found(run.spec);
        let agrees =
            found.as_ref().zip(self.elite.as_ref()).is_some_and(|(found, elite)| found.agrees(elite, AGREEMENT));
        match found.filter(|found| self.promises(found)) {
            Some(found) => {
                self.population.incumbent = Some(found.clone());
                self.phase = Phase::Recheck(Box::new(self.second_look(found).with_own_answer()));
            }
            None if agrees && !self.hopes.lifts => {
                self.population.incumbent = None;
                self.count_agreement();
                self.go_on(run);
            }
            None if self.hopes.lifts => self.next_hope(run),
            None => self.rechecked(border.exposed, true, run),
        }
    }

    /// One more restart that ended at the elite's value.
    fn count_agreement(&mut self) {
        self.agreeing.0 += 1;
        self.agreeing.1 += usize::from(!self.descending);
    }

    /// Looks at the elite's other answers before the run ends, unless nothing is new; whether it does.
    /// Where ties are likely, also at answers that are no minima: the follower may be indifferent to them
    /// elsewhere.
    pub(super) fn looks(&mut self, likely: bool) -> bool {
        let Some(elite) = self.elite.clone() else { return false };
        let wanted = self.config.jq.effort != Effort::Quick && self.config.position.kind != PositionKind::Pessimistic;
        let now = (elite.x.clone(), self.knowledge.rivals.count());
        if !wanted || self.descent_budget == 0 || self.hopes.looked.as_ref() == Some(&now) {
            return false;
        }
        let anew = self.hopes.looked.as_ref().is_none_or(|(x, _)| *x != elite.x);
        self.hopes.looked = Some(now);
        let wide = if anew { LOOKS * self.config.jq.rechecks } else { 0 };
        let known = self.knowledge.rivals.answers().cloned().collect();
        let check = Recheck::new(elite, known, wide, false, self.population.generation());
        let tempts = anew && likely;
        self.phase = Phase::LastLook(Box::new(check.under(self.config.position.kind).with_wells(tempts)));
        true
    }

    /// From the last look on: if it found a better answer, to another restart.
    pub(super) fn looked(&mut self, check: Recheck, run: &mut RunView<'_>) {
        let Recheck { solution, hoped, wells, favourite, exposed, moved, .. } = check;
        self.rechecks.0 += 1;
        self.rechecks.1 += u64::from(exposed);
        self.hopes.several |= moved;
        self.hopes.wells = !wells.is_empty();
        if moved {
            self.agreeing = (0, 0);
        }
        self.knowledge.rivals.push(&solution.x, &solution.answer.y);
        self.elite = Some(solution);
        self.hopes.looked = self.elite.as_ref().map(|elite| (elite.x.clone(), self.knowledge.rivals.count()));
        self.hopes.borders = 0;
        self.hopes.lifts = true;
        let free = wells.into_iter().chain(hoped).map(|hope| (hope, false));
        self.hopes.all = free.chain(favourite.map(|hope| (hope, true))).collect();
        self.hopes.all.sort_by(|a, b| b.0.compare(&a.0));
        self.next_hope(run);
    }

    /// The next of the decisions that would pay.
    fn next_hope(&mut self, run: &mut RunView<'_>) {
        while let Some((hope, held)) = self.hopes.all.pop() {
            if let Some(elite) = self.elite.clone().filter(|_| self.may_keep_to_border(&hope)) {
                return self.keep_to_border(hope, held, elite, run.spec);
            }
        }
        self.hopes.lifts = false;
        self.go_on(run);
    }
}

/// Evaluations of a descent with two answers of the follower.
fn budget(config: &Config, spec: &ProblemSpec) -> u64 {
    let dim = spec.dim() + spec.lower.dim();
    (config.jq.descent * dim * dim.max(DESCENT_DIM.0) / DESCENT_DIM.0) as u64
}
