//! The report in a real browser: no errors, the right curves, controls that work, nothing that
//! overflows on a phone, readable without scripts, dark when asked for.
//!
//! Runs with the Chromium that `BILEVO_BROWSER` names or that is on the path; with `CI` set, having
//! none is a failure. `BILEVO_SCREENSHOTS=DIR` keeps pictures.

use crate::cdp::{self, Browser};
use crate::common::row;
use crate::pages;
use bilevo_lab::paper;
use bilevo_lab::paper::study::{self, COMPARISONS};
use bilevo_lab::row::Row;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// A study in which the versions with contrastive ranking are cheaper.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for task in study::tasks(COMPARISONS, 1, 7).unwrap() {
        let mut row = row(&task.id.method, &task.id.problem, task.id.seed);
        row.result.id.settings = task.id.settings.clone();
        let (cr, seed) = (task.id.method.starts_with("cr-"), task.id.seed);
        row.result.model_accuracy = row.result.model_accuracy.filter(|_| cr);
        let cost = if cr { 700 } else { 1000 } + 10 * seed;
        row.trace.iter_mut().enumerate().for_each(|(k, p)| {
            p.lower_evals = cost * (k as u64 + 1);
            p.accuracy = Some(libm::pow(10.0, 1.5 - 0.4 * k as f64 + 0.1 * seed as f64));
        });
        row.result.evaluations.lower = cost * 20;
        rows.push(row);
    }
    rows
}

fn report(folder: &tempfile::TempDir) -> PathBuf {
    let command = "bilevo reproduce --runs 7 --jobs 2 --store a-rather-long-name-of-a-store.db --out docs/report";
    let file = folder.path().join("report.html");
    std::fs::write(&file, paper::report(COMPARISONS, &rows(), command).unwrap().html().unwrap()).unwrap();
    file
}

#[test]
fn the_report_works_in_a_browser() {
    let Some(path) = cdp::find() else {
        // Written past the test harness, which keeps the prints of passing tests to itself.
        let words = "NOT RUN: no Chromium on the path; set BILEVO_BROWSER to test the report in a browser";
        let _ = writeln!(std::io::stderr(), "{words}");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = report(&folder);
    let mut browser = Browser::start(&path);
    on_a_desktop(&mut browser, &file);
    controls(&mut browser);
    on_a_phone(&mut browser, &file);
    in_the_dark(&mut browser, &file);
    on_paper(&mut browser, &file);
    without_scripts(&mut browser, &file);
}

fn on_a_desktop(browser: &mut Browser, file: &std::path::Path) {
    browser.size(1280, 900);
    browser.media("screen", "light");
    browser.open(file);
    browser.picture("desktop");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    let groups = browser.eval(
        "[...document.querySelectorAll('details.curves')].map(d => [d.querySelectorAll('figure').length, d.querySelectorAll('.curve').length])",
    );
    let expected: Vec<_> =
        COMPARISONS.iter().map(|c| json!([c.on.names.len(), c.on.names.len() * c.methods.len()])).collect();
    assert_eq!(groups, json!(expected));
    let points = browser.eval("document.querySelector('.median').points.length");
    assert!(points.as_u64().unwrap() > 10);
    pages::assert_labelled(browser);
    pages::assert_spoken(browser);
    pages::assert_contrast(browser);
}

fn controls(browser: &mut Browser) {
    // Hovering shows a value of each curve.
    browser.eval("document.querySelector('figure[data-panel]').scrollIntoView({block: 'center'})");
    let at = browser.eval("(() => { const b = document.querySelector('figure[data-panel] svg').getBoundingClientRect(); return [b.x + b.width * 0.7, b.y + b.height / 2]; })()");
    browser.mouse("mouseMoved", at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    let tip = browser.eval("document.getElementById('tip').innerText");
    let tip = tip.as_str().unwrap();
    assert!(
        tip.starts_with("smd1: ") && tip.contains("\ntlea-cma-es: ") && tip.contains("\ncr-tlea-cma-es: "),
        "{tip}"
    );
    browser.picture("hover");
    // A linear axis moves the curve and its ticks, and back again.
    let curve = "document.querySelector('.median').getAttribute('points')";
    let ticks =
        "[...document.querySelectorAll('figure[data-panel=\"0\"] .axes text')].map(t => t.textContent).join(' ')";
    let (before, before_ticks) = (browser.eval(curve), browser.eval(ticks));
    browser.click("[name=log-y]");
    assert_ne!(browser.eval(curve), before);
    assert_ne!(browser.eval(ticks), before_ticks);
    browser.click("[name=log-y]");
    assert_eq!(browser.eval(ticks), before_ticks, "the script's ticks are those of the page");
    // Methods and problems can be left out.
    let shown = "[...document.querySelectorAll('details[open] .curve')].filter(g => getComputedStyle(g).display !== 'none').length";
    assert_eq!(browser.eval(shown), 24);
    browser.click("[name=method]");
    assert_eq!(browser.eval(shown), 12);
    browser.click("[name=method]");
    browser.click("[data-all='']");
    let figures =
        "[...document.querySelectorAll('details[open] figure[data-panel]')].filter(f => f.offsetHeight > 0).length";
    assert_eq!(browser.eval(figures), 0);
    browser.click("[name=problem][value=smd3]");
    assert_eq!(browser.eval(figures), 1);
    browser.click("[data-all='1']");
    assert_eq!(browser.eval(figures), 12);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

fn on_a_phone(browser: &mut Browser, file: &std::path::Path) {
    browser.size(400, 800);
    browser.open(file);
    browser.eval("document.querySelectorAll('details').forEach(d => { d.open = true; })");
    pages::assert_fits(browser, 400);
    let scrolls = "[...document.querySelectorAll('.scroll')].every(e => e.getBoundingClientRect().right <= 400 && e.tabIndex === 0)";
    assert_eq!(browser.eval(scrolls), true);
    let hidden = "[...document.querySelectorAll('caption span, .bars svg text')].filter(e => { const b = e.getBoundingClientRect(); return e.matches('caption span, [y=\"18\"], [y=\"37\"]') && b.right > e.closest('.scroll').getBoundingClientRect().right + 0.5; }).map(e => e.textContent)";
    assert_eq!(browser.eval(hidden), json!([]), "captions and legends are read without scrolling");
    assert!(browser.eval("document.querySelectorAll('.bars text[y=\"37\"]').length").as_u64().unwrap() > 10);
    let first = "(() => { const s = document.querySelector('.scroll'); s.scrollLeft = 200; return [...s.querySelectorAll('tr > :first-child')].every(c => Math.abs(c.getBoundingClientRect().left - s.getBoundingClientRect().left) < 1.5); })()";
    assert_eq!(browser.eval(first), true, "the first column stays where it is");
    browser.open(file);
    browser.picture("phone");
}

fn in_the_dark(browser: &mut Browser, file: &std::path::Path) {
    let page = "getComputedStyle(document.body).backgroundColor";
    let figure = "getComputedStyle(document.querySelector('.paper')).fill";
    let text = "getComputedStyle(document.querySelector('svg text')).fill";
    browser.size(1280, 900);
    browser.open(file);
    assert!(pages::luminance(browser, page) > 200.0);
    browser.media("screen", "dark");
    browser.open(file);
    for dark in [page, figure] {
        assert!(pages::luminance(browser, dark) < 60.0);
    }
    assert!(pages::luminance(browser, text) > 150.0);
    pages::assert_contrast(browser);
    browser.picture("dark");
}

fn on_paper(browser: &mut Browser, file: &std::path::Path) {
    browser.media("print", "light");
    browser.open(file);
    let controls = "getComputedStyle(document.querySelector('.controls')).display";
    assert_eq!(browser.eval(controls), "none");
    let alone = "[...document.querySelectorAll('summary, .legend')].filter(e => getComputedStyle(e).breakAfter !== 'avoid').length";
    assert_eq!(browser.eval(alone), 0, "no heading ends a page that its pictures do not begin on");
    let cut = "[...document.querySelectorAll('p, figure, tr')].filter(e => getComputedStyle(e).breakInside !== 'avoid').length";
    assert_eq!(browser.eval(cut), 0, "no sentence is cut in two by the end of a page");
    browser.print("print");
    browser.media("screen", "light");
}

fn without_scripts(browser: &mut Browser, file: &std::path::Path) {
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(file);
    assert_eq!(browser.eval("getComputedStyle(document.querySelector('.controls')).display"), "none");
    let drawn = "[...document.querySelectorAll('details[open] .median')].filter(l => l.getBoundingClientRect().width > 50).length";
    assert_eq!(browser.eval(drawn), 24);
    let boxes = "[...document.querySelectorAll('[name=method]')].filter(b => b.offsetWidth > 0).length";
    assert_eq!(browser.eval(boxes), 0);
    let text = browser.eval("document.body.innerText");
    for needed in ["At a glance", "Where we differ and why", "33.3", "bilevo reproduce --runs 7"] {
        assert!(text.as_str().unwrap().contains(needed), "{needed}");
    }
    browser.picture("no-scripts");
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": false}));
}
