//! The table of the guide's page on whole numbers: every `integer/NAME` by the default method, compared with trying
//! everything and with rounding inside the functions, as people do whose tool knows only real variables. Seeds 1 to
//! 3, or as many as the first argument says.

use bilevo::{BilevelProblem, Failure, Level, LevelSpec, ProblemSpec, Variable};
use bilevo::{RunResult, Solver, problems, source};

/// Evaluations after which rounding is given up.
const LIMIT: &str = "30000";

/// A problem whose functions round: to a method all variables are reals.
struct Rounding {
    plain: problems::BoxedProblem,
    spec: ProblemSpec,
}

impl Rounding {
    fn new(plain: problems::BoxedProblem) -> Self {
        let mut spec = plain.spec().clone();
        // Half a unit more at either end, so that every whole number is equally wide.
        let relaxed = |level: &mut LevelSpec| {
            let margin = |whole: bool| if whole { 0.499 } else { 0.0 };
            let wide = |v: Variable| (v.low - margin(v.is_whole()), v.high + margin(v.is_whole()));
            level.space = level.space.iter().map(wide).collect::<Vec<_>>().into();
        };
        relaxed(&mut spec.upper);
        relaxed(&mut spec.lower);
        Rounding { plain, spec }
    }
}

impl BilevelProblem for Rounding {
    fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        let (mut x, mut y) = (x.to_vec(), y.to_vec());
        self.plain.spec().upper.space.round(&mut x);
        self.plain.spec().lower.space.round(&mut y);
        self.plain.evaluate(level, &x, &y, constraints)
    }
}

/// How many runs found the best known F, and the median of their evaluations.
fn summary(mut results: Vec<RunResult>, best: f64) -> (usize, u64) {
    let near = |value: f64| (value - best).abs() <= (0.01 * best.abs()).max(0.01);
    let right = |r: &RunResult| r.upper_value().is_some_and(near) && r.upper_violation().is_some_and(|v| v <= 1e-4);
    let count = results.iter().filter(|result| right(result)).count();
    let total = |result: &RunResult| result.evaluations.upper + result.evaluations.lower;
    results.sort_by_key(total);
    (count, total(&results[results.len() / 2]))
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(3), |word| word.parse())?;
    println!(
        "| problem | all pairs (x, y) | `auto`: right | evaluations | rounding: right | evaluations |\n|---|---|---|---|---|---|"
    );
    let (mut found, mut rounded, mut all) = (0, 0, 0);
    for name in problems::names().filter(|name| name.starts_with("integer/")) {
        let problem = problems::problem(name, None)?;
        let spec = problem.spec().clone();
        let best = spec.best_known.first().map_or(f64::NAN, |known| known.upper);
        let levels = [&spec.upper.space, &spec.lower.space];
        let pairs = levels.iter().fold(1, |pairs: u64, space| pairs.saturating_mul(space.combinations()));
        let pairs = if levels.iter().all(|space| space.is_finite()) { pairs.to_string() } else { "infinite".into() };
        let plain = source::open(name, None)?;
        let auto: Result<Vec<_>, _> =
            (1..=seeds).map(|seed| Solver::new(&*plain).seed(seed).set("stop.target", "off").run()).collect();
        let (right, evaluations) = summary(auto?, best);
        let rounding = Rounding::new(problem);
        let limited = |seed| {
            let solver = Solver::new(&rounding).seed(seed).set("stop.target", "off");
            solver.set("stop.max_evals", LIMIT).run()
        };
        let runs: Result<Vec<_>, _> = (1..=seeds).map(limited).collect();
        let (right_too, cost) = summary(runs?, best);
        println!("| {name} | {pairs} | {right} of {seeds} | {evaluations} | {right_too} of {seeds} | {cost} |");
        (found, rounded, all) = (found + right, rounded + right_too, all + seeds);
    }
    println!("\n`auto` is right in {found} of {all} runs, rounding in {rounded}.");
    Ok(())
}
