//! Readings of the paper: its text leaves details open, and how they are filled in decides how much the ranking
//! model saves.

use super::compared::Compared;
use super::published;
use crate::tables::{Cell, Table};

/// The comparison that runs them.
pub const ID: &str = "readings-bl-cma-es";

/// The readings in the study: what is printed, and what the rest may mean.
pub const METHODS: [&str; 5] = [
    "cr-bl-cma-es-published",
    "cr-bl-cma-es-published allocator.inputs=raw",
    "cr-bl-cma-es-published allocator.hidden=32 allocator.inputs=raw allocator.optimiser=carried",
    "cr-bl-cma-es-published upper.recall=1",
    "cr-bl-cma-es-published allocator.first_training=22 allocator.pool=window allocator.weights=fresh allocator.window=64",
];

/// The readings in words.
const WORDS: [&str; METHODS.len()] = [
    "-published: hidden units as variables, inputs standardised, a new optimiser for each training",
    "the same with raw inputs",
    "raw inputs, 32 hidden units, the optimiser remembers the previous training",
    "-published, and the elite joins the parents of every generation",
    "-published, but the pool is not emptied: the latest 64, learnt afresh in every generation",
];

/// One line for each reading; `None` if they were not run.
pub fn table(all: &[Compared<'_>]) -> Option<Table> {
    let compared = all.iter().find(|c| c.comparison.id == ID)?;
    let columns = ["Reading", "R_rs %", "SMD6", "Solved", "Model accuracy", "across"];
    let mut table = Table::new("Readings of the paper: cr-bl-cma-es on SMD1–12", 1, &columns);
    table.rows.push(vec![
        Cell::new("as printed in the paper"),
        Cell::fixed(published::average_saving("cr-bl-cma-es", "smd"), 1),
        Cell::fixed(published::saving("cr-bl-cma-es", "bl-cma-es", "smd6"), 1),
        Cell::new("–"),
        Cell::new("–"),
        Cell::new("> 0.8 on most"),
    ]);
    table.rows.extend(METHODS.iter().zip(WORDS).filter_map(|(method, words)| line(compared, method, words)));
    table.note = "Every reading searches half of the candidates and resamples once if they look poor. R_rs: the average saving compared with bl-cma-es, and the saving on SMD6. Model accuracy: the share of correctly ordered pairs of new solutions, within one generation, and across generations as the paper measures it (published for CR-TLEA-CMA-ES). The settings of each reading are in the table readings-bl-cma-es.".into();
    (table.rows.len() > 1).then_some(table)
}

fn line(compared: &Compared<'_>, method: &str, words: &str) -> Option<Vec<Cell>> {
    compared.of(method).next()?;
    let (solved, runs) = compared.solved(method);
    Some(vec![
        Cell::new(words),
        Cell::fixed(compared.average_saving(method), 1),
        Cell::fixed(compared.line(method, "smd6").and_then(|line| line.saving), 1),
        Cell::new(format!("{solved}/{runs}")),
        Cell::fixed(compared.average(method, |runs| runs.model_accuracy()), 2),
        Cell::fixed(compared.average(method, |runs| runs.model_accuracy_across()), 2),
    ])
}
