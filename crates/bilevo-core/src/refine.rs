//! Elite refinement: a second look at the best candidate or the elite by one more independent lower
//! search, since everything else is judged by it.
//!
//! Where in the loop: after the upper evaluations of a generation, before the update. Randomness:
//! `Purpose::Elite` for the choice, `Purpose::Refine` for the search.
//! Source: He et al., 2018 (BL-CMA-ES) and Chen et al., 2021 (TLEA), both in their public code.

use crate::batch::{Answers, Batch};
use crate::candidate::{Candidate, Solved};
use crate::config::{Config, Sizes};
use crate::engine::{RunView, SchemeKind};
use crate::lower::{Independent, LowerRules, LowerSearch};
use crate::nested::Evaluated;
use crate::order;
use crate::problem::ProblemSpec;
use crate::rng::Purpose;
use crate::settings::{number, settings, whole};
use crate::upper::UpperState;
use serde::{Deserialize, Serialize};

settings! {
    /// The second look at the best candidate or the elite.
    pub struct RefineConfig in refine as "refine", if "scheme.kind = nested" |c| c.scheme.kind == SchemeKind::Nested;

    /// Chance that a candidate worse than the elite is refined instead of the elite.
    probability: f64 = 0.5, |_| number(0.0, 1.0);
    /// Generations of a refining search at most; from `stop.lower_search_evals` if null.
    max_generations: Option<usize> = None, |_| whole(1, 1_000_000);
}

/// The refining search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refiner {
    search: Independent,
    probability: f64,
}

/// A solution under refinement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refinement {
    /// The solution, with its answer as it is improved.
    pub(crate) target: Solved,
    /// Where it comes from.
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Origin {
    Elite,
    /// The candidate at this index of the generation.
    Candidate(usize),
}

impl Refiner {
    pub(crate) fn new(spec: &ProblemSpec, config: &Config, sizes: &Sizes) -> Self {
        let search = Independent::new(LowerRules::refining(spec, &config.lower, sizes));
        Refiner { search, probability: config.refine.probability }
    }

    /// Takes up the best candidate if it is not worse than the elite or a coin says so, else the
    /// elite; nothing if there is neither.
    pub(crate) fn open(
        &mut self,
        evaluated: &Evaluated,
        run: &RunView<'_>,
        upper: &mut UpperState,
    ) -> Option<Refinement> {
        let coin = run.stream(Purpose::Elite, 0).uniform() < self.probability;
        let best = evaluated.best.map(|index| (index, &evaluated.solved[index]));
        let (target, origin) = match (best, run.elite.as_ref()) {
            (None, None) => return None,
            (Some((index, best)), None) => (best, Origin::Candidate(index)),
            (Some((index, best)), Some(elite)) if coin || order::not_worse(&best.upper, &elite.upper) => {
                (best, Origin::Candidate(index))
            }
            (_, Some(elite)) => (elite, Origin::Elite),
        };
        let task = [Candidate { x: target.x.clone(), guess: target.y.clone() }];
        let prior = upper.lower_prior(&task);
        self.search.open(&prior.tasks(&task), &prior.metric, run.search_streams(Purpose::Refine));
        Some(Refinement { target: target.clone(), origin })
    }

    pub(crate) fn ask(&mut self, batch: &mut Batch) {
        self.search.ask(batch);
    }

    pub(crate) fn tell(&mut self, batch: &Batch, answers: Answers<'_>) {
        self.search.tell(batch, answers);
    }

    /// Takes over the answer of the search if it is not worse than the stored one.
    pub(crate) fn improve(&self, refinement: &mut Refinement) -> bool {
        let target = &mut refinement.target;
        match self.search.answers().pop() {
            Some(answer) if order::not_worse(&answer.outcome, &target.lower) => {
                target.y = answer.y;
                target.lower = answer.outcome;
                true
            }
            _ => false,
        }
    }
}

impl Refinement {
    /// Takes notice of the upper evaluation; if it failed, the solution stays as it was.
    pub(crate) fn judge(&mut self, answers: Answers<'_>, evaluated: &Evaluated, run: &RunView<'_>) {
        match answers.outcomes.first() {
            Some(outcome) if !outcome.is_failed() => self.target.judge(run.spec, outcome, answers.constraints(0)),
            _ => {
                let before = match self.origin {
                    Origin::Elite => run.elite.as_ref(),
                    Origin::Candidate(index) => evaluated.solved.get(index),
                };
                before.into_iter().for_each(|before| self.target = before.clone());
            }
        }
    }

    /// Puts the solution where it belongs: a refined elite replaces itself, a refined candidate
    /// replaces the elite if it is not worse.
    pub(crate) fn settle(self, evaluated: &mut Evaluated, elite: &mut Option<Solved>) {
        match self.origin {
            Origin::Elite => *elite = Some(self.target),
            Origin::Candidate(index) => {
                if elite.as_ref().is_none_or(|elite| order::not_worse(&self.target.upper, &elite.upper)) {
                    *elite = Some(self.target.clone());
                }
                evaluated.solved[index] = self.target;
            }
        }
    }
}
