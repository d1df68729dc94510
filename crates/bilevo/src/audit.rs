//! wip
mod local;
mod quadratic;
