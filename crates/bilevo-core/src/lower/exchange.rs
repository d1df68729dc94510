//! Local exchange search for followers with whole numbers.
//!
//! Where a follower has few combinations of whole numbers and nothing else to choose, all of them are
//! tried: its answer is then exact. Otherwise a task starts from the guess and from what followed nearby
//! decisions, and climbs: first by moves of one variable, then, where none helps, by exchanges of two whole
//! numbers. A thorough search (refinement) enumerates more, and kicks the end a few times to climb again.
//! Answers are remembered over the generations, for a decision that comes back and for those near it.
//!
//! Randomness: one stream for each task, for kicks. Cost: a round asks for one neighbourhood of every task.

use super::task::{LowerAnswer, LowerRules, Status, Task};
use super::{LowerFacts, LowerSearch, LowerTask, SearchStreams};
use crate::batch::{Answers, Batch};
use crate::cma::Cma;
use crate::order;
use crate::problem::Outcome;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Answers remembered at most.
const REMEMBERED: usize = 300;
/// Remembered answers that a task starts from at most.
const STARTS: usize = 5;
/// Variables that a kick changes at most.
const KICKED: usize = 3;

/// A set of exchange searches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exchange {
    rules: LowerRules,
    tasks: Vec<Climb>,
    /// Decisions and their answers, latest last.
    answered: Vec<(Vec<f64>, Vec<f64>)>,
}

/// The neighbourhood that is asked for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Next {
    Moves,
    Exchanges,
    Kick,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Climb {
    task: Task,
    /// Where it stands.
    current: (Vec<f64>, Outcome),
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
            if self.asked.insert(point.iter().map(|v| v.to_bits()).collect()) {
                self.queue.push(point);
            }
        }
    }

    /// Fills an empty queue with the next neighbourhood that has something new; none left ends the task.
    fn plan(&mut self, rules: &LowerRules) {
        while self.queue.is_empty() && self.task.is_open() {
            let from = self.current.0.clone();
            match self.next {
                Next::Moves => {
                    self.enqueue(rules.space.moves(&from));
                    self.next = Next::Exchanges;
                }
                Next::Exchanges => {
                    self.enqueue(rules.space.exchanges(&from));
                    self.next = Next::Kick;
                }
                Next::Kick if self.kicks > 0 => {
                    self.kicks -= 1;
                    let mut kicked = self.task.best_y.clone();
                    for index in self.stream.choose(kicked.len(), KICKED) {
                        kicked[index] = rules.space.variable(index).draw(&mut self.stream);
                    }
                    self.current = (kicked.clone(), Outcome::FAILED);
                    self.enqueue([kicked]);
                    self.next = Next::Moves;
                }
                Next::Kick => self.task.status = Status::Converged,
            }
        }
    }

    /// Takes the outcomes of the queue.
    fn tell(&mut self, outcomes: &[Outcome], rules: &LowerRules) {
        for (y, outcome) in std::mem::take(&mut self.queue).into_iter().zip(outcomes) {
            self.task.offer(&y, outcome);
            if order::better(outcome, &self.current.1) {
                self.current = (y, *outcome);
                self.next = Next::Moves;
            }
        }
        self.task.end_round(rules);
        self.plan(rules);
    }
}

impl Exchange {
    pub(super) const FACTS: LowerFacts = LowerFacts {
        step: "Search the lower level for each of them by moves and exchanges of whole numbers; try all answers where they are few.",
        exchanges: false,
        ..LowerFacts::USUAL
    };

    /// A search without tasks yet.
    pub fn new(rules: LowerRules) -> Self {
        Exchange { rules, tasks: Vec::new(), answered: Vec::new() }
    }

    /// Answers to the nearest decisions, nearest and latest first, each once.
    fn nearby(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let distance = |other: &[f64]| other.iter().zip(x).map(|(a, b)| (a - b).abs()).sum::<f64>();
        let mut known: Vec<(f64, &Vec<f64>)> = self.answered.iter().rev().map(|(x, y)| (distance(x), y)).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut starts: Vec<Vec<f64>> = Vec::new();
        for (_, y) in known {
            if starts.len() < STARTS && !starts.contains(y) {
                starts.push(y.clone());
            }
        }
        starts
    }

    fn climb(&self, task: &LowerTask<'_>, stream: Stream) -> Climb {
        let space = &self.rules.space;
        let mut guess = task.guess.to_vec();
        space.round(&mut guess);
        let mut climb = Climb {
            task: Task::new(task.x, &guess),
            current: (guess.clone(), Outcome::FAILED),
            queue: Vec::new(),
            asked: BTreeSet::new(),
            next: Next::Moves,
            kicks: self.rules.kicks,
            stream,
        };
        if space.is_finite() && space.combinations() <= self.rules.enumerated {
            climb.enqueue(space.enumerate(&guess));
        } else {
            climb.enqueue(std::iter::once(guess).chain(self.nearby(task.x)));
        }
        climb
    }
}

impl LowerSearch for Exchange {
    fn open(&mut self, tasks: &[LowerTask<'_>], _metric: &Cma, streams: SearchStreams) {
        self.tasks = tasks.iter().enumerate().map(|(index, task)| self.climb(task, streams.task(index))).collect();
    }

    fn ask(&mut self, batch: &mut Batch) {
        for climb in self.tasks.iter().filter(|climb| climb.task.is_open()) {
            climb.queue.iter().for_each(|y| batch.push(&climb.task.x).copy_from_slice(y));
        }
    }

    fn tell(&mut self, _batch: &Batch, answers: Answers<'_>) {
        let mut rest = answers.outcomes;
        for climb in self.tasks.iter_mut().filter(|climb| climb.task.is_open()) {
            let (own, others) = rest.split_at(climb.queue.len().min(rest.len()));
            climb.tell(own, &self.rules);
            rest = others;
        }
        if self.tasks.iter().all(|climb| !climb.task.is_open()) {
            let ends: Vec<(Vec<f64>, Vec<f64>)> =
                self.tasks.iter().map(|climb| (climb.task.x.clone(), climb.task.best_y.clone())).collect();
            ends.iter().for_each(|(x, y)| self.learn(x, y));
        }
    }

    fn learn(&mut self, x: &[f64], y: &[f64]) {
        self.answered.retain(|(known, _)| known != x);
        self.answered.push((x.to_vec(), y.to_vec()));
        let surplus = self.answered.len().saturating_sub(REMEMBERED);
        self.answered.drain(..surplus);
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
