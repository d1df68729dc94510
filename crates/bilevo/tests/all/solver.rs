//! The builder and the sources: one way from a problem to a result.

use crate::common::{METHODS, StopAfter, run_of, smd, timeless};
use bilevo::{
    AuditOptions, Functions, Level, Position, RunError, RunOptions, Serial, Solver, SourceError, checkpoint, source,
};

#[test]
fn the_builder_gives_the_run_made_by_hand() {
    let smd1 = source::open("smd1", None).unwrap();
    let problem = smd(1);
    for method in METHODS {
        let by_hand =
            run_of(&problem, method, 5).go(&mut Serial::new(&*problem), &RunOptions::default(), &mut []).unwrap();
        for jobs in [1, 2] {
            let built = Solver::new(&*smd1).method(method).seed(5).max_upper_evals(60).jobs(jobs).run().unwrap();
            assert_eq!(timeless(&built), timeless(&by_hand), "{method} with {jobs} jobs");
        }
    }
}

#[test]
fn what_makes_no_sense_is_said_before_anything_is_run() {
    let smd1 = source::open("smd1", None).unwrap();
    let solver = || Solver::new(&*smd1);
    assert!(matches!(solver().method("bl-cma-se").run(), Err(RunError::Config(_))));
    assert!(matches!(solver().set("stop.no_such", 1).run(), Err(RunError::Config(_))));
    assert!(matches!(solver().max_upper_evals(0).run(), Err(RunError::Config(_))));
    assert!(matches!(source::open("smd99", None), Err(SourceError::Problem(_))));
    assert!(matches!(source::open("smd1", Some((1, 1))), Err(SourceError::Problem(_))));
    assert!(matches!(source::open("missing.toml", None), Err(SourceError::File(_))));
}

/// Minimise (x - 1)^2 + y^2, where the follower answers y = x and z = x - 1.
fn circle() -> Functions {
    let bounds = |n| vec![(-5.0, 5.0); n];
    Functions::new(
        "circle",
        bounds(1),
        bounds(2),
        |x, y| (x[0] - 1.0).powi(2) + y[0].powi(2),
        |x, y| -(y[0] - x[0]).powi(2),
    )
    .maximize_lower()
    .upper_equality(|x, y| x[0] + y[1] - 0.5)
    .upper_constraint(|x, _| x[0] - 3.0)
    .lower_equality(|x, y| y[1] - x[0] + 1.0)
    .lower_constraint(|_, y| y[0] - 4.0)
}

#[test]
fn closures_are_a_problem() {
    use bilevo::BilevelProblem;
    let circle = circle();
    let mut constraints = Vec::new();
    assert_eq!(circle.evaluate(Level::Upper, &[2.0], &[1.0, 7.0], &mut constraints), Ok(2.0));
    assert_eq!(constraints, [-1.0, 8.5], "inequalities first");
    constraints.clear();
    assert_eq!(circle.evaluate(Level::Lower, &[2.0], &[1.0, 7.0], &mut constraints), Ok(-1.0));
    assert_eq!(constraints, [-3.0, 6.0]);
    let result = Solver::new(&circle.best_known(1.0, Some(0.0))).seed(1).max_upper_evals(30).run().unwrap();
    assert_eq!((result.id.problem.as_str(), result.id.upper_dim, result.id.lower_dim), ("circle", 1, 2));
    assert!(result.accuracy.is_some());
}

const TOLL: &str = r#"
name = "toll"
[upper]
maximize = "t * y1"
variables = { t = [0, 10] }
[lower]
minimize = "(y1 - 8 + t)^2 + 0.1*y1"
variables = { y1 = [0, 10] }
"#;

#[test]
fn a_problem_file_is_a_source_and_a_changed_one_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toll.toml");
    std::fs::write(&file, TOLL).unwrap();
    let name = file.to_str().unwrap();
    let toll = source::open(name, None).unwrap();
    assert_eq!((toll.id(), toll.place()), ("toll", name));
    assert!(source::open(name, Some((1, 1))).is_ok());
    assert!(matches!(source::open(name, Some((2, 1))), Err(SourceError::Dims { upper: 1, .. })));

    let saved = folder.path().join("run");
    let solver = |toll| Solver::new(toll).method("bl-cma-es").seed(1).checkpoint(&saved);
    let result = solver(&*toll).observer(&mut StopAfter(20)).run().unwrap();
    assert_eq!((result.id.problem.as_str(), result.id.problem_hash.as_str()), ("toll", toll.hash()));
    assert!(!toll.hash().is_empty());
    let load = || checkpoint::load(&saved).unwrap();
    assert_eq!(load().header.source, name);

    std::fs::write(&file, TOLL.replace("0.1", "0.2")).unwrap();
    let changed = source::open(name, None).unwrap();
    let error = Solver::new(&*changed).resume(load()).run().unwrap_err();
    assert!(matches!(error, RunError::ChangedProblem { .. }), "{error}");
    let other = source::open("smd1", None).unwrap();
    assert!(matches!(Solver::new(&*other).resume(load()).run(), Err(RunError::OtherProblem { .. })));

    std::fs::write(&file, TOLL).unwrap();
    let again = source::open(name, None).unwrap();
    let resumed = Solver::new(&*again).resume(load()).run().unwrap();
    assert_eq!(timeless(&resumed), timeless(&Solver::new(&*again).method("bl-cma-es").seed(1).run().unwrap()));
    assert!(resumed.x().is_some_and(|x| (x[0] - 3.975).abs() < 0.1));
}

#[test]
fn a_run_with_a_raised_budget_is_the_run_that_had_it_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let smd1 = source::open("smd2", None).unwrap();
    for method in METHODS {
        let path = folder.path().join(method);
        let start = || Solver::new(&*smd1).method(method).seed(3).set("stop.target", "off");
        start().max_upper_evals(60).checkpoint(&path).run().unwrap();
        let load = || checkpoint::load(&path).unwrap();
        assert!(load().header.finished);
        let more = Solver::new(&*smd1).resume(load()).max_upper_evals(130).checkpoint(&path).run().unwrap();
        let whole = start().max_upper_evals(130).run().unwrap();
        assert!(whole.evaluations.upper >= 130, "{method}");
        assert_eq!(timeless(&more), timeless(&whole), "{method}");
        assert_eq!(load().header.id, whole.id);
    }
}

#[test]
fn only_budgets_change_in_a_run_that_has_started_and_only_upwards() {
    let smd1 = source::open("smd1", None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let start = Solver::new(&*smd1).method("cr-boc").seed(3).max_upper_evals(60).max_lower_evals(5000);
    start.checkpoint(&path).observer(&mut StopAfter(20)).run().unwrap();
    let resume = || Solver::new(&*smd1).resume(checkpoint::load(&path).unwrap());
    assert!(resume().max_upper_evals(60).set("allocator.window", 32).ready().is_ok(), "flags may repeat");
    assert!(matches!(resume().set("allocator.window", 40).ready(), Err(RunError::HasStarted { .. })));
    for solver in [resume().max_upper_evals(59), resume().max_lower_evals(1)] {
        let message = solver.ready().err().unwrap().to_string();
        assert!(message.contains("can only be raised"), "{message}");
    }
    let raised = resume().max_lower_evals(6000).ready().unwrap();
    assert_eq!(raised.run.engine().config().stop.max_lower_evals, Some(6000));
    assert_eq!(raised.run.id().settings, "stop.max_lower_evals=6000 stop.max_upper_evals=60");
}

#[test]
fn a_file_can_take_a_position_and_the_run_can_take_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("indifferent.toml");
    let text = "position = \"pessimistic\"\nposition_tolerance = 1e-3\n\
        [upper]\nminimize = \"(x-2)^2 + (y1-x)^2 + x*y2\"\nvariables = { x = [0, 4] }\n\
        [lower]\nminimize = \"(y1-x)^2\"\nvariables = { y1 = [-10, 10], y2 = [-1, 1] }\n";
    std::fs::write(&file, text).unwrap();
    let source = source::open(file.to_str().unwrap(), None).unwrap();
    // F is (x - 2)² + x if the worst y2 counts, (x - 2)² - x if the best does.
    let found = Solver::new(&*source).seed(1).run().unwrap();
    assert!((found.x().unwrap()[0] - 1.5).abs() < 0.02 && (found.upper_value().unwrap() - 1.75).abs() < 2e-3);
    assert_eq!(found.audit.unwrap().tolerance, 1e-3, "an audit is made, with the file's tolerance");
    assert_eq!(found.id.settings, "position.kind=pessimistic");
    let options = AuditOptions { tolerance: Some(1e-5), ..AuditOptions::default() };
    let other = Solver::new(&*source).seed(1).position(Position::Optimistic).audit(options).run().unwrap();
    assert!((other.x().unwrap()[0] - 2.5).abs() < 0.02 && (other.upper_value().unwrap() + 2.25).abs() < 2e-3);
    assert_eq!(other.audit.unwrap().tolerance, 1e-5);
}

/// A shell that answers every request with F = f = 1.
#[cfg(unix)]
#[test]
fn a_file_that_names_a_program_is_a_source() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.toml");
    let shell =
        r#"while read line; do id=${line#*\"id\":}; echo "{\"id\":${id%%,*},\"value\":1,\"constraints\":[]}"; done"#;
    let variables = |name: &str| format!("variables = {{ {name} = [0, 1] }}");
    let command = format!("command = [\"sh\", \"-c\", '''{shell}''']");
    let text = format!("name = \"one\"\n{command}\n[upper]\n{}\n[lower]\n{}\n", variables("a"), variables("b"));
    std::fs::write(&file, text).unwrap();
    let one = source::open(file.to_str().unwrap(), None).unwrap();
    let result = Solver::new(&*one).method("bl-cma-es").seed(1).max_upper_evals(10).jobs(2).run().unwrap();
    assert_eq!((result.upper_value(), result.evaluations.failed_lower), (Some(1.0), 0));
    assert!(!result.id.problem_hash.is_empty());
}

/// The follower emits 6 - t under a tax t and nothing beyond t = 6, which is a thirtieth of the leader's box;
/// F = (6 - t)²/2 - t (6 - t)/5 is least at t = 36/7.
#[test]
fn a_box_that_is_far_too_wide_does_not_hide_the_optimum() {
    let tax = Functions::new(
        "tax",
        vec![(0.0, 200.0)],
        vec![(0.0, 20.0)],
        |t, e| 0.5 * e[0] * e[0] - 0.2 * t[0] * e[0],
        |t, e| 0.5 * e[0] * e[0] - (6.0 - t[0]) * e[0],
    );
    for seed in 1..=3 {
        let result = Solver::new(&tax).seed(seed).run().unwrap();
        assert!((result.x().unwrap()[0] - 36.0 / 7.0).abs() < 1e-2, "seed {seed}");
    }
}

/// Where the price is above 12 nothing is bought. A leader that is believed when it trusts in more than the
/// follower buys gets far more than the 14.4 it can get.
#[test]
fn when_the_budget_ends_a_run_it_returns_what_was_looked_at_again() {
    let price = Functions::new(
        "price",
        vec![(0.0, 1000.0)],
        vec![(0.0, 1000.0)],
        |p, q| p[0] * q[0] - 0.5 * q[0] * q[0],
        |p, q| q[0] * q[0] - (12.0 - p[0]) * q[0],
    );
    let price = price.maximize_upper().upper_constraint(|_, q| q[0] - 2.5);
    for seed in 1..=6 {
        let result = Solver::new(&price).seed(seed).set("portfolio.effort", "budget").run().unwrap();
        assert!(result.upper_value().unwrap() < 14.41 && result.verification.unwrap().rechecked, "seed {seed}");
    }
}
