//! Errors of the Rust side as the exceptions of `bilevo._errors`.

use bilevo::printable::printable;
use bilevo::{ConfigError, codes};
use pyo3::prelude::*;
use std::error::Error;

/// An exception of a class of `bilevo._errors`. Messages may quote anybody's files and programs, and end up on
/// terminals.
pub(crate) fn exception(py: Python<'_>, class: &str, message: impl ToString) -> PyErr {
    let message = printable(&message.to_string());
    let made = py.import("bilevo._errors").and_then(|module| module.getattr(class)?.call1((message,)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The same for an error of the Rust side, with its code.
pub(crate) fn coded(py: Python<'_>, class: &str, error: &(dyn Error + 'static)) -> PyErr {
    with_code(py, exception(py, class, error), codes::code(error))
}

/// The same for a message with a code.
pub(crate) fn told(py: Python<'_>, class: &str, code: &'static str, message: impl ToString) -> PyErr {
    with_code(py, exception(py, class, message), Some(code))
}

/// An exception that carries a code; without one it keeps that of its class.
fn with_code(py: Python<'_>, raised: PyErr, code: Option<&'static str>) -> PyErr {
    match code.map(|code| raised.value(py).setattr("code", code)) {
        Some(Err(error)) => error,
        _ => raised,
    }
}

/// Whether this is the exception that says that the time of the run is used up.
pub(crate) fn is_out_of_time(py: Python<'_>, error: &PyErr) -> bool {
    is_a(py, error, "bilevo._errors", "OutOfTime")
}

/// Whether a vectorised function returned something of the wrong shape.
pub(crate) fn is_wrong_shape(py: Python<'_>, error: &PyErr) -> bool {
    is_a(py, error, "bilevo._values", "WrongShape")
}

fn is_a(py: Python<'_>, error: &PyErr, module: &str, class: &str) -> bool {
    let class = py.import(module).and_then(|module| module.getattr(class));
    class.is_ok_and(|class| error.get_type(py).is(&class))
}

/// Something is wrong with a problem, a method or a setting.
pub(crate) fn problem(py: Python<'_>, message: impl ToString) -> PyErr {
    exception(py, "ProblemError", message)
}

pub(crate) fn config(py: Python<'_>, error: &ConfigError) -> PyErr {
    // The hints of the command line, in terms of Python.
    let words = error.to_string();
    let words = words.replace("`bilevo list methods` shows all", "bilevo.methods() lists them");
    let words = words.replace("`bilevo explain METHOD` shows all", "bilevo.explain(method) shows all");
    with_code(py, problem(py, words), codes::code(error))
}

pub(crate) fn checkpoint(py: Python<'_>, error: impl ToString) -> PyErr {
    exception(py, "CheckpointError", error)
}
