//! Proofs for problems given by formulas.

use crate::errors;
use bilevo::Names;
use bilevo::prove::{Claim, ProveOptions};
use bilevo::source::{self, Source};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a proof checks for Ctrl-C.
const WAKE: Duration = Duration::from_millis(50);

/// The problem of a name, in the size of the point if it comes in several.
fn opened(name: &str, point: Option<&(Vec<f64>, Vec<f64>)>) -> Result<Box<dyn Source>, String> {
    let source = source::open(name, None).map_err(|error| error.to_string())?;
    let size = |source: &dyn Source| (source.spec().upper.dim(), source.spec().lower.dim());
    let Some((x, y)) = point else { return Ok(source) };
    let (given, expected) = ((x.len(), y.len()), size(&*source));
    if given == expected {
        return Ok(source);
    }
    source::open(name, Some(given)).map_err(|_| {
        let (m, n) = expected;
        format!(
            "x has {} numbers and y has {}, {name} takes {m} and {n}\nhint: give the point of this problem",
            x.len(),
            y.len()
        )
    })
}

/// A proof as JSON, with its words: of a point if there is one, otherwise of the value `claim`.
#[pyfunction]
#[pyo3(signature = (name, point, claim, eps, time_limit))]
pub(crate) fn prove(
    py: Python<'_>,
    name: String,
    point: Option<(Vec<f64>, Vec<f64>)>,
    claim: f64,
    eps: f64,
    time_limit: f64,
) -> PyResult<(String, Vec<String>)> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let work = move || -> Result<(String, Vec<String>), String> {
        let source = opened(&name, point.as_ref())?;
        let file = source.formulas().ok_or_else(|| {
            format!("{name} has no formulas, so nothing can be proven\nhint: write it as a problem file")
        })?;
        let claim = point.map_or(Claim::Value(claim), |(x, y)| Claim::Point { x, y });
        let time_limit = Duration::try_from_secs_f64(time_limit).map_err(|error| error.to_string())?;
        let options = ProveOptions { eps, time_limit, stop: flag };
        let proof = bilevo::prove::prove(file, &claim, &options).map_err(|error| error.to_string())?;
        Ok((crate::run::json(&proof), proof.words(Names::of(source.spec()).as_ref())))
    };
    let worker = std::thread::spawn(work);
    while !worker.is_finished() {
        py.detach(|| std::thread::park_timeout(WAKE.min(Duration::from_millis(2))));
        if let Err(interrupted) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            let _ = py.detach(|| worker.join());
            return Err(interrupted);
        }
    }
    match worker.join() {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(message)) => Err(errors::problem(py, message)),
        Err(_) => Err(errors::problem(py, "the proof failed: please report this")),
    }
}
