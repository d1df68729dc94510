//! One CMA-ES for each task, without exchange: the lower search of BL-CMA-ES, and the search that
//! refines elites.
//!
//! Every task starts from the handed-down distribution with its own random stream. A task has
//! converged when its record stands still over a window of evaluations, or when its step size has
//! left [1e-2, 1e2] times the one it started with.
//! Source: He et al., 2018 (BL-CMA-ES), lower-level search.

use super::task::{LowerAnswer, LowerRules, Status, Task};
use super::{LowerSearch, SearchStreams};
use crate::batch::Batch;
use crate::cma::{Cma, CmaParams, Scratch};
use crate::order::{self, ConstraintRule};
use crate::problem::Outcome;
use crate::rng::Stream;
use crate::upper::{Candidate, LowerPrior};
use serde::{Deserialize, Serialize};

/// How far the step size may go, relative to its start, before a task counts as settled.
const STEP_RANGE: std::ops::RangeInclusive<f64> = 1e-2..=1e2;

/// A set of CMA-ES tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Independent {
    pub(super) rules: LowerRules,
    pub(super) params: CmaParams,
    pub(super) tasks: Vec<CmaTask>,
    start_step: f64,
    #[serde(skip)]
    pub(super) scratch: Scratch,
    #[serde(skip)]
    order: Vec<usize>,
}

/// A task with its own distribution and stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CmaTask {
    pub(super) task: Task,
    pub(super) cma: Cma,
    stream: Stream,
}

impl Independent {
    /// A search without tasks yet.
    pub fn new(rules: LowerRules) -> Self {
        let params = CmaParams::new(rules.bounds.len(), rules.population);
        Independent {
            rules,
            params,
            tasks: Vec::new(),
            start_step: 1.0,
            scratch: Scratch::default(),
            order: Vec::new(),
        }
    }
}

impl LowerSearch for Independent {
    fn open(&mut self, tasks: &[Candidate], prior: &LowerPrior, streams: SearchStreams) {
        self.start_step = prior.lower.step_size;
        self.tasks.clear();
        self.tasks.extend(tasks.iter().enumerate().map(|(index, candidate)| CmaTask {
            task: Task::new(&candidate.x, &candidate.guess),
            cma: prior.lower.clone(),
            stream: streams.task(index),
        }));
    }

    fn ask(&mut self, batch: &mut Batch) {
        for CmaTask { task, cma, stream } in self.tasks.iter_mut().filter(|t| t.task.is_open()) {
            for _ in 0..self.params.population {
                cma.sample(stream, &self.rules.bounds, batch.push(&task.x));
            }
        }
    }

    fn tell(&mut self, batch: &Batch, outcomes: &[Outcome]) {
        let population = self.params.population;
        let window = self.rules.window();
        let open = self.tasks.iter_mut().filter(|t| t.task.is_open());
        for (slot, (CmaTask { task, cma, .. }, outcomes)) in open.zip(outcomes.chunks_exact(population)).enumerate() {
            let first = slot * population;
            order::rank(outcomes, ConstraintRule::FeasibleFirst, &mut self.order);
            let best = self.order[0];
            task.offer(batch.y(first + best), &outcomes[best]);
            let parents = self.order.iter().filter(|&&i| !outcomes[i].is_failed()).map(|&i| batch.y(first + i));
            cma.update(&self.params, parents, &mut self.scratch);
            task.end_generation(window, &self.rules);
            if task.is_open() && !STEP_RANGE.contains(&(cma.step_size / self.start_step)) {
                task.status = Status::Converged;
            }
        }
    }

    fn answers(&self) -> Vec<LowerAnswer> {
        self.tasks.iter().map(|t| t.task.answer()).collect()
    }
}
