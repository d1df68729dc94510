//! Proves the best-known values of problem files and prints them as a table of the guide.
//!
//! `cargo run --release -p bilevo-proof --example table -- [--work 600000000] [--eps 1e-2] [--shift 0] PATH…`
//!
//! A path is a problem file, or a folder with problem files. Each file needs the point of its best-known value under
//! `[best_known]`. So much work takes about ten seconds and is the same everywhere; the seconds are those of the
//! processor, for the leader's question.

#[path = "shared/clock.rs"]
mod clock;

use bilevo_core::problem::BilevelProblem;
use bilevo_problems::file::{self, ExpressionProblem, ProblemFile};
use bilevo_proof::{FollowerVerdict, LeaderVerdict, Limits, Problem, Stopped, follower, leader};
use clock::timed;
use std::error::Error;
use std::io::Write;
use std::path::Path;

struct Options {
    limits: Limits,
    eps: f64,
    /// Makes every claim false by so much, to see that none is proven.
    shift: f64,
    files: Vec<String>,
}

/// One line of the table.
struct Line {
    text: String,
    follower: bool,
    leader: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = read()?;
    let mut lines = Vec::new();
    for path in &options.files {
        if let ProblemFile::Expressions(file) = file::read(Path::new(path))?
            && !file.spec().best_known.is_empty()
        {
            lines.push(line(&file, &options)?);
        }
    }
    let count = |wanted: fn(&Line) -> bool| lines.iter().filter(|line| wanted(line)).count();
    let mut out = std::io::stdout().lock();
    writeln!(out, "| Problem | Size | F | Follower | Leader | seconds |\n|---|---|---|---|---|---|")?;
    lines.iter().try_for_each(|line| writeln!(out, "{}", line.text))?;
    let (follower, leader, all) = (count(|line| line.follower), count(|line| line.leader), lines.len());
    writeln!(out, "\nFollower proven: {follower} of {all}. Leader proven: {leader} of {all}.")?;
    Ok(())
}

/// The problem files at a path, in the order in which people count.
fn files(path: &str) -> std::io::Result<Vec<String>> {
    if !Path::new(path).is_dir() {
        return Ok(vec![path.to_string()]);
    }
    let paths: Result<Vec<_>, _> = std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut files: Vec<String> = paths?.iter().map(|path| path.display().to_string()).collect();
    files.retain(|name| name.ends_with(".toml"));
    files.sort_by_cached_key(|name| {
        let stem = name.trim_end_matches(".toml");
        let word = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        (word.to_string(), stem[word.len()..].parse::<u64>().unwrap_or(0))
    });
    Ok(files)
}

fn read() -> Result<Options, Box<dyn Error>> {
    let mut options = Options { limits: Limits::work(600_000_000), eps: 1e-2, shift: 0.0, files: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a number"));
        match word.as_str() {
            "--work" => options.limits = Limits::work(value()?.parse()?),
            "--eps" => options.eps = value()?.parse()?,
            "--shift" => options.shift = value()?.parse()?,
            _ => options.files.extend(files(&word)?),
        }
    }
    Ok(options)
}

fn line(file: &ExpressionProblem, options: &Options) -> Result<Line, Box<dyn Error>> {
    let spec = file.spec();
    let problem = Problem::new(file)?;
    let boxes = |count: u64| if count == 1 { "1 box".to_string() } else { format!("{count} boxes") };
    let a = file.optima().first().map(|(x, y)| follower(&problem, x, y, 1e-4, &options.limits));
    let follower = match &a {
        None => "–".to_string(),
        Some(a) if a.verdict == FollowerVerdict::Proven => format!("proven, {}", boxes(a.boxes)),
        Some(a) => format!("{:?} {:?}", a.verdict, a.better),
    };
    let best = spec.best_known[0].upper;
    let claim = best + spec.upper.direction.flip(options.shift * best.abs().max(1.0));
    let (b, spent) = timed(|| leader(&problem, claim, options.eps, &options.limits));
    let leader = match (&b.verdict, &b.better, b.stopped) {
        (_, _, Some(Stopped::Position)) => "pessimistic".to_string(),
        (LeaderVerdict::Better, Some(d), _) => format!("better: {} at x = {:?}, y = {:?}", d.value, d.x, d.y),
        (LeaderVerdict::Proven, ..) => format!("proven, {}", boxes(b.boxes)),
        _ => format!("open, {}; bound {:.6}", boxes(b.boxes), b.bound),
    };
    let (name, m, n) = (&spec.name, spec.upper.dim(), spec.lower.dim());
    let value = format!("{best:.5e}").parse::<f64>()?;
    Ok(Line {
        text: format!("| {name} | {m}+{n} | {value} | {follower} | {leader} | {spent:.2} |"),
        follower: a.is_some_and(|a| a.verdict == FollowerVerdict::Proven),
        leader: b.verdict == LeaderVerdict::Proven,
    })
}
