//! Traces as IOHprofiler data, the form that IOHanalyzer and iohinspector read.
//!
//! There is one folder for each method (with its settings). For each problem and size, it has a JSON file that
//! describes the runs and a `.dat` file with their curves: total evaluations (both levels) against |F - F*| of the
//! elite, or F itself if F* is unknown. A problem is a "function", m + n its dimension, and the runs in the order of
//! their seeds are its instances.
//!
//! Readers recognise the start of a run by a point at evaluation 1. Nothing is known about the elite before the end
//! of the first generation, so its value there is also written for evaluation 1.

use crate::folder::{self, NamedFile};
use crate::row::{Row, TracePoint};
use bilevo::files::FileError;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The logger version whose layout we use; readers rely on it.
const LAYOUT_VERSION: &str = "0.3.22";

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The folder is not empty.
    #[error("`{}` exists already\nhint: give a folder that does not, or remove this one", .path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The files could not be written; none is left.
    #[error(transparent)]
    Files(#[from] FileError),
}

/// Writes the traces of some rows (loaded with traces) into a new folder; returns the number of runs. Runs without a
/// finite value are left out.
///
/// # Errors
/// The folder exists and is not empty, or cannot be written.
pub fn ioh_folder(rows: &[Row], folder: &Path) -> Result<usize, ExportError> {
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if folder.symlink_metadata().is_ok() && !is_empty() {
        return Err(ExportError::Exists { path: folder.to_path_buf() });
    }
    let mut functions = BTreeMap::new();
    for row in rows {
        functions.insert(function_name(row), 0);
    }
    functions.values_mut().zip(1..).for_each(|(id, number)| *id = number);
    let mut algorithms: BTreeMap<String, BTreeMap<String, Vec<&Row>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.trace.iter().any(|p| value(p).is_finite())) {
        let name = [row.id().method.as_str(), row.id().settings.as_str()].join(" ").trim_end().to_string();
        algorithms.entry(name).or_default().entry(function_name(row)).or_default().push(row);
    }
    let mut taken = BTreeSet::new();
    let (mut files, mut written) = (Vec::new(), 0);
    for (algorithm, problems) in &algorithms {
        let own = free_name(algorithm, &mut taken);
        for (function, runs) in problems {
            let id = functions.get(function).copied().unwrap_or_default();
            files.extend(function_files(&own, algorithm, (id, function), runs));
            written += runs.len();
        }
    }
    folder::write_new(folder, &files)?;
    Ok(written)
}

/// The description and the curves of one problem.
fn function_files(folder: &str, algorithm: &str, (id, function): (u32, &str), runs: &[&Row]) -> [NamedFile; 2] {
    let dimension = runs.first().map_or(0, |row| row.id().upper_dim + row.id().lower_dim);
    let label = format!("f{id}_{}", safe_name(function));
    let path = format!("data_{label}/IOHprofiler_f{id}_DIM{dimension}.dat");
    let mut curves = String::new();
    let mut described = Vec::new();
    for (number, row) in (1_u32..).zip(runs) {
        let points: Vec<(u64, f64)> =
            row.trace.iter().map(|p| (p.total_evals(), value(p))).filter(|(_, value)| value.is_finite()).collect();
        let start = points.first().filter(|(evals, _)| *evals > 1).map(|&(_, value)| (1, value));
        curves.push_str("evaluations raw_y\n");
        for (evals, value) in start.iter().chain(&points) {
            // Writing to a string cannot fail.
            let _ = writeln!(curves, "{evals} {value:?}");
        }
        let last = points.last();
        let solution: Vec<f64> = [row.result.x(), row.result.y()].into_iter().flatten().flatten().copied().collect();
        let best = json!({"evals": last.map(|l| l.0), "y": last.map(|l| l.1), "x": solution});
        described.push(json!({"instance": number, "evals": row.total_evals(), "best": best}));
    }
    let info = json!({
        "version": LAYOUT_VERSION,
        "suite": "bilevo",
        "function_id": id,
        "function_name": function,
        "maximization": false,
        "algorithm": {"name": algorithm, "info": format!("bilevo {}", runs.first().map_or("", |r| &r.id().version))},
        "attributes": ["evaluations", "raw_y"],
        "scenarios": [{"dimension": dimension, "path": path, "runs": described}],
    });
    let described = (format!("{folder}/IOHprofiler_{label}.json"), format!("{info:#}\n").into_bytes());
    [(format!("{folder}/{path}"), curves.into_bytes()), described]
}

/// Different sizes of a problem are different functions, because 2+3 and 3+2 have the same dimension.
fn function_name(row: &Row) -> String {
    let id = row.id();
    format!("{}-{}+{}", id.problem, id.upper_dim, id.lower_dim)
}

fn value(point: &TracePoint) -> f64 {
    point.accuracy.unwrap_or(point.upper_value)
}

/// A name without characters that are special in file systems.
fn safe_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_+".contains(c) { c } else { '_' };
    name.chars().map(safe).take(100).collect()
}

/// A folder name that no other algorithm has, even on file systems that ignore case.
fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let base = safe_name(name);
    let numbered = (2_u32..).map(|n| format!("{base}_{n}"));
    let free = std::iter::once(base.clone()).chain(numbered).find(|name| taken.insert(name.to_lowercase()));
    free.unwrap_or(base)
}
