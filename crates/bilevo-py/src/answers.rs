//! Answers of the follower's own solver on their way between Python and the engine, with `bilevo._answer`.

use bilevo::{Batch, OracleAnswer};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyTuple};

/// A function of `bilevo._answer`.
fn helper<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import(intern!(py, "bilevo._answer")).map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

/// A packed answer as Python holds it: y, f or None, info as bytes or None.
pub(crate) fn packed<'py>(py: Python<'py>, answer: &OracleAnswer) -> PyResult<Bound<'py, PyTuple>> {
    let info = answer.info.as_deref().map(|bytes| PyBytes::new(py, bytes));
    (PyArray1::from_slice(py, &answer.y), answer.value, info).into_pyobject(py)
}

/// The packed answers of an upper batch, one for each point.
fn all_packed<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyList>> {
    let packed: PyResult<Vec<_>> =
        (0..batch.len()).filter_map(|index| batch.answer(index)).map(|answer| packed(py, answer)).collect();
    PyList::new(py, packed?)
}

/// What the leader's function receives for one point.
pub(crate) fn unpacked<'py>(py: Python<'py>, answer: &OracleAnswer) -> PyResult<Bound<'py, PyAny>> {
    helper(py, "unpack")?.call1(packed(py, answer)?)
}

/// What a vectorised leader's function receives.
pub(crate) fn unpacked_all<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyAny>> {
    helper(py, "unpack_all")?.call1((all_packed(py, batch)?,))
}

/// The packed answers of an upper batch, as an array that workers can slice.
pub(crate) fn column<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyAny>> {
    rows(py, all_packed(py, batch)?)
}

/// Packed answers as an array.
pub(crate) fn rows<'py>(py: Python<'py>, packed: Bound<'py, PyList>) -> PyResult<Bound<'py, PyAny>> {
    helper(py, "rows")?.call1((packed,))
}

/// A packed answer from Python.
pub(crate) fn read(packed: &Bound<'_, PyAny>) -> PyResult<OracleAnswer> {
    let (y, value, info): (Bound<'_, PyArray1<f64>>, Option<f64>, Option<Vec<u8>>) = packed.extract()?;
    Ok(OracleAnswer { y: y.to_vec()?, value, info })
}

/// Packs what a solver returns for one decision.
pub(crate) fn ask<'py>(solver: &Bound<'py, PyAny>, x: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    let py = solver.py();
    helper(py, "pack")?.call1((solver.call1((PyArray1::from_slice(py, x),))?,))
}

/// Packs what a vectorised solver returns for all decisions of a batch.
pub(crate) fn ask_all<'py>(solver: &Bound<'py, PyAny>, batch: &Batch) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = solver.py();
    let (x, _) = crate::call::arrays(py, batch)?;
    helper(py, "pack_all")?.call1((solver.call1((x,))?, batch.len()))?.extract()
}
