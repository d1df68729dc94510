//! The page about one run: complete, harmless, and good to look at in a real browser.

#[cfg(unix)]
use crate::cdp::{self, Browser};
use crate::pages;
use bilevo::audit::around::{SlicePoint, Surroundings};
use bilevo::problems::file::Labels;
use bilevo::{BilevelProblem, Functions, History, Level, OracleAnswer, RunResult, Solver, Space};
use bilevo_lab::report::is_report;
use bilevo_lab::run_report::RunReport;
#[cfg(unix)]
use serde_json::json;
#[cfg(unix)]
use std::io::Write;

/// Drivers answer two tolls with trips; the first road has room for two thousand of them.
fn tolls() -> Functions {
    let tolls = Space::new().real("toll <north>", 0.0, 10.0).real("toll south", 0.0, 3.0);
    let trips = Space::new().real("trips north", 0.0, 10.0).real("trips south", 0.0, 10.0);
    let income = |x: &[f64], y: &[f64]| x[0] * y[0] + x[1] * y[1];
    let drivers = |x: &[f64], y: &[f64]| (y[0] - 8.0 + x[0]).powi(2) + (y[1] - 7.0 + x[1]).powi(2);
    Functions::new("Two tolls & <more>", tolls, trips, income, drivers)
        .maximize_upper()
        .lower_constraint(|_, y| y[0] - 2.0)
        .upper_constraint(|x, _| x[0] + x[1] - 12.0)
}

/// A finished run with what lies around its answer, as a page.
fn page(problem: &Functions, settings: &[(&str, &str)]) -> (String, RunResult, Surroundings) {
    let solver = settings.iter().fold(Solver::new(problem).seed(1), |solver, (key, value)| solver.set(*key, *value));
    let mut ready = solver.ready().unwrap();
    let mut history = History::default();
    let result = ready.go(&mut [&mut history]).unwrap();
    let around = ready.look_around(&result, Some(3000)).unwrap();
    let (spec, command) = (ready.run.engine().spec(), "bilevo solve tolls.toml --seed 1");
    let mut labels = Labels { constraints: [vec!["north + south <= 12".into()], vec![]], ..Labels::default() };
    labels.units = [("toll <north>", "EUR"), ("F", "EUR/h")].map(|(name, unit)| (name.into(), unit.into())).into();
    let records = &history.records;
    let html = RunReport { spec, result: &result, records, around: &around, labels: &labels, command }.html();
    (html.unwrap(), result, around)
}

const QUICK: &[(&str, &str)] = &[("stop.max_evals", "1500")];

#[test]
fn the_page_tells_everything_there_is() {
    let (html, result, around) = page(&tolls(), QUICK);
    assert!(is_report(html.as_bytes()));
    pages::assert_well_formed(&html);
    for needed in
        ["toll &#60;north&#62;", "Two tolls &#38; &#60;more&#62;", "bilevo solve tolls.toml --seed 1", "trips south"]
    {
        assert!(html.contains(needed), "{needed}");
    }
    for section in ["answer", "sure", "progress", "around", "constraints", "budget", "next", "provenance"] {
        assert!(html.contains(&format!("<section id=\"{section}\"")), "{section}");
    }
    // The name of the language of pictures is the only address on it.
    let rest = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("NaN") && !rest.contains("http") && !rest.contains("<script"));
    // Two slices of F with an answer each, and two of f.
    assert_eq!(around.slices.len(), 4);
    assert_eq!(html.matches("class=\"panels\"").count(), 3, "progress, the leader's slices and the follower's");
    assert_eq!(
        result.warnings.iter().filter(|w| !html.contains(w.message.split(['\n', '\'', '<']).next().unwrap())).count(),
        0
    );
}

#[test]
fn a_bound_and_a_price_are_told() {
    // Southern trips pay up to a toll of 3.5, beyond the box; the northern road is full.
    let (html, result, around) = page(&tolls(), &[("stop.max_evals", "20000")]);
    assert!((result.x().unwrap()[1] - 3.0).abs() < 1e-3);
    assert!(html.contains("at its upper bound") && html.contains("widen them"));
    assert_eq!(around.constraints.iter().map(|c| c.binds).collect::<Vec<_>>(), [Some(false), Some(true)]);
    for words in ["(EUR)", "EUR/h; the leader", "leader: north + south &#60;= 12", "follower 1"] {
        assert!(html.contains(words), "{words}");
    }
    assert!(html.contains("add <code>--audit</code> (<code>audit=True</code> in Python)"), "code is shown as code");
}

/// A slice may happen to have a point right beside the answer.
#[test]
fn the_sensitivity_is_that_of_a_whole_step() {
    let problem = tolls();
    let (_, result, mut around) = page(&problem, QUICK);
    let sensitivity = |around: &Surroundings| {
        let (spec, labels) = (problem.spec(), &Labels::default());
        let report = RunReport { spec, result: &result, records: &[], around, labels, command: "" };
        let html = report.html().unwrap();
        let (_, rest) = html.split_once("Sensitivity").unwrap();
        rest.split_once("A step is").unwrap().0.to_string()
    };
    let before = sensitivity(&around);
    let next = &before[before.find("toll &#60;north&#62;").unwrap()..];
    let (here, step) = (result.x().unwrap()[0], 0.1);
    for at in [here - step, here + step] {
        let words = format!("(at {})", bilevo::printable::digits(at, 4));
        assert!(next.contains(&words), "a step is a hundredth of the range: {words} in {next}");
    }
    let slice = around.slices.iter_mut().find(|slice| (slice.level, slice.index) == (Level::Upper, 0)).unwrap();
    let at = slice.points.iter().position(|point| point.at == result.x().unwrap()[0]).unwrap();
    let beside = SlicePoint { at: slice.points[at].at + 1e-5, ..slice.points[at].clone() };
    slice.points.insert(at + 1, beside);
    assert_eq!(sensitivity(&around), before);
}

/// Nothing is said about what only the follower's own solver knows.
#[test]
fn a_follower_with_its_own_solver_has_its_own_words() {
    let drivers = |x: &[f64]| Ok(OracleAnswer::new(vec![8.0 - x[0]]));
    let problem = Functions::with_follower("own", vec![(0.0, 10.0)], |x, answer| -x[0] * answer.y[0], drivers);
    let (html, _, _) = page(&problem, QUICK);
    pages::assert_well_formed(&html);
    assert!(html.contains("searches agree; the follower&#39;s own solver gave its answers."), "{html}");
    assert!(html.contains("follower&#39;s solver"));
    assert!(html.contains("1 for the leader; the follower has its own solver") && !html.contains("All values"));
    for absent in
        ["<h3>f</h3>", "searched once", "in rechecks", ">where</th></tr></thead>\n<tbody>\n<tr><th scope=\"row\">y1"]
    {
        assert!(!html.contains(absent), "{absent}");
    }
}

/// Many values, and names that are longer than a picture is wide.
#[test]
fn long_tables_are_folded_and_long_names_are_cut_off() {
    let name = "the toll on the road from the harbour to the market, lorries excepted";
    let own = |x: &[f64]| Ok(OracleAnswer::new(vec![8.0 - x[0]; 30]));
    let problem =
        Functions::with_follower("many", Space::new().real(name, 0.0, 10.0), |x, answer| -x[0] * answer.y[0], own);
    let (html, _, _) = page(&problem, &[("portfolio.effort", "quick")]);
    pages::assert_well_formed(&html);
    assert_eq!(html.matches("<summary><h3>All values</h3></summary>").count(), 1, "the follower's");
    assert!(html.contains(
        "<title id=\"lea0-t\">F along the toll on the road from the harbour to the market, lorries excepted"
    ));
    assert!(html.contains(">F along the toll on the road fr") && html.contains("…</text>"));
    assert!(html.contains("Only one search was made"));
}

#[test]
fn a_run_without_an_answer_has_a_page_too() {
    let nothing = Functions::new("nothing", vec![(0.0, 1.0)], vec![(0.0, 1.0)], |_, _| f64::NAN, |_, _| f64::NAN);
    let (html, result, _) = page(&nothing, QUICK);
    assert_eq!(result.x(), None);
    pages::assert_well_formed(&html);
    assert!(html.contains("The run found no answer.") && html.contains("should not be trusted"));
}

/// A run of one variable each whose leader asks for more than the follower ever gives.
#[test]
fn a_run_without_a_feasible_decision_says_so_first() {
    let problem = Functions::new(
        "too much",
        vec![(0.0, 1.0)],
        vec![(0.0, 5.0)],
        |x, y| x[0] + y[0],
        |x, y| (y[0] - x[0]).powi(2),
    );
    let (html, result, _) = page(&problem.upper_constraint(|x, y| x[0] + 2.0 - y[0]), QUICK);
    assert!(result.upper_violation().unwrap() > 1.9);
    assert!(html.contains("<p class=\"lead\">No feasible answer was found."), "{html}");
    assert!(html.contains("Everywhere, a constraint is violated.") && !html.contains("The curve follows"));
    assert!(html.contains("can all of them be met at all?") && !html.contains("--audit"), "{html}");
    assert!(!html.contains("Where each search ended"), "F is not comparable where constraints are violated");
    assert!(html.contains("<td>violated</td><td>–</td>"), "a violated constraint has no price: {html}");
}

/// Four warehouses respond to a fee on a choice that is open or not; four others never do.
#[test]
fn only_what_responds_is_drawn_and_a_choice_has_no_bounds_to_widen() {
    let follower = |x: &[f64], y: &[f64]| {
        let wanted = (0..8).map(|j| if j % 2 == 1 { x[0] * (1.0 + j as f64) / 8.0 } else { 0.5 });
        wanted.zip(y).map(|(wanted, y)| (y - wanted).powi(2)).sum()
    };
    let leader = |x: &[f64], y: &[f64]| x[0] + y.iter().sum::<f64>() / 8.0;
    let open = Space::new().whole("open", 0.0, 1.0);
    let problem = Functions::new("choice", open, vec![(0.0, 1.0); 8], leader, follower);
    let (html, result, _) = page(&problem, &[("stop.max_evals", "3000")]);
    assert_eq!(result.x(), Some(&[0.0][..]));
    let (_, rest) = html.split_once("The follower&#39;s answer to open").unwrap();
    let (picture, _) = rest.split_once("</svg>").unwrap();
    for (j, drawn) in [("y1", false), ("y2", true), ("y7", false), ("y8", true)] {
        assert_eq!(picture.contains(&format!(">{j}</text>")), drawn, "{j}: {picture}");
    }
    assert!(html.contains("only those are drawn that respond"));
    assert!(html.contains("at its lower bound") && !html.contains("widen them"), "{html}");
}

/// With an equation, no change of one variable alone is feasible, and a picture of it would be empty.
#[test]
fn variables_that_an_equation_holds_have_no_picture() {
    let follower = |_: &[f64], y: &[f64]| y.iter().map(|y| y * y).sum();
    let problem =
        Functions::new("market", vec![(0.0, 1.0)], vec![(0.0, 1.0); 3], |x, y| (x[0] - y[2]).powi(2), follower)
            .lower_equality(|x, y| y[0] + y[1] - x[0] - 0.1);
    let (html, _, around) = page(&problem, &[("stop.max_evals", "4000")]);
    assert_eq!(around.slices.len(), 4);
    for (name, drawn) in [("y1", false), ("y2", false), ("y3", true)] {
        assert_eq!(html.contains(&format!(">f along {name}</title>")), drawn, "{name}");
    }
    assert!(html.contains("as with an equation."));
    let (free, ..) = page(&tolls(), QUICK);
    assert!(!free.contains("as with an equation.") && free.contains(">f along trips north</title>"));
}

/// Failures are told where people look for doubts.
#[test]
fn failed_evaluations_are_told() {
    let solver = |x: &[f64]| match x[0] < 3.0 {
        true => Err("no equilibrium".into()),
        false => Ok(OracleAnswer::new(vec![8.0 - x[0]])),
    };
    let problem = Functions::with_follower("road", vec![(0.0, 10.0)], |x, answer| -x[0] * answer.y[0], solver);
    let (html, result, _) = page(&problem, &[]);
    let (failed, all) = (result.evaluations.failed_lower, result.evaluations.total());
    assert!(failed > 0 && html.contains(&format!("{failed} of {all} evaluations failed")), "{html}");
    assert!(html.contains("The curve follows the best answer so far.</p>"), "its answers are not searched");
}

/// Searches that took no evaluations would only hide the others.
#[test]
fn searches_that_ended_at_once_are_counted_not_listed() {
    let problem = tolls();
    let (_, mut result, around) = page(&problem, QUICK);
    let labels = &Labels::default();
    let html = |result: &RunResult| {
        RunReport { spec: problem.spec(), result, records: &[], around: &around, labels, command: "" }.html().unwrap()
    };
    result.history.retain(|step| step.evaluations > 0);
    let (searches, whole) = (result.history.len(), html(&result));
    assert!(whole.contains(&format!("{searches} searches: ")) && !whole.contains("ended at once"));
    let mut idle = result.history[0].clone();
    idle.evaluations = 0;
    result.history.push(idle);
    let with_idle = html(&result);
    assert!(with_idle.contains(&format!("{searches} searches: ")) && with_idle.contains("without an evaluation: 1;"));
}

#[cfg(unix)]
#[test]
fn the_page_of_a_run_works_in_a_browser() {
    let Some(path) = cdp::find() else {
        let words = "NOT RUN: no Chromium on the path; set BILEVO_BROWSER to test the page of a run in a browser";
        let _ = writeln!(std::io::stderr(), "{words}");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.html");
    std::fs::write(&file, page(&tolls(), QUICK).0).unwrap();
    let mut browser = Browser::start(&path);
    browser.size(1280, 900);
    browser.media("screen", "light");
    browser.open(&file);
    browser.picture("run-desktop");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    pages::assert_labelled(&mut browser);
    pages::assert_spoken(&mut browser);
    pages::assert_contrast(&mut browser);
    let drawn = "[...document.querySelectorAll('.median')].filter(l => l.getBoundingClientRect().width > 50).length";
    assert!(browser.eval(drawn).as_u64().unwrap() >= 7);
    pages::assert_texts_apart(&mut browser);
    pages::assert_texts_inside(&mut browser);
    browser.size(400, 800);
    browser.open(&file);
    browser.eval("document.querySelectorAll('details').forEach(d => { d.open = true; })");
    pages::assert_fits(&mut browser, 400);
    let smallest = "Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getAttribute('font-size') * Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b)))";
    assert!(browser.eval(smallest).as_f64().unwrap() > 8.5, "text in pictures is large enough to be read on a phone");
    browser.picture("run-phone");
    browser.size(1280, 900);
    browser.media("screen", "dark");
    browser.open(&file);
    assert!(pages::luminance(&mut browser, "getComputedStyle(document.body).backgroundColor") < 60.0);
    assert!(pages::luminance(&mut browser, "getComputedStyle(document.querySelector('svg text')).fill") > 150.0);
    pages::assert_contrast(&mut browser);
    browser.picture("run-dark");
    browser.media("print", "light");
    browser.open(&file);
    assert_eq!(browser.eval("getComputedStyle(document.querySelector('nav')).display"), json!("none"));
    // Paper is narrow: two slices side by side all the same.
    browser.size(720, 900);
    let columns = "getComputedStyle(document.querySelector('#around .panels')).gridTemplateColumns.split(' ').length";
    assert_eq!(browser.eval(columns), json!(2));
    browser.print("run-print");
}
