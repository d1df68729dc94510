//! What sampled points show: values that are not finite, constraints that nothing meets, known optima that are not
//! optimal.

use super::nearer::project;
use super::{Evaluate, Part, Remarks};
use crate::file::check::Subject;
use crate::file::diagnostic::Severity;
use bilevo_core::problem::{BilevelProblem, Level, ProblemSpec};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_core::space::Variable;

/// The maximum number of evaluations.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Points drawn from the box.
    pub(super) points: usize,
    /// Evaluations of one local search; 0 for no search.
    pub(super) steps: usize,
}

impl Effort {
    /// For programs, which may take seconds.
    pub(super) const LITTLE: Effort = Effort { points: 8, steps: 0 };

    /// Fewer for slow expressions: about a second in all.
    pub(super) fn for_steps(steps: usize) -> Effort {
        match steps {
            0..1_000 => Effort { points: 2_000, steps: 400 },
            1_000..20_000 => Effort { points: 300, steps: 100 },
            _ => Effort { points: 20, steps: 0 },
        }
    }
}

/// Evaluates points and counts evaluations.
pub(super) struct Probe<'p> {
    pub(super) spec: &'p ProblemSpec,
    evaluate: Evaluate<'p>,
    pub(super) effort: Effort,
    pub(super) stream: Stream,
}

/// One evaluation of a level: its value and constraint values.
pub(super) struct Seen {
    pub(super) value: f64,
    pub(super) constraints: Vec<f64>,
    /// Why it failed.
    pub(super) failure: Option<String>,
}

impl<'p> Probe<'p> {
    pub(super) fn new(spec: &'p ProblemSpec, evaluate: Evaluate<'p>, effort: Effort) -> Self {
        Probe { spec, evaluate, effort, stream: Streams::new(1).open(Purpose::Sample, 0, 0) }
    }

    pub(super) fn at(&mut self, level: Level, x: &[f64], y: &[f64]) -> Seen {
        let mut constraints = Vec::new();
        let (value, failure) = match (self.evaluate)(level, x, y, &mut constraints) {
            Ok(value) => (value, None),
            Err(failure) => (f64::NAN, Some(failure.to_string())),
        };
        Seen { value, constraints, failure }
    }

    /// A point of the box of a level.
    pub(super) fn draw(&mut self, level: Level) -> Vec<f64> {
        self.spec.level(level).space.draw(&mut self.stream)
    }

    /// A point near another, in the box.
    pub(super) fn near(&mut self, level: Level, point: &[f64], scale: f64) -> Vec<f64> {
        let step = |(value, v): (&f64, Variable)| v.nearest(value + scale * v.width() * self.stream.normal());
        point.iter().zip(self.spec.level(level).space.iter()).map(step).collect()
    }
}

pub(super) fn check(probe: &mut Probe, remarks: &mut Remarks) {
    for level in [Level::Upper, Level::Lower] {
        let count = probe.spec.level(level).constraints();
        let mut tally = Tally::new(count);
        for number in 0..probe.effort.points {
            let (x, y) = match number {
                0 => (probe.spec.upper.space.middle(), probe.spec.lower.space.middle()),
                _ => (probe.draw(Level::Upper), probe.draw(Level::Lower)),
            };
            let seen = probe.at(level, &x, &y);
            tally.add(probe.spec, level, x, y, seen);
        }
        tally.not_finite(level, remarks);
        tally.unmet(level, probe, remarks);
        tally.idle(level, probe.spec.level(level).inequalities, remarks);
    }
    known_points(probe, remarks);
}

type Point = (Vec<f64>, Vec<f64>);

/// The findings at the sampled points of a level.
struct Tally {
    points: usize,
    /// The objective: how often it was not finite or failed, with the first point and reason.
    failed: usize,
    first_failed: Option<(Point, String)>,
    constraints: Vec<ConstraintTally>,
    /// Whether some point met all constraints.
    all_met: bool,
    /// The point with the least violation.
    least: Option<(Point, f64)>,
}

/// The findings about one constraint.
#[derive(Clone, Default)]
struct ConstraintTally {
    not_finite: usize,
    first_not_finite: Option<Point>,
    smallest: Option<f64>,
    largest: Option<f64>,
}

impl Tally {
    fn new(constraints: usize) -> Self {
        let constraints = vec![ConstraintTally::default(); constraints];
        Tally { points: 0, failed: 0, first_failed: None, constraints, all_met: false, least: None }
    }

    fn add(&mut self, spec: &ProblemSpec, level: Level, x: Vec<f64>, y: Vec<f64>, seen: Seen) {
        self.points += 1;
        let point = (x, y);
        if !seen.value.is_finite() {
            self.failed += 1;
            let reason = || seen.failure.clone().unwrap_or_else(|| format!("the value is {}", seen.value));
            self.first_failed.get_or_insert_with(|| (point.clone(), reason()));
        }
        for (value, tally) in seen.constraints.iter().zip(&mut self.constraints) {
            if !value.is_finite() {
                tally.not_finite += 1;
                tally.first_not_finite.get_or_insert_with(|| point.clone());
                continue;
            }
            tally.smallest = Some(tally.smallest.map_or(*value, |v| v.min(*value)));
            tally.largest = Some(tally.largest.map_or(*value, |v| v.max(*value)));
        }
        let sound = seen.constraints.len() == self.constraints.len() && seen.constraints.iter().all(|v| v.is_finite());
        if sound {
            let violation = spec.violation(level, &seen.constraints);
            self.all_met |= violation <= 0.0;
            if self.least.as_ref().is_none_or(|(_, least)| violation < *least) {
                self.least = Some((point, violation));
            }
        }
    }

    fn not_finite(&self, level: Level, remarks: &mut Remarks) {
        if let Some(((x, y), reason)) = &self.first_failed {
            let at = remarks.point(x, y);
            // Reasons may have their own hint.
            let (reason, hint) = reason.split_once("\nhint: ").unwrap_or((reason, ""));
            let hint = if hint.is_empty() { String::new() } else { format!("{hint}; ") };
            if self.failed == self.points {
                let message = format!("no sampled point has a value: {reason}");
                remarks.say(
                    Severity::Error,
                    Part::Objective(level),
                    message,
                    format!("{hint}the first point was {at}"),
                );
            } else {
                let message = format!("{reason} at {} of {} sampled points", self.failed, self.points);
                let way_out = match remarks.subject {
                    Subject::Expressions(_) => "make the box smaller, or guard the expression with `if` or `max`",
                    Subject::Program(..) => {
                        "a run counts such points as the worst, unless `--on-failure stop` is given"
                    }
                };
                let hint = format!("{hint}for example at {at}; {way_out}");
                remarks.warn(Part::Objective(level), message, hint);
            }
        }
        for (number, tally) in self.constraints.iter().enumerate() {
            let Some((x, y)) = &tally.first_not_finite else { continue };
            let message = format!("the value is not finite at {} of {} sampled points", tally.not_finite, self.points);
            let hint = format!("for example at {}", remarks.point(x, y));
            remarks.warn(Part::Constraint(level, number), message, hint);
        }
    }

    /// Constraints that no sampled point meets, alone or together.
    fn unmet(&self, level: Level, probe: &mut Probe, remarks: &mut Remarks) {
        if self.all_met || self.constraints.is_empty() || self.least.is_none() {
            return;
        }
        let Some((closest, violation)) = self.approach(level, probe) else { return };
        if violation <= 0.0 {
            return;
        }
        let inequalities = probe.spec.level(level).inequalities;
        let mut told = false;
        for (number, tally) in self.constraints.iter().enumerate() {
            let (Some(smallest), Some(largest)) = (tally.smallest, tally.largest) else { continue };
            let (never, hint) = if number < inequalities {
                (smallest > 0.0, "is the sign reversed? every sampled point would meet the opposite")
            } else {
                (smallest > 0.0 || largest < 0.0, "the two sides are never equal")
            };
            let never = never && !single_met(probe, level, number, &closest);
            if never {
                told = true;
                let near = if smallest.abs() < largest.abs() { smallest } else { largest };
                let message =
                    format!("no sampled point meets the constraint; the closest misses it by {:.4}", near.abs());
                remarks.warn(Part::Constraint(level, number), message, hint);
            }
        }
        if !told && probe.effort.steps > 0 && violation > 1e-3 * self.least.as_ref().map_or(1.0, |l| l.1.max(1e-3)) {
            let message = format!("no point was found that meets all constraints of the {level} level together");
            let hint = format!("the closest misses them by {violation:.4}: {}", remarks.point(&closest.0, &closest.1));
            remarks.warn(Part::Constraint(level, 0), message, hint);
        }
    }

    /// Constraints that every sampled point meets. Those of one line are reported once.
    fn idle(&self, level: Level, inequalities: usize, remarks: &mut Remarks) {
        /// With fewer points, nothing can be said.
        const ENOUGH: usize = 300;
        let Subject::Expressions(problem) = remarks.subject else { return };
        if self.points < ENOUGH {
            return;
        }
        let lines = &problem.level(level).constraints;
        for (first, (line, depends)) in lines.iter().enumerate() {
            let of_line = || (0..lines.len()).filter(|number| lines[*number].0 == *line);
            let idle =
                |number: usize| number < inequalities && self.constraints[number].largest.is_some_and(|v| v < 0.0);
            let varies = depends.upper || depends.lower;
            if varies && of_line().next() == Some(first) && of_line().all(idle) {
                let hint = "is the sign reversed? if not, you can leave it out";
                let message = "every sampled point meets the constraint, so it restricts nothing";
                remarks.warn(Part::Constraint(level, first), message, hint);
            }
        }
    }

    /// Comes closer to meeting the constraints than any sampled point, by projections and random steps.
    fn approach(&self, level: Level, probe: &mut Probe) -> Option<(Point, f64)> {
        let least = self.least.clone()?;
        let ((mut x, mut y), mut violation) = if probe.effort.steps > 0 { project(probe, level, least) } else { least };
        let mut scale = 0.2;
        for _ in 0..5 * probe.effort.steps {
            let (to_x, to_y) = (probe.near(Level::Upper, &x, scale), probe.near(Level::Lower, &y, scale));
            let seen = probe.at(level, &to_x, &to_y);
            let there = probe.spec.violation(level, &seen.constraints);
            if seen.failure.is_none() && seen.constraints.iter().all(|v| v.is_finite()) && there < violation {
                (x, y, violation) = (to_x, to_y, there);
                scale *= 1.7;
            } else {
                scale *= 0.88;
            }
            if violation <= 0.0 || scale < 1e-12 {
                break;
            }
        }
        Some(((x, y), violation))
    }
}

/// Whether a point found later meets a constraint after all.
fn single_met(probe: &mut Probe, level: Level, number: usize, (x, y): &Point) -> bool {
    let seen = probe.at(level, x, y);
    let Some(value) = seen.constraints.get(number) else { return false };
    if number < probe.spec.level(level).inequalities {
        *value <= 0.0
    } else {
        value.abs() <= probe.spec.equality_tolerance
    }
}

/// Known optima must lie in the box, meet the constraints and have the stated values.
fn known_points(probe: &mut Probe, remarks: &mut Remarks) {
    let Subject::Expressions(problem) = remarks.subject else { return };
    const TOLERANCE: f64 = 1e-3;
    for (number, point) in problem.points.iter().enumerate() {
        let Some((x, y)) = &point.at else { continue };
        if !problem.spec().upper.space.contains(x) || !problem.spec().lower.space.contains(y) {
            remarks.warn(
                Part::Known(number),
                "the known optimum lies outside the boxes",
                "correct the point, or make the boxes larger",
            );
        }
        let stated = [(Level::Upper, Some(point.best.upper)), (Level::Lower, point.best.lower)];
        for (level, stated) in stated {
            let seen = probe.at(level, x, y);
            let name = if level == Level::Upper { "F" } else { "f" };
            if let Some(stated) = stated.filter(|stated| (seen.value - stated).abs() > TOLERANCE * (1.0 + stated.abs()))
            {
                let message = format!("{name} is {} at the known optimum, not {stated}", seen.value);
                remarks.warn(Part::Known(number), message, "was it rounded too much?");
            }
            let violation = probe.spec.violation(level, &seen.constraints);
            if violation > TOLERANCE {
                let message = format!("the known optimum violates the {level} constraints by {violation:.4}");
                remarks.warn(Part::Known(number), message, "correct the point or the constraints");
            }
        }
    }
}
