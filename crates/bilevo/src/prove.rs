//! Proofs for problems whose formulas are known: is the follower's answer right, and is there no better decision?
//! The crate `bilevo-proof` describes what can be proven and under which assumptions.
//!
//! ```
//! use bilevo::prove::{Claim, ProveOptions, prove};
//! let source = bilevo::source::open("basblib/mb_2007_19", None)?;
//! let file = source.formulas().ok_or("a file with formulas")?;
//! let proof = prove(file, &Claim::Value(-0.2581), &ProveOptions::default())?;
//! assert_eq!(proof.leader.map(|leader| leader.verdict), Some(bilevo::prove::LeaderVerdict::Proven));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod settle;
mod words;

pub use settle::conclude;

use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_problems::file::ExpressionProblem;
pub use bilevo_proof::Unsupported;
use bilevo_proof::{FollowerProof, LeaderProof, Limits, Problem};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What to prove.
#[derive(Clone, Debug)]
pub enum Claim {
    /// A decision with the follower's answer: both questions are asked.
    Point {
        /// The leader's decision.
        x: Vec<f64>,
        /// The follower's answer.
        y: Vec<f64>,
    },
    /// A value of F that you claim no decision beats.
    Value(f64),
}

/// Options of a proof.
#[derive(Clone, Debug)]
pub struct ProveOptions {
    /// The difference of F that counts as zero, relative to max(1, |F|).
    pub eps: f64,
    /// Wall time for both questions.
    pub time_limit: Duration,
    /// Set it to stop.
    pub stop: Arc<AtomicBool>,
}

impl Default for ProveOptions {
    fn default() -> Self {
        ProveOptions { eps: 1e-2, time_limit: Duration::from_secs(60), stop: Arc::default() }
    }
}

/// What was proven about a claim. Objective values are as the problem returns them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// The leader's decision; null if only a value was claimed.
    pub x: Option<Vec<f64>>,
    /// The follower's answer.
    pub y: Option<Vec<f64>>,
    /// The claimed value.
    #[serde(rename = "F")]
    pub upper_value: f64,
    /// The follower's answer at x; null if only a value was claimed.
    pub follower: Option<FollowerFinding>,
    /// The leader's value; null if the question was not asked.
    pub leader: Option<LeaderFinding>,
    /// Which answer counts if several are equally good for the follower.
    pub position: String,
    /// How constraints are understood: they hold exactly, not within a tolerance.
    pub feasibility: String,
}

/// What was found out about the follower's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowerVerdict {
    /// No answer is better by more than the tolerance.
    Proven,
    /// There is a better one, or the answer is infeasible.
    Refuted,
    /// Neither could be shown.
    Open,
}

/// What was found out about the leader's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaderVerdict {
    /// No decision is better by more than the tolerance.
    Proven,
    /// There is a better one.
    Better,
    /// Neither could be shown.
    Open,
}

/// The finding about the follower's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FollowerFinding {
    /// The finding as one word.
    pub verdict: FollowerVerdict,
    /// f is at most this far from the follower's optimum; null if nothing is known.
    pub gap: Option<f64>,
    /// How far y is from meeting its own constraints; 0 if it does, null if they are undefined there.
    #[serde(default)]
    pub violation: Option<f64>,
    /// A better answer, certainly feasible; any feasible one if y is not.
    pub better: Option<BetterAnswer>,
    /// Boxes examined.
    pub boxes: u64,
    /// Wall time; null if it is part of a run's.
    pub seconds: Option<f64>,
}

/// The finding about the leader's value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeaderFinding {
    /// The finding as one word.
    pub verdict: LeaderVerdict,
    /// No decision has a better value: a lower bound of F, an upper one if F is maximised; null if none
    /// was found.
    pub lower_bound: Option<f64>,
    /// A better decision, whose answer is proven.
    pub better: Option<BetterDecision>,
    /// Boxes examined.
    pub boxes: u64,
    /// Wall time; null if it is part of a run's.
    pub seconds: Option<f64>,
}

/// Two findings are equal even if their wall times differ.
impl PartialEq for FollowerFinding {
    fn eq(&self, other: &Self) -> bool {
        let parts = |one: &Self| (one.verdict, one.gap, one.violation, one.better.clone(), one.boxes);
        parts(self) == parts(other)
    }
}

impl PartialEq for LeaderFinding {
    fn eq(&self, other: &Self) -> bool {
        let parts = |one: &Self| (one.verdict, one.lower_bound, one.better.clone(), one.boxes);
        parts(self) == parts(other)
    }
}

/// A better answer of the follower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetterAnswer {
    /// The answer.
    pub y: Vec<f64>,
    /// f(x, y).
    #[serde(rename = "f")]
    pub lower_value: f64,
}

/// A better decision of the leader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetterDecision {
    /// The decision.
    pub x: Vec<f64>,
    /// The follower's answer.
    pub y: Vec<f64>,
    /// F(x, y).
    #[serde(rename = "F")]
    pub upper_value: f64,
}

impl From<FollowerProof> for FollowerFinding {
    fn from(proof: FollowerProof) -> Self {
        FollowerFinding {
            verdict: match proof.verdict {
                bilevo_proof::FollowerVerdict::Proven => FollowerVerdict::Proven,
                bilevo_proof::FollowerVerdict::Refuted => FollowerVerdict::Refuted,
                bilevo_proof::FollowerVerdict::Open => FollowerVerdict::Open,
            },
            gap: Some(proof.gap).filter(|gap| gap.is_finite()),
            violation: proof.violation,
            better: proof.better.map(|(y, lower_value)| BetterAnswer { y, lower_value }),
            boxes: proof.boxes,
            seconds: Some(proof.seconds),
        }
    }
}

impl From<LeaderProof> for LeaderFinding {
    fn from(proof: LeaderProof) -> Self {
        let better = proof.better.map(|d| BetterDecision { x: d.x, y: d.y, upper_value: d.value });
        LeaderFinding {
            verdict: match proof.verdict {
                bilevo_proof::LeaderVerdict::Proven => LeaderVerdict::Proven,
                bilevo_proof::LeaderVerdict::Better => LeaderVerdict::Better,
                bilevo_proof::LeaderVerdict::Open => LeaderVerdict::Open,
            },
            lower_bound: Some(proof.bound).filter(|bound| bound.is_finite()),
            better,
            boxes: proof.boxes,
            seconds: Some(proof.seconds),
        }
    }
}

impl Proof {
    /// A proof of a claim, before any question is answered.
    fn of(claim: &Claim, upper_value: f64) -> Proof {
        let (x, y) = match claim {
            Claim::Point { x, y } => (Some(x.clone()), Some(y.clone())),
            Claim::Value(_) => (None, None),
        };
        let (position, feasibility) = ("optimistic".into(), "exact".into());
        Proof { x, y, upper_value, follower: None, leader: None, position, feasibility }
    }

    /// Whether the follower's answer is proven.
    pub fn is_answer_proven(&self) -> bool {
        self.follower.as_ref().is_some_and(|follower| follower.verdict == FollowerVerdict::Proven)
    }

    /// Whether the leader's value is proven too.
    pub fn is_value_proven(&self) -> bool {
        let value = self.leader.as_ref().is_some_and(|leader| leader.verdict == LeaderVerdict::Proven);
        value && self.is_answer_proven()
    }

    /// The finding about the follower, if it refutes the answer.
    pub fn refuted_answer(&self) -> Option<&FollowerFinding> {
        self.follower.as_ref().filter(|follower| follower.verdict == FollowerVerdict::Refuted)
    }

    /// Whether something better than the claim was found.
    pub fn is_refuted(&self) -> bool {
        self.refuted_answer().is_some()
            || self.leader.as_ref().is_some_and(|leader| leader.verdict == LeaderVerdict::Better)
    }
}

/// The gap of f that counts as zero: the file's `position_tolerance`, or 1e-4.
fn follower_tolerance(file: &ExpressionProblem) -> f64 {
    file.spec().position_tolerance.unwrap_or(Limits::FOLLOWER_TOLERANCE)
}

/// F at a point.
fn upper_value(file: &ExpressionProblem, x: &[f64], y: &[f64]) -> f64 {
    file.evaluate(Level::Upper, x, y, &mut Vec::new()).unwrap_or(f64::NAN)
}

/// Proves a claim, refutes it, or says that neither was possible in time. The follower's question gets at most a
/// quarter of the time.
///
/// # Errors
/// Nothing can be proven about this problem.
pub fn prove(file: &ExpressionProblem, claim: &Claim, options: &ProveOptions) -> Result<Proof, Unsupported> {
    ask(file, claim, options, |_, value| value)
}

/// Asks both questions; `against` derives, from the finding about the follower and the claimed F, the value that no
/// decision should beat.
fn ask(
    file: &ExpressionProblem,
    claim: &Claim,
    options: &ProveOptions,
    against: impl FnOnce(&Proof, f64) -> f64,
) -> Result<Proof, Unsupported> {
    let problem = Problem::new(file)?;
    let stop = Some(Arc::clone(&options.stop));
    let mut left = options.time_limit;
    let value = match claim {
        Claim::Point { x, y } => upper_value(file, x, y),
        Claim::Value(value) => *value,
    };
    let mut proof = Proof::of(claim, value);
    if let Claim::Point { x, y } = claim {
        let limits = Limits { stop: stop.clone(), ..Limits::time(left / 4) };
        let finding: FollowerFinding = bilevo_proof::follower(&problem, x, y, follower_tolerance(file), &limits).into();
        left = left.saturating_sub(Duration::from_secs_f64(finding.seconds.unwrap_or_default()));
        proof.follower = Some(finding);
    }
    let limits = Limits { stop, ..Limits::time(left) };
    let value = against(&proof, value);
    proof.leader = value.is_finite().then(|| bilevo_proof::leader(&problem, value, options.eps, &limits).into());
    Ok(proof)
}
