//! Random problems with one variable at each level against brute force, and dense ones with indefinite
//! followers against a wrong claim: `cargo run --release -p bilevo-proof --example fuzz -- 2000`
//!
//! Fails if anything false was proven or any answer lost.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)] // what tests share

#[path = "../tests/all/brute.rs"]
mod brute;
#[path = "../tests/all/families.rs"]
#[allow(dead_code)]
mod families;
#[path = "../tests/all/soundness.rs"]
#[allow(dead_code)]
mod soundness;

use soundness::Tally;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let count: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1000);
    let first: u64 = std::env::args().nth(2).and_then(|word| word.parse().ok()).unwrap_or(1000);
    let mut out = std::io::stdout().lock();
    let mut sound = true;
    for (name, problem) in [("general", families::general as fn(u64) -> String), ("degenerate", families::degenerate)] {
        let mut tally = Tally::default();
        for seed in first..first + count {
            soundness::check(&problem(seed), seed, &mut tally);
        }
        let Tally { claims, proven, true_claims, points, wrong } = tally;
        let _ = writeln!(
            out,
            "{name}: {count} problems, {claims} false claims, {points} regions around answers, {} wrong; {proven} of {true_claims} true claims proven",
            wrong.len()
        );
        for text in wrong.iter().take(3) {
            let _ = writeln!(out, "{text}");
        }
        sound &= wrong.is_empty();
    }
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
