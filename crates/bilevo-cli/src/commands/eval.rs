//! `bilevo eval PROBLEM --x … --y …`: both objectives and every constraint at one point.

use crate::args::{Format, SizeArgs};
use crate::output::{self, WARN, counted, short, vector};
use crate::{Exit, table};
use anyhow::bail;
use bilevo::{Batch, Evaluator, Follower, Level, OracleAnswer, ProblemSpec, Replies, Source, source};
use serde::Serialize;
use std::io::Write;

/// Evaluate a problem at one point
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A built-in problem (see `bilevo list problems`) or a problem file
    problem: String,
    /// The leader's decision: numbers separated by spaces or commas
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    x: Vector,
    /// The follower's answer; leave it out if the follower has its own solver
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    y: Option<Vector>,
    #[command(flatten)]
    size: SizeArgs,
    /// Text for people, JSON for programs
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Debug)]
pub(super) struct Vector(pub(super) Vec<f64>);

impl std::str::FromStr for Vector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |word: &str| match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("`{word}` is not a finite number")),
        };
        let fields = text.split(',').map(|field| match field.split_whitespace().collect::<Vec<_>>() {
            words if words.is_empty() => Err("a number is missing next to a comma".to_string()),
            words => words.into_iter().map(number).collect::<Result<Vec<f64>, _>>(),
        });
        fields.collect::<Result<Vec<_>, _>>().map(|fields| Vector(fields.concat()))
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
    /// Variables outside their boxes.
    outside: Vec<Outside>,
    /// Whether y comes from the follower's own solver.
    #[serde(skip)]
    asked: bool,
}

#[derive(Serialize)]
struct Outside {
    variable: String,
    value: f64,
    low: f64,
    high: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let source = source::open(&args.problem, args.size.dims())?;
    let spec = source.spec();
    let (x, given) = (&args.x.0, args.y.as_ref().map(|y| &y.0));
    let solver = spec.follower == Follower::Oracle;
    if given.is_some() && spec.is_oracle_alone() {
        bail!("the follower has its own solver, which computes the answer\nhint: leave out `--y`");
    }
    if given.is_none() && !solver {
        let numbers = counted(spec.lower.dim() as u64, "number");
        bail!("`--y` is missing\nhint: {} needs the follower's answer, {numbers}", args.problem);
    }
    let sizes = [("--x", Some(x), spec.upper.dim()), ("--y", given, spec.lower.dim())];
    for (name, values, expected) in sizes.into_iter().filter_map(|(name, v, expected)| Some((name, v?, expected))) {
        if values.len() != expected {
            let hint = format!("`bilevo explain {}` shows its variables", args.problem);
            let numbers = counted(values.len() as u64, "number");
            bail!("`{name}` has {numbers}, {} takes {expected}\nhint: {hint}", args.problem);
        }
    }
    let mut evaluator = source.evaluator(1)?;
    let answer = match given {
        Some(y) => OracleAnswer::new(y.clone()),
        None => {
            let replies = evaluate(&mut *evaluator, "follower's own", Batch::of_decisions(spec, [&x[..]])?)?;
            replies.answers().given.first().cloned().unwrap_or_default()
        }
    };
    let y = &answer.y.clone();
    let upper = match solver {
        true => Batch::of_answers(spec, [(&x[..], answer.clone())])?,
        false => Batch::from_points(spec, Level::Upper, [(&x[..], &y[..])])?,
    };
    let (upper_value, upper_constraints) = value(&evaluate(&mut *evaluator, "upper", upper)?, spec);
    let (lower_value, lower_constraints) = match spec.is_oracle_alone() {
        true => (answer.value.unwrap_or(f64::NAN), Vec::new()),
        false => {
            let batch = Batch::from_points(spec, Level::Lower, [(&x[..], &y[..])])?;
            value(&evaluate(&mut *evaluator, "lower", batch)?, spec)
        }
    };
    let lower_violation = spec.violation(Level::Lower, &lower_constraints);
    let outside: Vec<Outside> = outside(&*source, Level::Upper, x).chain(outside(&*source, Level::Lower, y)).collect();
    let evaluation = Evaluation {
        problem: &spec.name,
        x,
        y,
        upper_value,
        lower_value,
        upper_violation: spec.upper_violation(spec.violation(Level::Upper, &upper_constraints), lower_violation),
        lower_violation,
        upper_constraints,
        lower_constraints,
        inside_box: outside.is_empty(),
        outside,
        asked: given.is_none(),
    };
    match args.format {
        Format::Json => output::json(&evaluation)?,
        Format::Text => print(&evaluation)?,
    }
    Ok(Exit::Done)
}

/// The variables of a level that lie outside their boxes.
fn outside(source: &dyn Source, level: Level, values: &[f64]) -> impl Iterator<Item = Outside> {
    let boxes = source.spec().level(level).space.bounds().to_vec();
    let variables = source.names(level).into_iter().zip(values.to_vec()).zip(boxes);
    variables
        .map(|((variable, value), (low, high))| Outside { variable, value, low, high })
        .filter(|Outside { value, low, high, .. }| !(low..=high).contains(&value))
}

fn evaluate(evaluator: &mut dyn Evaluator, what: &str, batch: Batch) -> anyhow::Result<Replies> {
    let mut replies = Replies::default();
    replies.start_on(evaluator.spec(), &batch);
    evaluator.evaluate(&batch, &mut replies)?;
    if let Some((_, failure)) = replies.failures().first() {
        bail!("the {what} evaluation failed: {failure}");
    }
    if replies.outcomes().is_empty() {
        bail!("the {what} evaluation gave no answer");
    }
    Ok(replies)
}

/// The first answer, in the problem's own direction.
fn value(replies: &Replies, spec: &ProblemSpec) -> (f64, Vec<f64>) {
    let value = replies.outcomes().first().map_or(f64::NAN, |outcome| outcome.value);
    (spec.level(replies.level()).direction.flip(value), replies.constraints(0).to_vec())
}

fn print(evaluation: &Evaluation<'_>) -> anyhow::Result<()> {
    let mut out = output::stdout();
    table::line(&mut out, "F", short(evaluation.upper_value))?;
    if !evaluation.lower_value.is_nan() {
        table::line(&mut out, "f", short(evaluation.lower_value))?;
    }
    if evaluation.asked {
        table::line(&mut out, "y", vector(evaluation.y))?;
    }
    for (name, values) in [("upper", &evaluation.upper_constraints), ("lower", &evaluation.lower_constraints)] {
        for (index, &value) in values.iter().enumerate() {
            let label = format!("{name} g{}", index + 1);
            table::line(&mut out, &label, short(value))?;
        }
    }
    let (upper, lower) = (short(evaluation.upper_violation), short(evaluation.lower_violation));
    table::line(&mut out, "violation", format_args!("{upper} upper, {lower} lower"))?;
    for Outside { variable, value, low, high } in &evaluation.outside {
        let (value, low, high) = (short(*value), short(*low), short(*high));
        table::line(&mut out, "box", format_args!("{WARN}{variable} = {value} lies outside [{low}, {high}]{WARN:#}"))?;
    }
    Ok(out.flush()?)
}
