//! Fills the template of a run's report.

use super::next::{Place, advice, place};
use super::{FEASIBLE, RunReport, figures};
use crate::report::ReportError;
use crate::report::page::{TablePart, inline};
use crate::tables::{Cell, Table};
use askama::Template;
use bilevo::audit::around::{Bound, Slice, SlicePoint};
use bilevo::printable::{digits, grouped, short};
use bilevo::{Direction, Level, VERSION};

#[derive(Template)]
#[template(path = "run.html")]
struct Page {
    title: String,
    lead: String,
    tiles: Vec<Tile>,
    /// The tables of the variables, and whether each is so long that it is folded.
    variables: Vec<(String, bool)>,
    verdict: &'static str,
    verdict_class: &'static str,
    reasons: Vec<Sentence>,
    history: Option<String>,
    /// Whether the first of the wide pictures is the curve of F.
    curve: bool,
    wide: Vec<String>,
    slices: Vec<(&'static str, Vec<String>)>,
    /// Whether the pictures leave out some of the follower's variables.
    leaves_out: bool,
    /// Whether a variable of the follower has no picture, because no change of it alone is feasible.
    stuck: bool,
    /// Whether answers that looked better than they were have left peaks in the curve.
    peaks: bool,
    sensitivity: Option<String>,
    constraints: Vec<Bound>,
    constraints_table: Option<String>,
    budget: String,
    advice: Vec<Sentence>,
    facts: Vec<(&'static str, String)>,
}

/// A table of more variables than this is folded.
const LONG: usize = 20;

/// The parts of a sentence: text and code in turn, beginning with text.
type Sentence = Vec<String>;

/// A sentence with code between backticks.
fn sentence(text: &str) -> Sentence {
    text.split('`').map(String::from).collect()
}

struct Tile {
    name: &'static str,
    value: String,
    detail: String,
}

pub(super) fn write(report: &RunReport<'_>) -> Result<String, ReportError> {
    let result = report.result;
    let table = |table: &Table| TablePart { table }.render();
    let pictures = [figures::progress(report), figures::searches(report)];
    let wide = pictures.iter().flatten().enumerate().map(|(k, scene)| inline(scene, &format!("wide{k}")));
    let mut slices = Vec::new();
    let headings = ["When the leader moves", "When the follower moves"];
    for (heading, scenes) in headings.into_iter().zip(figures::slices(report)) {
        let id = &heading[9..12];
        let inlined: Vec<_> = scenes.iter().enumerate().map(|(k, s)| inline(s, &format!("{id}{k}"))).collect();
        if !inlined.is_empty() {
            slices.push((heading, inlined));
        }
    }
    let (verdict, verdict_class) = match result.success {
        true => ("All checks passed.", "good"),
        false => ("This answer should not be trusted as it stands.", "bad"),
    };
    let levels = [Level::Upper, Level::Lower].into_iter().filter(|&level| !report.point(level).is_empty());
    let page = Page {
        title: report.spec.name.clone(),
        lead: lead(report),
        tiles: tiles(report),
        variables: levels
            .map(|level| Ok((table(&variables(report, level))?, report.point(level).len() > LONG)))
            .collect::<Result<_, ReportError>>()?,
        verdict,
        verdict_class,
        reasons: reasons(report).iter().map(|text| sentence(text)).collect(),
        history: (!result.history.is_empty()).then(|| table(&history(report))).transpose()?,
        curve: pictures[0].is_some(),
        wide: wide.collect(),
        slices,
        leaves_out: figures::leaves_out(report),
        stuck: figures::leaves_out_stuck(report),
        peaks: figures::has_peaks(report) && !report.spec.is_oracle_alone(),
        sensitivity: sensitivity(report).map(|t| table(&t)).transpose()?,
        constraints: report.around.constraints.clone(),
        constraints_table: constraints(report).map(|t| table(&t)).transpose()?,
        budget: table(&budget(report))?,
        advice: advice(report).iter().map(|text| sentence(text)).collect(),
        facts: facts(report),
    };
    Ok(page.render()?)
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or("–".into(), short)
}

fn lead(report: &RunReport<'_>) -> String {
    let result = report.result;
    let Some(value) = result.upper_value() else { return "The run found no answer.".into() };
    let found = match report.is_infeasible() {
        true => "No feasible answer was found. The one shown here",
        false => "The best answer found",
    };
    format!(
        "{found} has F = {}. The run ended after {} evaluations: {}.",
        report.with_unit("F", short(value)),
        grouped(result.evaluations.total()),
        result.stop
    )
}

fn tiles(report: &RunReport<'_>) -> Vec<Tile> {
    let result = report.result;
    let goal = |level: Level| match report.spec.level(level).direction {
        Direction::Minimize => "minimised",
        Direction::Maximize => "maximised",
    };
    let unit = |name: &str| report.labels.unit(name).map_or(String::new(), |unit| format!("{unit}; "));
    let upper = format!("{}the leader's objective, {}", unit("F"), goal(Level::Upper));
    let lower = format!("{}the follower's objective, {}", unit("f"), goal(Level::Lower));
    let known = result.accuracy.map(|accuracy| format!("; {} from the best known", short(accuracy.upper)));
    let violation = match (result.upper_violation(), result.lower_violation()) {
        (Some(upper), Some(lower)) => short(upper.max(lower)),
        _ => "–".into(),
    };
    let tile = |name, value, detail| Tile { name, value, detail };
    let mut tiles = vec![tile("F", number(result.upper_value()), upper + &known.unwrap_or_default())];
    // The follower's own solver need not report f.
    if !report.spec.is_oracle_alone() || result.lower_value().is_some_and(f64::is_finite) {
        tiles.push(tile("f", number(result.lower_value()), lower));
    }
    tiles.extend([
        tile("Violation", violation, "the worse of both levels; 0 is feasible".into()),
        tile(
            "Evaluations",
            grouped(result.evaluations.total()),
            format!("{} upper, {} lower", grouped(result.evaluations.upper), grouped(result.evaluations.lower)),
        ),
    ]);
    tiles
}

/// A table with a first column of names.
fn table(title: &str, columns: &[&str], rows: Vec<Vec<String>>, note: &str) -> Table {
    let rows = rows.into_iter().map(|row| row.into_iter().map(Cell::new).collect()).collect();
    Table { rows, note: note.into(), ..Table::new(title, 1, columns) }
}

fn variables(report: &RunReport<'_>, level: Level) -> Table {
    let title = if level == Level::Upper { "The leader's decision" } else { "The follower's answer" };
    let space = &report.spec.level(level).space;
    let row = |(index, value): (usize, &f64)| {
        let range = match index < space.dim() {
            true => format!("{} to {}", short(space.variable(index).low), short(space.variable(index).high)),
            false => "–".into(),
        };
        let place = match place(report, level, index) {
            Place::Unknown => "–",
            Place::Inside => "inside",
            Place::Fixed => "fixed",
            Place::AtLow => "at its lower bound",
            Place::AtHigh => "at its upper bound",
        };
        let name = report.name(level, index);
        vec![name.clone(), report.with_unit(&name, short(*value)), range, place.into()]
    };
    let mut rows: Vec<Vec<String>> = report.point(level).iter().enumerate().map(row).collect();
    let columns: &[&str] = match space.dim() {
        // The follower's own solver has no box.
        0 => &["variable", "value"],
        _ => &["variable", "value", "range", "where"],
    };
    rows.iter_mut().for_each(|row| row.truncate(columns.len()));
    table(title, columns, rows, "")
}

/// A message as a sentence of a report. A single letter at its beginning is the name of a variable.
fn capitalised(message: &str) -> String {
    let mut letters = message.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_alphabetic() => {
            format!("{}{}. ", first.to_uppercase(), letters.as_str())
        }
        _ => format!("{message}. "),
    }
}

/// The reasons to trust the answer, or not to.
fn reasons(report: &RunReport<'_>) -> Vec<String> {
    let result = report.result;
    let mut reasons: Vec<String> =
        result.warnings.iter().map(|warning| warning.message.split("\nhint: ").map(capitalised).collect()).collect();
    reasons.extend(result.verification.as_ref().map(|found| match report.spec.is_oracle_alone() {
        true if found.restarts > 1 => {
            let (agreeing, searches) = (found.agreeing, found.restarts);
            format!("In the run: {agreeing} of {searches} searches agree; the follower's own solver gave its answers.")
        }
        true => "In the run: one search; the follower's own solver gave its answers.".into(),
        false => format!("In the run: {found}."),
    }));
    let failed = result.evaluations.failed_upper + result.evaluations.failed_lower;
    if failed > 0 {
        let all = grouped(result.evaluations.total());
        reasons.push(format!("{} of {all} evaluations failed; the run continued without them.", grouped(failed)));
    }
    reasons.extend(result.noise.iter().map(|noise| format!("The values are noisy: {noise}.")));
    reasons.extend(result.likeness.map(|likeness| format!("In tests: {likeness}.")));
    reasons.extend(result.audit.iter().map(|audit| format!("The audit, an independent check: {}.", audit.words)));
    // If the audit relies on the proof, it already says so.
    let said = |words: &str| result.audit.as_ref().is_some_and(|audit| audit.words.starts_with(words));
    let proofs = result.proof.iter().flat_map(|proof| proof.words(result.names.as_ref())).filter(|words| !said(words));
    reasons.extend(proofs.map(|words| format!("By proof from the formulas: {words}.")));
    if let Some(solved) = result.solved {
        let words = if solved { "It is the best known solution." } else { "It is not the best known solution." };
        reasons.push(words.into());
    }
    reasons
}

fn history(report: &RunReport<'_>) -> Table {
    let rows = report.searches().enumerate().map(|(k, step)| {
        let value = if step.feasible || step.upper_value.is_none() {
            number(step.upper_value)
        } else {
            format!("{} (infeasible)", number(step.upper_value))
        };
        let search = format!("{} {}", k + 1, step.search);
        vec![search, step.restart.to_string(), value, step.fate.to_string(), grouped(step.evaluations)]
    });
    let mut note = String::from(
        "Confirmed: a recheck of the follower found no better answer. Corrected: it found one. Not rechecked: \
                another search continued from there, or it was no better. A tie search assumes that the follower \
                favours the leader, so its F can be reached only if it is confirmed.",
    );
    let left_out = report.result.history.len() - report.searches().count();
    if left_out > 0 {
        note += &format!(" Searches that ended at once, without an evaluation: {left_out}; they are not listed.");
    }
    table(
        "Searches, in the order of the run",
        &["search", "restart", "F at its end", "recheck", "evaluations"],
        rows.collect(),
        &note,
    )
}

/// How much F changes if a variable moves by about a hundredth of its range.
fn sensitivity(report: &RunReport<'_>) -> Option<Table> {
    let row = |slice: &Slice| {
        let here = report.point(Level::Upper)[slice.index];
        let value = slice.points.iter().find(|p| p.at == here)?.upper_value?;
        // A slice has other points too, and one of them may lie very close to the answer.
        let range = slice.points.last()?.at - slice.points.first()?.at;
        let whole = report.spec.upper.space.variable(slice.index).is_whole();
        let step = if whole { 1.0 } else { range / 100.0 };
        let beside = |way: f64| {
            let moved = |p: &SlicePoint| (p.at - here) * way;
            let far = slice.points.iter().filter(|p| moved(p) > step / 2.0);
            far.min_by(|a, b| (moved(a) - step).abs().total_cmp(&(moved(b) - step).abs()))
        };
        let (down, up) = (beside(-1.0), beside(1.0));
        let change = |neighbour: Option<&SlicePoint>| match neighbour {
            Some(p) if p.feasible => {
                let change = p.upper_value.map_or("–".into(), |v| digits(v - value, 3));
                format!("{change} (at {})", digits(p.at, 4))
            }
            Some(p) => format!("infeasible (at {})", digits(p.at, 4)),
            None => "–".into(),
        };
        Some(vec![report.name(Level::Upper, slice.index), short(here), change(down), change(up)])
    };
    let rows: Vec<_> = report.slices(Level::Upper).filter_map(row).collect();
    let columns = ["variable", "value", "change of F one step down", "one step up"];
    let note = "A step is a hundredth of the range, or 1 for a whole number; the follower responds again.";
    (!rows.is_empty()).then(|| table("Sensitivity", &columns, rows, note))
}

fn constraints(report: &RunReport<'_>) -> Option<Table> {
    let tolerance =
        |bound: &Bound| if bound.equality { report.spec.equality_tolerance.max(FEASIBLE) } else { FEASIBLE };
    let row = |bound: &Bound| {
        let who = if bound.level == Level::Upper { "leader" } else { "follower" };
        let kind = if bound.equality { "= 0" } else { "≤ 0" };
        let missed = if bound.equality { bound.value.abs() } else { bound.value };
        let (binds, price) = match bound.binds {
            // What a violated constraint costs says nothing.
            _ if missed > tolerance(bound) => ("violated", None),
            Some(true) => ("yes", bound.price),
            Some(false) => ("no", bound.price),
            None => ("–", bound.price),
        };
        let written = report.labels.constraint(bound.level, bound.index);
        let name = written.map_or_else(|| format!("{who} {}", bound.index + 1), |text| format!("{who}: {text}"));
        vec![name, binds.into(), number(price), short(bound.value), kind.into()]
    };
    let rows: Vec<_> = report.around.constraints.iter().map(row).collect();
    let note = "The value is left side minus right side. The price of a binding constraint is how much the objective \
                of its level would gain if it were relaxed by one unit, estimated from slopes; the leader's prices \
                include the follower's reaction.";
    // On a phone, the first columns are in sight.
    let columns = ["constraint", "binds", "price", "value", "kind"];
    (!rows.is_empty()).then(|| table("Constraints at the answer", &columns, rows, note))
}

fn budget(report: &RunReport<'_>) -> Table {
    let counts = &report.result.evaluations;
    let searches = counts.lower.saturating_sub(counts.refine_lower);
    let mut parts = vec![("leader's functions", counts.upper)];
    match report.spec.is_oracle_alone() {
        true => parts.push(("follower's solver", counts.lower)),
        false => parts.extend([
            ("follower's functions, in searches", searches),
            ("follower's functions, in rechecks", counts.refine_lower),
        ]),
    }
    parts.extend(report.result.audit.as_ref().map(|a| ("audit", a.evaluations.upper + a.evaluations.lower)));
    let around = &report.around.evaluations;
    parts.push(("this report", around.upper + around.lower));
    let total: u64 = parts.iter().map(|part| part.1).sum();
    let share = |count: u64| format!("{:.1} %", 100.0 * count as f64 / total.max(1) as f64);
    let rows = parts.iter().map(|(name, count)| vec![(*name).to_string(), grouped(*count), share(*count)]);
    table("Evaluations by part", &["part", "evaluations", "share"], rows.collect(), "")
}

fn facts(report: &RunReport<'_>) -> Vec<(&'static str, String)> {
    let (result, id) = (report.result, &report.result.id);
    let variables = match report.spec.is_oracle_alone() {
        true => format!("{} for the leader; the follower has its own solver", id.upper_dim),
        false => format!("{} for the leader, {} for the follower", id.upper_dim, id.lower_dim),
    };
    let mut facts = vec![
        ("Command", report.command.to_string()),
        ("Version of bilevo", VERSION.to_string()),
        ("Method", id.method.clone()),
        ("Seed", id.seed.to_string()),
        ("Variables", variables),
        ("Time", format!("{:.2} s", result.times.seconds)),
    ];
    if !id.settings.is_empty() {
        facts.push(("Settings", id.settings.clone()));
    }
    facts.retain(|(name, value)| *name != "Command" || !value.is_empty());
    facts
}
