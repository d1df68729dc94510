//! One solution for each task, all of them collaborating (BOC), reconstructed from the published
//! description: no more than the abstract and the number of generations are public.
//!
//! *Known*: one population solves all lower tasks of a generation in a single run of 18
//! generations, and shares information between tasks.
//! *Inferred*: every task holds one solution, at first the y sampled by the upper level. For task i
//! the tasks are ordered by upper distance, itself first, with weights w_k ~ ln(N + 1/2) - ln k, and
//!
//! > m_i = sum w_k y_k,  C_i <- 0.7 C_i + 0.3 sum w_k (y_k - m_i)(y_k - m_i)',  C_i(0) = the prior's.
//!
//! One offspring z_i ~ N(m_i, C_i) is evaluated on task i and replaces y_i if it is not worse. A
//! z_i that improved its task is also tried on its two nearest other tasks. A task counts as
//! converged when its record stood still over the last generations. This reading costs what the
//! published runs cost, within about a tenth.

use super::multiobjective::neighbourhoods;
use super::task::{LowerAnswer, LowerRules, Status, Task};
use super::{LowerSearch, SearchStreams};
use crate::batch::Batch;
use crate::cma::{Cma, Scratch};
use crate::linalg::add_scaled;
use crate::order;
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::upper::{Candidate, LowerPrior};
use serde::{Deserialize, Serialize};

/// Generations over which a record must stand still to have converged.
const WINDOW: usize = 4;
/// Weight of the present spread of the solutions in a task's distribution.
const LEARNING: f64 = 0.3;

/// Solutions of all tasks and the distributions built from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Collaborative {
    rules: LowerRules,
    tasks: Vec<Partner>,
    weights: Vec<f64>,
    round: Round,
    #[serde(skip)]
    scratch: Scratch,
}

/// What the next batch is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Round {
    /// The sampled answers themselves.
    First,
    /// One offspring for each task.
    Offspring,
    /// Offspring that improved their task, tried on others: (task, y).
    Sharing(Vec<(usize, Vec<f64>)>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Partner {
    task: Task,
    /// All tasks by upper distance, itself first.
    order: Vec<usize>,
    cma: Cma,
    stream: Stream,
}

impl Partner {
    /// Replaces the solution if `outcome` is not worse; says whether it was better.
    fn accept(&mut self, y: &[f64], outcome: &Outcome) -> bool {
        let better = order::better(outcome, &self.task.best);
        if order::not_worse(outcome, &self.task.best) && !outcome.is_failed() {
            self.task.best = *outcome;
            self.task.best_y.copy_from_slice(y);
        }
        better
    }
}

impl Collaborative {
    /// A search without tasks yet.
    pub fn new(rules: LowerRules) -> Self {
        Collaborative {
            rules,
            tasks: Vec::new(),
            weights: Vec::new(),
            round: Round::First,
            scratch: Scratch::default(),
        }
    }

    /// Builds every task's distribution from the present solutions.
    fn adapt(&mut self) {
        let n = self.rules.bounds.len();
        let solutions: Vec<Vec<f64>> = self.tasks.iter().map(|t| t.task.best_y.clone()).collect();
        for partner in &mut self.tasks {
            let ranked = || self.weights.iter().zip(partner.order.iter().map(|&k| &solutions[k]));
            let mut mean = vec![0.0; n];
            ranked().for_each(|(&weight, y)| add_scaled(&mut mean, weight, y));
            let mut cov: Vec<f64> = partner.cma.cov.iter().map(|c| (1.0 - LEARNING) * c).collect();
            for (&weight, y) in ranked() {
                let step: Vec<f64> = y.iter().zip(&mean).map(|(y, m)| (y - m) / partner.cma.step_size).collect();
                for (row, &s) in cov.chunks_exact_mut(n).zip(&step) {
                    add_scaled(row, LEARNING * weight * s, &step);
                }
            }
            partner.cma.reshape(&mean, &cov, &mut self.scratch);
        }
    }

    /// Offspring that improved their task, each for the nearest other tasks.
    fn shares(&self, batch: &Batch, improved: &[bool]) -> Vec<(usize, Vec<f64>)> {
        let donors = improved.iter().enumerate().filter(|(_, improved)| **improved).map(|(index, _)| index);
        let receivers = |index: usize| self.tasks[index].order.iter().skip(1).take(self.rules.neighbours);
        donors.flat_map(|index| receivers(index).map(move |&to| (to, batch.y(index).to_vec()))).collect()
    }

    fn end_generation(&mut self) {
        for partner in &mut self.tasks {
            partner.task.end_generation(usize::MAX, &self.rules);
            if !partner.task.is_open() && partner.task.has_settled(WINDOW, &self.rules) {
                partner.task.status = Status::Converged;
            }
        }
        self.round = Round::Offspring;
    }
}

impl LowerSearch for Collaborative {
    fn open(&mut self, tasks: &[Candidate], prior: &LowerPrior, streams: SearchStreams) {
        let orders = neighbourhoods(tasks, &prior.upper, tasks.len());
        let open = |(index, (candidate, order)): (usize, (&Candidate, Vec<usize>))| Partner {
            task: Task::new(&candidate.x, &candidate.guess),
            order,
            cma: prior.lower.clone(),
            stream: streams.task(index),
        };
        self.tasks = tasks.iter().zip(orders).enumerate().map(open).collect();
        let raw = (1..=tasks.len()).map(|k| libm::log(tasks.len() as f64 + 0.5) - libm::log(k as f64));
        let raw: Vec<f64> = raw.collect();
        let sum: f64 = raw.iter().sum();
        self.weights = raw.iter().map(|w| w / sum).collect();
        self.round = Round::First;
    }

    fn ask(&mut self, batch: &mut Batch) {
        match &self.round {
            Round::First => {
                for partner in &self.tasks {
                    batch.push(&partner.task.x).copy_from_slice(&partner.task.best_y);
                }
            }
            Round::Offspring => {
                // All tasks run for the same number of generations.
                if self.tasks.iter().any(|t| t.task.is_open()) {
                    self.adapt();
                    for partner in &mut self.tasks {
                        partner.cma.sample(&mut partner.stream, &self.rules.bounds, batch.push(&partner.task.x));
                    }
                }
            }
            Round::Sharing(shares) => {
                for (to, y) in shares {
                    batch.push(&self.tasks[*to].task.x).copy_from_slice(y);
                }
            }
        }
    }

    fn tell(&mut self, batch: &Batch, outcomes: &[Outcome]) {
        match std::mem::replace(&mut self.round, Round::Offspring) {
            Round::First => {
                for (index, (partner, outcome)) in self.tasks.iter_mut().zip(outcomes).enumerate() {
                    partner.accept(batch.y(index), outcome);
                }
            }
            Round::Offspring => {
                let accept = |(index, (partner, outcome)): (usize, (&mut Partner, &Outcome))| {
                    partner.accept(batch.y(index), outcome)
                };
                let improved: Vec<bool> = self.tasks.iter_mut().zip(outcomes).enumerate().map(accept).collect();
                let shares = self.shares(batch, &improved);
                if shares.is_empty() {
                    self.end_generation();
                } else {
                    self.round = Round::Sharing(shares);
                }
            }
            Round::Sharing(shares) => {
                for ((to, y), outcome) in shares.iter().zip(outcomes) {
                    self.tasks[*to].accept(y, outcome);
                }
                self.end_generation();
            }
        }
    }

    fn answers(&self) -> Vec<LowerAnswer> {
        self.tasks.iter().map(|t| t.task.answer()).collect()
    }
}
