//! Exports: what other programs read is what the rows say, and no name does any harm.

use crate::common::row;
use bilevo_lab::export::{ExportError, csv, ioh_folder, json_lines};
use bilevo_lab::row::Row;
use serde_json::Value;
use std::fs;

const NASTY: [&str; 9] = [
    "<script>alert(1)</script>",
    "quote \" and 'single'",
    "\\LaTeX{} & % $ # _ { } ~ ^",
    "=HYPERLINK(\"http://x\";\"y\")",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\tcell, with\r\nlines",
    "../../etc/passwd",
];

fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A strict reader of RFC 4180.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut lines = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = lines.last_mut().unwrap().last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.push(chars.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => lines.last_mut().unwrap().push(String::new()),
            '\n' if !quoted => lines.push(vec![String::new()]),
            _ => cell.push(c),
        }
    }
    assert!(!quoted);
    lines.pop();
    lines
}

#[test]
fn csv_holds_every_number_exactly() {
    let mut first = row("m", "p", 3);
    let solution = first.result.solution.as_mut().unwrap();
    solution.x = vec![0.1 + 0.2, -1e-300];
    (solution.upper_value, solution.lower_violation) = (-3.5, f64::NAN);
    first.result.accuracy = None;
    first.result.id.seed = u64::MAX;
    let table = read_csv(&text(|out| csv(&[first.clone(), row("m", "p", 4)], out)));
    assert_eq!(table.len(), 3);
    assert!(table.iter().all(|line| line.len() == table[0].len()));
    let column = |name: &str| table[0].iter().position(|c| c == name).unwrap_or_else(|| panic!("{name}"));
    let cell = |name: &str| table[1][column(name)].as_str();
    assert_eq!(cell("seed"), "18446744073709551615");
    assert_eq!(serde_json::from_str::<Vec<f64>>(cell("x")).unwrap(), first.result.x().unwrap());
    assert_eq!(cell("F"), "-3.5", "a negative number stays one");
    assert_eq!((cell("accuracy_upper"), cell("lower_violation"), cell("solved")), ("", "", "True"));
    assert_eq!(table[2][column("accuracy_upper")].parse::<f64>().unwrap(), row("m", "p", 4).accuracy().unwrap().upper);
    assert_eq!(cell("evaluations_total"), first.result.evaluations.total().to_string());
    assert_eq!(table[0][..2], ["problem", "problem_hash"], "the order is that of the result");
    assert_eq!(text(|out| csv(&[], out)), "");
}

#[test]
fn nasty_names_are_harmless_in_csv() {
    let rows: Vec<Row> = NASTY.iter().map(|name| row(name, name, 1)).collect();
    let table = read_csv(&text(|out| csv(&rows, out)));
    assert_eq!(table.len(), NASTY.len() + 1);
    for (line, name) in table[1..].iter().zip(NASTY) {
        let method = table[0].iter().position(|c| c == "method").unwrap();
        for cell in [&line[0], &line[method]] {
            assert!(cell == name || *cell == format!("'{name}"), "{line:?}");
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{line:?}");
        }
        assert_eq!(line.len(), table[0].len());
    }
}

#[test]
fn json_lines_hold_the_whole_row() {
    let mut first = row("m", NASTY[0], 3);
    first.result.id.settings = NASTY.join(" ");
    let lines = text(|out| json_lines(&[first.clone(), row("m", "p", 4)], out));
    assert_eq!(lines.lines().count(), 2);
    let line = lines.lines().next().unwrap();
    assert_eq!(serde_json::from_str::<bilevo::RunResult>(line).unwrap(), first.result);
    let value: Value = serde_json::from_str(line).unwrap();
    assert_eq!(value["config"], serde_json::json!({"method": "1"}), "the config is an object, no text");
    assert_eq!(value["evaluations"]["total"], first.total_evals());
    assert_eq!(value["trace"].as_array().unwrap().len(), first.trace.len());
    first.trace.clear();
    first.result.solution.as_mut().unwrap().upper_value = f64::INFINITY;
    let value: Value = serde_json::from_str(&text(|out| json_lines(&[first.clone()], out))).unwrap();
    assert_eq!(value["F"], Value::Null);
    assert!(value.get("trace").is_none());
}

#[test]
fn traces_are_written_as_iohprofiler_does() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("ioh");
    let mut rows = vec![row("boc", "smd1", 1), row("boc", "smd1", 2), row("boc", "tp1", 1), row("cr-boc", "smd1", 1)];
    rows[1].trace.iter_mut().for_each(|p| p.accuracy = None);
    rows[1].trace[0].upper_value = f64::NAN;
    rows.push(Row { trace: vec![], ..row("boc", "smd1", 3) });
    assert_eq!(ioh_folder(&rows, &out).unwrap(), 4, "the run without a curve is left out");
    let info: Value =
        serde_json::from_str(&fs::read_to_string(out.join("boc/IOHprofiler_f1_smd1-2+3.json")).unwrap()).unwrap();
    assert_eq!(info["function_name"], "smd1-2+3");
    assert_eq!(info["algorithm"]["name"], "boc");
    let scenario = &info["scenarios"][0];
    assert_eq!(scenario["dimension"], 5);
    assert_eq!(scenario["runs"].as_array().unwrap().len(), 2);
    assert_eq!(scenario["runs"][0]["evals"], rows[0].total_evals());
    assert_eq!(scenario["runs"][0]["best"]["x"].as_array().unwrap().len(), 5);
    let curves = fs::read_to_string(out.join("boc").join(scenario["path"].as_str().unwrap())).unwrap();
    let sections: Vec<&str> = curves.split("evaluations raw_y\n").skip(1).collect();
    assert_eq!(sections.len(), 2);
    assert_eq!(
        (sections[0].lines().count(), sections[1].lines().count()),
        (21, 20),
        "each curve starts at evaluation 1"
    );
    let accuracy = rows[0].trace[0].accuracy.unwrap();
    let first_two: Vec<&str> = sections[0].lines().take(2).collect();
    assert_eq!(first_two, [format!("1 {accuracy:?}"), format!("709 {accuracy:?}")]);
    assert!(out.join("boc/IOHprofiler_f2_tp1-2+3.json").exists());
    assert!(out.join("cr-boc/IOHprofiler_f1_smd1-2+3.json").exists());
    assert!(matches!(ioh_folder(&rows, &out), Err(ExportError::Exists { .. })), "nothing is overwritten");
}

#[test]
fn nasty_names_stay_inside_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("ioh");
    let rows: Vec<Row> =
        NASTY.iter().map(|name| row(name, name, 1)).chain([row("Boc", "p", 1), row("boc", "p", 1)]).collect();
    assert_eq!(ioh_folder(&rows, &out).unwrap(), rows.len());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&out).unwrap().count(), rows.len(), "no two methods share a folder");
    for entry in fs::read_dir(&out).unwrap() {
        let files: Vec<_> = fs::read_dir(entry.unwrap().path()).unwrap().map(|e| e.unwrap().path()).collect();
        let info = files.iter().find(|f| f.extension().is_some()).unwrap();
        let info: Value = serde_json::from_str(&fs::read_to_string(info).unwrap()).unwrap();
        assert!(rows.iter().any(|r| r.id().method == info["algorithm"]["name"]));
    }
}
