//! Benchmark problems with known formulas: the SMD suite at any legal size, TP1–TP10 and two
//! applications, found by name.
//!
//! All minimise at both levels and take `g <= 0` as feasible. Evaluation is deterministic (`libm`
//! for all transcendental functions) and allocates nothing but the constraint values it pushes.
//!
//! ```
//! use bilevo_core::problem::Level;
//! let smd1 = bilevo_problems::problem("smd1", Some((2, 3)))?;
//! let f = smd1.evaluate(Level::Lower, &[1.0, 2.0], &[0.0, 3.0, 0.0], &mut Vec::new());
//! assert_eq!(f, Ok(1.0 + 9.0 + 4.0));
//! # Ok::<(), bilevo_problems::ProblemError>(())
//! ```

mod applications;
mod fixed;
mod smd;
mod tp;

use bilevo_core::config::{did_you_mean, nearest};
use bilevo_core::problem::BilevelProblem;
use smd::Smd;

/// A problem that can be shared between threads.
pub type BoxedProblem = Box<dyn BilevelProblem + Send + Sync>;

/// A point (x, y) known when the program is compiled.
type Point = (&'static [f64], &'static [f64]);

/// One entry of the [`catalogue`].
#[derive(Clone, Copy, Debug)]
pub struct ProblemInfo {
    /// The name to ask for.
    pub name: &'static str,
    /// Numbers of upper and lower variables when none are given.
    pub default_dims: (usize, usize),
    /// Whether other sizes exist.
    pub scalable: bool,
    /// What the problem is like, in a line.
    pub about: &'static str,
    source: Source,
}

/// Where a problem's code is.
#[derive(Clone, Copy, Debug)]
enum Source {
    Smd(Smd),
    Fixed { build: fn() -> BoxedProblem, optimum: Option<Point> },
}

impl ProblemInfo {
    const fn smd(name: &'static str, smd: Smd, about: &'static str) -> Self {
        ProblemInfo { name, default_dims: (2, 3), scalable: true, about, source: Source::Smd(smd) }
    }

    const fn fixed(
        name: &'static str,
        default_dims: (usize, usize),
        build: fn() -> BoxedProblem,
        optimum: Option<Point>,
        about: &'static str,
    ) -> Self {
        ProblemInfo { name, default_dims, scalable: false, about, source: Source::Fixed { build, optimum } }
    }

    /// The size asked for or the default one, if the problem has it.
    fn check_dims(&self, dims: Option<(usize, usize)>) -> Result<(usize, usize), ProblemError> {
        let (upper, lower) = dims.unwrap_or(self.default_dims);
        let (is_legal, legal) = match self.source {
            Source::Smd(smd) => (smd.is_legal(upper, lower), smd.legal_sizes()),
            Source::Fixed { .. } => {
                let (m, n) = self.default_dims;
                ((upper, lower) == (m, n), format!("only {m}+{n}: it does not scale"))
            }
        };
        if !is_legal {
            return Err(ProblemError::Dims { name: self.name, upper, lower, legal });
        }
        Ok((upper, lower))
    }
}

static CATALOGUE: [ProblemInfo; 25] = [
    ProblemInfo::smd("smd1", Smd::Smd1, "leader and follower cooperate"),
    ProblemInfo::smd("smd2", Smd::Smd2, "leader and follower in conflict"),
    ProblemInfo::smd("smd3", Smd::Smd3, "cooperation, many local optima below"),
    ProblemInfo::smd("smd4", Smd::Smd4, "conflict, many local optima below"),
    ProblemInfo::smd("smd5", Smd::Smd5, "conflict, curved valley below"),
    ProblemInfo::smd("smd6", Smd::Smd6, "conflict, infinitely many follower answers"),
    ProblemInfo::smd("smd7", Smd::Smd7, "conflict, many local optima above"),
    ProblemInfo::smd("smd8", Smd::Smd8, "many local optima above, curved valley below"),
    ProblemInfo::smd("smd9", Smd::Smd9, "conflict, feasible shells at both levels"),
    ProblemInfo::smd("smd10", Smd::Smd10, "one constraint for each variable"),
    ProblemInfo::smd("smd11", Smd::Smd11, "constraints link the levels, many follower answers"),
    ProblemInfo::smd("smd12", Smd::Smd12, "constraints of smd10 and smd11 together"),
    ProblemInfo::fixed("tp1", (2, 2), || Box::new(tp::tp1()), Some(tp::OPTIMA[0]), "quadratic, constrained above"),
    ProblemInfo::fixed("tp2", (2, 2), || Box::new(tp::tp2()), Some(tp::OPTIMA[1]), "linear above, quadratic below"),
    ProblemInfo::fixed("tp3", (2, 2), || Box::new(tp::tp3()), Some(tp::OPTIMA[2]), "quadratic, curved constraints"),
    ProblemInfo::fixed("tp4", (2, 3), || Box::new(tp::tp4()), Some(tp::OPTIMA[3]), "linear at both levels"),
    ProblemInfo::fixed("tp5", (2, 2), || Box::new(tp::tp5()), Some(tp::OPTIMA[4]), "quadratic, two basins above"),
    ProblemInfo::fixed("tp6", (2, 2), || Box::new(tp::tp6()), Some(tp::OPTIMA[5]), "quadratic, x2 has no effect"),
    ProblemInfo::fixed("tp7", (2, 2), || Box::new(tp::tp7()), Some(tp::OPTIMA[6]), "fractional, zero-sum"),
    ProblemInfo::fixed("tp8", (2, 2), || Box::new(tp::tp8()), Some(tp::OPTIMA[7]), "tp2 with an absolute value above"),
    ProblemInfo::fixed("tp9", (5, 5), || Box::new(tp::tp9()), Some(tp::OPTIMA[8]), "many local optima below"),
    ProblemInfo::fixed(
        "tp10",
        (10, 10),
        || Box::new(tp::tp10()),
        Some(tp::OPTIMA[9]),
        "many local optima below, levels linked",
    ),
    ProblemInfo::fixed(
        "gold-mining",
        (2, 1),
        || Box::new(applications::gold_mining()),
        None,
        "a tax on a polluting mine",
    ),
    ProblemInfo::fixed(
        "decision-making",
        (3, 3),
        || Box::new(applications::decision_making()),
        None,
        "a chief and a department share resources",
    ),
    ProblemInfo::fixed(
        "decision-making-as-run",
        (3, 3),
        || Box::new(applications::decision_making_as_run()),
        None,
        "decision-making with the slip of the published runs",
    ),
];

/// All problems, SMD first, then TP, then the applications.
pub fn catalogue() -> &'static [ProblemInfo] {
    &CATALOGUE
}

/// The names of the [`catalogue`], in its order.
pub fn names() -> impl Iterator<Item = &'static str> {
    catalogue().iter().map(|info| info.name)
}

/// The catalogue's entry of a name.
///
/// # Errors
/// When there is no such problem.
pub fn info(name: &str) -> Result<&'static ProblemInfo, ProblemError> {
    catalogue()
        .iter()
        .find(|info| info.name == name)
        .ok_or_else(|| ProblemError::Unknown { name: name.into(), nearest: nearest(name, names()) })
}

/// The problem of a name with `dims` = (upper, lower) variables, or its default size.
///
/// # Errors
/// When there is no such problem or it has no such size.
pub fn problem(name: &str, dims: Option<(usize, usize)>) -> Result<BoxedProblem, ProblemError> {
    let info = info(name)?;
    let (m, n) = info.check_dims(dims)?;
    Ok(match info.source {
        Source::Smd(smd) => Box::new(smd.problem(info.name, m, n)),
        Source::Fixed { build, .. } => build(),
    })
}

/// The optimal point (x, y) of a problem, where it is known and the name and size exist.
pub fn optimum(name: &str, dims: Option<(usize, usize)>) -> Option<(Vec<f64>, Vec<f64>)> {
    let info = info(name).ok()?;
    let (m, n) = info.check_dims(dims).ok()?;
    match info.source {
        Source::Smd(smd) => smd.optimum(m, n),
        Source::Fixed { optimum, .. } => optimum.map(|(x, y)| (x.to_vec(), y.to_vec())),
    }
}

/// Why there is no such problem.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemError {
    /// No problem has this name.
    #[error("there is no problem `{name}`{}\nhint: `smd1` to `smd12`, `tp1` to `tp10`, `gold-mining`, `decision-making` or `decision-making-as-run`", did_you_mean(.nearest))]
    Unknown {
        /// The name asked for.
        name: String,
        /// A name like it.
        nearest: Option<String>,
    },
    /// The problem has no such size.
    #[error("{name} does not exist with {upper}+{lower} variables\nhint: legal sizes m+n are {legal}")]
    Dims {
        /// The problem.
        name: &'static str,
        /// Upper variables asked for.
        upper: usize,
        /// Lower variables asked for.
        lower: usize,
        /// The legal sizes in words.
        legal: String,
    },
}
