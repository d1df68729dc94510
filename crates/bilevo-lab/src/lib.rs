//! Experiments with bilevel algorithms: grids, store, statistics, tables, figures, report.
pub mod row;
