//! `bilevo check`: finds mistakes in files that can be read, before a run.
//!
//! First come dependencies between expressions (without evaluations), then what sampled points show. Most findings
//! are not certain, so they are warnings; an objective without any finite value is an error. The same file always
//! gives the same findings.

mod directions;
mod leader;
mod nearer;
mod rounding;
mod samples;
mod structure;

use super::diagnostic::{Diagnostic, Severity};
use super::levels::Place;
use super::{ExpressionProblem, Origin, ProblemFile};
use crate::program::ProgramSpec;
use bilevo_core::printable::number;
use bilevo_core::problem::{BilevelProblem, Failure, Level};
pub use rounding::{Rounding, rounding};
use samples::{Effort, Probe};

/// Evaluates a level at (x, y): returns the value and appends the constraints. If only the follower's own solver
/// knows y, y is empty, and the solver is called first.
pub type Evaluate<'e> = &'e mut dyn FnMut(Level, &[f64], &[f64], &mut Vec<f64>) -> Result<f64, Failure>;

/// Everything that looks wrong with a readable file. A program is evaluated at only a few points, expressions at
/// thousands.
pub fn check(file: &ProblemFile, evaluate: Evaluate) -> Vec<Diagnostic> {
    let subject = Subject::of(file);
    let mut remarks = Remarks { subject, found: Vec::new() };
    let effort = match file {
        ProblemFile::Expressions(problem) => {
            structure::check(problem, &mut remarks);
            Effort::for_steps(problem.steps(Level::Upper) + problem.steps(Level::Lower))
        }
        ProblemFile::Program { .. } => Effort::LITTLE,
    };
    let spec = file.spec().closed();
    let mut probe = Probe::new(&spec, evaluate, effort);
    samples::check(&mut probe, &mut remarks);
    // If only the follower's own solver knows y, nothing more can be checked.
    if file.spec().is_oracle_alone() {
        return remarks.found;
    }
    directions::check(&mut probe, &mut remarks);
    leader::check(&mut probe, &mut remarks);
    remarks.found
}

/// A warning at the first equation of a file, if it has one.
pub fn about_equations(file: &ProblemFile, message: impl Into<String>, hint: &str) -> Option<Diagnostic> {
    let spec = file.spec();
    let level = [Level::Upper, Level::Lower].into_iter().find(|level| spec.level(*level).equalities > 0)?;
    let subject = Subject::of(file);
    let mut remarks = Remarks { subject, found: Vec::new() };
    remarks.warn(Part::Constraint(level, spec.level(level).inequalities), message, hint);
    remarks.found.pop()
}

/// What is checked.
#[derive(Clone, Copy)]
enum Subject<'f> {
    Expressions(&'f ExpressionProblem),
    Program(&'f ProgramSpec, &'f Origin),
}

impl<'f> Subject<'f> {
    fn of(file: &'f ProblemFile) -> Self {
        match file {
            ProblemFile::Expressions(problem) => Subject::Expressions(problem),
            ProblemFile::Program { spec, origin, .. } => Subject::Program(spec, origin),
        }
    }
}

/// The part of a file that a message is about.
#[derive(Clone, Copy)]
enum Part {
    Objective(Level),
    /// A constraint value, in the order of evaluations.
    Constraint(Level, usize),
    /// A known optimum.
    Known(usize),
}

/// Collects warnings with their positions.
struct Remarks<'f> {
    subject: Subject<'f>,
    found: Vec<Diagnostic>,
}

impl Remarks<'_> {
    fn warn(&mut self, part: Part, message: impl Into<String>, hint: impl Into<String>) {
        self.say(Severity::Warning, part, message, hint);
    }

    fn say(&mut self, severity: Severity, part: Part, message: impl Into<String>, hint: impl Into<String>) {
        let (document, place) = match self.subject {
            Subject::Program(_, origin) => (&origin.document, &origin.place),
            Subject::Expressions(problem) => (&problem.document, place_of(problem, part)),
        };
        let hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        let remark = document.diagnostic(severity, place.span.clone(), &place.field, message, hint);
        // A program that cannot be started fails at both levels for the same reason.
        if !self.found.contains(&remark) {
            self.found.push(remark);
        }
    }

    /// Whether there is a message about a part.
    fn has(&self, part: Part) -> bool {
        let Subject::Expressions(problem) = self.subject else { return false };
        self.found.iter().any(|remark| remark.field == place_of(problem, part).field)
    }

    /// A warning about an unused variable, which also covers further elements of the same vector.
    fn unused_variable(&mut self, problem: &ExpressionProblem, variable: Option<(&Place, usize)>) {
        let Some((place, more)) = variable else { return };
        let message = match more {
            0 => "the variable is never used".to_string(),
            more => format!("the variable is never used, nor are {more} more elements"),
        };
        let hint = Some("remove it, or use it".to_string());
        let span = place.span.clone();
        self.found.push(problem.document.diagnostic(Severity::Warning, span, &place.field, message, hint));
    }

    /// A warning about a variable with a single value.
    fn fixed_variable(&mut self, problem: &ExpressionProblem, place: &Place, value: f64) {
        let message = format!("the variable has only one value, {}: it is fixed", number(value));
        let hint = Some("no search is spent on it; if it never changes, make it a parameter".to_string());
        let span = place.span.clone();
        self.found.push(problem.document.diagnostic(Severity::Warning, span, &place.field, message, hint));
    }

    /// A point for messages.
    fn point(&self, x: &[f64], y: &[f64]) -> String {
        let spec = match self.subject {
            Subject::Expressions(problem) => problem.spec(),
            Subject::Program(program, _) => &program.problem,
        };
        const SHOWN: usize = 6;
        let names = [Level::Upper, Level::Lower].map(|level| spec.names(level));
        let pairs = names.iter().flatten().zip(x.iter().chain(y));
        let mut words: Vec<String> = pairs.take(SHOWN).map(|(name, value)| format!("{name} = {value:.4}")).collect();
        if x.len() + y.len() > SHOWN {
            words.push("...".into());
        }
        words.join(", ")
    }
}

fn place_of(problem: &ExpressionProblem, part: Part) -> &Place {
    match part {
        Part::Objective(level) => &problem.level(level).objective.0,
        Part::Known(number) => &problem.points[number].place,
        Part::Constraint(level, number) => {
            let level = problem.level(level);
            &level.places[level.constraints[number].0]
        }
    }
}
