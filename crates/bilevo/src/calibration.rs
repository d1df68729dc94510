//! What the words of a result are worth, measured.
//!
//! `cargo xtask calibrate` runs the default method on planted problems, whose optimum is known, and counts how
//! often answers were right that look alike: how the run ended, whether a second look at the follower had to
//! correct an answer, and what an audit said. The counts are part of this crate, so a result can say how often
//! answers like it were right.

use crate::audit::Audit;
use crate::result::{RunResult, Status};
use bilevo_core::methods;
use bilevo_core::record::StopReason;
use std::fmt;

/// Lines `ended,corrected,audit,runs,right`.
const COUNTS: &str = include_str!("../calibration.csv");
/// Fewer runs say nothing.
const FEWEST: u64 = 20;

/// What a result looks like to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Looks {
    /// `agreed`, `budget`, `infeasible` or `other`.
    pub ended: &'static str,
    /// Whether a second look replaced an answer of the follower during the run.
    pub corrected: bool,
    /// `none`, `stands` or `against`.
    pub audit: &'static str,
}

impl Looks {
    /// What a result looks like.
    pub fn of(result: &RunResult) -> Looks {
        let verification = result.verification.unwrap_or_default();
        let feasible = |violation: Option<f64>| violation.is_some_and(|violation| violation <= 1e-6);
        let ended = match result.stop {
            _ if !feasible(result.upper_violation()) || !feasible(result.lower_violation()) => "infeasible",
            Status::Finished(StopReason::Agreed) => "agreed",
            Status::Finished(StopReason::UpperBudget | StopReason::LowerBudget) => "budget",
            _ => "other",
        };
        let audit = match result.audit.as_ref().map(Audit::passed) {
            None => "none",
            Some(true) => "stands",
            Some(false) => "against",
        };
        Looks { ended, corrected: verification.corrected > 0, audit }
    }

    /// The same without the audit.
    pub fn unaudited(self) -> Looks {
        Looks { audit: "none", ..self }
    }

    fn key(self) -> [&'static str; 3] {
        [self.ended, if self.corrected { "yes" } else { "no" }, self.audit]
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
            "budget" => "budget used up",
            "infeasible" => "infeasible",
            _ => "ended otherwise",
        })?;
        f.write_str(if self.corrected { ", answers corrected" } else { "" })?;
        f.write_str(match self.audit {
            "stands" => ", audit stands",
            "against" => ", audit against it",
            _ => "",
        })
    }
}

/// How often answers that look alike were right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Likeness {
    /// Test runs with such an answer ...
    pub runs: u64,
    /// ... and how many of them were right.
    pub right: u64,
}

impl Likeness {
    /// The share that was right.
    pub fn share(&self) -> f64 {
        self.right as f64 / self.runs as f64
    }
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = 100.0 * self.share();
        write!(f, "answers that look like this one were right in {share:.1} % of {} test runs", self.runs)
    }
}

/// The counts of what looks like this in a table.
fn find(counts: &str, looks: Looks) -> Option<Likeness> {
    let line = counts.lines().find(|line| line.split(',').take(3).eq(looks.key()))?;
    let mut numbers = line.split(',').skip(3).map(str::parse);
    let likeness = Likeness { runs: numbers.next()?.ok()?, right: numbers.next()?.ok()? };
    (likeness.runs >= FEWEST).then_some(likeness)
}

/// How often answers like that of a result were right; none for other methods than the default one, or if too few
/// test runs ended like it.
pub fn likeness(result: &RunResult) -> Option<Likeness> {
    if result.id.method != methods::DEFAULT {
        return None;
    }
    find(COUNTS, Looks::of(result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_what_it_looks_like() {
        let looks = Looks { ended: "agreed", corrected: true, audit: "stands" };
        let table = [looks.unaudited().line(30, 20), looks.line(2000, 1984), "agreed,no,none,3,3".into()].join("\n");
        let found = find(&table, looks).unwrap();
        assert_eq!(found.to_string(), "answers that look like this one were right in 99.2 % of 2000 test runs");
        assert_eq!(find(&table, looks.unaudited()).unwrap().right, 20);
        assert_eq!(find(&table, Looks { ended: "budget", ..looks }), None);
        // Three runs say nothing.
        assert_eq!(find(&table, Looks { corrected: false, audit: "none", ..looks }), None);
    }

    #[test]
    fn every_line_of_the_table_can_be_read() {
        for line in COUNTS.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |cell: usize| cells[cell].parse::<u64>().unwrap();
            assert!(cells.len() == 5 && number(4) <= number(3), "{line}");
        }
    }
}
