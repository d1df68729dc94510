//! Settings of the default method.

use crate::engine::SchemeKind;
use crate::settings::{choice, settings, whole, words};

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
    /// When a run has searched enough.
    pub enum Effort {
        /// One search has been verified.
        Local,
        /// Two restarts ended at the same value.
        Quick,
        /// Three restarts did, one of them wide.
        Normal,
        /// Five restarts did, two of them wide.
        Thorough,
        /// Never: the budget ends the run.
        Budget,
    }
}

settings! {
    /// The default method; every part can be switched off.
    pub struct PortfolioConfig in portfolio as "portfolio",
        if "scheme.kind = portfolio" |c| c.scheme.kind == SchemeKind::Portfolio;

    /// When the run has searched enough: `local` with the first verified answer, for a good start;
    /// `quick` after two restarts that end at the same value; `normal` after three, one of them wide;
    /// `thorough` after five, two of them wide, with three times the upper evaluations; `budget` only when the budget
    /// is spent.
    effort: Effort = Effort::Normal, |_| words(Effort::ALL);
    /// Evaluations per variable that a descent may spend, with up to five variables; twice as many per
    /// variable with ten, and so on. Beyond forty variables there are no descents; 0 = none at all.
    descent: usize = 80, |_| whole(0, 1_000_000);
    /// How many descents, before the run ends, look for decisions at which the follower is indifferent.
    ties: usize = 3, |_| whole(0, 1000);
    /// Whether to search along the border between two answers of the follower.
    borders: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether to survey the leader's box once restarts agree, and to descend from decisions that are better than their
    /// neighbours.
    survey: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether a restart ends when it comes near the best verified decision.
    arrival: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether populations also try a random answer at their best decision.
    others: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether verdicts try other values of each variable of an answer in turn.
    scan: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether a descent that ends at a decision without a feasible answer is followed by searches for feasible
    /// answers and for the last decision that has one.
    feasible: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether the best decision is verified again if no other restart agrees with it.
    doubt: Switch = Switch::On, |_| words(Switch::ALL);
    /// Whether an answer that is not the end of a descent is refined by one before the run ends.
    exact: Switch = Switch::On, |_| words(Switch::ALL);
    /// A population ends after this many upper evaluations without progress.
    patience: u64 = 150, |_| whole(1, 1_000_000_000_000_000);
}
