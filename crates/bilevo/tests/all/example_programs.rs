//! The programs under `examples/programs`, where their interpreter or compiler exists. With `CI` set
//! none may be missing.

use bilevo::{Batch, Evaluator, Functions, Level, OracleAnswer, Replies, Solver, Source, source};
use std::path::{Path, PathBuf};
use std::process::Command;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/programs")
}

/// Whether a command exists; its absence is told, and an error where `CI` is set.
#[allow(clippy::print_stderr)]
fn exists(command: &str) -> bool {
    let found = Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "`{command}` is missing");
    if !found {
        eprintln!("not run: `{command}` is missing");
    }
    found
}

fn open(file: &Path) -> Box<dyn Source> {
    source::open(&file.to_string_lossy(), None).unwrap()
}

/// Values in the problem's own direction at some points.
fn values(evaluator: &mut dyn Evaluator, level: Level, points: &[(f64, f64)]) -> Vec<f64> {
    let spec = evaluator.spec().clone();
    let pairs = points.iter().map(|(x, y)| (std::slice::from_ref(x), std::slice::from_ref(y)));
    let batch = Batch::from_points(&spec, level, pairs).unwrap();
    let mut replies = Replies::default();
    replies.start(&spec, level);
    evaluator.evaluate(&batch, &mut replies).unwrap();
    assert_eq!(replies.failures(), []);
    replies.outcomes().iter().map(|outcome| spec.level(level).direction.flip(outcome.value)).collect()
}

/// Both profits as the program computes them.
fn check(source: &dyn Source) {
    let points = [(6.0, 3.0), (5.5, 3.25), (1.0 / 3.0, 1e-7), (0.0, 12.0)];
    let mut evaluator = source.evaluator(2).unwrap();
    for level in [Level::Upper, Level::Lower] {
        let expected: Vec<f64> =
            points.iter().map(|(x, y)| if level == Level::Upper { x } else { y } * (12.0 - x - y)).collect();
        assert_eq!(values(&mut *evaluator, level, &points), expected, "{level}");
    }
}

#[test]
fn shell_and_a_solver_with_an_input_deck() {
    check(&*open(&examples().join("shell.toml")));
    check(&*open(&examples().join("deck.toml")));
}

#[test]
fn python() {
    if exists("python3") {
        for file in ["python.toml", "python-lists.toml", "two-programs.toml"] {
            check(&*open(&examples().join(file)));
        }
    }
}

#[test]
fn octave() {
    if exists("octave-cli") {
        check(&*open(&examples().join("octave.toml")));
    }
}

#[test]
fn cpp() {
    if exists("g++") {
        let folder = tempfile::tempdir().unwrap();
        for file in ["cpp.toml", "duopoly.cpp"] {
            std::fs::copy(examples().join(file), folder.path().join(file)).unwrap();
        }
        let built = Command::new("g++").args(["-O2", "-o", "duopoly", "duopoly.cpp"]).current_dir(&folder).status();
        assert!(built.unwrap().success());
        check(&*open(&folder.path().join("cpp.toml")));
    }
}

#[test]
fn the_duopoly_is_solved_the_same_with_any_number_of_processes() {
    if !exists("python3") {
        return;
    }
    let source = open(&examples().join("python-lists.toml"));
    let solve = |jobs| Solver::new(&*source).method("auto").seed(3).jobs(jobs).run().unwrap();
    let (one, two) = (solve(1), solve(2));
    assert!((two.x().as_ref().unwrap()[0] - 6.0).abs() < 1e-2, "{two:?}");
    assert_eq!((one.x(), one.y(), one.evaluations), (two.x(), two.y(), two.evaluations));
}

#[test]
fn a_follower_that_a_program_answers_for() {
    if !exists("python3") {
        return;
    }
    let trips = |x: &[f64]| {
        let y = [8.0 - x[0], 6.0 - 0.5 * x[1]];
        Ok(OracleAnswer::new(y).with_value(-(y[0] + y[1])))
    };
    let income = |x: &[f64], answer: &OracleAnswer| x[0] * answer.y[0] + x[1] * answer.y[1] - 2.5;
    let same = Functions::with_follower("two tolls", vec![(0.0, 8.0), (0.0, 12.0)], income, trips).maximize_upper();
    let source = open(&examples().join("own-follower.toml"));
    let run = |source: &dyn Source, method: &str, jobs: usize| {
        let result = Solver::new(source).method(method).seed(3).jobs(jobs).max_upper_evals(40).run().unwrap();
        (result.solution, result.evaluations)
    };
    for method in ["auto", "cr-bl-cma-es"] {
        let own = run(&same, method, 1);
        assert!(own.0.as_ref().unwrap().upper_value > 25.0, "{own:?}");
        assert_eq!(run(&*source, method, 1), own, "{method}");
        assert_eq!(run(&*source, method, 2), own, "{method}");
    }
}
