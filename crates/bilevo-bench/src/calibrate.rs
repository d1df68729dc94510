//! What the words of a result are worth: the default method on planted problems.
//!
//! `calibrate [--seeds 1-1000] [--held-out 100001-100300] [--largest 20] [--write FILE]`
//!
//! Every seed is a problem and a run ([`bilevo_problems::planted`]); problems of more variables than `--largest`
//! are left out. An answer is right if F is within 0.01 of the planted one in plain units (about 1 %), the
//! violations are at most 1e-4 and the follower could do better by at most 1e-2; where no decision is feasible, the
//! result has to be infeasible. Counts are kept for problems of `--seeds` without a held-out feature, and reported
//! beside those of held-out seeds and of held-out features. `--write` puts the former into the file from which
//! results read them ([`bilevo::calibration`]).

use crate::finished::seeds;
use anyhow::{Context, Result, bail};
use bilevo::calibration::Looks;
use bilevo::source::Named;
use bilevo::{AuditOptions, RunResult, Solver};
use bilevo_problems::planted::Feature;
use bilevo_problems::planted_problem;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Features that are not in the counts that results carry.
const HELD_OUT: [Feature; 3] = [Feature::Toll, Feature::Rough, Feature::Edge];

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    seeds: Vec<u64>,
    held_out: Vec<u64>,
    largest: usize,
    write: Option<PathBuf>,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// An option that does not exist or lacks its value.
    pub fn read(mut args: impl Iterator<Item = String>) -> Result<Options> {
        let mut options =
            Options { seeds: seeds("1-1000")?, held_out: seeds("100001-100300")?, largest: 20, write: None };
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--seeds" => options.seeds = seeds(&value()?)?,
                "--held-out" => options.held_out = seeds(&value()?)?,
                "--largest" => options.largest = value()?.parse()?,
                "--write" => options.write = Some(value()?.into()),
                _ => bail!("there is no option {arg}"),
            }
        }
        Ok(options)
    }
}

/// One run.
struct Run {
    name: String,
    features: Vec<Feature>,
    held_out: Group,
    looks: Looks,
    right: bool,
    good: bool,
    evaluations: u64,
    found: String,
}

/// Who has seen a problem before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    LookedAt,
    Seeds,
    Features,
}

const GROUPS: [Group; 3] = [Group::LookedAt, Group::Seeds, Group::Features];

/// Runs everything and prints the tables.
///
/// # Errors
/// A run that cannot be made, or nowhere to write to.
pub fn print(options: &Options, out: &mut impl Write) -> Result<()> {
    let seeds = options.seeds.iter().map(|&seed| (seed, Group::LookedAt));
    let all: Vec<(u64, Group)> = seeds.chain(options.held_out.iter().map(|&seed| (seed, Group::Seeds))).collect();
    let runs: Vec<Option<Run>> =
        all.into_par_iter().map(|(seed, group)| run(seed, group, options.largest)).collect::<Result<_>>()?;
    let runs: Vec<Run> = runs.into_iter().flatten().collect();
    summary(&runs, out)?;
    words(&runs, out)?;
    features(&runs, out)?;
    if let Some(path) = &options.write {
        std::fs::write(path, table(&runs))?;
    }
    for run in runs.iter().filter(|run| !run.right) {
        let names: Vec<&str> = run.features.iter().map(|feature| feature.name()).collect();
        let said = if run.good { "UNTOLD" } else { "told" };
        writeln!(out, "    {} ({}): {}; {}; {said}", run.name, names.join(","), run.found, run.looks)?;
    }
    Ok(out.flush()?)
}

fn run(seed: u64, group: Group, largest: usize) -> Result<Option<Run>> {
    let name = format!("planted:{seed}");
    let planted = planted_problem(&name, None)?;
    let features = planted.features().to_vec();
    if bilevo_core::problem::BilevelProblem::spec(&planted).dim() > largest {
        return Ok(None);
    }
    let source = Named::new(Box::new(planted_problem(&name, None)?), &name, "");
    let result = Solver::new(&source).seed(seed).set("stop.target", "off").audit(AuditOptions::default()).run()?;
    let (right, found) = judged(&planted, &result);
    let held_out = match group {
        Group::LookedAt if features.iter().any(|feature| HELD_OUT.contains(feature)) => Group::Features,
        group => group,
    };
    let looks = Looks::of(&result);
    let (good, evaluations) = (result.success, result.evaluations.total());
    Ok(Some(Run { name, features, held_out, looks, right, good, evaluations, found }))
}

/// Whether an answer is right, and how far it is off.
fn judged(planted: &bilevo_problems::planted::Planted, result: &RunResult) -> (bool, String) {
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

/// Runs and right ones.
fn count<'a>(runs: impl Iterator<Item = &'a Run>) -> (u64, u64) {
    runs.fold((0, 0), |(all, right), run| (all + 1, right + u64::from(run.right)))
}

fn cell((runs, right): (u64, u64)) -> String {
    if runs == 0 { String::new() } else { format!("{:.1} % of {runs}", 100.0 * right as f64 / runs as f64) }
}

/// A row with one cell for each group.
fn row(runs: &[Run], title: &str, wanted: impl Fn(&Run) -> bool, out: &mut impl Write) -> Result<()> {
    let cells = GROUPS.map(|group| cell(count(runs.iter().filter(|run| run.held_out == group && wanted(run)))));
    Ok(writeln!(out, "| {title} | {} |", cells.join(" | "))?)
}

const HEAD: &str = "right: seeds looked at | right: held-out seeds | right: held-out features |\n|---|---|---|---|";

fn summary(runs: &[Run], out: &mut impl Write) -> Result<()> {
    let untold = runs.iter().filter(|run| !run.right && run.good).count();
    let told = runs.iter().filter(|run| !run.right && !run.good).count();
    let mean = runs.iter().map(|run| run.evaluations).sum::<u64>() / runs.len().max(1) as u64;
    let all = runs.len();
    writeln!(
        out,
        "{all} runs: {} right, {told} wrong and told, {untold} wrong and untold; {mean} evaluations on average.\n",
        all - told - untold
    )?;
    Ok(())
}

/// What each word is worth.
fn words(runs: &[Run], out: &mut impl Write) -> Result<()> {
    writeln!(out, "| the result says | {HEAD}")?;
    let mut looks: Vec<Looks> = runs.iter().map(|run| run.looks).collect();
    looks.sort_unstable();
    looks.dedup();
    for looks in looks {
        row(runs, &looks.to_string(), |run| run.looks == looks, out)?;
    }
    row(runs, "**success**", |run| run.good, out)?;
    row(runs, "**all**", |_| true, out)?;
    Ok(writeln!(out)?)
}

fn features(runs: &[Run], out: &mut impl Write) -> Result<()> {
    writeln!(out, "| feature | {HEAD}")?;
    for (feature, name, _) in Feature::ALL {
        if runs.iter().any(|run| run.features.contains(&feature)) {
            row(runs, name, |run| run.features.contains(&feature), out)?;
        }
    }
    row(runs, "none", |run| run.features.is_empty(), out)?;
    Ok(writeln!(out)?)
}

/// The file that results read.
fn table(runs: &[Run]) -> String {
    let mut counts: BTreeMap<Looks, (u64, u64)> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.held_out == Group::LookedAt) {
        for looks in [run.looks, run.looks.unaudited()] {
            let (all, right) = counts.entry(looks).or_default();
            (*all, *right) = (*all + 1, *right + u64::from(run.right));
        }
    }
    let lines = counts.iter().map(|(looks, (runs, right))| looks.line(*runs, *right));
    std::iter::once("ended,corrected,audit,runs,right".to_string()).chain(lines).map(|line| line + "\n").collect()
}
