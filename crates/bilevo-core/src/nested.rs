//! One generation of a nested search: every chosen decision gets its own lower search.
//!
//! sample -> allocate -> lower searches -> upper evaluation -> refine -> update -> learn
//!
//! Source: the common skeleton of BL-CMA-ES (He et al., 2018) and TLEA (Chen et al., 2021).

use crate::allocate::{Allocation, AllocatorSetup, AllocatorState, Sampled};
use crate::batch::{Answers, Batch};
use crate::candidate::{Candidate, Solved};
use crate::config::Config;
use crate::engine::{Outlook, Readings, RunView, Scheme, SchemeFacts, SchemeSetup};
use crate::lower::{LowerAnswer, LowerRules, LowerState};
use crate::order;
use crate::problem::{Follower, Level, Outcome, ProblemSpec};
use crate::record::{ModelSummary, StopReason, Verification};
use crate::refine::{Refinement, Refiner};
use crate::rng::Purpose;
use crate::upper::{Findings, UpperSetup, UpperState};
use serde::{Deserialize, Serialize};

/// The state of a nested search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Nested {
    upper: UpperState,
    allocator: AllocatorState,
    lower: LowerState,
    /// `None` if only the follower's own solver knows y.
    refiner: Option<Refiner>,
    phase: Phase,
    looks: Looks,
}

/// What refinement has shown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Looks {
    /// The number of refinements, and how many of them found a clearly better answer.
    rechecks: u64,
    corrected: u64,
    /// The elite (x, y) after its last refinement.
    elite: Option<(Vec<f64>, Vec<f64>)>,
}

/// By which part of 1 + |f| an answer must be better to count as a correction.
const CORRECTED: f64 = 1e-6;

impl Looks {
    /// Records a refinement that was searched to its end: what was refined, and the result.
    fn note(&mut self, before: Outcome, refined: &Solved, elite: Option<&Solved>) {
        let margin = CORRECTED * (1.0 + before.value.abs());
        let repaired = refined.lower.violation < before.violation;
        self.rechecks += 1;
        self.corrected += u64::from(repaired || refined.lower.value < before.value - margin);
        if elite == Some(refined) {
            self.elite = Some((refined.x.clone(), refined.y.clone()));
        }
    }
}

/// The current step of a generation, with its data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
enum Phase {
    /// Between two generations.
    #[default]
    Between,
    /// Lower searches for these candidates.
    Lower(Vec<Candidate>),
    /// Upper evaluation of their answers.
    Upper(Vec<Solved>),
    /// Lower search for the solution to refine.
    RefineLower(Evaluated, Refinement),
    /// Upper evaluation of the refined answer.
    RefineUpper(Evaluated, Refinement),
    /// All evaluations of the generation are done.
    Done(Evaluated),
}

/// The candidates of a generation that were searched and evaluated.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Evaluated {
    pub(crate) solved: Vec<Solved>,
    /// The best of them before refinement; `None` if all failed.
    pub(crate) best: Option<usize>,
    /// The elite, if it was refined and evaluated again.
    pub(crate) refined: Option<Solved>,
    /// Candidates that were refined.
    pub(crate) looked: Vec<usize>,
}

/// A generation in words.
fn steps(config: &Config) -> Vec<String> {
    let (upper, allocator) = (config.upper.kind.facts(), config.allocator.kind.facts());
    let search = config.lower.kind.facts().step;
    let cap = config.lower.max_generations.map(|cap| format!(" At most {cap} generations each."));
    let mut steps = vec![
        upper.sampling.to_string(),
        (allocator.choice)(config),
        format!("{search}{}", cap.unwrap_or_default()),
        "Evaluate the upper level once for each candidate with its follower's answer.".into(),
        "Refine the best candidate or the elite by another lower search.".into(),
        (upper.update)(config),
    ];
    steps.extend((allocator.training)(config));
    steps
}

impl Nested {
    pub(crate) const FACTS: SchemeFacts = SchemeFacts {
        steps,
        fits: |_| true,
        for_problems: "nothing in particular",
        with_solver: None,
        budget: 1,
        position: 1e-2,
        own_time: None,
    };

    /// A search that has not seen anything yet.
    pub fn new(setup: SchemeSetup<'_>) -> Self {
        let SchemeSetup { spec, config, sizes, streams } = setup;
        let allocator = AllocatorSetup { spec, config, streams };
        Nested {
            upper: upper(setup, None),
            allocator: AllocatorState::new(config.allocator.kind, allocator),
            lower: LowerState::new(config.lower.kind, LowerRules::new(spec, &config.lower, sizes)),
            refiner: (!spec.is_oracle_alone()).then(|| Refiner::new(spec, config, sizes)),
            phase: Phase::Between,
            looks: Looks::default(),
        }
    }

    /// Samples candidates until the allocator has chosen among them.
    fn choose(&mut self, run: &mut RunView<'_>) -> Vec<Candidate> {
        let population = self.upper.population();
        let mut candidates = Vec::new();
        let mut round = 0;
        let chosen = loop {
            candidates.extend(self.upper.sample(&mut run.stream(Purpose::Sample, round as u64)));
            let sampled = Sampled { candidates: &candidates, population, round };
            match self.allocator.allocate(&sampled, &mut run.stream(Purpose::Allocate, round as u64)) {
                Allocation::Run(chosen) => break chosen,
                Allocation::Resample => round += 1,
            }
        };
        run.searches.run += chosen.len() as u64;
        // A strategy may offer fewer.
        run.searches.skipped += population.min(candidates.len()).saturating_sub(chosen.len()) as u64;
        run.searches.resampled += (round * population) as u64;
        chosen.iter().map(|&index| candidates[index].clone()).collect()
    }

    /// The next round of the lower searches, or the upper evaluation of their answers.
    fn ask_lower(&mut self, running: Vec<Candidate>, run: &mut RunView<'_>) {
        run.ask(Level::Lower);
        if !run.lower_budget_is_spent {
            self.lower.ask(run.batch);
        }
        if !run.batch.is_empty() {
            self.phase = Phase::Lower(running);
            return;
        }
        let mut solved: Vec<Solved> = running.into_iter().zip(self.lower.answers()).map(answered).collect();
        let asked = if run.spec.follower == Follower::Oracle { answered_first(&mut solved) } else { solved.len() };
        run.ask_upper(&solved[..asked]);
        self.phase =
            if asked > 0 { Phase::Upper(solved) } else { Phase::Done(Evaluated { solved, ..Evaluated::default() }) };
    }

    /// Opens the refinement of the best candidate or the elite.
    fn refine(&mut self, evaluated: Evaluated, run: &mut RunView<'_>) {
        let refiner = self.refiner.as_mut();
        match refiner.and_then(|refiner| refiner.open(&evaluated, run, &mut self.upper)) {
            Some(refinement) => self.ask_refinement(evaluated, refinement, run),
            None => {
                // The answer of the follower's own solver is final.
                let best = evaluated.best.map(|index| &evaluated.solved[index]).filter(|_| self.refiner.is_none());
                let beats = |best: &&Solved| match run.elite {
                    Some(elite) => order::not_worse(&best.upper, &elite.upper),
                    None => true,
                };
                if let Some(best) = best.filter(beats) {
                    *run.elite = Some(best.clone());
                }
                self.phase = Phase::Done(evaluated);
            }
        }
    }

    /// The next round of the refining search. At its end, asks for an upper evaluation if the answer is worth one.
    fn ask_refinement(&mut self, mut evaluated: Evaluated, mut refinement: Refinement, run: &mut RunView<'_>) {
        run.ask(Level::Lower);
        if let Some(refiner) = self.refiner.as_mut().filter(|_| !run.lower_budget_is_spent) {
            refiner.ask(run.batch);
        }
        self.phase = if !run.batch.is_empty() {
            Phase::RefineLower(evaluated, refinement)
        } else if let Some(refiner) = self.refiner.as_ref().filter(|refiner| refiner.improve(&mut refinement)) {
            self.lower.learn_refined(refiner.search(), &refinement.target.x, &refinement.target.y);
            run.ask_upper(std::slice::from_ref(&refinement.target));
            Phase::RefineUpper(evaluated, refinement)
        } else {
            self.settle(refinement, &mut evaluated, run);
            return self.refine_others(evaluated, run);
        };
    }

    /// Continues with the next candidate that would become the elite, if all of those are refined.
    fn refine_others(&mut self, evaluated: Evaluated, run: &mut RunView<'_>) {
        match self.refiner.as_ref().is_some_and(Refiner::looks_at_all) && !run.lower_budget_is_spent {
            true => self.refine(evaluated, run),
            false => self.phase = Phase::Done(evaluated),
        }
    }

    /// Ends a refinement.
    fn settle(&mut self, refinement: Refinement, evaluated: &mut Evaluated, run: &mut RunView<'_>) {
        let (before, refined) = (refinement.before, refinement.target.clone());
        refinement.settle(evaluated, run.elite);
        // A search that was cut short does not count as a recheck.
        if !run.lower_budget_is_spent {
            self.looks.note(before, &refined, run.elite.as_ref());
        }
    }
}

/// The upper strategy at its start: at a point (x, y), or anywhere.
fn upper(setup: SchemeSetup<'_>, mean: Option<&[f64]>) -> UpperState {
    let SchemeSetup { spec, config, sizes, streams } = setup;
    let start = &mut streams.open(Purpose::Start, 0, 0);
    UpperState::new(config.upper.kind, UpperSetup { spec, config, population: sizes.population, mean, start })
}

impl Scheme for Nested {
    fn open(&mut self, run: &mut RunView<'_>) {
        let running = self.choose(run);
        let prior = self.upper.lower_prior(&running);
        self.lower.open(&prior.tasks(&running), &prior.metric, run.search_streams(Purpose::Lower));
        self.ask_lower(running, run);
    }

    fn tell(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>) {
        match std::mem::take(&mut self.phase) {
            Phase::Lower(running) => {
                self.lower.tell(batch, answers);
                self.ask_lower(running, run);
            }
            Phase::Upper(solved) => {
                let evaluated = Evaluated::new(solved, answers, run.spec);
                self.refine(evaluated, run);
            }
            Phase::RefineLower(evaluated, refinement) => {
                self.refiner.iter_mut().for_each(|refiner| refiner.tell(batch, answers));
                self.ask_refinement(evaluated, refinement, run);
            }
            Phase::RefineUpper(mut evaluated, mut refinement) => {
                refinement.judge(answers, &mut evaluated, run);
                match answers.outcomes.first() {
                    Some(outcome) if !outcome.is_failed() => self.settle(refinement, &mut evaluated, run),
                    // The follower has a better answer, but its F is unknown.
                    _ => refinement.settle(&mut evaluated, run.elite),
                }
                self.refine_others(evaluated, run);
            }
            phase @ (Phase::Between | Phase::Done(_)) => self.phase = phase,
        }
    }

    fn close(&mut self, run: &mut RunView<'_>) -> Outlook {
        let evaluated = match std::mem::take(&mut self.phase) {
            Phase::Done(evaluated) => evaluated,
            _ => Evaluated::default(),
        };
        let (generation, population) = (run.generation, self.upper.population());
        let findings = Findings { generation, population, solved: &evaluated.solved, elite: run.elite.as_ref() };
        self.upper.update(&findings);
        evaluated.refined.iter().for_each(|elite| self.allocator.notice(elite));
        self.allocator.learn(&evaluated.solved);
        Outlook {
            all_failed: evaluated.solved.iter().all(|s| s.upper.is_failed()),
            best: evaluated.best.map(|index| evaluated.solved[index].clone()),
            stop: self.upper.over(),
        }
    }

    fn restart(&mut self, setup: SchemeSetup<'_>, start: &[f64]) {
        self.upper = upper(setup, Some(start));
        self.phase = Phase::Between;
    }

    fn restarts(&self) -> bool {
        self.upper.restarts()
    }

    fn is_refining(&self) -> bool {
        matches!(self.phase, Phase::RefineLower(..))
    }

    fn training_due(&self) -> bool {
        self.allocator.training_due()
    }

    fn train(&mut self, generation: u64) {
        self.allocator.train(generation);
    }

    fn model_summary(&self) -> ModelSummary {
        self.allocator.model_summary()
    }

    fn verification(&self, solution: &Solved) -> Option<Verification> {
        let Looks { rechecks, corrected, elite } = &self.looks;
        let agreeing = self.upper.agreeing(solution.upper.value);
        Some(Verification {
            settled: solution.converged,
            rechecked: elite.as_ref().is_some_and(|(x, y)| *x == solution.x && *y == solution.y),
            rechecks: *rechecks,
            corrected: *corrected,
            agreed: self.upper.over() == Some(StopReason::Agreed),
            agreeing: agreeing.0,
            restarts: agreeing.1,
        })
    }

    fn readings(&self) -> Readings {
        Readings {
            step_size: self.upper.step_size(),
            axis_ratio: self.upper.axis_ratio(),
            model: self.allocator.model_record(),
        }
    }
}

/// A candidate with its follower's answer, not yet evaluated at the upper level.
fn answered((candidate, answer): (Candidate, LowerAnswer)) -> Solved {
    Solved {
        x: candidate.x,
        y: answer.y,
        upper: Outcome::FAILED,
        upper_constraints: Vec::new(),
        lower: answer.outcome,
        converged: answer.converged,
    }
}

/// Moves decisions that the follower's own solver could not answer to the end, because they have no y to evaluate.
/// Returns how many it answered.
fn answered_first(solved: &mut [Solved]) -> usize {
    solved.sort_by_key(|s| s.lower.is_failed());
    solved.iter().filter(|s| !s.lower.is_failed()).count()
}

impl Evaluated {
    fn new(mut solved: Vec<Solved>, answers: Answers<'_>, spec: &ProblemSpec) -> Self {
        for (index, (solved, outcome)) in solved.iter_mut().zip(answers.outcomes).enumerate() {
            solved.judge(spec, outcome, answers.constraints(index));
        }
        Evaluated { best: best(&solved), solved, ..Evaluated::default() }
    }
}

/// The best-ranked candidate among those whose lower search converged, or among all if none did.
fn best(solved: &[Solved]) -> Option<usize> {
    let anybody = solved.iter().any(|s| s.converged);
    let eligible = (0..solved.len()).filter(|&i| solved[i].converged || !anybody);
    let best = eligible.min_by(|&i, &j| order::compare(&solved[i].upper, &solved[j].upper));
    best.filter(|&index| !solved[index].upper.is_failed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_chosen_among_those_that_settled() {
        let task = |value: f64, violation: f64, converged: bool| Solved {
            x: vec![],
            y: vec![],
            upper: Outcome { value, violation },
            upper_constraints: vec![],
            lower: Outcome { value: 0.0, violation: 0.0 },
            converged,
        };
        let failed = |converged| Solved { upper: Outcome::FAILED, ..task(0.0, 0.0, converged) };
        assert_eq!(best(&[task(1.0, 0.0, false), task(3.0, 0.0, true), task(2.0, 0.0, true)]), Some(2));
        assert_eq!(best(&[task(3.0, 0.0, true), task(-9.0, 1.0, true)]), Some(0), "feasible first");
        assert_eq!(best(&[task(3.0, 0.0, false), task(2.0, 0.0, false)]), Some(1), "nobody settled");
        assert_eq!(best(&[task(2.0, 0.0, true), task(2.0, 0.0, true)]), Some(0), "ties by position");
        assert_eq!(best(&[task(3.0, 0.0, false), failed(true)]), None, "who settled, failed");
        assert_eq!(best(&[failed(false)]), None);
        assert_eq!(best(&[]), None);
    }
}
