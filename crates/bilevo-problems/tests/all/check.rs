//! What `check` says about files that can be read.

use bilevo_core::problem::BilevelProblem;
use bilevo_problems::file::{self, Diagnostic, ProblemFile, Severity, no_tables};

fn check(text: &str) -> Vec<Diagnostic> {
    let file = file::parse("test.toml", text, &mut no_tables).unwrap_or_else(|error| panic!("{error}"));
    let ProblemFile::Expressions(problem) = &file else { panic!() };
    file::check(&file, &mut |level, x, y, constraints| problem.evaluate(level, x, y, constraints))
}

/// The messages with their places.
fn said(text: &str) -> Vec<String> {
    check(text).iter().map(|d| format!("{}:{}: {}: {}", d.line, d.column, d.field, d.message)).collect()
}

const TOLL: &str = r#"
name = "toll"
[upper]
maximize = "t * y"
variables = { t = [0, 10] }
subject_to = ["t + y <= 12"]
[lower]
minimize = "(y - 8 + t)^2"
variables = { y = [-1, 10] }
subject_to = ["y >= 1 - t"]
[best_known]
upper = 16.0
lower = 0
x = [4]
y = [4]
"#;

#[test]
fn a_sound_file_has_no_warnings() {
    assert_eq!(said(TOLL), [""; 0]);
}

#[test]
fn built_in_files_have_only_the_warnings_they_deserve() {
    for info in bilevo_problems::catalogue().filter(|info| info.name.starts_with("basblib/")) {
        let path = format!("{}/{}.toml", env!("CARGO_MANIFEST_DIR"), info.name);
        let found = said(&std::fs::read_to_string(path).unwrap());
        let deserved = match info.name {
            // These two restrict the follower's answer at the upper level.
            "basblib/mb_2007_08" | "basblib/mb_2007_24" => &["depends on the follower's variables only"][..],
            _ => &[],
        };
        let fits = found.len() == deserved.len() && found.iter().zip(deserved).all(|(line, part)| line.contains(part));
        assert!(fits, "{}: {found:?}", info.name);
    }
}

#[test]
fn each_warning_is_found_at_its_place() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "(y - 8 + t)^2",
            "(8 + t)^2",
            "8:12: lower.minimize: the follower's objective does not depend on the follower's",
        ),
        (
            "(y - 8 + t)^2\"\nvariables = { y = [-1, 10] }\nsubject_to = [\"y >= 1 - t\"]",
            "(y - 8)^2\"\nvariables = { y = [-1, 10] }",
            "8:12: lower.minimize: the follower does not depend on the leader",
        ),
        (
            "t * y\"\nvariables = { t = [0, 10] }\nsubject_to = [\"t + y <= 12\"]",
            "t\"\nvariables = { t = [0, 10] }",
            "4:12: upper.maximize: the leader does not depend on the follower",
        ),
        ("t * y\"", "3\"", "4:12: upper.maximize: the leader's objective is a constant"),
        ("y >= 1 - t", "t >= 1", "10:15: lower.subject_to[1]: the follower cannot influence this constraint"),
        (
            "t + y <= 12",
            "y <= 12",
            "6:15: upper.subject_to[1]: the leader's constraint depends on the follower's variables only",
        ),
        ("t + y <= 12", "1 <= 12", "6:15: upper.subject_to[1]: the constraint does not depend on any variable"),
        (
            "t + y <= 12",
            "t + y >= 120",
            "6:15: upper.subject_to[1]: no sampled point meets the constraint; the closest misses it by",
        ),
        ("y >= 1 - t", "y + 30 == t", "10:15: lower.subject_to[1]: no sampled point meets the constraint"),
        (
            "y >= 1 - t\"",
            "y >= t + 1\", \"y <= t - 1\"",
            "10:15: lower.subject_to[1]: no point was found that meets all constraints of the lower level together",
        ),
        ("(y - 8 + t)^2", "(y - 8 + t)^2 + log(y)", "8:12: lower.minimize: the value is NaN at"),
        ("t + y <= 12", "sqrt(y) + t <= 12", "6:15: upper.subject_to[1]: the value is not finite at"),
        (
            "minimize = \"(y - 8 + t)^2\"",
            "maximize = \"(y - 3 - t/10)^2\"",
            "8:12: lower.maximize: with `maximize` the follower's best answer is always the same corner of its box",
        ),
        (
            "t + y <= 12",
            "t + y >= 9.5",
            "6:15: upper.subject_to[1]: no decision was found to which the follower's answer meets the constraint; \
             the closest misses it by 0.5000",
        ),
        (
            "t + y <= 12",
            "t + y <= 32",
            "6:15: upper.subject_to[1]: every sampled point meets the constraint, so it restricts nothing",
        ),
        ("upper = 16.0", "upper = 17.0", "11:1: best_known: F is 16 at the known optimum, not 17"),
        ("x = [4]", "x = [40]", "11:1: best_known: the known optimum lies outside the boxes"),
        ("y = [4]", "y = [9]", "11:1: best_known: the known optimum violates the upper constraints by 1"),
    ];
    for (what, by, expected) in cases {
        assert!(TOLL.contains(what), "{what}");
        let found = said(&TOLL.replacen(what, by, 1));
        assert!(found.iter().any(|line| line.starts_with(expected)), "`{by}`:\n{found:#?}");
    }
}

#[test]
fn warnings_are_warnings_and_have_a_line_to_show() {
    let found = check(&TOLL.replace("t + y <= 12", "y <= 5"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].severity, Severity::Warning);
    assert_eq!(found[0].text, "subject_to = [\"y <= 5\"]");
    assert!(found[0].hint.as_ref().unwrap().contains("[lower]"));
}

#[test]
fn unused_variables_are_named() {
    let text = TOLL.replace("t = [0, 10]", "t = [0, 10], u = [0, 1]").replace("x = [4]", "x = [4, 0]");
    assert_eq!(said(&text), ["5:32: u: the variable is never used"]);
    let vector =
        text.replace("u = [0, 1]", "u = { size = 3, bounds = [0, 1] }").replace("x = [4, 0]", "x = [4, 0, 0, 0]");
    assert_eq!(said(&vector), ["5:53: u[1]: the variable is never used, nor are 2 more elements"]);
}

#[test]
fn equations_that_can_be_met_are_no_warning() {
    let text = TOLL.replace("y >= 1 - t", "y + t == 8");
    assert_eq!(said(&text), [""; 0]);
}

#[test]
fn a_leader_whose_best_decision_is_a_corner_is_no_warning() {
    let text = TOLL.replace("maximize = \"t * y\"", "minimize = \"t * y\"");
    let known = "[best_known]\nupper = 16.0\nlower = 0\nx = [4]\ny = [4]\n";
    assert!(text.contains(known));
    assert_eq!(said(&text.replace(known, "")), [""; 0]);
}

#[test]
fn equations_of_many_variables_that_can_be_met_are_no_warning() {
    let text = "[upper]\nminimize = \"sum(i in 1..10, (x[i] - y[i])^2)\"\n\
        variables = { x = { size = 10, bounds = [0, 1] } }\nsubject_to = [\"sum(x) == 1\"]\n\
        [lower]\nminimize = \"sum(i in 1..10, (y[i] - x[i])^2 * i)\"\n\
        variables = { y = { size = 10, bounds = [0, 1] } }\n\
        subject_to = [\"y[1] + y[2] == x[1]\", \"y[3] + y[4] - y[5] == x[2]\", \"y[6] + y[7] + y[8] == 2\"]\n";
    assert_eq!(said(text), [""; 0]);
    let free = text.split("subject_to = [\"y[1]").next().unwrap();
    assert_eq!(said(free), [""; 0]);
    // There is no such pair.
    let never = text.replace("sum(x) == 1", "sum(x) == 11");
    assert!(said(&never)[0].contains("no sampled point meets the constraint"), "{:?}", said(&never));
}

#[test]
fn a_follower_that_goes_from_corner_to_corner_is_no_warning() {
    let text =
        TOLL.replace("minimize = \"(y - 8 + t)^2\"", "maximize = \"(y - t)^2\"").replace("y >= 1 - t", "y >= -1");
    assert!(!said(&text).iter().any(|line| line.contains("corner")), "{:?}", said(&text));
}

#[test]
fn a_side_that_never_binds_is_no_warning_if_the_other_does() {
    assert_eq!(said(&TOLL.replace("t + y <= 12", "-30 <= t + y <= 12")), [""; 0]);
}

#[test]
fn narrow_feasible_regions_are_found() {
    let text = TOLL.replace("t + y <= 12", "3.99 <= t + 0*y <= 4.01");
    assert_eq!(said(&text), [""; 0]);
}

#[test]
fn a_check_says_the_same_twice() {
    let text = TOLL.replace("(y - 8 + t)^2", "(y - 8 + t)^2 + log(y)");
    assert_eq!(check(&text), check(&text));
}
