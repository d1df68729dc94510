//! The joint-quadratic method: what you get when you name no other.
//!
//! All lower evaluations of all tasks lie in one space (x, y), and one smooth function with few
//! constraints explains them all. So a *joint* local model learns from every task at once, and its
//! minimiser over y at a given x is the follower's answer, for a few evaluations instead of fifty.
//!
//! A run is a sequence of restarts ([`population`]). At the end of each, the follower of its
//! incumbent gets a second look without any model ([`recheck`]), and the elite is tested with the
//! answer found; without both, runs end at decisions whose follower is not solved. The run ends
//! when several restarts agree.

mod archive;
mod cholesky;
pub mod config;
mod coordinates;
pub mod descent;
mod follower;
mod minimiser;
mod model;
mod population;
mod process;
mod quadratic;
mod recheck;
mod response;
mod rivals;
mod searches;
mod solution;
mod step;

use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::Config;
use crate::engine::{Outlook, Readings, RunView, Scheme, SchemeSetup};
use crate::problem::Level;
use crate::record::StopReason;
use population::{Population, Start, World};
use recheck::Recheck;
use searches::{Knowledge, Wanted};
use serde::{Deserialize, Serialize};
use solution::Solution;

/// Relative difference of F within which two restarts agree.
const AGREEMENT: f64 = 1e-3;

/// Where a restart stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Phase {
    /// The population searches.
    Search,
    /// Its incumbent is looked at again.
    Recheck(Box<Recheck>),
    /// The elite is tested with the answer of the new incumbent.
    CrossCheck(Box<Recheck>),
    Finished,
}

/// The state of the method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JointQuadratic {
    config: Config,
    /// Candidates in a generation.
    size: usize,
    knowledge: Knowledge,
    population: Population,
    phase: Phase,
    restarts: u64,
    elite: Option<Solution>,
    /// Restarts that ended at the elite's value.
    agreeing: usize,
    wanted: Wanted,
}

impl JointQuadratic {
    /// The method at its start.
    pub(crate) fn new(setup: SchemeSetup<'_>) -> Self {
        let SchemeSetup { spec, config, settings, streams } = setup;
        let start = Start { spec, config, size: settings.population, streams, restart: 1, generation: 0 };
        JointQuadratic {
            knowledge: Knowledge::new(spec, population::EFFORT.0),
            population: Population::new(&start),
            config: config.clone(),
            size: settings.population,
            phase: Phase::Search,
            restarts: 1,
            elite: None,
            agreeing: 0,
            wanted: Vec::new(),
        }
    }

    /// Goes on until points are wanted or the run is over; not beyond the end of a generation
    /// unless another may be opened.
    fn advance(&mut self, open: bool, run: &mut RunView<'_>) {
        while self.wanted.is_empty() {
            match &mut self.phase {
                Phase::Search => {
                    if self.population.between_generations() && !open {
                        return;
                    }
                    let mut world = world(&self.config, &mut self.knowledge, run);
                    self.population.ask(&mut world, &mut self.wanted);
                }
                Phase::Recheck(check) | Phase::CrossCheck(check) => {
                    if run.lower_budget_is_spent && check.level() == Level::Lower {
                        return;
                    }
                    check.ask(run.spec, run.streams, &mut self.knowledge, &mut self.wanted);
                }
                Phase::Finished => return,
            }
            if self.wanted.is_empty() {
                self.proceed(run);
            }
        }
        self.hand_out(run);
    }

    /// Puts the wanted points into the batch.
    fn hand_out(&self, run: &mut RunView<'_>) {
        let level = match &self.phase {
            Phase::Recheck(check) | Phase::CrossCheck(check) => check.level(),
            _ => self.population.level(),
        };
        run.ask(level);
        for point in &self.wanted {
            let (x, y) = point.split_at(run.spec.upper.dim());
            run.batch.push(x).copy_from_slice(y);
        }
    }

    /// From the end of a phase to the next one.
    fn proceed(&mut self, run: &RunView<'_>) {
        match std::mem::replace(&mut self.phase, Phase::Finished) {
            Phase::Search if !self.population.ended() => self.phase = Phase::Search,
            Phase::Search => match self.population.incumbent.clone() {
                Some(incumbent) => self.phase = Phase::Recheck(Box::new(self.second_look(incumbent))),
                None => self.restart(run),
            },
            Phase::Recheck(check) => {
                let Recheck { solution, .. } = *check;
                self.knowledge.rivals.push(&solution.x, &solution.answer.y);
                let known = vec![solution.answer.y.clone()];
                self.population.incumbent = Some(solution);
                let generation = self.population.generation();
                match self.elite.take() {
                    Some(elite) => {
                        self.phase = Phase::CrossCheck(Box::new(Recheck::new(elite, known, 0, false, generation)));
                    }
                    None => self.conclude(run),
                }
            }
            Phase::CrossCheck(check) => {
                self.elite = Some(check.solution);
                self.conclude(run);
            }
            Phase::Finished => {}
        }
    }

    fn second_look(&self, incumbent: Solution) -> Recheck {
        let elite = self.elite.iter().map(|elite| &elite.answer.y);
        let known = self.knowledge.rivals.answers().chain(elite).cloned().collect();
        Recheck::new(incumbent, known, self.config.jq.rechecks, true, self.population.generation())
    }

    /// Compares the incumbent of a restart with the elite and goes on or ends.
    fn conclude(&mut self, run: &RunView<'_>) {
        let Some(incumbent) = self.population.incumbent.take() else { return self.restart(run) };
        match &self.elite {
            Some(elite) if incumbent.agrees(elite, AGREEMENT) => self.agreeing += 1,
            Some(elite) if incumbent.compare(elite).is_ge() => {}
            _ => self.agreeing = 1,
        }
        if self.elite.as_ref().is_none_or(|elite| incumbent.compare(elite).is_le()) {
            self.elite = Some(incumbent);
        }
        if self.agreeing < self.config.jq.agree || self.config.jq.agree == 0 {
            self.restart(run);
        }
    }

    fn restart(&mut self, run: &RunView<'_>) {
        self.restarts += 1;
        self.population = Population::new(&Start {
            spec: run.spec,
            config: &self.config,
            size: self.size,
            streams: run.streams,
            restart: self.restarts,
            generation: self.population.generation() + 1,
        });
        self.knowledge.effort = self.knowledge.effort.max(population::EFFORT.0);
        self.phase = Phase::Search;
    }

    /// The best solution: the rechecked elite, or the present incumbent if that is better.
    fn best(&self) -> Option<Solved> {
        let incumbent = self.population.incumbent.as_ref().filter(|s| s.answer.settled || self.elite.is_none());
        let all = self.elite.iter().chain(incumbent);
        all.min_by(|a, b| a.compare(b)).map(Solution::as_solved)
    }
}

/// The surroundings of a population.
fn world<'a>(config: &'a Config, knowledge: &'a mut Knowledge, run: &'a mut RunView<'_>) -> World<'a> {
    World {
        spec: run.spec,
        config: &config.jq,
        streams: run.streams,
        lower_budget_is_spent: run.lower_budget_is_spent,
        knowledge,
        searches: run.searches,
    }
}

impl Scheme for JointQuadratic {
    fn open(&mut self, run: &mut RunView<'_>) {
        self.advance(true, run);
    }

    fn tell(&mut self, _batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>) {
        let wanted = std::mem::take(&mut self.wanted);
        match &mut self.phase {
            Phase::Search => {
                let mut world = world(&self.config, &mut self.knowledge, run);
                self.population.tell(&mut world, &wanted, &answers);
            }
            Phase::Recheck(check) | Phase::CrossCheck(check) => {
                check.tell(run.spec, &mut self.knowledge, &wanted, &answers);
            }
            Phase::Finished => {}
        }
        self.advance(false, run);
    }

    fn close(&mut self, run: &mut RunView<'_>) -> Outlook {
        *run.elite = self.best();
        Outlook {
            best: self.population.latest.as_ref().map(Solution::as_solved),
            all_failed: matches!(self.phase, Phase::Search) && self.population.fruitless,
            stop: matches!(self.phase, Phase::Finished).then_some(StopReason::Agreed),
        }
    }

    fn is_refining(&self) -> bool {
        !matches!(self.phase, Phase::Search) || self.population.is_verifying()
    }

    fn restarts(&self) -> bool {
        true
    }

    fn training_due(&self) -> bool {
        self.population.allocator.training_due()
    }

    fn train(&mut self, generation: u64) {
        self.population.allocator.train(generation);
    }

    fn model_summary(&self) -> (Option<f64>, u64) {
        self.population.allocator.model_summary()
    }

    fn readings(&self) -> Readings {
        self.population.readings()
    }
}
