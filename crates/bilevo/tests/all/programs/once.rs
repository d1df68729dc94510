//! Programs that are started for every evaluation.

use super::{ask, command, evaluate, hurried, script, values};
use bilevo::FailureKind;
use bilevo::problems::program::{Commands, Input, Mode, Once, Pattern, ProgramSpec};
use bilevo::program::Program;
use std::time::Duration;

fn once(words: &[&str], once: Once) -> ProgramSpec {
    let mut spec = script("");
    spec.commands = Commands::Both(command(words, Mode::Once(once)));
    spec
}

fn message(spec: ProgramSpec) -> (FailureKind, String) {
    let replies = evaluate(spec, 1, &[1.0]);
    let (_, failure) = &replies.failures()[0];
    (failure.kind, failure.message.clone())
}

#[test]
fn the_point_as_arguments_and_the_value_on_stdout() {
    let spec =
        once(&["sh", "-c", r#"echo "banner"; echo "$1 $2 $3""#, "sh", "{level}", "{x1}", "{y}"], Once::default());
    assert_eq!(values(&evaluate(spec, 2, &[2.5, 3.5, 4.5])), [Some(2.5), Some(3.5), Some(4.5)]);
}

#[test]
fn the_point_in_a_file_and_the_answer_in_another() {
    let deck = Input { file: "in/deck.txt".into(), template: "* plant {id}\nquantity {y1}\n{{end}}\n".into() };
    let solver = "q=$(sed -n 's/^quantity //p' $1); echo \"cost = $q\nslack: -1.5D0\" > $2/out.txt";
    let mut spec = once(
        &["sh", "-c", solver, "sh", "{file}", "{folder}"],
        Once {
            inputs: vec![deck],
            output: Some("out.txt".into()),
            value: Pattern::Key { key: "cost".into() },
            constraints: vec![Pattern::Regex { regex: r"slack: (\S+)".into() }],
            own_folder: false,
        },
    );
    spec.problem.upper.inequalities = 1;
    spec.problem.lower.inequalities = 1;
    let mut program = Program::new(spec, 2).unwrap();
    let replies = ask(&mut program, &[0.5, 2.5]).unwrap();
    assert_eq!(values(&replies), [Some(0.5), Some(2.5)]);
    assert_eq!(replies.constraints(1), [-1.5]);
}

#[test]
fn files_of_fixed_names_go_into_a_folder_of_the_evaluation_which_is_removed() {
    let own = Once { output: Some("RESULT".into()), own_folder: true, ..Once::default() };
    let spec = once(&["sh", "-c", "echo $1 > RESULT; pwd >> {home}", "sh", "{y}"], own);
    let home = tempfile::NamedTempFile::new().unwrap();
    let mut spec = ProgramSpec { folder: home.path().into(), ..spec };
    spec.timeout = Duration::from_secs(600);
    let replies = evaluate(spec, 2, &[1.0, 2.0, 3.0]);
    assert_eq!(values(&replies), [Some(1.0), Some(2.0), Some(3.0)]);
    let folders = std::fs::read_to_string(home.path()).unwrap();
    assert_eq!(folders.lines().count(), 3);
    assert!(folders.lines().all(|folder| !std::path::Path::new(folder).exists()), "{folders}");
}

#[test]
fn what_can_go_wrong() {
    let (kind, text) = message(once(&["sh", "-c", "echo no licence >&2; exit 7"], Once::default()));
    assert_eq!(kind, FailureKind::Error);
    assert!(text.contains("exit status: 7") && text.ends_with("| no licence"), "{text}");
    let (kind, text) = message(once(&["echo", "diverged"], Once::default()));
    assert_eq!(kind, FailureKind::WrongShape);
    assert!(text.contains("`diverged` is not a number"), "{text}");
    let (_, text) = message(once(&["true"], Once { output: Some("out".into()), ..Once::default() }));
    assert!(text.contains("no answer to `out`"), "{text}");
    let (kind, text) = message(once(&["sh", "-c", "yes"], Once::default()));
    assert_eq!(kind, FailureKind::WrongShape);
    assert!(text.contains("more than 16777216 bytes"), "{text}");
    assert_eq!(message(once(&["echo", "nan"], Once::default())).0, FailureKind::NotFinite);
    let mut hangs = once(&["sleep", "1000"], Once::default());
    (hangs.timeout, hangs.start_timeout) = (Duration::from_millis(100), Duration::ZERO);
    assert_eq!(message(hangs).0, FailureKind::Timeout);
}

#[test]
fn a_process_left_in_the_background_does_not_hold_up_the_answer() {
    let spec = once(&["sh", "-c", "sleep 1000 & echo 4"], Once::default());
    assert_eq!(values(&evaluate(spec, 1, &[1.0])), [Some(4.0)]);
}

/// A shell script that is started for every evaluation, with y as `$1`.
fn script_once(text: &str) -> ProgramSpec {
    once(&["sh", "-c", text, "sh", "{y}"], Once::default())
}

#[test]
fn a_failure_is_that_of_one_evaluation() {
    let fails = |way: &str| script_once(&format!("if [ $1 = 2.0 ]; then {way}; else echo $1; fi"));
    for way in ["exit 3", "kill -9 $$", "echo garbage", "printf ''", "exec >&-"] {
        assert_eq!(values(&evaluate(fails(way), 1, &[1.0, 2.0, 3.0])), [Some(1.0), None, Some(3.0)], "{way}");
    }
    let hangs = hurried(fails("exec sleep 1000"));
    assert_eq!(values(&evaluate(hangs, 1, &[1.0, 2.0, 3.0])), [Some(1.0), None, Some(3.0)]);
}

#[test]
fn an_exit_status_says_that_there_is_no_value_and_only_a_killed_program_broke_down() {
    let mut spec = script_once("exit 1");
    spec.max_failures = 3;
    let replies = evaluate(spec.clone(), 1, &[1.0; 10]);
    assert!(replies.failures().iter().all(|(_, failure)| failure.kind == FailureKind::Error), "{replies:?}");
    spec.commands = script_once("kill -9 $$").commands;
    let error = ask(&mut Program::new(spec, 1).unwrap(), &[1.0; 10]).unwrap_err().to_string();
    assert!(error.contains("3 evaluations of `plant`") && error.contains("SIGKILL"), "{error}");
}

#[test]
fn an_answer_that_is_printed_twice_is_one_answer() {
    assert_eq!(values(&evaluate(script_once("echo $1; echo $1"), 1, &[1.0, 2.0])), [Some(1.0), Some(2.0)]);
}

#[test]
fn answers_that_take_different_times_keep_their_order() {
    // The first answers when the last has.
    let text = "if [ $1 = 1.0 ]; then until [ -e go ]; do :; done; fi; if [ $1 = 3.0 ]; then : > go; fi; echo $1";
    let folder = tempfile::tempdir().unwrap();
    let mut last_first = script_once(text);
    last_first.folder = folder.path().into();
    assert_eq!(values(&evaluate(last_first, 3, &[1.0, 2.0, 3.0])), [Some(1.0), Some(2.0), Some(3.0)]);
}

#[test]
fn a_flood_on_stderr_harms_nobody() {
    let flood = script_once("head -c 5000000 /dev/zero | tr '\\0' 'x' >&2; echo $1");
    assert_eq!(values(&evaluate(flood, 1, &[1.0, 2.0])), [Some(1.0), Some(2.0)]);
    let mut endless = script_once("yes flood >&2");
    (endless.timeout, endless.start_timeout) = (Duration::from_millis(200), Duration::ZERO);
    let (kind, text) = message(endless);
    assert_eq!(kind, FailureKind::Timeout);
    assert!(text.len() < 10_000, "{} bytes", text.len());
}

#[test]
fn a_program_that_eats_memory_meets_its_limit() {
    let mut spec = script_once("line=x; while [ $1 = 2.0 ]; do line=$line$line; done; echo $1");
    spec.memory = Some(200 << 20);
    assert_eq!(values(&evaluate(spec, 1, &[1.0, 2.0, 3.0])), [Some(1.0), None, Some(3.0)]);
}

#[test]
fn mistakes_in_the_description_are_found_before_anything_runs() {
    let refused = |spec| Program::new(spec, 1).unwrap_err().to_string();
    assert!(refused(once(&["echo", "{z}"], Once::default())).contains("`{z}` is not a placeholder"));
    assert!(refused(once(&["echo", "{file}"], Once::default())).contains("first input file"));
    let value = |value| Once { value, ..Once::default() };
    assert!(refused(once(&["a"], value(Pattern::Regex { regex: "(".into() }))).contains("bad regular expression"));
    let outside =
        |file: &str| Once { inputs: vec![Input { file: file.into(), template: String::new() }], ..Once::default() };
    for file in ["../a", "/etc/a", ""] {
        assert!(refused(once(&["a"], outside(file))).contains("not in the evaluation's folder"), "{file}");
    }
}
