//! The engine from outside: one program, so that the library is linked once.
#![allow(clippy::panic, clippy::unwrap_used)] // also in what tests share

mod allocations;
mod allocators;
mod boxes;
mod cma;
mod common;
mod conformance;
mod draws;
mod engine;
mod golden;
mod noise;
mod objections;
mod position;
mod settings;
mod training;
mod whole;
