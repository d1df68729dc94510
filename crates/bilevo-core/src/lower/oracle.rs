//! The follower's own solver in place of a search: it is called once for every decision.
//!
//! If the problem also has a lower level, f and its constraints are evaluated at the solver's answers, so that
//! refinement and audit can compare them with their own.

use super::{LowerAnswer, LowerFacts, LowerRules, LowerSearch, LowerTask, SearchStreams};
use crate::batch::{Answers, Batch};
use crate::cma::Cma;
use crate::problem::Outcome;
use serde::{Deserialize, Serialize};

/// The state of the calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Oracle {
    /// Whether f can be evaluated as well.
    has_level: bool,
    tasks: Vec<Task>,
    next: Next,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Task {
    x: Vec<f64>,
    y: Vec<f64>,
    outcome: Outcome,
}

/// What to ask next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Next {
    Answers,
    Values,
    Nothing,
}

impl Oracle {
    pub(super) const FACTS: LowerFacts = LowerFacts {
        step: "Ask the follower's own solver once for each of them.",
        population: Some(1),
        populations: (1, 1),
        generations: Some(1),
        exchanges: false,
    };

    /// Nothing to ask yet.
    pub fn new(rules: LowerRules) -> Self {
        Oracle { has_level: rules.space.dim() > 0, tasks: Vec::new(), next: Next::Nothing }
    }

    fn answered(&mut self) -> impl Iterator<Item = &mut Task> {
        self.tasks.iter_mut().filter(|task| !task.outcome.is_failed())
    }
}

impl LowerSearch for Oracle {
    fn open(&mut self, tasks: &[LowerTask<'_>], _metric: &Cma, _streams: SearchStreams) {
        let task = |task: &LowerTask<'_>| Task { x: task.x.into(), y: Vec::new(), outcome: Outcome::FAILED };
        self.tasks = tasks.iter().map(task).collect();
        self.next = Next::Answers;
    }

    fn ask(&mut self, batch: &mut Batch) {
        match self.next {
            Next::Answers => {
                batch.ask_follower();
                self.tasks.iter().for_each(|task| {
                    batch.push(&task.x);
                });
            }
            Next::Values => self.answered().for_each(|task| batch.push(&task.x).copy_from_slice(&task.y)),
            Next::Nothing => {}
        }
    }

    fn tell(&mut self, _batch: &Batch, answers: Answers<'_>) {
        match self.next {
            Next::Answers => {
                for (task, (answer, outcome)) in self.tasks.iter_mut().zip(answers.given.iter().zip(answers.outcomes)) {
                    task.y.clone_from(&answer.y);
                    task.outcome = *outcome;
                }
                self.next = if self.has_level { Next::Values } else { Next::Nothing };
            }
            Next::Values => {
                self.answered().zip(answers.outcomes).for_each(|(task, outcome)| task.outcome = *outcome);
                self.next = Next::Nothing;
            }
            Next::Nothing => {}
        }
    }

    fn answers(&self) -> Vec<LowerAnswer> {
        let answer = |task: &Task| LowerAnswer {
            y: task.y.clone(),
            outcome: task.outcome,
            converged: !task.outcome.is_failed() && self.next == Next::Nothing,
        };
        self.tasks.iter().map(answer).collect()
    }
}
