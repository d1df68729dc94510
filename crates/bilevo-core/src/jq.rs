//! The joint-quadratic method: one model of the follower's function over (x, y), learnt from the
//! lower evaluations of all tasks.

mod cholesky;
pub mod descent;
mod process;
mod step;
