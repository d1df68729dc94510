//! The joint-quadratic method: what you get when you name no other.
//!
//! All lower evaluations of all tasks lie in one space (x, y), and one smooth function with few
//! constraints explains them all. So a *joint* local model learns from every task at once, and its
//! minimiser over y at a given x is the follower's answer, for a few evaluations instead of fifty.
//!
//! A run is a sequence of restarts of two kinds: descents from one point (`descent`), as long as they
//! come to their end at the same value, and populations (`population`), which a short descent finishes.
//! At the end of each, the follower of its incumbent gets a second look without the joint model
//! (`recheck`), and the elite is tested with the answer found; without both, runs end at decisions whose
//! follower is not solved. Where that answer lies in another basin, a descent goes on from it, or the best
//! decision is searched for that the former answer allows (`border`). The run ends when several restarts
//! agree (`restarts`), after a descent from near the ends of the box, a look at the follower's other minima
//! (`hopes`) and searches for decisions that leave the follower indifferent (`ties`).

mod archive;
mod border;
pub mod config;
mod coordinates;
pub mod descent;
mod follower;
mod hopes;
mod minimiser;
mod model;
mod population;
pub(crate) mod quadratic;
mod recheck;
mod response;
mod restarts;
mod rivals;
mod scan;
mod scheme;
mod searches;
mod solution;
mod ties;
mod words;

use crate::candidate::Solved;
use crate::config::Config;
use crate::engine::{RunView, SchemeFacts, SchemeSetup};
use crate::problem::{Level, Outcome, ProblemSpec};
use border::Border;
use descent::{Descent, Incumbent};
use follower::Answer;
use hopes::Hopes;
use population::{Origin, Population, Start, World};
use recheck::Recheck;
use restarts::NearEnds;
use searches::{Knowledge, Wanted};
use serde::{Deserialize, Serialize};
use solution::Solution;
use ties::Ties;

/// Relative difference of F within which two restarts agree.
const AGREEMENT: f64 = 1e-3;

/// Size of a descent that goes on with another answer, relative to that of the first one.
const ANEW: f64 = 0.25;

/// Where a restart stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Phase {
    /// A descent from one point.
    Descend(Box<Descent>),
    /// The population searches.
    Search,
    /// Its incumbent is looked at again.
    Recheck(Box<Recheck>),
    /// The elite is tested with the answer of the new incumbent.
    CrossCheck(Box<Recheck>),
    /// Where it owed its value to an answer that is not the follower's, the best that this answer allows.
    Border(Box<Border>),
    /// The elite is looked at before the run ends.
    LastLook(Box<Recheck>),
    Finished,
}

/// The state of the method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JointQuadratic {
    config: Config,
    /// Candidates in a generation.
    size: usize,
    knowledge: Knowledge,
    population: Population,
    phase: Phase,
    /// Populations so far.
    restarts: u64,
    /// Descents so far.
    descents: u64,
    /// Whether the present restart is one, and whether the latest one came to its end.
    descending: bool,
    descends: bool,
    /// Evaluations of a descent; none for none.
    descent_budget: u64,
    elite: Option<Solution>,
    /// Restarts that ended at the elite's value, and how many of them were populations.
    agreeing: (usize, usize),
    /// Looks at an answer without the model, and how many of them found a better one.
    rechecks: (u64, u64),
    wanted: Wanted,
    /// Whether a decision of the descent was just judged: a generation of its own.
    judged: bool,
    /// Searches for answers the follower is indifferent between.
    ties: Ties,
    /// Whether a descent went on from where the present restart stood.
    finished: bool,
    near_ends: NearEnds,
    /// Decisions that would pay with another answer.
    hopes: Hopes,
}

impl JointQuadratic {
    pub(crate) const FACTS: SchemeFacts = SchemeFacts { steps: words::steps };

    /// The method at its start.
    pub fn new(setup: SchemeSetup<'_>) -> Self {
        let SchemeSetup { spec, config, sizes, streams } = setup;
        let start = Start {
            spec,
            config,
            size: sizes.population,
            streams,
            restart: 1,
            generation: 0,
            origin: Origin::Anywhere,
            accuracy: 0.0,
        };
        let budget = restarts::descent_budget(config, spec);
        let phase = if budget > 0 { restarts::descent(budget, spec, streams, 1) } else { Phase::Search };
        JointQuadratic {
            knowledge: Knowledge::new(spec, population::EFFORT.0),
            population: Population::new(&start),
            config: config.clone(),
            size: sizes.population,
            restarts: u64::from(matches!(phase, Phase::Search)),
            descents: u64::from(!matches!(phase, Phase::Search)),
            descending: !matches!(phase, Phase::Search),
            descends: false,
            descent_budget: budget,
            phase,
            elite: None,
            agreeing: (0, 0),
            rechecks: (0, 0),
            wanted: Vec::new(),
            judged: false,
            ties: Ties::default(),
            finished: false,
            near_ends: NearEnds::ToCome,
            hopes: Hopes::default(),
        }
    }

    /// Goes on until points are wanted or the run is over; not beyond the end of a generation
    /// unless another may be opened.
    fn advance(&mut self, open: bool, run: &mut RunView<'_>) {
        while self.wanted.is_empty() {
            match &mut self.phase {
                Phase::Descend(descent) if !descent.finished() => {
                    if self.judged && !open {
                        return;
                    }
                    self.judged = false;
                    if run.lower_budget_is_spent {
                        descent.cut();
                    }
                    descent.ask(run.batch, run.issued);
                    if !run.batch.is_empty() {
                        return;
                    }
                }
                Phase::Descend(_) => {}
                Phase::Search => {
                    if self.ties.have_had_enough(run.issued) {
                        self.population.end();
                    }
                    let leant = self.ties.is_leaning() && self.population.ended();
                    if self.population.between_generations() && !open && !leant {
                        return;
                    }
                    if self.population.ended() && self.may_finish() && !self.is_wary() {
                        self.finish(run.spec, self.population.narrowed());
                        continue;
                    }
                    let mut world = world(&self.config, &mut self.knowledge, run);
                    self.population.ask(&mut world, &mut self.wanted);
                }
                Phase::Recheck(check) | Phase::CrossCheck(check) | Phase::LastLook(check) => {
                    if run.lower_budget_is_spent && check.level() == Level::Lower {
                        return;
                    }
                    check.ask(run.spec, run.streams, &mut self.knowledge, &mut self.wanted);
                }
                Phase::Border(border) => {
                    if run.lower_budget_is_spent && border.level() == Level::Lower {
                        return;
                    }
                    border.ask(run.spec, &mut self.wanted);
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
            Phase::Recheck(check) | Phase::CrossCheck(check) | Phase::LastLook(check) => check.level(),
            Phase::Border(border) => border.level(),
            _ => self.population.level(),
        };
        run.ask(level);
        for point in &self.wanted {
            let (x, y) = point.split_at(run.spec.upper.dim());
            run.batch.push(x).copy_from_slice(y);
        }
    }

    /// From the end of a phase to the next one.
    fn proceed(&mut self, run: &mut RunView<'_>) {
        match std::mem::replace(&mut self.phase, Phase::Finished) {
            Phase::Descend(descent) => match self.descended(&descent, run.spec) {
                // A descent that was cut short has nothing to show for itself, unless it began with more.
                Some(solution) if descent.converged() || self.improves(&solution) => {
                    self.descends |= self.descending && descent.converged();
                    self.population.incumbent = Some(solution.clone());
                    self.phase = Phase::Recheck(Box::new(self.second_look(solution)));
                }
                _ if self.finished => {
                    self.phase = match &self.population.incumbent {
                        Some(incumbent) if self.descending => {
                            Phase::Recheck(Box::new(self.second_look(incumbent.clone())))
                        }
                        _ => Phase::Search,
                    };
                }
                _ if self.near_ends == NearEnds::UnderWay => self.go_on(run),
                reached => {
                    self.descends = false;
                    self.restart(run);
                    self.population.fruitless = reached.is_none();
                }
            },
            Phase::Search if !self.population.ended() => self.phase = Phase::Search,
            Phase::Search if self.ties.is_leaning() => self.lean_less(run),
            Phase::Search => match self.population.incumbent.clone() {
                Some(incumbent) => self.phase = Phase::Recheck(Box::new(self.second_look(incumbent))),
                None => self.restart(run),
            },
            Phase::Recheck(check) => {
                let Recheck { solution, hoped, tied, exposed, moved, .. } = *check;
                self.ties.seen |= tied;
                self.rechecks.0 += 1;
                self.rechecks.1 += u64::from(exposed);
                self.knowledge.rivals.push(&solution.x, &solution.answer.y);
                match hoped.filter(|hoped| self.may_keep_to_border(hoped)) {
                    Some(hoped) => self.keep_to_border(hoped, false, solution, run.spec),
                    None => self.rechecked(solution, moved, run),
                }
            }
            Phase::Border(border) => self.leave_border(*border, run),
            Phase::LastLook(check) => self.looked(*check, run),
            Phase::CrossCheck(check) => {
                self.rechecks.0 += 1;
                self.rechecks.1 += u64::from(check.exposed);
                self.elite = Some(check.solution);
                self.conclude(run);
            }
            Phase::Finished => {}
        }
    }

    /// Whether a descent from where the restart stood led to something better.
    fn improves(&self, solution: &Solution) -> bool {
        let before = self.population.incumbent.as_ref().filter(|_| self.finished);
        solution.answer.settled && before.is_some_and(|before| solution.compare(before).is_lt())
    }

    /// From a recheck on, with the answer that it left.
    fn rechecked(&mut self, solution: Solution, moved: bool, run: &mut RunView<'_>) {
        let known = vec![solution.answer.y.clone()];
        self.population.incumbent = Some(solution);
        // A descent cannot handle a follower with several basins, but may continue in a better one.
        self.descends &= !moved;
        self.hopes.several |= moved;
        if moved && self.may_finish() {
            return self.finish(run.spec, ANEW);
        }
        let generation = self.population.generation();
        match self.elite.take() {
            Some(elite) => {
                self.phase = Phase::CrossCheck(Box::new(
                    Recheck::new(elite, known, 0, false, generation).under(self.config.position.kind),
                ));
            }
            None => self.conclude(run),
        }
    }

    /// Where a descent stands.
    fn descended(&self, descent: &Descent, spec: &ProblemSpec) -> Option<Solution> {
        let Incumbent { x, y, upper, lower, settled } = descent.incumbent()?;
        let outcome = |level, row: &[f64]| Outcome { value: row[0], violation: spec.violation(level, &row[1..]) };
        let (above, below) = (outcome(Level::Upper, &upper), outcome(Level::Lower, &lower));
        let answer = Answer { y, outcome: below, constraints: lower[1..].to_vec(), settled };
        Some(Solution::new(spec, x, answer, above, &upper[1..]))
    }

    fn second_look(&self, incumbent: Solution) -> Recheck {
        let elite = self.elite.iter().map(|elite| &elite.answer.y);
        let known = self.knowledge.rivals.answers().chain(elite).cloned().collect();
        Recheck::new(incumbent, known, self.config.jq.rechecks, true, self.population.generation())
            .under(self.config.position.kind)
    }

    /// The best solution: the rechecked elite, or the present incumbent if that is better. Where the
    /// follower has several basins, only a recheck can tell.
    fn best(&self) -> Option<Solved> {
        let incumbent = self.population.incumbent.as_ref().filter(|_| !self.ties.is_leaning());
        let incumbent = incumbent.filter(|s| s.answer.settled && !self.hopes.several || self.elite.is_none());
        let all = self.elite.iter().chain(incumbent);
        all.min_by(|a, b| a.compare(b)).map(Solution::as_solved)
    }

    /// Whether `solution` is the rechecked elite.
    fn is_elite(&self, solution: &Solved) -> bool {
        self.elite.as_ref().is_some_and(|elite| elite.x == solution.x && elite.answer.y == solution.y)
    }
}

/// The surroundings of a population.
fn world<'a>(config: &'a Config, knowledge: &'a mut Knowledge, run: &'a mut RunView<'_>) -> World<'a> {
    World {
        spec: run.spec,
        config: &config.jq,
        position: config.position.kind,
        streams: run.streams,
        lower_budget_is_spent: run.lower_budget_is_spent,
        knowledge,
        searches: run.searches,
    }
}
