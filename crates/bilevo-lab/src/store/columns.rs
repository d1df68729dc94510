//! The tables of a store and how a row goes in and out of them.
//!
//! `runs` has one line for each run and readable columns, `traces` its convergence curve, `configs`
//! each config once, `failures` the runs that ended in an error. Unsigned numbers are stored by
//! their bits, NaN as NULL, vectors as little-endian doubles.

use super::RunKey;
use crate::row::RunRow;
use rusqlite::types::{FromSql, FromSqlError, Value, ValueRef};
use rusqlite::{Connection, Row, TransactionBehavior, params, params_from_iter};

/// Each step leads from the format of its index to the next; a new store takes all of them.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE configs (hash TEXT PRIMARY KEY, config TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        problem TEXT NOT NULL, problem_hash TEXT NOT NULL, upper_dim INTEGER NOT NULL, lower_dim INTEGER NOT NULL,
        method TEXT NOT NULL, config_hash TEXT NOT NULL REFERENCES configs (hash), version TEXT NOT NULL,
        seed INTEGER NOT NULL, settings TEXT NOT NULL, x BLOB NOT NULL, y BLOB NOT NULL,
        upper_value REAL, lower_value REAL, upper_violation REAL, lower_violation REAL,
        upper_accuracy REAL, lower_accuracy REAL,
        upper_evals INTEGER NOT NULL, lower_evals INTEGER NOT NULL, refine_lower_evals INTEGER NOT NULL,
        failed_upper INTEGER NOT NULL, failed_lower INTEGER NOT NULL,
        searches_run INTEGER NOT NULL, searches_skipped INTEGER NOT NULL, searches_resampled INTEGER NOT NULL,
        model_accuracy REAL, trainings INTEGER NOT NULL, generations INTEGER NOT NULL, stop TEXT NOT NULL,
        seconds REAL, training_seconds REAL,
        UNIQUE (problem, upper_dim, lower_dim, method, config_hash, seed, version, problem_hash)
    ) STRICT;
    CREATE TABLE traces (run INTEGER PRIMARY KEY REFERENCES runs (id), trace BLOB NOT NULL) STRICT;
    CREATE TABLE failures (
        problem TEXT NOT NULL, problem_hash TEXT NOT NULL, upper_dim INTEGER NOT NULL, lower_dim INTEGER NOT NULL,
        method TEXT NOT NULL, config_hash TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (problem, upper_dim, lower_dim, method, config_hash, seed, version, problem_hash)
    ) STRICT, WITHOUT ROWID;
"];

/// The format written here.
pub(super) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Brings a store up to [`SCHEMA_VERSION`], all steps or none.
pub(super) fn migrate(conn: &mut Connection) -> rusqlite::Result<()> {
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for step in MIGRATIONS.iter().skip(version as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()
}

const INSERT_FAILURE: &str = "
    INSERT OR REPLACE INTO failures (problem, problem_hash, upper_dim, lower_dim, method, config_hash, version, seed, message)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const DELETE_FAILURE: &str = "
    DELETE FROM failures WHERE problem = ?1 AND problem_hash = ?2 AND upper_dim = ?3 AND lower_dim = ?4
        AND method = ?5 AND config_hash = ?6 AND version = ?7 AND seed = ?8";
pub(super) const SELECT_KEYS: &str =
    "SELECT problem, problem_hash, upper_dim, lower_dim, method, config_hash, version, seed FROM runs";
pub(super) const SELECT_FAILURES: &str = "
    SELECT problem, problem_hash, upper_dim, lower_dim, method, config_hash, version, seed, message FROM failures
    ORDER BY problem, upper_dim, lower_dim, method, config_hash, seed, version";
pub(super) const SELECT_ROWS: &str = "
    SELECT problem, problem_hash, upper_dim, lower_dim, method, config_hash, version, seed, settings, x, y,
        upper_value, lower_value, upper_violation, lower_violation, upper_accuracy, lower_accuracy,
        upper_evals, lower_evals, refine_lower_evals, failed_upper, failed_lower,
        searches_run, searches_skipped, searches_resampled, model_accuracy, trainings, generations, stop,
        seconds, training_seconds, config, id
    FROM runs JOIN configs ON config_hash = hash
    ORDER BY problem, upper_dim, lower_dim, method, settings, seed, version, id";
const INSERT_ROW: &str = "
    INSERT OR IGNORE INTO runs (problem, problem_hash, upper_dim, lower_dim, method, config_hash, version, seed, settings, x, y,
        upper_value, lower_value, upper_violation, lower_violation, upper_accuracy, lower_accuracy,
        upper_evals, lower_evals, refine_lower_evals, failed_upper, failed_lower,
        searches_run, searches_skipped, searches_resampled, model_accuracy, trainings, generations, stop,
        seconds, training_seconds)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
        ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)";

/// Writes everything but config and trace; says whether the row is new.
pub(super) fn write_row(conn: &Connection, row: &RunRow) -> rusqlite::Result<bool> {
    let count = |value: u64| value.cast_signed();
    let changed = conn.prepare_cached(INSERT_ROW)?.execute(params![
        row.problem,
        row.problem_hash,
        row.upper_dim as i64,
        row.lower_dim as i64,
        row.method,
        row.config_hash,
        row.version,
        count(row.seed),
        row.settings,
        doubles_to_bytes(&row.x),
        doubles_to_bytes(&row.y),
        row.upper_value,
        row.lower_value,
        row.upper_violation,
        row.lower_violation,
        row.upper_accuracy,
        row.lower_accuracy,
        count(row.upper_evals),
        count(row.lower_evals),
        count(row.refine_lower_evals),
        count(row.failed_upper),
        count(row.failed_lower),
        count(row.searches_run),
        count(row.searches_skipped),
        count(row.searches_resampled),
        row.model_accuracy,
        count(row.trainings),
        count(row.generations),
        row.stop,
        row.seconds,
        row.training_seconds,
    ])?;
    Ok(changed == 1)
}

/// Notes that a run failed.
pub(super) fn note_failure(conn: &Connection, key: &RunKey, message: &str) -> rusqlite::Result<()> {
    let values = key_values(key).into_iter().chain([message.to_string().into()]);
    conn.prepare_cached(INSERT_FAILURE)?.execute(params_from_iter(values)).map(|_| ())
}

/// Removes that note.
pub(super) fn forget_failure(conn: &Connection, key: &RunKey) -> rusqlite::Result<()> {
    conn.prepare_cached(DELETE_FAILURE)?.execute(params_from_iter(key_values(key))).map(|_| ())
}

fn key_values(key: &RunKey) -> [Value; 8] {
    [
        key.problem.clone().into(),
        key.problem_hash.clone().into(),
        (key.upper_dim as i64).into(),
        (key.lower_dim as i64).into(),
        key.method.clone().into(),
        key.config_hash.clone().into(),
        key.version.clone().into(),
        key.seed.cast_signed().into(),
    ]
}

/// Reads the columns of a key, which come first in every query.
pub(super) fn read_key(row: &Row<'_>) -> rusqlite::Result<RunKey> {
    let mut cells = Cells { row, next: 0 };
    Ok(RunKey {
        problem: cells.take()?,
        problem_hash: cells.take()?,
        upper_dim: cells.count()? as usize,
        lower_dim: cells.count()? as usize,
        method: cells.take()?,
        config_hash: cells.take()?,
        version: cells.take()?,
        seed: cells.count()?,
    })
}

/// Reads a line of [`SELECT_ROWS`]: its id and the row without trace.
pub(super) fn read_row(row: &Row<'_>) -> rusqlite::Result<(i64, RunRow)> {
    let mut cells = Cells { row, next: 0 };
    let run = RunRow {
        problem: cells.take()?,
        problem_hash: cells.take()?,
        upper_dim: cells.count()? as usize,
        lower_dim: cells.count()? as usize,
        method: cells.take()?,
        config_hash: cells.take()?,
        version: cells.take()?,
        seed: cells.count()?,
        settings: cells.take()?,
        x: cells.take::<Doubles>()?.0,
        y: cells.take::<Doubles>()?.0,
        upper_value: cells.real()?,
        lower_value: cells.real()?,
        upper_violation: cells.real()?,
        lower_violation: cells.real()?,
        upper_accuracy: cells.take()?,
        lower_accuracy: cells.take()?,
        upper_evals: cells.count()?,
        lower_evals: cells.count()?,
        refine_lower_evals: cells.count()?,
        failed_upper: cells.count()?,
        failed_lower: cells.count()?,
        searches_run: cells.count()?,
        searches_skipped: cells.count()?,
        searches_resampled: cells.count()?,
        model_accuracy: cells.take()?,
        trainings: cells.count()?,
        generations: cells.count()?,
        stop: cells.take()?,
        seconds: cells.real()?,
        training_seconds: cells.real()?,
        config: cells.take()?,
        trace: Vec::new(),
    };
    Ok((cells.take()?, run))
}

/// The cells of a line, from left to right.
struct Cells<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl Cells<'_> {
    fn take<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }

    fn count(&mut self) -> rusqlite::Result<u64> {
        self.take::<i64>().map(i64::cast_unsigned)
    }

    fn real(&mut self) -> rusqlite::Result<f64> {
        self.take::<Option<f64>>().map(|value| value.unwrap_or(f64::NAN))
    }
}

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

fn doubles_to_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}
