//! `bilevo prove FILE`: is the follower's answer right, and is there a better decision?

use super::eval::Vector;
use super::interrupt;
use crate::Exit;
use crate::args::{Dims, Duration, Format, finite, positive, whole_number};
use crate::output::{self, BAD, GOOD, WARN, counted, point, say, short};
use crate::table::{heading, line};
use anyhow::{Context, bail};
use bilevo::prove::{Claim, FollowerVerdict, LeaderVerdict, Proof, ProveOptions, prove};
use bilevo::{BilevelProblem, Level, Names, RunResult, Solver, Source, source};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Prove an answer of a problem file, or find a better one
///
/// Answers two questions from the formulas: does the follower have a better answer at this decision, and is
/// there any better decision? If you give no point or claim, the problem is solved first. The exit code is 1 if
/// something better was found.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A problem file with formulas, or a built-in one (basblib/NAME, bolib/NAME)
    problem: String,
    /// Upper and lower variables, as in 2+3, for problems that come in several sizes
    #[arg(long, value_name = "M+N")]
    dims: Option<Dims>,
    /// The result of a run, as `bilevo solve --format json` prints it; `-` is standard input
    #[arg(long, value_name = "RESULT.json", conflicts_with_all = ["x", "y", "claim"])]
    result: Option<PathBuf>,
    /// The leader's decision: numbers separated by spaces or commas
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true, requires = "y", conflicts_with = "claim")]
    x: Option<Vector>,
    /// The follower's answer
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true, requires = "x")]
    y: Option<Vector>,
    /// A value of F that you claim no decision beats
    #[arg(long, value_name = "F", allow_negative_numbers = true, value_parser = finite)]
    claim: Option<f64>,
    /// Treat differences of F up to this as zero, relative to max(1, |F|)
    #[arg(long, value_name = "EPS", default_value_t = 1e-2, value_parser = positive)]
    eps: f64,
    /// Limit on the wall time of the proof, as in 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", default_value = "60s", allow_negative_numbers = true)]
    time_limit: Duration,
    /// Seed of the run, if the problem is solved first [default: a random one, which is printed]
    #[arg(long, short, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let stop = interrupt::flag()?;
    let source = source::open(&args.problem, args.dims.map(|dims| (dims.upper, dims.lower)))?;
    let Some(file) = source.formulas() else {
        bail!("{} has no formulas, so nothing can be proven\nhint: write it as a problem file", source.id());
    };
    let claim = match claimed(args, &*source)? {
        Some(claim) => claim,
        None => solved(args, &*source)?,
    };
    if let Claim::Point { x, y } = &claim {
        let mut g = Vec::new();
        let violation =
            file.evaluate(Level::Upper, x, y, &mut g).map_or(f64::NAN, |_| source.spec().violation(Level::Upper, &g));
        if violation > 1e-6 || violation.is_nan() {
            output::warn("W605", format_args!("this point violates the leader's constraints by {}", short(violation)));
        }
    }
    let options = ProveOptions { eps: args.eps, time_limit: args.time_limit.0, stop };
    let proof = prove(file, &claim, &options)?;
    match args.format {
        Format::Json => output::json(&proof)?,
        Format::Text => print(&proof, source.id(), Names::of(source.spec()).as_ref())?,
    }
    Ok(if proof.is_refuted() { Exit::NotGood } else { Exit::Done })
}

/// The claim on the command line, if there is one.
fn claimed(args: &Args, source: &dyn Source) -> anyhow::Result<Option<Claim>> {
    let point = match (&args.result, &args.x, &args.y) {
        (Some(path), ..) => Some(from_result(path)?),
        (None, Some(x), Some(y)) => Some((x.0.clone(), y.0.clone())),
        _ => None,
    };
    let Some((x, y)) = point else { return Ok(args.claim.map(Claim::Value)) };
    let spec = source.spec();
    for (name, values, expected) in [("x", &x, spec.upper.dim()), ("y", &y, spec.lower.dim())] {
        if values.len() != expected {
            let numbers = counted(values.len() as u64, "number");
            bail!("{name} has {numbers}, {} takes {expected}\nhint: give the point of this problem", source.id());
        }
    }
    Ok(Some(Claim::Point { x, y }))
}

/// x and y of a saved result.
fn from_result(path: &Path) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    #[derive(serde::Deserialize)]
    struct Point {
        x: Option<Vec<f64>>,
        y: Option<Vec<f64>>,
    }
    let hint = "hint: it is what `bilevo solve --format json` prints";
    let text = bounded_text(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let point: Point =
        serde_json::from_str(&text).with_context(|| format!("`{}` is not a result\n{hint}", path.display()))?;
    match (point.x, point.y) {
        (Some(x), Some(y)) => Ok((x, y)),
        _ => bail!("`{}` has no x and y\n{hint}", path.display()),
    }
}

/// The content of a file or of standard input, unless it is far longer than any result.
fn bounded_text(path: &Path) -> std::io::Result<String> {
    const MOST: usize = 16_000_000;
    let mut text = String::new();
    match path == Path::new("-") {
        true => std::io::stdin().take(MOST as u64 + 1).read_to_string(&mut text)?,
        false => File::open(path)?.take(MOST as u64 + 1).read_to_string(&mut text)?,
    };
    if text.len() <= MOST { Ok(text) } else { Err(std::io::Error::other(format!("it has more than {MOST} bytes"))) }
}

/// The answer of a run.
fn solved(args: &Args, source: &dyn Source) -> anyhow::Result<Claim> {
    let mut solver = Solver::new(source);
    if let Some(seed) = args.seed {
        solver = solver.seed(seed);
    }
    let (start, result): (Instant, RunResult) = (Instant::now(), solver.run()?);
    let seconds = start.elapsed().as_secs_f64();
    say(format_args!("solved in {seconds:.2} s with seed {}", result.id.seed));
    match result.solution {
        Some(solution) => Ok(Claim::Point { x: solution.x, y: solution.y }),
        None => bail!("the run found no answer to prove\nhint: `bilevo solve {}` says why", args.problem),
    }
}

fn print(proof: &Proof, id: &str, names: Option<&Names>) -> anyhow::Result<()> {
    let mut out = output::stdout();
    heading(&mut out, format_args!("{id} · proof"))?;
    let own = [names.map(|names| &*names.x), names.map(|names| &*names.y)];
    for ((name, values), own) in [("x", &proof.x), ("y", &proof.y)].into_iter().zip(own) {
        if let Some(values) = values {
            line(&mut out, name, point(own, values))?;
        }
    }
    line(&mut out, "F", short(proof.upper_value))?;
    if let Some(follower) = &proof.follower {
        let style = match follower.verdict {
            FollowerVerdict::Proven => GOOD,
            FollowerVerdict::Refuted => BAD,
            FollowerVerdict::Open => WARN,
        };
        let spent = effort(follower.boxes, follower.seconds);
        line(&mut out, "follower", format_args!("{style}{}{style:#} ({spent})", follower.words(names)))?;
    }
    if let (Some(leader), Some(words)) = (&proof.leader, proof.leader_words(names)) {
        let style = match leader.verdict {
            LeaderVerdict::Proven if proof.refuted_answer().is_some() => WARN,
            LeaderVerdict::Proven => GOOD,
            LeaderVerdict::Better => BAD,
            LeaderVerdict::Open => WARN,
        };
        let spent = effort(leader.boxes, leader.seconds);
        line(&mut out, "leader", format_args!("{style}{words}{style:#} ({spent})"))?;
    }
    Ok(out.flush()?)
}

fn effort(boxes: u64, seconds: Option<f64>) -> String {
    let boxes = if boxes == 1 { "1 box".into() } else { format!("{} boxes", output::grouped(boxes)) };
    seconds.map_or(boxes.clone(), |seconds| format!("{boxes}, {seconds:.2} s"))
}
