//! How often results that look alike are right: the default method on planted problems.
//!
//! `calibrate [--seeds 1-1500] [--held-out 100001-100500] [--largest 20] [--set PATH=VALUE]... [--runs FILE]
//! [--write FOLDER]`
//!
//! Every seed is a problem and a run ([`bilevo_problems::planted`]); problems with more variables than `--largest`
//! are left out. An answer is right if F is within 0.01 of the planted value in plain units (about 1 %), violations
//! are at most 1e-4, and the follower could do better by at most 1e-2; if no decision is feasible, the result must be
//! infeasible. Counts are kept for problems of `--seeds` without a held-out feature, and reported next to those of
//! held-out seeds and of held-out features. `--write` writes the former, and the cost of the runs, to the files that
//! results and `bilevo check` use ([`bilevo::calibration`]). `--runs` saves each run when it ends, and reuses runs
//! that are already in the file, so an interrupted calibration can continue.

mod run;
mod tables;

use crate::finished::{seeds, setting};
use anyhow::{Context, Result, bail};
use bilevo_problems::planted::Feature;
use rayon::prelude::*;
use run::{Kept, Run};
use std::io::Write;
use std::path::PathBuf;

/// Features that are not part of the counts in results.
const HELD_OUT: [Feature; 3] = [Feature::Toll, Feature::Rough, Feature::Edge];

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    seeds: Vec<u64>,
    held_out: Vec<u64>,
    largest: usize,
    settings: Vec<(String, String)>,
    runs: Option<PathBuf>,
    write: Option<PathBuf>,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// An option that does not exist or lacks its value.
    pub fn read(mut args: impl Iterator<Item = String>) -> Result<Options> {
        let mut options = Options {
            seeds: seeds("1-1500")?,
            held_out: seeds("100001-100500")?,
            largest: 20,
            settings: Vec::new(),
            runs: None,
            write: None,
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--seeds" => options.seeds = seeds(&value()?)?,
                "--held-out" => options.held_out = seeds(&value()?)?,
                "--largest" => options.largest = value()?.parse()?,
                "--set" => options.settings.push(setting(&value()?)?),
                "--runs" => options.runs = Some(value()?.into()),
                "--write" => options.write = Some(value()?.into()),
                _ => bail!("there is no option {arg}"),
            }
        }
        Ok(options)
    }
}

/// Runs everything and prints the tables.
///
/// # Errors
/// A run that cannot be made, or nowhere to write to.
pub fn print(options: &Options, out: &mut impl Write) -> Result<()> {
    let kept = options.runs.as_deref().map(Kept::open).transpose()?;
    let all: Vec<u64> = options.seeds.iter().chain(&options.held_out).copied().collect();
    let one = |seed: u64| -> Result<Option<Run>> {
        if let Some(known) = kept.as_ref().and_then(|kept| kept.known(seed)) {
            return Ok(Some(known));
        }
        let run = run::run(seed, options.largest, &options.settings)?;
        if let (Some(kept), Some(run)) = (&kept, &run) {
            kept.keep(run)?;
        }
        Ok(run)
    };
    // Long runs first, so that no thread ends with one.
    let runs: Vec<Option<Run>> = all.into_par_iter().with_max_len(1).map(one).collect::<Result<_>>()?;
    let runs: Vec<Run> = runs.into_iter().flatten().collect();
    let tables = tables::Tables::new(&runs, &options.held_out);
    tables.print(out)?;
    if let Some(path) = &options.write {
        std::fs::write(path.join("calibration.csv"), tables.counts())?;
        std::fs::write(path.join("evaluations.csv"), tables.ranges())?;
    }
    Ok(out.flush()?)
}
