//! One run, and whether its answer is right.

use super::units::{Scales, Units};
use super::{Options, suites};
use crate::clock::clock;
use anyhow::Result;
use bilevo::prove::{Proof, ProveOptions};
use bilevo::source::{Named, Source};
use bilevo::{Audit, AuditOptions, History, RunResult, Serial, Solution, Solver, Verdict};
use bilevo_core::problem::{BilevelProblem, ProblemSpec};
use bilevo_problems::planted_problem;

/// Largest violation of a right answer.
const VIOLATION: f64 = 1e-4;
/// The most by which the follower may do better at a right answer.
const GAP: f64 = 1e-2;
/// F may differ by this share, or by this much.
const SHARE: f64 = 1e-2;

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether the answer is right.
    pub right: bool,
    /// Whether the result gives a reason to doubt it: no success, or an audit that refutes it.
    pub flagged: bool,
    /// F of the answer in plain units.
    pub found: f64,
    /// The best known F; `None` if the problem is infeasible.
    pub truth: Option<f64>,
    /// The larger violation of both levels, in plain units.
    pub violation: f64,
    /// How much better the follower could do, in plain units.
    pub gap: f64,
    /// Evaluations of both levels.
    pub evaluations: u64,
    /// Evaluations until the incumbent was right for the first time.
    pub first_hit: Option<u64>,
    /// Processor seconds, without the audit.
    pub seconds: f64,
    /// How it ended, and what it says about itself.
    pub said: String,
}

impl Finding {
    /// A run without an answer: right if there is none.
    fn none(plain: &dyn BilevelProblem, result: &RunResult, seconds: f64) -> Finding {
        let truth = nearest(plain.spec(), f64::NAN);
        Finding {
            right: truth.is_none(),
            flagged: true,
            found: f64::NAN,
            truth,
            violation: f64::INFINITY,
            gap: f64::INFINITY,
            evaluations: result.evaluations.total(),
            first_hit: None,
            seconds,
            said: said(result),
        }
    }
}

/// Runs a problem in some units and judges the answer in the plain ones.
///
/// # Errors
/// A problem or setting that does not exist.
pub fn run(name: &str, seed: u64, scales: &Scales, options: &Options) -> Result<Finding> {
    let plain = suites::open(name)?;
    let units = Units::new(suites::open(name)?, *scales);
    let source: Box<dyn Source> = if options.prove.is_some() {
        suites::source(name)?
    } else {
        Box::new(Named::new(Box::new(Units::new(suites::open(name)?, *scales)), name, ""))
    };
    let mut history = History::default();
    let solver = Solver::new(&*source).method(&options.method).seed(seed);
    let solver = solver.set("stop.target", "off").observer(&mut history);
    let solver = options.settings.iter().fold(solver, |solver, (path, value)| solver.set(path, value));
    let solver = match options.prove {
        Some(time_limit) => solver.prove(ProveOptions { time_limit, ..ProveOptions::default() }),
        None => solver,
    };
    let before = clock();
    let result = solver.run()?;
    let seconds = clock() - before;
    let Some(solution) = result.solution.clone() else { return Ok(Finding::none(&*plain, &result, seconds)) };
    let result = audited(result, &solution, &units, seed);
    let (x, y) = units.plain(&solution.x, &solution.y);
    let answer = Solution::at(&*plain, &x, &y);
    let planted = planted_problem(name, None).ok().map(|planted| planted.judge(&x, &y));
    let gap = match &planted {
        Some(judged) => judged.gap,
        None if *scales == Scales::PLAIN => gap(plain.spec(), &answer, result.audit.as_ref()),
        None => gap(plain.spec(), &answer, Some(&audit(&*plain, &answer, seed))),
    };
    let proven = result.proof.as_ref().is_some_and(Proof::is_value_proven);
    let truth = if proven { Some(answer.upper_value) } else { nearest(plain.spec(), answer.upper_value) };
    let violation =
        planted.as_ref().map_or(answer.upper_violation.max(answer.lower_violation), |judged| judged.violation);
    let close = match planted.and_then(|judged| judged.error) {
        // Planted problems have their own units; their error is known without these.
        Some(error) => error.abs() <= SHARE,
        None => truth.is_some_and(|truth| is_close(answer.upper_value, truth)),
    };
    let right = match truth {
        Some(_) => close && violation <= VIOLATION && gap <= GAP,
        None => violation > VIOLATION,
    };
    let hit = history.records.iter().find(|record| {
        let violation = record.upper_violation.max(record.lower_violation) / scales.constraints;
        violation <= VIOLATION && truth.is_some_and(|truth| is_close(record.upper_value / scales.upper, truth))
    });
    Ok(Finding {
        right,
        flagged: is_flagged(&result),
        found: answer.upper_value,
        truth,
        violation,
        gap,
        evaluations: result.evaluations.total(),
        first_hit: hit.map(|record| record.evaluations.total()),
        seconds,
        said: said(&result),
    })
}

/// The result with the audit that a careful user would ask for.
fn audited(mut result: RunResult, solution: &Solution, units: &Units, seed: u64) -> RunResult {
    result.audit.get_or_insert_with(|| audit(units, solution, seed));
    result
}

fn audit(problem: &dyn BilevelProblem, solution: &Solution, seed: u64) -> Audit {
    bilevo::audit::audit(&mut Serial::new(problem), solution, &AuditOptions { seed, ..AuditOptions::default() })
}

/// How much better the follower could do. An answer that slightly misses an equation has a gap too.
fn gap(spec: &ProblemSpec, answer: &Solution, audit: Option<&Audit>) -> f64 {
    let Some(audit) = audit else { return f64::INFINITY };
    let flip = |value: f64| spec.lower.direction.flip(value);
    match (audit.gap, &audit.best) {
        (Some(gap), _) => gap,
        (None, Some(best)) if audit.verdict == Verdict::Infeasible => {
            (flip(answer.lower_value) - flip(best.lower_value)).max(0.0)
        }
        // Nothing better was found; feasibility is judged elsewhere.
        (None, _) if audit.verdict == Verdict::NoFeasibleAnswer => 0.0,
        _ => f64::INFINITY,
    }
}

/// The nearest known optimum.
fn nearest(spec: &ProblemSpec, found: f64) -> Option<f64> {
    spec.best_known.iter().map(|known| known.upper).min_by(|a, b| (a - found).abs().total_cmp(&(b - found).abs()))
}

fn is_close(found: f64, truth: f64) -> bool {
    (found - truth).abs() <= SHARE * truth.abs().max(1.0)
}

/// Whether a reader of the audited result has a reason to doubt it.
fn is_flagged(result: &RunResult) -> bool {
    !result.success || !result.audit.as_ref().is_some_and(Audit::passed)
}

/// How a run ended and what it says of itself, in a few words.
fn said(result: &RunResult) -> String {
    let mut words = vec![result.stop.to_string()];
    words.extend(result.verification.filter(|v| v.corrected > 0).map(|v| format!("{} corrected", v.corrected)));
    let verdict = result.audit.as_ref().map(|audit| match audit.verdict {
        Verdict::Stands => "audit stands",
        Verdict::BetterAnswer => "audit: better answer",
        Verdict::Infeasible => "audit: answer infeasible",
        Verdict::NoFeasibleAnswer => "audit: none feasible",
        _ => "audit incomplete",
    });
    words.extend(verdict.map(String::from));
    if result.upper_violation().is_some_and(|violation| violation > 1e-6) {
        words.push("infeasible".into());
    }
    words.join(", ")
}
