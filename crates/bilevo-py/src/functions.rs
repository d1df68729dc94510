//! Python functions as an evaluator of single points and of whole batches.

use crate::answers;
use crate::call;
use crate::errors;
use bilevo::{Batch, Level, ProblemSpec, TimeLimits};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Points between two checks for Ctrl-C within a batch.
const SIGNALS_EVERY: usize = 64;

/// Plain Python functions of both levels.
#[pyclass(frozen, module = "bilevo._native")]
pub(crate) struct Functions {
    pub(crate) spec: ProblemSpec,
    upper: call::Functions,
    lower: call::Functions,
    /// The follower's own solver, if it has one.
    follower: Option<Py<PyAny>>,
    vectorized: bool,
}

#[pymethods]
impl Functions {
    pub(crate) fn is_vectorized(&self) -> bool {
        self.vectorized
    }

    #[new]
    fn new(
        py: Python<'_>,
        spec: &str,
        upper: &Bound<'_, PyAny>,
        lower: &Bound<'_, PyAny>,
        follower: Option<Py<PyAny>>,
        vectorized: bool,
    ) -> PyResult<Self> {
        let spec = crate::run::read_spec(py, spec)?;
        Ok(Functions { spec, upper: level_functions(upper)?, lower: level_functions(lower)?, follower, vectorized })
    }

    /// Values, constraint values, and the exceptions of failed points with their index. At the level `follower`,
    /// there are packed answers instead of values and constraint values; y may be given as packed answers too.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        level: &str,
        x: PyReadonlyArray2<'py, f64>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Evaluated<'py>> {
        if level == FOLLOWER {
            return self.answer(py, &x);
        }
        let level = read_level(py, level)?;
        let batch = match y.extract::<PyReadonlyArray2<'py, f64>>() {
            Ok(y) => read_batch(py, &self.spec, level, &x, &y)?,
            Err(_) => read_answered(py, &self.spec, &x, y)?,
        };
        let width = self.spec.level(level).constraints();
        let (mut values, mut constraints, mut caught) = (Vec::new(), Vec::new(), Vec::new());
        self.each(py, &batch, TimeLimits::default(), |index, answer, row| match answer {
            Ok(value) => {
                values.push(value);
                constraints.extend_from_slice(row);
            }
            Err(error) => {
                values.push(f64::NAN);
                constraints.resize(values.len() * width, f64::NAN);
                caught.push((index, error.into_value(py).into_any()));
            }
        })?;
        as_arrays(py, values, constraints, caught)
    }
}

/// The level of the follower's own solver.
pub(crate) const FOLLOWER: &str = "follower";

/// Values, constraint values, and the exceptions of failed points with their index.
pub(crate) type Evaluated<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyAny>, Vec<(usize, Py<PyAny>)>);

/// Points as Python gives them.
pub(crate) fn read_batch(
    py: Python<'_>,
    spec: &ProblemSpec,
    level: Level,
    x: &PyReadonlyArray2<'_, f64>,
    y: &PyReadonlyArray2<'_, f64>,
) -> PyResult<Batch> {
    let rows = |array: &PyReadonlyArray2<'_, f64>| -> Vec<Vec<f64>> {
        array.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
    };
    let (x, y) = (rows(x), rows(y));
    let points = x.iter().zip(&y).map(|(x, y)| (x.as_slice(), y.as_slice()));
    Batch::from_points(spec, level, points).map_err(|error| errors::problem(py, error))
}

/// Decisions with packed answers of the follower's own solver.
fn read_answered(
    py: Python<'_>,
    spec: &ProblemSpec,
    x: &PyReadonlyArray2<'_, f64>,
    packed: &Bound<'_, PyAny>,
) -> PyResult<Batch> {
    let x: Vec<Vec<f64>> = x.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
    let mut answers = Vec::new();
    for row in packed.try_iter()? {
        answers.push(answers::read(&row?.get_item(0)?)?);
    }
    let answered = x.iter().map(Vec::as_slice).zip(answers);
    Batch::of_answers(spec, answered).map_err(|error| errors::problem(py, error))
}

/// Answers as Python takes them.
pub(crate) fn as_arrays<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    constraints: Vec<f64>,
    failed: Vec<(usize, Py<PyAny>)>,
) -> PyResult<Evaluated<'py>> {
    let constraints = call::two_dimensional(py, values.len(), constraints)?.into_any();
    Ok((PyArray1::from_vec(py, values), constraints, failed))
}

impl Functions {
    /// Evaluates every point, and passes the value and constraint values, or the exception, to `take`.
    ///
    /// # Errors
    /// What is not an `Exception` (Ctrl-C, say) ends the whole batch, and so does the end of the run's time.
    pub(crate) fn each(
        &self,
        py: Python<'_>,
        batch: &Batch,
        limits: TimeLimits,
        mut take: impl FnMut(usize, Result<f64, PyErr>, &[f64]),
    ) -> PyResult<()> {
        let functions = match batch.level() {
            Level::Upper => &self.upper,
            Level::Lower => &self.lower,
        };
        if self.vectorized {
            return each_of_batch(py, functions, batch, limits, &mut take);
        }
        let mut constraints = Vec::new();
        for index in 0..batch.len() {
            if index % SIGNALS_EVERY == 0 {
                py.check_signals()?;
            }
            check_time(py, limits)?;
            constraints.clear();
            let answer = functions.point(py, batch, index, &mut constraints);
            if let Err(error) = &answer
                && !error.is_instance_of::<PyException>(py)
            {
                return Err(error.clone_ref(py));
            }
            take(index, answer, &constraints);
        }
        Ok(())
    }
}

impl Functions {
    /// Packed answers to decisions, as [`Functions::evaluate`] returns them.
    fn answer<'py>(&self, py: Python<'py>, x: &PyReadonlyArray2<'py, f64>) -> PyResult<Evaluated<'py>> {
        let x: Vec<Vec<f64>> = x.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
        let batch =
            Batch::of_decisions(&self.spec, x.iter().map(Vec::as_slice)).map_err(|error| errors::problem(py, error))?;
        let (packed, mut caught) = (PyList::empty(py), Vec::new());
        let nothing = || PyTuple::empty(py).into_any();
        self.each_answer(py, &batch, TimeLimits::default(), |index, answer| match answer {
            Ok(answer) => packed.append(answer),
            Err(error) => {
                caught.push((index, error.into_value(py).into_any()));
                packed.append(nothing())
            }
        })?;
        let values = PyArray1::from_vec(py, vec![f64::NAN; batch.len()]);
        Ok((values, answers::rows(py, packed)?, caught))
    }

    /// Asks the follower's own solver about every decision, and passes its packed answer, or the exception, to
    /// `take`.
    ///
    /// # Errors
    /// As for [`Functions::each`].
    pub(crate) fn each_answer<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        limits: TimeLimits,
        mut take: impl FnMut(usize, PyResult<Bound<'py, PyAny>>) -> PyResult<()>,
    ) -> PyResult<()> {
        let Some(solver) = &self.follower else {
            return Err(errors::problem(py, "this problem has no follower with its own solver"));
        };
        let solver = solver.bind(py);
        let fatal = |error: &PyErr| !error.is_instance_of::<PyException>(py);
        if self.vectorized {
            py.check_signals()?;
            return match answers::ask_all(solver, batch) {
                Ok(answers) => answers.into_iter().enumerate().try_for_each(|(index, answer)| take(index, Ok(answer))),
                Err(error) if fatal(&error) => Err(error),
                Err(error) => (0..batch.len()).try_for_each(|index| take(index, Err(error.clone_ref(py)))),
            };
        }
        for index in 0..batch.len() {
            py.check_signals()?;
            check_time(py, limits)?;
            match answers::ask(solver, batch.x(index)) {
                Err(error) if fatal(&error) => return Err(error),
                answer => take(index, answer)?,
            }
        }
        Ok(())
    }
}

/// Takes the index of a point, its value or exception, and its constraint values.
type Take<'a> = dyn FnMut(usize, Result<f64, PyErr>, &[f64]) + 'a;

/// An exception if the time of the run is used up.
fn check_time(py: Python<'_>, limits: TimeLimits) -> PyResult<()> {
    if limits.is_over() { Err(errors::exception(py, "OutOfTime", "the time is used up")) } else { Ok(()) }
}

/// A whole batch in one call. If the function raises, its points are tried one by one, so that a bad one does not
/// spoil the others; a result of the wrong shape is a failure of all.
fn each_of_batch(
    py: Python<'_>,
    functions: &call::Functions,
    batch: &Batch,
    limits: TimeLimits,
    take: &mut Take<'_>,
) -> PyResult<()> {
    py.check_signals()?;
    check_time(py, limits)?;
    let n = batch.len();
    match functions.batch(py, batch) {
        Ok((values, constraints)) => {
            let width = constraints.len().checked_div(n).unwrap_or(0);
            for (index, value) in values.into_iter().enumerate() {
                take(index, Ok(value), &constraints[index * width..(index + 1) * width]);
            }
            Ok(())
        }
        Err(error) if error.is_instance_of::<PyException>(py) && (n == 1 || errors::is_wrong_shape(py, &error)) => {
            (0..n).for_each(|index| take(index, Err(error.clone_ref(py)), &[]));
            Ok(())
        }
        Err(error) if error.is_instance_of::<PyException>(py) => (0..n).try_for_each(|index| {
            let alone = batch.subset(&[index]);
            each_of_batch(py, functions, &alone, limits, &mut |_, answer, row| take(index, answer, row))
        }),
        Err(error) => Err(error),
    }
}

/// The functions of one level, from `{"objective": ..., "constraints": [(function, count), ...]}` or
/// `{"out": method, "inequalities": ..., "equalities": ...}`.
fn level_functions(given: &Bound<'_, PyAny>) -> PyResult<call::Functions> {
    if given.contains("out")? {
        let count = |key| given.get_item(key)?.extract::<usize>();
        return Ok(call::Functions::Out {
            method: given.get_item("out")?.unbind(),
            inequalities: count("inequalities")?,
            equalities: count("equalities")?,
        });
    }
    Ok(call::Functions::Plain {
        objective: given.get_item("objective")?.unbind(),
        constraints: given.get_item("constraints")?.extract()?,
    })
}

pub(crate) fn read_level(py: Python<'_>, level: &str) -> PyResult<Level> {
    match level {
        "upper" => Ok(Level::Upper),
        "lower" => Ok(Level::Lower),
        other => Err(errors::problem(py, format!("there is no level `{other}`\nhint: `upper` or `lower`"))),
    }
}
