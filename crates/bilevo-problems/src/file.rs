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
mod labels;
mod levels;
mod meaning;
mod mps;
mod open;
mod problem;
mod program;
mod reader;
mod reading;
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
use bilevo_core::config::{PositionKind, nearest};
use bilevo_core::problem::{BestKnown, BilevelProblem, Budget, Level, LevelSpec, LowerConstraints, ProblemSpec};
use diagnostic::Document;
use levels::{Dependence, Place};
use meaning::Hash;
use problem::Compiled;
use reader::{Field, Reader, fields};
use std::path::PathBuf;
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
        /// Words for reports.
        labels: Labels,
        /// The text of the file, for remarks about it.
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

    /// A hash of the contents of the file, its tables and the files of its program, the same on every machine.
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

/// A known optimum with its point, if the file names one.
pub(crate) struct KnownPoint {
    pub(crate) best: BestKnown,
    pub(crate) at: Option<(Vec<f64>, Vec<f64>)>,
    pub(crate) place: Place,
}

/// The table of units.
const UNITS: &str = "units";
/// Keys that only people read.
const NOTES: [&str; 8] = ["about", "description", "source", "reference", "url", "notes", "family", "license"];
const GENERAL: [&str; 14] = [
    "name",
    UNITS,
    "upper",
    "lower",
    "follower",
    "parameters",
    "data",
    "best_known",
    "budget",
    "equality_tolerance",
    "position",
    "position_tolerance",
    "lower_constraints",
    "definitions",
];
const EXPRESSION_LEVEL: [&str; 4] = ["minimize", "maximize", "variables", "subject_to"];

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

/// The problem, and its hash, to which files may be added.
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

/// What often lies behind a TOML error.
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

/// The keys of a file outside of its tables.
fn known_keys(is_program: bool) -> Vec<&'static str> {
    GENERAL.iter().chain(&NOTES).chain(if is_program { &program::KEYS[..] } else { &[] }).copied().collect()
}

/// A table of the file with its fields.
type Table<'f, 'd> = (&'f Field<'d>, Vec<Field<'d>>);

/// The tables of the levels: the leader's, and those of the follower that there are.
struct Tables<'f, 'd> {
    upper: Table<'f, 'd>,
    /// The follower as a level that is searched.
    lower: Option<Table<'f, 'd>>,
    /// A program that answers for the follower.
    follower: Option<Table<'f, 'd>>,
    is_program: bool,
}

/// Finds the tables of the levels and refuses unknown keys.
fn tables<'f, 'd>(reader: &mut Reader, top: &'f [Field<'d>]) -> Option<Tables<'f, 'd>> {
    let find = |key: &str| top.iter().find(|field| field.key == key);
    let (Some(upper), true) = (find("upper"), find("lower").or(find("follower")).is_some()) else {
        missing_levels(reader, top);
        return None;
    };
    let mut table = |key: &str, hint: &str| match find(key) {
        Some(field) => reader.table(field, hint).map(|fields| Some((field, fields))),
        None => Some(None),
    };
    let upper_fields = table("upper", "[upper] holds the leader's objective and variables")?.map(|table| table.1)?;
    let lower = table("lower", "[lower] holds the follower's objective and variables")?;
    let hint = "[follower] says that a program answers for the follower; it may have a `command` of its own";
    let follower = table("follower", hint)?;
    let levels = [Some(&upper_fields), lower.as_ref().map(|lower| &lower.1)];
    let all = levels.iter().flatten().copied().chain(follower.as_ref().map(|follower| &follower.1)).flatten();
    let is_program = top.iter().chain(all).any(|field| field.key == "command");
    reader.unknown_keys(top, &known_keys(is_program));
    for fields in levels.iter().flatten() {
        reader.unknown_keys(fields, if is_program { &program::LEVEL_KEYS } else { &EXPRESSION_LEVEL });
    }
    if let Some((field, fields)) = &follower {
        if !is_program {
            let hint = "formulas of the follower stand under [lower]; a program that answers for it needs `command`";
            reader.key_error(field, "[follower] needs a program", hint);
            return None;
        }
        reader.unknown_keys(fields, &program::FOLLOWER_KEYS);
    }
    Some(Tables { upper: (upper, upper_fields), lower, follower, is_program })
}

fn document_fields(reader: &mut Reader, table: &DeTable, load: data::Load) -> Option<Parts> {
    let top = fields("", table);
    let find = |key: &str| top.iter().find(|field| field.key == key);
    let tables = tables(reader, &top)?;
    let mut scope = Scope::default();
    // Each may use what stands above it.
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

/// Says which level is not there. One whose heading is misspelt is, under another name.
fn missing_levels(reader: &mut Reader, top: &[Field]) {
    let known = known_keys(true);
    reader.unknown_keys(top, &known);
    let meant: Vec<_> = top.iter().filter_map(|field| nearest(&field.key, known.iter().copied())).collect();
    let levels: [&[&str]; 2] = [&["upper"], &["lower", "follower"]];
    let missing = levels.iter().find(|names| !meant.iter().any(|meant| names.contains(&meant.as_str())));
    if let Some([missing, ..]) = missing {
        let whole = 0..reader.document.text.lines().next().map_or(0, str::len);
        let hint = "a problem has the leader's level [upper] and the follower's [lower]";
        reader.remark(Severity::Error, whole, "", format!("[{missing}] is missing"), hint);
    }
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
    // Slots are only sound when every variable could be read.
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

/// The name, or that of the file without its ending.
fn problem_name(reader: &mut Reader, field: Option<&Field>) -> String {
    const MAX_NAME: usize = 100;
    let stem = || PathBuf::from(&reader.document.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let Some(field) = field else { return stem().unwrap_or_else(|| "problem".into()) };
    let Some(name) = reader.text(field, "a name is one line of text") else { return String::new() };
    if name.trim().is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        reader.error(field, "this cannot be a name", format!("one line of 1 to {MAX_NAME} characters"));
    }
    name.into()
}

const POSITION_HINT: &str = "among answers equally good for the follower, `optimistic` takes the one best for the \
                             leader, `pessimistic` the worst; leave it out if there are no ties";

/// Fields that are the same for expressions and programs; returns the known optima.
fn general(reader: &mut Reader, top: &[Field], scope: &Scope, spec: &mut ProblemSpec) -> Vec<KnownPoint> {
    let mut points = Vec::new();
    for field in top {
        match field.key.as_str() {
            "equality_tolerance" => match reader.known(field, scope, &[]) {
                Some(tolerance) if tolerance >= 0.0 => spec.equality_tolerance = tolerance,
                Some(_) => reader.error(field, "the tolerance is negative", "equations hold within it; 1e-6 is usual"),
                None => {}
            },
            "lower_constraints" => match reader.text(field, "leave it out, or write \"shared\"") {
                Some("added") => spec.lower_constraints = LowerConstraints::Added,
                Some("shared") => spec.lower_constraints = LowerConstraints::Shared,
                Some(_) => reader.error(
                    field,
                    "neither `added` nor `shared`",
                    "`shared` if the upper level lists the lower constraints too; otherwise leave it out",
                ),
                None => {}
            },
            "position" => match reader.text(field, POSITION_HINT) {
                Some("optimistic") => spec.position = PositionKind::Optimistic,
                Some("pessimistic") => spec.position = PositionKind::Pessimistic,
                Some(_) => reader.error(field, "neither `optimistic` nor `pessimistic`", POSITION_HINT),
                None => {}
            },
            "position_tolerance" => match reader.known(field, scope, &[]) {
                Some(tolerance) if tolerance > 0.0 => spec.position_tolerance = Some(tolerance),
                Some(_) => reader.error(
                    field,
                    "the tolerance is not above 0",
                    "answers whose f differs by no more, relative to max(1, |f|), are equally good; 1e-4 is usual",
                ),
                None => {}
            },
            "budget" => spec.budget = budget(reader, field, spec),
            "best_known" => match field.elements() {
                Some(list) => points.extend(list.iter().filter_map(|one| best_known(reader, one, scope, spec))),
                None => points.extend(best_known(reader, field, scope, spec)),
            },
            _ => {}
        }
    }
    spec.best_known = points.iter().map(|point: &KnownPoint| point.best).collect();
    points
}

fn budget(reader: &mut Reader, field: &Field, spec: &ProblemSpec) -> Option<Budget> {
    let mut budget = Budget::for_dim(spec.upper.dim() + spec.lower.dim());
    let fields = reader.table(field, "[budget] holds numbers of evaluations")?;
    reader.unknown_keys(&fields, &["upper_evals", "upper_window", "lower_evals", "lower_window"]);
    for field in &fields {
        let Some(value) = reader.whole(field, 1) else { continue };
        match field.key.as_str() {
            "upper_evals" => budget.upper_evals = value,
            "upper_window" => budget.upper_window = value,
            "lower_evals" => budget.lower_evals = value,
            "lower_window" => budget.lower_window = value,
            _ => {}
        }
    }
    Some(budget)
}

fn best_known(reader: &mut Reader, field: &Field, scope: &Scope, spec: &ProblemSpec) -> Option<KnownPoint> {
    let fields = reader.table(field, "[best_known] holds `upper = F` and, if known, `lower = f`")?;
    reader.unknown_keys(&fields, &["upper", "lower", "x", "y"]);
    let find = |key: &str| fields.iter().find(|field| field.key == key);
    let Some(upper) = find("upper") else {
        reader.error(field, "`upper` is missing", "add the best known F: `upper = 16.0`");
        return None;
    };
    let best = BestKnown {
        upper: reader.known(upper, scope, &[])?,
        lower: match find("lower") {
            Some(lower) => Some(reader.known(lower, scope, &[])?),
            None => None,
        },
    };
    let mut point = |key: &str, dim: usize| -> Option<Vec<f64>> {
        let field = find(key)?;
        let list = match field.elements() {
            Some(list) => list,
            None => vec![field.clone()],
        };
        let values = list.iter().map(|one| reader.known(one, scope, &[])).collect::<Option<Vec<_>>>()?;
        if values.len() != dim && dim > 0 {
            reader.error(
                field,
                format!("{} numbers for {dim} variables", values.len()),
                "one number for each variable, in the order of the file",
            );
        }
        Some(values)
    };
    let (x, y) = (point("x", spec.upper.dim()), point("y", spec.lower.dim()));
    Some(KnownPoint { best, at: x.zip(y), place: Place { field: field.path.clone(), span: field.span.clone() } })
}
