//! What evaluates a run's batches, and answers by ask and tell.

use crate::border::Answering;
use crate::functions::Functions;
use crate::source::{Interrupted, Source};
use crate::told::Answer;
use bilevo::EvaluatorError;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// What evaluates the batches: functions of this process, the engine's own evaluators, or a pool.
pub(super) fn answering<'a>(
    evaluator: &'a Bound<'_, PyAny>,
) -> impl FnOnce() -> Result<Answering<'a>, EvaluatorError> + Send {
    let functions = evaluator.cast::<Functions>().ok().map(Bound::get);
    let source = evaluator.cast::<Source>().ok().map(Bound::get);
    let pool = evaluator.clone().unbind();
    move || match (functions, source) {
        (Some(functions), _) => Ok(Answering::Functions(functions)),
        (_, Some(source)) => {
            let interrupted = Interrupted::default();
            Ok(Answering::Native(source.evaluator(interrupted.clone())?, interrupted))
        }
        _ => Ok(Answering::Pool(pool)),
    }
}

/// The answers to some points, by their ids.
pub(super) fn read_answers(
    ids: &PyReadonlyArray1<'_, u64>,
    values: &PyReadonlyArray1<'_, f64>,
    constraints: Option<&PyReadonlyArray2<'_, f64>>,
    failures: Vec<(usize, String)>,
) -> Vec<(u64, Answer)> {
    let rows = constraints.map(|rows| rows.as_array());
    let row = |index: usize| rows.as_ref().map_or_else(Vec::new, |rows| rows.row(index).to_vec());
    let told = ids.as_array().into_iter().zip(values.as_array()).enumerate();
    let mut answers: Vec<_> = told.map(|(index, (&id, &value))| (id, Answer::Value(value, row(index)))).collect();
    for (index, message) in failures {
        if let Some((_, answer)) = answers.get_mut(index) {
            *answer = Answer::Failed(message);
        }
    }
    answers
}
