//! Checks an answer: is `y` really what the follower would do at `x`?
//!
//! A bilevel method can be fooled by its own lower search: an answer that is not optimal for the follower may
//! look very good to the leader. The audit solves the follower's problem at the returned x again, independently
//! of the run: with other random numbers, many starts, a larger budget, and other methods (CMA-ES over the whole
//! box, and local searches with finite differences). It also looks for answers that are equally good for the
//! follower but not for the leader. Its evaluations are counted separately.

pub mod around;
mod follower;
mod local;
mod quadratic;
mod search;
mod ties;
mod whole;
mod words;

use crate::evaluate::{Evaluator, Within};
use crate::prove::{FollowerFinding, FollowerVerdict};
use crate::result::Names;
use bilevo_core::config::{Config, PositionKind};
use bilevo_core::problem::{Direction, LowerConstraints, ProblemSpec};
use bilevo_core::record::{FollowerSeen, Solution};
use follower::{Follower, Point, View};
use search::Trail;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use ties::Tie;

/// Which answer counts if several are equally good for the follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// The one that is best for the leader (optimistic).
    Optimistic,
    /// The one that is worst for the leader (pessimistic).
    Pessimistic,
}

impl Position {
    /// The position in a run's settings.
    pub fn of(config: &Config) -> Option<Position> {
        match config.position.kind {
            PositionKind::Any => None,
            PositionKind::Optimistic => Some(Position::Optimistic),
            PositionKind::Pessimistic => Some(Position::Pessimistic),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Position::Optimistic => "optimistic",
            Position::Pessimistic => "pessimistic",
        })
    }
}

/// How an answer is checked.
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// The largest gap f(x, y) - best that counts as zero, relative to max(1, |f|); answers within it are equally
    /// good for the follower. If absent, the problem's `position_tolerance`; if that is absent too, 1e-4 of the
    /// usual variation of f.
    pub tolerance: Option<f64>,
    /// The largest violation that counts as zero.
    pub violation: f64,
    /// Limit on the lower evaluations; if absent, it depends on the problem's size.
    pub max_lower_evals: Option<u64>,
    /// Limit on the evaluations of both levels together; none if absent.
    pub max_evals: Option<u64>,
    /// Maximum number of searches over the whole box.
    pub starts: usize,
    /// Which answer counts if several are equally good for the follower; if absent, the position of the run.
    pub position: Option<Position>,
    /// What the run saw of the follower: its answers at other decisions are tried too.
    pub seen: FollowerSeen,
    /// Seed of the audit's random numbers.
    pub seed: u64,
    /// Set it to stop after the current batch.
    pub stop: Arc<AtomicBool>,
    /// When the audit has to end; it then reports what it has found so far.
    pub deadline: Option<Instant>,
}

impl Default for AuditOptions {
    fn default() -> Self {
        AuditOptions {
            tolerance: None,
            violation: 1e-6,
            max_lower_evals: None,
            max_evals: None,
            starts: 12,
            position: None,
            seen: FollowerSeen::default(),
            seed: 0,
            stop: Arc::default(),
            deadline: None,
        }
    }
}

/// The gap that counts as zero, as a share of the usual variation of f, unless the options or the problem say
/// otherwise. The verdicts of the default method use the same.
pub(crate) const TOLERANCE: f64 = 1e-4;
/// By how many standard deviations of the noise the best of many single values may be too low.
const NOISE: f64 = 6.0;
/// The difference of F that counts as zero, as a share of its usual variation.
const SAME: f64 = 1e-4;
/// A smaller difference counts too if it is at least this share of both objectives and more than this share of their
/// usual variation (the accuracy of a search), and if both answers lie within this share of the box. Answers farther
/// apart count as equally good.
const MUCH: f64 = 0.01;
const FINE: f64 = 1e-8;
const CLOSE: f64 = 0.1;

/// What an audit found. Objective values are as the problem returns them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The finding as one word.
    pub verdict: Verdict,
    /// Whether every answer of the follower was tried, so that the finding is certain.
    #[serde(default)]
    pub proven: bool,
    /// The finding in words.
    pub words: String,
    /// How much better the best answer found is for the follower than the reported one; null if either is infeasible.
    pub gap: Option<f64>,
    /// The largest gap that counts as zero.
    pub tolerance: f64,
    /// The follower's best answer found.
    pub best: Option<Response>,
    /// Among answers that are equally good for the follower, the best and the worst for the leader; absent if
    /// these do not differ.
    pub ties: Option<Ties>,
    /// Searches started.
    pub starts: u64,
    /// Evaluations of the audit.
    pub evaluations: Counts,
}

/// The finding of an audit as one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// No better answer was found for the follower.
    Stands,
    /// A proof from the formulas shows that the follower has no better answer.
    Proven,
    /// The follower has a better answer.
    BetterAnswer,
    /// The reported answer is infeasible for the follower, and another one is feasible.
    Infeasible,
    /// No feasible answer was found: the follower may have none.
    NoFeasibleAnswer,
    /// The audit was interrupted before it could reach a finding.
    Incomplete,
}

/// An answer of the follower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The answer.
    pub y: Vec<f64>,
    /// F(x, y); null if it could not be evaluated.
    #[serde(rename = "F")]
    pub upper_value: Option<f64>,
    /// f(x, y).
    #[serde(rename = "f")]
    pub lower_value: f64,
    /// Violation of the upper constraints, including the lower ones.
    pub upper_violation: Option<f64>,
    /// Violation of the lower constraints.
    pub lower_violation: f64,
}

/// Answers equally good for the follower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ties {
    /// Best for the leader.
    pub optimistic: Response,
    /// Worst for the leader.
    pub pessimistic: Response,
}

/// Evaluations of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Upper evaluations.
    pub upper: u64,
    /// Lower evaluations.
    pub lower: u64,
    /// How many of them failed.
    pub failed: u64,
}

impl Counts {
    /// Evaluations of both levels.
    pub fn total(&self) -> u64 {
        self.upper + self.lower
    }

    /// The sum with those of another audit.
    pub(crate) fn and(self, other: Counts) -> Counts {
        Counts { upper: self.upper + other.upper, lower: self.lower + other.lower, failed: self.failed + other.failed }
    }
}

/// Why an audit ended early.
#[derive(Clone, Debug, PartialEq)]
enum Ended {
    Budget,
    Interrupted,
    OutOfTime,
    Lost(String),
}

/// Default number of lower evaluations, as a multiple of the budget of one lower search.
const BUDGET: u64 = 40;

impl Audit {
    /// Whether the audit confirms the reported answer.
    pub fn passed(&self) -> bool {
        matches!(self.verdict, Verdict::Stands | Verdict::Proven)
    }

    /// The answer that refutes the reported one.
    pub(crate) fn objection(&self) -> Option<&Response> {
        let against = matches!(self.verdict, Verdict::BetterAnswer | Verdict::Infeasible);
        self.best.as_ref().filter(|_| against)
    }

    /// Adds the finding of a proof about the same answer.
    pub(crate) fn settle(&mut self, finding: &FollowerFinding, names: Option<&Names>) {
        let verdict = match finding.verdict {
            FollowerVerdict::Proven if self.verdict == Verdict::Stands => Verdict::Proven,
            FollowerVerdict::Refuted if self.passed() => Verdict::BetterAnswer,
            _ => return,
        };
        self.verdict = verdict;
        // What the searches found about ties stays.
        let ties = self.words.find("; several answers").map_or(String::new(), |at| self.words[at..].into());
        self.words = finding.words(names) + &ties;
    }

    /// The answer that counts under a position, if it is not the reported one.
    pub fn answer(&self, position: Position) -> Option<&Response> {
        let ties = self.ties.as_ref()?;
        Some(match position {
            Position::Optimistic => &ties.optimistic,
            Position::Pessimistic => &ties.pessimistic,
        })
    }
}

/// Audits a solution. Failed evaluations become part of the finding. If the follower's box is open, the audit
/// searches a box around its answer.
pub fn audit(evaluator: &mut dyn Evaluator, solution: &Solution, options: &AuditOptions) -> Audit {
    let spec = evaluator.spec();
    let closed = spec.is_open().then(|| spec.closed_around(&solution.x, &solution.y));
    audit_within(&mut Within::new(evaluator, closed), solution, options)
}

fn audit_within(evaluator: &mut dyn Evaluator, solution: &Solution, options: &AuditOptions) -> Audit {
    let spec = evaluator.spec().clone();
    let budget = options.max_lower_evals.unwrap_or(BUDGET * spec.budget().lower_evals);
    let asked = options.tolerance.or(spec.position_tolerance);
    let mut follower = Follower::new(evaluator, options, &solution.x, budget);
    follower.reported(solution);
    let reported = follower.scaled(&solution.y);
    let mut trail = Trail::default();
    let space = &spec.lower.space;
    let few = space.is_finite() && space.combinations() <= whole::ENUMERATED.min(budget.max(1));
    let searched = if few {
        whole::enumerate(&mut follower, space, &mut trail)
    } else {
        let searched = search::search(&mut follower, &reported, options.starts, !options.seed, &mut trail);
        if space.has_whole() { searched.and_then(|()| whole::climb(&mut follower, space)) } else { searched }
    };
    let exact = match asked {
        Some(relative) => relative * solution.lower_value.abs().max(1.0),
        None => TOLERANCE * follower.scale,
    };
    let tolerance = exact.max(NOISE * options.seen.noise);
    let proven = few && searched.is_ok() && follower.counts.failed == 0;
    // Ties are searched even if the search has spent its budget.
    follower.extend(budget / 2);
    let ties = match searched {
        // Ties cannot be distinguished from noise.
        Ok(()) | Err(Ended::Budget) if options.seen.noise > 0.0 => Ok(None),
        Ok(()) if few => ties::among(&mut follower, &trail.ends, tolerance),
        Ok(()) | Err(Ended::Budget) => ties::search(&mut follower, &trail.ends, &trail.sample, tolerance),
        Err(ended) => Err(ended),
    };
    let (ties, broken) = match ties {
        Ok(ties) => (ties, None),
        Err(Ended::Budget) => (None, None),
        Err(ended) => (None, Some(ended)),
    };
    let view = match (&follower.best.clone(), &broken) {
        (Some(best), None) => {
            follower.extend(1);
            follower.spend_all();
            follower.upper(std::slice::from_ref(&best.u)).ok().and_then(|mut views| views.pop().flatten())
        }
        _ => None,
    };
    let same = match asked {
        Some(relative) => relative * solution.upper_value.abs().max(1.0),
        None => SAME * follower.leader_scale,
    };
    let plain = asked.is_none() && options.seen.noise == 0.0;
    let fine = plain.then(|| [follower.leader_scale, follower.scale].map(|scale| FINE * scale));
    let finding = Finding { spec: &spec, solution, options, tolerance, same, fine, broken, proven };
    finding.audit(&follower, trail.starts, view, ties)
}

/// What the finding is based on.
struct Finding<'a> {
    spec: &'a ProblemSpec,
    solution: &'a Solution,
    options: &'a AuditOptions,
    /// The gap of f and the difference of F that count as zero.
    tolerance: f64,
    same: f64,
    /// The smallest differences of F and f that count if they are large compared with the values; `None` if they may
    /// be noise.
    fine: Option<[f64; 2]>,
    broken: Option<Ended>,
    proven: bool,
}

impl Finding<'_> {
    fn audit(&self, follower: &Follower<'_>, starts: u64, view: Option<View>, ties: Option<(Tie, Tie)>) -> Audit {
        let best = follower.best.as_ref().map(|point| self.response(follower, point, view));
        let (verdict, gap) = self.verdict(best.as_ref());
        let ties = ties.filter(|(best, worst)| self.differs(&best.view, &worst.view)).map(|(best, worst)| Ties {
            optimistic: self.response(follower, &best.point, Some(best.view)),
            pessimistic: self.response(follower, &worst.point, Some(worst.view)),
        });
        let mut audit = Audit {
            verdict,
            proven: self.proven && verdict != Verdict::Incomplete,
            words: String::new(),
            gap,
            tolerance: self.tolerance,
            best,
            ties,
            starts,
            evaluations: follower.counts,
        };
        audit.words = words::of(&audit, self);
        audit
    }

    fn verdict(&self, best: Option<&Response>) -> (Verdict, Option<f64>) {
        let feasible = |violation: f64| violation <= self.options.violation;
        let reported = feasible(self.solution.lower_violation);
        let Some(best) = best else { return (Verdict::Incomplete, None) };
        if !feasible(best.lower_violation) {
            return (Verdict::NoFeasibleAnswer, None);
        }
        if !reported {
            return (Verdict::Infeasible, None);
        }
        let flip = |value: f64| self.spec.lower.direction.flip(value);
        let gap = (flip(self.solution.lower_value) - flip(best.lower_value)).max(0.0);
        // An answer that gains by violating constraints more than the reported one counts only if it matters to the
        // leader: where a single answer is feasible, rounding alone makes others look better.
        let same = best.upper_value.is_some_and(|value| (value - self.solution.upper_value).abs() <= self.same);
        let bought = best.lower_violation > self.solution.lower_violation && same;
        let counts = gap > self.tolerance || self.is_much(gap, best);
        let verdict = match self.broken {
            _ if counts && !bought => Verdict::BetterAnswer,
            Some(_) => Verdict::Incomplete,
            None => Verdict::Stands,
        };
        (verdict, Some(gap))
    }

    /// Whether both objectives differ by a large part of their values. In a box that is far too wide, every relevant
    /// difference is small compared with their variation.
    fn is_much(&self, gap: f64, best: &Response) -> bool {
        let (Some([above, below]), Some(value)) = (self.fine, best.upper_value) else { return false };
        let much = |a: f64, b: f64, fine: f64| (a - b).abs() > fine.max(MUCH * a.abs().max(b.abs()));
        let space = &self.spec.lower.space;
        let close = (space.iter().zip(&best.y).zip(&self.solution.y))
            .all(|((variable, a), b)| (a - b).abs() <= CLOSE * variable.width());
        gap > 0.0
            && close
            && much(self.solution.lower_value, best.lower_value, below)
            && much(self.solution.upper_value, value, above)
    }

    /// Whether two answers make a difference to the leader.
    fn differs(&self, a: &View, b: &View) -> bool {
        let broken = |view: &View| view.violation > self.options.violation;
        (a.value - b.value).abs() > self.same || broken(a) != broken(b)
    }

    fn response(&self, follower: &Follower<'_>, point: &Point, view: Option<View>) -> Response {
        let flip = |direction: Direction, value: f64| direction.flip(value) + 0.0;
        let with_lower = |violation: f64| match self.spec.lower_constraints {
            LowerConstraints::Added => violation + point.violation,
            LowerConstraints::Shared => violation,
        };
        Response {
            y: follower.unscaled(&point.u),
            upper_value: view.map(|view| flip(self.spec.upper.direction, view.value)),
            lower_value: flip(self.spec.lower.direction, point.row.value),
            upper_violation: view.map(|view| with_lower(view.violation)),
            lower_violation: point.violation,
        }
    }
}
