//! Every run as a line of a CSV file.

use super::{Options, Run};
use anyhow::Result;
use serde::Serialize;
use std::fs::File;

#[derive(Serialize)]
struct Line<'a> {
    suite: &'a str,
    /// Of units, or the part that was taken away.
    change: &'a str,
    problem: &'a str,
    seed: u64,
    right: bool,
    flagged: bool,
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
    /// The file that the options name.
    pub(super) fn of(options: &Options) -> Result<Option<Writer>> {
        Ok(options.csv.as_ref().map(csv::Writer::from_path).transpose()?.map(Writer))
    }

    pub(super) fn keep(&mut self, suite: &str, change: &str, runs: &[Run]) -> Result<()> {
        for Run { problem, seed, finding } in runs {
            self.0.serialize(Line {
                suite,
                change,
                problem,
                seed: *seed,
                right: finding.right,
                flagged: finding.flagged,
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
