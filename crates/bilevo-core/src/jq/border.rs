//! The border between the decisions to which the follower gives one answer and those to which it gives
//! another.
//!
//! A restart may follow one local minimum of its follower beyond the decisions where that is the best
//! one; the recheck then finds the better answer, and with it F jumps. What the leader can have lies at
//! the border or on the near side of it: min F(x, y) subject to f(x, y) <= f(x, z), where y and z are
//! the two local minima. That is a bilevel problem with the follower taken twice, so a descent solves
//! it: its follower minimises f(x, y) + f(x, z) over both, and its leader has one constraint more.
//!
//! Where the follower is indifferent it gives any answer, also one that is a minimum nowhere else. Such an
//! answer is *held*: y stays where it is, within a hundredth of the box.
//!
//! It is tried only where the slopes of the two values of f along x say that they meet within the box.

use super::descent::{Descent, Incumbent};
use super::follower::Answer;
use super::searches::Wanted;
use super::solution::Solution;
use crate::batch::{Answers, Batch};
use crate::problem::{Level, LevelSpec, Outcome, ProblemSpec};
use serde::{Deserialize, Serialize};

/// Step along each upper variable that tells the slopes, as a share of its box.
const STEP: f64 = 1e-3;
/// The values may meet this many times as far away as the slopes say that the box reaches.
const SLACK: f64 = 1.5;
/// Reach of a held answer, as a share of the box.
const HELD: f64 = 0.01;
/// Size of the descent relative to the usual one.
const SIZE: f64 = 0.25;

/// The search for the border.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Border {
    /// The decision with the answer that is better for the leader, and with the true one.
    hoped: Solution,
    pub(crate) exposed: Solution,
    /// Points of the slopes until they are known.
    slopes: Wanted,
    budget: u64,
    /// Whether the first answer stays where it is.
    held: bool,
    descent: Option<Box<Descent>>,
    /// The doubled points evaluated, and by how much the first answer is worse than the second.
    gaps: Vec<(Vec<f64>, f64)>,
}

impl Border {
    /// Where `hoped` was exposed by the answer in `exposed`; its answer may be `held` if it is no minimum.
    pub(crate) fn new(spec: &ProblemSpec, hoped: Solution, held: bool, exposed: Solution, budget: u64) -> Self {
        let step = |i: usize| {
            let mut x = hoped.x.clone();
            let (low, high) = spec.upper.space.bounds()[i];
            x[i] += STEP * (high - low) * if x[i] > 0.5 * (low + high) { -1.0 } else { 1.0 };
            x
        };
        let both = |x: Vec<f64>| [&hoped, &exposed].map(|s| [&x[..], &s.answer.y].concat());
        let slopes = (0..spec.upper.dim()).flat_map(|i| both(step(i))).collect();
        Border { hoped, exposed, slopes, budget, held, descent: None, gaps: Vec::new() }
    }

    /// The level of the points wanted.
    pub(crate) fn level(&self) -> Level {
        self.descent.as_ref().map_or(Level::Lower, |descent| descent.level())
    }

    /// The next points; none when it is over.
    pub(crate) fn ask(&self, spec: &ProblemSpec, wanted: &mut Wanted) {
        let Some(descent) = &self.descent else {
            wanted.extend(self.slopes.iter().cloned());
            return;
        };
        let n = spec.lower.dim();
        for point in doubled(spec, descent) {
            let (first, second) = point.split_at(point.len() - n);
            wanted.push(first.to_vec());
            if descent.level() == Level::Lower {
                wanted.push([&first[..spec.upper.dim()], second].concat());
            }
        }
    }

    /// Takes the values of the wanted points.
    pub(crate) fn tell(&mut self, spec: &ProblemSpec, wanted: &Wanted, answers: &Answers<'_>) {
        let Some(mut descent) = self.descent.take() else {
            self.slopes.clear();
            self.descent = self.may_meet(spec, wanted, answers).then(|| Box::new(self.open(spec)));
            return;
        };
        let points = doubled(spec, &descent);
        if descent.level() == Level::Upper {
            let gap = |point: &Vec<f64>| self.gaps.iter().rev().find(|(known, _)| known == point).map(|(_, gap)| *gap);
            let gaps: Vec<Option<f64>> = points.iter().map(gap).collect();
            descent.tell(judged(spec, answers, &gaps).view());
        } else {
            for (i, point) in points.into_iter().enumerate() {
                let (a, b) = (answers.outcomes[2 * i], answers.outcomes[2 * i + 1]);
                self.gaps.push((point, a.value - b.value));
            }
            descent.tell(paired(spec, answers).view());
        }
        self.descent = Some(descent);
    }

    /// Whether the slopes say that both answers are as good as each other somewhere in the box.
    fn may_meet(&self, spec: &ProblemSpec, wanted: &Wanted, answers: &Answers<'_>) -> bool {
        if answers.outcomes.iter().any(Outcome::is_failed) {
            return false;
        }
        let gap = self.hoped.answer.outcome.value - self.exposed.answer.outcome.value;
        let mut reach = 0.0;
        for (i, pair) in answers.outcomes.chunks_exact(2).enumerate() {
            let (x, (low, high)) = (self.hoped.x[i], spec.upper.space.bounds()[i]);
            let slope = (pair[0].value - pair[1].value - gap) / (wanted[2 * i][i] - x);
            reach += slope.abs() * if slope > 0.0 { x - low } else { high - x };
        }
        gap <= SLACK * reach
    }

    /// The descent of the doubled problem.
    fn open(&self, spec: &ProblemSpec) -> Descent {
        let hold = |(y, &(low, high)): (&f64, &(f64, f64))| {
            let reach = if self.held { HELD * (high - low) } else { high - low };
            ((y - reach).max(low), (y + reach).min(high))
        };
        let first: Vec<(f64, f64)> = self.hoped.answer.y.iter().zip(spec.lower.space.bounds()).map(hold).collect();
        let twice = |level: &LevelSpec| LevelSpec {
            space: [&first[..], level.space.bounds()].concat().into(),
            inequalities: 2 * level.inequalities,
            equalities: 2 * level.equalities,
            direction: level.direction,
        };
        let upper = LevelSpec { inequalities: spec.upper.inequalities + 1, ..spec.upper.clone() };
        let doubled = ProblemSpec::new("doubled", upper, twice(&spec.lower));
        let start = [&self.hoped.x[..], &self.hoped.answer.y, &self.exposed.answer.y].concat();
        Descent::near(&doubled, &start, SIZE, self.budget)
    }

    /// Where it ended, if it came to an end; the value of the answer is not known exactly.
    pub(crate) fn found(&self, spec: &ProblemSpec) -> Option<Solution> {
        let Incumbent { x, y, upper, .. } = self.descent.as_ref()?.incumbent()?;
        let inequalities = spec.upper.inequalities;
        let constraints = [&upper[1..1 + inequalities], &upper[2 + inequalities..]].concat();
        let outcome = Outcome { value: upper[0], violation: spec.violation(Level::Upper, &constraints) };
        let y = y[..spec.lower.dim()].to_vec();
        let answer = Answer {
            y,
            outcome: Outcome { value: self.exposed.answer.outcome.value, violation: 0.0 },
            constraints: vec![0.0; spec.lower.constraints()],
            settled: true,
        };
        Some(Solution::new(spec, x, answer, outcome, &constraints))
    }
}

/// The points that the descent wants: a decision and two answers each.
fn doubled(spec: &ProblemSpec, descent: &Descent) -> Vec<Vec<f64>> {
    let lower = LevelSpec::boxed([spec.lower.space.bounds(), spec.lower.space.bounds()].concat());
    let mut batch = Batch::new(&ProblemSpec::new("doubled", spec.upper.clone(), lower));
    descent.ask(&mut batch, 0);
    (0..batch.len()).map(|i| [batch.x(i), batch.y(i)].concat()).collect()
}

/// Answers as the descent is told them.
struct Told {
    outcomes: Vec<Outcome>,
    constraints: Vec<f64>,
    width: usize,
}

impl Told {
    fn view(&self) -> Answers<'_> {
        Answers { outcomes: &self.outcomes, constraints: &self.constraints, width: self.width, given: &[] }
    }
}

/// Sums of the values at two answers, and the constraints of both: first the inequalities.
fn paired(spec: &ProblemSpec, answers: &Answers<'_>) -> Told {
    let mut told = Told { outcomes: Vec::new(), constraints: Vec::new(), width: 2 * spec.lower.constraints() };
    for (i, pair) in answers.outcomes.chunks_exact(2).enumerate() {
        let failed = pair.iter().any(Outcome::is_failed);
        let sum = Outcome { value: pair[0].value + pair[1].value, violation: pair[0].violation + pair[1].violation };
        told.outcomes.push(if failed { Outcome::FAILED } else { sum });
        let (a, b) = (answers.constraints(2 * i), answers.constraints(2 * i + 1));
        let k = spec.lower.inequalities;
        [&a[..k], &b[..k], &a[k..], &b[k..]].into_iter().for_each(|part| told.constraints.extend(part));
    }
    told
}

/// The leader's values with the gap among the inequalities.
fn judged(spec: &ProblemSpec, answers: &Answers<'_>, gaps: &[Option<f64>]) -> Told {
    let mut told = Told { outcomes: Vec::new(), constraints: Vec::new(), width: spec.upper.constraints() + 1 };
    for (i, gap) in gaps.iter().enumerate() {
        let outcome = answers.outcomes[i];
        told.outcomes.push(if gap.is_some() { outcome } else { Outcome::FAILED });
        let (before, after) = answers.constraints(i).split_at(spec.upper.inequalities);
        told.constraints.extend(before);
        told.constraints.push(gap.unwrap_or(f64::NAN));
        told.constraints.extend(after);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wells near y = 1 and y = -1; the first is the deeper one where the tilt is negative.
    fn lower(tilt: f64, y: f64) -> f64 {
        (y * y - 1.0).powi(2) + 0.2 * tilt * y
    }

    /// Searches from x, where the leader hoped for the well near 1, to the end; evaluations and result.
    fn run(x: [f64; 2], tilt: fn(&[f64]) -> f64) -> (usize, Option<Solution>) {
        let level = |dim| LevelSpec::boxed(vec![(-2.0, 2.0); dim]);
        let spec = ProblemSpec::new("wells", level(2), level(1));
        let upper = |x: &[f64], y: f64| (x[0] - 1.0).powi(2) + (x[1] - 0.5).powi(2) + (y - 1.0).powi(2);
        let solution = |y: f64| {
            let outcome = Outcome { value: lower(tilt(&x), y), violation: 0.0 };
            let answer = Answer { y: vec![y], outcome, constraints: Vec::new(), settled: true };
            let above = Outcome { value: upper(&x, y), violation: 0.0 };
            Solution::new(&spec, x.to_vec(), answer, above, &[])
        };
        let mut border = Border::new(&spec, solution(1.0), false, solution(-1.0), 1000);
        let mut evaluations = 0;
        loop {
            let mut wanted = Wanted::new();
            border.ask(&spec, &mut wanted);
            if wanted.is_empty() {
                return (evaluations, border.found(&spec));
            }
            evaluations += wanted.len();
            let value = |point: &Vec<f64>| match border.level() {
                Level::Upper => upper(&point[..2], point[2]),
                Level::Lower => lower(tilt(&point[..2]), point[2]),
            };
            let outcomes: Vec<Outcome> =
                wanted.iter().map(|point| Outcome { value: value(point), violation: 0.0 }).collect();
            border.tell(&spec, &wanted, &Answers::without_constraints(&outcomes));
        }
    }

    #[test]
    fn the_best_decision_of_the_other_answer_lies_on_the_border() {
        // The well near 1 is the deeper one for x0 + x1 <= 0; the nearest such point to (1, 0.5) is (0.25, -0.25).
        let (evaluations, found) = run([1.0, 0.5], |x| x[0] + x[1]);
        let found = found.unwrap();
        assert!((found.x[0] - 0.25).abs() < 1e-3 && (found.x[1] + 0.25).abs() < 1e-3, "{found:?}");
        assert!((found.answer.y[0] - 1.0).abs() < 0.02 && evaluations < 1000, "{found:?} {evaluations}");
    }

    #[test]
    fn where_the_answers_never_meet_the_slopes_are_all_it_costs() {
        let (evaluations, found) = run([1.0, 0.5], |x| 3.0 + 0.1 * x[0]);
        assert_eq!((evaluations, found), (4, None));
    }
}
