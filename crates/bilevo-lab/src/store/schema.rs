//! The tables of a store, and how rows are written and read.
//!
//! `runs` has one line for each run: the columns of its [`RunId`], which identify it, and the result as JSON.
//! `traces` holds its convergence curve, `configs` each config once, and `failures` the runs that ended in an error.
//! Unsigned numbers are stored by their bits.

use super::{FailedRun, format1};
use crate::row::Row;
use bilevo::{RunId, RunResult};
use rusqlite::types::Value;
use rusqlite::{Connection, TransactionBehavior, params, params_from_iter};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The format written here.
pub(super) const FORMAT: u32 = 2;

const TABLES: &str = "
    CREATE TABLE configs (hash TEXT PRIMARY KEY, config TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        problem TEXT NOT NULL, problem_hash TEXT NOT NULL, upper_dim INTEGER NOT NULL, lower_dim INTEGER NOT NULL,
        method TEXT NOT NULL, settings TEXT NOT NULL, config_hash TEXT NOT NULL, version TEXT NOT NULL,
        seed INTEGER NOT NULL, result TEXT NOT NULL,
        UNIQUE (problem, upper_dim, lower_dim, method, settings, seed, version, config_hash, problem_hash)
    ) STRICT;
    CREATE TABLE traces (run INTEGER PRIMARY KEY, trace BLOB NOT NULL) STRICT;
    CREATE TABLE failures (
        problem TEXT NOT NULL, problem_hash TEXT NOT NULL, upper_dim INTEGER NOT NULL, lower_dim INTEGER NOT NULL,
        method TEXT NOT NULL, settings TEXT NOT NULL, config_hash TEXT NOT NULL, version TEXT NOT NULL,
        seed INTEGER NOT NULL, message TEXT NOT NULL,
        PRIMARY KEY (problem, upper_dim, lower_dim, method, settings, seed, version, config_hash, problem_hash)
    ) STRICT, WITHOUT ROWID;
";

/// Creates the tables of a new store, or updates an older store to [`FORMAT`]; all or nothing.
pub(super) fn prepare(conn: &mut Connection) -> rusqlite::Result<()> {
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    match format(&transaction)? {
        0 => transaction.execute_batch(TABLES)?,
        1 => {
            format1::set_aside(&transaction)?;
            transaction.execute_batch(TABLES)?;
            format1::bring_over(&transaction)?;
        }
        _ => return Ok(()),
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}

/// The format of an open store.
pub(super) fn format(conn: &Connection) -> rusqlite::Result<u32> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

const INSERT_RUN: &str = "
    INSERT OR IGNORE INTO runs
        (problem, problem_hash, upper_dim, lower_dim, method, settings, config_hash, version, seed, result)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const INSERT_FAILURE: &str = "
    INSERT OR REPLACE INTO failures
        (problem, problem_hash, upper_dim, lower_dim, method, settings, config_hash, version, seed, message)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const DELETE_FAILURE: &str = "
    DELETE FROM failures WHERE problem = ?1 AND problem_hash = ?2 AND upper_dim = ?3 AND lower_dim = ?4
        AND method = ?5 AND settings = ?6 AND config_hash = ?7 AND version = ?8 AND seed = ?9";
const SELECT_IDS: &str = "
    SELECT problem, problem_hash, upper_dim, lower_dim, method, settings, config_hash, version, seed, id FROM runs";
const SELECT_RUNS: &str = "
    SELECT id, config_hash, result FROM runs
    ORDER BY problem, upper_dim, lower_dim, method, settings, seed, version, id";
const SELECT_FAILURES: &str = "
    SELECT problem, problem_hash, upper_dim, lower_dim, method, settings, config_hash, version, seed, message
    FROM failures ORDER BY problem, upper_dim, lower_dim, method, settings, seed, version, config_hash";
const SELECT_CONFIGS: &str = "SELECT hash, config FROM configs";
pub(super) const SELECT_TRACE: &str = "SELECT trace FROM traces WHERE run = ?1";

/// Whether the tables are those of this format; an error of SQLite if not.
pub(super) fn check(conn: &Connection) -> rusqlite::Result<()> {
    let queries = [SELECT_IDS, SELECT_RUNS, SELECT_FAILURES, SELECT_CONFIGS, SELECT_TRACE];
    queries.iter().try_for_each(|sql| conn.prepare(sql).map(|_| ()))
}

/// The line number of a run within its store.
pub(super) type Line = i64;

/// Writes a run without its trace; returns its line if the run is new.
pub(super) fn write(conn: &Connection, row: &Row) -> rusqlite::Result<Option<Line>> {
    let result = serde_json::to_string(&row.result).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    conn.prepare_cached("INSERT OR IGNORE INTO configs (hash, config) VALUES (?1, ?2)")?
        .execute(params![row.id().config_hash, row.config])?;
    let values = id_values(row.id()).into_iter().chain([result.into()]);
    let new = conn.prepare_cached(INSERT_RUN)?.execute(params_from_iter(values))? == 1;
    Ok(new.then(|| conn.last_insert_rowid()))
}

/// Records that a run failed.
pub(super) fn note_failure(conn: &Connection, id: &RunId, message: &str) -> rusqlite::Result<()> {
    let values = id_values(id).into_iter().chain([message.to_string().into()]);
    conn.prepare_cached(INSERT_FAILURE)?.execute(params_from_iter(values)).map(|_| ())
}

/// Removes that record.
pub(super) fn forget_failure(conn: &Connection, id: &RunId) -> rusqlite::Result<()> {
    conn.prepare_cached(DELETE_FAILURE)?.execute(params_from_iter(id_values(id))).map(|_| ())
}

fn id_values(id: &RunId) -> [Value; 9] {
    [
        id.problem.clone().into(),
        id.problem_hash.clone().into(),
        (id.upper_dim as i64).into(),
        (id.lower_dim as i64).into(),
        id.method.clone().into(),
        id.settings.clone().into(),
        id.config_hash.clone().into(),
        id.version.clone().into(),
        id.seed.cast_signed().into(),
    ]
}

/// Reads the columns of an identity, which come first in their queries.
pub(super) fn read_id(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunId> {
    Ok(RunId {
        problem: row.get(0)?,
        problem_hash: row.get(1)?,
        upper_dim: row.get::<_, i64>(2)? as usize,
        lower_dim: row.get::<_, i64>(3)? as usize,
        method: row.get(4)?,
        settings: row.get(5)?,
        config_hash: row.get(6)?,
        version: row.get(7)?,
        seed: row.get::<_, i64>(8)?.cast_unsigned(),
    })
}

/// The identities of all runs with their lines.
pub(super) fn ids(conn: &Connection) -> rusqlite::Result<Vec<(Line, RunId)>> {
    let mut statement = conn.prepare(SELECT_IDS)?;
    statement.query_map([], |row| Ok((row.get(9)?, read_id(row)?)))?.collect()
}

/// The selected runs, without traces.
pub(super) fn runs(conn: &Connection, wanted: &dyn Fn(Line) -> bool) -> rusqlite::Result<Vec<(Line, Row)>> {
    let configs = configs(conn)?;
    let mut statement = conn.prepare(SELECT_RUNS)?;
    let mut lines = statement.query([])?;
    let mut runs = Vec::new();
    while let Some(row) = lines.next()? {
        let line = row.get(0)?;
        if wanted(line) {
            let config = configs.get(row.get_ref(1)?.as_str()?).cloned().unwrap_or_default();
            runs.push((line, Row { result: read_result(row.get_ref(2)?.as_str()?, 2)?, config, trace: Vec::new() }));
        }
    }
    Ok(runs)
}

/// Configs by hash.
pub(super) fn configs(conn: &Connection) -> rusqlite::Result<BTreeMap<String, Arc<str>>> {
    let mut statement = conn.prepare(SELECT_CONFIGS)?;
    statement.query_map([], |row| Ok((row.get(0)?, Arc::from(row.get_ref(1)?.as_str()?))))?.collect()
}

fn read_result(json: &str, column: usize) -> rusqlite::Result<RunResult> {
    serde_json::from_str(json).map_err(|e| unreadable(column, e))
}

/// The content of a column makes no sense.
pub(super) fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

/// The runs that failed.
pub(super) fn failures(conn: &Connection) -> rusqlite::Result<Vec<FailedRun>> {
    let mut statement = conn.prepare(SELECT_FAILURES)?;
    statement.query_map([], |row| Ok(FailedRun { id: read_id(row)?, message: row.get(9)? }))?.collect()
}
