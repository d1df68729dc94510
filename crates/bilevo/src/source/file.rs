//! Problem files: expressions, or the command of an external program.

use super::{Source, SourceError};
use crate::evaluate::{Evaluator, EvaluatorError};
use crate::program::Program;
use bilevo_core::problem::{BilevelProblem, ProblemSpec};
use bilevo_problems::ProblemError;
use bilevo_problems::file::{self, ExpressionProblem, Labels, ProblemFile, Reading};
use bilevo_problems::program::ProgramSpec;
use std::path::Path;

/// A problem given by formulas.
pub(super) struct Formulas {
    pub(super) problem: ExpressionProblem,
    pub(super) place: String,
    pub(super) hash: String,
}

impl Source for Formulas {
    fn spec(&self) -> &ProblemSpec {
        BilevelProblem::spec(&self.problem)
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn hash(&self) -> &str {
        &self.hash
    }

    fn formulas(&self) -> Option<&ExpressionProblem> {
        Some(&self.problem)
    }

    fn evaluator(&self, jobs: usize) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Source::evaluator(&self.problem, jobs)
    }

    fn labels(&self) -> Labels {
        self.problem.labels().clone()
    }
}

/// A problem that an external program evaluates.
struct External {
    program: ProgramSpec,
    place: String,
    hash: String,
    labels: Labels,
}

impl Source for External {
    fn spec(&self) -> &ProblemSpec {
        &self.program.problem
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn hash(&self) -> &str {
        &self.hash
    }

    fn evaluator(&self, jobs: usize) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(Program::new(self.program.clone(), jobs)?))
    }

    fn labels(&self) -> Labels {
        self.labels.clone()
    }
}

/// Opens a problem file.
pub(super) fn open(name: &str, dims: Option<(usize, usize)>) -> Option<Result<Box<dyn Source>, SourceError>> {
    open_as(name, dims, None)
}

/// Opens a problem file, under another name if one is given.
pub(super) fn open_as(
    path: &str,
    dims: Option<(usize, usize)>,
    name: Option<&str>,
) -> Option<Result<Box<dyn Source>, SourceError>> {
    is_file(path).then(|| {
        let file = file::read(Path::new(path))?;
        sized(path, dims, name.into_iter().fold(file, ProblemFile::named))
    })
}

/// Opens a problem file and replaces some of its numbers.
pub(super) fn open_read(path: &str, reading: &Reading) -> Result<Box<dyn Source>, SourceError> {
    sized(path, None, file::read_as(Path::new(path), reading)?)
}

fn sized(name: &str, dims: Option<(usize, usize)>, file: ProblemFile) -> Result<Box<dyn Source>, SourceError> {
    let (upper, lower) = (file.spec().upper.dim(), file.spec().lower.dim());
    if let Some((asked_upper, asked_lower)) = dims.filter(|dims| *dims != (upper, lower)) {
        return Err(SourceError::Dims { place: name.into(), upper, lower, asked_upper, asked_lower });
    }
    let hash = file.hash().to_string();
    match file {
        ProblemFile::Expressions(problem) => Ok(Box::new(Formulas { problem, place: name.into(), hash })),
        ProblemFile::Program { spec, labels, .. } => {
            Ok(Box::new(External { program: spec, place: name.into(), hash, labels }))
        }
    }
}

/// Whether a name refers to a file rather than a built-in problem.
fn is_file(name: &str) -> bool {
    bilevo_problems::info(name).is_err()
        && (name.ends_with(".toml") || name.ends_with(".mps") || Path::new(name).is_file())
}

/// What somebody who gave this name probably meant, if it is neither a file nor a built-in problem.
pub(super) fn meant(name: &str) -> Option<SourceError> {
    let (path, place) = (Path::new(name), name.to_string());
    let with_ending = format!("{name}.toml");
    match () {
        () if path.is_dir() => Some(SourceError::Folder { place }),
        () if !name.is_empty() && Path::new(&with_ending).is_file() => {
            Some(ProblemError::Unknown { name: place, nearest: Some(with_ending) }.into())
        }
        () if path.extension().is_some() => Some(SourceError::Ending { place }),
        () => None,
    }
}
