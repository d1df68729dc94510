//! Programs that hang, end, write nonsense, too much, twice or to the wrong place.

use super::{LISTS, VALUE, answering, ask, evaluate, hurried, lists, script, values};
use bilevo::problems::program::ProgramSpec;
use bilevo::program::Program;
use bilevo::{FailureKind, Replies};
use std::time::Duration;

/// The kind and message of the first failure.
fn failure(replies: &Replies) -> (FailureKind, &str) {
    let (_, failure) = &replies.failures()[0];
    (failure.kind, &failure.message)
}

/// The one failure of a program that never answers properly.
fn failing(spec: ProgramSpec) -> (FailureKind, String) {
    let replies = evaluate(spec, 1, &[1.0]);
    assert_eq!(values(&replies), [None]);
    let (kind, message) = failure(&replies);
    (kind, message.to_string())
}

/// A script that never answers, with little time to do so.
fn impatient(mut spec: ProgramSpec) -> ProgramSpec {
    spec.timeout = Duration::from_millis(200);
    spec.start_timeout = Duration::ZERO;
    spec
}

#[test]
fn a_program_that_hangs_runs_out_of_time_and_the_next_one_answers() {
    let hangs = format!("if [ $y = 2.0 ]; then exec sleep 1000; fi; echo thinking >&2; {VALUE}");
    let replies = evaluate(hurried(answering(&hangs)), 1, &[1.0, 2.0, 3.0]);
    assert_eq!(values(&replies), [Some(1.0), None, Some(3.0)]);
    let (kind, message) = failure(&replies);
    assert_eq!(kind, FailureKind::Timeout);
    assert!(message.starts_with("no answer within 0.05 s") && message.ends_with("| thinking"), "{message}");
}

#[test]
fn a_fresh_program_has_more_time_for_its_first_answer() {
    let mut spec = script("exec sleep 1000");
    (spec.timeout, spec.start_timeout) = (Duration::from_millis(100), Duration::from_millis(150));
    assert_eq!(failing(spec).1, "no answer within 0.25 s");
}

#[test]
fn a_program_that_does_not_read_runs_out_of_time() {
    // More than a pipe holds.
    let mut spec = impatient(lists("exec sleep 1000", 100_000));
    spec.timeout = Duration::from_micros(10);
    spec.max_failures = 2;
    let error = ask(&mut Program::new(spec, 1).unwrap(), &[0.123456789; 10_000]);
    assert!(error.unwrap_err().to_string().contains("2 evaluations"));
}

#[test]
fn a_program_that_ends_is_started_again() {
    let (kind, message) = failing(script("echo broken pipe in reactor 4 >&2; exit 3"));
    assert_eq!(kind, FailureKind::Crash);
    assert!(message.contains("exit status: 3") && message.ends_with("\n  | broken pipe in reactor 4"), "{message}");
    let replies = evaluate(answering(&format!("if [ $y = 2.0 ]; then kill -9 $$; fi; {VALUE}")), 2, &[1.0, 2.0, 3.0]);
    assert_eq!(values(&replies), [Some(1.0), None, Some(3.0)]);
    assert!(failure(&replies).1.contains("SIGKILL"), "{}", failure(&replies).1);
}

#[test]
fn a_program_may_end_after_each_answer() {
    for end in ["exit 0", "exit 1", "exec >&-"] {
        let replies = evaluate(answering(&format!("{VALUE}; {end}")), 1, &[1.0, 2.0, 3.0]);
        assert_eq!(values(&replies), [Some(1.0), Some(2.0), Some(3.0)], "{end}");
    }
}

#[test]
fn a_program_that_closes_its_output_has_failed() {
    assert_eq!(failing(script("exec >&-; exec sleep 1000")).0, FailureKind::Crash);
    assert_eq!(failing(script("read line; exec >&-; exit 0")).0, FailureKind::Crash);
}

#[test]
fn half_a_reply_is_none() {
    let (kind, message) = failing(script(r#"read line; printf '{"id":0,"value":1'; exit 0"#));
    assert_eq!(kind, FailureKind::Crash);
    assert!(message.contains("instead of answering"), "{message}");
}

#[test]
fn nonsense_fails_its_evaluation_and_the_program_is_replaced() {
    let nonsense = format!("if [ $y = 2.0 ]; then echo Hello; fi; {VALUE}");
    let replies = evaluate(answering(&nonsense), 1, &[1.0, 2.0, 3.0]);
    assert_eq!(values(&replies), [Some(1.0), None, Some(3.0)]);
    let (kind, message) = failure(&replies);
    assert_eq!(kind, FailureKind::WrongShape);
    assert!(message.contains("`Hello` is not understood"), "{message}");
}

#[test]
fn control_characters_of_a_program_reach_no_terminal() {
    let (_, message) = failing(script(r#"printf '\033[31mred\007\n'; printf '\033[2J' >&2; exec sleep 1000"#));
    assert!(!message.contains(['\u{1b}', '\u{7}']), "{message:?}");
}

#[test]
fn an_answer_that_comes_twice_is_not_taken_for_the_next() {
    // Where a reply does not fit, the program is replaced, so every second evaluation is good.
    let replies = evaluate(answering(&format!("{VALUE}; {VALUE}")), 1, &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values(&replies), [Some(1.0), None, Some(3.0), None]);
    assert!(failure(&replies).1.contains("evaluation 0, but 1 was asked for"), "{}", failure(&replies).1);
}

#[test]
fn an_answer_to_another_question_is_none() {
    let (kind, message) = failing(answering(r#"echo "{\"id\":9,\"value\":1}""#));
    assert_eq!(kind, FailureKind::WrongShape);
    assert!(message.contains("evaluation 9, but 0 was asked for"), "{message}");
    // Swapped answers: the second question comes only after the first answer.
    let swapped = r#"if [ $n = 1 ]; then first=$id; else echo "{\"id\":$id,\"value\":1}"; fi"#;
    assert_eq!(failing(impatient(answering(swapped))).0, FailureKind::Timeout);
}

#[test]
fn a_flood_on_stderr_harms_nobody() {
    let flood = format!("head -c 5000000 /dev/zero | tr '\\0' 'x' >&2; echo last >&2; {VALUE}");
    assert_eq!(values(&evaluate(answering(&flood), 1, &[1.0, 2.0])), [Some(1.0), Some(2.0)]);
    // The second evaluation never ends, and neither does what is said meanwhile.
    let endless = format!("echo flood >&2; {VALUE}; while echo flood >&2; do :; done");
    let replies = evaluate(hurried(answering(&endless)), 1, &[1.0, 2.0]);
    assert_eq!(values(&replies), [Some(1.0), None]);
    let (kind, message) = failure(&replies);
    assert_eq!(kind, FailureKind::Timeout);
    assert!(message.ends_with("| flood") && message.len() < 10_000, "{} bytes", message.len());
}

#[test]
fn a_reply_without_end_is_cut_off() {
    let (kind, message) = failing(script("tr '\\0' 'x' < /dev/zero"));
    assert_eq!(kind, FailureKind::WrongShape);
    assert!(message.contains("longer than"), "{message}");
}

#[test]
fn the_wrong_number_of_constraints_and_nan_fail_one_point() {
    let mut spec = answering(r#"echo "{\"id\":$id,\"value\":NaN,\"constraints\":[]}""#);
    assert_eq!(failing(spec.clone()).0, FailureKind::NotFinite);
    spec.problem.lower.inequalities = 1;
    assert_eq!(failing(spec).0, FailureKind::WrongShape);
}

#[test]
fn one_bad_point_of_a_list_does_not_take_the_others_with_it() {
    let bad = LISTS.replace("points=", "case $line in *7.5*) exit 1;; esac; points=");
    let replies = evaluate(lists(&bad, 10), 1, &[1.0, 2.0, 7.5, 3.0]);
    let failed: Vec<bool> = values(&replies).iter().map(Option::is_none).collect();
    assert_eq!(failed, [false, false, true, false]);
    let wrong = evaluate(lists(&LISTS.replace("seq $points", "seq 2"), 10), 1, &[1.0; 3]);
    assert!(failure(&wrong).1.contains("2 results instead of 1"), "{}", failure(&wrong).1);
}

#[test]
fn too_many_failures_in_a_row_end_the_run() {
    let mut spec = answering(&format!("if [ $y = 2.0 ]; then {VALUE}; else exit 1; fi"));
    spec.max_failures = 3;
    let mut program = Program::new(spec, 1).unwrap();
    assert!(ask(&mut program, &[1.0, 1.0, 2.0, 1.0]).is_ok());
    assert!(ask(&mut program, &[1.0, 2.0]).is_ok());
    let error = ask(&mut program, &[1.0, 1.0, 1.0, 2.0]).unwrap_err().to_string();
    assert!(error.contains("3 evaluations of `plant`") && error.contains("max_failures"), "{error}");
    // A program that says that it has no value has not broken down.
    let mut spec = answering(r#"echo "{\"id\":$id,\"error\":\"diverged\"}""#);
    spec.max_failures = 3;
    assert!(ask(&mut Program::new(spec, 1).unwrap(), &[1.0; 10]).is_ok_and(|replies| replies.failures().len() == 10));
    // Whoever goes on regardless gets answers to the right questions.
    assert_eq!(values(&ask(&mut program, &[2.0]).unwrap()), [Some(2.0)]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_eats_memory_meets_its_limit() {
    let mut spec = answering(&format!("while [ $y = 2.0 ]; do line=$line$line; done; {VALUE}"));
    spec.memory = Some(200 << 20);
    let replies = evaluate(spec, 1, &[1.0, 2.0, 3.0]);
    assert_eq!(values(&replies), [Some(1.0), None, Some(3.0)]);
    assert_eq!(failure(&replies).0, FailureKind::Crash);
}
