//! A problem given by expressions, ready to be evaluated.

use super::diagnostic::Document;
use super::levels::{Expressions, depends};
use crate::expression::node::Node;
use crate::expression::{Definition, Program};
use crate::fixed::wrong_size;
use bilevo_core::problem::{BilevelProblem, Level, ProblemSpec};

/// A problem read from a file with expressions.
pub struct ExpressionProblem {
    pub(crate) spec: ProblemSpec,
    pub(crate) hash: String,
    pub(crate) names: [Vec<String>; 2],
    programs: [Program; 2],
    pub(crate) origin: Origin,
}

/// What the remarks of a check need beyond the numbers.
pub(crate) struct Origin {
    pub(crate) document: Document,
    /// What each level depends on.
    pub(crate) levels: [LevelOrigin; 2],
    /// Known optimal points, with where they stand.
    pub(crate) points: Vec<super::KnownPoint>,
    /// Where the variables of the two levels are declared, upper first.
    pub(crate) variables: Vec<std::ops::Range<usize>>,
}

pub(crate) struct LevelOrigin {
    pub(crate) objective: Dependence,
    /// In the order of the constraint values.
    pub(crate) constraints: Vec<Dependence>,
}

/// An expression's place, and the variables (upper first) it depends on.
pub(crate) struct Dependence {
    pub(crate) field: String,
    pub(crate) span: std::ops::Range<usize>,
    pub(crate) on: Vec<bool>,
}

impl ExpressionProblem {
    /// Puts a problem together.
    pub(crate) fn new(
        spec: ProblemSpec,
        hash: String,
        names: [Vec<String>; 2],
        definitions: &[Definition],
        levels: [&Expressions; 2],
        mut origin: Origin,
    ) -> Self {
        let variables = spec.upper.dim() + spec.lower.dim();
        let programs = levels.map(|level| {
            let constraints: Vec<Node> = level.constraints().map(|constraint| constraint.node.clone()).collect();
            Program::new(definitions, &constraints, &level.objective, variables)
        });
        origin.levels = levels.map(|level| LevelOrigin {
            objective: Dependence {
                field: level.objective_place.field.clone(),
                span: level.objective_place.span.clone(),
                on: depends(definitions, &level.objective, variables),
            },
            constraints: level
                .constraints()
                .map(|constraint| {
                    let place = &level.places[constraint.place];
                    let on = depends(definitions, &constraint.node, variables);
                    Dependence { field: place.field.clone(), span: place.span.clone(), on }
                })
                .collect(),
        });
        ExpressionProblem { spec, hash, names, programs, origin }
    }

    /// A hash of the file and its tables, the same on every machine.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The names of a level's variables, as in `t`, `y[2]`, `f[1,3]`.
    pub fn names(&self, level: Level) -> &[String] {
        &self.names[index(level)]
    }

    /// Steps that an evaluation of a level takes.
    pub fn steps(&self, level: Level) -> usize {
        self.programs[index(level)].steps()
    }
}

/// 0 for the upper level, 1 for the lower one.
pub(crate) fn index(level: Level) -> usize {
    match level {
        Level::Upper => 0,
        Level::Lower => 1,
    }
}

impl BilevelProblem for ExpressionProblem {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, String> {
        if x.len() != self.spec.upper.dim() || y.len() != self.spec.lower.dim() {
            return Err(wrong_size(&self.spec, x, y));
        }
        Ok(self.programs[index(level)].run(x, y, constraints))
    }
}
