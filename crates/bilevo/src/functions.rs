//! A problem from closures.

use bilevo_core::problem::{
    BestKnown, BilevelProblem, Direction, Failure, Follower, Level, LevelSpec, OracleAnswer, ProblemSpec,
};
use bilevo_core::space::Space;

type Function = Box<dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync>;
type Oracle = Box<dyn Fn(&[f64]) -> Result<OracleAnswer, Failure> + Send + Sync>;
type Judge = Box<dyn Fn(&[f64], &OracleAnswer) -> f64 + Send + Sync>;

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
/// assert!(result.x().is_some_and(|x| (x[0] - 3.975).abs() < 0.05));
/// # Ok::<(), bilevo::RunError>(())
/// ```
pub struct Functions {
    spec: ProblemSpec,
    upper: LevelFunctions,
    lower: LevelFunctions,
    oracle: Option<Oracle>,
    /// The leader's objective as a function of the complete answer.
    judge: Option<Judge>,
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
            oracle: None,
            judge: None,
        }
    }

    /// A problem whose follower has its own solver: `follower` responds to a decision x with a y of any
    /// length, and with f if it knows it; `upper` receives the whole answer. If it has no answer, return a
    /// text or a [`Failure`] as the error.
    ///
    /// ```
    /// use bilevo::{Functions, OracleAnswer, Solver};
    /// // Drivers respond to a toll by a formula, so there is nothing to search.
    /// let trips = |toll: &[f64]| Ok(OracleAnswer::new([8.0 - toll[0]]));
    /// let problem = Functions::with_follower("toll", vec![(0.0, 10.0)], |x, answer| -x[0] * answer.y[0], trips);
    /// let result = Solver::new(&problem).seed(1).run()?;
    /// assert!(result.x().is_some_and(|x| (x[0] - 4.0).abs() < 1e-3));
    /// # Ok::<(), bilevo::RunError>(())
    /// ```
    pub fn with_follower(
        name: impl Into<String>,
        upper_variables: impl Into<Space>,
        upper: impl Fn(&[f64], &OracleAnswer) -> f64 + Send + Sync + 'static,
        follower: impl Fn(&[f64]) -> Result<OracleAnswer, Failure> + Send + Sync + 'static,
    ) -> Self {
        let nothing = |_: &[f64], _: &[f64]| f64::NAN;
        let mut problem = Functions::new(name, upper_variables, Space::new(), nothing, nothing).follower(follower);
        problem.judge = Some(Box::new(upper));
        problem
    }

    /// Adds a solver for the follower to its objective: the solver's answers are starting points, which a search
    /// may improve and an audit checks.
    pub fn follower(
        mut self,
        follower: impl Fn(&[f64]) -> Result<OracleAnswer, Failure> + Send + Sync + 'static,
    ) -> Self {
        self.spec.follower = Follower::Oracle;
        self.oracle = Some(Box::new(follower));
        self
    }

    /// Maximises the leader's objective.
    pub fn maximize_upper(mut self) -> Self {
        self.spec.upper.direction = Direction::Maximize;
        self
    }

    /// Maximises the follower's objective.
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

    /// By how much an equality may be missed; 1e-9 by default.
    pub fn equality_tolerance(mut self, tolerance: f64) -> Self {
        self.spec.equality_tolerance = tolerance;
        self
    }

    /// A known optimum; a run that reaches it ends.
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

    fn follower(&self, x: &[f64]) -> Result<OracleAnswer, Failure> {
        self.oracle.as_ref().map_or_else(|| Err("this problem has no solver of its own".into()), |oracle| oracle(x))
    }

    fn evaluate_answer(&self, x: &[f64], answer: &OracleAnswer, constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        let value = self.evaluate(Level::Upper, x, &answer.y, constraints)?;
        Ok(self.judge.as_ref().map_or(value, |judge| judge(x, answer)))
    }
}
