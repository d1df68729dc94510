//! The allocator that learns a ranking.
pub mod network;
pub mod train;
