//! The problems from outside: one program, so that the library is linked once.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)] // also in what tests share

mod basblib;
mod check;
mod files;
mod golden;
mod integer;
mod mutations;
mod optima;
mod registry;
mod rotated;
