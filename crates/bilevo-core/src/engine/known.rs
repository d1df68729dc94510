//! Evaluations of earlier runs.
//!
//! A point in the table is not evaluated again. How the table is used beyond that depends on the scheme: the
//! default method adds all of it to its archive; the others start at its best pair.

use super::outside::{Answered, Outside, place};
use super::{Engine, SchemeSetup};
use crate::order;
use crate::problem::{Follower, Level, OracleAnswer, Outcome, ProblemSpec};
use crate::space::Space;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Two values of one point contradict each other if they differ by more than this share of the larger one.
const SAME: f64 = 1e-9;
/// The best known answer at a decision seems to be the result of a search if this many times its lower evaluations
/// are at least as many as at any other decision.
const SEARCHED: usize = 3;

/// An evaluation of an earlier run, in the problem's own variables, directions and units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The leader's decision.
    pub x: Vec<f64>,
    /// The follower's answer.
    pub y: Vec<f64>,
    /// F and the upper constraints, if they were evaluated.
    pub upper: Option<(f64, Vec<f64>)>,
    /// f and the lower constraints, if they were evaluated.
    pub lower: Option<(f64, Vec<f64>)>,
    /// Whether it was the answer of that run.
    pub is_answer: bool,
}

impl Evaluation {
    /// What was evaluated at a level.
    pub fn at(&self, level: Level) -> Option<&(f64, Vec<f64>)> {
        match level {
            Level::Upper => self.upper.as_ref(),
            Level::Lower => self.lower.as_ref(),
        }
    }
}

/// The same as a scheme sees it: the free variables, and minimised values followed by the constraints.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// (x, y).
    pub point: Vec<f64>,
    /// F and the upper constraints.
    pub upper: Option<Vec<f64>>,
    /// f and the lower constraints.
    pub lower: Option<Vec<f64>>,
    /// Whether it was the answer of its run.
    pub is_answer: bool,
}

/// What happened to a table of known evaluations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// Points that are now known.
    pub points: usize,
    /// Rows outside the box, which are ignored.
    pub outside: usize,
    /// Points with several different values; the last one counts.
    pub contradictory: usize,
    /// Whether the method uses them only to choose its start.
    pub start_only: bool,
}

/// Why a table of known evaluations cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KnownError {
    /// A wrong number of values.
    #[error("row {row} of the known evaluations has {got} {what}\nhint: the problem has {expected}")]
    Size {
        /// Number of the row, from 1.
        row: usize,
        /// Values given.
        got: usize,
        /// What the values are for.
        what: &'static str,
        /// How many the problem needs.
        expected: usize,
    },
    /// The run has already begun.
    #[error("the run has begun already\nhint: give known evaluations before the first evaluation")]
    Begun,
}

impl Engine {
    /// Takes evaluations of earlier runs, so that known points are not evaluated again. Call this before giving
    /// starting points.
    ///
    /// # Errors
    /// Rows that do not fit the problem, or a run that has begun. Nothing is changed then.
    pub fn recall(&mut self, rows: &[Evaluation]) -> Result<Recalled, KnownError> {
        if self.issued > 0 || self.generation > 0 || !self.batch.is_empty() {
            return Err(KnownError::Begun);
        }
        let given = self.spec().clone();
        rows.iter().enumerate().try_for_each(|(index, row)| check(&given, index + 1, row))?;
        let mut recalled = Recalled::default();
        let table = merged(&given, rows, &mut recalled);
        if table.is_empty() {
            return Ok(recalled);
        }
        let outside = self.outside.get_or_insert_with(|| Outside::plain(&given));
        table
            .iter()
            .for_each(|row| answers(&given, row).into_iter().for_each(|(key, known)| outside.learn(key, known)));
        let mut known: Vec<Known> = table.iter().map(|row| seen(&given, row)).collect();
        // If sides are open, the first box lies around the best of them.
        let m = self.spec.upper.dim();
        let holds = |spec: &ProblemSpec, row: &Known| {
            let (x, y) = row.point.split_at(m);
            spec.upper.space.contains(x) && (spec.lower.dim() == 0 || spec.lower.space.contains(y))
        };
        if let Some(best) = best_pair(&self.spec, &known).filter(|best| !holds(&self.spec, &known[*best])) {
            self.begin_around(&known[best].point);
        }
        known.retain(|row| holds(&self.spec, row));
        // If the search breaks ties, it does not use the follower's plain values.
        let plain = !self.leaning.is_on();
        let config = self.boxes.config(&self.config);
        let Engine { spec, sizes, streams, scheme, .. } = self;
        let setup = SchemeSetup { spec, config: &config, sizes, streams: *streams };
        recalled.start_only = !(plain && scheme.recall(setup, &known));
        if let Some(best) = best_pair(spec, &known).filter(|_| recalled.start_only) {
            scheme.begin_at(setup, &[known[best].point.clone()], true);
        }
        Ok(recalled)
    }
}

fn check(spec: &ProblemSpec, row: usize, evaluation: &Evaluation) -> Result<(), KnownError> {
    let oracle = spec.follower == Follower::Oracle && spec.lower.dim() == 0;
    let constraints = |level: Level| evaluation.at(level).map(|(_, constraints)| constraints.len());
    let of = |level: Level| spec.level(level).constraints();
    let sizes = [
        ("values of x", Some(evaluation.x.len()), spec.upper.dim()),
        ("values of y", Some(evaluation.y.len()).filter(|_| !oracle), spec.lower.dim()),
        ("values of upper constraints", constraints(Level::Upper), of(Level::Upper)),
        ("values of lower constraints", constraints(Level::Lower).filter(|_| !oracle), of(Level::Lower)),
    ];
    let wrong = sizes.into_iter().find_map(|(what, got, expected)| Some((what, got?, expected)).filter(|w| w.1 != w.2));
    match wrong {
        Some((what, got, expected)) => Err(KnownError::Size { row, got, what, expected }),
        None => Ok(()),
    }
}

/// One row for each point within the box, with everything known about it.
fn merged(spec: &ProblemSpec, rows: &[Evaluation], recalled: &mut Recalled) -> Vec<Evaluation> {
    let oracle = spec.follower == Follower::Oracle && spec.lower.dim() == 0;
    let mut places: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    let mut table: Vec<Evaluation> = Vec::new();
    let mut contradicted = std::collections::BTreeSet::new();
    for row in rows {
        let inside = spec.upper.space.contains(&row.x) && (oracle || spec.lower.space.contains(&row.y));
        if !inside {
            recalled.outside += 1;
            continue;
        }
        let at = *places.entry(place(spec, Level::Lower, &row.x, &row.y)).or_insert(table.len());
        if at == table.len() {
            table.push(Evaluation { x: row.x.clone(), y: row.y.clone(), ..Evaluation::default() });
        }
        // Points that are the same up to rounding may differ in values close to zero.
        let is_twin = table[at].x == row.x && table[at].y == row.y;
        table[at].is_answer |= row.is_answer;
        let sound = |known: &&(f64, Vec<f64>)| known.0.is_finite() && known.1.iter().all(|c| c.is_finite());
        for level in [Level::Upper, Level::Lower] {
            let Some(values) = row.at(level).filter(sound) else { continue };
            let known = match level {
                Level::Upper => &mut table[at].upper,
                Level::Lower => &mut table[at].lower,
            };
            if is_twin && known.as_ref().is_some_and(|known| differ(known, values)) {
                contradicted.insert(at);
            }
            *known = Some(values.clone());
        }
    }
    table.retain(|row| row.upper.is_some() || row.lower.is_some());
    (recalled.points, recalled.contradictory) = (table.len(), contradicted.len());
    table
}

fn differ(a: &(f64, Vec<f64>), b: &(f64, Vec<f64>)) -> bool {
    let values = |row: &(f64, Vec<f64>)| [&[row.0], &row.1[..]].concat();
    values(a).iter().zip(values(b)).any(|(a, b)| (a - b).abs() > SAME * a.abs().max(b.abs()).max(SAME))
}

/// What the engine would be told about a row, by point and level. An answer of the follower's own solver counts only
/// with the leader's values, because the leader's function may need more of the answer than the table holds.
fn answers(spec: &ProblemSpec, row: &Evaluation) -> Vec<(Vec<u64>, Answered)> {
    let mut all = Vec::new();
    for level in [Level::Upper, Level::Lower] {
        let Some((value, constraints)) = row.at(level) else { continue };
        if level == Level::Lower && spec.lower.dim() == 0 {
            continue;
        }
        let violation = spec.violation(level, constraints);
        let outcome = Outcome { value: spec.level(level).direction.flip(*value), violation };
        all.push((place(spec, level, &row.x, &row.y), (outcome, constraints.clone(), None)));
    }
    if spec.follower == Follower::Oracle && row.upper.is_some() {
        let value = row.lower.as_ref().map(|(value, _)| *value);
        let outcome = Outcome { value: value.map_or(f64::NAN, |v| spec.lower.direction.flip(v)), violation: 0.0 };
        let answer = OracleAnswer { y: row.y.clone(), value, info: None };
        all.push((place(spec, Level::Lower, &row.x, &[]), (outcome, Vec::new(), Some(answer))));
    }
    all
}

/// A row as a scheme sees it.
fn seen(spec: &ProblemSpec, row: &Evaluation) -> Known {
    let values = |level: Level| {
        let (value, constraints) = row.at(level)?;
        Some([&[spec.level(level).direction.flip(*value)], &constraints[..]].concat())
    };
    let y = if spec.lower.dim() == 0 { Vec::new() } else { free(&spec.lower.space, &row.y) };
    Known {
        point: [free(&spec.upper.space, &row.x), y].concat(),
        upper: values(Level::Upper),
        lower: values(Level::Lower),
        is_answer: row.is_answer,
    }
}

/// The variables that are not fixed.
pub(super) fn free(space: &Space, point: &[f64]) -> Vec<f64> {
    space.iter().zip(point).filter(|(variable, _)| !variable.is_fixed()).map(|(_, value)| *value).collect()
}

/// The best answer of an earlier run. If there is none, the best pair (x, y) whose y looks like the follower's
/// answer: it is the best one known at its x, and other answers were tried there (if they were anywhere).
pub(crate) fn best_pair(spec: &ProblemSpec, known: &[Known]) -> Option<usize> {
    let m = spec.upper.dim();
    let outcome = |level: Level, row: &[f64]| Outcome { value: row[0], violation: spec.violation(level, &row[1..]) };
    let bits = |x: &[f64]| -> Vec<u64> { x.iter().map(|v| v.to_bits()).collect() };
    let mut decisions: BTreeMap<Vec<u64>, (usize, Outcome)> = BTreeMap::new();
    for row in known {
        let Some(lower) = row.lower.as_ref().map(|row| outcome(Level::Lower, row)) else { continue };
        let (count, best) = decisions.entry(bits(&row.point[..m])).or_insert((0, lower));
        *count += 1;
        if order::better(&lower, best) {
            *best = lower;
        }
    }
    let most = decisions.values().map(|(count, _)| *count).max().unwrap_or(0);
    let judged = |row: &Known| -> Option<(usize, Outcome)> {
        let upper = outcome(Level::Upper, row.upper.as_ref()?);
        let Some(lower) = row.lower.as_ref().map(|row| outcome(Level::Lower, row)) else {
            return (spec.lower.dim() == 0).then_some((0, upper));
        };
        let (count, best) = decisions.get(&bits(&row.point[..m]))?;
        let is_best = order::compare(&lower, best) != Ordering::Greater;
        let upper = Outcome { violation: upper.violation + lower.violation, ..upper };
        let rank = if row.is_answer { 2 } else { usize::from(SEARCHED * count >= most) };
        (is_best || row.is_answer).then_some((rank, upper))
    };
    let pairs = known.iter().enumerate().filter_map(|(index, row)| Some((index, judged(row)?)));
    let order = |a: &(usize, Outcome), b: &(usize, Outcome)| b.0.cmp(&a.0).then(order::compare(&a.1, &b.1));
    pairs.min_by(|a, b| order(&a.1, &b.1)).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::LevelSpec;

    fn spec() -> ProblemSpec {
        ProblemSpec::new("two", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::boxed(vec![(0.0, 1.0)]))
    }

    fn row(x: f64, y: f64, upper: Option<f64>, lower: Option<f64>) -> Evaluation {
        let with = |value: f64| (value, Vec::new());
        let (upper, lower) = (upper.map(with), lower.map(with));
        Evaluation { x: vec![x], y: vec![y], upper, lower, is_answer: false }
    }

    #[test]
    fn rows_of_one_point_are_one_and_the_last_value_counts() {
        let rows = [
            row(0.1, 0.2, None, Some(1.0)),
            row(0.1, 0.2, Some(5.0), None),
            row(0.1, 0.2, Some(6.0), Some(1.0)),
            row(0.3, 1.5, Some(1.0), None),
            row(0.4, 0.5, Some(f64::NAN), None),
        ];
        let mut recalled = Recalled::default();
        let table = merged(&spec(), &rows, &mut recalled);
        assert_eq!(table, [row(0.1, 0.2, Some(6.0), Some(1.0))]);
        assert_eq!(recalled, Recalled { points: 1, outside: 1, contradictory: 1, start_only: false });
    }

    #[test]
    fn the_best_pair_is_one_that_was_searched_for() {
        let known = |rows: &[Evaluation]| -> Vec<Known> { rows.iter().map(|row| seen(&spec(), row)).collect() };
        // A pair with a better F whose follower prefers another answer, and a pair whose follower nobody examined.
        let mut rows = vec![
            row(0.1, 0.9, Some(-9.0), Some(2.0)),
            row(0.1, 0.1, Some(3.0), Some(1.0)),
            row(0.2, 0.2, Some(1.0), Some(0.0)),
        ];
        assert_eq!(best_pair(&spec(), &known(&rows)), Some(2));
        rows.extend((0..5).map(|i| row(0.1, 0.3 + 0.1 * f64::from(i), None, Some(3.0))));
        assert_eq!(best_pair(&spec(), &known(&rows)), Some(1), "others were tried there");
        rows[0].is_answer = true;
        assert_eq!(best_pair(&spec(), &known(&rows)), Some(0), "a run said so");
        assert_eq!(best_pair(&spec(), &known(&rows[3..])), None);
    }

    #[test]
    fn wrong_sizes_are_named() {
        let wrong = Evaluation { upper: Some((1.0, vec![0.0])), ..row(0.1, 0.1, None, None) };
        let error = check(&spec(), 7, &wrong).unwrap_err();
        let words = "row 7 of the known evaluations has 1 values of upper constraints\nhint: the problem has 0";
        assert_eq!(error.to_string(), words);
        let wrong = Evaluation { y: vec![], ..row(0.1, 0.1, None, None) };
        assert!(check(&spec(), 1, &wrong).unwrap_err().to_string().contains("0 values of y"));
    }
}
