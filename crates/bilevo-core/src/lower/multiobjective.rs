//! All lower tasks as one multiobjective problem (MOTEA), reconstructed from the published
//! description: no more than the abstract is public.
//!
//! *Known*: the N lower problems of a generation become N Pareto-optimal points of one constructed
//! multiobjective problem, which one evolutionary run solves.
//! *Inferred*: task i gets a location a_i in [0, 1], its rank along the first principal axis of the
//! decisions; a member of task i with gap g >= 0 (distance of its value from the task's best, plus
//! violation) has the two objectives
//!
//! > Phi = (a_i + g, 1 - a_i + g).
//!
//! The N points with g = 0 are mutually non-dominated, and within one task smaller Phi, smaller gap
//! and "better under the one order" are the same thing (tested below). So the decomposition judges a
//! child by its own task's order and needs no normalised gap; what the tasks gain from being one
//! problem is mating across neighbours. This reading costs what the published runs cost, within
//! about a fifth.
//!
//! Each generation, every member of every open task makes one child with the DE operator; with
//! probability 0.9 the mates come from the nearest tasks (itself included), else from all. A task's
//! first population counts as its first generation.

use super::task::{LowerAnswer, LowerRules, Settling, Task};
use super::{LowerSearch, SearchStreams};
use crate::batch::Batch;
use crate::cma::Cma;
use crate::de::{Parents, trial};
use crate::order;
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::upper::{Candidate, LowerPrior};
use serde::{Deserialize, Serialize};

/// Generations over which a record must stand still to have converged.
const WINDOW: usize = 4;
/// Chance that mates come from the neighbourhood.
const NEIGHBOURHOOD: f64 = 0.9;
/// Crossover rate.
const RATE: f64 = 0.9;

/// Sub-populations of all tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Multiobjective {
    rules: LowerRules,
    tasks: Vec<SubProblem>,
    start: Option<Cma>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SubProblem {
    task: Task,
    members: Vec<Vec<f64>>,
    outcomes: Vec<Outcome>,
    /// This task, then its nearest ones in the metric of the upper distribution.
    neighbours: Vec<usize>,
    stream: Stream,
}

impl SubProblem {
    /// Takes the first population, or keeps the children that are not worse than their parents.
    fn tell(&mut self, batch: &Batch, first: usize, outcomes: &[Outcome]) {
        let children = (0..outcomes.len()).map(|i| batch.y(first + i));
        if self.members.is_empty() {
            self.members = children.map(<[f64]>::to_vec).collect();
            self.outcomes = outcomes.to_vec();
        } else {
            for ((member, old), (child, new)) in
                self.members.iter_mut().zip(&mut self.outcomes).zip(children.zip(outcomes))
            {
                if order::not_worse(new, old) {
                    member.copy_from_slice(child);
                    *old = *new;
                }
            }
        }
        for (member, outcome) in self.members.iter().zip(&self.outcomes) {
            self.task.offer(member, outcome);
        }
    }
}

impl Multiobjective {
    /// A search without tasks yet.
    pub fn new(rules: LowerRules) -> Self {
        Multiobjective { rules, tasks: Vec::new(), start: None }
    }

    /// One child for each member of the task at `index`.
    fn breed(&mut self, index: usize, batch: &mut Batch) {
        let mut stream = self.tasks[index].stream.clone();
        let all: Vec<usize> = (0..self.tasks.len()).collect();
        let own = &self.tasks[index];
        for target in &own.members {
            let pool = if stream.uniform() < NEIGHBOURHOOD { &own.neighbours } else { &all };
            let mut pick = || &self.tasks[pool[stream.below(pool.len())]];
            let (guide, from, to) = (pick(), pick(), pick());
            let plus = &from.members[stream.below(from.members.len())];
            let minus = &to.members[stream.below(to.members.len())];
            let parents = Parents { target, guide: &guide.task.best_y, plus, minus };
            let scale = 0.5 + 0.1 * stream.normal();
            trial(parents, scale, RATE, &self.rules.bounds, &mut stream, batch.push(&own.task.x));
        }
        self.tasks[index].stream = stream;
    }
}

/// For every task: itself and its `count` nearest ones.
pub(super) fn neighbourhoods(tasks: &[Candidate], metric: &Cma, count: usize) -> Vec<Vec<usize>> {
    let nearest_to = |own: &Candidate| {
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        let distances: Vec<f64> = tasks.iter().map(|t| metric.distance(&own.x, &t.x)).collect();
        order.sort_by(|&i, &j| distances[i].total_cmp(&distances[j]));
        order
    };
    let with_itself_first = |index: usize, mut order: Vec<usize>| {
        order.retain(|&i| i != index);
        order.insert(0, index);
        order.truncate(count + 1);
        order
    };
    tasks.iter().enumerate().map(|(index, own)| with_itself_first(index, nearest_to(own))).collect()
}

impl LowerSearch for Multiobjective {
    fn open(&mut self, tasks: &[Candidate], prior: &LowerPrior, streams: SearchStreams) {
        self.start = Some(prior.lower.clone());
        let neighbourhoods = neighbourhoods(tasks, &prior.upper, self.rules.neighbours);
        let open = |(index, (candidate, neighbours)): (usize, (&Candidate, Vec<usize>))| SubProblem {
            task: Task::new(&candidate.x, &candidate.guess),
            members: Vec::new(),
            outcomes: Vec::new(),
            neighbours,
            stream: streams.task(index),
        };
        self.tasks = tasks.iter().zip(neighbourhoods).enumerate().map(open).collect();
    }

    fn ask(&mut self, batch: &mut Batch) {
        for index in 0..self.tasks.len() {
            let own = &mut self.tasks[index];
            match &self.start {
                _ if !own.task.is_open() => {}
                Some(start) if own.members.is_empty() => {
                    batch.push(&own.task.x).copy_from_slice(&own.task.best_y);
                    for _ in 1..self.rules.population {
                        start.sample(&mut own.stream, &self.rules.bounds, batch.push(&own.task.x));
                    }
                }
                _ => self.breed(index, batch),
            }
        }
    }

    fn tell(&mut self, batch: &Batch, outcomes: &[Outcome]) {
        let population = self.rules.population;
        let open = self.tasks.iter_mut().filter(|t| t.task.is_open());
        for (slot, (own, outcomes)) in open.zip(outcomes.chunks_exact(population)).enumerate() {
            own.tell(batch, slot * population, outcomes);
            own.task.end_generation(Settling::within(WINDOW), &self.rules);
        }
    }

    fn answers(&self) -> Vec<LowerAnswer> {
        self.tasks.iter().map(|t| t.task.answer()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two objectives of a member of the task at `location` with `gap`.
    fn phi(location: f64, gap: f64) -> [f64; 2] {
        [location + gap, 1.0 - location + gap]
    }

    fn dominates(a: [f64; 2], b: [f64; 2]) -> bool {
        a[0] <= b[0] && a[1] <= b[1] && a != b
    }

    #[test]
    fn solved_tasks_are_mutually_non_dominated() {
        let locations: Vec<f64> = (0..8).map(|i| f64::from(i) / 7.0).collect();
        for &a in &locations {
            for &b in &locations {
                assert!(!dominates(phi(a, 0.0), phi(b, 0.0)));
            }
        }
    }

    #[test]
    fn within_a_task_domination_is_the_order_of_gaps() {
        let gaps = [0.0, 0.001, 0.5, 3.0, 1e6];
        for &a in &gaps {
            for &b in &gaps {
                assert_eq!(dominates(phi(0.3, a), phi(0.3, b)), a < b);
            }
        }
    }

    #[test]
    fn neighbourhoods_start_with_the_task_itself() {
        let at = |x: f64| Candidate { x: vec![x], guess: vec![0.0] };
        let tasks = [at(0.0), at(10.0), at(1.0), at(0.0)];
        let near = neighbourhoods(&tasks, &Cma::round(vec![0.0], 1.0), 2);
        assert_eq!(near, [vec![0, 3, 2], vec![1, 2, 0], vec![2, 0, 3], vec![3, 0, 2]]);
    }
}
