//! Random problems with one variable at each level against brute force: general and degenerate ones, with
//! jumps, with whole numbers. `cargo run --release -p bilevo-proof --example fuzz -- [COUNT] [FIRST]`
//!
//! For each problem, claims that are false by 0.2 %, 2 % and 20 %, worse answers of the follower, and regions
//! around its right answers, some of them with the answer just at the edge. Ends with an error as soon as
//! anything false was proven or an answer lost.
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
    let count: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(300);
    let first: u64 = std::env::args().nth(2).and_then(|word| word.parse().ok()).unwrap_or(1000);
    let mut out = std::io::stdout().lock();
    let [mut all_claims, mut all_points] = [0; 2];
    let names = ["general", "degenerate", "jumps", "whole numbers"];
    let all: [fn(u64) -> String; 4] = [families::general, families::degenerate, families::jumps, families::whole];
    for (name, problem) in names.into_iter().zip(all) {
        let mut tally = Tally::default();
        for seed in first..first + count {
            soundness::check(&problem(seed), seed, &mut tally);
            if let Some(text) = tally.wrong.first() {
                let _ = writeln!(out, "{name} with seed {seed}: {text}");
                return ExitCode::FAILURE;
            }
        }
        let Tally { claims, proven, true_claims, points, .. } = tally;
        let _ = writeln!(
            out,
            "{name}: {count} problems, {claims} false claims, {points} regions around answers, none wrong; \
             {proven} of {true_claims} true claims proven"
        );
        all_claims += claims;
        all_points += points;
    }
    let _ =
        writeln!(out, "in all: {all_claims} false claims never proven, {all_points} regions that kept their answers");
    ExitCode::SUCCESS
}
