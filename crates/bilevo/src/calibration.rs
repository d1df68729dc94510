//! How often results that look alike were right in test runs.
//!
//! `cargo xtask calibrate` runs the default method on planted problems, whose optimum is known, and counts how
//! often answers that look alike were right. Answers look alike if four things agree: how the run ended, whether
//! it searched another box than the given one, whether a recheck corrected an answer, and what an audit said. The
//! counts are part of this crate, so a result can say how often similar answers were right, and warns if that was
//! too seldom.

use crate::audit::Audit;
use crate::result::{RunResult, Status};
use bilevo_core::methods;
use bilevo_core::record::StopReason;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The data lines after [`RANGES_HEAD`].
const RANGES: &str = include_str!("../evaluations.csv");
/// The header of the other table: the evaluations that all but the cheapest and the most expensive tenth of the runs
/// took, by number of variables.
pub const RANGES_HEAD: &str = "from,to,runs,low,high";
/// The data lines after [`HEAD`].
const COUNTS: &str = include_str!("../calibration.csv");
/// The header of a table.
pub const HEAD: &str = "ended,box,corrected,audit,runs,right";
/// With fewer runs, nothing is said ...
const FEWEST: u64 = 20;
/// ... and with this many, a warning is issued if fewer than this share of them were right. At 97 % a fifth of all right
/// answers would carry it.
const ENOUGH: u64 = 30;
const TRUSTED: f64 = 0.95;
/// Variables of the largest test problems.
const LARGEST: usize = 20;

/// The features of a result by which similar results are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Looks {
    /// `agreed`, `flat`, `budget`, `infeasible` or `other`.
    pub ended: &'static str,
    /// Whether the run searched another box than the problem's, which was far too wide.
    pub resized: bool,
    /// Whether a recheck replaced an answer of the follower during the run.
    pub corrected: bool,
    /// `none`, `stands` or `against`.
    pub audit: &'static str,
}

const ENDED: [&str; 5] = ["agreed", "flat", "budget", "infeasible", "other"];
const BOX: [&str; 2] = ["own", "other"];
const CORRECTED: [&str; 2] = ["no", "yes"];
const AUDIT: [&str; 3] = ["none", "stands", "against"];

impl Looks {
    /// The features of a result.
    pub fn of(result: &RunResult) -> Looks {
        let verification = result.verification.unwrap_or_default();
        let feasible = |violation: Option<f64>| violation.is_some_and(|violation| violation <= 1e-6);
        let ended = match result.stop {
            _ if !feasible(result.upper_violation()) || !feasible(result.lower_violation()) => "infeasible",
            Status::Finished(StopReason::Agreed) => "agreed",
            Status::Finished(StopReason::Flat) => "flat",
            Status::Finished(StopReason::UpperBudget | StopReason::LowerBudget) => "budget",
            _ => "other",
        };
        let audit = match result.audit.as_ref().map(Audit::passed) {
            None => "none",
            Some(true) => "stands",
            Some(false) => "against",
        };
        Looks { ended, resized: result.searched.is_some(), corrected: verification.corrected > 0, audit }
    }

    /// The same without the audit.
    pub fn unaudited(self) -> Looks {
        Looks { audit: "none", ..self }
    }

    /// The features as cells of a table.
    pub fn key(self) -> [&'static str; 4] {
        let [resized, corrected] = [self.resized, self.corrected].map(usize::from);
        [self.ended, BOX[resized], CORRECTED[corrected], self.audit]
    }

    /// The features in these cells of a table, if they are valid.
    pub fn read(cells: &[&str]) -> Option<Looks> {
        let [ended, resized, corrected, audit] = *cells else { return None };
        let known = |words: &[&'static str], cell: &str| words.iter().position(|word| *word == cell);
        let (ended, audit) = (ENDED[known(&ENDED, ended)?], AUDIT[known(&AUDIT, audit)?]);
        let (resized, corrected) = (known(&BOX, resized)? == 1, known(&CORRECTED, corrected)? == 1);
        Some(Looks { ended, resized, corrected, audit })
    }

    /// A line of the table.
    pub fn line(self, runs: u64, right: u64) -> String {
        format!("{},{runs},{right}", self.key().join(","))
    }
}

impl fmt::Display for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.ended {
            "agreed" => "restarts agree",
            "flat" => "no further progress",
            "budget" => "budget used up",
            "infeasible" => "infeasible",
            _ => "ended otherwise",
        })?;
        f.write_str(if self.resized { ", another box" } else { "" })?;
        f.write_str(if self.corrected { ", answers corrected" } else { "" })?;
        f.write_str(match self.audit {
            "stands" => ", audit stands",
            "against" => ", audit against it",
            _ => "",
        })
    }
}

/// How often answers that look alike were right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Likeness {
    /// Test runs with such an answer ...
    pub runs: u64,
    /// ... and how many of them were right.
    pub right: u64,
    /// Whether such answers are infeasible: they are right if nothing feasible exists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub infeasible: bool,
}

impl Likeness {
    /// The share that was right.
    pub fn share(&self) -> f64 {
        self.right as f64 / self.runs as f64
    }

    /// Whether enough test runs ended alike, and too many of them were wrong.
    pub fn is_poor(&self) -> bool {
        self.runs >= ENOUGH && self.share() < TRUSTED
    }
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (share, runs) = (100.0 * self.share(), grouped(self.runs));
        if self.infeasible {
            return write!(
                f,
                "when test runs found nothing feasible, nothing feasible existed in {share:.1} % of {runs}"
            );
        }
        write!(f, "answers that look like this one were right in {share:.1} % of {runs} test runs")
    }
}

/// A count with thousands separators.
fn grouped(count: u64) -> String {
    if count < 1000 { count.to_string() } else { format!("{},{:03}", grouped(count / 1000), count % 1000) }
}

/// The counts for such results in a table; without the audit if too few runs had the same finding.
fn find(counts: &str, looks: Looks) -> Option<Likeness> {
    let read = |looks: Looks| {
        let line = counts.lines().find(|line| line.split(',').take(4).eq(looks.key()))?;
        let mut numbers = line.split(',').skip(4).map(str::parse);
        let (runs, right) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        (runs >= FEWEST).then_some(Likeness { runs, right, infeasible: looks.ended == "infeasible" })
    };
    match looks.audit {
        // Evidence against an answer is never left out.
        "against" => read(looks),
        _ => read(looks).or_else(|| read(looks.unaudited())),
    }
}

/// How often answers like that of a result were right. `None` for other methods than the default or changed settings,
/// for runs that were stopped or reached a budget that the user set, for problems larger than those of the test runs,
/// if too few test runs ended in the same way, and if the result is a known optimum or noisy.
pub fn likeness(result: &RunResult) -> Option<Likeness> {
    let looks = Looks::of(result);
    let settings = &result.id.settings;
    let measured = result.id.method == methods::DEFAULT
        && !settings.contains("portfolio.")
        && !(looks.ended == "budget" && settings.contains("stop.max"))
        && looks.ended != "other"
        && result.id.upper_dim + result.id.lower_dim <= LARGEST;
    let open = result.solution.is_some() && result.target_met != Some(true) && result.noise.is_none();
    if measured && open { find(COUNTS, looks) } else { None }
}

/// The range of evaluations that eight of ten test runs took on problems with a similar number of variables; `None`
/// if there were too few.
pub fn evaluations(variables: usize) -> Option<(u64, u64)> {
    range(RANGES, variables as u64)
}

fn range(ranges: &str, variables: u64) -> Option<(u64, u64)> {
    let lines = ranges.lines().skip(1).map(|line| line.split(',').filter_map(|cell| cell.parse().ok()).collect());
    let mut lines = lines.filter(|cells: &Vec<u64>| cells.len() == 5);
    let line = lines.find(|cells| (cells[0]..=cells[1]).contains(&variables) && cells[2] >= FEWEST)?;
    Some((line[3], line[4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOKS: Looks = Looks { ended: "agreed", resized: false, corrected: true, audit: "stands" };

    #[test]
    fn a_line_is_found_by_what_it_looks_like() {
        let few = Looks { corrected: false, ..LOOKS };
        let against = Looks { audit: "against", ..LOOKS };
        let lines = [
            LOOKS.unaudited().line(30, 20),
            LOOKS.line(2000, 1984),
            few.line(3, 3),
            few.unaudited().line(40, 38),
            against.line(3, 1),
        ];
        let table = lines.join("\n");
        let found = find(&table, LOOKS).unwrap();
        assert_eq!(found.to_string(), "answers that look like this one were right in 99.2 % of 2,000 test runs");
        assert_eq!(find(&table, LOOKS.unaudited()).unwrap().right, 20);
        assert_eq!(find(&table, Looks { ended: "budget", ..LOOKS }), None);
        assert_eq!(find(&table, Looks { resized: true, ..LOOKS }), None);
        // Three runs say nothing, but those without an audit do.
        assert_eq!(find(&table, few).unwrap().right, 38);
        assert_eq!(find(&table, against), None);
    }

    #[test]
    fn a_class_of_answers_is_poor_if_enough_of_them_were_wrong() {
        let likeness = |runs: u64, right: u64| Likeness { runs, right, infeasible: false };
        assert!(likeness(200, 189).is_poor() && !likeness(200, 190).is_poor());
        assert!(likeness(30, 28).is_poor() && !likeness(29, 20).is_poor(), "a few runs may be bad luck");
    }

    #[test]
    fn nothing_feasible_has_words_of_its_own() {
        let looks = Looks { ended: "infeasible", ..LOOKS };
        let found = find(&looks.line(40, 38), looks).unwrap();
        assert_eq!(
            found.to_string(),
            "when test runs found nothing feasible, nothing feasible existed in 95.0 % of 40"
        );
    }

    #[test]
    fn a_range_is_found_by_the_number_of_variables() {
        let ranges = format!("{RANGES_HEAD}\n2,4,50,400,9000\n5,7,10,800,20000\n");
        assert_eq!(
            [2, 4, 5, 8].map(|variables| range(&ranges, variables)),
            [Some((400, 9000)), Some((400, 9000)), None, None]
        );
        assert!(evaluations(2).is_some_and(|(low, high)| low < high));
    }

    #[test]
    fn every_line_of_the_table_can_be_read() {
        assert_eq!(COUNTS.lines().next(), Some(HEAD));
        for line in COUNTS.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let looks = Looks::read(&cells[..4]).unwrap();
            let number = |cell: usize| cells[cell].parse::<u64>().unwrap();
            assert!(cells.len() == 6 && number(5) <= number(4), "{line}");
            assert_eq!(looks.line(number(4), number(5)), line);
        }
    }
}
