//! Calls of the user's Python functions, one point or one whole batch at a time.
//!
//! Every call gets its own arrays, so that a function may modify or keep them. The usual return values (a float, an
//! array of floats) are read here; everything else goes to `bilevo._values`, which understands the other forms and
//! explains what is wrong.

use crate::answers;
use bilevo::Batch;
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat};

/// The functions of one level.
#[derive(Debug)]
pub(crate) enum Functions {
    /// A function of the objective, and functions that return a known number of constraint values.
    Plain { objective: Py<PyAny>, constraints: Vec<(Py<PyAny>, usize)> },
    /// A method that fills `out["F"]`, `out["G"]` and `out["H"]`.
    Out { method: Py<PyAny>, inequalities: usize, equalities: usize },
}

impl Functions {
    /// Evaluates one point; pushes its constraint values onto `constraints`.
    pub(crate) fn point(
        &self,
        py: Python<'_>,
        batch: &Batch,
        index: usize,
        constraints: &mut Vec<f64>,
    ) -> PyResult<f64> {
        let arrays = || -> PyResult<_> { Ok((PyArray1::from_slice(py, batch.x(index)), second(py, batch, index)?)) };
        match self {
            Functions::Plain { objective, constraints: functions } => {
                let value = number(&objective.bind(py).call1(arrays()?)?)?;
                for (function, count) in functions {
                    row(&function.bind(py).call1(arrays()?)?, *count, constraints)?;
                }
                Ok(value)
            }
            Functions::Out { method, inequalities, equalities } => {
                let out = PyDict::new(py);
                let (x, y) = arrays()?;
                method.bind(py).call1((x, y, &out))?;
                let value = number(&entry(&out, "F")?)?;
                for (key, count) in [("G", *inequalities), ("H", *equalities)] {
                    match count {
                        0 => refuse_undeclared(&out, key, 1)?,
                        _ => row(&entry(&out, key)?, count, constraints)?,
                    }
                }
                Ok(value)
            }
        }
    }

    /// Evaluates a batch at once: its values, and its constraint values, one row for each point.
    pub(crate) fn batch(&self, py: Python<'_>, points: &Batch) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let n = points.len();
        match self {
            Functions::Plain { objective, constraints } => {
                let values = column(&objective.bind(py).call1(both(py, points)?)?, n)?;
                let mut rows = Rows::new(n, constraints.iter().map(|(_, count)| count).sum());
                for (function, count) in constraints {
                    rows.add(&matrix(&function.bind(py).call1(both(py, points)?)?, n, *count)?, *count);
                }
                Ok((values, rows.values))
            }
            Functions::Out { method, inequalities, equalities } => {
                let out = PyDict::new(py);
                let (x, y) = both(py, points)?;
                method.bind(py).call1((x, y, &out))?;
                let values = column(&entry(&out, "F")?, n)?;
                let mut rows = Rows::new(n, inequalities + equalities);
                for (key, count) in [("G", *inequalities), ("H", *equalities)] {
                    match count {
                        0 => refuse_undeclared(&out, key, n)?,
                        _ => rows.add(&matrix(&entry(&out, key)?, n, count)?, count),
                    }
                }
                Ok((values, rows.values))
            }
        }
    }
}

type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// The value for y in a call at one point: an array, or the answer of the follower's own solver.
fn second<'py>(py: Python<'py>, batch: &Batch, index: usize) -> PyResult<Bound<'py, PyAny>> {
    match batch.answer(index) {
        Some(answer) => answers::unpacked(py, answer),
        None => Ok(PyArray1::from_slice(py, batch.y(index)).into_any()),
    }
}

/// The x of a batch, and the value for y in a call of a vectorised function.
pub(crate) fn both<'py>(py: Python<'py>, batch: &Batch) -> PyResult<(Matrix<'py>, Bound<'py, PyAny>)> {
    let (x, y) = arrays(py, batch)?;
    let second = if batch.answer(0).is_some() { answers::unpacked_all(py, batch)? } else { y.into_any() };
    Ok((x, second))
}

/// The x and y of a batch as fresh arrays of shape (points, variables).
pub(crate) fn arrays<'py>(py: Python<'py>, batch: &Batch) -> PyResult<(Matrix<'py>, Matrix<'py>)> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for index in 0..batch.len() {
        x.extend_from_slice(batch.x(index));
        // answers of the follower's own solver take another path: they may differ in length
        y.extend_from_slice(if batch.answer(index).is_some() { &[] } else { batch.y(index) });
    }
    Ok((two_dimensional(py, batch.len(), x)?, two_dimensional(py, batch.len(), y)?))
}

/// An array of `rows` rows, from consecutive values.
pub(crate) fn two_dimensional<'py>(py: Python<'py>, rows: usize, values: Vec<f64>) -> PyResult<Matrix<'py>> {
    let columns = values.len().checked_div(rows).unwrap_or(0);
    let array = Array2::from_shape_vec((rows, columns), values)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
    Ok(PyArray2::from_owned_array(py, array))
}

/// Constraint values of a batch, filled function by function and stored point by point.
struct Rows {
    values: Vec<f64>,
    width: usize,
    filled: usize,
}

impl Rows {
    fn new(points: usize, width: usize) -> Self {
        Rows { values: vec![0.0; points * width], width, filled: 0 }
    }

    fn add(&mut self, block: &[f64], count: usize) {
        for (row, part) in self.values.chunks_exact_mut(self.width).zip(block.chunks_exact(count)) {
            row[self.filled..self.filled + count].copy_from_slice(part);
        }
        self.filled += count;
    }
}

fn entry<'py>(out: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    match out.get_item(key)? {
        Some(value) => Ok(value),
        None => Err(helper(out.py(), "missing_entry")?.call1((key, out)).map_or_else(|e| e, |_| missing())),
    }
}

/// Refuses values of constraints that the problem does not declare: nothing would respect them.
fn refuse_undeclared(out: &Bound<'_, PyDict>, key: &str, points: usize) -> PyResult<()> {
    match out.get_item(key)? {
        Some(value) => helper(out.py(), "undeclared_entry")?.call1((key, value, points)).map(drop),
        None => Ok(()),
    }
}

/// Only if `bilevo._values.missing_entry` did not raise.
#[cold]
fn missing() -> PyErr {
    pyo3::exceptions::PyKeyError::new_err("an entry of `out` is missing")
}

/// One number.
fn number(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match value.cast::<PyFloat>() {
        Ok(float) => Ok(float.value()),
        Err(_) => helper(value.py(), "number")?.call1((value,))?.extract(),
    }
}

/// `count` numbers, pushed onto `into`.
fn row(value: &Bound<'_, PyAny>, count: usize, into: &mut Vec<f64>) -> PyResult<()> {
    if count == 1
        && let Ok(float) = value.cast::<PyFloat>()
    {
        into.push(float.value());
        return Ok(());
    }
    into.extend(flat(value, &[count], || helper(value.py(), "row")?.call1((value, count)))?);
    Ok(())
}

/// A number for each of `n` points.
fn column(value: &Bound<'_, PyAny>, n: usize) -> PyResult<Vec<f64>> {
    flat(value, &[n], || helper(value.py(), "column")?.call1((value, n)))
}

/// `count` numbers for each of `n` points, row by row.
fn matrix(value: &Bound<'_, PyAny>, n: usize, count: usize) -> PyResult<Vec<f64>> {
    flat(value, &[n, count], || helper(value.py(), "matrix")?.call1((value, n, count)))
}

/// The numbers of an array of the right shape; anything else goes through `convert` first.
fn flat<'py>(
    value: &Bound<'py, PyAny>,
    shape: &[usize],
    convert: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Vec<f64>> {
    // A subclass (a masked array, say) may mean more than its numbers: `convert` decides.
    let plain = |value: &Bound<'py, PyAny>| -> Option<Vec<f64>> {
        let array = value.cast_exact::<numpy::PyArrayDyn<f64>>().ok()?;
        if array.shape() != shape || !array.data().is_aligned() {
            return None;
        }
        if array.is_c_contiguous() {
            return array.to_vec().ok();
        }
        // A column of a matrix, say.
        let whole_steps = array.strides().iter().all(|step| step % size_of::<f64>() as isize == 0);
        whole_steps.then(|| array.try_readonly().ok().map(|view| view.as_array().iter().copied().collect()))?
    };
    if let Some(numbers) = plain(value) {
        return Ok(numbers);
    }
    let converted = convert()?;
    plain(&converted).ok_or_else(|| pyo3::exceptions::PyTypeError::new_err("the values could not be read as an array"))
}

/// A function of `bilevo._values`.
fn helper<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import(intern!(py, "bilevo._values")).map(Bound::unbind))?;
    module.bind(py).getattr(name)
}
