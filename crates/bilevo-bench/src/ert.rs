//! Solved runs and expected running times of a method, one line for each problem.
//!
//! `ert [--method M]... [--runs N] [--seed N]... [--budget N] [--no-target] [--set PATH=VALUE]...
//! [--ablation] [--markdown] [--csv FILE] PROBLEM...`, or `ert --figure FILE.svg --from FILE.csv...`
//!
//! A problem is a name, a name with sizes (`smd1@5+5`), or a suite (`smd`, `tp`, `rotated`,
//! `basblib`, `sizes`). A rotated problem without a number (`smd1-rotated`) is another instance in every
//! run: that of the run's seed. The expected running time is the number of evaluations of all runs, divided by the
//! number of runs that solved the problem; the ratio compares it with the best published total (TP:
//! that of CR-TLEA-CMA-ES; rotated problems: that of the plain one). Runs on TP count as solved
//! within a relative 1e-3, on BASBLib within a hundredth. The time is the processor's for one
//! evaluation, nearly all of it the method's own. Give `--method` or `--seed` twice for two sets of runs.
//!
//! `--csv` writes the measurements to a file, where they replace earlier ones of the same method on the same problem at
//! the same size; `--figure` draws such files as curves over the size.
//!
//! With `--ablation`, all problems are also run without each part of the default method, and one line per part says
//! what that costs.

mod measure;
mod options;
mod stored;
mod table;

pub use options::Options;

use crate::parts;
use anyhow::Result;
use std::io::Write;

/// Measures what the options ask for and prints it.
///
/// # Errors
/// A problem or setting that does not exist, or nowhere to write to.
pub fn print(options: &Options, out: &mut impl Write) -> Result<()> {
    match &options.figure {
        Some(figure) => stored::draw(figure, &options.from),
        None if options.ablation => ablation(options, out),
        None => table::print(options, out),
    }
}

/// All problems without each part in turn, one line per part.
fn ablation(options: &Options, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{:24} {:>6} {:>6}  solved of {} runs, where not all", "without", "ratio", "mean", options.runs)?;
    for part in parts::each() {
        let mut options = options.clone();
        options.settings.push(part.setting());
        let Some(set) = options.sets().next() else { continue };
        let rows = measure::problems(&options, set, &mut std::io::sink())?;
        let lost = rows.iter().filter(|row| row.solved < row.runs);
        let lost: Vec<String> = lost.map(|row| format!("{} {}", row.problem, row.solved)).collect();
        let mean = rows.iter().map(measure::Row::ert).sum::<f64>() / rows.len() as f64;
        let ratio = table::shown(table::ratio(&rows));
        writeln!(out, "{:24} {ratio:>6} {mean:6.0}  {}", part.name, lost.join(", "))?;
    }
    Ok(())
}
