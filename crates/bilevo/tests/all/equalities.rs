//! Equality constraints at both levels are solved, not only accepted.

use bilevo::{Functions, RunResult, Solver, source};

/// x1 + x2 = 2 binds the leader, y1 + y2 = 1 the follower, who answers x - 0.5; then F is
/// (x1 - 1)² + x1² + (x1 - 0.5)² + (1.5 - x1)², which is least at x1 = 0.75: 1.25.
fn check(result: &RunResult) {
    let (x, y) = (result.x.as_ref().unwrap(), result.y.as_ref().unwrap());
    assert!((result.upper_value.unwrap() - 1.25).abs() < 2e-3, "{result:?}");
    assert!((x[0] - 0.75).abs() < 0.02 && (y[0] - x[0] + 0.5).abs() < 2e-3, "{x:?} {y:?}");
    assert!((x[0] + x[1] - 2.0).abs() < 1e-5 && (y[0] + y[1] - 1.0).abs() < 1e-5, "{x:?} {y:?}");
}

#[test]
fn through_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("equal.toml");
    let file = "[upper]\nminimize = \"(x1-1)^2 + (x2-2)^2 + y1^2 + y2^2\"\n\
        variables = { x1 = [-5, 5], x2 = [-5, 5] }\nsubject_to = [\"x1 + x2 == 2\"]\n\
        [lower]\nminimize = \"(y1-x1)^2 + (y2-x2)^2\"\n\
        variables = { y1 = [-5, 5], y2 = [-5, 5] }\nsubject_to = [\"y1 + y2 == 1\"]\n";
    std::fs::write(&path, file).unwrap();
    check(&Solver::new(&*source::open(path.to_str().unwrap(), None).unwrap()).seed(1).run().unwrap());
}

#[test]
fn through_the_library() {
    let sides = || vec![(-5.0, 5.0); 2];
    let problem = Functions::new(
        "equal",
        sides(),
        sides(),
        |x, y| (x[0] - 1.0).powi(2) + (x[1] - 2.0).powi(2) + y[0].powi(2) + y[1].powi(2),
        |x, y| (y[0] - x[0]).powi(2) + (y[1] - x[1]).powi(2),
    );
    let problem = problem.upper_equality(|x, _| x[0] + x[1] - 2.0).lower_equality(|_, y| y[0] + y[1] - 1.0);
    check(&Solver::new(&problem).seed(2).run().unwrap());
}
