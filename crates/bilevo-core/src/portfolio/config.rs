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
        /// One search was verified.
        Local,
        /// Two restarts ended at the same value.
        Quick,
        /// Three did, one of them wide.
        Normal,
        /// Five did, two of them wide.
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
    /// `thorough` after five, two of them wide; `budget` only when the budget is spent.
    effort: Effort = Effort::Normal, |_| words(Effort::ALL);
    /// Evaluations per variable that a descent may spend, with up to five variables; twice as many per
    /// variable with ten, and so on. Beyond forty variables there are no descents; 0 = none at all.
    descent: usize = 80, |_| whole(0, 1_000_000);
    /// How many descents to make, before the run ends, for decisions at which the follower is
    /// indifferent.
    ties: usize = 3, |_| whole(0, 1000);
    /// Whether to search along the border between two answers of the follower.
    borders: Switch = Switch::On, |_| words(Switch::ALL);
    /// A population ends after this many upper evaluations without progress.
    patience: u64 = 150, |_| whole(1, 1_000_000_000_000_000);
}
