//! A problem that an external program evaluates, as plain data: what a problem file says about the program. The
//! evaluator that runs it is elsewhere.

use bilevo_core::problem::{Follower, Level, ProblemSpec, SpecError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// An external program (or one for each level) and how to talk to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramSpec {
    /// Sizes, boxes, constraint counts, directions.
    pub problem: ProblemSpec,
    /// The folder of the problem file: relative paths start there, and programs run in it.
    pub folder: PathBuf,
    /// The command of each level.
    pub commands: Commands,
    /// The command of the follower's own solver, if it differs from the leader's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follower: Option<Command>,
    /// How long one evaluation may take; a request with several points may take that many times longer.
    pub timeout: Duration,
    /// Additional time for the first answer of a freshly started program.
    pub start_timeout: Duration,
    /// The run stops after this many breakdowns in a row: crashes, time-outs, unreadable replies. A program that
    /// reports that it has no value has not broken down.
    pub max_failures: u32,
    /// Further files that the program consists of, besides those in its commands: relative to the folder.
    #[serde(default)]
    pub depends: Vec<String>,
    /// Limit in bytes on the memory (address space) of a program and of each program it starts.
    #[serde(default)]
    pub memory: Option<u64>,
}

/// One program for both levels, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commands {
    /// The same program evaluates both levels.
    Both(Command),
    /// Leader and follower are two programs.
    Each {
        /// Evaluates the leader's objective.
        upper: Command,
        /// Evaluates the follower's objective.
        lower: Command,
    },
}

impl Commands {
    /// The command that evaluates a level.
    pub fn of(&self, level: Level) -> &Command {
        match (self, level) {
            (Commands::Both(command), _) => command,
            (Commands::Each { upper, .. }, Level::Upper) => upper,
            (Commands::Each { lower, .. }, Level::Lower) => lower,
        }
    }
}

/// What is started, and how it receives requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments. In the mode [`Mode::Once`] they may hold placeholders.
    pub command: Vec<String>,
    /// Environment variables set in addition to the inherited ones.
    pub environment: BTreeMap<String, String>,
    /// How it receives requests.
    pub mode: Mode,
}

/// How a program receives requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Started once; reads a JSON request per line and answers with a JSON line.
    Lines {
        /// Most points in one request; 1 for programs that take a single point per line.
        batch: usize,
    },
    /// Started afresh for every evaluation.
    Once(Once),
}

/// How a program that is started for every evaluation receives its point and returns its answer.
///
/// Placeholders in arguments, file names and templates: `{name}` a variable, `{x}` and `{y}` all
/// variables of a level with a space between them, `{x1}`, `{y2}` by position, `{level}`, `{id}`,
/// `{folder}` (a new, empty folder of this evaluation), `{file}` (the first input file), `{home}` (the
/// problem file's folder). `{{` and `}}` stand for braces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Once {
    /// Files written into the evaluation's folder before the program starts.
    pub inputs: Vec<Input>,
    /// Run in the evaluation's folder instead of the problem file's, for programs that write files with fixed
    /// names.
    pub own_folder: bool,
    /// Where the answer is; standard output when absent. Relative to the evaluation's folder.
    pub output: Option<String>,
    /// Where to find the objective in the answer.
    pub value: Pattern,
    /// Where to find the constraint values, inequalities first.
    pub constraints: Vec<Pattern>,
}

/// A file made from a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name in the evaluation's folder.
    pub file: String,
    /// Its text, with placeholders.
    pub template: String,
}

/// Where to find a number in a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Pattern {
    /// Behind a key, as in `cost = 3.5` or `cost: 3.5`; the last such line counts.
    Key {
        /// The key.
        key: String,
    },
    /// What the first group (or, without groups, the whole) of a regular expression matches; the
    /// last match counts.
    Regex {
        /// The expression.
        regex: String,
    },
    /// A position in a table of words separated by blanks, commas or semicolons, both counted from 1; negative
    /// numbers count from the end.
    Place {
        /// The line among those that are not blank.
        line: i64,
        /// The word within the line.
        column: i64,
    },
}

impl Default for Pattern {
    /// The last word of the text.
    fn default() -> Self {
        Pattern::Place { line: -1, column: -1 }
    }
}

/// Default time for one evaluation.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// Default additional time for the first answer of a fresh program.
pub const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(30);
/// Default number of failures in a row that end a run.
pub const DEFAULT_MAX_FAILURES: u32 = 50;
/// Longest time-out, so that sums of times never overflow.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(366 * 24 * 3600);
/// Maximum number of points in one request.
pub const MAX_BATCH: usize = 100_000;

impl ProgramSpec {
    /// One program in the mode [`Mode::Lines`] for both levels, with defaults elsewhere.
    pub fn new(problem: ProblemSpec, command: Vec<String>, folder: impl Into<PathBuf>) -> Self {
        ProgramSpec {
            problem,
            folder: folder.into(),
            commands: Commands::Both(Command { command, environment: BTreeMap::new(), mode: Mode::Lines { batch: 1 } }),
            follower: None,
            timeout: DEFAULT_TIMEOUT,
            start_timeout: DEFAULT_START_TIMEOUT,
            max_failures: DEFAULT_MAX_FAILURES,
            depends: Vec::new(),
            memory: None,
        }
    }

    /// Every command that a run starts, each once.
    pub fn all_commands(&self) -> Vec<&Command> {
        let mut all = vec![self.commands.of(Level::Upper)];
        if self.problem.lower.dim() > 0 {
            all.push(self.commands.of(Level::Lower));
        }
        all.extend(&self.follower);
        all.dedup();
        all
    }

    /// Rejects a description with which no program could run.
    ///
    /// # Errors
    /// See [`ProgramError`].
    pub fn check(&self) -> Result<(), ProgramError> {
        self.problem.check()?;
        if self.timeout.is_zero() || self.timeout > MAX_TIMEOUT || self.start_timeout > MAX_TIMEOUT {
            return Err(ProgramError::Timeout);
        }
        if self.max_failures == 0 {
            return Err(ProgramError::MaxFailures);
        }
        self.check_command(Level::Upper, self.commands.of(Level::Upper))?;
        if self.problem.lower.dim() > 0 {
            self.check_command(Level::Lower, self.commands.of(Level::Lower))?;
        }
        if self.problem.follower == Follower::Oracle {
            let command = self.follower.as_ref().unwrap_or(self.commands.of(Level::Upper));
            self.check_command(Level::Lower, command)?;
            if matches!(command.mode, Mode::Once(_)) {
                return Err(ProgramError::FollowerOnce);
            }
        }
        Ok(())
    }

    fn check_command(&self, level: Level, command: &Command) -> Result<(), ProgramError> {
        if command.command.first().is_none_or(|program| program.is_empty()) {
            return Err(ProgramError::NoCommand { level });
        }
        match &command.mode {
            Mode::Lines { batch } if !(1..=MAX_BATCH).contains(batch) => {
                Err(ProgramError::Batch { level, got: *batch })
            }
            Mode::Once(once) => {
                let expected = self.problem.level(level).constraints();
                let got = once.constraints.len();
                if got == expected { Ok(()) } else { Err(ProgramError::Constraints { level, expected, got }) }
            }
            Mode::Lines { .. } => Ok(()),
        }
    }
}

/// Why a program cannot be used.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ProgramError {
    /// The problem itself is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Nothing to start.
    #[error(
        "there is no command for the {level} level\nhint: `command = [\"python3\", \"plant.py\"]`, for both levels or in each"
    )]
    NoCommand {
        /// The level.
        level: Level,
    },
    /// The number of points in a request is out of range.
    #[error("`batch` is {got} at the {level} level\nhint: between 1 and {MAX_BATCH} points in one line")]
    Batch {
        /// The level.
        level: Level,
        /// The number given.
        got: usize,
    },
    /// No time at all, or more than a year.
    #[error("`timeout` must be more than 0 seconds, and no time-out more than a year")]
    Timeout,
    /// A limit that nothing can meet.
    #[error("`max_failures` is 0\nhint: this many failures in a row end a run; it must be at least 1")]
    MaxFailures,
    /// A solver that would have to be started for every answer.
    #[error(
        "a program that answers for the follower reads its requests line by line\nhint: remove `once`, or give [follower] a command of its own"
    )]
    FollowerOnce,
    /// Patterns do not fit the constraints.
    #[error(
        "the {level} level has {expected} constraints, but {got} patterns locate their values\nhint: give one pattern per inequality, then one per equality"
    )]
    Constraints {
        /// The level.
        level: Level,
        /// The number of constraints.
        expected: usize,
        /// The number of patterns.
        got: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilevo_core::problem::LevelSpec;

    fn plant() -> ProgramSpec {
        let spec = ProblemSpec::new("plant", LevelSpec::boxed(vec![(0.0, 1.0)]), LevelSpec::boxed(vec![(0.0, 1.0); 2]));
        ProgramSpec::new(spec, vec!["plant".into()], "models")
    }

    #[test]
    fn a_plain_program_is_accepted() {
        let plant = plant();
        assert_eq!(plant.check(), Ok(()));
        assert_eq!(plant.problem.names(Level::Lower), ["y1", "y2"]);
    }

    #[test]
    fn unsound_programs_are_refused() {
        let refused = |change: fn(&mut ProgramSpec)| {
            let mut program = plant();
            change(&mut program);
            program.check().unwrap_err()
        };
        assert_eq!(refused(|p| p.timeout = Duration::ZERO), ProgramError::Timeout);
        assert_eq!(refused(|p| p.start_timeout = Duration::MAX), ProgramError::Timeout);
        assert_eq!(refused(|p| p.max_failures = 0), ProgramError::MaxFailures);
        assert!(matches!(refused(|p| p.problem.upper.space = vec![(2.0, 1.0)].into()), ProgramError::Spec(_)));
        let with = |change: fn(&mut Command)| {
            let mut program = plant();
            let Commands::Both(command) = &mut program.commands else { unreachable!() };
            change(command);
            program.check().unwrap_err()
        };
        assert_eq!(with(|c| c.command.clear()), ProgramError::NoCommand { level: Level::Upper });
        assert!(matches!(with(|c| c.mode = Mode::Lines { batch: 0 }), ProgramError::Batch { got: 0, .. }));
        let once =
            |c: &mut Command| c.mode = Mode::Once(Once { constraints: vec![Pattern::default()], ..Once::default() });
        assert!(matches!(with(once), ProgramError::Constraints { expected: 0, got: 1, .. }));
    }
}
