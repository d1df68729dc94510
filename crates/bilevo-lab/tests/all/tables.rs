//! Rows made from the published figures must give the published tables back.

use crate::common::row;
use bilevo::Accuracy;
use bilevo_lab::paper::against::{Conclusion, Finding};
use bilevo_lab::paper::compared::Compared;
use bilevo_lab::paper::published::{self, Published};
use bilevo_lab::paper::study::{COMPARISONS, Part, Problems};
use bilevo_lab::paper::{self, layout};
use bilevo_lab::row::Row;
use bilevo_lab::tables::groups::group;
use bilevo_lab::tables::{Format, Mark};

const RUNS: u64 = 21;

/// Runs around a published line, whose medians are its figures.
fn runs(line: &Published) -> impl Iterator<Item = Row> + '_ {
    (1..=RUNS).map(move |seed| {
        let away = seed as f64 - (RUNS as f64 + 1.0) / 2.0;
        let around = |count: f64| (count + away) as u64;
        let mut row = row(&line.method, &line.problem, seed);
        let [upper_accuracy, lower_accuracy, upper, lower, _] = line.values;
        let result = &mut row.result;
        result.accuracy = Some(Accuracy { upper: upper_accuracy, lower: Some(lower_accuracy) });
        result.solved = Some(upper_accuracy <= 1e-6 && lower_accuracy <= 1e-4);
        (result.evaluations.upper, result.evaluations.lower) = (around(upper), around(lower));
        result.model_accuracy = line.saving.map(|_| 0.8);
        row
    })
}

fn published_rows() -> Vec<Row> {
    published::all().iter().flat_map(runs).collect()
}

#[test]
fn published_savings_come_out_again() {
    let rows = published_rows();
    let groups = group(&rows);
    for comparison in COMPARISONS.iter().filter(|c| [Part::Smd, Part::Tp].contains(&c.part)) {
        let finding = Finding::of(&Compared::new(*comparison, &groups)).unwrap();
        let difference = finding.saving.unwrap() - finding.published_saving.unwrap();
        // The paper rounds its counts to three digits.
        assert!(difference.abs() < 0.2, "{}: {difference}", comparison.title);
        assert!((finding.ratio.unwrap() - 1.0).abs() < 0.01);
        // On TP some accuracies differ without significance, which medians alone cannot show.
        if comparison.part == Part::Smd {
            assert_eq!(finding.accuracy, finding.published_accuracy, "{}", comparison.title);
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
        too_few_runs: false,
    };
    assert_eq!(holds.conclusion(), Conclusion::Holds);
    let dearer = Finding { saving: Some(29.0), ..holds.clone() };
    assert_eq!(dearer.conclusion(), Conclusion::Partly);
    let worse = [Some(Mark::Worse); 3].into_iter().collect();
    let inaccurate = Finding { accuracy: worse, ..holds.clone() };
    assert_eq!(inaccurate.conclusion(), Conclusion::Partly);
    let nothing = Finding { saving: Some(-5.0), evals: worse, accuracy: worse, ..holds.clone() };
    assert_eq!(nothing.conclusion(), Conclusion::Fails);
    let quick_look = Finding { too_few_runs: true, evals: worse, ..holds.clone() };
    assert_eq!(quick_look.conclusion(), Conclusion::TooFewRuns);
    let dear_quick_look = Finding { too_few_runs: true, saving: Some(-5.0), ..holds.clone() };
    assert_eq!(dear_quick_look.conclusion(), Conclusion::TooFewRuns);
    assert_eq!(Finding { saving: None, ..holds }.conclusion(), Conclusion::Unknown);
}

#[test]
fn the_table_has_the_layout_of_the_paper() {
    let rows = published_rows();
    let groups = group(&rows);
    let mut comparison = COMPARISONS[1];
    comparison.on = Problems { names: &["smd10", "smd1"], ..comparison.on };
    let text = layout::table(&Compared::new(comparison, &groups)).write(Format::Text);
    let lines: Vec<String> = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[1], "Problem Method Acc_u Acc_l FEs_u FEs_l FEs_t R_rs % Solved Model accuracy across");
    assert_eq!(lines[3], "smd10 tlea-de 1.60E+01 + 1.00E-06 − 1.67E+03 + 5.41E+04 + 5.58E+04 + – 0/21 – –");
    assert_eq!(lines[4], "smd10 cr-tlea-de 4.62E-03 2.48E-03 1.13E+03 3.96E+04 4.07E+04 27.0 0/21 0.800 –");
    assert_eq!(lines[5], "smd1 tlea-de 1.00E-06 ≈ 1.00E-06 ≈ 3.51E+02 + 1.30E+04 + 1.34E+04 + – 21/21 – –");
    assert_eq!(lines[8], "+/≈/− tlea-de 1/1/0 0/1/1 2/0/0 2/0/0 2/0/0 21/42");
    assert!(text.contains("Accuracies below 1E-06 are shown and tested as 1E-06"));
    // (1 - 40730/55770 + 1 - 8449/13351) / 2
    assert_eq!(lines[9], "Average cr-tlea-de 31.8 21/42 0.800");
}

#[test]
fn every_table_is_rectangular_in_every_format() {
    let report = paper::report(COMPARISONS, &published_rows(), "").unwrap();
    for (_, table) in report.tables.iter().chain(&report.summary) {
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

#[test]
fn accuracies_below_the_floor_are_alike_in_the_paper_s_layout() {
    let mut rows = published_rows();
    rows.retain(|row| row.id().problem == "smd1");
    for row in &mut rows {
        let upper = if row.id().method.starts_with("cr-") { 1e-9 } else { 1e-7 };
        row.result.accuracy = Some(Accuracy { upper, lower: Some(1e-7) });
    }
    let groups = group(&rows);
    let table = layout::table(&Compared::new(COMPARISONS[0], &groups));
    assert_eq!((table.rows[0][2].text.as_str(), table.rows[0][2].mark), ("1.00E-06", Some(Mark::Similar)));
}

#[test]
fn too_few_runs_leave_no_marks() {
    let mut rows = published_rows();
    rows.retain(|row| row.id().problem.starts_with("smd") && row.id().seed <= 3);
    let report = paper::report(&COMPARISONS[..1], &rows, "").unwrap();
    let (_, table) = report.tables.iter().find(|(name, _)| name == "smd-tlea-cma-es").unwrap();
    assert!(table.rows.iter().flatten().all(|cell| cell.mark.is_none()));
    assert!(table.note.contains("no difference can be significant"), "{}", table.note);
    assert_eq!(report.summary[0].1.rows[0][11].text, Conclusion::TooFewRuns.word());
}
