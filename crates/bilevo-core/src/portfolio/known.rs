//! What earlier runs evaluated.
//!
//! All of it goes into the archive. The first search is a descent from the best known pair. If that pair is the
//! answer of a run, and the table is as large and as widely spread as that of a finished run, the pair is a claim at
//! once. It gets a verdict like any other. If it stands, it counts as two restarts, one of them wide, and some of
//! what a run looks at before its end is skipped. One restart from elsewhere has to agree in any case.

use super::archive::{Archive, Points};
use super::claim::Claim;
use crate::engine::{Known, best_pair};
use crate::problem::{Level, ProblemSpec};
use serde::{Deserialize, Serialize};

/// The evaluations of a finished run for each variable, and how many of them lie apart: for each free variable, and
/// at most.
const FINISHED: usize = 200;
const APART: (usize, usize) = (16, 64);

/// What is known from earlier runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Before {
    /// The best pair, until a descent begins there.
    pub(super) best: Option<Claim>,
    /// Whether that is the answer of a run, and the evaluations are as many and as widely spread as those of a
    /// finished run.
    pub(super) is_wide: bool,
}

impl Before {
    /// Takes evaluations into the archive.
    pub(super) fn new(spec: &ProblemSpec, known: &[Known], archive: &mut Archive) -> Self {
        let m = spec.upper.dim();
        let split = |point: &[f64]| (spec.upper.space.to_unit(&point[..m]), spec.lower.space.to_unit(&point[m..]));
        for Known { point, upper, lower, .. } in known {
            let (x, y) = split(point);
            let unit = [x, y].concat();
            lower.iter().for_each(|row| archive.push(Level::Lower, &unit, row));
            upper.iter().for_each(|row| archive.push(Level::Upper, &unit, row));
        }
        let best = best_pair(spec, known);
        let many = archive.upper.len() + archive.lower.len() >= FINISHED * spec.dim();
        let many = many && best.is_some_and(|best| known[best].is_answer);
        let best = best.and_then(|best| {
            let (x, y) = split(&known[best].point);
            let (upper, lower) = known[best].upper.clone().zip(known[best].lower.clone())?;
            Some(Claim { x, y, upper, lower, settled: false })
        });
        // The leader's points lie along the response.
        let apart = |points: &Points, free: usize| points.spread() >= (APART.0 * free).min(APART.1);
        Before { best, is_wide: many && apart(&archive.upper, m) && apart(&archive.lower, spec.dim()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::LevelSpec;

    #[test]
    fn many_evaluations_all_over_the_box_are_as_good_as_a_run() {
        let spec = ProblemSpec::new("two", LevelSpec::boxed(vec![(0.0, 2.0)]), LevelSpec::boxed(vec![(0.0, 2.0)]));
        let table = |count: u32, width: f64| -> Vec<Known> {
            let at = |i: u32| vec![width * f64::from(i % 17) / 17.0, width * f64::from(i % 19) / 19.0];
            let row = |i: u32| Some(vec![f64::from(i)]);
            (0..count).map(|i| Known { point: at(i), upper: row(i), lower: row(i), is_answer: i == 0 }).collect()
        };
        let before = |known: &[Known]| Before::new(&spec, known, &mut Archive::new(2, 1, 1));
        assert!(before(&table(200, 2.0)).is_wide);
        assert!(!before(&table(199, 2.0)).is_wide, "too few");
        assert!(!before(&table(200, 0.2)).is_wide, "all in one place");
        let mut unmarked = table(200, 2.0);
        unmarked[0].is_answer = false;
        assert!(!before(&unmarked).is_wide, "no run said that it is the answer");
        let best = before(&table(200, 2.0)).best.unwrap();
        assert_eq!((best.value(), best.x[0]), (0.0, 0.0));
        assert_eq!(before(&[]), Before::default());
    }
}
