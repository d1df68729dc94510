//! The measurements, for the terminal and for the guide.

use super::judge::Finding;
use super::{Run, counts, suites};
use anyhow::Result;
use std::io::Write;

/// A suite in some units.
pub(super) struct Row {
    title: String,
    runs: usize,
    right: usize,
    flagged: usize,
    silent: usize,
    mean: f64,
    geometric: f64,
    /// Evaluations divided by those of the first hit, geometric mean over the right runs.
    ratio: f64,
    micros: f64,
}

fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}

impl Row {
    pub(super) fn new(suite: &str, units: &str, runs: &[Run]) -> Row {
        let [right, flagged, silent] = counts(runs);
        let evaluations = || runs.iter().map(|run| run.finding.evaluations as f64);
        let total: f64 = evaluations().sum();
        let hits = runs.iter().map(|run| &run.finding).filter(|finding| finding.right);
        let hits = hits.filter_map(|f| Some(f.evaluations as f64 / f.first_hit? as f64));
        let title = [suites::short(suite), units].join(" ");
        Row {
            title: title.trim().into(),
            runs: runs.len(),
            right,
            flagged,
            silent,
            mean: total / runs.len() as f64,
            geometric: geometric(evaluations()),
            ratio: geometric(hits),
            micros: runs.iter().map(|run| run.finding.seconds).sum::<f64>() * 1e6 / total,
        }
    }

    /// Right / flagged / silent, mean evaluations.
    pub(super) fn brief(&self) -> String {
        format!("{} / {} / {}, {:.0}", self.right, self.flagged, self.silent, self.mean)
    }

    pub(super) fn line(&self, out: &mut impl Write) -> Result<()> {
        let Row { title, runs, right, flagged, silent, mean, geometric, ratio, micros } = self;
        writeln!(
            out,
            "{title:18} {runs:>5} {right:>6} {flagged:>7} {silent:>7} {mean:8.0} {geometric:8.0} {ratio:7.1} {micros:6.0}"
        )?;
        Ok(out.flush()?)
    }
}

pub(super) fn head(out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "{:18} {:>5} {:>6} {:>7} {:>7} {:>8} {:>8} {:>7} {:>6}",
        "suite", "runs", "right", "flagged", "silent", "mean", "geomean", "/ hit", "µs"
    )?;
    Ok(())
}

/// A run that has ended, in one line.
pub(super) fn progress(run: &Run) -> String {
    let Finding { right, flagged, evaluations, .. } = run.finding;
    let verdict = match (right, flagged) {
        (true, _) => "right",
        (false, true) => "wrong, flagged",
        (false, false) => "wrong, silent",
    };
    format!("{}, seed {}: {verdict}, {evaluations} evaluations", suites::short(&run.problem), run.seed)
}

/// Names the wrong runs.
pub(super) fn wrong(runs: &[Run], out: &mut impl Write) -> Result<()> {
    for Run { problem, seed, finding } in runs.iter().filter(|run| !run.finding.right) {
        let truth = finding.truth.map_or("infeasible".into(), |truth| format!("{truth:.6}"));
        let (found, violation, gap) = (finding.found, finding.violation, finding.gap);
        let (problem, said) = (suites::short(problem), &finding.said);
        let flagged = if finding.flagged { "flagged" } else { "SILENT" };
        writeln!(
            out,
            "    {problem}, seed {seed}: F {found:.6}, true {truth}, violation {violation:.0e}, gap {gap:.0e}; {said}; {flagged}"
        )?;
    }
    Ok(out.flush()?)
}

/// The rows as a table for the guide.
pub(super) fn markdown(rows: &[Row], out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n| suite | runs | right | wrong, flagged | wrong, silent | mean evaluations | geometric mean |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for Row { title, runs, right, flagged, silent, mean, geometric, .. } in rows {
        writeln!(out, "| {title} | {runs} | {right} | {flagged} | {silent} | {mean:.0} | {geometric:.0} |")?;
    }
    Ok(())
}
