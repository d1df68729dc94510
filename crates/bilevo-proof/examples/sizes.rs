//! How far proofs reach: random dense problems with indefinite followers (quadratic, bilinear, sines times
//! exponentials), from a claim that is far off, by size.
//!
//! `cargo run --release -p bilevo-proof --example sizes -- [SECONDS] [SEEDS] [LARGEST]`
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)] // what tests share

#[path = "../tests/all/families.rs"]
#[allow(dead_code)]
mod families;

use bilevo_proof::{FollowerVerdict, Limits, Problem, follower, leader};
use std::io::Write;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut number = |default: f64| words.next().map_or(Ok(default), |word| word.parse::<f64>());
    let (seconds, seeds, largest) = (number(10.0)?, number(10.0)? as u64, number(4.0)? as usize);
    let limits = Limits::time(Duration::from_secs_f64(seconds));
    let mut out = std::io::stdout().lock();
    writeln!(out, "| Size | Follower proven | boxes | seconds | Leader proven | boxes | seconds |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for k in 1..=largest {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for seed in 0..seeds {
            let problem = Problem::new(&families::read(&families::indefinite(k, k, seed)))?;
            let proof = leader(&problem, 1e3, 1e-2, &limits);
            b.push((proof.stopped.is_none(), proof.boxes, proof.seconds));
            if let Some(best) = proof.better {
                let proof = follower(&problem, &best.x, &best.y, 1e-4, &limits);
                a.push((proof.verdict == FollowerVerdict::Proven, proof.boxes, proof.seconds));
            }
        }
        writeln!(out, "| {k}+{k} {} {} |", summary(&mut a), summary(&mut b))?;
    }
    Ok(())
}

/// How many were proven, and medians of boxes and seconds.
fn summary(all: &mut [(bool, u64, f64)]) -> String {
    let proven = all.iter().filter(|one| one.0).count();
    all.sort_by(|a, b| a.2.total_cmp(&b.2));
    let (_, boxes, seconds) = all.get(all.len() / 2).copied().unwrap_or_default();
    format!("| {proven} of {} | {boxes} | {seconds:.3}", all.len())
}
