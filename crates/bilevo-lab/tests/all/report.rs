//! The HTML report: complete, harmless, self-contained, small and quick.

use crate::common::{FAR_FROM_SQUARE, row, seconds};
use crate::pages::assert_well_formed;
use bilevo_lab::grid::Task;
use bilevo_lab::paper;
use bilevo_lab::paper::study::{self, COMPARISONS, Comparison, Part};
use bilevo_lab::report::{general, is_report};
use bilevo_lab::row::Row;
use bilevo_lab::tables::general::Options;

const COMMAND: &str = "bilevo reproduce --runs 3 <b>";

fn page(rows: &[Row]) -> String {
    general::report(rows, &Options::default(), "Title <b>", COMMAND).unwrap().html().unwrap()
}

fn study_page(rows: &[Row], comparisons: &[Comparison]) -> String {
    paper::report(comparisons, rows, COMMAND).unwrap().html().unwrap()
}

fn study_rows(parts: &[Part], runs: u64) -> Vec<Row> {
    let tasks = study::tasks(&study::comparisons(parts), 1, runs).unwrap();
    let run = |task: &Task| {
        let mut row = row(&task.id.method, &task.id.problem, task.id.seed);
        row.result.id.settings = task.id.settings.clone();
        row
    };
    tasks.iter().map(run).collect()
}

#[test]
fn the_study_is_complete_and_well_formed() {
    let html = study_page(&study_rows(&Part::ALL, 3), COMPARISONS);
    assert_well_formed(&html);
    assert!(is_report(&html.as_bytes()[..1024]));
    let curves: usize = COMPARISONS.iter().map(|c| c.methods.len() * c.on.names.len()).sum();
    assert_eq!(html.matches("class=\"curve\"").count(), curves);
    for comparison in COMPARISONS {
        assert!(html.contains(comparison.title), "{}", comparison.title);
    }
    for needed in ["bilevo reproduce --runs 3 &#60;b&#62;", "33.3", "Where we differ and why", "smd, tp, ablation"] {
        assert!(html.contains(needed), "{needed}");
    }
}

#[test]
fn nothing_is_fetched() {
    let html = study_page(&study_rows(&[Part::Tp], 2), &study::comparisons(&[Part::Tp]));
    let without_namespace = html.replace("http://www.w3.org/2000/svg", "");
    for address in ["http:", "https:", "//www", "@import", "url(", " src="] {
        assert!(!without_namespace.contains(address), "{address}");
    }
}

#[test]
fn names_are_harmless() {
    let nasty = "</script><script>alert('x')</script>\"'><img src=x onerror=alert(1)>";
    let mut rows: Vec<Row> = (1..=3).map(|s| row(nasty, nasty, s)).collect();
    rows.extend((1..=3).map(|s| row("m", nasty, s)));
    rows[0].result.id.settings = nasty.into();
    let html = page(&rows);
    assert_well_formed(&html);
    assert!(!html.contains("<script>alert"));
    assert!(!html.contains("<img"));
    assert_eq!(html.matches("</script>").count(), 2);
}

#[test]
fn ten_thousand_rows_make_a_small_page_in_ten_times_the_time_of_a_thousand() {
    let page_of = |(methods, problems, seeds): (u64, u64, u64)| {
        let mut rows = Vec::new();
        for method in 0..methods {
            for problem in 0..problems {
                rows.extend((1..=seeds).map(|s| row(&format!("method-{method}"), &format!("problem-{problem}"), s)));
            }
        }
        let started = seconds();
        let html = page(&rows);
        (html.len(), seconds() - started)
    };
    // Many runs of few groups, as usual, and one run of very many groups.
    for (tenth, whole) in [((10, 48, 2), (10, 48, 21)), ((20, 50, 1), (20, 500, 1)), ((100, 10, 1), (1000, 10, 1))] {
        let ((_, small), (bytes, large)) = (page_of(tenth), page_of(whole));
        assert!(bytes < 3_000_000, "{bytes} bytes for {whole:?}");
        assert!(large < FAR_FROM_SQUARE * small, "{small} s for {tenth:?}, {large} s for {whole:?}");
    }
}

#[test]
fn no_rows_no_report() {
    assert!(general::report(&[], &Options::default(), "", "").is_err());
    assert!(paper::report(COMPARISONS, &[], "").is_err());
}

#[test]
fn versions_side_by_side_are_mentioned_on_the_page() {
    let mut rows = vec![row("boc", "p", 1), row("cr-boc", "p", 1)];
    assert!(!page(&rows).contains("different versions"));
    rows[1].result.id.version = "0.2.0".into();
    assert!(page(&rows).contains("Runs of different versions of bilevo stand side by side (0.1.0, 0.2.0)"));
}

#[test]
fn page_and_files_show_the_same_tables() {
    let report = paper::report(COMPARISONS, &study_rows(&[Part::Applications], 5), COMMAND).unwrap();
    let files = report.files().unwrap();
    let text = |name: &str| {
        let (_, bytes) = files.iter().find(|(own, _)| own == name).unwrap_or_else(|| panic!("{name}"));
        String::from_utf8(bytes.clone()).unwrap()
    };
    assert_eq!(text("report.html"), report.html().unwrap());
    for (name, table) in &report.tables {
        let csv = text(&format!("tables/{name}.csv"));
        assert_eq!(csv.lines().count(), table.rows.len() + 1, "{name}: data and nothing else");
        let closing = text(&format!("tables/{name}-closing.csv"));
        assert_eq!(closing.lines().count(), table.footer.len() + 1, "{name}");
    }
    assert!(files.iter().any(|(name, _)| name == "figures/applications-tlea-cma-es-convergence.png"));
}
