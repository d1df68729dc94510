//! The laboratory from outside: one program, so that the library is linked once.
#![allow(clippy::panic, clippy::unwrap_used)] // also in what tests share

#[cfg(unix)]
mod browser;
#[cfg(unix)]
mod cdp;
mod common;
mod export;
mod formats;
mod grid;
mod pages;
mod report;
mod run_report;
mod runner;
mod statistics;
mod store;
mod tables;
