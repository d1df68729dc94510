//! Problems whose evaluations are made by external programs.
//!
//! A [`Program`] keeps a pool of running programs and is asked like any other evaluator. The lines
//! it exchanges with them are described in [`protocol`]; a program may also be started anew for
//! every evaluation. Whatever a program does (hang, end, write nonsense or without end), its
//! evaluation fails with a reason and the next one goes to a fresh process; and no process outlives
//! the evaluator, not even if the run is killed. [`serve`] is the other end of the protocol.
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
