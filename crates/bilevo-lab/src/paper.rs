//! The paper's study: what it runs, what was published, and both side by side.
//!
//! [`study`] is the list of comparisons, one entry each; [`published`] the paper's tables.
//! [`compared`] looks up and tests the runs of a comparison once; [`layout`] is the paper's table,
//! [`against`] sets the published figures beside ours, [`controls`] what the model brings beside what
//! comes without it, [`readings`] what the paper's text may mean, [`beyond`] the default method beside all that, `figures` draws them, [`report()`] puts
//! everything together and [`folder`] keeps it. Nothing outside this folder knows about it.

pub mod against;
pub mod beyond;
pub mod compared;
pub mod controls;
mod differences;
mod figures;
pub mod folder;
pub mod layout;
pub mod published;
pub mod readings;
mod report;
pub mod study;

pub use differences::DIFFERENCES;
pub use report::report;
