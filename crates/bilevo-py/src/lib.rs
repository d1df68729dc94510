//! The native part of the Python package: `bilevo._native`.
//!
//! The package itself is written in Python (`python/bilevo`) and checks what users pass in. What has to be fast or
//! shares the engine is here: runs (`run`), calls of Python functions (`functions`), the boundary between both
//! (`border`), and problems that need no Python (`source`). Plain data is passed as JSON, points and values as
//! arrays.

mod answers;
mod border;
mod call;
mod errors;
mod functions;
mod lab;
mod prove;
mod run;
mod saved;
mod source;
mod tables;
mod told;

use bilevo::{Config, methods};
use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::functions::Functions;
    #[pymodule_export]
    use super::lab::{lab_failures, lab_rows, lab_run, lab_task};
    #[pymodule_export]
    use super::prove::prove;
    #[pymodule_export]
    use super::run::Run;
    #[pymodule_export]
    use super::source::Source;
    #[pymodule_export]
    use super::{method_name, method_names, method_settings, problem_names};

    /// The version of the native part.
    #[pymodule_export]
    const VERSION: &str = bilevo::VERSION;
}

/// The method's own name, given any of its names.
#[pyfunction]
fn method_name(py: Python<'_>, name: &str) -> PyResult<String> {
    methods::find(name).map(|method| method.name()).map_err(|error| errors::config(py, &error))
}

/// Every method with a sentence about it.
#[pyfunction]
fn method_names() -> Vec<(String, String)> {
    methods::all().map(|method| (method.name(), format!("{} {}", method.base.about, method.variant.about))).collect()
}

/// The settings of a method with their values, as JSON.
#[pyfunction]
fn method_settings(py: Python<'_>, name: &str) -> PyResult<String> {
    Config::named(name).map(|config| run::json(&config)).map_err(|error| errors::config(py, &error))
}

/// Every built-in problem.
#[pyfunction]
fn problem_names() -> Vec<&'static str> {
    bilevo::problems::names().collect()
}
