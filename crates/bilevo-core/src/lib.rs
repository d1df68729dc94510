//! The algorithms of bilevo as a pure ask/tell engine: no files, threads, clock, printing or user
//! code inside.
//!
//! A bilevel problem has a leader, who decides `x`, and a follower, who answers with its own
//! optimum `y*(x)`:
//!
//! > minimise F(x, y) over x, subject to G(x, y) <= 0 and y in argmin { f(x, y) : g(x, y) <= 0 }.
//!
//! A bilevel evolutionary algorithm is three choices: an upper strategy ([`upper`]), a lower search
//! ([`lower`]) and an allocator ([`allocate`]) that decides which candidates deserve a lower search.
//! Read [`engine`] top to bottom to see one generation; [`config`] and [`methods`] name the
//! published combinations.

pub mod allocate;
pub mod batch;
pub mod cma;
pub mod config;
pub mod de;
pub mod engine;
pub mod linalg;
pub mod lower;
pub mod methods;
pub mod order;
pub mod problem;
pub mod record;
pub mod rng;
mod stop;
pub mod upper;

pub use batch::{Batch, Replies};
pub use config::Config;
pub use engine::{Ask, Engine};
pub use problem::{BilevelProblem, Level, ProblemSpec};
