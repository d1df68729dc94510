//! Explores the neighbourhood of an answer: how F and f change with one variable, which constraints bind, and
//! what they cost.
//!
//! Along a variable of the leader, the follower responds again at every point: by its own solver if it has one,
//! otherwise by a local search from its answer at the neighbouring point. Such a slice shows F(x, y(x)). Along a
//! variable of the follower, everything else is kept, and the slice shows f. The price of a binding constraint is
//! its Lagrange multiplier, from finite differences: how much the objective would gain if the constraint were
//! relaxed by one unit. The leader's prices include the follower's reaction.

use super::follower::{Follower, Point};
use super::quadratic::{Constraint, Quadratic};
use super::search::descend;
use super::{AuditOptions, Counts, Ended, whole};
use crate::evaluate::Evaluator;
use crate::policy::evaluate_whole;
use crate::result::RunResult;
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::problem::{self, Level, OracleAnswer, ProblemSpec};
use bilevo_core::record::Solution;
use bilevo_core::space::Variable;

/// Maximum number of variables shown per level.
pub const SHOWN: usize = 8;
/// Maximum and minimum number of points in a slice.
const POINTS: (u64, u64) = (24, 4);
/// Distance of the points next to the answer, as a share of the box.
const BESIDE: f64 = 0.01;
/// Distance of the points used for slopes, at the lower and the upper level.
const DIFFERENCE: (f64, f64) = (1e-5, 1e-3);
/// A constraint binds if a move by this share of the box takes it to its limit.
const BINDS: f64 = 1e-4;
/// Radius of a local search that follows the follower's answer.
const RADIUS: f64 = 0.1;

/// Default limits: seconds, and evaluations.
const QUICK: (f64, u64) = (2.0, 4000);

/// What lies around an answer; objectives in the problem's own directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// One for each variable shown, the leader's first.
    pub slices: Vec<Slice>,
    /// The constraints of both levels, the leader's first.
    pub constraints: Vec<Bound>,
    /// Evaluations it took.
    pub evaluations: Counts,
    /// Why it ended early, if it did.
    pub broken_off: Option<String>,
}

/// What happens if one variable moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The level of the variable.
    pub level: Level,
    /// Its index.
    pub index: usize,
    /// Points in the order of the variable's value; the answer is one of them.
    pub points: Vec<SlicePoint>,
}

/// One point of a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct SlicePoint {
    /// The variable's value.
    pub at: f64,
    /// The follower's answer there.
    pub y: Vec<f64>,
    /// F; `None` in slices along the follower's variables.
    pub upper_value: Option<f64>,
    /// f; `None` if only the follower's own solver knows it.
    pub lower_value: Option<f64>,
    /// Whether all relevant constraints hold.
    pub feasible: bool,
}

/// A constraint at the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The level of the constraint.
    pub level: Level,
    /// Its index; inequalities come first.
    pub index: usize,
    /// Its value: at most 0, or 0 for an equation.
    pub value: f64,
    /// Whether it is an equation.
    pub equality: bool,
    /// Whether it binds; `None` if unknown.
    pub binds: Option<bool>,
    /// Its price; `None` if unknown.
    pub price: Option<f64>,
}

/// The default number of evaluations for exploring the neighbourhood of an answer: a tenth of the run's, or two
/// seconds' worth if that is more, up to a limit.
pub fn allowance(result: &RunResult) -> u64 {
    let total = result.evaluations.total();
    let each = result.times.seconds / total.max(1) as f64;
    let quick = (QUICK.0 / each.max(1e-9)) as u64;
    (total / 10).max(quick.min(QUICK.1))
}

/// Explores the neighbourhood of `solution` with at most about `evaluations` evaluations of both levels.
pub fn look_around(
    evaluator: &mut dyn Evaluator,
    solution: &Solution,
    evaluations: u64,
    options: &AuditOptions,
) -> Surroundings {
    let spec = evaluator.spec().clone();
    let mut look = Look { evaluator, options, spec, solution, budget: evaluations, counts: Counts::default() };
    let mut seen = Surroundings::default();
    // If the time runs out, what was found so far is shown.
    seen.broken_off = match look.all(&mut seen) {
        Ok(()) | Err(Ended::Budget) => None,
        Err(Ended::Interrupted) => Some("interrupted".into()),
        Err(Ended::OutOfTime) => Some("the time was up".into()),
        Err(Ended::Lost(words)) => Some(words),
    };
    seen.evaluations = look.counts;
    seen
}

struct Look<'a> {
    evaluator: &'a mut dyn Evaluator,
    options: &'a AuditOptions,
    spec: ProblemSpec,
    solution: &'a Solution,
    budget: u64,
    counts: Counts,
}

/// A decision with the follower's answer to it; objectives minimised.
#[derive(Clone, Debug)]
struct Reply {
    y: Vec<f64>,
    lower_value: f64,
    /// F and the upper constraints.
    upper: Vec<f64>,
    violation: f64,
}

/// An answer of the follower with f, minimised, and its violation.
type Answered = (OracleAnswer, f64, f64);

impl Look<'_> {
    fn all(&mut self, seen: &mut Surroundings) -> Result<(), Ended> {
        self.constraints(seen)?;
        self.lower_slices(seen)?;
        self.upper_slices(seen)
    }

    fn answers_itself(&self) -> bool {
        self.spec.follower == problem::Follower::Oracle
    }

    /// Evaluations left.
    fn left(&self) -> u64 {
        self.budget.saturating_sub(self.counts.lower + self.counts.upper)
    }

    /// Roughly how many evaluations one answer of the follower takes.
    fn reply_cost(&self) -> u64 {
        if self.answers_itself() { 2 } else { 10 + 12 * self.spec.lower.dim() as u64 }
    }

    fn follower(&mut self, x: &[f64]) -> Follower<'_> {
        let budget = self.left();
        Follower::new(self.evaluator, self.options, x, budget)
    }

    fn count(&mut self, counts: Counts) {
        self.counts.upper += counts.upper;
        self.counts.lower += counts.lower;
        self.counts.failed += counts.failed;
    }

    /// Lower values of answers (in unit coordinates) to a given decision.
    fn lower(&mut self, points: &[Vec<f64>]) -> Result<Vec<Option<Point>>, Ended> {
        let x = self.solution.x.clone();
        let mut follower = self.follower(&x);
        let found = follower.lower(points);
        let counts = follower.counts;
        self.count(counts);
        found
    }

    /// The follower's answer to a decision, starting from its answer to a nearby one; `None` if it failed.
    fn reply(&mut self, x: &[f64], near: &[f64]) -> Result<Option<Reply>, Ended> {
        if self.left() == 0 {
            return Err(Ended::Budget);
        }
        let answered = if self.answers_itself() { self.asked(x)? } else { self.followed(x, near)? };
        let Some((answer, lower_value, lower_violation)) = answered else { return Ok(None) };
        let y = answer.y.clone();
        let batch = match self.answers_itself() {
            true => Batch::of_answers(&self.spec, [(x, answer)]),
            false => Batch::from_points(&self.spec, Level::Upper, [(x, &y[..])]),
        };
        let replies = self.evaluate(&batch.map_err(|error| Ended::Lost(error.to_string()))?)?;
        self.counts.upper += 1;
        let outcome = replies.outcomes()[0];
        let upper = [&[outcome.value], replies.constraints(0)].concat();
        let violation = outcome.violation.max(lower_violation);
        Ok((!outcome.is_failed()).then_some(Reply { y, lower_value, upper, violation }))
    }

    /// From the follower's own solver.
    fn asked(&mut self, x: &[f64]) -> Result<Option<Answered>, Ended> {
        let batch = Batch::of_decisions(&self.spec, [x]).map_err(|error| Ended::Lost(error.to_string()))?;
        let replies = self.evaluate(&batch)?;
        self.counts.lower += 1;
        let outcome = replies.outcomes()[0];
        let given = replies.answers().given.first();
        Ok(given.filter(|_| !outcome.is_failed()).map(|answer| (answer.clone(), outcome.value, outcome.violation)))
    }

    /// From a local search.
    fn followed(&mut self, x: &[f64], near: &[f64]) -> Result<Option<Answered>, Ended> {
        let space = self.spec.lower.space.clone();
        let mut follower = self.follower(x);
        let u = follower.scaled(near);
        let search = |follower: &mut Follower<'_>| -> Result<(), Ended> {
            let Some(point) = follower.lower(std::slice::from_ref(&u))?.pop().flatten() else { return Ok(()) };
            if space.has_whole() {
                return whole::climb(follower, &space);
            }
            descend(follower, point, RADIUS, &|follower, points| follower.lower(points)).map(|_| ())
        };
        let searched = search(&mut follower);
        let best = follower.best.take();
        let (counts, y) = (follower.counts, best.as_ref().map(|best| follower.unscaled(&best.u)));
        self.count(counts);
        searched?;
        Ok(best.zip(y).map(|(best, y)| (OracleAnswer::new(y), best.row.value, best.violation)))
    }

    fn evaluate(&mut self, batch: &Batch) -> Result<Replies, Ended> {
        let mut replies = Replies::default();
        evaluate_whole(self.evaluator, batch, &mut replies).map_err(|error| Ended::Lost(error.to_string()))?;
        self.counts.failed += replies.failures().len() as u64;
        Ok(replies)
    }

    /// Values and prices of the constraints of both levels.
    fn constraints(&mut self, seen: &mut Surroundings) -> Result<(), Ended> {
        let (x, y) = (self.solution.x.clone(), self.solution.y.clone());
        for level in [Level::Upper, Level::Lower] {
            let count = self.spec.level(level).constraints();
            if count == 0 || self.left() == 0 || level == Level::Lower && self.spec.is_oracle_alone() {
                continue;
            }
            let batch = Batch::from_points(&self.spec, level, [(&x[..], &y[..])]);
            let replies = self.evaluate(&batch.map_err(|error| Ended::Lost(error.to_string()))?)?;
            match level {
                Level::Upper => self.counts.upper += 1,
                Level::Lower => self.counts.lower += 1,
            }
            let row = [&[replies.outcomes()[0].value], replies.constraints(0)].concat();
            let space = &self.spec.level(level).space;
            let smooth = !space.has_whole() && replies.failures().is_empty();
            let unit = space.to_unit(if level == Level::Upper { &x } else { &y });
            let slopes = if smooth { self.slopes(level, &unit)? } else { None };
            let prices = slopes.map(|slopes| self.prices(level, &unit, &row, &slopes));
            let inequalities = self.spec.level(level).inequalities;
            seen.constraints.extend((0..count).map(|index| Bound {
                level,
                index,
                value: row[1 + index],
                equality: index >= inequalities,
                binds: prices.as_ref().map(|prices| prices[index].is_some()),
                price: prices.as_ref().and_then(|prices| prices[index]),
            }));
        }
        Ok(())
    }

    /// Slopes of the objective and of each constraint of a level, variable by variable in unit coordinates; `None` if
    /// they would cost more than half of the evaluations left, or a point failed.
    fn slopes(&mut self, level: Level, unit: &[f64]) -> Result<Option<Vec<Vec<f64>>>, Ended> {
        let n = unit.len();
        let cost = 2 * n as u64 * if level == Level::Upper { self.reply_cost() } else { 1 };
        if n == 0 || 2 * cost > self.left() {
            return Ok(None);
        }
        let step = if level == Level::Upper { DIFFERENCE.1 } else { DIFFERENCE.0 };
        let mut slopes: Vec<Vec<f64>> = vec![vec![0.0; n]; 1 + self.spec.level(level).constraints()];
        for i in 0..n {
            let ends = [(unit[i] - step).max(0.0), (unit[i] + step).min(1.0)];
            let mut rows = Vec::new();
            for end in ends {
                let mut point = unit.to_vec();
                point[i] = end;
                rows.push(self.row(level, point)?);
            }
            let [Some(low), Some(high)] = &rows[..] else { return Ok(None) };
            for (slope, (low, high)) in slopes.iter_mut().zip(low.iter().zip(high)) {
                slope[i] = (high - low) / (ends[1] - ends[0]);
            }
        }
        Ok(Some(slopes))
    }

    /// Objective and constraints of a level at a point in unit coordinates; the leader's include the follower's
    /// reaction.
    fn row(&mut self, level: Level, unit: Vec<f64>) -> Result<Option<Vec<f64>>, Ended> {
        if level == Level::Upper {
            let (x, y) = (self.spec.upper.space.from_unit(&unit), self.solution.y.clone());
            return Ok(self.reply(&x, &y)?.map(|reply| reply.upper));
        }
        let found = self.lower(&[unit])?.pop().flatten();
        Ok(found.map(|point| [&[point.row.value], &point.row.constraints[..]].concat()))
    }

    /// The multiplier of each binding constraint, from a small step on the linear model (which is zero at an
    /// optimum).
    fn prices(&self, level: Level, unit: &[f64], row: &[f64], slopes: &[Vec<f64>]) -> Vec<Option<f64>> {
        let n = unit.len();
        let inequalities = self.spec.level(level).inequalities;
        let norm = |slope: &[f64]| slope.iter().map(|s| s * s).sum::<f64>().sqrt();
        let binding: Vec<usize> =
            (0..row.len() - 1).filter(|&i| i >= inequalities || row[1 + i] >= -BINDS * norm(&slopes[1 + i])).collect();
        let size = norm(&slopes[0]).max(f64::MIN_POSITIVE);
        let mut hessian = vec![0.0; n * n];
        (0..n).for_each(|i| hessian[i * n + i] = size / BESIDE);
        let constraint =
            |&i: &usize| Constraint { value: 0.0, slope: slopes[1 + i].clone(), equality: i >= inequalities };
        let model = Quadratic {
            slope: slopes[0].clone(),
            hessian,
            low: unit.iter().map(|u| (-u).max(-BESIDE)).collect(),
            high: unit.iter().map(|u| (1.0 - u).min(BESIDE)).collect(),
            constraints: binding.iter().map(constraint).collect(),
        };
        let (_, multipliers) = model.minimise(&vec![0.0; binding.len()]);
        let mut prices = vec![None; row.len() - 1];
        binding.into_iter().zip(multipliers).for_each(|(i, price)| prices[i] = Some(price));
        prices
    }

    /// f along each variable of the follower, with a quarter of the evaluations left.
    fn lower_slices(&mut self, seen: &mut Surroundings) -> Result<(), Ended> {
        let shown = self.spec.lower.dim().min(SHOWN);
        let count = (self.left() / 4 / shown.max(1) as u64).min(POINTS.0);
        if count < POINTS.1 || self.spec.is_oracle_alone() {
            return Ok(());
        }
        let unit = self.spec.lower.space.to_unit(&self.solution.y);
        for index in 0..shown {
            let values = around(self.spec.lower.space.variable(index), self.solution.y[index], count);
            let space = &self.spec.lower.space;
            let moved = |&value: &f64| {
                let mut point = unit.clone();
                point[index] = space.variable(index).unit(value);
                point
            };
            let points: Vec<Vec<f64>> = values.iter().map(moved).collect();
            let found = self.lower(&points)?;
            let direction = self.spec.lower.direction;
            let seen_at = |(&at, found): (&f64, Option<Point>)| {
                found.map(|point| SlicePoint {
                    at,
                    y: self.spec.lower.space.from_unit(&point.u),
                    upper_value: None,
                    lower_value: Some(direction.flip(point.row.value)),
                    feasible: point.violation <= self.options.violation,
                })
            };
            let points = values.iter().zip(found).filter_map(seen_at).collect();
            seen.slices.push(Slice { level: Level::Lower, index, points });
        }
        Ok(())
    }

    /// F along each variable of the leader, with new answers of the follower.
    fn upper_slices(&mut self, seen: &mut Surroundings) -> Result<(), Ended> {
        let shown = self.spec.upper.dim().min(SHOWN);
        let count = (self.left() / self.reply_cost() / shown.max(1) as u64).min(POINTS.0);
        if count < POINTS.1 {
            return Ok(());
        }
        for index in 0..shown {
            let values = around(self.spec.upper.space.variable(index), self.solution.x[index], count);
            let (below, above): (Vec<f64>, _) = values.into_iter().partition(|v| *v < self.solution.x[index]);
            let mut points = Vec::new();
            let ended = self.walk(index, below.into_iter().rev(), &mut points);
            points.reverse();
            let ended = ended.and_then(|()| self.walk(index, above.into_iter(), &mut points));
            let at = seen.slices.iter().filter(|slice| slice.level == Level::Upper).count();
            seen.slices.insert(at, Slice { level: Level::Upper, index, points });
            ended?;
        }
        Ok(())
    }

    /// Tracks the follower's answer while one variable of the leader moves further and further away.
    fn walk(
        &mut self,
        index: usize,
        values: impl Iterator<Item = f64>,
        points: &mut Vec<SlicePoint>,
    ) -> Result<(), Ended> {
        let mut near = self.solution.y.clone();
        for at in values {
            let mut x = self.solution.x.clone();
            x[index] = at;
            let Some(reply) = self.reply(&x, &near)? else { continue };
            let lower_value = reply.lower_value.is_finite().then(|| self.spec.lower.direction.flip(reply.lower_value));
            points.push(SlicePoint {
                at,
                y: reply.y.clone(),
                upper_value: Some(self.spec.upper.direction.flip(reply.upper[0])),
                lower_value,
                feasible: reply.violation <= self.options.violation,
            });
            near = reply.y;
        }
        Ok(())
    }
}

/// Values of a variable over its whole range and next to `here`, which is one of them.
fn around(variable: Variable, here: f64, count: u64) -> Vec<f64> {
    let even = (0..count).map(|k| variable.at(k as f64 / (count - 1) as f64));
    let beside = [-BESIDE, BESIDE].map(|share| here + share * variable.width());
    let mut values: Vec<f64> = even.chain(beside.map(|value| variable.clamp(value))).chain([here]).collect();
    values.iter_mut().for_each(|value| *value = variable.nearest(*value));
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

#[cfg(test)]
mod tests;
