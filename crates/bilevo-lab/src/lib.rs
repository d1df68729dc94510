//! Experiments with bilevel algorithms: grids, store, statistics, tables, figures, report.
//!
//! A [`grid::Grid`] names methods, problems, sizes, seeds and settings; [`runner::run_tasks`] runs
//! what is missing and writes every finished run as one [`row::RunRow`] into a [`store::Store`];
//! [`stats`] and [`export`] work on the rows that [`store::Store::rows`] gives back, and so do
//! [`tables`], [`figures`] and the [`report`]. [`study`] is the paper's own experiment.

pub mod export;
pub mod figures;
pub mod grid;
pub mod published;
pub mod report;
pub mod row;
pub mod runner;
pub mod stats;
pub mod store;
pub mod study;
pub mod tables;
#[cfg(test)]
mod testing;
