//! A problem file in the form that proofs use: both levels minimised, formulas in one graph.

use crate::graph::{Graph, Id};
use crate::interval::Interval;
use crate::{Limits, Unsupported};
use bilevo_core::config::PositionKind;
use bilevo_core::problem::{BilevelProblem, Direction, ProblemSpec};
use bilevo_problems::expression::tell::Told;
use bilevo_problems::file::ExpressionProblem;

/// Maximum number of nodes for formulas and first derivatives; beyond that, proofs are hopeless.
const MAX_NODES: usize = 200_000;
/// Up to this many nodes, second derivatives are built too.
const MAX_CURVED: usize = 50_000;

/// A formula with its derivatives.
pub(crate) struct Row {
    pub(crate) root: Id,
    pub(crate) list: Vec<Id>,
    /// The derivatives by every variable, and the nodes needed to compute all of them.
    pub(crate) gradient: Vec<Id>,
    pub(crate) gradient_list: Vec<Id>,
    /// Second derivatives for pairs i ≥ j of variables, if they are not 0; `None` if there are too many.
    pub(crate) hessian: Option<Vec<(usize, usize, Id)>>,
    pub(crate) hessian_list: Vec<Id>,
    /// Which variables occur.
    pub(crate) uses: Vec<bool>,
    /// Whether the derivatives by y do not depend on y: then it is affine in y wherever it is Lipschitz.
    pub(crate) affine_in_y: bool,
}

impl Row {
    fn new(graph: &mut Graph, root: Id, nx: usize, n: usize) -> Row {
        let list = graph.list([root]);
        let uses = graph.variables(&list, n);
        let gradient: Vec<Id> = (0..n).map(|j| graph.derivative(root, j as u32)).collect();
        let gradient_list = graph.list(gradient.iter().copied().chain([root]));
        let y_slopes = graph.list(gradient[nx..].iter().copied());
        let affine_in_y = !graph.variables(&y_slopes, n)[nx..].contains(&true);
        Row { root, list, gradient, gradient_list, hessian: None, hessian_list: Vec::new(), uses, affine_in_y }
    }

    /// Adds the second derivatives.
    fn curve(&mut self, graph: &mut Graph) {
        let mut all = Vec::new();
        for i in 0..self.gradient.len() {
            for j in 0..=i {
                let second = graph.derivative(self.gradient[i], j as u32);
                if !graph.is(second, 0.0) {
                    all.push((i, j, second));
                }
            }
        }
        self.hessian_list = graph.list(all.iter().map(|entry| entry.2).chain([self.root]));
        self.hessian = Some(all);
    }

    /// Whether y occurs.
    pub(crate) fn uses_y(&self, nx: usize) -> bool {
        self.uses[nx..].contains(&true)
    }
}

/// A problem to prove something about.
pub struct Problem {
    pub(crate) graph: Graph,
    pub(crate) nx: usize,
    /// The boxes of x and y.
    pub(crate) bounds: Vec<Interval>,
    /// Which variables are whole numbers.
    pub(crate) whole: Vec<bool>,
    pub(crate) upper: Row,
    /// f without the terms in which y does not occur, to which the follower is indifferent.
    pub(crate) lower: Row,
    /// f with them.
    pub(crate) full_lower: Id,
    pub(crate) full_lower_list: Vec<Id>,
    pub(crate) upper_inequalities: Vec<Row>,
    pub(crate) upper_equalities: Vec<Row>,
    pub(crate) lower_inequalities: Vec<Row>,
    pub(crate) lower_equalities: Vec<Row>,
    /// ∂f/∂y_j.
    pub(crate) slopes: Vec<Row>,
    /// All formulas of both levels, and those with `slopes`.
    pub(crate) all: Vec<Id>,
    pub(crate) all_with_slopes: Vec<Id>,
    pub(crate) pessimistic: bool,
    pub(crate) directions: [Direction; 2],
    pub(crate) equality_tolerance: f64,
    pub(crate) follower_tolerance: f64,
}

impl Problem {
    /// The problem of a file with formulas.
    ///
    /// # Errors
    /// A box that is not finite, a function that is not known here, or formulas that are too large.
    pub fn new(file: &ExpressionProblem) -> Result<Problem, Unsupported> {
        let spec = file.spec();
        let (bounds, whole) = boxes(spec)?;
        let (nx, n) = (spec.upper.dim(), spec.dim());
        let mut graph = Graph::default();
        let [upper, lower] = file.tell(&mut graph);
        if let Some(name) = graph.unknown {
            return Err(Unsupported::Function { name });
        }
        let oriented = |graph: &mut Graph, told: &Told, direction: Direction| match direction {
            Direction::Minimize => told.objective,
            Direction::Maximize => graph.neg(told.objective),
        };
        let directions = [spec.upper.direction, spec.lower.direction];
        let upper_root = oriented(&mut graph, &upper, directions[0]);
        let full_lower = oriented(&mut graph, &lower, directions[1]);
        let lower_root = graph.strip(full_lower, nx as u32);
        let mut row = |root: Id| {
            let row = Row::new(&mut graph, root, nx, n);
            if graph.len() > MAX_NODES { Err(Unsupported::TooLarge) } else { Ok(row) }
        };
        let mut rows = |roots: &[Id]| roots.iter().map(|&root| row(root)).collect::<Result<Vec<Row>, _>>();
        let (upper_inequalities, upper_equalities) = (rows(&upper.inequalities)?, rows(&upper.equalities)?);
        let (lower_inequalities, lower_equalities) = (rows(&lower.inequalities)?, rows(&lower.equalities)?);
        let [upper_row, lower_row] = [row(upper_root)?, row(lower_root)?];
        let slopes = lower_row.gradient[nx..].iter().map(|&root| row(root)).collect::<Result<Vec<Row>, _>>()?;
        let mut problem = Problem {
            nx,
            whole,
            bounds,
            full_lower_list: graph.list([full_lower]),
            full_lower,
            upper: upper_row,
            lower: lower_row,
            upper_inequalities,
            upper_equalities,
            lower_inequalities,
            lower_equalities,
            slopes,
            all: Vec::new(),
            all_with_slopes: Vec::new(),
            pessimistic: spec.position == PositionKind::Pessimistic,
            directions,
            equality_tolerance: spec.equality_tolerance,
            follower_tolerance: spec.position_tolerance.unwrap_or(Limits::FOLLOWER_TOLERANCE),
            graph,
        };
        problem.finish();
        Ok(problem)
    }

    fn finish(&mut self) {
        let Problem { graph, upper, lower, upper_inequalities, lower_inequalities, .. } = self;
        for row in [upper, lower].into_iter().chain(upper_inequalities).chain(lower_inequalities) {
            if graph.len() < MAX_CURVED {
                row.curve(graph);
            }
        }
        let roots: Vec<Id> = self.rows().map(|row| row.root).collect();
        self.all = self.graph.list(roots.iter().copied());
        self.all_with_slopes = self.graph.list(roots.into_iter().chain(self.slopes.iter().map(|row| row.root)));
    }

    /// The formulas of both levels.
    fn rows(&self) -> impl Iterator<Item = &Row> {
        let upper = self.upper_inequalities.iter().chain(&self.upper_equalities);
        let lower = self.lower_inequalities.iter().chain(&self.lower_equalities);
        [&self.upper, &self.lower].into_iter().chain(upper).chain(lower)
    }

    /// Variables of both levels.
    pub(crate) fn n(&self) -> usize {
        self.bounds.len()
    }

    /// Variables of the follower.
    pub(crate) fn ny(&self) -> usize {
        self.bounds.len() - self.nx
    }
}

/// The boxes of both levels, if they are finite, and which variables are whole numbers.
fn boxes(spec: &ProblemSpec) -> Result<(Vec<Interval>, Vec<bool>), Unsupported> {
    let (mut bounds, mut whole) = (Vec::new(), Vec::new());
    for (space, letter) in [(&spec.upper.space, 'x'), (&spec.lower.space, 'y')] {
        for (variable, name) in space.iter().zip(space.names(letter)) {
            let interval = Interval::new(variable.low, variable.high);
            if interval.is_empty() || !interval.is_finite() {
                return Err(Unsupported::Box { variable: name });
            }
            bounds.push(interval);
            whole.push(variable.is_whole());
        }
    }
    Ok((bounds, whole))
}
