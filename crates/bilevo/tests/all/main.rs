//! The library as its users call it: one program, so that it is linked once.
#![allow(clippy::unwrap_used)] // also in what tests share

mod audit;
mod budgets;
mod checkpoints;
mod common;
mod doubts;
mod equalities;
#[cfg(unix)]
mod example_programs;
#[allow(dead_code)] // their `main`
mod examples;
mod failures;
mod figures;
mod files;
mod known;
mod limits;
mod oracle;
#[cfg(target_os = "linux")] // the checks for survivors need its `/proc`
mod programs;
mod replies;
mod resume;
mod solver;
