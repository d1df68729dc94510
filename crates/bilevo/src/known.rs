//! Known evaluations: recorded in one run, used in the next.
//!
//! A table has a row for each point (x, y): the variables of both levels, then `F`, the upper constraints `G1`,
//! `G2`, …, `f` and the lower constraints `g1`, `g2`, …, all as the problem returns them, inequalities before
//! equalities. A cell is empty if something was not evaluated. In the last column, `answer`, 1 marks the point
//! that the run returned.
//!
//! ```
//! use bilevo::known::Recorder;
//! use bilevo::{Solver, source};
//! let smd1 = source::open("smd1", None)?;
//! let mut recorder = Recorder::default();
//! Solver::new(&*smd1).method("bl-cma-es").seed(1).max_evals(500).observer(&mut recorder).run()?;
//! let again = Solver::new(&*smd1).method("bl-cma-es").known(recorder.rows).seed(2).max_evals(500).run()?;
//! assert!(again.notice.is_some_and(|words| words.contains("begins at the best of")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::files::{self, FileError, Kind};
use crate::observe::{Event, Observer};
use bilevo_core::batch::{Batch, Replies};
pub use bilevo_core::engine::{Evaluation, KnownError, Recalled};
use bilevo_core::problem::{Level, ProblemSpec};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The column that marks the answer of a run.
const ANSWER: &str = "answer";

/// How to recognise tables of evaluations: their first line has names, among them F or f.
const KIND: Kind = Kind { name: "table", description: "a table of evaluations", is_ours };

fn is_ours(start: &[u8]) -> bool {
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.split(|byte| *byte == b',').any(|name| matches!(name.trim_ascii(), b"F" | b"f"))
}

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is wrong.
    #[error("the known evaluations in `{path}` cannot be used: {message}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        message: String,
    },
}

/// How a table was used, as text: one line with its code for each notice.
pub fn words(recalled: &Recalled, given: usize, method: &str) -> Vec<String> {
    let Recalled { points, outside, contradictory, start_only } = *recalled;
    let mut words = Vec::new();
    if outside > 0 {
        words.push(format!("[W201] {outside} of {given} known evaluations lie outside the box and are ignored"));
    }
    if contradictory > 0 {
        words.push(format!(
            "[W202] {contradictory} of {points} known points have several values that differ; the last one counts"
        ));
    }
    if start_only && points > 0 {
        words.push(format!(
            "[W203] {method} begins at the best of {points} known points and makes no other use of them"
        ));
    }
    words
}

/// Records every evaluation of a run: an observer.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// A row for each point, in the order of their first evaluation.
    pub rows: Vec<Evaluation>,
    /// Maximum number of rows; later points are not recorded.
    most: usize,
    places: HashMap<Vec<u64>, usize>,
    spec: Option<ProblemSpec>,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder::up_to(usize::MAX)
    }
}

impl Recorder {
    /// Records at most this many points.
    pub fn up_to(most: usize) -> Self {
        Recorder { rows: Vec::new(), most, places: HashMap::new(), spec: None }
    }

    /// Records the answers to a batch of a problem.
    pub fn record(&mut self, spec: &ProblemSpec, batch: &Batch, replies: &Replies) {
        for (index, outcome) in replies.outcomes().iter().enumerate() {
            let given = replies.answers().given.get(index);
            let (x, y) = (batch.x(index), given.map_or_else(|| batch.y(index), |answer| &answer.y));
            // A decision that the follower's own solver did not answer has no y; its f may be unknown.
            if outcome.is_failed() && (y.is_empty() || given.is_none()) {
                continue;
            }
            let Some(row) = self.row(x, y) else { continue };
            let value = spec.level(batch.level()).direction.flip(outcome.value);
            let values = value.is_finite().then(|| (value, replies.constraints(index).to_vec()));
            match batch.level() {
                Level::Upper => row.upper = values,
                Level::Lower => row.lower = values,
            }
        }
    }

    /// The row of a point; `None` if there are too many.
    fn row(&mut self, x: &[f64], y: &[f64]) -> Option<&mut Evaluation> {
        let key = key(x, y);
        let (rows, places) = (&mut self.rows, &mut self.places);
        let full = rows.len() >= self.most;
        let at = match places.get(&key) {
            Some(at) => *at,
            None if full => return None,
            None => {
                places.insert(key, rows.len());
                rows.push(Evaluation { x: x.to_vec(), y: y.to_vec(), ..Evaluation::default() });
                rows.len() - 1
            }
        };
        rows.get_mut(at)
    }
}

impl Observer for Recorder {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Started { engine } => self.spec = Some(engine.spec().clone()),
            Event::Finished { result } => {
                let at = result.x().as_ref().zip(result.y().as_ref()).and_then(|(x, y)| self.places.get(&key(x, y)));
                let at = at.copied();
                // A run may continue after its end, and end elsewhere.
                self.rows.iter_mut().enumerate().for_each(|(i, row)| row.is_answer = at == Some(i));
            }
            Event::BatchDone { batch, replies, .. } => {
                if let Some(spec) = self.spec.take() {
                    self.record(&spec, batch, replies);
                    self.spec = Some(spec);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn key(x: &[f64], y: &[f64]) -> Vec<u64> {
    x.iter().chain(y).map(|v| v.to_bits()).collect()
}

/// The column names of a problem's table; `answers` are those of y if only the follower's own solver knows its
/// length.
fn columns(spec: &ProblemSpec, answers: usize) -> [Vec<String>; 4] {
    let values = |name: &str, level: Level| -> Vec<String> {
        let constraint = |i: usize| if level == Level::Upper { format!("G{i}") } else { format!("g{i}") };
        std::iter::once(name.to_string()).chain((1..=spec.level(level).constraints()).map(constraint)).collect()
    };
    let y =
        if spec.lower.dim() == 0 { (1..=answers).map(|i| format!("y{i}")).collect() } else { spec.names(Level::Lower) };
    [spec.names(Level::Upper), y, values("F", Level::Upper), values("f", Level::Lower)]
}

/// Checks that a table can be written to a file.
///
/// # Errors
/// See [`FileError`].
pub fn prepare(path: &Path) -> Result<(), FileError> {
    files::prepare(path, &KIND)
}

/// Writes a table of evaluations.
///
/// # Errors
/// See [`FileError`].
pub fn write(path: &Path, spec: &ProblemSpec, rows: &[Evaluation]) -> Result<(), FileError> {
    files::write(path, &KIND, |out| {
        let most = rows.iter().map(|row| row.y.len()).max().unwrap_or(0);
        let [x, y, upper, lower] = columns(spec, most);
        let widths = [x.len(), y.len(), upper.len(), lower.len()];
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record([x, y, upper, lower, vec![ANSWER.into()]].concat()).map_err(std::io::Error::other)?;
        for row in rows {
            let values =
                |values: Option<&(f64, Vec<f64>)>| values.map_or_else(Vec::new, |v| [&[v.0], &v.1[..]].concat());
            let parts = [row.x.clone(), row.y.clone(), values(row.upper.as_ref()), values(row.lower.as_ref())];
            for (part, width) in parts.iter().zip(widths) {
                for index in 0..width {
                    csv.write_field(part.get(index).map_or_else(String::new, |v| format!("{v:?}")))?;
                }
            }
            csv.write_field(if row.is_answer { "1" } else { "" })?;
            csv.write_record(None::<&[u8]>)?;
        }
        csv.flush()
    })
}

/// Reads a table of evaluations.
///
/// # Errors
/// The file cannot be read, columns are missing, or a cell is not a number.
pub fn read(path: &Path, spec: &ProblemSpec) -> Result<Vec<Evaluation>, TableError> {
    let file = files::open(path, &KIND)?;
    let wrong = |message: String| TableError::Content { path: path.into(), message };
    let mut csv = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(file);
    let names: Vec<String> = csv.headers().map_err(|e| wrong(e.to_string()))?.iter().map(String::from).collect();
    let layout = Layout::new(spec, &names).map_err(wrong)?;
    let mut rows = Vec::new();
    for (index, record) in csv.records().enumerate() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        let cell = |column: &usize| match record.get(*column).unwrap_or_default() {
            "" => Ok(f64::NAN),
            text => text.parse::<f64>().map_err(|_| wrong(format!("`{text}` in row {} is not a number", index + 1))),
        };
        let all = |columns: &[usize]| columns.iter().map(cell).collect::<Result<Vec<f64>, TableError>>();
        let row = layout.row(all(&layout.x)?, all(&layout.y)?, all(&layout.upper)?, all(&layout.lower)?);
        let is_answer = layout.answer.map_or(Ok(0.0), |column| cell(&column))? == 1.0;
        rows.push(Evaluation { is_answer, ..row });
    }
    Ok(rows)
}

/// Which column holds what.
struct Layout {
    x: Vec<usize>,
    y: Vec<usize>,
    upper: Vec<usize>,
    lower: Vec<usize>,
    answer: Option<usize>,
    oracle: bool,
}

impl Layout {
    fn new(spec: &ProblemSpec, names: &[String]) -> Result<Self, String> {
        let [x, y, upper, lower] = columns(spec, names.len());
        let of = |name: &String| names.iter().position(|n| n == name);
        let needed = |wanted: &[String]| -> Result<Vec<usize>, String> {
            let there = names.join(", ");
            let missing = |name: &String| format!("there is no column `{name}`\nhint: its columns are {there}");
            wanted.iter().map(|name| of(name).ok_or_else(|| missing(name))).collect()
        };
        let optional = |wanted: &[String]| if of(&wanted[0]).is_some() { needed(wanted) } else { Ok(Vec::new()) };
        let oracle = spec.lower.dim() == 0;
        let y = if oracle { y.iter().map_while(of).collect() } else { needed(&y)? };
        let answer = of(&ANSWER.to_string());
        let (upper, lower) = (optional(&upper)?, optional(&lower)?);
        let layout = Layout { x: needed(&x)?, y, upper, lower, answer, oracle };
        if layout.upper.is_empty() && layout.lower.is_empty() {
            return Err("it has neither a column `F` nor a column `f`\nhint: the columns with the values must be called `F` and `f`".into());
        }
        Ok(layout)
    }

    /// A row; a cell that is not a number was not evaluated.
    fn row(&self, x: Vec<f64>, mut y: Vec<f64>, upper: Vec<f64>, lower: Vec<f64>) -> Evaluation {
        if self.oracle {
            y.truncate(y.iter().rposition(|v| !v.is_nan()).map_or(0, |last| last + 1));
        }
        let values = |row: Vec<f64>| row.split_first().filter(|(v, _)| !v.is_nan()).map(|(v, c)| (*v, c.to_vec()));
        Evaluation { x, y, upper: values(upper), lower: values(lower), is_answer: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilevo_core::problem::LevelSpec;

    fn spec() -> ProblemSpec {
        let level = || LevelSpec::boxed(vec![(0.0, 1.0)]);
        ProblemSpec::new("two", level().with_inequalities(1), level())
    }

    #[test]
    fn a_table_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.csv");
        let rows = vec![
            Evaluation { x: vec![0.1], y: vec![0.2], upper: Some((1.0 / 3.0, vec![-2e-17])), ..Evaluation::default() },
            Evaluation { x: vec![0.3], y: vec![0.4], upper: None, lower: Some((-5e300, vec![])), is_answer: true },
        ];
        write(&path, &spec(), &rows).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().next(), Some("x1,y1,F,G1,f,answer"));
        assert_eq!(read(&path, &spec()).unwrap(), rows);
        write(&path, &spec(), &rows[..1]).unwrap();
        assert_eq!(read(&path, &spec()).unwrap(), rows[..1], "one of its own is replaced");
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.csv");
        for (text, words) in [
            ("x1,F,G1\n0,1,2\n", "there is no column `y1`\nhint: its columns are x1, F, G1"),
            ("x1,y1,F\n0,1,2\n", "there is no column `G1`"),
            ("x1,y1\n0,1\n", "neither a column `F` nor a column `f`"),
            ("x1,y1,f\n0,1,2\n0,one,2\n", "`one` in row 2 is not a number"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path, &spec()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        std::fs::write(&path, "my diary\n").unwrap();
        assert!(matches!(write(&path, &spec(), &[]), Err(FileError::Foreign { .. })));
    }
}
