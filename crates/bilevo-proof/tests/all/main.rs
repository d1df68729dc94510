//! Proofs from outside: what they claim, and that nothing false is ever proven.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)] // also in what tests share

mod brute;
mod families;
mod files;
mod soundness;
mod suites;
mod whole;
