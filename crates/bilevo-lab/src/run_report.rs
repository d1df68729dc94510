//! The report of one run: one HTML file about its answer, readable without a network and without scripts.
//!
//! It says what was found, how certain that is and why, how the run got there, what lies around the answer
//! ([`bilevo::audit::around`]), which constraints bind and what they cost, where the evaluations went, and what
//! to try next.

mod figures;
mod next;
mod page;

pub(crate) use figures::Gaps;

use crate::report::ReportError;
use bilevo::audit::around::{Slice, Surroundings};
use bilevo::problems::file::Labels;
use bilevo::record::Step;
use bilevo::{GenerationRecord, Level, ProblemSpec, RunResult};

/// Violations up to this count as none.
const FEASIBLE: f64 = 1e-6;

/// The contents of a report on one run.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'a> {
    /// The problem.
    pub spec: &'a ProblemSpec,
    /// What the run found.
    pub result: &'a RunResult,
    /// Its generations.
    pub records: &'a [GenerationRecord],
    /// What lies around the answer.
    pub around: &'a Surroundings,
    /// Units, and constraints in words.
    pub labels: &'a Labels,
    /// How to repeat it.
    pub command: &'a str,
}

impl RunReport<'_> {
    /// The page.
    ///
    /// # Errors
    /// The page cannot be built.
    pub fn html(&self) -> Result<String, ReportError> {
        page::write(self)
    }

    /// The answer's variables of a level.
    fn point(&self, level: Level) -> &[f64] {
        let point = if level == Level::Upper { self.result.x() } else { self.result.y() };
        point.unwrap_or_default()
    }

    /// The name of a variable. If only the follower's own solver knows the answer, the variables have numbers.
    fn name(&self, level: Level, index: usize) -> String {
        let letter = if level == Level::Upper { 'x' } else { 'y' };
        let own = self.spec.level(level).space.names(letter);
        own.into_iter().nth(index).unwrap_or_else(|| format!("{letter}{}", index + 1))
    }

    /// A value with its unit, if it has one.
    fn with_unit(&self, name: &str, value: String) -> String {
        self.labels.unit(name).map_or(value.clone(), |unit| format!("{value} {unit}"))
    }

    /// A name with its unit, for an axis.
    fn axis(&self, name: &str) -> String {
        self.labels.unit(name).map_or(name.into(), |unit| format!("{name} ({unit})"))
    }

    /// The searches of the run, except those that ended at once, without an evaluation of their own.
    fn searches(&self) -> impl Iterator<Item = &Step> {
        self.result.history.iter().filter(|step| step.evaluations > 0)
    }

    /// Whether the answer violates a constraint of either level.
    fn is_infeasible(&self) -> bool {
        let violations = [self.result.upper_violation(), self.result.lower_violation()];
        violations.into_iter().flatten().any(|violation| violation > FEASIBLE)
    }

    fn slices(&self, level: Level) -> impl Iterator<Item = &Slice> {
        self.around.slices.iter().filter(move |slice| slice.level == level)
    }
}
