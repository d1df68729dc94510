//! A problem from closures.

use bilevo_core::problem::{BestKnown, BilevelProblem, Direction, Failure, Level, LevelSpec, ProblemSpec};
use bilevo_core::space::Space;

type Function = Box<dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync>;

/// A problem whose objectives and constraints are closures of (x, y). A value that is not finite
/// counts as a failed evaluation; for failures with a message implement [`BilevelProblem`].
///
/// ```
/// use bilevo::{Functions, Solver};
/// let toll = Functions::new("toll", vec![(0.0, 10.0)], vec![(0.0, 10.0)], |x, y| x[0] * y[0], |x, y| {
///     (y[0] - 8.0 + x[0]).powi(2) + 0.1 * y[0]
/// })
/// .maximize_upper()
/// .upper_constraint(|x, y| x[0] + y[0] - 12.0); // at most 0
/// let result = Solver::new(&toll).method("bl-cma-es").seed(1).run()?;
/// assert!(result.x.is_some_and(|x| (x[0] - 3.975).abs() < 0.05));
/// # Ok::<(), bilevo::RunError>(())
/// ```
pub struct Functions {
    spec: ProblemSpec,
    upper: LevelFunctions,
    lower: LevelFunctions,
}

struct LevelFunctions {
    objective: Function,
    inequalities: Vec<Function>,
    equalities: Vec<Function>,
}

impl Functions {
    /// A problem with the variables of both levels, as a [`Space`] or a list of bounds; both objectives are
    /// minimised.
    pub fn new(
        name: impl Into<String>,
        upper_variables: impl Into<Space>,
        lower_variables: impl Into<Space>,
        upper: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
        lower: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        let level = |objective| LevelFunctions { objective, inequalities: Vec::new(), equalities: Vec::new() };
        Functions {
            spec: ProblemSpec::new(
                name,
                LevelSpec::new(upper_variables.into()),
                LevelSpec::new(lower_variables.into()),
            ),
            upper: level(Box::new(upper)),
            lower: level(Box::new(lower)),
        }
    }

    /// The leader wants a large objective.
    pub fn maximize_upper(mut self) -> Self {
        self.spec.upper.direction = Direction::Maximize;
        self
    }

    /// The follower wants a large objective.
    pub fn maximize_lower(mut self) -> Self {
        self.spec.lower.direction = Direction::Maximize;
        self
    }

    /// A constraint `g <= 0` of the leader.
    pub fn upper_constraint(mut self, g: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        self.upper.inequalities.push(Box::new(g));
        self.spec.upper.inequalities += 1;
        self
    }

    /// A constraint `g <= 0` of the follower.
    pub fn lower_constraint(mut self, g: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        self.lower.inequalities.push(Box::new(g));
        self.spec.lower.inequalities += 1;
        self
    }

    /// A constraint `h = 0` of the leader.
    pub fn upper_equality(mut self, h: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        self.upper.equalities.push(Box::new(h));
        self.spec.upper.equalities += 1;
        self
    }

    /// A constraint `h = 0` of the follower.
    pub fn lower_equality(mut self, h: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        self.lower.equalities.push(Box::new(h));
        self.spec.lower.equalities += 1;
        self
    }

    /// How far equalities may be missed; 1e-9 unless said.
    pub fn equality_tolerance(mut self, tolerance: f64) -> Self {
        self.spec.equality_tolerance = tolerance;
        self
    }

    /// A known optimum, which ends a run that reaches it.
    pub fn best_known(mut self, upper: f64, lower: Option<f64>) -> Self {
        self.spec.best_known.push(BestKnown { upper, lower });
        self
    }
}

impl BilevelProblem for Functions {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        let functions = match level {
            Level::Upper => &self.upper,
            Level::Lower => &self.lower,
        };
        let values = functions.inequalities.iter().chain(&functions.equalities).map(|function| function(x, y));
        constraints.extend(values);
        Ok((functions.objective)(x, y))
    }
}
