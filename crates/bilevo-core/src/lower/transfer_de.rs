//! Success-history DE for each task in lockstep, with transfer between neighbours (TLEA-DE).
//!
//! Every task has a small population drawn from the handed-down distribution and an archive of
//! beaten parents. A task that stands still averages its parameter memory with those of its nearest
//! converged tasks.
//! Source: Chen et al., 2021 (TLEA); the success history follows SHADE (Tanabe and Fukunaga, 2013).
//! The population of 4 is neither the printed rule nor the public code's, but it is the one that
//! reproduces the published costs.

use super::neighbours::{Advice, Sharpness, advice};
use super::task::{LowerAnswer, LowerRules, Task};
use super::{LowerSearch, SearchStreams};
use crate::batch::Batch;
use crate::cma::Cma;
use crate::de::{Parents, Success, SuccessMemory, trial};
use crate::order::{self, ConstraintRule};
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::upper::{Candidate, LowerPrior};
use serde::{Deserialize, Serialize};

/// Pairs in the success memory.
const MEMORY: usize = 6;
/// Generations over which a record must stand still to have converged.
const WINDOW: usize = 4;

/// A set of DE tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TransferDe {
    rules: LowerRules,
    tasks: Vec<DeTask>,
    start: Option<Cma>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct DeTask {
    task: Task,
    members: Vec<Vec<f64>>,
    outcomes: Vec<Outcome>,
    archive: Vec<Vec<f64>>,
    memory: SuccessMemory,
    /// (rate, scale) of the trials that wait for their outcome.
    tried: Vec<(f64, f64)>,
    stream: Stream,
}

impl DeTask {
    /// Writes one trial for each member.
    fn ask(&mut self, rules: &LowerRules, batch: &mut Batch) {
        self.tried.clear();
        let count = self.members.len();
        let mut ranked = Vec::with_capacity(count);
        order::rank(&self.outcomes, ConstraintRule::FeasibleFirst, &mut ranked);
        for index in 0..count {
            let (rate, scale) = self.memory.draw(&mut self.stream);
            let guide = ranked[self.stream.below((count / 2).max(1))];
            let plus = other_than(&[index], count, &mut self.stream);
            let minus = other_than(&[index, plus], count + self.archive.len(), &mut self.stream);
            let parents = Parents {
                target: &self.members[index],
                guide: &self.members[guide],
                plus: &self.members[plus],
                minus: self.members.get(minus).unwrap_or_else(|| &self.archive[minus - count]),
            };
            trial(parents, scale, rate, &rules.bounds, &mut self.stream, batch.push(&self.task.x));
            self.tried.push((rate, scale));
        }
    }

    /// Takes the first population, or keeps the trials that are strictly better.
    fn tell(&mut self, batch: &Batch, first: usize, outcomes: &[Outcome]) {
        if self.tried.is_empty() {
            self.members = (0..outcomes.len()).map(|i| batch.y(first + i).to_vec()).collect();
            self.outcomes = outcomes.to_vec();
        } else {
            self.select(batch, first, outcomes);
        }
        for (member, outcome) in self.members.iter().zip(&self.outcomes) {
            self.task.offer(member, outcome);
        }
    }

    fn select(&mut self, batch: &Batch, first: usize, outcomes: &[Outcome]) {
        let capacity = self.members.len() * 3 / 2;
        let mut successes = Vec::new();
        for (index, outcome) in outcomes.iter().enumerate() {
            let old = self.outcomes[index];
            if !order::better(outcome, &old) {
                continue;
            }
            let (rate, scale) = self.tried[index];
            successes.push(Success { rate, scale, gain: gain(&old, outcome) });
            let beaten = std::mem::replace(&mut self.members[index], batch.y(first + index).to_vec());
            self.outcomes[index] = *outcome;
            if self.archive.len() < capacity {
                self.archive.push(beaten);
            } else if capacity > 0 {
                let slot = self.stream.below(capacity);
                self.archive[slot] = beaten;
            }
        }
        self.memory.learn(&successes);
    }
}

/// How much better `new` is: in value if both are feasible, else in violation.
fn gain(old: &Outcome, new: &Outcome) -> f64 {
    if old.is_feasible() { old.value - new.value } else { old.violation - new.violation }
}

/// A random index below `end` that is not in `taken`; one of `taken` if nothing else is left.
fn other_than(taken: &[usize], end: usize, stream: &mut Stream) -> usize {
    if end <= taken.len() {
        return stream.below(end);
    }
    loop {
        let index = stream.below(end);
        if !taken.contains(&index) {
            return index;
        }
    }
}

impl TransferDe {
    /// A search without tasks yet.
    pub fn new(rules: LowerRules) -> Self {
        TransferDe { rules, tasks: Vec::new(), start: None }
    }

    fn transfer(&mut self) {
        let TransferDe { rules, tasks, .. } = self;
        let records: Vec<&Task> = tasks.iter().map(|t| &t.task).collect();
        let blend = |(index, sources): Advice| {
            let mixture = sources.iter().map(|&(from, weight)| (weight, &tasks[from].memory));
            (index, SuccessMemory::blend(mixture, &tasks[index].memory))
        };
        let blends: Vec<_> = advice(&records, WINDOW, rules, Sharpness::ByGap).into_iter().map(blend).collect();
        blends.into_iter().for_each(|(index, memory)| tasks[index].memory = memory);
    }
}

impl LowerSearch for TransferDe {
    fn open(&mut self, tasks: &[Candidate], prior: &LowerPrior, streams: SearchStreams) {
        self.start = Some(prior.lower.clone());
        let open = |(index, candidate): (usize, &Candidate)| DeTask {
            task: Task::new(&candidate.x, &candidate.guess),
            members: Vec::new(),
            outcomes: Vec::new(),
            archive: Vec::new(),
            memory: SuccessMemory::new(MEMORY),
            tried: Vec::new(),
            stream: streams.task(index),
        };
        self.tasks = tasks.iter().enumerate().map(open).collect();
    }

    fn ask(&mut self, batch: &mut Batch) {
        for task in self.tasks.iter_mut().filter(|t| t.task.is_open()) {
            match &self.start {
                Some(start) if task.members.is_empty() => {
                    for _ in 0..self.rules.population {
                        start.sample(&mut task.stream, &self.rules.bounds, batch.push(&task.task.x));
                    }
                }
                _ => task.ask(&self.rules, batch),
            }
        }
    }

    fn tell(&mut self, batch: &Batch, outcomes: &[Outcome]) {
        let population = self.rules.population;
        let open = self.tasks.iter_mut().filter(|t| t.task.is_open());
        for (slot, (task, outcomes)) in open.zip(outcomes.chunks_exact(population)).enumerate() {
            task.tell(batch, slot * population, outcomes);
            task.task.end_generation(WINDOW, &self.rules);
        }
        self.transfer();
    }

    fn answers(&self) -> Vec<LowerAnswer> {
        self.tasks.iter().map(|t| t.task.answer()).collect()
    }
}
