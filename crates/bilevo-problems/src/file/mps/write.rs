//! An instance as the text of a problem file.

use super::Mistake;
use super::auxiliary::Lower;
use super::rows::{Column, Instance, Row};
use crate::expression::scope::Scope;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The text.
pub(super) fn problem(name: &str, instance: &Instance, lower: &Lower) -> Result<String, Mistake> {
    let names = names(&instance.columns);
    let own = |index: &usize| lower.columns.contains_key(index);
    let all = || 0..instance.columns.len();
    let mut text = format!("name = {}\n\n[upper]\n", quoted(name));
    let goal = |maximize: bool| if maximize { "maximize" } else { "minimize" };
    let objective = sum(&instance.objective, &names, instance.offset);
    // A follower with an empty objective is indifferent. Writing to memory cannot fail.
    let _ = writeln!(text, "{} = \"{objective}\"", goal(instance.maximize));
    text.push_str(&variables(instance, &names, all().filter(|index| !own(index)))?);
    text.push_str(&constraints(instance, &names, |row| !lower.rows[row])?);
    let _ = writeln!(text, "\n[lower]\n{} = \"{}\"", goal(lower.maximize), sum(&lower.columns, &names, 0.0));
    text.push_str(&variables(instance, &names, all().filter(own))?);
    text.push_str(&constraints(instance, &names, |row| lower.rows[row])?);
    Ok(text)
}

/// Names that formulas can use, each unique: other characters become `_`.
fn names(columns: &[Column]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let name = |column: &Column| {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = column.name.chars().map(plain).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || Scope::default().refuse(&name).is_some() {
            name.insert_str(0, "v_");
        }
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    columns.iter().map(name).collect()
}

fn quoted(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect();
    format!("\"{plain}\"")
}

/// A linear function as a formula.
fn sum(terms: &BTreeMap<usize, f64>, names: &[String], offset: f64) -> String {
    let mut text = String::new();
    for (index, weight) in terms.iter().filter(|(_, weight)| **weight != 0.0) {
        let sign = match (text.is_empty(), *weight < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let _ = match weight.abs() {
            1.0 => write!(text, "{sign}{}", names[*index]),
            size => write!(text, "{sign}{size}*{}", names[*index]),
        };
    }
    if offset != 0.0 || text.is_empty() {
        let _ = write!(text, "{}{}", if text.is_empty() { "" } else { " + " }, offset);
    }
    text
}

fn variables(instance: &Instance, names: &[String], own: impl Iterator<Item = usize>) -> Result<String, Mistake> {
    let mut text = String::from("variables = { ");
    for (place, index) in own.enumerate() {
        let Column { name, whole, low, high } = &instance.columns[index];
        if !(low.is_finite() && high.is_finite()) {
            let message = format!("`{name}` has no finite bounds: {low} to {high}");
            return Err(Mistake::new(0, message, "add a line under BOUNDS, as in ` UP BND x 100`"));
        }
        let before = if place > 0 { ", " } else { "" };
        let _ = match whole {
            true => write!(text, "{before}{} = {{ integer = [{low:?}, {high:?}] }}", names[index]),
            false => write!(text, "{before}{} = [{low:?}, {high:?}]", names[index]),
        };
    }
    text.push_str(" }\n");
    Ok(text)
}

fn constraints(instance: &Instance, names: &[String], own: impl Fn(usize) -> bool) -> Result<String, Mistake> {
    let mut all = Vec::new();
    for (_, row) in instance.rows.iter().enumerate().filter(|(index, _)| own(*index)) {
        let Row { name, terms, low, high, .. } = row;
        if terms.values().all(|weight| *weight == 0.0) {
            if *low > 0.0 || *high < 0.0 {
                return Err(Mistake::new(0, format!("row `{name}` has no variables and never holds"), "remove it"));
            }
            continue;
        }
        let formula = sum(terms, names, 0.0);
        match (low.is_finite(), high.is_finite()) {
            (true, true) if low == high => all.push(format!("\"{formula} == {low}\"")),
            _ => {
                all.extend(low.is_finite().then(|| format!("\"{formula} >= {low}\"")));
                all.extend(high.is_finite().then(|| format!("\"{formula} <= {high}\"")));
            }
        }
    }
    if all.is_empty() { Ok(String::new()) } else { Ok(format!("subject_to = [{}]\n", all.join(", "))) }
}
