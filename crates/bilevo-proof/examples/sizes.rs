//! How far proofs reach: random dense problems with indefinite followers (quadratic, bilinear, sines times
//! exponentials), from a claim that is far off, by size.
//!
//! `cargo run --release -p bilevo-proof --example sizes -- [WORK] [SEEDS] [LARGEST]`
//!
//! Each question gets so much work; 600 million operations take about ten seconds. The seconds are those of the
//! processor.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)] // what tests share

#[path = "shared/clock.rs"]
mod clock;
#[path = "../tests/all/families.rs"]
#[allow(dead_code)]
mod families;

use bilevo_proof::{FollowerVerdict, Limits, Problem, follower, leader};
use clock::timed;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut number = |default: u64| words.next().map_or(Ok(default), |word| word.parse::<u64>());
    let (work, seeds, largest) = (number(600_000_000)?, number(10)?, number(4)? as usize);
    let limits = Limits::work(work);
    let mut out = std::io::stdout().lock();
    writeln!(out, "| Size | Follower proven | boxes | seconds | Leader proven | boxes | seconds |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for k in 1..=largest {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for seed in 0..seeds {
            let problem = Problem::new(&families::read(&families::indefinite(k, k, seed)))?;
            let (proof, seconds) = timed(|| leader(&problem, 1e3, 1e-2, &limits));
            b.push((proof.stopped.is_none(), proof.boxes, seconds));
            if let Some(best) = proof.better {
                let (proof, seconds) = timed(|| follower(&problem, &best.x, &best.y, 1e-4, &limits));
                a.push((proof.verdict == FollowerVerdict::Proven, proof.boxes, seconds));
            }
        }
        writeln!(out, "| {k}+{k} {} {} |", summary(&a), summary(&b))?;
    }
    Ok(())
}

/// How many were proven, and medians of boxes and seconds.
fn summary(all: &[(bool, u64, f64)]) -> String {
    let proven = all.iter().filter(|one| one.0).count();
    let (mut boxes, mut seconds): (Vec<u64>, Vec<f64>) = all.iter().map(|one| (one.1, one.2)).unzip();
    boxes.sort_unstable();
    seconds.sort_by(f64::total_cmp);
    let middle = all.len() / 2;
    let (boxes, seconds) = (boxes.get(middle).unwrap_or(&0), seconds.get(middle).unwrap_or(&0.0));
    format!("| {proven} of {} | {boxes} | {seconds:.3}", all.len())
}
