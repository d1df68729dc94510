//! Tests of every method against a reference on the same problem, computed once.

use super::Mark;
use super::groups::{Group, Measure, find};
use crate::stats::{self, RankSum, SIGNIFICANCE, Verdict};

/// Number of measures.
pub const MEASURES: usize = Measure::ALL.len();

/// A group against the reference in one measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The test; its first sample is the group.
    pub rank_sum: RankSum,
    /// Its p-value, corrected on request.
    pub p: f64,
    /// Whether this many runs can show any difference at all.
    pub enough_runs: bool,
}

impl Test {
    /// The verdict on the group; `None` if there are too few runs for any difference to be significant.
    pub fn mark(&self) -> Option<Mark> {
        self.enough_runs.then(|| Verdict::from_p(&self.rank_sum, self.p))
    }
}

/// The tests of one group, measure by measure; `None` for the reference itself, or if one of the two has no values.
pub type Tested = [Option<Test>; MEASURES];

/// Tests each group against the group of the reference on its problem; with `holm`, p-values are
/// corrected for the number of tests of a measure.
pub fn test_all(groups: &[Group<'_>], reference: &str, holm: bool) -> Vec<Tested> {
    let tested = |group: &Group<'_>| {
        let other = find(groups, reference, &group.problem).filter(|other| other.method != group.method);
        Measure::ALL.map(|measure| {
            let rank_sum = stats::rank_sum(&group.values(measure), &other?.values(measure)).ok()?;
            Some(Test { rank_sum, p: rank_sum.p, enough_runs: rank_sum.smallest_p() < SIGNIFICANCE })
        })
    };
    let mut all: Vec<Tested> = groups.iter().map(tested).collect();
    if holm {
        (0..MEASURES).for_each(|measure| correct(&mut all, measure));
    }
    all
}

fn correct(all: &mut [Tested], measure: usize) {
    let mut tests: Vec<&mut Test> = all.iter_mut().filter_map(|tested| tested[measure].as_mut()).collect();
    let raw: Vec<f64> = tests.iter().map(|test| test.p).collect();
    let Ok(adjusted) = stats::holm(&raw) else { return };
    // Holm rejects nothing unless the smallest p-value survives the full correction.
    let smallest = tests.iter().map(|test| test.rank_sum.smallest_p()).fold(1.0, f64::min);
    let enough_runs = smallest * (tests.len() as f64) < SIGNIFICANCE;
    for (test, p) in tests.iter_mut().zip(adjusted) {
        test.p = p;
        test.enough_runs = enough_runs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;
    use crate::tables::groups::group;
    use crate::testing::row;

    fn rows(problems: usize, runs: u64) -> Vec<Row> {
        let mut rows = Vec::new();
        for problem in 0..problems {
            for method in ["bl-cma-es", "cr-bl-cma-es"] {
                rows.extend((1..=runs).map(|seed| row(method, &format!("p{problem}"), seed)));
            }
        }
        rows
    }

    fn total(rows: &[Row], holm: bool) -> Test {
        test_all(&group(rows), "bl-cma-es", holm)[1][MEASURES - 1].unwrap()
    }

    #[test]
    fn too_few_runs_give_no_mark() {
        assert_eq!(total(&rows(1, 3), false).mark(), None);
        assert_eq!(total(&rows(1, 4), false).mark(), Some(Mark::Better));
        assert_eq!(total(&rows(1, 4), true).mark(), Some(Mark::Better));
        // Corrected for two tests, 2/70 is no longer below the level.
        assert_eq!(total(&rows(2, 4), true).mark(), None);
    }

    #[test]
    fn holm_makes_p_values_larger() {
        let rows = rows(3, 11);
        assert!(total(&rows, true).p > total(&rows, false).p);
    }

    #[test]
    fn the_reference_is_not_tested_against_itself() {
        let rows = rows(1, 5);
        assert!(test_all(&group(&rows), "bl-cma-es", false)[0].iter().all(Option::is_none));
    }
}
