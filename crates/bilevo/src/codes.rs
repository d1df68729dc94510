//! Stable codes of errors and warnings, for programs that have to distinguish them: the wording may change,
//! the codes do not.
//!
//! The command line prints them as in `error[E201]: …` and `warning[W609]: …`; exceptions and warnings of the
//! Python package carry them as `code`.

use crate::checkpoint::CheckpointError;
use crate::doubts::Doubt;
use crate::files::FileError;
use crate::known::{KnownError, TableError};
use crate::run::RunError;
use crate::source::SourceError;
use bilevo_core::config::ConfigError;
use bilevo_core::problem::SpecError;
use bilevo_problems::{ProblemError, file};
use std::error::Error;

/// Every code of an error with its meaning.
pub const ERRORS: [(&str, &str); 29] = [
    ("E101", "there is no such problem"),
    ("E102", "the problem does not come in this size"),
    ("E103", "a problem file has mistakes or cannot be read"),
    ("E104", "a problem's variables, bounds or constraints are wrong"),
    ("E105", "the saved run belongs to another problem"),
    ("E106", "the problem has changed since the run was saved"),
    ("E201", "there is no such method"),
    ("E202", "there is no such setting"),
    ("E203", "the value of a setting is out of range"),
    ("E204", "the method does not use this setting"),
    ("E205", "a setting cannot have this value"),
    ("E206", "the setting cannot be changed in a run that has started"),
    ("E207", "the run cannot start at this point"),
    ("E208", "known evaluations do not fit the problem"),
    ("E209", "an argument of a Python function is wrong"),
    ("E301", "an evaluation failed, and you asked the run to stop in that case"),
    ("E302", "every evaluation failed in the same way: probably a bug in your function"),
    ("E303", "the evaluations cannot continue: a program or worker failed, or the time ran out"),
    ("E401", "a file cannot be read or written"),
    ("E402", "the folder of a file does not exist"),
    ("E403", "the file exists, and bilevo will not replace it"),
    ("E404", "the path is not an ordinary file"),
    ("E405", "a file is read-only"),
    ("E501", "this is not a checkpoint"),
    ("E502", "a checkpoint is damaged or incomplete"),
    ("E503", "a checkpoint was written by another version"),
    ("E504", "a checkpoint holds another run, or a later state of the same run"),
    ("E505", "another process is saving to this checkpoint"),
    ("E901", "an internal error: please report it"),
];

/// Every code of a warning with its meaning. Warnings do not end a run.
pub const WARNINGS: [(&str, &str); 26] = [
    ("W101", "something in a problem file looks wrong"),
    ("W201", "known evaluations outside the box are ignored"),
    ("W202", "known evaluations of one point contradict each other"),
    ("W203", "the method uses known evaluations only to choose its start"),
    ("W204", "the method hardly ever satisfies an equality constraint"),
    ("W301", "evaluations failed, and the run continued without them"),
    ("W302", "a worker process died and was replaced"),
    ("W303", "runs of an experiment failed"),
    ("W401", "a file could not be written"),
    ("W402", "a store was copied without its log, so its latest runs may be missing"),
    ("W403", "a store has no finished runs"),
    ("W404", "the runs of a table differ in their version or settings"),
    ("W601", "there is no answer: the run was too short"),
    ("W602", "there is no answer: every evaluation failed"),
    ("W603", "there is no answer: F failed at every decision where the follower had answered"),
    ("W604", "the follower's constraints are violated"),
    ("W605", "the leader's constraints are violated"),
    ("W606", "the audit did not confirm the answer"),
    ("W607", "a proof found a better answer for the follower"),
    ("W608", "the leader's value could not be proven"),
    ("W609", "the follower's answer was not rechecked"),
    ("W610", "your solver for the follower gave two different answers to one decision"),
    ("W611", "the search ended too early: there may be a better answer"),
    ("W612", "the best known optimum was not reached"),
    ("W613", "the answer lies at an open edge of the box that was searched"),
    ("W614", "answers like this one were wrong too often in test runs"),
];

/// The code of a reason to doubt an answer.
pub fn warning(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::TooShort => "W601",
        Doubt::AllFailed { .. } => "W602",
        Doubt::NoDecision { .. } => "W603",
        Doubt::LowerInfeasible { .. } => "W604",
        Doubt::UpperInfeasible { .. } => "W605",
        Doubt::Audit { .. } => "W606",
        Doubt::Refuted { .. } => "W607",
        Doubt::Unproven { .. } => "W608",
        Doubt::NotRechecked { .. } => "W609",
        Doubt::AnswersDiffer { .. } => "W610",
        Doubt::Unfinished { .. } => "W611",
        Doubt::TargetMissed { .. } => "W612",
        Doubt::AtEdge { .. } => "W613",
        Doubt::Unlikely { .. } => "W614",
    }
}

/// The code of an error, or of the nearest of its causes that has one.
pub fn code(error: &(dyn Error + 'static)) -> Option<&'static str> {
    own(error).or_else(|| code(error.source()?))
}

fn own(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let run = error.downcast_ref().map(run);
    let source = || error.downcast_ref().map(source);
    let problem = || error.downcast_ref().map(problem);
    let config = || error.downcast_ref().map(config);
    let checkpoint = || error.downcast_ref().map(checkpoint);
    let files = || error.downcast_ref().map(files);
    let problem_file = || error.downcast_ref::<file::FileError>().map(|_| "E103");
    let spec = || error.downcast_ref::<SpecError>().map(|_| "E104");
    let known = || error.downcast_ref().map(known);
    let rows = || error.downcast_ref::<KnownError>().map(|_| "E208");
    run.or_else(source)
        .or_else(problem)
        .or_else(config)
        .or_else(checkpoint)
        .or_else(files)
        .or_else(problem_file)
        .or_else(spec)
        .or_else(known)
        .or_else(rows)
}

fn run(error: &RunError) -> &'static str {
    match error {
        RunError::OtherProblem { .. } => "E105",
        RunError::ChangedProblem { .. } => "E106",
        RunError::HasStarted { .. } => "E206",
        RunError::Config(error) => config(error),
        RunError::Start(_) => "E207",
        RunError::Known(_) => "E208",
        RunError::Evaluation { .. } => "E301",
        RunError::Mistake { .. } => "E302",
        RunError::Evaluator(_) | RunError::Tell(_) => "E303",
        RunError::Internal { .. } => "E901",
        RunError::Checkpoint(error) => checkpoint(error),
    }
}

fn known(error: &TableError) -> &'static str {
    match error {
        TableError::File(error) => files(error),
        TableError::Content { .. } => "E208",
    }
}

fn config(error: &ConfigError) -> &'static str {
    match error {
        ConfigError::UnknownMethod { .. } => "E201",
        ConfigError::UnknownField { .. } => "E202",
        ConfigError::OutOfRange { .. } => "E203",
        ConfigError::Unused { .. } => "E204",
        ConfigError::Spec(_) => "E104",
        _ => "E205",
    }
}

fn source(error: &SourceError) -> &'static str {
    match error {
        SourceError::Problem(error) => problem(error),
        SourceError::File(_) => "E103",
        SourceError::Folder { .. } => "E404",
        SourceError::Ending { .. } => "E101",
        SourceError::Dims { .. } => "E102",
    }
}

fn problem(error: &ProblemError) -> &'static str {
    match error {
        ProblemError::Dims { .. } => "E102",
        ProblemError::File(_) => "E103",
        _ => "E101",
    }
}

fn files(error: &FileError) -> &'static str {
    match error {
        FileError::Io { .. } => "E401",
        FileError::NoFolder { .. } => "E402",
        FileError::Foreign { .. } => "E403",
        FileError::NotAFile { .. } => "E404",
        FileError::ReadOnly { .. } => "E405",
    }
}

fn checkpoint(error: &CheckpointError) -> &'static str {
    match error {
        CheckpointError::File(error) => files(error),
        CheckpointError::Foreign => "E501",
        CheckpointError::Truncated { .. } | CheckpointError::Damaged { .. } => "E502",
        CheckpointError::Version { .. } => "E503",
        CheckpointError::OtherRun { .. } | CheckpointError::Ahead { .. } => "E504",
        CheckpointError::InUse { .. } => "E505",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Status;
    use crate::{Config, source};
    use bilevo_core::problem::Level;

    #[test]
    fn errors_have_codes() {
        let unknown = Config::named("bl-cma").unwrap_err();
        assert_eq!(code(&unknown), Some("E201"));
        assert_eq!(code(&RunError::Config(unknown)), Some("E201"), "an error within another");
        assert_eq!(code(&source::open("smd13", None).err().unwrap()), Some("E101"));
        assert_eq!(code(&source::open("tp1", Some((3, 3))).err().unwrap()), Some("E102"));
        assert_eq!(code(&source::open("absent.toml", None).err().unwrap()), Some("E103"));
        assert_eq!(code(&CheckpointError::Foreign), Some("E501"));
        assert_eq!(code(&std::fmt::Error), None);
    }

    #[test]
    fn the_guide_lists_every_code() {
        let page = include_str!("../../../docs/src/errors.md");
        let lines: Vec<String> =
            ERRORS.into_iter().chain(WARNINGS).map(|(code, meaning)| format!("| `{code}` | {meaning} |")).collect();
        let listed: Vec<&str> =
            page.lines().filter(|line| line.starts_with("| `E") || line.starts_with("| `W")).collect();
        for line in &lines {
            assert!(listed.contains(&line.as_str()), "docs/src/errors.md lacks: {line}");
        }
        assert_eq!(listed.len(), lines.len(), "docs/src/errors.md lists codes that do not exist: {listed:?}");
    }

    #[test]
    fn codes_are_in_order_and_each_has_one_meaning() {
        assert!(ERRORS.is_sorted_by(|a, b| a.0 < b.0) && WARNINGS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn what_speaks_against_an_answer_has_a_code_of_its_own() {
        let stop = Status::TimeLimit;
        let words = String::new;
        let doubts = [
            Doubt::TooShort,
            Doubt::AllFailed { level: Level::Upper, evaluations: 1 },
            Doubt::NoDecision { failed: 1, evaluations: 2 },
            Doubt::LowerInfeasible { violation: 1.0 },
            Doubt::UpperInfeasible { violation: 1.0 },
            Doubt::Audit { words: words() },
            Doubt::Refuted { words: words() },
            Doubt::Unproven { words: words() },
            Doubt::NotRechecked { settled: true },
            Doubt::AnswersDiffer { difference: 1.0 },
            Doubt::Unfinished { stop, restarts: true },
            Doubt::TargetMissed { found: (1.0, 1.0), known: (0.0, None) },
            Doubt::AtEdge { names: Vec::new() },
            Doubt::Unlikely {
                likeness: crate::calibration::Likeness { runs: 50, right: 20, infeasible: false },
                wide: false,
            },
        ];
        let codes: Vec<&str> = doubts.iter().map(warning).collect();
        let listed: Vec<&str> = WARNINGS.iter().map(|(code, _)| *code).filter(|code| code.starts_with("W6")).collect();
        assert_eq!(codes, listed);
    }
}
