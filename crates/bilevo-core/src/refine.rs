//! Elite refinement: the best candidate or the elite gets one more independent lower search, because everything
//! else is compared with it.
//!
//! Where in the loop: after the upper evaluations of a generation, before the update. Randomness: `Purpose::Elite`
//! for the choice, `Purpose::Refine` for the search. Source: He et al., 2018 (BL-CMA-ES) and Chen et al., 2021
//! (TLEA), both in their public code.

use crate::batch::{Answers, Batch};
use crate::candidate::{Candidate, Solved};
use crate::config::{Config, Sizes};
use crate::engine::{RunView, SchemeKind};
use crate::lower::{LowerKind, LowerRules, LowerState};
use crate::nested::Evaluated;
use crate::order;
use crate::problem::{Outcome, ProblemSpec};
use crate::rng::Purpose;
use crate::settings::{number, settings, whole};
use crate::upper::UpperState;
use serde::{Deserialize, Serialize};

settings! {
    /// Rechecks the best candidate or the elite by another lower search.
    pub struct RefineConfig in refine as "refine", if "scheme.kind = nested" |c| c.scheme.kind == SchemeKind::Nested;

    /// Probability that the best candidate is refined instead of the elite, if it is worse than the
    /// elite.
    probability: f64 = 0.5, |_| number(0.0, 1.0);
    /// Maximum number of generations of a refinement; if null, from `stop.lower_search_evals`.
    max_generations: Option<usize> = None, |_| whole(1, 1_000_000);
}

/// The refining search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refiner {
    search: LowerState,
    probability: f64,
    /// Whether to refine exactly those candidates that would become the elite, once each. (An exchange search that
    /// has ended would only find the same again.)
    once: bool,
}

/// A solution under refinement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refinement {
    /// The solution, with its answer as improved so far.
    pub(crate) target: Solved,
    /// The follower's value of its answer before.
    pub(crate) before: Outcome,
    /// Where the solution comes from.
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
        let kind = match config.lower.kind {
            LowerKind::Exchange => LowerKind::Exchange,
            _ => LowerKind::Independent,
        };
        let search = LowerState::new(kind, LowerRules::refining(spec, &config.lower, sizes));
        Refiner { search, probability: config.refine.probability, once: kind == LowerKind::Exchange }
    }

    /// Chooses what to refine: the best candidate if it is no worse than the elite or a coin toss says so, otherwise
    /// the elite; `None` if there is neither.
    pub(crate) fn open(
        &mut self,
        evaluated: &Evaluated,
        run: &RunView<'_>,
        upper: &mut UpperState,
    ) -> Option<Refinement> {
        let coin = run.stream(Purpose::Elite, 0).uniform() < self.probability;
        let best = if self.once { unseen(evaluated) } else { evaluated.best };
        let best = best.map(|index| (index, &evaluated.solved[index]));
        let (target, origin) = match (best, run.elite.as_ref()) {
            (None, None) => return None,
            (Some((index, best)), None) => (best, Origin::Candidate(index)),
            (Some((index, best)), Some(elite)) if coin || order::not_worse(&best.upper, &elite.upper) => {
                (best, Origin::Candidate(index))
            }
            (_, Some(elite)) => (elite, Origin::Elite),
        };
        let beats = |elite: &Solved| order::better(&target.upper, &elite.upper);
        if self.once && !run.elite.as_ref().is_none_or(beats) {
            return None;
        }
        let task = [Candidate { x: target.x.clone(), guess: target.y.clone() }];
        let prior = upper.lower_prior(&task);
        self.search.open(&prior.tasks(&task), &prior.metric, run.search_streams(Purpose::Refine));
        Some(Refinement { before: target.lower, target: target.clone(), origin })
    }

    /// The lower search.
    pub(crate) fn search(&self) -> &LowerState {
        &self.search
    }

    /// Whether every candidate that would become the elite is refined.
    pub(crate) fn looks_at_all(&self) -> bool {
        self.once
    }

    pub(crate) fn ask(&mut self, batch: &mut Batch) {
        self.search.ask(batch);
    }

    pub(crate) fn tell(&mut self, batch: &Batch, answers: Answers<'_>) {
        self.search.tell(batch, answers);
    }

    /// Takes the answer of the search if it is no worse than the stored one.
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

/// The best candidate that has not been refined yet.
fn unseen(evaluated: &Evaluated) -> Option<usize> {
    let rest = (0..evaluated.solved.len()).filter(|index| !evaluated.looked.contains(index));
    let best = rest.min_by(|&i, &j| order::compare(&evaluated.solved[i].upper, &evaluated.solved[j].upper));
    best.filter(|&index| !evaluated.solved[index].upper.is_failed())
}

impl Refinement {
    /// Records the upper evaluation; if it failed, the solution stays as it was.
    pub(crate) fn judge(&mut self, answers: Answers<'_>, evaluated: &mut Evaluated, run: &RunView<'_>) {
        match answers.outcomes.first() {
            Some(outcome) if !outcome.is_failed() => {
                self.target.judge(run.spec, outcome, answers.constraints(0));
                evaluated.refined = (self.origin == Origin::Elite).then(|| self.target.clone());
            }
            _ => {
                let before = match self.origin {
                    Origin::Elite => run.elite.as_ref(),
                    Origin::Candidate(index) => evaluated.solved.get(index),
                };
                before.into_iter().for_each(|before| self.target = before.clone());
            }
        }
    }

    /// Stores the solution: a refined elite replaces itself, and a refined candidate replaces the elite if it is no
    /// worse.
    pub(crate) fn settle(self, evaluated: &mut Evaluated, elite: &mut Option<Solved>) {
        match self.origin {
            Origin::Elite => *elite = Some(self.target),
            Origin::Candidate(index) => {
                evaluated.looked.push(index);
                if elite.as_ref().is_none_or(|elite| order::not_worse(&self.target.upper, &elite.upper)) {
                    *elite = Some(self.target.clone());
                }
                evaluated.solved[index] = self.target;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Level, LevelSpec};
    use crate::record::LowerSearches;
    use crate::rng::Streams;
    use crate::upper::UpperSetup;

    fn solved(x: f64, value: f64) -> Solved {
        let of = |value| Outcome { value, violation: 0.0 };
        Solved { x: vec![x], y: vec![x], upper: of(value), upper_constraints: vec![], lower: of(1.0), converged: true }
    }

    fn spec() -> ProblemSpec {
        let level = || LevelSpec::boxed(vec![(-1.0, 1.0)]);
        ProblemSpec::new("scripted", level(), level())
    }

    /// Calls with a refiner, the run's view and the upper strategy, in a generation with an elite.
    fn with_run<T>(
        probability: f64,
        generation: u64,
        elite: &mut Option<Solved>,
        call: impl FnOnce(&mut Refiner, &RunView<'_>, &mut UpperState) -> T,
    ) -> T {
        let (spec, streams) = (spec(), Streams::new(3));
        let mut config = Config::default();
        config.refine.probability = probability;
        let sizes = config.check(&spec).unwrap();
        let start = &mut streams.open(Purpose::Start, 0, 0);
        let setup = UpperSetup { spec: &spec, config: &config, population: 6, mean: None, start };
        let mut upper = UpperState::new(config.upper.kind, setup);
        let mut refiner = Refiner::new(&spec, &config, &sizes);
        let (mut batch, mut searches) = (Batch::new(&spec), LowerSearches::default());
        let run = RunView {
            spec: &spec,
            streams,
            generation,
            issued: 0,
            lower_budget_is_spent: false,
            left: (u64::MAX, u64::MAX),
            batch: &mut batch,
            elite,
            searches: &mut searches,
            lean: &mut 0.0,
        };
        call(&mut refiner, &run, &mut upper)
    }

    /// Where the refined solution comes from.
    fn chosen(probability: f64, generation: u64, best: Option<f64>, elite: Option<f64>) -> Option<Origin> {
        let solved_ones: Vec<Solved> = [Some(7.0), best].into_iter().flatten().map(|v| solved(0.1, v)).collect();
        let evaluated = Evaluated { best: best.map(|_| 1), solved: solved_ones, ..Evaluated::default() };
        let mut elite = elite.map(|value| solved(0.9, value));
        with_run(probability, generation, &mut elite, |refiner, run, upper| {
            refiner.open(&evaluated, run, upper).map(|refinement| refinement.origin)
        })
    }

    #[test]
    fn a_worse_candidate_is_refined_if_the_coin_says_so() {
        let candidate = Some(Origin::Candidate(1));
        assert_eq!(chosen(0.0, 1, Some(2.0), Some(1.0)), Some(Origin::Elite));
        assert_eq!(chosen(1.0, 1, Some(2.0), Some(1.0)), candidate);
        assert_eq!(chosen(0.0, 1, Some(1.0), Some(1.0)), candidate, "not worse");
        assert_eq!(chosen(0.0, 1, Some(0.0), Some(1.0)), candidate, "better");
        assert_eq!(chosen(0.0, 1, Some(2.0), None), candidate, "no elite yet");
        assert_eq!(chosen(1.0, 1, None, Some(1.0)), Some(Origin::Elite), "nobody else");
        assert_eq!(chosen(1.0, 1, None, None), None);
        let heads = (1..=200).filter(|&g| chosen(0.5, g, Some(2.0), Some(1.0)) == candidate).count();
        assert!((70..=130).contains(&heads), "{heads} of 200");
    }

    #[test]
    fn the_refined_answer_is_taken_over_unless_it_is_worse() {
        for (value, taken) in [(0.5, true), (1.0, true), (1.5, false)] {
            let mut elite = Some(solved(0.9, 1.0));
            let refinement = with_run(0.0, 1, &mut elite, |refiner, run, upper| {
                let mut refinement = refiner.open(&Evaluated::default(), run, upper).unwrap();
                let mut batch = Batch::new(&spec());
                batch.start(Level::Lower, 0);
                refiner.ask(&mut batch);
                assert!(!batch.is_empty());
                let outcomes = vec![Outcome { value, violation: 0.0 }; batch.len()];
                refiner.tell(&batch, Answers::without_constraints(&outcomes));
                assert_eq!(refiner.improve(&mut refinement), taken);
                refinement
            });
            assert_eq!(refinement.target.y != [0.9], taken);
            assert_eq!(refinement.target.lower.value, if taken { value } else { 1.0 });
        }
    }

    /// The upper evaluation of a refined solution gave `value`, or failed.
    fn judged(origin: Origin, value: Option<f64>) -> (Evaluated, Option<Solved>) {
        let mut evaluated = Evaluated { best: Some(0), solved: vec![solved(0.1, 2.0)], ..Evaluated::default() };
        let mut elite = Some(solved(0.9, 1.0));
        let target = Solved { y: vec![0.5], ..solved(0.4, 3.0) };
        let mut refinement = Refinement { before: target.lower, target, origin };
        let outcome = value.map_or(Outcome::FAILED, |value| Outcome { value, violation: 0.0 });
        with_run(0.0, 1, &mut elite, |_, run, _| {
            refinement.judge(Answers::without_constraints(&[outcome]), &mut evaluated, run);
        });
        refinement.settle(&mut evaluated, &mut elite);
        (evaluated, elite)
    }

    #[test]
    fn a_refined_solution_goes_where_it_belongs() {
        // The elite replaces itself, for better or worse, and is remembered as evaluated anew.
        let (evaluated, elite) = judged(Origin::Elite, Some(5.0));
        assert_eq!(elite.as_ref().map(|e| (e.x[0], e.upper.value)), Some((0.4, 5.0)));
        assert_eq!((evaluated.refined, evaluated.solved[0].x[0]), (elite, 0.1));
        // A candidate replaces itself, and the elite if it is not worse.
        for (value, elite_x) in [(0.5, 0.4), (1.0, 0.4), (1.5, 0.9)] {
            let (evaluated, elite) = judged(Origin::Candidate(0), Some(value));
            assert_eq!((elite.unwrap().x[0], evaluated.solved[0].x[0]), (elite_x, 0.4), "{value}");
            assert_eq!(evaluated.refined, None);
        }
        // A failed evaluation changes nothing.
        let (evaluated, elite) = judged(Origin::Elite, None);
        assert_eq!((elite.unwrap().x[0], evaluated.refined), (0.9, None));
        let (evaluated, elite) = judged(Origin::Candidate(0), None);
        assert_eq!((elite.unwrap().x[0], evaluated.solved[0].x[0]), (0.9, 0.1));
    }
}
