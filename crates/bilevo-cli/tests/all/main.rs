//! The program as a real process: one test program, so that its libraries are linked once.
#![allow(clippy::unwrap_used)] // also in what tests share

mod cli;
mod daily;
mod disk;
mod experiment;
mod files;
#[cfg(unix)]
mod hostile;
mod present;
#[cfg(target_os = "linux")]
mod programs;
mod prove;
mod resume;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod stores;
mod sweep;
mod watch;
mod whole;
