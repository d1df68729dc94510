//! Every run as a line of a CSV file.

use super::Run;
use super::judge::Told;
use anyhow::Result;
use serde::Serialize;
use std::fs::File;
use std::path::Path;

#[derive(Serialize)]
struct Line<'a> {
    suite: &'a str,
    units: &'a str,
    problem: &'a str,
    seed: u64,
    right: bool,
    told: bool,
    found: f64,
    truth: Option<f64>,
    violation: f64,
    gap: f64,
    evaluations: u64,
    first_hit: Option<u64>,
    said: &'a str,
}

/// Writes runs as they come.
pub(super) struct Writer(csv::Writer<File>);

impl Writer {
    pub(super) fn new(path: &Path) -> Result<Writer> {
        Ok(Writer(csv::Writer::from_path(path)?))
    }

    pub(super) fn keep(&mut self, suite: &str, units: &str, runs: &[Run]) -> Result<()> {
        for Run { problem, seed, finding } in runs {
            self.0.serialize(Line {
                suite,
                units,
                problem,
                seed: *seed,
                right: finding.right,
                told: finding.told == Told::Doubt,
                found: finding.found,
                truth: finding.truth,
                violation: finding.violation,
                gap: finding.gap,
                evaluations: finding.evaluations,
                first_hit: finding.first_hit,
                said: &finding.said,
            })?;
        }
        Ok(self.0.flush()?)
    }
}
