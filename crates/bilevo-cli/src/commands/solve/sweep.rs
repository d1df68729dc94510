//! `solve --front` and `solve --sweep`: several runs, each of which uses what the others found.

use super::{Args, started};
use crate::args::Format;
use crate::output::{self, digits, grouped};
use crate::{Exit, table};
use anyhow::{Context, anyhow, bail};
use bilevo::known::{Evaluation, Recorder};
use bilevo::problems::file::{Goal, Reading};
use bilevo::{Direction, Level, RunResult, Solution, Source, Start, Status, methods, source};
use serde::Serialize;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A limit on the second goal may be missed by this share of its range on the front.
const SLACK: f64 = 1e-6;
/// First goals that differ by less than this share of their range on the front are equal.
const SAME: f64 = 1e-4;
/// Violations up to this count as none.
const FEASIBLE: f64 = 1e-6;

/// Evenly spaced values of a parameter, as in `demand=1:10:10`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    name: String,
    values: Vec<f64>,
}

impl FromStr for Values {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a range of values\nhint: write NAME=FROM:TO:COUNT, as in demand=1:10:10");
        let (name, range) = text.split_once('=').ok_or_else(wrong)?;
        let [from, to, count] = range.split(':').collect::<Vec<_>>()[..] else { return Err(wrong()) };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong);
        let (from, to) = (number(from)?, number(to)?);
        let count = count.trim().parse::<u16>().ok().filter(|count| *count >= 2).ok_or_else(wrong)?;
        let at = |i: u16| from + (to - from) * f64::from(i) / f64::from(count - 1);
        Ok(Values { name: name.trim().into(), values: (0..count).map(at).collect() })
    }
}

/// One point of a front or a sweep.
#[derive(Clone, Debug, Serialize)]
struct Point {
    /// The parameter's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// Both goals.
    #[serde(skip_serializing_if = "Option::is_none")]
    goals: Option<[f64; 2]>,
    /// The limit on the second one, minimised.
    #[serde(skip)]
    limit: Option<f64>,
    /// Whether the follower's answer was checked and all constraints hold.
    verified: bool,
    result: RunResult,
}

#[derive(Serialize)]
struct Sweep<'a> {
    problem: &'a str,
    /// The parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<&'a str>,
    /// Evaluations of all runs; both goals at one point count as one.
    evaluations: u64,
    points: Vec<Point>,
}

pub(super) fn run(args: &Args, stop: &Arc<AtomicBool>) -> anyhow::Result<Exit> {
    let path = args.problem.as_deref().unwrap_or_default();
    let mut runs = Runs { args: args.clone(), path, stop, evaluations: 0, rows: Vec::new() };
    let (points, parameter) = match &args.sweep {
        Some(values) => (runs.sweep(values)?, Some(&values.name[..])),
        None => (runs.front(args.points.map_or(9, usize::from))?, None),
    };
    let interrupted = points.iter().any(|point| point.result.stop == Status::Interrupted);
    let good = points.iter().all(|point| point.verified && (parameter.is_none() || point.result.success));
    let sweep = Sweep { problem: path, parameter, evaluations: runs.evaluations, points };
    match args.format {
        Format::Json => output::json(&sweep)?,
        Format::Text => text(&sweep)?,
    }
    Ok(match (interrupted, good) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::NotGood,
    })
}

struct Runs<'a> {
    args: Args,
    path: &'a str,
    stop: &'a Arc<AtomicBool>,
    evaluations: u64,
    /// All evaluations so far.
    rows: Vec<Evaluation>,
}

impl Runs<'_> {
    /// One run, with `effort` unless the command line names another.
    fn run(&mut self, source: &dyn Source, start: Option<Start>, effort: &str) -> anyhow::Result<RunResult> {
        let mut recorder = Recorder::default();
        let mut solver = started(&self.args, source)?.jobs(self.args.jobs.into()).stop_flag(Arc::clone(self.stop));
        let by_default = matches!(self.args.method.as_deref(), None | Some(methods::AUTO | methods::DEFAULT));
        if by_default && self.args.effort.is_none() {
            solver = solver.set("portfolio.effort", effort);
        }
        if self.args.target.is_none() {
            // The best known value applies only to the file's own numbers.
            solver = solver.set("stop.target", "off");
        }
        let solver = solver.start_at(start).known(relabelled(&self.rows, source));
        let result = solver.observer(&mut recorder).run()?;
        self.rows.append(&mut recorder.rows);
        self.evaluations += result.evaluations.total();
        self.args.seed = Some(result.id.seed);
        Ok(result)
    }

    /// Solves for each value in turn, starting from the previous answer.
    fn sweep(&mut self, Values { name, values }: &Values) -> anyhow::Result<Vec<Point>> {
        refuse_variable(self.path, name)?;
        let mut points: Vec<Point> = Vec::new();
        for &value in values {
            let reading = Reading { parameters: vec![(name.clone(), value)], goal: None };
            let source = open_as(self.path, &reading, "--sweep")?;
            let start = points.last().and_then(|point| start(&point.result));
            let effort = if points.is_empty() { "normal" } else { "quick" };
            // The functions have changed, so evaluations for another value are useless.
            self.rows.clear();
            let result = self.run(&*source, start, effort)?;
            let ended = result.stop == Status::Interrupted;
            points.push(Point { value: Some(value), goals: None, limit: None, verified: is_verified(&result), result });
            if ended {
                break;
            }
        }
        Ok(points)
    }

    /// Both ends, then the middles between known points, as often as needed.
    fn front(&mut self, count: usize) -> anyhow::Result<Vec<Point>> {
        let goals = [0, 1].map(|index| self.open(Goal { index, limit: None }));
        let [first, second] = goals;
        let goals = Goals { sources: [first?, second?] };
        let ends = [
            self.point(&goals, Goal { index: 0, limit: None }, None, "normal")?,
            self.point(&goals, Goal { index: 1, limit: None }, None, "quick")?,
        ];
        let (from, to) = (goals.minimised(&ends[0])[1], goals.minimised(&ends[1])[1]);
        let limit = |i: usize| from + (to - from) * i as f64 / (count - 1) as f64;
        let mut found = ends.to_vec();
        let order = if to < from { halving(1, count - 1) } else { Vec::new() };
        for &i in &order {
            self.between(&goals, &mut found, limit(i))?;
        }
        // From the tightest limit to the loosest.
        for i in (1..=order.len()).rev() {
            self.repair(&goals, &mut found, limit(i))?;
        }
        Ok(goals.front(found))
    }

    /// The point with the second goal at a limit: starting between its neighbours, or by a wider search if that
    /// fails.
    fn between(&mut self, goals: &Goals, found: &mut Vec<Point>, limit: f64) -> anyhow::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let goal = goals.limited(found, limit);
        let mut point = self.point(goals, goal, goals.between(found, limit), "local")?;
        if !point.verified {
            point = self.point(goals, goal, None, "quick")?;
        }
        found.push(Point { limit: Some(limit), ..point });
        Ok(())
    }

    /// The same again, from the best point that meets the limit, if that is better than the result.
    fn repair(&mut self, goals: &Goals, found: &mut [Point], limit: f64) -> anyhow::Result<()> {
        let Some(mine) = found.iter().position(|point| point.limit == Some(limit)) else { return Ok(()) };
        let (slack, tolerance) = (SLACK * goals.range(found, 1), SAME * goals.range(found, 0));
        let first = |point: &Point| goals.minimised(point)[0];
        let within = |point: &&Point| point.verified && goals.minimised(point)[1] <= limit + slack;
        let best = found.iter().filter(within).min_by(|a, b| first(a).total_cmp(&first(b)));
        let better =
            best.filter(|best| first(best) < first(&found[mine]) - tolerance && !self.stop.load(Ordering::Relaxed));
        if let Some(start) = better.and_then(|better| start(&better.result)) {
            let again = self.point(goals, goals.limited(found, limit), Some(start), "quick")?;
            found[mine] = Point { limit: Some(limit), ..again };
        }
        Ok(())
    }

    fn point(&mut self, goals: &Goals, goal: Goal, start: Option<Start>, effort: &str) -> anyhow::Result<Point> {
        let source = self.open(goal)?;
        let result = self.run(&*source, start, effort)?;
        let Some(Solution { x, y, .. }) = &result.solution else {
            bail!("a run of the front ended without an answer\nhint: give it a larger budget");
        };
        Ok(Point { value: None, goals: Some(goals.at(x, y)?), limit: None, verified: is_verified(&result), result })
    }

    fn open(&self, goal: Goal) -> anyhow::Result<Box<dyn Source>> {
        let source = open_as(self.path, &Reading { parameters: Vec::new(), goal: Some(goal) }, "--front")?;
        if source.formulas().is_none() {
            bail!("`--front` needs formulas\nhint: for functions or programs there is `bilevo.pareto` in Python");
        }
        Ok(source)
    }
}

/// Refuses to sweep over a variable, which is a matter of the run.
fn refuse_variable(path: &str, name: &str) -> anyhow::Result<()> {
    let Ok(source) = source::open(path, None) else { return Ok(()) };
    let is_variable = |level| source.names(level).iter().any(|variable| variable.split('[').next() == Some(name));
    if is_variable(Level::Upper) || is_variable(Level::Lower) {
        bail!(
            "`{name}` is a variable, and a sweep changes a parameter\nhint: `bilevo eval` shows the values at a point"
        );
    }
    Ok(())
}

/// A problem file with other numbers, or with one goal.
fn open_as(path: &str, reading: &Reading, flag: &str) -> anyhow::Result<Box<dyn Source>> {
    source::open_as(path, reading).map_err(|error| match source::open(path, None) {
        Ok(source) if !Path::new(path).exists() => {
            anyhow!("`{flag}` needs a problem file, but {} is built in\nhint: give the path of a file", source.id())
        }
        _ => error.into(),
    })
}

/// The problem with either goal.
struct Goals {
    sources: [Box<dyn Source>; 2],
}

impl Goals {
    fn direction(&self) -> Direction {
        self.sources[0].spec().upper.direction
    }

    fn at(&self, x: &[f64], y: &[f64]) -> anyhow::Result<[f64; 2]> {
        let [first, second] = [0, 1].map(|index: usize| {
            let values = upper(&*self.sources[index], x, y);
            values.map(|(value, _)| value).context("a goal could not be evaluated at the answer")
        });
        Ok([first?, second?])
    }

    /// Both goals, smaller is better.
    fn minimised(&self, point: &Point) -> [f64; 2] {
        point.goals.unwrap_or([f64::NAN; 2]).map(|value| self.direction().flip(value))
    }

    /// The range of a goal over the front, whose ends were found first.
    fn range(&self, found: &[Point], goal: usize) -> f64 {
        (self.minimised(&found[0])[goal] - self.minimised(&found[1])[goal]).abs()
    }

    /// The first goal with a limit on the second.
    fn limited(&self, found: &[Point], limit: f64) -> Goal {
        let scale = self.range(found, 1);
        Goal { index: 0, limit: Some((self.direction().flip(limit + SLACK * scale), scale)) }
    }

    /// Halfway between the answers of the nearest points on either side of a limit.
    fn between(&self, found: &[Point], limit: f64) -> Option<Start> {
        let second = |point: &&Point| self.minimised(point)[1];
        let order = |a: &&Point, b: &&Point| second(a).total_cmp(&second(b));
        let above = found.iter().filter(|p| second(p) >= limit).min_by(order)?;
        let below = found.iter().filter(|p| second(p) < limit).max_by(order)?;
        let share = (second(&above) - limit) / (second(&above) - second(&below));
        let mix = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect::<Vec<f64>>();
        let (from, to) = (start(&above.result)?, start(&below.result)?);
        Some(Start { x: mix(&from.x, &to.x), y: from.y.zip(to.y).map(|(a, b)| mix(&a, &b)) })
    }

    /// The points that no other point beats in both goals, best first goal first.
    fn front(&self, mut found: Vec<Point>) -> Vec<Point> {
        found.sort_by(|a, b| {
            let (a, b) = (self.minimised(a), self.minimised(b));
            a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]))
        });
        let mut front: Vec<Point> = Vec::new();
        for point in found {
            if front.last().is_none_or(|last| self.minimised(&point)[1] < self.minimised(last)[1]) {
                front.push(point);
            }
        }
        front
    }
}

/// Numbers strictly between two others: the middle first, then the middles of both halves, and so on.
fn halving(first: usize, end: usize) -> Vec<usize> {
    if first >= end {
        return Vec::new();
    }
    let middle = first + (end - first) / 2;
    [vec![middle], halving(first, middle), halving(middle + 1, end)].concat()
}

/// All evaluations with the leader's values of the other problem: both goals are known wherever one is.
fn relabelled(rows: &[Evaluation], source: &dyn Source) -> Vec<Evaluation> {
    let relabel = |row: &Evaluation| {
        let values = row.upper.as_ref().and_then(|_| upper(source, &row.x, &row.y));
        Evaluation { upper: values, is_answer: false, ..row.clone() }
    };
    rows.iter().map(relabel).collect()
}

/// F and the upper constraints of a problem given by formulas.
fn upper(source: &dyn Source, x: &[f64], y: &[f64]) -> Option<(f64, Vec<f64>)> {
    let mut constraints = Vec::new();
    let value = bilevo::BilevelProblem::evaluate(source.formulas()?, Level::Upper, x, y, &mut constraints).ok()?;
    Some((value, constraints))
}

fn start(result: &RunResult) -> Option<Start> {
    let Solution { x, y, .. } = result.solution.clone()?;
    Some(Start { x, y: Some(y).filter(|y| !y.is_empty()) })
}

fn is_verified(result: &RunResult) -> bool {
    let feasible = |violation: Option<f64>| violation.is_some_and(|violation| violation <= FEASIBLE);
    result.verification.is_none_or(|verification| verification.rechecked || result.success)
        && feasible(result.upper_violation())
        && feasible(result.lower_violation())
}

fn text(sweep: &Sweep<'_>) -> anyhow::Result<()> {
    let Some(first) = sweep.points.first() else { return Ok(()) };
    let out = &mut output::stdout();
    let count = grouped(sweep.evaluations);
    table::heading(
        out,
        format_args!("{}: {} points, {count} evaluations", first.result.id.problem, sweep.points.len()),
    )?;
    let numbered = |letter: char, count: usize| (1..=count).map(|i| format!("{letter}{i}")).collect::<Vec<_>>();
    let (m, n) = (first.result.x().map_or(0, <[f64]>::len), first.result.y().map_or(0, <[f64]>::len));
    let names = first.result.names.clone();
    let (x, y) = names.map_or_else(|| (numbered('x', m), numbered('y', n)), |names| (names.x, names.y));
    let head: Vec<String> = match sweep.parameter {
        Some(name) => vec![name.into(), "F".into(), "f".into()],
        None => vec!["F1".into(), "F2".into()],
    };
    let mut rows = vec![[head, x, y, vec!["verified".into()]].concat()];
    for point in &sweep.points {
        let values = match point.goals {
            Some(goals) => goals.map(Some).to_vec(),
            None => vec![point.value, point.result.upper_value(), point.result.lower_value()],
        };
        let cell = |value: Option<f64>| value.map_or("-".into(), |value| digits(value, 6));
        let vector = |v: Option<&[f64]>| v.into_iter().flatten().map(|v| digits(*v, 6)).collect::<Vec<_>>();
        let verified = if point.verified { "yes" } else { "no" };
        let values = values.into_iter().map(cell).collect();
        rows.push([values, vector(point.result.x()), vector(point.result.y()), vec![verified.into()]].concat());
    }
    table::columns(out, &rows)?;
    for point in sweep.points.iter().filter(|point| !point.verified) {
        output::warn_of(&point.result.warnings);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_ends_and_even_steps() {
        let Values { name, values } = "demand = 1:3:5".parse().unwrap();
        assert_eq!((name.as_str(), values), ("demand", vec![1.0, 1.5, 2.0, 2.5, 3.0]));
        for wrong in ["demand", "demand=1:2", "demand=1:2:1", "demand=1:x:3", "demand=0:inf:3", "demand=1:2:3:4"] {
            assert!(wrong.parse::<Values>().unwrap_err().contains("FROM:TO:COUNT"), "{wrong}");
        }
    }

    #[test]
    fn every_number_between_the_ends_comes_once_and_the_middle_first() {
        assert_eq!(halving(1, 8), [4, 2, 1, 3, 6, 5, 7]);
        assert_eq!(halving(1, 1), [0usize; 0]);
    }
}
