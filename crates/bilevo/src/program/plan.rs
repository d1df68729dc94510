//! A command of a level, ready for use: where the program is, what its placeholders mean, and how its output is read.

use super::pattern::Finder;
use super::protocol::{Answer, bad};
use super::shell;
use super::template::{Names, Template, Values};
use bilevo_core::printable::{printable, shorten};
use bilevo_core::problem::{Failure, Level};
use bilevo_problems::program::{Command, Mode, Once, ProgramSpec};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A command and how its program is asked.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) program: PathBuf,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) asking: Asking,
}

/// How a program receives its points.
#[derive(Debug)]
pub(super) enum Asking {
    /// Line by line, with at most this many points in each.
    Lines { arguments: Vec<String>, batch: usize },
    /// Started for each point.
    Once(OncePlan),
}

/// A program that is started for each point.
#[derive(Debug)]
pub(super) struct OncePlan {
    arguments: Vec<Template>,
    inputs: Vec<(PathBuf, Template)>,
    output: Option<Template>,
    value: Finder,
    constraints: Vec<Finder>,
    own_folder: bool,
}

/// Maximum size of an answer in bytes.
pub(super) const OUTPUT_LIMIT: usize = 16 * 1024 * 1024;

impl Plan {
    /// # Errors
    /// What cannot be used, in words.
    pub(super) fn new(spec: &ProgramSpec, command: &Command) -> Result<Self, String> {
        let [upper, lower] = [Level::Upper, Level::Lower].map(|level| spec.problem.names(level));
        let names = Names { upper: &upper, lower: &lower };
        let Command { command, environment, mode } = command;
        let [program, arguments @ ..] = &command[..] else { return Err("there is no command".into()) };
        let asking = match mode {
            Mode::Lines { batch } => Asking::Lines { arguments: arguments.to_vec(), batch: *batch },
            Mode::Once(once) => Asking::Once(OncePlan::new(once, command, names)?),
        };
        // With a slash, the path is relative to the problem file; otherwise the system searches for it.
        let program = if program.contains('/') { spec.folder.join(program) } else { program.into() };
        Ok(Plan { program, environment: environment.clone(), asking })
    }

    /// The maximum number of points that the program takes at once.
    pub(super) fn batch(&self) -> usize {
        match &self.asking {
            Asking::Lines { batch, .. } => *batch,
            Asking::Once(_) => 1,
        }
    }

    /// Whether its evaluations need folders.
    pub(super) fn needs_folder(&self) -> bool {
        matches!(&self.asking, Asking::Once(once) if once.needs_folder())
    }
}

impl OncePlan {
    fn new(once: &Once, command: &[String], names: Names<'_>) -> Result<Self, String> {
        let template = |what: &str, text: &str, is_script: bool| {
            let made = if is_script { Template::script(text, names) } else { Template::new(text, names) };
            made.map_err(|error| format!("{what}: {error}"))
        };
        let argument = |(at, text): (usize, &String)| template("command", text, shell::is_script(command, at));
        let finder = |what: String, pattern| Finder::new(pattern).map_err(|error| format!("{what}: {error}"));
        let mut inputs = Vec::new();
        for input in &once.inputs {
            let file = PathBuf::from(&input.file);
            if input.file.is_empty() || !file.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(format!(
                    "the input file `{}` is not in the evaluation's folder\nhint: a plain name, without `..` or a leading slash",
                    input.file
                ));
            }
            inputs.push((file, template(&input.file, &input.template, shell::is_script_file(&input.template))?));
        }
        let constraint = |(index, pattern)| finder(format!("pattern of constraint {index}"), pattern);
        let plan = OncePlan {
            arguments: command.iter().enumerate().skip(1).map(argument).collect::<Result<_, _>>()?,
            output: once.output.as_deref().map(|text| template("output", text, false)).transpose()?,
            value: finder("pattern of the value".into(), &once.value)?,
            constraints: once.constraints.iter().enumerate().map(constraint).collect::<Result<_, _>>()?,
            own_folder: once.own_folder,
            inputs,
        };
        let names_file = |template: &Template| template.names_file();
        if plan.inputs.is_empty() && plan.arguments.iter().chain(&plan.output).any(names_file) {
            return Err("`{file}` stands for the first input file, but there is none\nhint: add an input file".into());
        }
        Ok(plan)
    }

    fn needs_folder(&self) -> bool {
        let named = self.arguments.iter().chain(&self.output).any(Template::needs_folder);
        named || self.own_folder || self.output.is_some() || !self.inputs.is_empty()
    }

    /// The first input file, relative to the evaluation's folder.
    pub(super) fn first_input(&self) -> &Path {
        self.inputs.first().map_or(Path::new(""), |(file, _)| file)
    }

    /// The folder in which the program runs.
    pub(super) fn run_in<'a>(&self, values: &Values<'a>) -> &'a Path {
        if self.own_folder { values.folder } else { values.home }
    }

    /// Writes the input files and returns the arguments.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn prepare(&self, values: &Values<'_>) -> io::Result<Vec<String>> {
        for (file, template) in &self.inputs {
            let path = values.folder.join(file);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, template.fill(values))?;
        }
        Ok(self.arguments.iter().map(|argument| argument.fill(values)).collect())
    }

    /// Reads the answer of a program that ended normally.
    ///
    /// # Errors
    /// There is none, or not all of it.
    pub(super) fn answer(&self, stdout: &[u8], values: &Values<'_>) -> Result<Answer, Failure> {
        let (text, place) = match &self.output {
            None => (stdout.to_vec(), "stdout".to_string()),
            Some(output) => {
                let path = values.folder.join(output.fill(values));
                let text = read_file(&path).map_err(|error| {
                    bad(format!("the program wrote no answer to `{}`: {error}", output.fill(values)))
                })?;
                (text, format!("`{}`", output.fill(values)))
            }
        };
        let text = String::from_utf8_lossy(&text);
        let find = |finder: &Finder| {
            finder.find(&text).map_err(|error| {
                let (start, more) = (shorten(text.trim(), 200), "; it reads:\n");
                bad(format!("in {place}, {error}{more}{}", printable(&start)))
            })
        };
        let constraints = self.constraints.iter().map(find).collect::<Result<_, _>>()?;
        Ok(Answer { value: find(&self.value)?, constraints, given: None })
    }
}

/// Reads a regular file that is not too long.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe or a device might never end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut text = Vec::new();
    File::open(path)?.take(OUTPUT_LIMIT as u64 + 1).read_to_end(&mut text)?;
    if text.len() > OUTPUT_LIMIT {
        Err(io::Error::other(format!("it is longer than {OUTPUT_LIMIT} bytes")))
    } else {
        Ok(text)
    }
}
