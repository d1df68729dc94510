//! Measurements in a CSV file, and the figure of them.

use super::measure::Row;
use anyhow::{Context, Result};
use bilevo_lab::figures::sizes::{Measured, sizes};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    method: String,
    /// With its size, as on the command line.
    problem: String,
    runs: u64,
    solved: u64,
    /// Of all runs together.
    evaluations: u64,
    /// The processor's time for one of them.
    microseconds: f64,
}

/// Puts rows into a file, in the place of those of the same method and problem.
pub(super) fn keep(path: &Path, method: &str, rows: &[Row]) -> Result<()> {
    let lines = if path.exists() { read(path)? } else { Vec::new() };
    let measured = rows.iter().map(|row| Line {
        method: method.into(),
        problem: row.problem.clone(),
        runs: row.runs,
        solved: row.solved,
        evaluations: row.total,
        microseconds: row.micros.round(),
    });
    let mut writer = csv::Writer::from_path(path)?;
    merged(lines, measured).iter().try_for_each(|line| writer.serialize(line))?;
    Ok(writer.flush()?)
}

fn merged(mut lines: Vec<Line>, measured: impl Iterator<Item = Line>) -> Vec<Line> {
    for line in measured {
        match lines.iter_mut().find(|old| (&old.method, &old.problem) == (&line.method, &line.problem)) {
            Some(old) => *old = line,
            None => lines.push(line),
        }
    }
    lines
}

/// Draws files as curves over the size of problems.
pub(super) fn draw(figure: &Path, from: &[PathBuf]) -> Result<()> {
    let mut measured = Vec::new();
    for path in from {
        for line in read(path)? {
            measured.push(point(line).with_context(|| format!("{} cannot be drawn", path.display()))?);
        }
    }
    let scene = sizes("Success and cost over size", &measured);
    Ok(std::fs::write(figure, scene.svg("sizes"))?)
}

fn read(path: &Path) -> Result<Vec<Line>> {
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(reader.deserialize().collect::<Result<_, _>>()?)
}

fn point(Line { method, problem, runs, solved, evaluations, .. }: Line) -> Result<Measured> {
    let (name, size) = problem.split_once('@').context("a problem without a size")?;
    let (m, n) = size.split_once('+').context("sizes are written m+n")?;
    Ok(Measured { method, problem: name.into(), dims: (m.parse()?, n.parse()?), runs, solved, evaluations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_take_the_place_of_earlier_ones() {
        let line = |method: &str, problem: &str, runs| Line {
            method: method.into(),
            problem: problem.into(),
            runs,
            solved: 1,
            evaluations: 100,
            microseconds: 1.0,
        };
        let old = vec![line("auto", "smd1@2+3", 5), line("boc", "smd1@2+3", 5)];
        let new = [line("auto", "smd1@2+3", 9), line("auto", "smd1@5+5", 9)];
        let runs: Vec<u64> = merged(old, new.into_iter()).iter().map(|line| line.runs).collect();
        assert_eq!(runs, [9, 5, 9]);
        assert_eq!(point(line("boc", "smd3@5+6", 5)).unwrap().dims, (5, 6));
        assert!(point(line("boc", "smd3", 5)).is_err());
    }
}
