//! Problems whose evaluations are made by external programs.
//!
//! A [`Program`] is an evaluator that keeps a pool of running programs. [`protocol`] describes the lines it
//! exchanges with them; a program may also be started afresh for every evaluation. If a program hangs, ends, or
//! writes nonsense or endless output, its evaluation fails with a reason, and the next one goes to a fresh
//! process. No process outlives the evaluator, not even if the run is killed. [`serve`] is the other end of the
//! protocol.
//!
//! Programs need a Unix system: process groups, and pipes that can be waited for.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod guard;
#[cfg(unix)]
mod pattern;
#[cfg(unix)]
mod plan;
#[cfg(unix)]
mod pool;
#[cfg(unix)]
mod process;
#[doc(hidden)]
pub mod protocol;
mod serve;
#[cfg(unix)]
mod shell;
#[cfg(unix)]
mod template;
#[cfg(unix)]
mod worker;

#[cfg(not(unix))]
pub use elsewhere::Program;
#[cfg(unix)]
pub use pool::Program;
pub use serve::{ServeError, serve};
