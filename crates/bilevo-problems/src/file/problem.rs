//! A problem given by expressions, ready for evaluation.

use super::KnownPoint;
use super::diagnostic::Document;
use super::labels::Labels;
use super::levels::{Constraint, Dependence, Depends, Expressions, Place};
use crate::expression::node::Node;
use crate::expression::tell::{Listener, Told};
use crate::expression::{Definition, Program, used_slots};
use crate::fixed::wrong_size;
use bilevo_core::problem::{BilevelProblem, Failure, Level, ProblemSpec};

/// A problem read from a file with expressions.
pub struct ExpressionProblem {
    spec: ProblemSpec,
    hash: String,
    upper: Compiled,
    lower: Compiled,
    definitions: Vec<Definition>,
    labels: Labels,
    pub(crate) document: Document,
    pub(crate) points: Vec<KnownPoint>,
}

/// One level: its program, and what messages about it need.
pub(crate) struct Compiled {
    program: Program,
    /// What the program computes: objective, inequalities, equalities.
    formulas: (Node, Vec<Node>, Vec<Node>),
    /// Where each variable is declared.
    pub(crate) variables: Vec<Place>,
    pub(crate) objective: (Place, Depends),
    /// The constraints as written, and to which of them each value belongs.
    pub(crate) places: Vec<Place>,
    pub(crate) constraints: Vec<(usize, Depends)>,
    /// Which variables of both levels, upper first, have an effect at this level.
    pub(crate) used: Vec<bool>,
}

impl Compiled {
    pub(crate) fn new(
        level: Expressions,
        variables: Vec<Place>,
        definitions: &[Definition],
        dependence: &Dependence,
        dim: usize,
    ) -> Self {
        let constraints: Vec<&Node> = level.constraints().map(|constraint| &constraint.node).collect();
        let mut used =
            used_slots(definitions, constraints.iter().copied().chain([&level.objective]), dim + definitions.len());
        used.truncate(dim);
        Compiled {
            program: Program::new(definitions, &constraints, &level.objective, dim),
            variables,
            constraints: level.constraints().map(|c| (c.place, dependence.of(&c.node))).collect(),
            objective: (level.objective_place, dependence.of(&level.objective)),
            places: level.places,
            used,
            formulas: (level.objective, nodes(level.inequalities), nodes(level.equalities)),
        }
    }
}

fn nodes(constraints: Vec<Constraint>) -> Vec<Node> {
    constraints.into_iter().map(|constraint| constraint.node).collect()
}

impl ExpressionProblem {
    /// Puts a problem together.
    pub(crate) fn new(
        spec: ProblemSpec,
        hash: String,
        [upper, lower]: [Compiled; 2],
        definitions: Vec<Definition>,
        document: Document,
        points: Vec<KnownPoint>,
    ) -> Self {
        let labels = Labels::default();
        ExpressionProblem { spec, hash, upper, lower, definitions, labels, document, points }
    }

    /// Adds labels for reports; constraints are labelled as the file writes them.
    pub(crate) fn labelled(mut self, mut labels: Labels) -> Self {
        labels.constraints = [Level::Upper, Level::Lower].map(|level| self.written(level));
        self.labels = labels;
        self
    }

    /// The constraints of a level as written; one that stands for several values is numbered.
    fn written(&self, level: Level) -> Vec<String> {
        let level = self.level(level);
        let mut told = vec![0; level.places.len()];
        let words = |&(place, _): &(usize, Depends)| {
            let text = self.quoted(&level.places[place]);
            told[place] += 1;
            match level.constraints.iter().filter(|(other, _)| *other == place).count() {
                1 => text,
                _ => format!("{text} ({})", told[place]),
            }
        };
        level.constraints.iter().map(words).collect()
    }

    /// An expression as the file writes it, on one line and without its quotes.
    fn quoted(&self, place: &Place) -> String {
        let text = self.document.text.get(place.span.clone()).unwrap_or_default();
        text.trim_matches(['"', '\'']).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The objective of a level and its constraints, as the file writes them; a loop is one constraint.
    pub fn as_written(&self, level: Level) -> (String, Vec<String>) {
        let level = self.level(level);
        (self.quoted(&level.objective.0), level.places.iter().map(|place| self.quoted(place)).collect())
    }

    /// Labels for reports.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Renames the problem.
    pub(crate) fn rename(&mut self, name: String) {
        self.spec.name = name;
    }

    /// A hash of the meaning of the file and its tables, the same on every machine.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The names of a level's variables, as in `t`, `y[2]`, `f[1,3]`.
    pub fn names(&self, level: Level) -> Vec<String> {
        self.spec.names(level)
    }

    /// Steps of the machine that an evaluation of a level takes.
    pub fn steps(&self, level: Level) -> usize {
        self.level(level).program.steps()
    }

    /// Passes on the formulas of both levels, the upper one first.
    pub fn tell(&self, to: &mut dyn Listener) -> [Told; 2] {
        let mut slots: Vec<u32> = (0..self.spec.dim()).map(|index| to.variable(index)).collect();
        // Each definition has the next slot and uses earlier ones only.
        for definition in &self.definitions {
            let told = definition.node.tell(&slots, to);
            slots.push(told);
        }
        [&self.upper, &self.lower].map(|level| {
            let (objective, inequalities, equalities) = &level.formulas;
            Told {
                objective: objective.tell(&slots, to),
                inequalities: inequalities.iter().map(|node| node.tell(&slots, to)).collect(),
                equalities: equalities.iter().map(|node| node.tell(&slots, to)).collect(),
            }
        })
    }

    /// The optimal points that the file names.
    pub fn optima(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        self.points.iter().filter_map(|point| point.at.clone()).collect()
    }

    pub(crate) fn level(&self, level: Level) -> &Compiled {
        match level {
            Level::Upper => &self.upper,
            Level::Lower => &self.lower,
        }
    }
}

impl BilevelProblem for ExpressionProblem {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        if x.len() != self.spec.upper.dim() || y.len() != self.spec.lower.dim() {
            return Err(wrong_size(&self.spec, x, y).into());
        }
        Ok(self.level(level).program.run(x, y, constraints))
    }
}
