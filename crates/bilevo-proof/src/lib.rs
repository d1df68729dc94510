//! Proofs for bilevel problems given by formulas.
//!
//! A bilevel problem asks for the x and y that minimise F(x, y) where y minimises f(x, ·) over the follower's
//! constraints. Formulas can be enclosed over whole boxes, and a box that cannot contain an answer is discarded.
//! The crate answers two questions:
//!
//! - **A** ([`follower()`]): at this x, does the follower have an answer better than y by more than ε?
//!   x is fixed, and boxes of y are searched for a feasible point with f ≤ f(x, y) − ε.
//! - **B** ([`leader()`]): is there any decision with F better than a claim by more than ε? Boxes of (x, y)
//!   are searched for a follower's answer with F ≤ F̄ − ε.
//!
//! A box is narrowed or excluded by
//!
//! 1. contraction: what is known of F, f, g and h narrows the variables (`graph::backward`);
//! 2. descent: if one direction d of y lowers f and every constraint that may be active, everywhere in the
//!    box, no answer of the follower lies in it (`descent`);
//! 3. must be active: if there is such a direction but for one constraint g, then g = 0 (`prune`);
//! 4. stationarity: ∂f/∂yⱼ = 0 where no constraint that may be active contains yⱼ (`prune`);
//! 5. the value function (B): f(x, y) ≤ f(x, yₖ) for a yₖ feasible at every x of the box (`known`);
//! 6. linear relaxations of all of these, with verified multipliers (`relax`, `curvature`, `simplex`);
//!
//! and is then split, the box with the least bound first (`tree`). Points that look better are tried on the way.
//! They count only if intervals prove them feasible and, in B, question A proves their answer.
//!
//! Every exclusion is rigorous: intervals are rounded outwards ([`interval`](Interval)), results of
//! floating-point arithmetic are verified, and rules that use derivatives require the formulas to be smooth
//! *near* the box (`graph::Grade`). Proofs are about real numbers and exact feasibility.

mod curvature;
mod descent;
mod follower;
mod graph;
mod interval;
mod known;
mod leader;
mod local;
mod problem;
mod prune;
mod relax;
mod simplex;
#[doc(hidden)]
pub mod testing;
mod tree;
mod work;

pub use follower::{FollowerProof, FollowerVerdict, follower};
pub use interval::Interval;
pub use leader::{Decision, LeaderProof, LeaderVerdict, leader};
pub use problem::Problem;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Limits of a proof. Boxes and work are the same on every machine; time is only an outer limit.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Limit on the boxes examined.
    pub boxes: u64,
    /// Limit on the operations; some ten million take a second.
    pub work: u64,
    /// Limit on the wall time.
    pub time: Option<Duration>,
    /// Set it to stop.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// The largest gap of the follower's objective that counts as zero, relative to max(1, |f|), unless the problem
    /// says otherwise.
    pub const FOLLOWER_TOLERANCE: f64 = 1e-4;

    /// A limit on the wall time only.
    pub fn time(time: Duration) -> Limits {
        Limits { boxes: u64::MAX, work: u64::MAX, time: Some(time), stop: None }
    }

    /// A limit on the work only, the same on every machine.
    pub fn work(work: u64) -> Limits {
        Limits { boxes: u64::MAX, work, time: None, stop: None }
    }
}

/// Why a question stayed open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The boxes or the work were used up.
    Work,
    /// The time was up.
    Time,
    /// It was interrupted.
    Interrupted,
    /// Boxes became too small to split.
    Resolution,
    /// The problem has the pessimistic position, for which the leader's value cannot be proven.
    Position,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stopped::Work => "the allowed work was spent",
            Stopped::Time => "the time was up",
            Stopped::Interrupted => "it was interrupted",
            Stopped::Position => {
                "the problem takes the pessimistic position, and only the optimistic one can be proven"
            }
            Stopped::Resolution => "some boxes became too small to split",
        })
    }
}

/// Why nothing can be proven about a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsupported {
    /// A variable without finite bounds.
    Box {
        /// Its name.
        variable: String,
    },
    /// A function that this crate does not know.
    Function {
        /// Its name.
        name: &'static str,
    },
    /// Too many operations.
    TooLarge,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Box { variable } => write!(
                f,
                "`{variable}` has no finite bounds, and a proof needs them\nhint: give it bounds that certainly contain the answer"
            ),
            Unsupported::Function { name } => write!(f, "the function `{name}` is not supported in proofs"),
            Unsupported::TooLarge => f.write_str("the formulas are too large for a proof"),
        }
    }
}

impl std::error::Error for Unsupported {}
