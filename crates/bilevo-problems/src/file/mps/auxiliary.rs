//! The auxiliary file: which columns and rows are the follower's, and what it minimises.
//!
//! Two forms are in use. By number, from 0: `N 1` and `M 2` say how many there are, then one line each `LC`
//! column, `LR` row, `LO` coefficient of the follower's objective (in the order of the columns), and `OS` 1
//! (minimise) or -1 (maximise). By name: `@VARSBEGIN`, lines of a column and its coefficient, `@VARSEND`,
//! `@CONSTRSBEGIN`, lines of a row, `@CONSTRSEND`.

use super::Mistake;
use super::rows::{Instance, number};
use std::collections::BTreeMap;

/// The follower's part.
#[derive(Clone, Debug, Default)]
pub(super) struct Lower {
    /// Its columns with their coefficients in its objective.
    pub(super) columns: BTreeMap<usize, f64>,
    /// Whether each row is its own.
    pub(super) rows: Vec<bool>,
    pub(super) maximize: bool,
}

/// Reads an auxiliary file for an instance.
pub(super) fn read(text: &str, instance: &Instance) -> Result<Lower, Mistake> {
    let mut lower = Lower { rows: vec![false; instance.rows.len()], ..Lower::default() };
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.split_whitespace().collect::<Vec<_>>()));
    let lines: Vec<(usize, Vec<&str>)> = lines.filter(|(_, fields)| !fields.is_empty()).collect();
    match lines.iter().any(|(_, fields)| fields[0].starts_with('@')) {
        true => by_name(&lines, instance, &mut lower)?,
        false => by_number(&lines, instance, &mut lower)?,
    }
    match lower.columns.len() {
        0 => Err(Mistake::new(0, "it names no variable of the follower", "`LC` lines, or names under @VARSBEGIN")),
        all if all == instance.columns.len() => {
            Err(Mistake::new(0, "all variables are the follower's", "the leader needs one too"))
        }
        _ => Ok(lower),
    }
}

fn by_number(lines: &[(usize, Vec<&str>)], instance: &Instance, lower: &mut Lower) -> Result<(), Mistake> {
    let (mut columns, mut weights, mut counts) = (Vec::new(), Vec::new(), [None, None]);
    for (line, fields) in lines {
        let line = *line;
        let Some(word) = fields.get(1) else {
            return Err(Mistake::new(line, "this line has no value", "as in `LC 3`"));
        };
        let index = |most: usize, what: &str| match word.parse::<usize>() {
            Ok(index) if index < most => Ok(index),
            _ => Err(Mistake::new(
                line,
                format!("`{word}` is no {what}"),
                format!("a number from 0 to {}", most.saturating_sub(1)),
            )),
        };
        match fields[0] {
            "N" => counts[0] = word.parse::<usize>().ok(),
            "M" => counts[1] = word.parse::<usize>().ok(),
            "LC" => columns.push(index(instance.columns.len(), "column")?),
            "LR" => lower.rows[index(instance.rows.len().max(1), "row")?] = true,
            "LO" => weights.push(number(word, line)?),
            "OS" => lower.maximize = *word == "-1",
            "IC" | "IB" => {
                let hint = "write the leader's budget as a row, and what it takes away as rows of the follower";
                return Err(Mistake::new(line, "interdiction given by `IC` and `IB` is not read", hint));
            }
            other => {
                let hint = "known are N, M, LC, LR, LO, OS, and the form with @VARSBEGIN";
                return Err(Mistake::new(line, format!("`{other}` is not read"), hint));
            }
        }
    }
    if columns.len() != weights.len() {
        let message = format!("it has {} `LC` lines and {} `LO` lines", columns.len(), weights.len());
        return Err(Mistake::new(0, message, "one coefficient for each of the follower's variables"));
    }
    let found = [columns.len(), lower.rows.iter().filter(|own| **own).count()];
    for ((count, found), what) in counts.into_iter().zip(found).zip(["N", "M"]) {
        if let Some(count) = count.filter(|count| *count != found) {
            let message = format!("`{what}` says {count}, but there are {found}");
            return Err(Mistake::new(0, message, "is the file complete?"));
        }
    }
    lower.columns = columns.into_iter().zip(weights).collect();
    Ok(())
}

fn by_name(lines: &[(usize, Vec<&str>)], instance: &Instance, lower: &mut Lower) -> Result<(), Mistake> {
    let mut part = "";
    for (line, fields) in lines {
        let line = *line;
        if fields[0].starts_with('@') {
            part = fields[0];
            continue;
        }
        match part {
            "@VARSBEGIN" => {
                let column = instance.columns.iter().position(|column| column.name == fields[0]);
                let Some(column) = column else {
                    return Err(Mistake::new(
                        line,
                        format!("the MPS file has no column `{}`", fields[0]),
                        "check the name",
                    ));
                };
                let weight = fields.get(1).map_or(Ok(0.0), |word| number(word, line))?;
                lower.columns.insert(column, weight);
            }
            "@CONSTRSBEGIN" => {
                let row = instance.rows.iter().position(|row| row.name == fields[0]);
                let Some(row) = row else {
                    return Err(Mistake::new(
                        line,
                        format!("the MPS file has no row `{}`", fields[0]),
                        "check the name",
                    ));
                };
                lower.rows[row] = true;
            }
            // Counts, and the name of the instance.
            _ => {}
        }
    }
    Ok(())
}
