//! Rows made from the published figures must give the published tables back.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use bilevo_lab::published::{self, Published};
use bilevo_lab::row::RunRow;
use bilevo_lab::study::{self, Part};
use bilevo_lab::tables::against::{Conclusion, Finding};
use bilevo_lab::tables::groups::group;
use bilevo_lab::tables::{Format, Mark};
use common::row;

const RUNS: u64 = 21;

/// Runs around a published line, whose medians are its figures.
fn runs(line: &Published) -> impl Iterator<Item = RunRow> + '_ {
    (1..=RUNS).map(move |seed| {
        let away = seed as f64 - (RUNS as f64 + 1.0) / 2.0;
        let around = |count: f64| (count + away) as u64;
        let mut row = row(&line.method, &line.problem, seed);
        let [upper_accuracy, lower_accuracy, upper, lower, _] = line.values;
        row.upper_accuracy = Some(upper_accuracy);
        row.lower_accuracy = Some(lower_accuracy);
        (row.upper_evals, row.lower_evals) = (around(upper), around(lower));
        row.model_accuracy = line.saving.map(|_| 0.8);
        row
    })
}

fn published_rows() -> Vec<RunRow> {
    published::all().iter().flat_map(runs).collect()
}

#[test]
fn published_savings_come_out_again() {
    let rows = published_rows();
    let groups = group(&rows);
    for comparison in study::comparisons(&[Part::Smd, Part::Tp]) {
        let published_as = comparison.published_as.as_ref().unwrap();
        let finding = Finding::of(&comparison.layout, published_as, &groups);
        let difference = finding.saving.unwrap() - finding.published_saving.unwrap();
        // The paper rounds its counts to three digits.
        assert!(difference.abs() < 0.2, "{}: {difference}", comparison.layout.title);
        assert!((finding.ratio.unwrap() - 1.0).abs() < 0.01);
        // On TP some accuracies differ without significance, which medians alone cannot show.
        if comparison.part == Part::Smd {
            assert_eq!(finding.accuracy, finding.published_accuracy, "{}", comparison.layout.title);
        }
        assert!(finding.evals.plus >= finding.published_evals.plus);
    }
}

#[test]
fn a_conclusion_needs_saving_and_signs() {
    let holds = Finding {
        published_saving: Some(30.0),
        saving: Some(31.0),
        published_evals: [Some(Mark::Better); 3].into_iter().collect(),
        evals: [Some(Mark::Better); 3].into_iter().collect(),
        published_accuracy: [Some(Mark::Similar); 3].into_iter().collect(),
        accuracy: [Some(Mark::Similar); 3].into_iter().collect(),
        base_ratio: None,
        ratio: None,
        runs: 21,
    };
    assert_eq!(holds.conclusion(), Conclusion::Holds);
    let dearer = Finding { saving: Some(29.0), ..holds.clone() };
    assert_eq!(dearer.conclusion(), Conclusion::Partly);
    let worse = [Some(Mark::Worse); 3].into_iter().collect();
    let inaccurate = Finding { accuracy: worse, ..holds.clone() };
    assert_eq!(inaccurate.conclusion(), Conclusion::Partly);
    let nothing = Finding { saving: Some(-5.0), evals: worse, accuracy: worse, ..holds.clone() };
    assert_eq!(nothing.conclusion(), Conclusion::Fails);
    let quick_look = Finding { runs: 3, evals: worse, ..holds.clone() };
    assert_eq!(quick_look.conclusion(), Conclusion::TooFewRuns);
    let dear_quick_look = Finding { runs: 3, saving: Some(-5.0), ..holds.clone() };
    assert_eq!(dear_quick_look.conclusion(), Conclusion::TooFewRuns);
    assert_eq!(Finding { saving: None, ..holds }.conclusion(), Conclusion::Unknown);
}

#[test]
fn the_table_has_the_layout_of_the_paper() {
    let rows = published_rows();
    let groups = group(&rows);
    let mut comparison = study::comparisons(&[Part::Smd]).remove(1);
    comparison.layout.problems = vec!["smd10".into(), "smd1".into()];
    let tables = comparison.tables(&groups);
    let (_, table) = &tables[1];
    let text = table.write(Format::Text);
    let lines: Vec<String> = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[1], "Problem Method Acc_u Acc_l FEs_u FEs_l FEs_t R_rs % Solved Model accuracy");
    assert_eq!(lines[3], "smd10 tlea-de 1.60E+01 + 1.00E-06 − 1.67E+03 + 5.41E+04 + 5.58E+04 + – 0/21 –");
    assert_eq!(lines[4], "smd10 cr-tlea-de 4.62E-03 2.48E-03 1.13E+03 3.96E+04 4.07E+04 27.0 0/21 0.800");
    assert_eq!(lines[5], "smd1 tlea-de 1.00E-06 ≈ 1.00E-06 ≈ 3.51E+02 + 1.30E+04 + 1.34E+04 + – 21/21 –");
    assert_eq!(lines[8], "+/≈/− tlea-de 1/1/0 0/1/1 2/0/0 2/0/0 2/0/0 21/42");
    // (1 - 40730/55770 + 1 - 8449/13351) / 2
    assert_eq!(lines[9], "Average cr-tlea-de 31.8 21/42 0.800");
}

#[test]
fn every_table_is_rectangular_in_every_format() {
    let rows = published_rows();
    let groups = group(&rows);
    let comparisons = study::comparisons(&Part::ALL);
    let mut tables: Vec<_> = comparisons.iter().flat_map(|c| c.tables(&groups)).map(|(_, t)| t).collect();
    tables.push(study::summary(&comparisons, &groups));
    for table in tables {
        assert!(
            table.rows.iter().chain(&table.footer).all(|line| line.len() == table.columns.len()),
            "{}",
            table.title
        );
        let bars = |line: &str| line.matches('|').count();
        let markdown = table.write(Format::Markdown);
        assert!(markdown.lines().filter(|l| l.starts_with('|')).all(|l| bars(l) == table.columns.len() + 1));
        let latex = table.write(Format::Latex);
        let lines = latex.lines().filter(|l| l.ends_with("\\\\"));
        assert!(lines.clone().count() > table.rows.len());
        assert!(lines.into_iter().all(|l| l.matches(" & ").count() == table.columns.len() - 1));
    }
}
