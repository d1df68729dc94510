//! Experiments with bilevel methods: grids, stores, statistics, tables, figures, reports.
//!
//! A [`grid::Grid`] names methods, problems, sizes, seeds and settings; each of its [`grid::Task`]s
//! is one run. [`runner::run_tasks`] does those that are missing and writes each as one [`row::Row`]
//! into a [`store::Store`]; [`stats`], [`export`], [`tables`], [`figures`] and the [`report`] work on
//! the rows that [`store::Store::rows`] gives back. [`paper`] is the published study; nothing else
//! depends on it.

mod csv;
pub mod export;
pub mod figures;
mod folder;
pub mod grid;
pub mod live;
pub mod paper;
pub mod report;
pub mod row;
pub mod run_report;
pub mod runner;
pub mod stats;
pub mod store;
pub mod tables;
#[cfg(test)]
mod testing;

use std::error::Error;

/// The stable code of an error ([`bilevo::codes::ERRORS`]), or of the nearest of its causes that has one.
pub fn code(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let store = error.downcast_ref().map(store::StoreError::code);
    let folder = || error.downcast_ref().and_then(paper::folder::FolderError::code);
    store.or_else(folder).or_else(|| bilevo::codes::code(error))
}
