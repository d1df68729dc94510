//! Stores of format 1, which had one column for each figure of a run: they can be read, or converted to the current
//! format.
//!
//! Whether a run is solved is judged again, because the rule was different then.

use super::FailedRun;
use super::schema::{self, Line};
use crate::row::Row;
use bilevo::{ProblemSpec, RunId, RunResult, problems};
use bilevo_core::solved::{Tolerances, solved};
use rusqlite::types::{FromSql, FromSqlError, ValueRef};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SELECT_RUNS: &str = "
    SELECT id, problem, problem_hash, upper_dim, lower_dim, method, config_hash, version, seed, settings, x, y,
        upper_value, lower_value, upper_violation, lower_violation, upper_accuracy, lower_accuracy,
        upper_evals, lower_evals, refine_lower_evals, failed_upper, failed_lower,
        searches_run, searches_skipped, searches_resampled, model_accuracy, trainings, generations, stop,
        seconds, training_seconds
    FROM runs ORDER BY problem, upper_dim, lower_dim, method, settings, seed, version, id";
const SELECT_IDS: &str = "
    SELECT problem, problem_hash, upper_dim, lower_dim, method, settings, config_hash, version, seed, id FROM runs";
const SELECT_FAILURES: &str = "
    SELECT problem, problem_hash, upper_dim, lower_dim, method, '', config_hash, version, seed, message
    FROM failures ORDER BY problem, upper_dim, lower_dim, method, config_hash, seed, version";

/// Whether the tables are those of format 1; an error of SQLite if not.
pub(super) fn check(conn: &Connection) -> rusqlite::Result<()> {
    [SELECT_RUNS, SELECT_IDS, SELECT_FAILURES, schema::SELECT_TRACE]
        .iter()
        .try_for_each(|sql| conn.prepare(sql).map(|_| ()))
}

/// The identities of all runs with their lines.
pub(super) fn ids(conn: &Connection) -> rusqlite::Result<Vec<(Line, RunId)>> {
    let mut statement = conn.prepare(SELECT_IDS)?;
    statement.query_map([], |row| Ok((row.get(9)?, schema::read_id(row)?)))?.collect()
}

/// The runs that failed.
pub(super) fn failures(conn: &Connection) -> rusqlite::Result<Vec<FailedRun>> {
    let mut statement = conn.prepare(SELECT_FAILURES)?;
    statement.query_map([], |row| Ok(FailedRun { id: schema::read_id(row)?, message: row.get(9)? }))?.collect()
}

/// The selected runs, without traces.
pub(super) fn runs(conn: &Connection, wanted: &dyn Fn(Line) -> bool) -> rusqlite::Result<Vec<(Line, Row)>> {
    let configs = schema::configs(conn)?;
    let mut specs = Specs::default();
    let mut statement = conn.prepare(SELECT_RUNS)?;
    let mut lines = statement.query([])?;
    let mut runs = Vec::new();
    while let Some(row) = lines.next()? {
        let line = row.get(0)?;
        if wanted(line) {
            let result = read_result(row, &mut specs)?;
            let config = configs.get(&result.id.config_hash).cloned().unwrap_or_default();
            runs.push((line, Row { result, config, trace: Vec::new() }));
        }
    }
    Ok(runs)
}

/// Renames the tables of format 1 to make room for those of the current format.
pub(super) fn set_aside(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "ALTER TABLE runs RENAME TO runs_1; ALTER TABLE traces RENAME TO traces_1;
         ALTER TABLE failures RENAME TO failures_1; ALTER TABLE configs RENAME TO configs_1;",
    )
}

/// Fills the current tables from the renamed ones, and removes these.
pub(super) fn bring_over(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch("INSERT INTO configs (hash, config) SELECT hash, config FROM configs_1;")?;
    let mut specs = Specs::default();
    {
        let configs = schema::configs(conn)?;
        let old = SELECT_RUNS.replace("FROM runs", "FROM runs_1");
        let mut statement = conn.prepare(&old)?;
        let mut lines = statement.query([])?;
        let mut trace =
            conn.prepare("INSERT INTO traces (run, trace) SELECT ?1, trace FROM traces_1 WHERE run = ?2")?;
        while let Some(line) = lines.next()? {
            let result = read_result(line, &mut specs)?;
            let config = configs.get(&result.id.config_hash).cloned().unwrap_or_default();
            if let Some(new) = schema::write(conn, &Row { result, config, trace: Vec::new() })? {
                trace.execute(params![new, line.get::<_, Line>(0)?])?;
            }
        }
        let old = SELECT_FAILURES.replace("FROM failures", "FROM failures_1");
        let mut statement = conn.prepare(&old)?;
        let mut lines = statement.query([])?;
        while let Some(line) = lines.next()? {
            schema::note_failure(conn, &schema::read_id(line)?, line.get_ref(9)?.as_str()?)?;
        }
    }
    // Children first: the old tables refer to each other.
    conn.execute_batch("DROP TABLE traces_1; DROP TABLE failures_1; DROP TABLE runs_1; DROP TABLE configs_1;")
}

/// A line of [`SELECT_RUNS`] as a current result, converted through JSON.
fn read_result(row: &rusqlite::Row<'_>, specs: &mut Specs) -> rusqlite::Result<RunResult> {
    let text = |at: usize| row.get::<_, String>(at);
    let count = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let real = |at: usize| row.get::<_, Option<f64>>(at).map(|value| value.filter(|v| v.is_finite()));
    let vector = |at: usize| row.get::<_, Doubles>(at).map(|v| if v.0.is_empty() { Value::Null } else { v.0.into() });
    let stop = text(29)?;
    let accuracy = real(16)?.map(|upper| Ok::<_, rusqlite::Error>(json!({"upper": upper, "lower": real(17)?})));
    let json = json!({
        "problem": text(1)?, "problem_hash": text(2)?, "upper_dim": count(3)?, "lower_dim": count(4)?,
        "method": text(5)?, "config_hash": text(6)?, "version": text(7)?, "seed": count(8)?, "settings": text(9)?,
        "x": vector(10)?, "y": vector(11)?, "F": real(12)?, "f": real(13)?,
        "upper_violation": real(14)?, "lower_violation": real(15)?,
        "accuracy": accuracy.transpose()?, "solved": null,
        // Format 1 did not record whether there was a target that was missed.
        "target_met": (stop == "target").then_some(true),
        "evaluations": {
            "upper": count(18)?, "lower": count(19)?, "refine_lower": count(20)?,
            "failed_upper": count(21)?, "failed_lower": count(22)?, "retried": 0,
        },
        "lower_searches": { "run": count(23)?, "skipped": count(24)?, "resampled": count(25)? },
        "model_accuracy": real(26)?, "trainings": count(27)?, "generations": count(28)?, "stop": stop,
        "seconds": real(30)?.unwrap_or(0.0), "training_seconds": real(31)?.unwrap_or(0.0),
    });
    let mut result: RunResult = serde_json::from_value(json).map_err(|e| schema::unreadable(0, e))?;
    specs.judge(&mut result);
    Ok(result)
}

/// Built-in problems by name and size; format 1 had no others.
#[derive(Default)]
struct Specs(BTreeMap<(String, (usize, usize)), Option<ProblemSpec>>);

impl Specs {
    fn judge(&mut self, result: &mut RunResult) {
        let dims = (result.id.upper_dim, result.id.lower_dim);
        let name = result.id.problem.clone();
        let spec = self.0.entry((name, dims)).or_insert_with_key(|(name, dims)| {
            problems::problem(name, Some(*dims)).ok().map(|problem| problem.spec().clone())
        });
        let Some(spec) = spec.as_ref().filter(|spec| !spec.best_known.is_empty()) else { return };
        let solution = &result.solution;
        result.accuracy = solution.as_ref().and_then(|s| spec.accuracy(s.upper_value, s.lower_value));
        result.solved =
            Some(solution.as_ref().is_some_and(|s| solved(spec, s, true, &Tolerances::default()) == Some(true)));
    }
}

/// Little-endian doubles.
struct Doubles(Vec<f64>);

impl FromSql for Doubles {
    fn column_result(value: ValueRef<'_>) -> Result<Self, FromSqlError> {
        let bytes = value.as_blob()?;
        let (values, []) = bytes.as_chunks::<8>() else {
            return Err(FromSqlError::InvalidBlobSize { expected_size: bytes.len() / 8 * 8, blob_size: bytes.len() });
        };
        Ok(Doubles(values.iter().map(|v| f64::from_le_bytes(*v)).collect()))
    }
}
