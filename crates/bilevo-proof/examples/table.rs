//! Proves the best-known values of problem files and prints them as a Markdown table.
//!
//! `cargo run --release -p bilevo-proof --example table -- [--seconds 10] [--eps 1e-2] FILE…`
//!
//! Each file needs the point of its best-known value under `[best_known]`.

use bilevo_core::problem::BilevelProblem;
use bilevo_problems::file::{self, ProblemFile};
use bilevo_proof::{Limits, Problem, follower, leader};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut seconds = 10.0;
    let mut eps = 1e-2;
    let mut shift = 0.0;
    let mut files = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => seconds = words.next().ok_or("--seconds needs a number")?.parse()?,
            "--eps" => eps = words.next().ok_or("--eps needs a number")?.parse()?,
            // Makes every claim false by so much, to see that none is proven.
            "--shift" => shift = words.next().ok_or("--shift needs a number")?.parse()?,
            _ => files.push(word),
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "| Problem | Size | F | Follower | boxes | seconds | Leader | boxes | seconds |")?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for path in files {
        let ProblemFile::Expressions(file) = file::read(Path::new(&path))? else { continue };
        let spec = file.spec();
        let (name, size) = (&spec.name, format!("{}+{}", spec.upper.dim(), spec.lower.dim()));
        let problem = match Problem::new(&file) {
            Ok(problem) => problem,
            Err(why) => {
                writeln!(out, "| {name} | {size} | {why} |")?;
                continue;
            }
        };
        let limits = Limits::time(Duration::from_secs_f64(seconds));
        let answers = file.optima().first().map(|(x, y)| follower(&problem, x, y, 1e-4, &limits));
        let a = answers.map_or("| – | |".into(), |a| {
            let better = a.better.map_or(String::new(), |(y, f)| format!(" {y:?} {f}"));
            format!("| {:?}{better} | {} | {:.3}", a.verdict, a.boxes, a.seconds)
        });
        let Some(best) = spec.best_known.first() else { continue };
        let claim = best.upper + spec.upper.direction.flip(shift * best.upper.abs().max(1.0));
        let b = leader(&problem, claim, eps, &limits);
        let better = b.better.map_or(String::new(), |d| format!(" {} at {:?} {:?}", d.value, d.x, d.y));
        let b = format!("| {:?}{better} | {} | {:.3} |", b.verdict, b.boxes, b.seconds);
        writeln!(out, "| {name} | {size} | {claim:.6} {a} {b}")?;
    }
    Ok(())
}
