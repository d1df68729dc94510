//! The HTML report: complete, harmless, self-contained, small and quick.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use bilevo_lab::report::{self, Input};
use bilevo_lab::row::RunRow;
use bilevo_lab::study::{self, Part};
use bilevo_lab::tables::general::Options;
use common::row;
use std::sync::LazyLock;
use std::time::Instant;

fn page(rows: &[RunRow], comparisons: &[study::Comparison]) -> String {
    let input = Input {
        title: "Title <b>",
        rows,
        comparisons,
        options: &Options::default(),
        differences: &[("Heading <i>", "Text & more")],
        command: "bilevo reproduce --runs 3",
    };
    report::html(&input).unwrap()
}

fn study_rows(parts: &[Part], runs: u64) -> Vec<RunRow> {
    let work = study::work(&study::comparisons(parts));
    work.iter().flat_map(|w| (1..=runs).map(|seed| row(&w.method, &w.problem, seed))).collect()
}

/// Every opening tag is closed in order; void elements and the text of scripts left aside.
fn assert_well_formed(html: &str) {
    const VOID: [&str; 5] = ["meta", "link", "input", "br", "!DOCTYPE"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()));
        } else if !VOID.contains(&name.as_str()) && !tag.ends_with('/') {
            if name == "script" || name == "style" {
                rest = &rest[rest.find(&format!("</{name}")).unwrap()..];
            }
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_study_is_complete_and_well_formed() {
    let comparisons = study::comparisons(&Part::ALL);
    let html = page(&study_rows(&Part::ALL, 3), &comparisons);
    assert_well_formed(&html);
    let curves: usize = comparisons.iter().map(|c| c.layout.methods.len() * c.layout.problems.len()).sum();
    assert_eq!(html.matches("class=\"curve\"").count(), curves);
    for comparison in &comparisons {
        let title = comparison.layout.title.replace('\'', "&#39;");
        assert!(html.contains(&title), "{title}");
    }
    for needed in ["bilevo reproduce --runs 3", "33.3", "Heading &#60;i&#62;", "Text &#38; more"] {
        assert!(html.contains(needed), "{needed}");
    }
}

#[test]
fn nothing_is_fetched() {
    let html = page(&study_rows(&[Part::Tp], 2), &study::comparisons(&[Part::Tp]));
    let without_namespace = html.replace("http://www.w3.org/2000/svg", "");
    for address in ["http:", "https:", "//www", "@import", "url(", " src="] {
        assert!(!without_namespace.contains(address), "{address}");
    }
}

#[test]
fn names_are_harmless() {
    let nasty = "</script><script>alert('x')</script>\"'><img src=x onerror=alert(1)>";
    let mut rows: Vec<RunRow> = (1..=3).map(|s| row(nasty, nasty, s)).collect();
    rows.extend((1..=3).map(|s| row("m", nasty, s)));
    rows[0].settings = nasty.into();
    let html = page(&rows, &[]);
    assert_well_formed(&html);
    assert!(!html.contains("<script>alert"));
    assert!(!html.contains("<img"));
    assert_eq!(html.matches("</script>").count(), 2);
}

/// Seconds this thread has worked, so that a busy machine makes no difference; where the system
/// does not tell, seconds on the wall.
fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let worked = schedule.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).map(|ns| ns / 1e9);
    worked.unwrap_or_else(|| START.elapsed().as_secs_f64())
}

#[test]
fn ten_thousand_rows_make_a_small_page_quickly() {
    // Many runs of few groups, as usual, and one run of very many groups.
    for (methods, problems, seeds) in [(10, 48, 21), (20, 500, 1), (1000, 10, 1)] {
        let mut rows = Vec::new();
        for method in 0..methods {
            for problem in 0..problems {
                rows.extend((1..=seeds).map(|s| row(&format!("method-{method}"), &format!("problem-{problem}"), s)));
            }
        }
        let started = seconds();
        let html = page(&rows, &[]);
        let seconds = seconds() - started;
        assert!(html.len() < 3_000_000, "{} bytes for {methods} x {problems} x {seeds}", html.len());
        assert!(seconds < 2.0, "{seconds} s for {methods} x {problems} x {seeds}");
    }
}

#[test]
fn no_rows_no_report() {
    let input =
        Input { title: "", rows: &[], comparisons: &[], options: &Options::default(), differences: &[], command: "" };
    assert!(report::html(&input).is_err());
}
