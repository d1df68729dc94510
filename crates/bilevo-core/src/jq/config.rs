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

    /// Evaluations per variable that a descent may spend, with up to five variables; twice as many per
    /// variable with ten, and so on. Beyond forty variables there are no descents; 0 = none at all.
    descent: usize = 80, |_| whole(0, 1_000_000);
    /// Whether a short descent polishes the solution where a population or a recheck ended.
    finish: Switch = Switch::On, |_| words(Switch::ALL);
    /// How much larger each population is than the one before, as a share of the first; at most twice
    /// as large as the first.
    growth: f64 = 0.25, |_| number(0.0, 1.0);
    /// Whether followers are solved on the joint quadratic model; otherwise by samples alone.
    model: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether the minimiser of the leader's model joins every generation.
    injection: Switch = Switch::On, |_| words(Switch::ALL);
    /// Where a follower's search starts: at the `expected` answer, at the sampled `guess`, or
    /// `alternate` from restart to restart.
    start: StartRule = StartRule::Alternate, |_| words(StartRule::ALL);
    /// Whether the leader's penalty adapts to the feasibility of the incumbent.
    adapt_penalty: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether a random answer is tried at the incumbent's x in every generation.
    discovery: Switch = Switch::On, |_| words(Switch::ALL);
    /// How many searches to make, before the run ends, for decisions that pay only because the follower
    /// is indifferent and answers as the leader likes. Only one, unless the effort is `thorough`, if
    /// the follower has one minimum and its answer lies inside its bounds and constraints.
    ties: usize = 3, |_| whole(0, 1000);
    /// Searches over the whole box that recheck the follower at the end of a restart.
    rechecks: usize = 2, |_| whole(0, 1000);
    /// When the run has searched enough: `quick` after two restarts that end at the same value;
    /// `normal` after three, one of them a population; `thorough` after five, two of them populations;
    /// `budget` only when the budget is spent.
    effort: Effort = Effort::Normal, |_| words(Effort::ALL);
    /// A restart ends after this many upper evaluations without progress.
    restart_after: u64 = 150, |_| whole(1, 1_000_000_000_000_000);
}
