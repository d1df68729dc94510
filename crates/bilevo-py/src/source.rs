//! Problems that need no Python to be evaluated.

use crate::errors;
use crate::functions::read_level;
use bilevo::problems::BoxedProblem;
use bilevo::{Evaluator, Serial, Threads};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// A built-in problem, a problem file, or a program.
#[pyclass(frozen, module = "bilevo._native")]
pub(crate) struct Source {
    problem: BoxedProblem,
    jobs: usize,
}

#[pymethods]
impl Source {
    #[new]
    #[pyo3(signature = (name, dims, jobs=1))]
    fn new(py: Python<'_>, name: &str, dims: Option<(usize, usize)>, jobs: usize) -> PyResult<Self> {
        let problem = bilevo::problems::problem(name, dims).map_err(|error| errors::problem(py, error))?;
        Ok(Source { problem, jobs })
    }

    /// The spec as JSON.
    fn spec(&self) -> String {
        serde_json::to_string(self.problem.spec()).unwrap_or_default()
    }

    /// The name under which it can be found again.
    fn name(&self) -> String {
        self.problem.spec().name.clone()
    }

    /// Hash of its definition, if it comes from a file.
    fn hash(&self) -> &'static str {
        ""
    }

    /// Value and constraint values at one point.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        level: &str,
        x: PyReadonlyArray1<'py, f64>,
        y: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
        let level = read_level(py, level)?;
        let spec = self.problem.spec();
        let (x, y) = (x.as_array().to_vec(), y.as_array().to_vec());
        if (x.len(), y.len()) != (spec.upper.dim(), spec.lower.dim()) {
            let message = format!(
                "the point has {}+{} variables\nhint: {} has {}+{}",
                x.len(),
                y.len(),
                spec.name,
                spec.upper.dim(),
                spec.lower.dim()
            );
            return Err(errors::problem(py, message));
        }
        let mut constraints = Vec::new();
        let value = self.problem.evaluate(level, &x, &y, &mut constraints);
        let value = value.map_err(|failure| errors::exception(py, "EvaluationError", failure))?;
        Ok((value, PyArray1::from_vec(py, constraints)))
    }
}

impl Source {
    /// What answers batches, on as many threads as wanted.
    pub(crate) fn evaluator(&self, py: Python<'_>) -> PyResult<Box<dyn Evaluator + Send + '_>> {
        Ok(match self.jobs {
            1 => Box::new(Serial::new(&*self.problem)),
            jobs => {
                let threads = Threads::new(&*self.problem, jobs);
                Box::new(threads.map_err(|error| errors::exception(py, "EvaluationError", error))?)
            }
        })
    }
}
