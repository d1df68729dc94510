//! Real processes that behave, misbehave and are left behind.

mod misbehaving;
mod once;
mod survivors;

use bilevo::problems::program::{Command, Commands, Mode, ProgramSpec};
use bilevo::program::Program;
use bilevo::{Batch, Direction, Evaluator, EvaluatorError, Level, LevelSpec, ProblemSpec, Replies, TimeLimits};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Reads requests of one point and answers with what `$answer` says about `$id`, `$n` (how many
/// requests came so far) and the numbers `$x` and `$y`.
const LOOP: &str = r#"
n=0
while read -r line; do
    n=$((n + 1)); set -- $(echo "$line" | tr -c '0-9a-z.+-' ' '); id=$2; level=$4; x=$6; y=$8
    ANSWER
done
"#;

/// A problem of one variable at each level.
fn problem() -> ProblemSpec {
    ProblemSpec::new("plant", LevelSpec::boxed(vec![(0.0, 10.0)]), LevelSpec::boxed(vec![(0.0, 10.0)]))
}

fn command(command: &[&str], mode: Mode) -> Command {
    Command { command: command.iter().map(ToString::to_string).collect(), environment: BTreeMap::new(), mode }
}

/// A shell script as the program of both levels.
fn script(script: &str) -> ProgramSpec {
    let mut spec = ProgramSpec::new(problem(), vec!["sh".into(), "-c".into(), script.into()], "/");
    // Long enough never to be reached by a program that answers.
    spec.timeout = Duration::from_secs(600);
    spec
}

/// A script that reads requests one by one.
fn answering(answer: &str) -> ProgramSpec {
    script(&LOOP.replace("ANSWER", answer))
}

/// Has all the time for the first answer of a process and next to none for those that never come: what
/// answers again must be a fresh process, so that no answer depends on how fast the machine is.
fn hurried(mut spec: ProgramSpec) -> ProgramSpec {
    (spec.start_timeout, spec.timeout) = (Duration::from_secs(600), Duration::from_millis(50));
    spec
}

const VALUE: &str = r#"echo "{\"id\":$id,\"value\":$y}""#;

/// A batch with x = 1 and the given numbers as y.
fn batch(level: Level, numbers: &[f64]) -> Batch {
    Batch::from_points(&problem(), level, numbers.iter().map(|y| (&[1.0][..], std::slice::from_ref(y)))).unwrap()
}

fn ask(program: &mut Program, numbers: &[f64]) -> Result<Replies, EvaluatorError> {
    let mut replies = Replies::default();
    let spec = program.spec().clone();
    replies.start(&spec, Level::Lower);
    program.evaluate(&batch(Level::Lower, numbers), &mut replies)?;
    assert_eq!(replies.outcomes().len(), numbers.len());
    Ok(replies)
}

/// Values in order, `None` for failures.
fn values(replies: &Replies) -> Vec<Option<f64>> {
    replies.outcomes().iter().map(|outcome| (!outcome.is_failed()).then_some(outcome.value)).collect()
}

fn evaluate(spec: ProgramSpec, jobs: usize, numbers: &[f64]) -> Replies {
    ask(&mut Program::new(spec, jobs).unwrap(), numbers).unwrap()
}

#[test]
fn answers_come_in_the_order_of_the_points_on_any_number_of_processes() {
    let numbers: Vec<f64> = (0..40).map(|i| f64::from(i) / 4.0).collect();
    let expected: Vec<_> = numbers.iter().copied().map(Some).collect();
    for jobs in [1, 3] {
        assert_eq!(values(&evaluate(answering(VALUE), jobs, &numbers)), expected, "{jobs} jobs");
    }
}

#[test]
fn a_process_is_kept_from_batch_to_batch() {
    let mut program = Program::new(answering(r#"echo "{\"id\":$id,\"value\":$n}""#), 1).unwrap();
    assert_eq!(values(&ask(&mut program, &[1.0, 1.0]).unwrap()), [Some(1.0), Some(2.0)]);
    assert_eq!(values(&ask(&mut program, &[1.0]).unwrap()), [Some(3.0)]);
}

#[test]
fn every_digit_of_a_point_reaches_the_program_and_comes_back() {
    let numbers = [0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0, 123456789.12345679];
    let replies = evaluate(answering(VALUE), 1, &numbers);
    let bits = |value: Option<f64>| value.map(f64::to_bits);
    assert!(values(&replies).iter().zip(numbers).all(|(got, sent)| bits(*got) == bits(Some(sent))), "{replies:?}");
}

#[test]
fn constraint_values_and_directions() {
    let mut spec = answering(r#"echo "{\"id\":$id,\"value\":3,\"constraints\":[-1,0.5]}""#);
    spec.problem.lower.inequalities = 1;
    spec.problem.lower.equalities = 1;
    spec.problem.lower.direction = Direction::Maximize;
    let mut program = Program::new(spec, 1).unwrap();
    let replies = ask(&mut program, &[1.0]).unwrap();
    assert_eq!(replies.constraints(0), [-1.0, 0.5]);
    assert_eq!((replies.outcomes()[0].value, replies.outcomes()[0].violation), (-3.0, 0.5 - 1e-9));
}

#[test]
fn leader_and_follower_can_be_two_programs() {
    let mut spec = script("");
    let constant = |value: u32| {
        let text = LOOP.replace("ANSWER", &format!(r#"echo "{{\"id\":$id,\"value\":{value}}}""#));
        command(&["sh", "-c", &text], Mode::Lines { batch: 1 })
    };
    spec.commands = Commands::Each { upper: constant(1), lower: constant(2) };
    let mut program = Program::new(spec.clone(), 1).unwrap();
    for (level, expected) in [(Level::Upper, 1.0), (Level::Lower, 2.0), (Level::Upper, 1.0)] {
        let mut replies = Replies::default();
        replies.start(&spec.problem, level);
        program.evaluate(&batch(level, &[5.0]), &mut replies).unwrap();
        assert_eq!(values(&replies), [Some(expected)]);
    }
}

/// Answers lists of points with as many values as there are `y`s, each the number of its request.
const LISTS: &str = r#"
n=0
while read -r line; do
    n=$((n + 1)); points=$(echo "$line" | tr -cd 'y' | wc -c); results=
    for i in $(seq $points); do results="$results,{\"value\":$n}"; done
    id=${line#*:}; echo "{\"id\":${id%%,*},\"results\":[${results#,}]}"
done
"#;

/// A script that takes lists of at most `batch` points.
fn lists(text: &str, batch: usize) -> ProgramSpec {
    let mut spec = script("");
    spec.commands = Commands::Both(command(&["sh", "-c", text], Mode::Lines { batch }));
    spec
}

#[test]
fn points_travel_in_lists_where_the_program_takes_them() {
    let requests = |batch, jobs| {
        let replies = evaluate(lists(LISTS, batch), jobs, &[1.0; 7]);
        values(&replies).into_iter().map(|value| value.unwrap() as u32).collect::<Vec<_>>()
    };
    assert_eq!(requests(3, 1), [1, 1, 1, 2, 2, 2, 3]);
    assert_eq!(requests(100, 1), [1; 7]);
    // Each of two processes gets its half at once.
    assert_eq!(requests(100, 2), [1; 7]);
}

#[test]
fn environment_and_folder_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("factor"), "7").unwrap();
    let text = LOOP.replace("ANSWER", r#"echo "{\"id\":$id,\"value\":$(cat factor)$DIGIT}""#);
    std::fs::write(folder.path().join("plant.sh"), text).unwrap();
    let mut spec = script("");
    spec.folder = folder.path().into();
    let mut lines = command(&["sh", "plant.sh"], Mode::Lines { batch: 1 });
    lines.environment.insert("DIGIT".into(), "5".into());
    spec.commands = Commands::Both(lines);
    assert_eq!(values(&evaluate(spec, 1, &[1.0])), [Some(75.0)]);
}

#[test]
fn a_program_that_cannot_be_started_is_told_at_once() {
    for name in ["./no-such-plant", "no-such-plant"] {
        let mut spec = script("");
        spec.commands = Commands::Both(command(&[name], Mode::Lines { batch: 1 }));
        let error = ask(&mut Program::new(spec, 1).unwrap(), &[1.0]).unwrap_err().to_string();
        assert!(error.contains("no-such-plant") && error.contains("hint:"), "{error}");
    }
}

#[test]
fn the_time_of_the_run_ends_an_evaluation_under_way() {
    let mut spec = script("exec sleep 1000");
    spec.timeout = Duration::from_secs(1000);
    let mut program = Program::new(spec.clone(), 1).unwrap();
    program.limit(TimeLimits { end: Some(Instant::now() + Duration::from_millis(50)), each: None });
    assert!(ask(&mut program, &[1.0]).unwrap_err().is_out_of_time);
    // Another limit for one evaluation takes the place of the program's own.
    spec.start_timeout = Duration::ZERO;
    let mut program = Program::new(spec, 1).unwrap();
    program.limit(TimeLimits { end: None, each: Some(Duration::from_millis(50)) });
    let replies = ask(&mut program, &[1.0]).unwrap();
    assert_eq!(replies.failures()[0].1.message, "no answer within 0.05 s");
}
