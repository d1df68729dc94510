//! Stands in for the pool on systems that cannot run programs.

use crate::evaluate::{Evaluator, EvaluatorError};
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::problem::ProblemSpec;
use bilevo_problems::program::ProgramSpec;

/// Evaluates points by external programs, but not on this system.
#[derive(Debug)]
pub struct Program(ProgramSpec);

impl Program {
    /// # Errors
    /// Always.
    pub fn new(spec: ProgramSpec, _jobs: usize) -> Result<Self, EvaluatorError> {
        Err(unsupported(&Program(spec)))
    }

    /// Rejects a description that makes no sense.
    ///
    /// # Errors
    /// What makes no sense.
    pub fn check(spec: &ProgramSpec) -> Result<(), EvaluatorError> {
        spec.check().map_err(|error| EvaluatorError::new(error.to_string()))
    }
}

impl Evaluator for Program {
    fn spec(&self) -> &ProblemSpec {
        &self.0.problem
    }

    fn evaluate(&mut self, _batch: &Batch, _replies: &mut Replies) -> Result<(), EvaluatorError> {
        Err(unsupported(self))
    }
}

fn unsupported(program: &Program) -> EvaluatorError {
    EvaluatorError::new(format!(
        "`{}` is evaluated by an external program, which needs Linux or macOS\nhint: on Windows, run bilevo in WSL",
        program.0.problem.name
    ))
}
