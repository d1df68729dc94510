//! What is the same for expressions and programs: the name, tolerances, the position, budgets and known optima.

use super::levels::Place;
use super::reader::{Field, Reader};
use crate::expression::scope::Scope;
use bilevo_core::config::PositionKind;
use bilevo_core::printable::printable;
use bilevo_core::problem::{BestKnown, Budget, LowerConstraints, ProblemSpec};
use std::path::PathBuf;

/// A known optimum with its point, if the file names one.
pub(crate) struct KnownPoint {
    pub(crate) best: BestKnown,
    pub(crate) at: Option<(Vec<f64>, Vec<f64>)>,
    pub(crate) place: Place,
}

/// The name, or that of the file without its ending.
pub(super) fn problem_name(reader: &mut Reader, field: Option<&Field>) -> String {
    const MAX_NAME: usize = 100;
    let stem = || PathBuf::from(&reader.document.name).file_stem().map(|stem| printable(&stem.to_string_lossy()));
    let Some(field) = field else { return stem().unwrap_or_else(|| "problem".into()) };
    let Some(name) = reader.text(field, "a name is one line of text") else { return String::new() };
    if name.trim().is_empty() || name.len() > MAX_NAME || name.contains(['\n', '\t']) || printable(name) != name {
        reader.error(field, "this cannot be a name", format!("one line of 1 to {MAX_NAME} characters"));
    }
    name.into()
}

const POSITION_HINT: &str = "among answers equally good for the follower, `optimistic` takes the one best for the \
                             leader, `pessimistic` the worst; leave it out if there are no ties";

/// Fields that are the same for expressions and programs; returns the known optima.
pub(super) fn general(reader: &mut Reader, top: &[Field], scope: &Scope, spec: &mut ProblemSpec) -> Vec<KnownPoint> {
    let mut points = Vec::new();
    for field in top {
        match field.key.as_str() {
            "equality_tolerance" => match reader.known(field, scope, &[]) {
                Some(tolerance) if tolerance >= 0.0 => spec.equality_tolerance = tolerance,
                Some(_) => reader.error(field, "the tolerance is negative", "equations hold within it; 1e-6 is usual"),
                None => {}
            },
            "lower_constraints" => match reader.text(field, "leave it out, or write \"shared\"") {
                Some("added") => spec.lower_constraints = LowerConstraints::Added,
                Some("shared") => spec.lower_constraints = LowerConstraints::Shared,
                Some(_) => reader.error(
                    field,
                    "neither `added` nor `shared`",
                    "`shared` if the upper level lists the lower constraints too; otherwise leave it out",
                ),
                None => {}
            },
            "position" => match reader.text(field, POSITION_HINT) {
                Some("optimistic") => spec.position = PositionKind::Optimistic,
                Some("pessimistic") => spec.position = PositionKind::Pessimistic,
                Some(_) => reader.error(field, "neither `optimistic` nor `pessimistic`", POSITION_HINT),
                None => {}
            },
            "position_tolerance" => match reader.known(field, scope, &[]) {
                Some(tolerance) if tolerance > 0.0 => spec.position_tolerance = Some(tolerance),
                Some(_) => reader.error(
                    field,
                    "the tolerance is not above 0",
                    "answers whose f differs by no more, relative to max(1, |f|), are equally good; 1e-4 is usual",
                ),
                None => {}
            },
            "budget" => spec.budget = budget(reader, field, spec),
            "best_known" => match field.elements() {
                Some(list) => points.extend(list.iter().filter_map(|one| best_known(reader, one, scope, spec))),
                None => points.extend(best_known(reader, field, scope, spec)),
            },
            _ => {}
        }
    }
    spec.best_known = points.iter().map(|point: &KnownPoint| point.best).collect();
    points
}

fn budget(reader: &mut Reader, field: &Field, spec: &ProblemSpec) -> Option<Budget> {
    let mut budget = Budget::for_dim(spec.upper.dim() + spec.lower.dim());
    let fields = reader.table(field, "[budget] holds numbers of evaluations")?;
    reader.unknown_keys(&fields, &["upper_evals", "upper_window", "lower_evals", "lower_window"]);
    for field in &fields {
        let Some(value) = reader.whole(field, 1) else { continue };
        match field.key.as_str() {
            "upper_evals" => budget.upper_evals = value,
            "upper_window" => budget.upper_window = value,
            "lower_evals" => budget.lower_evals = value,
            "lower_window" => budget.lower_window = value,
            _ => {}
        }
    }
    Some(budget)
}

fn best_known(reader: &mut Reader, field: &Field, scope: &Scope, spec: &ProblemSpec) -> Option<KnownPoint> {
    let fields = reader.table(field, "[best_known] holds `upper = F` and, if known, `lower = f`")?;
    reader.unknown_keys(&fields, &["upper", "lower", "x", "y"]);
    let find = |key: &str| fields.iter().find(|field| field.key == key);
    let Some(upper) = find("upper") else {
        reader.error(field, "`upper` is missing", "add the best known F: `upper = 16.0`");
        return None;
    };
    let best = BestKnown {
        upper: reader.known(upper, scope, &[])?,
        lower: match find("lower") {
            Some(lower) => Some(reader.known(lower, scope, &[])?),
            None => None,
        },
    };
    let mut point = |key: &str, dim: usize| -> Option<Vec<f64>> {
        let field = find(key)?;
        let list = match field.elements() {
            Some(list) => list,
            None => vec![field.clone()],
        };
        let values = list.iter().map(|one| reader.known(one, scope, &[])).collect::<Option<Vec<_>>>()?;
        if values.len() != dim && dim > 0 {
            reader.error(
                field,
                format!("{} numbers for {dim} variables", values.len()),
                "one number for each variable, in the order of the file",
            );
        }
        Some(values)
    };
    let (x, y) = (point("x", spec.upper.dim()), point("y", spec.lower.dim()));
    Some(KnownPoint { best, at: x.zip(y), place: Place { field: field.path.clone(), span: field.span.clone() } })
}
