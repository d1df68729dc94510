//! Finished runs: how often is a run right that has to decide by itself when to stop, and does it say so if it is
//! wrong?
//!
//! `finished [--seeds 1-9] [--method M] [--set PATH=VALUE]... [--units] [--wider W] [--ablation]
//! [--prove SECONDS] [--markdown] [--csv FILE] SUITE...`
//!
//! A suite is `smd`, `tp`, `rotated`, `basblib`, `bolib`, `integer`, `own` (`examples/problems`), `nc` (ten random
//! indefinite followers each at 2+2 and 3+3; `nc:101` takes the ten from number 101 on), `bowls` (ten random leaders with two basins each at 1+1, 2+2 and 3+3), `planted:1-100` (the planted
//! problems with these numbers; `planted:1-100:ties` with these features), the name of a problem (with a size,
//! `smd1@5+5`) or the path of a problem file. Runs do not know the optimum. Rotated problems are another instance for
//! every seed. Every run is reported on stderr when it ends.
//!
//! A run is *right* if F is within 1 % or 0.01 of the best known value, both violations are at most 1e-4, and an
//! audit cannot improve the follower's answer by more than 1e-2. For a problem without a feasible decision, the
//! result must be infeasible. A wrong run is *flagged* if the result itself gives a reason to doubt it ([`judge`]),
//! and *silent* otherwise. Evaluations are those of both levels, without the audit. The first hit is the earliest
//! generation whose incumbent was right; the ratio shows how much the decision to stop cost.
//!
//! With `--units`, every suite is also run in other units: x times 1e6, y times 1e-3, f times 1e-9 or 1e6, F times
//! 1e-6 or 1e6, constraints times 1e4, and all together. Answers are judged in the plain units.
//!
//! With `--wider 100`, every suite is also run with boxes that extend to at least ±100; with `--wider inf`, with open
//! boxes. If the optimum lies at a side of the box, that changes it, and such problems count as wrong.
//!
//! With `--ablation`, every suite is also run without each part of the default method. A row shows, for each suite,
//! how many runs are right / flagged / silent, and the mean evaluations.
//!
//! With `--prove`, every answer is proven, for at most this many seconds, as by `solve --prove`, and better decisions
//! are adopted. A proven value is right, whatever was known before; the time does not include that of the proof.

mod ablation;
pub mod judge;
mod options;
mod stored;
mod suites;
mod table;
pub mod units;

pub use options::Options;
pub(crate) use options::{dims, seeds, setting};

use anyhow::Result;
use judge::Finding;
use rayon::prelude::*;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use suites::Case;
use units::Scales;

/// One run and its result.
pub(crate) struct Run {
    pub(crate) problem: String,
    pub(crate) seed: u64,
    pub(crate) finding: Finding,
}

/// Measures what the options ask for and prints it, suite by suite.
///
/// # Errors
/// A problem or setting that does not exist, or nowhere to write to.
pub fn print(options: &Options, out: &mut impl Write) -> Result<()> {
    if options.ablation {
        return ablation::print(options, out);
    }
    let mut kept = stored::Writer::of(options)?;
    let mut rows = Vec::new();
    table::head(out)?;
    for suite in &options.suites {
        for (label, scales) in units::changes(options.units, options.wider) {
            let runs = measure(options, suite, &scales)?;
            if let Some(kept) = &mut kept {
                kept.keep(suite, label, &runs)?;
            }
            let row = table::Row::new(suite, label, &runs);
            row.line(out)?;
            table::wrong(&runs, out)?;
            rows.push(row);
        }
    }
    if options.markdown { table::markdown(&rows, out) } else { Ok(()) }
}

/// All problems of a suite with all seeds.
fn measure(options: &Options, suite: &str, scales: &Scales) -> Result<Vec<Run>> {
    let cases = suites::cases(suite, &options.seeds)?;
    let (all, done) = (cases.len(), AtomicUsize::new(0));
    let one = |case: Case| -> Result<Run> {
        let run = once(options, case, scales)?;
        // Shows progress during a long suite.
        let count = 1 + done.fetch_add(1, Ordering::Relaxed);
        writeln!(std::io::stderr(), "{count} of {all}: {}", table::progress(&run))?;
        Ok(run)
    };
    // Long runs first, so that no thread ends with one.
    cases.into_par_iter().with_max_len(1).map(one).collect()
}

fn once(options: &Options, Case { problem, seed }: Case, scales: &Scales) -> Result<Run> {
    let finding = judge::run(&problem, seed, scales, options)?;
    Ok(Run { problem, seed, finding })
}

/// How many runs are right, wrong and flagged, wrong and silent.
pub(crate) fn counts(runs: &[Run]) -> [usize; 3] {
    let count = |wanted: fn(&Finding) -> bool| runs.iter().filter(|run| wanted(&run.finding)).count();
    [
        count(|finding| finding.right),
        count(|finding| !finding.right && finding.flagged),
        count(|finding| !finding.right && !finding.flagged),
    ]
}
