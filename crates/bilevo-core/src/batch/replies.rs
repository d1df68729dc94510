//! The replies to a batch, checked on arrival.

use super::{Answers, Batch, check_reply};
use crate::oracle::OracleAnswer;
use crate::problem::{Failure, Level, Outcome, ProblemSpec};

/// The answers to one batch, in the order of its points.
#[derive(Clone, Debug)]
pub struct Replies {
    level: Level,
    outcomes: Vec<Outcome>,
    /// Constraint values, `width` for each answer; NaN if the evaluation failed.
    constraints: Vec<f64>,
    width: usize,
    failures: Vec<(usize, Failure)>,
    retries: u64,
    /// For decisions: the answers of the follower's own solver, empty where it failed.
    answers: Vec<OracleAnswer>,
    to_decisions: bool,
}

impl Default for Replies {
    fn default() -> Self {
        Replies {
            level: Level::Lower,
            outcomes: Vec::new(),
            constraints: Vec::new(),
            width: 0,
            failures: Vec::new(),
            retries: 0,
            answers: Vec::new(),
            to_decisions: false,
        }
    }
}

impl Replies {
    /// Clears the replies and starts a batch of `level`.
    pub fn start(&mut self, spec: &ProblemSpec, level: Level) {
        self.level = level;
        self.width = spec.level(level).constraints();
        self.outcomes.clear();
        self.constraints.clear();
        self.failures.clear();
        self.retries = 0;
        self.answers.clear();
        self.to_decisions = false;
    }

    /// Clears the replies and starts `batch`.
    pub fn start_on(&mut self, spec: &ProblemSpec, batch: &Batch) {
        self.start(spec, batch.level());
        if batch.asks_follower() {
            self.to_decisions = true;
            self.width = 0;
        }
    }

    /// Checks the answer of the follower's own solver to a decision, and appends it.
    pub fn push_answer(&mut self, spec: &ProblemSpec, answer: OracleAnswer) {
        if let Err(failure) = answer.check(spec) {
            return self.push_failure(failure);
        }
        // f is unknown unless the solver reports it.
        let value = answer.value.map_or(f64::NAN, |value| spec.lower.direction.flip(value));
        self.outcomes.push(Outcome { value, violation: 0.0 });
        self.answers.push(answer);
    }

    /// Appends the result of a follower's own solver: an answer or a failure.
    pub fn push_answer_result(&mut self, spec: &ProblemSpec, result: Result<OracleAnswer, Failure>) {
        match result {
            Ok(answer) => self.push_answer(spec, answer),
            Err(failure) => self.push_failure(failure),
        }
    }

    /// Whether these are answers to decisions.
    pub fn to_decisions(&self) -> bool {
        self.to_decisions
    }

    /// Checks one answer, as the problem returns it, for finiteness and shape, and appends it.
    #[inline]
    pub fn push(&mut self, spec: &ProblemSpec, value: f64, constraints: &[f64]) {
        match check_reply(spec, self.level, value, constraints) {
            Ok(outcome) => {
                self.outcomes.push(outcome);
                self.constraints.extend_from_slice(constraints);
            }
            Err(failure) => self.push_failure(failure),
        }
    }

    /// Appends one failed evaluation.
    #[cold]
    pub fn push_failure(&mut self, failure: Failure) {
        self.failures.push((self.outcomes.len(), failure));
        self.outcomes.push(Outcome::FAILED);
        if self.to_decisions {
            self.answers.push(OracleAnswer::default());
        }
        self.constraints.resize(self.outcomes.len() * self.width, f64::NAN);
    }

    /// Appends an answer that is already known.
    pub(crate) fn push_known(&mut self, outcome: Outcome, constraints: &[f64], answer: Option<OracleAnswer>) {
        self.outcomes.push(outcome);
        self.constraints.extend_from_slice(constraints);
        self.answers.extend(answer);
    }

    /// Appends the answer at `index` of `other`, or a failure if there is none.
    pub(crate) fn push_from(&mut self, other: &Replies, index: usize) {
        match other.outcomes.get(index) {
            Some(outcome) if !outcome.is_failed() => {
                self.push_known(*outcome, other.constraints(index), other.answers.get(index).cloned());
            }
            _ => {
                let failure = other.failures.iter().find(|(failed, _)| *failed == index).map(|(_, f)| f.clone());
                self.push_failure(failure.unwrap_or_else(|| "it failed before".into()));
            }
        }
    }

    /// Appends the result of an evaluation: a value with its constraint values, or a failure.
    #[inline]
    pub fn push_result(&mut self, spec: &ProblemSpec, result: Result<f64, Failure>, constraints: &[f64]) {
        match result {
            Ok(value) => self.push(spec, value, constraints),
            Err(failure) => self.push_failure(failure),
        }
    }

    /// Replaces the answers at `indices` with those of a second try at the same points ([`Batch::subset`]), and
    /// counts the retries.
    pub fn amend(&mut self, indices: &[usize], second: &Replies) {
        let mut failures = second.failures.iter().cloned().peekable();
        for (position, (&index, &outcome)) in indices.iter().zip(&second.outcomes).enumerate() {
            let failure = failures.next_if(|(failed, _)| *failed == position);
            let Some(kept) = self.outcomes.get_mut(index) else { continue };
            *kept = outcome;
            self.constraints[index * self.width..(index + 1) * self.width]
                .copy_from_slice(second.constraints(position));
            if let (Some(kept), Some(answer)) = (self.answers.get_mut(index), second.answers.get(position)) {
                kept.clone_from(answer);
            }
            self.failures.retain(|(failed, _)| *failed != index);
            self.failures.extend(failure.map(|(_, failure)| (index, failure)));
        }
        self.failures.sort_by_key(|(index, _)| *index);
        self.retries += indices.len() as u64;
    }

    /// Appends the answers to the next points of the same batch, and leaves `next` empty.
    pub fn append(&mut self, next: &mut Replies) {
        let before = self.outcomes.len();
        self.outcomes.append(&mut next.outcomes);
        self.constraints.append(&mut next.constraints);
        self.answers.append(&mut next.answers);
        self.failures.extend(next.failures.drain(..).map(|(index, failure)| (before + index, failure)));
    }

    /// Evaluations repeated after a failure.
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// The level of the batch.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Answers so far, as the engine sees them.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Constraint values of one answer, inequalities first, in the problem's own units; empty if
    /// the level has none, NaN if the evaluation failed.
    pub fn constraints(&self, index: usize) -> &[f64] {
        self.answers().constraints(index)
    }

    /// Number of constraint values of each answer.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Failed answers with their index in the batch.
    pub fn failures(&self) -> &[(usize, Failure)] {
        &self.failures
    }

    /// The answers as searches and strategies read them.
    pub fn answers(&self) -> Answers<'_> {
        let Replies { outcomes, constraints, width, answers, .. } = self;
        Answers { outcomes, constraints, width: *width, given: answers }
    }
}
