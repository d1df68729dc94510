//! Which candidates get a lower search.
pub mod contrastive;
