//! Settings of the joint-quadratic method.

use serde::{Deserialize, Serialize};

/// Whether a part is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// It is.
    #[default]
    On,
    /// It is not.
    Off,
}

impl Switch {
    /// Whether it is on.
    pub fn is_on(self) -> bool {
        self == Switch::On
    }
}

/// Where a follower's search starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartRule {
    /// `expected` in odd restarts, `guess` in even ones.
    #[default]
    Alternate,
    /// The answer expected at this x, moved along the directions the follower is indifferent to as
    /// the sampled guess says.
    Expected,
    /// The sampled guess: the leader may pick a basin of the follower.
    Guess,
}

/// The joint-quadratic method; every part can be switched off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JqConfig {
    /// Evaluations for each variable that the descent before the populations may spend; 0 = none.
    pub descent: usize,
    /// Followers are solved on the joint quadratic model; else by samples alone.
    pub model: Switch,
    /// The minimiser of the leader's model joins every generation.
    pub injection: Switch,
    /// Where a follower's search starts.
    pub start: StartRule,
    /// The leader's penalty follows the feasibility of the incumbent.
    pub adapt_penalty: Switch,
    /// A random answer is tried at the incumbent's x in every generation.
    pub discovery: Switch,
    /// Box-wide searches that recheck the follower at the end of a restart.
    pub rechecks: usize,
    /// Restarts that must end at the same value to end the run; 0 = go on to the budget.
    pub agree: usize,
    /// Upper evaluations without progress that end a restart.
    pub restart_after: u64,
}

impl Default for JqConfig {
    fn default() -> Self {
        JqConfig {
            descent: 80,
            model: Switch::On,
            injection: Switch::On,
            start: StartRule::Alternate,
            adapt_penalty: Switch::On,
            discovery: Switch::On,
            rechecks: 2,
            agree: 3,
            restart_after: 150,
        }
    }
}
