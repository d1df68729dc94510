//! Local exchange search for followers with whole numbers.
//!
//! Where a follower has few combinations of whole numbers and nothing else to choose, all of them are
//! tried: its answer is then exact. Otherwise a task starts from the guess and from what followed nearby
//! decisions, and climbs: first by moves of one variable, then, where none helps, by exchanges of two whole
//! numbers. A thorough search (refinement) enumerates more, and kicks the end a few times to climb again.
//! Answers are remembered over the generations, for a decision that comes back and for those near it.
//!
//! Reals are searched by steps on a Gaussian process of f and its constraints over (x, y), which all tasks share
//! (`portfolio::follower`). Other whole numbers are tried with the reals that the process wants there.
//!
//! Randomness: one stream for each task, for kicks. Cost: a round asks for one neighbourhood of every task.

use super::task::{LowerAnswer, LowerRules, Status, Task};
use super::{LowerFacts, LowerSearch, LowerTask, SearchStreams};
use crate::batch::{Answers, Batch};
use crate::cma::Cma;
use crate::order;
use crate::portfolio::archive::{Learner, Points};
use crate::portfolio::follower::{Effort, Follower, Knowledge};
use crate::portfolio::merit::Merit;
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::whole::{self, Mixed, key};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Answers remembered at most.
const REMEMBERED: usize = 300;
/// Remembered answers that a task starts from at most.
const STARTS: usize = 5;
/// Variables that a kick changes at most.
const KICKED: usize = 3;
/// Accuracy of the reals, in units of the box: in a search among many, and in a refinement.
const TOLERANCE: (f64, f64) = (1e-6, 1e-8);
/// Evaluations of one search of the reals, for each of them and in addition.
const EFFORT: (usize, usize) = (30, 20);
/// Rounds in which a whole number with reals beside it crosses half of its range, again and again.
const CROSSED: f64 = 10.0;
/// How often a search with reals goes on from elsewhere at most: each time is a search of its own.
const KICKS: usize = 3;
/// Change of whole numbers, in units of the box, up to which the reals stay.
const HARDLY: f64 = 0.05;
/// Steps that lead to a known point before a search of the reals ends.
const AGAIN: usize = 3;
/// A violation up to this counts as none where there are reals, which meet a constraint only nearly.
const NEARLY: f64 = 1e-7;

/// A set of exchange searches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exchange {
    rules: LowerRules,
    tasks: Vec<Climb>,
    /// Decisions and their answers, with f and its constraints if there are reals, latest last.
    answered: Vec<Answered>,
    shared: Shared,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Answered {
    x: Vec<f64>,
    y: Vec<f64>,
    row: Vec<f64>,
}

/// What all tasks have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shared {
    mixed: Mixed,
    /// What was evaluated, if there are reals: unit coordinates of x, of whole numbers and of reals.
    points: Points,
    knowledge: Knowledge,
    tolerance: f64,
}

impl Shared {
    fn new(rules: &LowerRules) -> Self {
        let mixed = Mixed::new(rules.space.clone());
        let lengths = [Mixed::new(rules.leader.clone()).lengths(), mixed.lengths()].concat();
        let (inequalities, equalities) = rules.constraints;
        Shared {
            points: Points::new(lengths.len(), 1 + inequalities + equalities),
            knowledge: Knowledge { learner: Learner::new(lengths, 0), merit: Merit::new(inequalities, equalities) },
            tolerance: if rules.kicks > 0 { TOLERANCE.1 } else { TOLERANCE.0 },
            mixed,
        }
    }

    /// Puts the reals where the process wants them for another decision or other whole numbers.
    fn adapt(&mut self, from: &[f64], others: &mut [Vec<f64>], place: &Place, x: &[f64]) {
        if self.mixed.reals() == 0 || place.row.is_empty() {
            return;
        }
        let centre = [&place.x[..], &self.mixed.unit(from)].concat();
        let model = self.knowledge.learner.model(&self.points, &centre, &place.row, f64::INFINITY);
        let held = place.x.len() + self.mixed.wholes;
        for other in others {
            let unit = [x, &self.mixed.unit(other)].concat();
            let change: Vec<f64> = unit.iter().zip(&centre).take(held).map(|(a, b)| a - b).collect();
            // What hardly changes keeps its reals: a small gain would drown in the model's error.
            if change.iter().all(|c| c.abs() < HARDLY) {
                continue;
            }
            let step = whole::step(&model, &self.knowledge.merit, &place.row, &centre[held..], &change);
            let reals: Vec<f64> = centre[held..].iter().zip(&step.z).map(|(c, z)| c + z).collect();
            *other = self.mixed.with_reals(other, &reals);
        }
    }
}

/// A decision in unit coordinates, and f and its constraints where a task stands; empty if unknown.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    x: Vec<f64>,
    row: Vec<f64>,
}

/// The neighbourhood that is asked for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Next {
    Reals,
    Moves,
    Exchanges,
    Kick,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Climb {
    task: Task,
    /// Where it stands.
    current: (Vec<f64>, Outcome),
    place: Place,
    /// Search of the reals there.
    reals: Option<Follower>,
    /// What it asks for in this round.
    queue: Vec<Vec<f64>>,
    asked: BTreeSet<Vec<u64>>,
    next: Next,
    kicks: usize,
    stream: Stream,
}

impl Climb {
    /// Puts the points on the queue that were not asked for yet.
    fn enqueue(&mut self, points: impl IntoIterator<Item = Vec<f64>>) {
        for point in points {
            if self.asked.insert(key(&point)) {
                self.queue.push(point);
            }
        }
    }

    /// Fills an empty queue with the next neighbourhood that has something new; none left ends the task.
    fn plan(&mut self, rules: &LowerRules, shared: &mut Shared) {
        while self.queue.is_empty() && self.task.is_open() {
            let from = self.current.0.clone();
            match self.next {
                Next::Reals => {
                    if !self.step(shared) {
                        self.next = Next::Moves;
                    }
                }
                Next::Moves => {
                    let near: Vec<Vec<f64>> = match rules.tries_all() && shared.mixed.reals() > 0 {
                        true => rules.space.enumerate(&from).collect(),
                        false => rules.space.whole_moves(&from).collect(),
                    };
                    self.try_all(near, shared);
                    self.next = Next::Exchanges;
                }
                Next::Exchanges => {
                    self.try_all(rules.space.exchanges(&from).collect(), shared);
                    self.next = Next::Kick;
                }
                Next::Kick if self.kicks > 0 => {
                    self.kicks -= 1;
                    let mut kicked = self.task.best_y.clone();
                    for index in self.stream.choose(kicked.len(), KICKED) {
                        kicked[index] = rules.space.variable(index).draw(&mut self.stream);
                    }
                    self.stand(kicked.clone(), Outcome::FAILED, &[]);
                    self.enqueue([kicked]);
                }
                Next::Kick => self.task.status = Status::Converged,
            }
        }
    }

    /// Where it ended.
    fn end(&self) -> Answered {
        let (x, y) = (self.task.x.clone(), self.task.best_y.clone());
        let row = if self.current.0 == y { self.place.row.clone() } else { Vec::new() };
        Answered { x, y, row }
    }

    /// Goes on from a point.
    fn stand(&mut self, y: Vec<f64>, outcome: Outcome, row: &[f64]) {
        self.current = (y, outcome);
        self.place.row = row.to_vec();
        self.reals = None;
        self.next = Next::Reals;
    }

    fn try_all(&mut self, mut near: Vec<Vec<f64>>, shared: &mut Shared) {
        shared.adapt(&self.current.0, &mut near, &self.place, &self.place.x);
        self.enqueue(near);
    }

    /// Puts the next point of the search of the reals on the queue, if there is one.
    fn step(&mut self, shared: &mut Shared) -> bool {
        if shared.mixed.reals() == 0 || self.place.row.is_empty() {
            return false;
        }
        let (whole, real) = shared.mixed.split(&self.current.0);
        let evaluations = EFFORT.0 * shared.mixed.reals() + EFFORT.1;
        let effort = Effort { radius: whole::REACH, tolerance: shared.tolerance, evaluations };
        let held = [&self.place.x[..], &whole].concat();
        let (row, from) = (self.place.row.clone(), self.current.0.clone());
        let reals = self.reals.get_or_insert_with(|| Follower::new(held, real, row, effort));
        for _ in 0..AGAIN {
            let Some(unit) = reals.next(&shared.points, &mut shared.knowledge) else { return false };
            let y = shared.mixed.with_reals(&from, &unit);
            if self.asked.insert(key(&y)) {
                self.queue.push(y);
                return true;
            }
            reals.tell(&unit, &[], &shared.knowledge.merit);
        }
        false
    }

    /// Takes the outcomes of the queue.
    fn tell(&mut self, first: usize, answers: Answers<'_>, rules: &LowerRules, shared: &mut Shared) {
        let has_reals = shared.mixed.reals() > 0;
        for (i, y) in std::mem::take(&mut self.queue).into_iter().enumerate() {
            let Some(outcome) = answers.outcomes.get(first + i) else { break };
            let mut outcome = *outcome;
            if has_reals && outcome.violation <= NEARLY {
                outcome.violation = 0.0;
            }
            self.task.offer(&y, &outcome);
            let row = match outcome.is_failed() {
                true => Vec::new(),
                false => [&[outcome.value], answers.constraints(first + i)].concat(),
            };
            if has_reals {
                let unit = shared.mixed.unit(&y);
                shared.points.push(&[&self.place.x[..], &unit].concat(), &row);
                if let Some(reals) = self.reals.as_mut().filter(|_| self.next == Next::Reals) {
                    reals.tell(&unit[shared.mixed.wholes..], &row, &shared.knowledge.merit);
                    if order::better(&outcome, &self.current.1) {
                        self.current = (y, outcome);
                        self.place.row = row;
                    }
                    continue;
                }
            }
            if order::better(&outcome, &self.current.1) {
                self.stand(y, outcome, &row);
            }
        }
        self.task.end_round(rules);
        self.plan(rules, shared);
    }
}

impl Exchange {
    pub(super) const FACTS: LowerFacts = LowerFacts {
        step: "Search the lower level for each of them by moves and exchanges of whole numbers; try all answers where they are few.",
        exchanges: false,
        ..LowerFacts::USUAL
    };

    /// A search without tasks yet.
    pub fn new(mut rules: LowerRules) -> Self {
        let shared = Shared::new(&rules);
        if shared.mixed.reals() > 0 {
            // Steps come one by one, and a wide range is crossed in many.
            let wide: f64 =
                rules.space.iter().filter(|v| v.is_whole()).map(|v| CROSSED * libm::log2(1.0 + v.width())).sum();
            let steps = 2 * (EFFORT.0 * shared.mixed.reals() + EFFORT.1) + wide as usize;
            rules.max_generations = rules.max_generations.max(steps);
            rules.kicks = rules.kicks.min(KICKS);
        }
        Exchange { rules, tasks: Vec::new(), answered: Vec::new(), shared }
    }

    /// Answers to the nearest decisions, nearest and latest first, each once. Reals follow the model: of them the
    /// nearest is enough.
    fn nearby(&mut self, x: &[f64]) -> Vec<Vec<f64>> {
        let at = self.rules.leader.to_unit(x);
        let distance = |other: &[f64]| {
            let unit = self.rules.leader.to_unit(other);
            unit.iter().zip(&at).map(|(a, b)| (a - b).abs()).sum::<f64>()
        };
        let mut known: Vec<(f64, &Answered)> = self.answered.iter().rev().map(|a| (distance(&a.x), a)).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, nearest)) = known.first().filter(|_| self.shared.mixed.reals() > 0) {
            let place = Place { x: self.rules.leader.to_unit(&nearest.x), row: nearest.row.clone() };
            let (from, mut start) = (nearest.y.clone(), [nearest.y.clone()]);
            self.shared.adapt(&from, &mut start, &place, &at);
            return start.into();
        }
        let mut starts: Vec<Vec<f64>> = Vec::new();
        for (_, Answered { y, .. }) in known {
            if starts.len() < STARTS && !starts.contains(y) {
                starts.push(y.clone());
            }
        }
        starts
    }

    fn remember(&mut self, answer: Answered) {
        self.answered.retain(|known| known.x != answer.x);
        self.answered.push(answer);
        let surplus = self.answered.len().saturating_sub(REMEMBERED);
        self.answered.drain(..surplus);
    }

    fn climb(&mut self, task: &LowerTask<'_>, stream: Stream) -> Climb {
        let mut guess = task.guess.to_vec();
        self.rules.space.round(&mut guess);
        let near = self.nearby(task.x);
        let mut climb = Climb {
            task: Task::new(task.x, &guess),
            current: (guess.clone(), Outcome::FAILED),
            place: Place { x: self.rules.leader.to_unit(task.x), row: Vec::new() },
            reals: None,
            queue: Vec::new(),
            asked: BTreeSet::new(),
            next: Next::Reals,
            kicks: self.rules.kicks,
            stream,
        };
        match near {
            _ if self.rules.tries_all() && self.shared.mixed.reals() == 0 => {
                climb.enqueue(self.rules.space.enumerate(&guess));
            }
            near if self.shared.mixed.reals() > 0 && !near.is_empty() => climb.enqueue(near),
            near => climb.enqueue(std::iter::once(guess).chain(near)),
        }
        climb
    }
}

impl LowerSearch for Exchange {
    fn open(&mut self, tasks: &[LowerTask<'_>], _metric: &Cma, streams: SearchStreams) {
        let climbs = tasks.iter().enumerate().map(|(index, task)| self.climb(task, streams.task(index))).collect();
        self.tasks = climbs;
    }

    fn ask(&mut self, batch: &mut Batch) {
        for climb in self.tasks.iter().filter(|climb| climb.task.is_open()) {
            climb.queue.iter().for_each(|y| batch.push(&climb.task.x).copy_from_slice(y));
        }
    }

    fn tell(&mut self, _batch: &Batch, answers: Answers<'_>) {
        let mut first = 0;
        for climb in self.tasks.iter_mut().filter(|climb| climb.task.is_open()) {
            let asked = climb.queue.len();
            climb.tell(first, answers, &self.rules, &mut self.shared);
            first += asked;
        }
        if self.tasks.iter().all(|climb| !climb.task.is_open()) {
            let ends: Vec<Answered> = self.tasks.iter().map(Climb::end).collect();
            ends.into_iter().for_each(|end| self.remember(end));
        }
    }

    fn learn(&mut self, x: &[f64], y: &[f64]) {
        self.remember(Answered { x: x.to_vec(), y: y.to_vec(), row: Vec::new() });
    }

    fn answers(&self) -> Vec<LowerAnswer> {
        self.tasks.iter().map(|climb| climb.task.answer()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::problem::{Level, LevelSpec, ProblemSpec};
    use crate::rng::{Purpose, Streams};
    use crate::space::Space;

    /// Runs one task to its end; the answer and the number of evaluations.
    fn solve(space: Space, thorough: bool, guess: &[f64], f: impl Fn(&[f64]) -> Outcome) -> (LowerAnswer, usize) {
        let spec = ProblemSpec::new("p", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::new(space));
        let config = Config::named("exchange-cma-es").unwrap();
        let sizes = config.check(&spec).unwrap();
        let rules = match thorough {
            true => LowerRules::refining(&spec, &config.lower, &sizes),
            false => LowerRules::new(&spec, &config.lower, &sizes),
        };
        let mut search = Exchange::new(rules);
        let start = Cma::round(guess.to_vec(), 1.0);
        let streams = SearchStreams { streams: Streams::new(2), purpose: Purpose::Lower, generation: 1 };
        search.open(&[LowerTask { x: &[0.5], guess, start: &start }], &start, streams);
        let mut batch = Batch::new(&spec);
        let mut spent = 0;
        loop {
            batch.start(Level::Lower, 0);
            search.ask(&mut batch);
            if batch.is_empty() {
                return (search.answers().remove(0), spent);
            }
            spent += batch.len();
            let outcomes: Vec<Outcome> = (0..batch.len()).map(|i| f(batch.y(i))).collect();
            search.tell(&batch, Answers::without_constraints(&outcomes));
        }
    }

    /// A knapsack: the value of what is taken, negated, and the weight beyond 10.
    fn knapsack(y: &[f64]) -> Outcome {
        let (values, weights) = ([6.0, 5.0, 4.0, 3.0, 7.0, 2.0, 5.0, 6.0], [5.0, 4.0, 3.0, 2.0, 6.0, 1.0, 4.0, 5.0]);
        let sum = |of: &[f64]| of.iter().zip(y).map(|(a, y)| a * y).sum::<f64>();
        Outcome { value: -sum(&values), violation: (sum(&weights) - 10.0).max(0.0) }
    }

    fn binaries(count: usize) -> Space {
        (0..count).fold(Space::new(), |space, i| space.binary(format!("y{i}")))
    }

    #[test]
    fn few_answers_are_all_tried_once() {
        let space = Space::new().whole("a", 0.0, 7.0).whole("b", -2.0, 2.0);
        let (answer, spent) = solve(space, false, &[3.0, 0.0], |y| Outcome {
            value: if y == [6.0, -1.0] { -1.0 } else { 0.0 },
            violation: 0.0,
        });
        assert_eq!((&answer.y[..], answer.converged, spent), (&[6.0, -1.0][..], true, 40), "a needle is found");
    }

    #[test]
    fn climbing_takes_moves_and_exchanges() {
        let (answer, spent) = solve(binaries(8), false, &[0.0; 8], knapsack);
        assert!(answer.outcome.violation == 0.0 && answer.outcome.value <= -12.0 && answer.converged, "{answer:?}");
        let (space, best) = (binaries(8), answer.outcome);
        let near = || space.moves(&answer.y).chain(space.exchanges(&answer.y));
        assert!(near().count() > 15 && near().all(|y| !order::better(&knapsack(&y), &best)), "nothing near is better");
        assert!(spent < 120, "{spent}");
        let (exact, spent) = solve(binaries(8), true, &[0.0; 8], knapsack);
        assert_eq!((exact.outcome.value, spent), (-14.0, 256), "thorough: all of them");
    }

    #[test]
    fn wide_ranges_and_reals_are_walked_in_large_steps() {
        let space = Space::new().whole("n", 0.0, 1e9).real("z", 0.0, 4.0);
        let (answer, spent) = solve(space, false, &[3.0, 1.0], |y| Outcome {
            value: ((y[0] - 123_456_789.0) / 1e8).powi(2) + (y[1] - 2.5).powi(2),
            violation: 0.0,
        });
        assert_eq!(answer.y[0], 123_456_789.0);
        assert!((answer.y[1] - 2.5).abs() < 1e-4 && spent < 3_000, "{answer:?} {spent}");
    }

    #[test]
    fn failures_end_nothing() {
        let (answer, _) = solve(binaries(8), false, &[1.0; 8], |_| Outcome::FAILED);
        assert!(answer.outcome.is_failed());
    }
}
