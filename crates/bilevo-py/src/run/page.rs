//! The report on a run.

use crate::border::{Answering, Border, Caught};
use crate::errors;
use bilevo::audit::AuditOptions;
use bilevo::audit::around::{self, Surroundings};
use bilevo::problems::file::Labels;
use bilevo::{Evaluator, EvaluatorError, GenerationRecord, ProblemSpec, RunResult, TimeLimits};
use bilevo_lab::report::KIND;
use bilevo_lab::run_report::RunReport;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The name of a problem from functions to which the user gave none.
const UNNAMED: &str = "function";

/// Writes the report on a run, whose result is given as JSON, after exploring the neighbourhood of its answer with at
/// most about this many evaluations, each within a time limit.
#[allow(clippy::too_many_arguments)]
pub(super) fn write<'a>(
    py: Python<'_>,
    spec: &ProblemSpec,
    records: &[GenerationRecord],
    answering: impl FnOnce() -> Result<Answering<'a>, EvaluatorError> + Send,
    path: &Path,
    result: &str,
    (evaluations, each): (Option<u64>, Option<Duration>),
    units: BTreeMap<String, String>,
) -> PyResult<()> {
    let unreadable = |error: &dyn std::fmt::Display| errors::problem(py, format!("no page: {error}"));
    let result: RunResult = serde_json::from_str(result).map_err(|error| unreadable(&error))?;
    let look = || -> (Option<PyErr>, Result<Surroundings, EvaluatorError>) {
        let Some(solution) = &result.solution else { return (None, Ok(Surroundings::default())) };
        let mut border = match answering() {
            Ok(answering) => Border::new(spec.clone(), answering, Caught::default(), true),
            Err(error) => return (None, Err(error)),
        };
        border.limit(TimeLimits { end: None, each });
        let evaluations = evaluations.unwrap_or_else(|| around::allowance(&result));
        let seen = around::look_around(&mut border, solution, evaluations, &AuditOptions::default());
        (border.fatal, Ok(seen))
    };
    let (fatal, seen) = py.detach(look);
    if let Some(error) = fatal {
        return Err(error);
    }
    let seen = seen.map_err(|error| unreadable(&error))?;
    let (around, labels, command) = (&seen, &Labels { units, ..Labels::default() }, "");
    // Functions without a name are all called that; as the title of a page it says nothing.
    let titled = ProblemSpec { name: "Your problem".into(), ..spec.clone() };
    let spec = if spec.name == UNNAMED { &titled } else { spec };
    let page = RunReport { spec, result: &result, records, around, labels, command };
    let html = page.html().map_err(|error| unreadable(&error))?;
    bilevo::files::prepare(path, &KIND)
        .and_then(|()| bilevo::files::write(path, &KIND, |out| out.write_all(html.as_bytes())))
        .map_err(|error| errors::problem(py, error.to_string()))
}
