//! An answer is good, or the result says what is not.

use bilevo::{AuditOptions, Functions, RunResult, Solver, Status, StopReason, Verdict};

/// F = x² + (y - 1)², f = (y - x)²: the optimum is x = y = 1/2.
fn parabola() -> Functions {
    let square = |v: f64| v * v;
    let bounds = || vec![(-2.0, 2.0)];
    Functions::new(
        "parabola",
        bounds(),
        bounds(),
        move |x, y| square(x[0]) + square(y[0] - 1.0),
        move |x, y| square(y[0] - x[0]),
    )
}

/// The leader wants y >= x, the follower answers y = -x, and x is at least 1 (`jointc1` of `BilevelJuMP`).
fn infeasible() -> Functions {
    Functions::new("jointc1", vec![(1.0, 6.0)], vec![(-10.0, 10.0)], |x, _| x[0], |_, y| y[0])
        .upper_constraint(|x, y| x[0] - y[0])
        .lower_constraint(|x, y| -x[0] - y[0])
}

#[track_caller]
fn warned(result: &RunResult, words: &str) {
    assert!(!result.success, "{result:?}");
    assert!(result.warnings.iter().any(|warning| warning.message.contains(words)), "{:?}", result.warnings);
}

#[test]
fn a_run_that_came_to_its_end_is_good_with_every_kind_of_method() {
    for method in ["auto", "bl-cma-es", "tlea-de", "cr-tlea-cma-es"] {
        let result = Solver::new(&parabola()).method(method).seed(3).audit(AuditOptions::default()).run().unwrap();
        assert!(result.success && result.warnings.is_empty(), "{method}: {:?} {:?}", result.stop, result.warnings);
        assert!(result.verification.is_some_and(|v| v.rechecked && v.corrected <= v.rechecks), "{method}");
        assert!((result.upper_value().unwrap() - 0.5).abs() < 1e-3, "{method}: {:?}", result.upper_value());
    }
}

#[test]
fn a_run_that_was_cut_short_says_by_what() {
    for method in ["auto", "bl-cma-es"] {
        let parabola = parabola();
        let solver = || Solver::new(&parabola).method(method).seed(3);
        let result = solver().max_upper_evals(25).run().unwrap();
        assert_eq!(result.stop, Status::Finished(StopReason::UpperBudget));
        assert!(result.evaluations.upper >= 25);
        warned(&result, "the upper budget was spent before");
        let result = solver().max_lower_evals(60).run().unwrap();
        assert_eq!(result.stop, Status::Finished(StopReason::LowerBudget));
        warned(&result, "the lower budget was spent before");
        let time = std::time::Duration::ZERO;
        let result = solver().time_limit(time).run().unwrap();
        warned(&result, "ended before its first generation did");
    }
}

#[test]
fn an_infeasible_problem_is_called_infeasible() {
    for method in ["auto", "bl-cma-es"] {
        let result = Solver::new(&infeasible()).method(method).seed(1).audit(AuditOptions::default()).run().unwrap();
        warned(&result, "no decision was found at which the follower's answer meets the leader's constraints");
        assert!((result.upper_violation().unwrap() - 2.0).abs() < 1e-3, "{method}: {:?}", result.upper_violation());
        let nobody = parabola().lower_constraint(|_, y| 3.0 - y[0]);
        let result = Solver::new(&nobody).method(method).seed(1).run().unwrap();
        warned(&result, "no decision was found at which the follower has an answer that meets its own constraints");
        assert!(result.warnings[0].message.ends_with("the smallest violation was 1.0"), "{:?}", result.warnings);
    }
}

#[test]
fn an_answer_that_fails_its_audit_is_not_good() {
    // The follower's better answer lies in a hole that no run finds, but many wide searches do.
    let hole = |y: f64| if (y - 1.7).abs() < 0.12 { -1.0 } else { 0.0 };
    let mut found = 0;
    for seed in 1..=5 {
        let problem = Functions::new(
            "hole",
            vec![(-2.0, 2.0)],
            vec![(-2.0, 2.0)],
            |x, y| x[0] * x[0] + y[0] * y[0],
            move |x, y| 1e-3 * (y[0] - x[0]).powi(2) + hole(y[0]),
        );
        let solver = Solver::new(&problem).method("bl-cma-es").seed(seed).max_upper_evals(200);
        let result = solver.audit(AuditOptions::default()).run().unwrap();
        let faulted = result.audit.as_ref().is_some_and(|audit| audit.verdict == Verdict::BetterAnswer);
        if faulted {
            found += 1;
            warned(&result, "audit: the follower has a better answer");
        }
    }
    assert!(found > 0, "the test's own problem is too easy");
}

#[test]
fn a_known_value_of_the_leader_alone_is_met_only_by_a_follower_that_was_looked_at_again() {
    // The follower's rugged answer is hard, and F = 0 is easily had with a wrong one.
    let rugged = || {
        let waves = |v: f64| v * v + 10.0 - 10.0 * (2.0 * std::f64::consts::PI * v).cos();
        let bounds = || vec![(-8.0, 12.0); 3];
        Functions::new(
            "rugged",
            bounds(),
            bounds(),
            move |x, y| x.iter().zip(y).map(|(x, y)| waves(*y) - x * x).sum::<f64>().abs(),
            move |x, y| x.iter().zip(y).map(|(x, y)| waves(*y) - x * x).sum::<f64>(),
        )
        .best_known(0.0, None)
    };
    for method in ["auto", "bl-cma-es"] {
        for seed in 1..=3 {
            let result = Solver::new(&rugged()).method(method).seed(seed).max_upper_evals(400).run().unwrap();
            let rechecked = result.verification.is_some_and(|verification| verification.rechecked);
            let met = result.stop == Status::Finished(StopReason::Target);
            assert!(!met || rechecked, "{method} {seed}: {result:?}");
            assert!(result.solved != Some(true) || rechecked, "{method} {seed}");
        }
    }
}

/// Where F is large and flat, its last digits and x, and with x the follower's f, are a little off.
#[test]
fn a_known_value_is_missed_by_a_share_of_it() {
    let market = |known: f64| {
        Functions::new(
            "market",
            vec![(0.0, 100.0)],
            vec![(0.0, 100.0)],
            |x, y| -x[0] * (90.0 - x[0] - y[0]),
            |x, y| -y[0] * (90.0 - x[0] - y[0]),
        )
        .best_known(known, Some(-506.25))
    };
    for seed in 1..=3 {
        let result = Solver::new(&market(-1012.5)).seed(seed).run().unwrap();
        assert!(result.success, "{seed}: {:?}", result.warnings);
        let result = Solver::new(&market(-1012.6)).seed(seed).run().unwrap();
        warned(&result, "the best known optimum was not reached");
    }
}

#[test]
fn violations_have_a_tolerance_of_their_own() {
    // F = x is best at x = 0, where the constraint x >= 0.15 is violated by 0.15.
    let problem =
        Functions::new("slack", vec![(0.0, 1.0)], vec![(0.0, 1.0)], |x, _| x[0], |x, y| (y[0] - x[0]).powi(2))
            .upper_constraint(|x, _| 0.15 - x[0])
            .best_known(0.15, Some(0.0));
    let solver = |tolerance: &str, value: f64| {
        Solver::new(&problem).seed(2).set("stop.target_tolerance", 0.2).set(tolerance, value).run().unwrap()
    };
    let strict = solver("stop.lower_target_tolerance", 0.2);
    assert!(strict.upper_violation().unwrap() <= 1e-6, "{strict:?}");
    let loose = solver("stop.violation_tolerance", 0.5);
    assert!(loose.success);
}

/// A stated optimum without f: F alone is met in the wrong basin, and does not count.
#[test]
fn a_known_value_without_the_follower_counts_only_with_a_right_answer() {
    let folder = tempfile::tempdir().unwrap();
    let text = |dip: &str| {
        format!(
            "[upper]\nminimize = \"(x - 0.3)^2 + (y - 0.5)^2\"\nvariables = {{ x = [0, 1] }}\n\
             [lower]\nminimize = \"(y - 0.5)^2{dip}\"\nvariables = {{ y = [-1, 1] }}\n[best_known]\nupper = 0\n"
        )
    };
    let run = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let source = bilevo::source::open(path.to_str().unwrap(), None).unwrap();
        Solver::new(&*source).seed(1).run().unwrap()
    };
    let result = run("plain.toml", text(""));
    assert!(result.solved == Some(true) && result.success, "{result:?}");
    assert!(result.proof.as_ref().is_some_and(bilevo::prove::Proof::is_answer_proven), "{result:?}");
    // A dip that no search meets by chance.
    let result = run("dip.toml", text(" - 3*exp(-((y + 0.9137)/1e-4)^2)"));
    assert!(result.upper_value().unwrap() < 1e-3, "{result:?}");
    assert!(result.solved == Some(false) && result.target_met != Some(true), "{result:?}");
    warned(&result, "the follower has a better answer: f = -1.0");
}

/// Whoever asks for a proof is told if there is none.
#[test]
fn a_value_that_could_not_be_proven_in_time_is_a_warning() {
    let source = bilevo::source::open("indefinite:103", Some((3, 3))).unwrap();
    let options = |seconds: u64| bilevo::prove::ProveOptions {
        time_limit: std::time::Duration::from_secs(seconds),
        ..Default::default()
    };
    let run = |seconds: u64| Solver::new(&*source).seed(1).max_evals(300).prove(options(seconds)).run().unwrap();
    warned(&run(0), "the leader's value is not proven: open: nothing better than F = ");
}

#[test]
fn a_result_says_how_often_answers_like_it_were_right() {
    let smd1 = bilevo::source::open("smd1", None).unwrap();
    let solver = || Solver::new(&*smd1).seed(1).set("stop.target", "off");
    let result = solver().run().unwrap();
    let likeness = result.likeness.unwrap();
    assert!(likeness.runs >= 20 && likeness.right <= likeness.runs);
    let json = serde_json::to_value(&result).unwrap();
    let words = json["likeness"]["words"].as_str().unwrap();
    assert!(
        words.starts_with("answers that look like this one were right in ") && words.ends_with(" test runs"),
        "{words}"
    );
    // Nothing was measured for other settings, nor for open boxes.
    assert_eq!(solver().set("portfolio.effort", "quick").run().unwrap().likeness, None);
    let open = formulas("x*x + y", "(y - x)^2", "[-1, inf]");
    assert_eq!(Solver::new(&*open).seed(1).run().unwrap().likeness, None);
}

/// A problem of one toml file, with variables x and y.
fn formulas(upper: &str, lower: &str, bounds: &str) -> Box<dyn bilevo::source::Source> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    let text = format!(
        "[upper]\nminimize = \"{upper}\"\nvariables = {{ x = {bounds} }}\n\
         [lower]\nminimize = \"{lower}\"\nvariables = {{ y = {bounds} }}\n"
    );
    std::fs::write(&path, text).unwrap();
    bilevo::source::open(path.to_str().unwrap(), None).unwrap()
}

/// The result of a run on formulas: the leader wants x = 3 and y = 2.
fn solved(lower: &str) -> RunResult {
    let source = formulas("(x - 3)^2 + (y - 2)^2", lower, "[0, 10]");
    Solver::new(&*source).seed(5).run().unwrap()
}

#[test]
fn what_a_run_proves_is_measured_by_what_f_changes_by() {
    // All of f is less than 1e-8.
    let tiny = solved("1e-10 * (y - x)^2");
    let gap = tiny.proof.and_then(|proof| proof.follower?.gap);
    assert!(tiny.success && gap.is_none_or(|gap| gap < 1e-11), "{gap:?}");
    // An answer that is off by a hundred-millionth of its box costs the follower 0.04 of a million.
    let steep = solved("1e6 * abs(y - x) + (y - 2)^2");
    assert!(steep.success, "{:?}", steep.warnings);
}

#[test]
fn an_answer_that_is_exact_but_for_rounding_is_not_refuted() {
    // Where F fails, the follower is solved all the same, and f is zero but for rounding at most points of the run.
    let source = formulas("(x - 0.8)^2 + (y - 0.8)^2 + 0*log(x - 0.6)", "(y - x)^2", "[0, 1]");
    for seed in [3, 13, 19] {
        let result = Solver::new(&*source).seed(seed).audit(AuditOptions::default()).run().unwrap();
        assert!(result.success && result.upper_value().unwrap() < 1e-6, "{seed}: {:?}", result.warnings);
    }
}

#[test]
fn an_unlikely_answer_in_an_open_box_asks_for_bounds() {
    let likeness = bilevo::calibration::Likeness { runs: 50, right: 40, infeasible: false };
    let words = |wide| bilevo::Doubt::Unlikely { likeness, wide }.to_string();
    assert!(words(true).ends_with("hint: solve again with bounds that lie closer around this answer"));
    assert!(words(false).ends_with("searches longer"));
}
