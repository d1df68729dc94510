//! Problem files: a bilevel problem in TOML, with expressions or with the command of an external
//! program.
//!
//! ```
//! use bilevo_core::problem::{BilevelProblem, Level};
//! use bilevo_problems::file::{self, ProblemFile};
//!
//! let text = r#"
//! name = "toll"
//! [upper]
//! maximize = "t * y1"
//! variables = { t = [0, 10] }
//! subject_to = ["t + y1 <= 12"]
//! [lower]
//! minimize = "(y1 - 8 + t)^2"
//! variables = { y1 = [0, 10] }
//! "#;
//! let ProblemFile::Expressions(toll) = file::parse("toll.toml", text, &mut file::no_tables)? else { unreachable!() };
//! let mut constraints = Vec::new();
//! let income = toll.evaluate(Level::Upper, &[4.0], &[3.0], &mut constraints);
//! assert_eq!((income, constraints), (Ok(12.0), vec![-5.0]));
//! # Ok::<(), file::FileError>(())
//! ```
//!
//! A file is read in the order in which names may depend on one another: `data` (`[parameters]` and `[data]`, in
//! the order of the file), `variables`, then `levels` (`[definitions]`, objectives and constraints) or `program`.
//! Every mistake becomes a [`Diagnostic`] with its position; as many as possible are collected.

mod check;
mod data;
mod depends;
mod diagnostic;
mod general;
mod labels;
mod levels;
mod meaning;
mod mps;
mod open;
mod problem;
mod program;
mod reader;
mod reading;
mod tables;
mod variables;

pub use check::{Evaluate, Rounding, about_equations, check, rounding};
pub use diagnostic::{Diagnostic, FileError, Severity};
pub use labels::Labels;
pub use open::{MAX_FILE, MAX_TABLE, no_tables, read, read_as, text_of};
pub use problem::ExpressionProblem;
pub use reading::{Goal, Reading};

use crate::expression::Definition;
use crate::expression::scope::Scope;
use crate::program::ProgramSpec;
use bilevo_core::problem::{BilevelProblem, Level, LevelSpec, ProblemSpec};
use diagnostic::Document;
pub(crate) use general::KnownPoint;
use general::{general, problem_name};
use levels::{Dependence, Place};
use meaning::Hash;
use problem::Compiled;
use reader::{Field, Reader, fields};
use tables::tables;
use toml::de::DeTable;
use variables::Variables;

/// A problem file that was understood.
// One exists for each run.
#[allow(clippy::large_enum_variant)]
pub enum ProblemFile {
    /// Objectives and constraints are expressions.
    Expressions(ExpressionProblem),
    /// An external program evaluates them.
    Program {
        /// The program.
        spec: ProgramSpec,
        /// A hash of what the file means, its program's files included.
        hash: String,
        /// Labels for reports.
        labels: Labels,
        /// The text of the file, for messages about it.
        origin: Origin,
    },
}

/// The position of something in a file.
pub struct Origin {
    document: Document,
    place: Place,
}

impl ProblemFile {
    /// Sizes, boxes, constraint counts, best known values.
    pub fn spec(&self) -> &ProblemSpec {
        match self {
            ProblemFile::Expressions(problem) => problem.spec(),
            ProblemFile::Program { spec, .. } => &spec.problem,
        }
    }

    /// A hash of the contents of the file, its tables and its program's files; the same on every machine.
    pub fn hash(&self) -> &str {
        match self {
            ProblemFile::Expressions(problem) => problem.hash(),
            ProblemFile::Program { hash, .. } => hash,
        }
    }

    /// The same problem under another name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        match &mut self {
            ProblemFile::Expressions(problem) => problem.rename(name.into()),
            ProblemFile::Program { spec, .. } => spec.problem.name = name.into(),
        }
        self
    }
}

/// The table of units.
const UNITS: &str = "units";
/// Reads a problem from the text of a file called `name`. `load` gives the text of a CSV table by
/// the name written in the file; see [`read`] for files on disk.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn parse(
    name: &str,
    text: &str,
    load: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<ProblemFile, FileError> {
    parse_and_hash(name, text, load, &Reading::default()).map(|(file, _)| file)
}

/// The problem and its hash, to which files may be added.
fn parse_and_hash(
    name: &str,
    text: &str,
    load: &mut dyn FnMut(&str) -> Result<String, String>,
    reading: &Reading,
) -> Result<(ProblemFile, Hash), FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = Document { name: name.into(), text: text.into() };
    let mut reader = Reader::new(&document, reading);
    if text.len() > MAX_FILE {
        let message = format!("the file has {} bytes, more than {MAX_FILE}", text.len());
        reader.remark(Severity::Error, 0..0, "", message, "put large tables into CSV files under [data]");
        return Err(FileError { diagnostics: reader.remarks });
    }
    let mut hash = None;
    let problem = match DeTable::parse(text) {
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = format!("this is not TOML: {}", error.message());
            reader.remark(Severity::Error, span, "", message, toml_hint(&document, error.span()));
            None
        }
        Ok(table) => {
            let hash = hash.insert(Hash::new(table.get_ref()));
            if *reading != Reading::default() {
                hash.table("read as", &format!("{reading:?}"));
            }
            let mut load = |path: &str| load(path).inspect(|text| hash.table(path, text));
            document_fields(&mut reader, table.get_ref(), &mut load)
        }
    };
    match (problem, hash) {
        (Some(parts), Some(hash)) if !reader.failed() => Ok((parts.finish(hash.digits(), document), hash)),
        _ => {
            reader.remarks.retain(|remark| remark.severity == Severity::Error);
            Err(FileError { diagnostics: reader.remarks })
        }
    }
}

/// The usual cause of a TOML error.
fn toml_hint(document: &Document, span: Option<std::ops::Range<usize>>) -> String {
    let line = span.and_then(|span| document.text.get(..span.start)?.lines().last().map(str::to_string));
    match line {
        Some(line) if line.contains("mize") && !line.contains(['"', '\'']) => "expressions go in quotes".into(),
        _ => "see https://toml.io for the format; texts and expressions go in quotes".into(),
    }
}

/// Everything read, before it becomes a problem.
#[allow(clippy::large_enum_variant)] // there is one
enum Parts {
    Expressions {
        spec: ProblemSpec,
        levels: [Compiled; 2],
        definitions: Vec<Definition>,
        points: Vec<KnownPoint>,
        labels: Labels,
    },
    Program {
        spec: ProgramSpec,
        place: Place,
        labels: Labels,
    },
}

impl Parts {
    fn finish(self, hash: String, document: Document) -> ProblemFile {
        match self {
            Parts::Program { spec, place, labels } => {
                ProblemFile::Program { spec, hash, labels, origin: Origin { document, place } }
            }
            Parts::Expressions { spec, levels, definitions, points, labels } => {
                let problem = ExpressionProblem::new(spec, hash, levels, definitions, document, points);
                ProblemFile::Expressions(problem.labelled(labels))
            }
        }
    }
}

fn document_fields(reader: &mut Reader, table: &DeTable, load: data::Load) -> Option<Parts> {
    let top = fields("", table);
    let find = |key: &str| top.iter().find(|field| field.key == key);
    let tables = tables(reader, &top)?;
    let mut scope = Scope::default();
    // Each may use those above it.
    for field in &top {
        match field.key.as_str() {
            "parameters" => data::parameters(reader, field, &mut scope),
            "data" => data::data(reader, field, &mut scope, load),
            _ => {}
        }
    }
    data::all_are_there(reader, find("parameters"));
    let (upper, upper_fields) = &tables.upper;
    let upper_variables = level_variables(reader, Level::Upper, upper, upper_fields, &mut scope, 0);
    let slot = upper_variables.space.dim();
    let lower_variables = match &tables.lower {
        Some((lower, fields)) => level_variables(reader, Level::Lower, lower, fields, &mut scope, slot),
        None => Variables::default(),
    };
    let level = |variables: &Variables| LevelSpec::new(variables.space.clone());
    let mut spec =
        ProblemSpec::new(problem_name(reader, find("name")), level(&upper_variables), level(&lower_variables));
    let points = general(reader, &top, &scope, &mut spec);
    let labels = Labels { units: labels::units(reader, find(UNITS), &spec), ..Labels::default() };
    if tables.is_program {
        let command = find("command").unwrap_or(upper);
        let place = Place { field: command.path.clone(), span: command.key_span.clone() };
        let spec = program::program(reader, &top, &tables, spec)?;
        return Some(Parts::Program { spec, place, labels });
    }
    let (lower, lower_fields) = tables.lower.as_ref()?;
    let levels = [(*upper, upper_fields), (*lower, lower_fields)];
    let variables = [upper_variables, lower_variables];
    let (spec, levels, definitions) = expression_levels(reader, levels, find("definitions"), scope, spec, variables)?;
    Some(Parts::Expressions { spec, levels, definitions, points, labels })
}

fn level_variables(
    reader: &mut Reader,
    level: Level,
    level_field: &Field,
    fields: &[Field],
    scope: &mut Scope,
    slot: usize,
) -> Variables {
    match fields.iter().find(|field| field.key == "variables") {
        Some(field) => variables::variables(reader, field, level, scope, slot),
        None => {
            let message = format!("the {level} level has no variables");
            reader.key_error(level_field, message, "add `variables = { name = [low, high] }`");
            Variables::default()
        }
    }
}

fn expression_levels(
    reader: &mut Reader,
    [upper, lower]: [(&Field, &Vec<Field>); 2],
    definitions: Option<&Field>,
    mut scope: Scope,
    mut spec: ProblemSpec,
    variables: [Variables; 2],
) -> Option<(ProblemSpec, [Compiled; 2], Vec<Definition>)> {
    let dims = variables.each_ref().map(|level| level.space.dim());
    let dim = dims[0] + dims[1];
    let definitions = definitions.map(|field| levels::definitions(reader, field, &mut scope, dim)).unwrap_or_default();
    let upper = levels::expressions(reader, Level::Upper, upper.0, upper.1, &scope);
    let lower = levels::expressions(reader, Level::Lower, lower.0, lower.1, &scope);
    // Slots are valid only if every variable could be read.
    if reader.failed() {
        return None;
    }
    let levels = [upper?, lower?];
    for (spec, level) in [&mut spec.upper, &mut spec.lower].into_iter().zip(&levels) {
        spec.direction = level.direction;
        spec.inequalities = level.inequalities.len();
        spec.equalities = level.equalities.len();
    }
    let dependence = Dependence::new(dims[0], dims[1], &definitions);
    let mut compiled = levels.into_iter().zip(variables).map(|(level, variables)| {
        let names = variables.space.names('x');
        let places = variables.spans.into_iter().zip(names).map(|(span, field)| Place { field, span }).collect();
        Compiled::new(level, places, &definitions, &dependence, dim)
    });
    let levels = [compiled.next()?, compiled.next()?];
    drop(compiled);
    Some((spec, levels, definitions))
}
