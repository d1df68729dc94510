//! Tables of evaluations as NumPy arrays: one row for each point, NaN for missing values.

use bilevo::ProblemSpec;
use bilevo::known::Evaluation;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// x, y, F, G, f, g, and which were answers of a run.
pub(crate) type Columns<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<bool>>,
);

/// Rows from the arrays x, y, G, g and F, f. If only the follower's own solver knows y, its rows end before the first
/// NaN.
pub(crate) fn rows(
    [x, y, upper, lower]: [&PyReadonlyArray2<'_, f64>; 4],
    [big, small]: [&PyReadonlyArray1<'_, f64>; 2],
    answers: &PyReadonlyArray1<'_, bool>,
    oracle: bool,
) -> Vec<Evaluation> {
    let part = |array: &PyReadonlyArray2<'_, f64>, row: usize| array.as_array().row(row).to_vec();
    let values = |value: f64, constraints: Vec<f64>| (!value.is_nan()).then_some((value, constraints));
    let (big, small) = (big.as_array(), small.as_array());
    let row = |index: usize| {
        let mut y = part(y, index);
        if oracle {
            y.truncate(y.iter().rposition(|v| !v.is_nan()).map_or(0, |last| last + 1));
        }
        Evaluation {
            x: part(x, index),
            y,
            upper: values(big[index], part(upper, index)),
            lower: values(small[index], part(lower, index)),
            is_answer: answers.as_array()[index],
        }
    };
    (0..x.as_array().nrows()).map(row).collect()
}

/// The arrays of rows.
pub(crate) fn columns<'py>(py: Python<'py>, spec: &ProblemSpec, rows: &[Evaluation]) -> PyResult<Columns<'py>> {
    let answers = rows.iter().map(|row| row.y.len()).max().unwrap_or(0).max(spec.lower.dim());
    let array = |width: usize, part: &dyn Fn(&Evaluation) -> Option<Vec<f64>>| {
        let mut values = Vec::with_capacity(rows.len() * width);
        for (index, row) in rows.iter().enumerate() {
            values.extend(part(row).unwrap_or_default());
            values.resize((index + 1) * width, f64::NAN);
        }
        PyArray1::from_vec(py, values).reshape([rows.len(), width])
    };
    let constraints = |values: &Option<(f64, Vec<f64>)>| values.as_ref().map(|(_, constraints)| constraints.clone());
    let one = |value: &dyn Fn(&Evaluation) -> Option<f64>| {
        PyArray1::from_iter(py, rows.iter().map(|row| value(row).unwrap_or(f64::NAN)))
    };
    Ok((
        array(spec.upper.dim(), &|row| Some(row.x.clone()))?,
        array(answers, &|row| Some(row.y.clone()))?,
        one(&|row| row.upper.as_ref().map(|(value, _)| *value)),
        array(spec.upper.constraints(), &|row| constraints(&row.upper))?,
        one(&|row| row.lower.as_ref().map(|(value, _)| *value)),
        array(spec.lower.constraints(), &|row| constraints(&row.lower))?,
        PyArray1::from_iter(py, rows.iter().map(|row| row.is_answer)),
    ))
}
