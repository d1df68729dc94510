//! A problem file that is read with other numbers than it says, for sweeps.

/// What is read differently.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Values of parameters in place of the file's.
    pub parameters: Vec<(String, f64)>,
    /// Which goal counts where the file gives the leader two.
    pub goal: Option<Goal>,
}

/// One of two goals as the objective, the other one limited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Which one it is: 0 or 1.
    pub index: usize,
    /// The limit on the other one, and what its excess is divided by; none if it does not matter.
    pub limit: Option<(f64, f64)>,
}
