//! One run of a calibration, and the file that stores runs.

use anyhow::{Context, Result};
use bilevo::calibration::Looks;
use bilevo::source::Named;
use bilevo::{AuditOptions, RunResult, Solver};
use bilevo_core::problem::BilevelProblem;
use bilevo_core::record::Step;
use bilevo_problems::planted::{Feature, Planted};
use bilevo_problems::planted_problem;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The warning that depends on the counts themselves.
const BY_COUNTS: &str = "W614";

/// One run, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) variables: [usize; 2],
    pub(super) constraints: usize,
    /// Names of the features.
    pub(super) features: Vec<String>,
    /// Cells of the looks.
    looks: Vec<String>,
    pub(super) right: bool,
    /// Whether the result has no warning, except perhaps the one that depends on the counts.
    pub(super) good: bool,
    pub(super) evaluations: u64,
    pub(super) restarts: u64,
    pub(super) agreeing: u64,
    pub(super) corrected: u64,
    pub(super) tied: bool,
    pub(super) found: String,
    /// F of the answer, and what led to it.
    pub(super) value: Option<f64>,
    pub(super) history: Vec<Step>,
}

impl Run {
    /// The features of its result; `None` in a file of another version.
    pub(super) fn looks(&self) -> Option<Looks> {
        let cells: Vec<&str> = self.looks.iter().map(String::as_str).collect();
        Looks::read(&cells)
    }

    pub(super) fn has(&self, feature: Feature) -> bool {
        self.features.iter().any(|name| name == feature.name())
    }
}

/// Runs a problem, given its seed, unless it has more variables than the limit.
pub(super) fn run(seed: u64, largest: usize, settings: &[(String, String)]) -> Result<Option<Run>> {
    let name = format!("planted:{seed}");
    let planted = planted_problem(&name, None)?;
    let spec = planted.spec();
    if spec.dim() > largest {
        return Ok(None);
    }
    let source = Named::new(Box::new(planted_problem(&name, None)?), &name, "");
    let solver = Solver::new(&source).seed(seed).set("stop.target", "off").audit(AuditOptions::default());
    let result = settings.iter().fold(solver, |solver, (path, value)| solver.set(path, value)).run()?;
    let (right, found) = judged(&planted, &result);
    let verification = result.verification.unwrap_or_default();
    Ok(Some(Run {
        seed,
        variables: [spec.upper.dim(), spec.lower.dim()],
        constraints: spec.upper.constraints() + spec.lower.constraints(),
        features: planted.features().iter().map(|feature| feature.name().into()).collect(),
        looks: Looks::of(&result).key().map(String::from).to_vec(),
        right,
        good: result.warnings.iter().all(|warning| warning.code == BY_COUNTS),
        evaluations: result.evaluations.total(),
        restarts: verification.restarts,
        agreeing: verification.agreeing,
        corrected: verification.corrected,
        tied: result.audit.as_ref().is_some_and(|audit| audit.ties.is_some()),
        found,
        value: result.solution.as_ref().map(|solution| solution.upper_value),
        history: result.history,
    }))
}

/// Whether an answer is right, and how far it is off.
fn judged(planted: &Planted, result: &RunResult) -> (bool, String) {
    let feasible = planted.optimum().is_some();
    let Some(solution) = &result.solution else { return (!feasible, "no answer".into()) };
    let judged = planted.judge(&solution.x, &solution.y);
    let right = match judged.error {
        Some(error) => error.abs() <= 1e-2 && judged.violation <= 1e-4 && judged.gap <= 1e-2,
        None => judged.violation > 1e-4,
    };
    let error = judged.error.map_or("infeasible".into(), |error| format!("F off by {error:.3}"));
    (right, format!("{error}, violation {:.0e}, gap {:.0e}", judged.violation, judged.gap))
}

/// Runs in a file, one per line.
pub(super) struct Kept {
    known: HashMap<u64, Run>,
    file: Mutex<BufWriter<File>>,
}

impl Kept {
    /// Reads existing runs; an unfinished last line is ignored.
    pub(super) fn open(path: &Path) -> Result<Kept> {
        let at = || path.display().to_string();
        let text = if path.exists() { std::fs::read_to_string(path).with_context(at)? } else { String::new() };
        let runs: Vec<Run> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path).with_context(at)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        let known = runs.into_iter().filter(|run| run.looks().is_some()).map(|run| (run.seed, run)).collect();
        Ok(Kept { known, file: Mutex::new(BufWriter::new(file)) })
    }

    pub(super) fn known(&self, seed: u64) -> Option<Run> {
        self.known.get(&seed).cloned()
    }

    pub(super) fn keep(&self, run: &Run) -> Result<()> {
        let line = serde_json::to_string(run)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{line}")?;
        Ok(file.flush()?)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A made-up run whose restarts agree.
    pub(in crate::calibrate) fn made_up(seed: u64, right: bool, features: &[&str]) -> Run {
        Run {
            seed,
            variables: [1, 1],
            constraints: 0,
            features: features.iter().map(|name| (*name).into()).collect(),
            looks: ["agreed", "own", "no", "stands"].map(String::from).to_vec(),
            right,
            good: true,
            evaluations: 500,
            restarts: 3,
            agreeing: 3,
            corrected: 0,
            tied: false,
            found: String::new(),
            value: None,
            history: Vec::new(),
        }
    }

    #[test]
    fn a_run_that_is_kept_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs");
        assert_eq!(run(3, 1, &[]).unwrap(), None, "it has more variables");
        let made = (1..20).find_map(|seed| run(seed, 2, &[]).unwrap()).unwrap();
        Kept::open(&path).unwrap().keep(&made).unwrap();
        // Broken off in the middle of a line.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"seed\":7").unwrap();
        let kept = Kept::open(&path).unwrap();
        assert_eq!(kept.known(made.seed), Some(made.clone()));
        assert_eq!(kept.known(7), None);
        kept.keep(&Run { seed: 7, ..made.clone() }).unwrap();
        assert_eq!(Kept::open(&path).unwrap().known(7), Some(Run { seed: 7, ..made }));
    }
}
