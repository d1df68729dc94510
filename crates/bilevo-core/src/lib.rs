//! The algorithms of bilevo as a pure ask/tell engine: no files, threads, clock or user code.
pub mod allocate;
pub mod batch;
pub mod config;
pub mod engine;
pub mod methods;
pub mod order;
pub mod problem;
pub mod record;
pub mod rng;
pub use config::Config;
pub use engine::{Ask, Engine};
