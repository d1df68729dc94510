//! Errors of a run as exceptions.

use crate::border::Caught;
use crate::errors;
use bilevo::RunError;
use pyo3::prelude::*;

/// A failed evaluation keeps the exception of the user's function as its cause.
pub(super) fn with_cause(py: Python<'_>, error: &RunError, caught: &Caught) -> PyErr {
    let raised = run_error(py, error);
    if let RunError::Evaluation { id, .. } = error
        && let Some(cause) = caught.of(py, *id)
    {
        raised.set_cause(py, Some(cause));
    }
    raised
}

/// An error of a run as an exception of the right class.
pub(super) fn run_error(py: Python<'_>, error: &RunError) -> PyErr {
    let class = match error {
        RunError::Checkpoint(_) => "CheckpointError",
        RunError::OtherProblem { .. } => "ProblemError",
        RunError::Internal { .. } => "BilevoError",
        _ => "EvaluationError",
    };
    errors::coded(py, class, error)
}
