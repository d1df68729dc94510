//! Experiments with bilevel algorithms: grids, store, statistics, tables, figures, report.
//!
//! A [`grid::Grid`] names methods, problems, sizes, seeds and settings; [`runner::run_tasks`] runs
//! what is missing and writes every finished run as one [`row::RunRow`] into a [`store::Store`];
//! [`stats`] and [`export`] work on the rows that [`store::Store::rows`] gives back.

pub mod export;
pub mod grid;
pub mod row;
pub mod runner;
pub mod stats;
pub mod store;
