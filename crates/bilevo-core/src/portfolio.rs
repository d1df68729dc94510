//! The default method: searches that claim, verdicts that check, a portfolio that decides.
//!
//! The optimistic bilevel problem is: minimise F(x, y) subject to G <= 0, g <= 0 and f(x, y) <= v(x), where
//! v(x) is the follower's best value at x. Everything that was ever evaluated lies in one `archive`. One
//! surrogate predicts any of f, g, F, G near a point, with its doubt (`crate::surrogate`), and one
//! constrained minimiser works on it (`crate::minimise`). A search (`search`) ends with a `claim`
//! (x, y). A verdict (`verify`) says whether y really is the follower's answer at x, and which others
//! there are. The portfolio (`next`) reads the `history` of claims and verdicts and says which search
//! comes next, from where, and when the run ends. Nothing else has a memory.
//!
//! ```text
//!           ┌────────────── archive (all evaluations, both levels) ───────────────┐
//! portfolio ─▶ search ─ask/tell─▶ claim ─▶ verify ─▶ verdict ─▶ history ─▶ portfolio
//! ```
//!
//! | question | answered in |
//! |---|---|
//! | what does a model see? | `archive.rs`, `Points::around` |
//! | when is an answer good enough on the way? | `follower.rs`, `search/descent.rs`, `tolerance` |
//! | what is better, feasible, the same? | `claim.rs`, `Scales` |
//! | is it the follower's answer? | `verify.rs` |
//! | what comes next? | `next.rs`, `next/borders.rs` after a correction, `next/ties.rs` |
//! | when does it end? | `next/ending.rs` |
//! | from where, with how much? | `scheme/begin.rs` |
//! | how does the engine see it? | `scheme/citizen.rs` |
//! | what do earlier runs tell? | `known.rs` |
//!
//! Variables are in unit coordinates, functions are judged by their observed spread, renewed whenever a
//! search ends: no tolerance is absolute.

pub(crate) mod archive;
mod claim;
pub mod config;
pub(crate) mod follower;
mod history;
mod known;
pub(crate) mod merit;
mod next;
mod scheme;
mod search;
mod story;
mod verify;

pub use scheme::Portfolio;
