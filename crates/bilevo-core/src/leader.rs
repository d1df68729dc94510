//! The default method for a follower with its own solver: a search over the leader's decisions alone.
//!
//! The solver's answer is y, so Φ(x) = F(x, y(x)) and G(x, y(x)) are functions of x, and each point costs one call of
//! the solver. A few decisions spread over the box come first. Then follow descents: each is a trust-region search on
//! a Gaussian process of Φ and G around its best point (`portfolio::follower`, without an x of its own). The first
//! starts at the best decision known, the others at the best of a few places that look most promising by a model of
//! the whole box (`overview.rs`, `probes.rs`). A descent that comes close to the end of an earlier one ends there and counts as
//! agreeing. Before a claim counts, the descent looks at points along every variable, because a model may not see a
//! step of the function. The run ends when enough descents agree on the best value.
//! An end at a kink, to which no model leads, is made exact by a pattern once a second descent has arrived there: most
//! such ends are left behind, and a pattern costs more than a restart.
//!
//! A restart that stays far above the best end and hardly gains is given up.
//!
//! If the function jumps, descents end at the nearest step and may agree on it (`ends.rs` says how to recognise a
//! jump). From then on, every restart is a population over the whole box. It ends at the edge of its step by a
//! pattern, and looks from there at other steps (`population.rs`, `pattern.rs`, `exchange.rs`, `brink.rs`,
//! `edge.rs`). Only these restarts count as agreeing.
//!
//! The solver only has to answer: it may fail in a part of the box, and its answers may jump.
//!
//! Randomness: `Purpose::Start` for the first decisions, `Purpose::Sample` for each new start.
//! Sources: trust regions on Gaussian processes (Eriksson et al., 2019; Wild and Shoemaker, 2013), starts by expected
//! improvement (Jones, Schonlau and Welch, 1998).

mod brink;
mod descent;
mod edge;
mod ends;
mod exchange;
mod overview;
mod pattern;
mod population;
mod probes;
mod search;
pub(crate) mod starts;

use crate::batch::{Answers, Batch};
use crate::candidate::Solved;
use crate::config::Config;
use crate::engine::{Known, Outlook, Readings, RunView, Scheme, SchemeFacts, SchemeSetup, best_pair};
use crate::oracle::OracleAnswer;
use crate::order;
use crate::portfolio::archive::{Learner, Points};
use crate::portfolio::follower::Knowledge;
use crate::portfolio::merit::Merit;
use crate::problem::{Level, Outcome, ProblemSpec};
use crate::record::{StopReason, Verification};
use crate::rng::Purpose;
use crate::space::Space;
use ends::{End, Ends};
use overview::Overview;
use search::{Search, Surroundings};
use serde::{Deserialize, Serialize};

/// The first lengths of the kernel, in units of the box.
const LENGTH: f64 = 0.3;
/// The number of decisions before the first descent: for each variable, in addition, at least, and at most.
const FIRST: [usize; 4] = [2, 1, 4, 25];

/// The state of the search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Leader {
    space: Space,
    /// Every decision that did not fail, in unit coordinates, with Φ and G.
    points: Points,
    /// What they taught, and how they are judged.
    knowledge: Knowledge,
    /// What is known about the whole box.
    overview: Overview,
    /// Decisions that failed.
    failed: Vec<Vec<f64>>,
    /// Decisions to ask about first, before others spread over the box.
    starts: Vec<Vec<f64>>,
    /// Points to ask about now or next, in unit coordinates.
    asked: Vec<Vec<f64>>,
    /// The same with the solver's answers.
    answered: Vec<Solved>,
    /// The current search; `None` while the first decisions are being evaluated.
    search: Option<Search>,
    /// Where searches ended.
    ends: Ends,
    stop: Option<StopReason>,
}

/// A decision in unit coordinates, with Φ and G there (none if it failed) and its worth.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Point {
    at: Vec<f64>,
    row: Vec<f64>,
    outcome: Outcome,
}

/// A generation in words.
fn steps(_: &Config) -> Vec<String> {
    let steps = [
        "Ask the follower's own solver about a decision, or about several at the start of a search.",
        "Evaluate the leader's objective and constraints at the answers.",
        "Step to the minimiser of a Gaussian process of them within a trust radius, or to where it learns most.",
        "When a search has ended, start another elsewhere, until enough end at the same value.",
    ];
    steps.map(String::from).into()
}

impl Leader {
    pub(crate) const FACTS: SchemeFacts = SchemeFacts {
        steps,
        fits: ProblemSpec::is_oracle_alone,
        for_problems: "a follower with its own solver and nothing else",
        with_solver: None,
        budget: 1,
        position: 1e-2,
        own_time: None,
    };

    /// A search that has seen nothing yet.
    pub fn new(setup: SchemeSetup<'_>) -> Self {
        let SchemeSetup { spec, config, .. } = setup;
        let learner = Learner::lasting(vec![LENGTH; spec.upper.dim()]);
        let merit = Merit::new(spec.upper.inequalities, spec.upper.equalities);
        Leader {
            space: spec.upper.space.clone(),
            points: Points::new(spec.upper.dim(), 1 + spec.upper.constraints()),
            knowledge: Knowledge { learner, merit },
            overview: Overview::new(spec.upper.dim()),
            failed: Vec::new(),
            starts: Vec::new(),
            asked: Vec::new(),
            answered: Vec::new(),
            search: None,
            ends: Ends::new(config.portfolio.effort, spec.upper.dim()),
            stop: None,
        }
    }

    /// Plans what to ask next: points of the current search, or of a new one.
    fn plan(&mut self, run: &RunView<'_>) {
        if self.points.len() == 0 {
            let round = self.failed.len() as u64;
            self.asked = std::mem::take(&mut self.starts);
            for point in starts::spread(&self.space, self.first(), &mut run.stream(Purpose::Start, round)) {
                if !self.asked.contains(&point) {
                    self.asked.push(point);
                }
            }
        }
        while self.asked.is_empty() && self.stop.is_none() {
            match self.search.take() {
                Some(search) if search.over().is_some() => {
                    self.stop = self.ends.finish(&search, &self.points, self.first(), &self.knowledge);
                }
                Some(search) => self.go_on(search, run),
                None => self.start(run),
            }
        }
    }

    /// Asks for the next points of the current search.
    fn go_on(&mut self, mut search: Search, run: &RunView<'_>) {
        let point = |at: &[f64], row: &[f64]| judged(run, at, row);
        let same = ends::same(&self.points);
        let Leader { points, knowledge, overview, failed, ends, space, .. } = self;
        let ends = &ends.list[..];
        let with = Surroundings { points, knowledge, overview, failed, ends, space, same, point: &point };
        let mut wanted = search.next(with, &mut run.stream(Purpose::Sample, 1));
        let some = !wanted.is_empty();
        wanted.retain(|point| !self.is_known(point));
        // Whole numbers and bounds may move a point onto a known one, which teaches nothing new.
        if some && wanted.is_empty() {
            search.refuse();
        }
        self.asked = wanted;
        self.search = Some(search);
    }

    /// Starts a descent from the best decision known, later from elsewhere; if the function jumps, a population.
    fn start(&mut self, run: &RunView<'_>) {
        let points = &self.points;
        let of = |index: usize| self.outcome(run, points.values(index));
        let best = (0..points.len()).min_by(|&i, &j| order::compare(&of(i), &of(j)));
        if let Some(best) = best.filter(|_| self.ends.are_open()) {
            let (at, row) = (points.point(best).to_vec(), points.values(best).to_vec());
            self.search = Some(Search::descent(at, row, self.ends.are_compared()));
        } else if let Some(index) = self.ends.unfinished() {
            self.search = Some(Search::polish(index, self.ends.list[index].point.clone(), &self.space));
        } else if self.ends.jumps {
            self.search = Some(Search::population());
        } else {
            self.search = Some(Search::elsewhere());
        }
    }

    fn is_known(&self, point: &[f64]) -> bool {
        (0..self.points.len()).any(|i| self.points.point(i) == point) || self.failed.iter().any(|f| f == point)
    }

    fn outcome(&self, run: &RunView<'_>, row: &[f64]) -> Outcome {
        judged(run, &[], row).outcome
    }

    /// How many decisions are spread over the box before the first descent.
    fn first(&self) -> usize {
        let [each, more, least, most] = FIRST;
        (each * self.space.dim() + more).clamp(least, most)
    }

    /// Asks the solver about decisions.
    fn ask(&mut self, run: &mut RunView<'_>) {
        if self.asked.is_empty() {
            self.plan(run);
        }
        run.ask(Level::Lower);
        if self.asked.is_empty() || run.lower_budget_is_spent {
            return;
        }
        run.searches.run += self.asked.len() as u64;
        run.batch.ask_follower();
        for point in &self.asked {
            run.batch.push(&self.space.from_unit(point));
        }
    }

    /// Takes the solver's answers; asks what they are worth.
    fn take_answers(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>) {
        let solved = |(index, (answer, outcome)): (usize, (&OracleAnswer, &Outcome))| Solved {
            x: batch.x(index).to_vec(),
            y: answer.y.clone(),
            upper: Outcome::FAILED,
            upper_constraints: Vec::new(),
            lower: *outcome,
            converged: !outcome.is_failed(),
        };
        self.answered = answers.given.iter().zip(answers.outcomes).enumerate().map(solved).collect();
        let usable: Vec<Solved> = self.answered.iter().filter(|s| s.converged).cloned().collect();
        if usable.is_empty() {
            self.learn(run);
        } else {
            run.ask_upper(&usable);
        }
    }

    /// Learns from the decisions asked about.
    fn learn(&mut self, run: &mut RunView<'_>) {
        for (point, solved) in std::mem::take(&mut self.asked).into_iter().zip(std::mem::take(&mut self.answered)) {
            let row = match solved.upper.is_failed() {
                true => Vec::new(),
                false => [&[solved.upper.value], &solved.upper_constraints[..]].concat(),
            };
            if row.is_empty() {
                self.failed.push(point.clone());
            } else {
                self.points.push(&point, &row);
            }
            let told = Point { at: point, row, outcome: solved.upper };
            self.overview.learn(if told.row.is_empty() { None } else { Some(self.knowledge.merit.of(&told.row)) });
            self.search.iter_mut().for_each(|search| search.tell(&told, &self.knowledge));
            let beats = |elite: &Solved| order::better(&solved.upper, &elite.upper);
            if !told.row.is_empty() && run.elite.as_ref().is_none_or(beats) {
                *run.elite = Some(solved);
            }
        }
    }
}

/// A point of the search with the worth of its values.
fn judged(run: &RunView<'_>, at: &[f64], row: &[f64]) -> Point {
    let violation = run.spec.violation(Level::Upper, &row[1..]);
    Point { at: at.to_vec(), row: row.to_vec(), outcome: Outcome { value: row[0], violation } }
}

impl Scheme for Leader {
    fn open(&mut self, run: &mut RunView<'_>) {
        self.ask(run);
    }

    fn tell(&mut self, batch: &Batch, answers: Answers<'_>, run: &mut RunView<'_>) {
        if batch.asks_follower() {
            self.take_answers(batch, answers, run);
            return;
        }
        let usable = self.answered.iter_mut().filter(|s| s.converged);
        for (index, (solved, outcome)) in usable.zip(answers.outcomes).enumerate() {
            solved.judge(run.spec, outcome, answers.constraints(index));
        }
        self.learn(run);
    }

    fn restart(&mut self, _setup: SchemeSetup<'_>, start: &[f64]) {
        self.search = None;
        self.asked = vec![self.space.to_unit(&start[..self.space.dim()])];
    }

    fn begin_at(&mut self, _setup: SchemeSetup<'_>, starts: &[Vec<f64>], _answered: bool) -> usize {
        let units = starts.iter().map(|start| self.space.to_unit(&start[..self.space.dim()]));
        // Known evaluations come with their own decisions, which are already waiting.
        let first = if self.asked.is_empty() { &mut self.starts } else { &mut self.asked };
        first.splice(0..0, units);
        starts.len()
    }

    /// The best decision is asked about first, which costs nothing; others all over the box only if few are known.
    fn recall(&mut self, setup: SchemeSetup<'_>, known: &[Known]) -> bool {
        let Some(best) = best_pair(setup.spec, known) else { return false };
        let unit = |index: usize| self.space.to_unit(&known[index].point[..self.space.dim()]);
        for index in (0..known.len()).filter(|index| *index != best) {
            let (point, row) = (unit(index), known[index].upper.as_deref().unwrap_or_default());
            self.points.push(&point, row);
        }
        let lacking = self.first().saturating_sub(self.points.len());
        let spread = starts::spread(&self.space, lacking, &mut setup.streams.open(Purpose::Start, 0, 0));
        self.asked = [vec![unit(best)], spread].concat();
        true
    }

    fn close(&mut self, run: &mut RunView<'_>) -> Outlook {
        let all_failed = self.points.len() == 0;
        self.plan(run);
        Outlook { best: run.elite.clone(), all_failed, stop: self.stop }
    }

    fn restarts(&self) -> bool {
        true
    }

    fn verification(&self, solution: &Solved) -> Option<Verification> {
        let near = |end: &&End| end.point.outcome.value == solution.upper.value;
        let agreeing = self.ends.list.iter().find(near).map_or(0, |end| end.count as u64);
        let restarts = self.ends.list.iter().map(|end| end.count as u64).sum();
        let agreed = self.stop == Some(StopReason::Agreed);
        Some(Verification { settled: true, agreed, agreeing, restarts, ..Verification::default() })
    }

    fn readings(&self) -> Readings {
        let step_size = self.search.as_ref().map_or(f64::NAN, Search::radius);
        Readings { step_size, axis_ratio: 1.0, model: None }
    }
}
