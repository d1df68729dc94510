//! The Rust examples of the README and the guide, compiled and run as doc tests, and the
//! measurements of the guide: first hits ([`ert`]) and finished runs ([`finished`]).
//!
//! The program of this package is what `cargo xtask bench` measures.

pub mod calibrate;
mod clock;
pub mod ert;
pub mod finished;
mod parts;
pub mod reference;

#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/src/files.md")]
    struct Files;
    #[doc = include_str!("../../../docs/src/problems.md")]
    struct Problems;
    #[doc = include_str!("../../../docs/src/checkpoints.md")]
    struct Checkpoints;
    #[doc = include_str!("../../../docs/src/audit.md")]
    struct Audit;
}
