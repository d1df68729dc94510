//! `bilevo eval PROBLEM --x … --y …`: both objectives and every constraint at one point.

use crate::args::{Format, SizeArgs};
use crate::output::{self, WARN, counted, short};
use crate::{Exit, table};
use anyhow::{Context, bail};
use bilevo::{BilevelProblem, Level, LowerConstraints};
use serde::Serialize;
use std::io::Write;

/// Evaluate a problem at one point
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A built-in problem (see `bilevo list problems`)
    problem: String,
    /// The leader's decision: numbers separated by blanks or commas
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    x: Vector,
    /// The follower's answer
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    y: Vector,
    #[command(flatten)]
    size: SizeArgs,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Debug)]
struct Vector(Vec<f64>);

impl std::str::FromStr for Vector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = text.split([' ', ',', '\t']).filter(|word| !word.is_empty());
        let number = |word: &str| match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("`{word}` is not a finite number")),
        };
        words.map(number).collect::<Result<_, _>>().map(Vector)
    }
}

#[derive(Serialize)]
struct Evaluation<'a> {
    problem: &'a str,
    x: &'a [f64],
    y: &'a [f64],
    #[serde(rename = "F")]
    upper_value: f64,
    #[serde(rename = "f")]
    lower_value: f64,
    upper_constraints: Vec<f64>,
    lower_constraints: Vec<f64>,
    upper_violation: f64,
    lower_violation: f64,
    inside_box: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let problem = args.size.problem(&args.problem)?;
    let spec = problem.spec();
    let (x, y) = (&args.x.0, &args.y.0);
    for (name, values, expected) in [("--x", x, spec.upper.dim()), ("--y", y, spec.lower.dim())] {
        if values.len() != expected {
            let hint = "`bilevo list problems` shows the sizes; --dims chooses another one";
            let numbers = counted(values.len() as u64, "number");
            bail!("`{name}` has {numbers}, {} takes {expected}\nhint: {hint}", args.problem);
        }
    }
    let (upper_value, upper_constraints) = evaluate(&*problem, Level::Upper, x, y)?;
    let (lower_value, lower_constraints) = evaluate(&*problem, Level::Lower, x, y)?;
    // The sum of no numbers is -0, which nobody wants to read.
    let lower_violation = spec.violation(Level::Lower, &lower_constraints) + 0.0;
    let added = if spec.lower_constraints == LowerConstraints::Added { lower_violation } else { 0.0 };
    let inside = |values: &[f64], bounds: &[(f64, f64)]| {
        values.iter().zip(bounds).all(|(value, (low, high))| (low..=high).contains(&value))
    };
    let evaluation = Evaluation {
        problem: &spec.name,
        x,
        y,
        upper_value,
        lower_value,
        upper_violation: spec.violation(Level::Upper, &upper_constraints) + added,
        lower_violation,
        upper_constraints,
        lower_constraints,
        inside_box: inside(x, &spec.upper.bounds) && inside(y, &spec.lower.bounds),
    };
    match args.format {
        Format::Json => output::json(&evaluation)?,
        Format::Text => print(&evaluation)?,
    }
    Ok(Exit::Done)
}

fn evaluate(problem: &dyn BilevelProblem, level: Level, x: &[f64], y: &[f64]) -> anyhow::Result<(f64, Vec<f64>)> {
    let mut constraints = Vec::new();
    let value = problem.evaluate(level, x, y, &mut constraints).map_err(anyhow::Error::msg);
    Ok((value.with_context(|| format!("the {level} evaluation failed"))?, constraints))
}

fn print(evaluation: &Evaluation<'_>) -> anyhow::Result<()> {
    let mut out = output::stdout();
    table::line(&mut out, "F", short(evaluation.upper_value))?;
    table::line(&mut out, "f", short(evaluation.lower_value))?;
    for (name, values) in [("upper", &evaluation.upper_constraints), ("lower", &evaluation.lower_constraints)] {
        for (index, &value) in values.iter().enumerate() {
            let label = format!("{name} g{}", index + 1);
            table::line(&mut out, &label, short(value))?;
        }
    }
    let (upper, lower) = (short(evaluation.upper_violation), short(evaluation.lower_violation));
    table::line(&mut out, "violation", format_args!("{upper} upper, {lower} lower"))?;
    if !evaluation.inside_box {
        table::line(&mut out, "box", format_args!("{WARN}the point lies outside{WARN:#}"))?;
    }
    Ok(out.flush()?)
}
