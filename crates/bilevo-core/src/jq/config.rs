//! Settings of the joint-quadratic method.

use crate::engine::SchemeKind;
use crate::settings::{choice, number, settings, whole, words};

choice! {
    /// Whether a part is used.
    pub enum Switch {
        /// It is.
        On,
        /// It is not.
        Off,
    }
}

impl Switch {
    /// Whether it is on.
    pub fn is_on(self) -> bool {
        self == Switch::On
    }
}

choice! {
    /// Where a follower's search starts.
    pub enum StartRule {
        /// `expected` in odd restarts, `guess` in even ones.
        Alternate,
        /// The answer expected at this x, moved along the directions the follower is indifferent to as
        /// the sampled guess says.
        Expected,
        /// The sampled guess: the leader may pick a basin of the follower.
        Guess,
    }
}

choice! {
    /// When a run has searched enough.
    pub enum Effort {
        /// Two restarts ended at the same value.
        Quick,
        /// Three did, one of them a population.
        Normal,
        /// Five did, two of them populations.
        Thorough,
        /// Never: the budget ends the run.
        Budget,
    }
}

impl Effort {
    /// Restarts that must agree, and how many of them must be populations: descents end at the nearest
    /// optimum, so that they may agree where a wider search would not.
    pub fn agreement(self) -> Option<(usize, usize)> {
        match self {
            Effort::Quick => Some((2, 0)),
            Effort::Normal => Some((3, 1)),
            Effort::Thorough => Some((5, 2)),
            Effort::Budget => None,
        }
    }
}

settings! {
    /// The joint-quadratic method; every part can be switched off.
    pub struct JqConfig in jq as "jq",
        if "scheme.kind = joint_quadratic" |c| c.scheme.kind == SchemeKind::JointQuadratic;

    /// Evaluations for each variable that a descent may spend, with up to five variables; with twice as
    /// many, twice as much, and beyond forty there are none; 0 = no descents.
    descent: usize = 80, |_| whole(0, 1_000_000);
    /// A descent from where a population or a recheck ended makes the solution exact.
    finish: Switch = Switch::On, |_| words(Switch::ALL);
    /// By how much each population is larger than the one before, as a share of the first; none is more
    /// than twice as large.
    growth: f64 = 0.25, |_| number(0.0, 1.0);
    /// Followers are solved on the joint quadratic model; else by samples alone.
    model: Switch = Switch::On, |_| words(Switch::ALL);
    /// The minimiser of the leader's model joins every generation.
    injection: Switch = Switch::On, |_| words(Switch::ALL);
    /// Where a follower's search starts: at the `expected` answer, at the sampled `guess`, or
    /// `alternate` from restart to restart.
    start: StartRule = StartRule::Alternate, |_| words(StartRule::ALL);
    /// The leader's penalty follows the feasibility of the incumbent.
    adapt_penalty: Switch = Switch::On, |_| words(Switch::ALL);
    /// A random answer is tried at the incumbent's x in every generation.
    discovery: Switch = Switch::On, |_| words(Switch::ALL);
    /// Searches, before the run ends, for decisions at which the follower is indifferent and that pay
    /// only if it answers as the leader likes; unless `thorough` only one where the follower has one
    /// minimum, and its answer is inside its bounds and constraints.
    ties: usize = 3, |_| whole(0, 1000);
    /// Box-wide searches that recheck the follower at the end of a restart.
    rechecks: usize = 2, |_| whole(0, 1000);
    /// When the run has searched enough: `quick` after two restarts that end at the same value,
    /// `normal` after three, one of them a population, `thorough` after five, two of them populations,
    /// `budget` only when the budget is spent.
    effort: Effort = Effort::Normal, |_| words(Effort::ALL);
    /// Upper evaluations without progress that end a restart.
    restart_after: u64 = 150, |_| whole(1, 1_000_000_000_000_000);
}
