//! Where a problem comes from: a built-in name, a problem file (with expressions or the command of an
//! external program), or Rust code.
//!
//! A source knows the problem's sizes and boxes, a hash of its definition, how to find it again, and how to evaluate
//! it on several threads or processes. Everything that runs a problem takes a source.

mod file;

use crate::evaluate::{Evaluator, EvaluatorError, Serial, Threads};
use bilevo_core::problem::{BilevelProblem, Level, ProblemSpec};
use bilevo_problems::file::{ExpressionProblem, FileError, Labels, Reading};
use bilevo_problems::{self as problems, BoxedProblem, ProblemError};

/// A problem that can be run. Every [`BilevelProblem`] is one.
pub trait Source: Send + Sync {
    /// Sizes, boxes, constraint counts, best known values.
    fn spec(&self) -> &ProblemSpec;

    /// The problem's name in results.
    fn id(&self) -> &str {
        &self.spec().name
    }

    /// The name under which [`open`] finds it again: a built-in name or a file. Empty for a problem that exists
    /// only in this program.
    fn place(&self) -> &str {
        ""
    }

    /// Hash of the problem's definition; empty if the version of bilevo identifies it.
    fn hash(&self) -> &str {
        ""
    }

    /// The names of a level's variables: the file's own, or `x1`, `x2`, … and `y1`, `y2`, …
    fn names(&self, level: Level) -> Vec<String> {
        self.spec().names(level)
    }

    /// Its formulas, if it is given by formulas: then answers can be [proven](mod@crate::prove).
    fn formulas(&self) -> Option<&ExpressionProblem> {
        None
    }

    /// Units and constraints in words, for reports.
    fn labels(&self) -> Labels {
        Labels::default()
    }

    /// An evaluator with this many threads or processes; 0 means one per processor. The answers do not depend on the
    /// number.
    ///
    /// # Errors
    /// The threads or processes cannot be started.
    fn evaluator(&self, jobs: usize) -> Result<Box<dyn Evaluator + '_>, EvaluatorError>;
}

impl<P: BilevelProblem + Send> Source for P {
    fn spec(&self) -> &ProblemSpec {
        BilevelProblem::spec(self)
    }

    fn evaluator(&self, jobs: usize) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(match jobs {
            1 => Box::new(Serial::new(self)),
            jobs => Box::new(Threads::new(self, jobs)?),
        })
    }
}

/// A problem with the name under which it was found.
pub struct Named {
    problem: BoxedProblem,
    place: String,
    hash: String,
}

impl Named {
    /// `problem`, found under the name `place`, with the hash of its definition.
    pub fn new(problem: BoxedProblem, place: impl Into<String>, hash: impl Into<String>) -> Self {
        Named { problem, place: place.into(), hash: hash.into() }
    }
}

impl Source for Named {
    fn spec(&self) -> &ProblemSpec {
        self.problem.spec()
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn hash(&self) -> &str {
        &self.hash
    }

    fn evaluator(&self, jobs: usize) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(match jobs {
            1 => Box::new(Serial::new(&*self.problem)),
            jobs => Box::new(Threads::new(&*self.problem, jobs)?),
        })
    }
}

/// Why a problem cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// There is no such problem, or not in this size.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A problem file with mistakes.
    #[error("{0}")]
    File(#[from] FileError),
    /// The name is that of a folder.
    #[error("`{place}` is a folder\nhint: name the problem file in it")]
    Folder {
        /// The folder.
        place: String,
    },
    /// The name has an ending, but no problem file has that one.
    #[error(
        "there is no problem or file `{place}`\nhint: the name of a problem file ends in `.toml` or `.mps`; `bilevo list problems` shows the problems that are built in"
    )]
    Ending {
        /// The name.
        place: String,
    },
    /// A size was given for a problem file, which has its own.
    #[error("`{place}` has {upper}+{lower} variables, not {asked_upper}+{asked_lower}\nhint: leave the sizes out")]
    Dims {
        /// The file.
        place: String,
        /// Its upper variables.
        upper: usize,
        /// Its lower variables.
        lower: usize,
        /// Upper variables requested.
        asked_upper: usize,
        /// Lower variables requested.
        asked_lower: usize,
    },
}

/// Opens names of its own kind; returns `None` for any other name.
type Opener = fn(&str, Option<(usize, usize)>) -> Option<Result<Box<dyn Source>, SourceError>>;

/// Opens the problem of a saved run, whose file may have been renamed since. The problem keeps the name it had.
///
/// # Errors
/// As for [`open`].
pub fn reopen(place: &str, dims: Option<(usize, usize)>, name: &str) -> Result<Box<dyn Source>, SourceError> {
    file::open_as(place, dims, Some(name)).unwrap_or_else(|| open(place, dims))
}

/// Opens a problem file with other values of its parameters, or with one of its two goals as the objective.
///
/// # Errors
/// The file has mistakes, or has no such numbers.
pub fn open_as(path: &str, reading: &Reading) -> Result<Box<dyn Source>, SourceError> {
    file::open_read(path, reading)
}

/// Which sources are asked for a name, before the built-in problems.
const OPENERS: &[Opener] = &[file::open];

/// Opens a problem: a built-in name, with `dims` = (upper, lower) variables if it comes in several sizes, or the path
/// of a problem file.
///
/// # Errors
/// There is no such problem, no such size, or the file has mistakes.
pub fn open(name: &str, dims: Option<(usize, usize)>) -> Result<Box<dyn Source>, SourceError> {
    let built_in = || match problems::formulas(name, dims)? {
        Some(problem) => Ok(Box::new(file::Formulas { problem, place: name.into(), hash: String::new() }) as _),
        None => Ok(Box::new(Named::new(problems::problem(name, dims)?, name, "")) as Box<dyn Source>),
    };
    let opened = OPENERS.iter().find_map(|open| open(name, dims)).unwrap_or_else(built_in);
    opened.map_err(|error| match error {
        SourceError::Problem(ProblemError::Unknown { nearest: None, .. }) => file::meant(name).unwrap_or(error),
        error => error,
    })
}
