//! `bilevo experiment status`: what a store contains, and what is missing from a grid.

use super::grid::GridArgs;
use crate::args::Format;
use crate::output::{self, plain};
use crate::{Exit, table};
use bilevo::RunId;
use bilevo_lab::grid::Task;
use bilevo_lab::row::Row;
use bilevo_lab::stats::successes;
use bilevo_lab::store::{Filter, Store};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Show what is in a store, and which runs of a grid are missing
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    grid: GridArgs,
    /// The store
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Status {
    rows: usize,
    cells: Vec<Cell>,
    failures: Vec<Failure>,
    grid: Option<GridStatus>,
}

/// Runs that differ only in their seeds.
#[derive(Serialize)]
struct Cell {
    problem: String,
    upper_dim: usize,
    lower_dim: usize,
    method: String,
    settings: String,
    version: String,
    runs: usize,
    solved: Option<usize>,
}

#[derive(Serialize)]
struct Failure {
    run: String,
    message: String,
}

#[derive(Serialize)]
struct GridStatus {
    total: usize,
    done: usize,
    missing: usize,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let tasks: Option<Vec<Task>> = args.grid.grid()?.map(|grid| grid.tasks()).transpose()?;
    let store = Store::read(&args.store)?;
    output::warn_of_missing_log(&store);
    let status = read(&store, tasks.as_deref())?;
    match args.format {
        Format::Json => output::json(&status)?,
        Format::Text => print(status)?,
    }
    Ok(Exit::Done)
}

/// Names in a store may come from anybody, so they reach the terminal only as plain text.
fn print(status: Status) -> anyhow::Result<()> {
    let mut out = output::stdout();
    let heading = ["problem", "size", "method", "settings", "version", "runs", "solved"];
    let mut lines = vec![heading.map(String::from).to_vec()];
    for cell in status.cells {
        let size = format!("{}+{}", cell.upper_dim, cell.lower_dim);
        let solved = cell.solved.map_or("–".into(), |n| n.to_string());
        let named = [cell.problem, size, cell.method, cell.settings, cell.version].map(|text| plain(&text));
        lines.push(named.into_iter().chain([cell.runs.to_string(), solved]).collect());
    }
    table::columns(&mut out, &lines)?;
    for Failure { run, message } in &status.failures {
        writeln!(out, "failed: {}: {}", plain(run), plain(message))?;
    }
    if let Some(GridStatus { total, done, missing }) = status.grid {
        writeln!(out, "{done} of {total} runs of the grid are done, {missing} are missing")?;
    }
    Ok(out.flush()?)
}

fn read(store: &Store, tasks: Option<&[Task]>) -> anyhow::Result<Status> {
    let rows = store.rows(&Filter::all())?;
    let cell =
        |row: &Row| RunId { seed: 0, config_hash: String::new(), problem_hash: String::new(), ..row.id().clone() };
    let mut by_cell: std::collections::BTreeMap<RunId, Vec<&Row>> = std::collections::BTreeMap::new();
    for row in &rows {
        by_cell.entry(cell(row)).or_default().push(row);
    }
    let cells = by_cell.into_iter().map(|(id, rows)| {
        let counts = successes(rows);
        let RunId { problem, upper_dim, lower_dim, method, settings, version, .. } = id;
        let solved = (counts.judged > 0).then_some(counts.solved);
        Cell { problem, upper_dim, lower_dim, method, settings, version, runs: counts.runs, solved }
    });
    let failures = store.failures()?.into_iter().map(|f| Failure { run: f.id.to_string(), message: f.message });
    let grid = match tasks {
        None => None,
        Some(tasks) => {
            let stored = store.ids()?;
            let done = tasks.iter().filter(|task| stored.contains(&task.id)).count();
            Some(GridStatus { total: tasks.len(), done, missing: tasks.len() - done })
        }
    };
    Ok(Status { rows: rows.len(), cells: cells.collect(), failures: failures.collect(), grid })
}
