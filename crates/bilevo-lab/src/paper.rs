//! The paper's study: what it runs, what was published, and both side by side.
//!
//! [`study`] lists the comparisons, and [`published`] has the paper's tables. [`compared`] looks up the runs of a
//! comparison and tests them, once for all tables: [`layout`] is the paper's own table, [`against`] compares the
//! published figures with ours, [`controls`] shows what the model contributes, [`readings`] what the paper's text
//! may mean, and [`beyond`] compares the default method with the published ones. `figures` draws the charts,
//! [`report()`] puts everything together, and [`folder`] keeps it. Nothing else depends on this module.

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
