//! How a run uses formulas: it proves its final answer if that is cheap, and the leader's value if asked to.

use super::{
    BetterAnswer, Claim, FollowerFinding, FollowerVerdict, LeaderVerdict, Proof, ProveOptions, ask, follower_tolerance,
    upper_value,
};
use crate::audit;
use crate::result::{RunResult, Status};
use crate::source::Source;
use bilevo_core::Engine;
use bilevo_core::problem::BilevelProblem;
use bilevo_core::record::Solution;
use bilevo_problems::file::ExpressionProblem;
use bilevo_proof::{Limits, Problem};

/// Operations allowed per evaluation of the run: about a tenth of the time that a method takes per evaluation. They
/// are counted rather than timed, so that the same run gives the same result everywhere.
const WORK_PER_EVALUATION: u64 = 300;
/// Maximum number of operations, without and with an audit: a fraction of a second, and about a second.
const WORK: u64 = 5_000_000;
const WORK_OF_AUDIT: u64 = 30_000_000;

/// Adds what can be proven to the result of a run, if the problem is given by formulas: the follower's answer if that
/// is cheap and, with `options`, the leader's value. In that case, a better decision found on the way replaces the
/// answer.
pub fn conclude(source: &dyn Source, result: &mut RunResult, engine: &Engine, options: Option<&ProveOptions>) {
    let Some(file) = source.formulas().filter(|_| result.stop != Status::Interrupted) else { return };
    let proof = match options {
        Some(options) => adopt(file, result, options),
        None => settle(file, result, engine).map(|proof| (proof, None)),
    };
    if let Some((proof, better)) = proof {
        result.proven(proof, better, engine);
    }
}

/// The gap of f that a run proves, relative to max(1, |f|), and the gap that it may have because its answers are only
/// this exact. Both depend on the variation of f, if the run has seen it: a millionth is a lot if f is small, and
/// nothing if it is large.
fn gaps(file: &ExpressionProblem, result: &RunResult, engine: &Engine) -> (f64, f64) {
    let asked = follower_tolerance(file);
    let scale = result.x().and_then(|x| engine.follower_seen(x).scale);
    let Some(scale) = scale.filter(|_| BilevelProblem::spec(file).position_tolerance.is_none()) else {
        return (asked, 0.0);
    };
    let size = result.lower_value().map_or(1.0, |value| value.abs().max(1.0));
    // A power of ten reads better.
    let digit = libm::pow(10.0, libm::floor(libm::log10((asked * scale).max(f64::MIN_POSITIVE))));
    (asked.min(digit / size), audit::TOLERANCE * scale)
}

/// The follower's question about the answer of a finished run; `None` if it stays open or there is no answer.
fn settle(file: &ExpressionProblem, result: &RunResult, engine: &Engine) -> Option<Proof> {
    let (x, y) = (result.x()?.to_vec(), result.y()?.to_vec());
    let (tolerance, allowed) = gaps(file, result, engine);
    let problem = Problem::new(file).ok()?;
    let work = match &result.audit {
        Some(_) => WORK_OF_AUDIT,
        None => WORK.min(WORK_PER_EVALUATION * result.evaluations.total()),
    };
    let finding = bilevo_proof::follower(&problem, &x, &y, tolerance, &Limits::work(work)).into();
    // The same run must give the same result, so its time is reported only once.
    let finding = FollowerFinding { seconds: None, ..finding };
    let value = upper_value(file, &x, &y);
    let proof = Proof { follower: Some(finding), ..Proof::of(&Claim::Point { x, y }, value) };
    // Violations of the answer are reported elsewhere; here, only better answers count.
    let follower = proof.follower.as_ref()?;
    let told = match follower.verdict {
        FollowerVerdict::Proven => true,
        FollowerVerdict::Refuted => {
            let gain = |better: &BetterAnswer| (better.lower_value - result.lower_value().unwrap_or(f64::NAN)).abs();
            follower.better.as_ref().is_some_and(|better| gain(better) > allowed)
        }
        FollowerVerdict::Open => false,
    };
    told.then_some(proof)
}

/// Both questions about the answer of a run. If a better decision is found, it is returned with the proof, which is
/// then about that decision.
fn adopt(file: &ExpressionProblem, result: &RunResult, options: &ProveOptions) -> Option<(Proof, Option<Solution>)> {
    let claim = Claim::Point { x: result.x()?.into(), y: result.y()?.into() };
    let worst = BilevelProblem::spec(file).upper.direction.flip(1e12);
    let infeasible = result.upper_violation().is_none_or(|violation| violation > 1e-6);
    // An answer that is refuted, or violates constraints, claims a value that cannot be reached.
    let against = |proof: &Proof, value| if infeasible || proof.refuted_answer().is_some() { worst } else { value };
    let mut proof = ask(file, &claim, options, against).ok()?;
    let better = proof.leader.as_mut().and_then(|leader| leader.better.take());
    let Some(better) = better else { return Some((proof, None)) };
    if let Some(leader) = &mut proof.leader {
        let bound = leader.lower_bound.unwrap_or(f64::NEG_INFINITY);
        let gap = (better.upper_value - bound).abs();
        let close = gap <= 1.0001 * options.eps * better.upper_value.abs().max(1.0);
        leader.verdict = if close { LeaderVerdict::Proven } else { LeaderVerdict::Open };
    }
    let problem = Problem::new(file).ok()?;
    let limits = Limits::work(WORK_OF_AUDIT);
    let follower = bilevo_proof::follower(&problem, &better.x, &better.y, follower_tolerance(file), &limits);
    let solution = Solution::at(file, &better.x, &better.y);
    let about = Proof::of(&Claim::Point { x: better.x, y: better.y }, better.upper_value);
    let proof = Proof { follower: Some(follower.into()), leader: proof.leader, ..about };
    Some((proof, Some(solution)))
}
