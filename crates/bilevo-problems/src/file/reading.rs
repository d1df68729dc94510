//! A problem file read with other values of its parameters, or with one of its goals: for sweeps and fronts.

/// What to change when reading a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Values of parameters in place of the file's.
    pub parameters: Vec<(String, f64)>,
    /// Which goal is the objective, if the file gives the leader two.
    pub goal: Option<Goal>,
}

/// One of two goals as the objective, the other one limited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Which goal: 0 or 1.
    pub index: usize,
    /// The limit on the other goal, and the number by which its excess is divided; none if there is no limit.
    pub limit: Option<(f64, f64)>,
}
