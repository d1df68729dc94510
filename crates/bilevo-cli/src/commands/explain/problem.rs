//! `bilevo explain PROBLEM`: variables and boxes, constraints, known optima, source.

use crate::args::Format;
use crate::output::{self, best_known, counted, plain, short, vector};
use crate::table::{columns, heading, line, paragraph};
use bilevo::{BestKnown, Budget, Direction, Level, Source, problems};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct About {
    problem: String,
    about: Option<&'static str>,
    /// The problem file; empty for a built-in problem.
    file: Option<String>,
    /// Hash of that file.
    hash: Option<String>,
    /// Whether it comes in other sizes.
    scalable: bool,
    upper: AboutLevel,
    lower: AboutLevel,
    best_known: Vec<BestKnown>,
    /// Points at which they are attained, if known.
    optima: Vec<Point>,
    /// Why the planted point of a planted problem is optimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    budget: Budget,
}

#[derive(Serialize)]
struct AboutLevel {
    direction: Direction,
    variables: Vec<Variable>,
    inequalities: usize,
    equalities: usize,
    /// The objective as the file writes it; JSON has no field for what only people read.
    #[serde(skip)]
    objective: String,
    /// The constraints likewise; a loop is one of them.
    #[serde(skip)]
    constraints: Vec<String>,
}

/// So many constraints of a level are shown as the file writes them.
const SHOWN: usize = 12;

#[derive(Serialize)]
struct Variable {
    name: String,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct Point {
    x: Vec<f64>,
    y: Vec<f64>,
}

/// Explains the problem of a source.
pub(super) fn explain(source: &dyn Source, format: Format) -> anyhow::Result<()> {
    let about = about(source);
    match format {
        Format::Json => output::json(&about),
        Format::Text => print(&about),
    }
}

fn about(source: &dyn Source) -> About {
    let spec = source.spec();
    let info = problems::info(source.place()).ok();
    let from_file = info.is_none();
    let dims = (spec.upper.dim(), spec.lower.dim());
    let optima = problems::optima(source.place(), Some(dims)).into_iter().map(|(x, y)| Point { x, y });
    About {
        problem: source.id().into(),
        about: info.map(|info| info.about),
        file: from_file.then(|| source.place().into()),
        hash: from_file.then(|| source.hash().into()),
        scalable: info.is_some_and(|info| info.scalable),
        upper: level(source, Level::Upper),
        lower: level(source, Level::Lower),
        best_known: spec.best_known.clone(),
        optima: optima.collect(),
        proof: problems::planted_problem(source.place(), Some(dims)).ok().map(|planted| planted.proof()),
        budget: spec.budget(),
    }
}

fn level(source: &dyn Source, level: Level) -> AboutLevel {
    let spec = source.spec().level(level);
    let variables = source.names(level).into_iter().zip(spec.space.bounds());
    let (objective, constraints) = source.formulas().map(|formulas| formulas.as_written(level)).unwrap_or_default();
    AboutLevel {
        direction: spec.direction,
        variables: variables.map(|(name, &(low, high))| Variable { name, low, high }).collect(),
        inequalities: spec.inequalities,
        equalities: spec.equalities,
        objective: plain(&objective),
        constraints: constraints.iter().map(|text| plain(text)).collect(),
    }
}

/// The objective, the variables and the constraints of a level.
fn print_level(out: &mut impl Write, name: &str, level: &AboutLevel) -> anyhow::Result<()> {
    let verb = if level.direction == Direction::Maximize { "maximises" } else { "minimises" };
    heading(out, format_args!("{name} {verb}"))?;
    if !level.objective.is_empty() {
        paragraph(out, &format!("  {}", level.objective), 4)?;
    }
    let mut rows = vec![["  variable", "from", "to"].map(String::from).to_vec()];
    rows.extend(level.variables.iter().map(|v| vec![format!("  {}", v.name), short(v.low), short(v.high)]));
    columns(out, &rows)?;
    let (inequalities, equations) = (level.inequalities as u64, level.equalities as u64);
    let counts = [(inequalities, counted(inequalities, "inequality")), (equations, counted(equations, "equation"))];
    let counts: Vec<String> = counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    line(out, "constraints", if counts.is_empty() { "none".into() } else { counts.join(", ") })?;
    for constraint in level.constraints.iter().take(SHOWN) {
        paragraph(out, &format!("    {constraint}"), 6)?;
    }
    if level.constraints.len() > SHOWN {
        writeln!(out, "    … and {} more", level.constraints.len() - SHOWN)?;
    }
    Ok(())
}

fn print(about: &About) -> anyhow::Result<()> {
    let out = &mut output::stdout();
    let (upper, lower) = (&about.upper, &about.lower);
    heading(out, format_args!("{} {}+{}", about.problem, upper.variables.len(), lower.variables.len()))?;
    if let Some(words) = about.about {
        writeln!(out, "{words}{}", if about.scalable { "; other sizes with --dims" } else { "" })?;
    }
    writeln!(out)?;
    for (name, level) in [("The leader", upper), ("The follower", lower)] {
        if level.variables.is_empty() {
            writeln!(out, "{name} has its own solver\n")?;
            continue;
        }
        print_level(out, name, level)?;
        writeln!(out)?;
    }
    heading(out, "Known optima")?;
    if about.best_known.is_empty() {
        writeln!(out, "  none")?;
    }
    for (index, best) in about.best_known.iter().enumerate() {
        let lower = best.lower.map(|f| format!(", f = {}", best_known(f))).unwrap_or_default();
        let at = about.optima.get(index).map(|p| format!(" at x = {}, y = {}", vector(&p.x), vector(&p.y)));
        writeln!(out, "  F = {}{lower}{}", best_known(best.upper), at.unwrap_or_default())?;
    }
    for (index, words) in about.proof.iter().flat_map(|proof| proof.lines()).enumerate() {
        writeln!(out, "{}{words}", if index == 0 { "  Why: " } else { "       " })?;
    }
    let Budget { upper_evals, lower_evals, .. } = about.budget;
    writeln!(out)?;
    heading(out, "Budget")?;
    writeln!(out, "  {upper_evals} upper evaluations, {lower_evals} lower evaluations for each lower search")?;
    writeln!(out)?;
    heading(out, "Source")?;
    match &about.file {
        Some(file) => writeln!(out, "  the file {file}, hash {}", about.hash.as_deref().unwrap_or_default())?,
        None => writeln!(out, "  built in")?,
    }
    Ok(out.flush()?)
}
