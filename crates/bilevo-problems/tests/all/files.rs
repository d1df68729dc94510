//! Problem files: what they mean, and what is said about mistakes.

use bilevo_core::config::PositionKind;
use bilevo_core::problem::{BilevelProblem, Direction, Level, LowerConstraints};
use bilevo_problems::file::{self, ExpressionProblem, ProblemFile, no_tables};
use bilevo_problems::program::{Commands, Mode, Pattern};
use std::time::Duration;

fn parse(text: &str) -> ProblemFile {
    file::parse("test.toml", text, &mut no_tables).unwrap_or_else(|error| panic!("{error}"))
}

fn expressions(text: &str) -> ExpressionProblem {
    let ProblemFile::Expressions(problem) = parse(text) else { panic!("not expressions") };
    problem
}

fn refusal(text: &str) -> String {
    match file::parse("test.toml", text, &mut no_tables) {
        Ok(_) => panic!("was accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn values(problem: &ExpressionProblem, level: Level, x: &[f64], y: &[f64]) -> (f64, Vec<f64>) {
    let mut constraints = Vec::new();
    let value = problem.evaluate(level, x, y, &mut constraints).unwrap();
    assert_eq!(constraints.len(), problem.spec().level(level).constraints());
    (value, constraints)
}

const TOLL: &str = r#"
name = "toll"
[upper]
maximize = "t * y1"
variables = { t = [0, 10] }
subject_to = ["t + y1 <= 12"]
[lower]
minimize = "(y1 - 8 + t)^2 + 0.1*y1"
variables = { y1 = [0, 10] }
[best_known]
upper = 16.0
"#;

#[test]
fn the_smallest_file() {
    let toll = expressions(TOLL);
    assert_eq!(toll.spec().name, "toll");
    assert_eq!(toll.spec().upper.direction, Direction::Maximize);
    assert_eq!(toll.spec().lower.direction, Direction::Minimize);
    assert_eq!(toll.spec().upper.space.bounds(), [(0.0, 10.0)]);
    assert_eq!(toll.spec().best_known[0].upper, 16.0);
    assert_eq!(toll.spec().best_known[0].lower, None);
    assert_eq!(values(&toll, Level::Upper, &[4.0], &[3.0]), (12.0, vec![-5.0]));
    assert_eq!(values(&toll, Level::Lower, &[4.0], &[3.0]), (1.0 + 0.1 * 3.0, vec![]));
    assert!(toll.evaluate(Level::Lower, &[1.0, 2.0], &[3.0], &mut Vec::new()).is_err());
}

#[test]
fn parameters_and_data_may_use_what_stands_above_them() {
    let text = "[data]\nroads = { time = [1, 2, 3] }\n[parameters]\nn = \"rows(roads)\"\n\
        [upper]\nminimize = \"x\"\nvariables = { x = [0, \"n\"] }\n\
        [lower]\nminimize = \"sum(y)\"\nvariables = { y = { size = \"n\", bounds = [0, 1] } }\n";
    assert_eq!(expressions(text).spec().lower.dim(), 3);
    // A vector of unknown size is told once, where its size is wrong.
    let refused = refusal(&text.replace("rows(roads)", "rows(road)"));
    assert!(
        refused.starts_with("test.toml:4:11: parameters.n: unknown name `road`; did you mean `roads`?"),
        "{refused}"
    );
    assert_eq!(refused.matches("test.toml:").count(), 1, "{refused}");
}

#[test]
fn a_file_may_say_which_of_equally_good_answers_counts() {
    assert_eq!(
        (expressions(TOLL).spec().position, expressions(TOLL).spec().position_tolerance),
        (PositionKind::Any, None)
    );
    let toll = expressions(&format!("position = \"pessimistic\"\nposition_tolerance = \"1e-3\"\n{TOLL}"));
    assert_eq!((toll.spec().position, toll.spec().position_tolerance), (PositionKind::Pessimistic, Some(1e-3)));
    let toll = expressions(&format!("position = \"optimistic\"\n{TOLL}"));
    assert_eq!(toll.spec().position, PositionKind::Optimistic);
    let refused = refusal(&format!("position = \"neutral\"\nposition_tolerance = 0\n{TOLL}"));
    assert!(refused.starts_with("test.toml:1:12: position: neither `optimistic` nor `pessimistic`"), "{refused}");
    assert!(refused.contains("test.toml:2:22: position_tolerance: the tolerance is not above 0"), "{refused}");
}

#[test]
fn constraints_in_every_form() {
    let problem = expressions(
        r#"
        equality_tolerance = 1e-4
        lower_constraints = "shared"
        [upper]
        minimize = "x"
        variables = { x = [0, 1] }
        [lower]
        minimize = "y[1]"
        variables = { y = { size = 3, bounds = [-5, 5] } }
        subject_to = [
            "y[1] + x <= 2",
            "y[1] >= x",
            "y[1]*y[2] == 6",
            "-1 <= y[3] <= x + 1",
            "4 >= y[2] >= 0",
            "y[i] <= 10*i for i in 1..3",
            "y[i] + y[j] <= 9 for i in 1..3, j in 1..3 if i < j",
            "sum(y) == x",
        ]
        "#,
    );
    let spec = problem.spec();
    assert_eq!((spec.lower.inequalities, spec.lower.equalities), (12, 2));
    assert_eq!(spec.equality_tolerance, 1e-4);
    assert_eq!(spec.lower_constraints, LowerConstraints::Shared);
    assert_eq!(spec.name, "test");
    let (_, g) = values(&problem, Level::Lower, &[0.5], &[1.0, 2.0, 3.0]);
    let inequalities = [-0.5, -0.5, -4.0, 1.5, -2.0, -2.0, -9.0, -18.0, -27.0, -6.0, -5.0, -4.0];
    assert_eq!(g[..12], inequalities);
    assert_eq!(g[12..], [-4.0, 5.5]);
}

#[test]
fn parameters_data_and_definitions() {
    let problem = expressions(
        r#"
        [parameters]
        n = 2
        m = "n + 1"
        price = [1.5, "2*n", 3]
        c = [[1, 2, 3], [4, 5, 6]]
        double = "2*c[i,j] for i in 1..n, j in 1..m"
        [data]
        links = { from = [1, 1, 2], to = [2, 3, 3] }
        [definitions]
        cost = "sum(j in 1..m, c[i,j]*y[j]) for i in 1..n"
        stock = "if(t == 1, 10, stock[t-1] - y[t]) for t in 1..m"
        leaving = "sum(a in 1..len(links.from), if(links.from[a] == i, y[a], 0)) for i in 1..3"
        [upper]
        minimize = "cost[1] + 10*cost[2] + x"
        variables = { x = [0, "n"] }
        [lower]
        minimize = "stock[m] + double[2,3] + leaving[1]*x"
        [lower.variables]
        y = { size = "m", bounds = [0, "price[i]"] }
        f = { size = ["n", 2], bounds = ["-i", "10*j"] }
        z = { bounds = [[0, 1], [2, 3]] }
        w = [0, "2*pi"]
        "#,
    );
    let spec = problem.spec();
    assert_eq!(spec.upper.space.bounds(), [(0.0, 2.0)]);
    assert_eq!(spec.lower.space.bounds()[..3], [(0.0, 1.5), (0.0, 4.0), (0.0, 3.0)]);
    assert_eq!(spec.lower.space.bounds()[3..7], [(-1.0, 10.0), (-1.0, 20.0), (-2.0, 10.0), (-2.0, 20.0)]);
    assert_eq!(spec.lower.space.bounds()[7..9], [(0.0, 1.0), (2.0, 3.0)]);
    assert_eq!(problem.names(Level::Upper), ["x"]);
    let names = ["y[1]", "y[2]", "y[3]", "f[1,1]", "f[1,2]", "f[2,1]", "f[2,2]", "z[1]", "z[2]", "w"];
    assert_eq!(problem.names(Level::Lower), names);
    let y = [1.0, 10.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(values(&problem, Level::Upper, &[7.0], &y).0, 321.0 + 6540.0 + 7.0);
    assert_eq!(values(&problem, Level::Lower, &[7.0], &y).0, -100.0 + 12.0 + 77.0);
    // Only what a level uses is computed there.
    assert!(problem.steps(Level::Upper) < problem.steps(Level::Lower) + 6);
}

const NETWORK: &str = r#"
[data]
roads = "roads.csv"
toll = "toll.csv"
[upper]
minimize = "x*toll[2]"
variables = { x = [0, 1] }
[lower]
minimize = "sum(a in 1..rows(roads), roads.time[a]*y[a]) + roads[2,1]"
variables = { y = { size = "rows(roads)", bounds = [0, 1] } }
"#;

fn network(roads: &str, toll: &str) -> Result<ProblemFile, file::FileError> {
    let mut load = |name: &str| match name {
        "roads.csv" => Ok(roads.to_string()),
        "toll.csv" => Ok(toll.to_string()),
        _ => Err("no such file".to_string()),
    };
    file::parse("net.toml", NETWORK, &mut load)
}

#[test]
fn tables_in_csv_files() {
    let Ok(ProblemFile::Expressions(problem)) = network("from, to, time\n1,2,0.5\n# a comment\n2,3,1e1\n", "1\n7\n")
    else {
        panic!()
    };
    assert_eq!(values(&problem, Level::Lower, &[0.0], &[2.0, 3.0]).0, 33.0);
    assert_eq!(values(&problem, Level::Upper, &[0.5], &[2.0, 3.0]).0, 3.5);
    // The hash covers the tables.
    let hash = |roads, toll| network(roads, toll).unwrap().hash().to_string();
    let same = hash("from,to,time\n1,2,3\n2,3,4\n", "1\n7\n");
    assert_eq!(same, hash("from,to,time\n1,2,3\n2,3,4\n", "1\n7\n"));
    assert_ne!(same, hash("from,to,time\n1,2,3\n2,3,5\n", "1\n7\n"));
    assert_ne!(same, hash("from,to,time\n1,2,3\n2,3,4\n", "1\n8\n"));
    assert_eq!(same.len(), 16);
}

#[test]
fn mistakes_in_csv_files_are_shown_there() {
    let refusal = |roads: &str| match network(roads, "1\n2\n") {
        Ok(_) => panic!("was accepted: {roads}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        refusal("from,to,time\n1,2,0.5\n2,x,1\n"),
        "roads.csv:3:1: `x` is not a finite number\n 3 | 2,x,1\n   | ^^^^^\nhint: only the first line may contain words, as names of the columns"
    );
    assert!(refusal("from,to,time\n1,2\n").starts_with("roads.csv:2:1: this row has 2 of 3 values"));
    assert!(refusal("a,b b,c\n1,2,3\n").starts_with("roads.csv:1:1: `b b` cannot be a name"));
    assert!(refusal("").contains("there are no numbers in it"));
    assert!(refusal("from,to,when\n1,2,3\n").contains("unknown name `roads.time`"));
    assert!(refusal("from,to,time\n1,2,inf\n1,2,3\n").contains("`inf` is not a finite number"));
    for table in ["from,to,time\n1,2,LONG\n", "from,to,a LONG\n1,2,3\n"] {
        let words = refusal(&table.replace("LONG", &"x".repeat(100_000)));
        assert!(words.lines().all(|line| line.matches('x').count() <= 80), "{words}");
    }
    assert!(refusal("from;to;time\n1;2;3\n").contains("hint: columns are separated by commas"));
    assert!(refusal("from,\"to\nfro\",time\n1,2,3\n").contains("`to fro` cannot be a name"));
}

#[test]
fn programs() {
    let text = r#"
        name = "plant"
        command = ["python3", "plant.py"]
        timeout = 5.0
        batch = 20
        max_failures = 3
        memory_mb = 500
        environment = { MODE = "fast" }
        [upper]
        maximize = true
        variables = { t = [0, 10] }
        inequalities = 1
        [lower]
        variables = { y1 = [0, 10], y2 = [0, 1] }
        equalities = 2
    "#;
    let ProblemFile::Program { spec, hash, .. } = parse(text) else { panic!() };
    assert_eq!(spec.problem.upper.direction, Direction::Maximize);
    assert_eq!((spec.problem.upper.inequalities, spec.problem.lower.equalities), (1, 2));
    assert_eq!(spec.problem.names(Level::Lower), ["y1", "y2"]);
    assert_eq!(spec.timeout, Duration::from_secs(5));
    assert_eq!((spec.max_failures, spec.memory), (3, Some(500_000_000)));
    let Commands::Both(command) = &spec.commands else { panic!() };
    assert_eq!(command.command, ["python3", "plant.py"]);
    assert_eq!(command.mode, Mode::Lines { batch: 20 });
    assert_eq!(command.environment["MODE"], "fast");
    assert_eq!(hash.len(), 16);
}

#[test]
fn programs_for_each_level_and_for_each_evaluation() {
    let text = r#"
        command = ["./solver", "{file}"]
        [upper]
        command = ["./judge", "{x}", "{y}"]
        variables = { t = [0, 10] }
        [upper.once]
        value = { key = "cost" }
        [lower]
        variables = { y1 = [0, 10] }
        inequalities = 1
        [lower.once]
        inputs = [{ file = "in.txt", template = "{t} {y1}" }]
        output = "out.txt"
        value = { line = 1, column = -1 }
        constraints = [{ regex = "g=(.*)" }]
    "#;
    let ProblemFile::Program { spec, .. } = parse(text) else { panic!() };
    let Mode::Once(upper) = &spec.commands.of(Level::Upper).mode else { panic!() };
    assert_eq!(upper.value, Pattern::Key { key: "cost".into() });
    assert_eq!(spec.commands.of(Level::Upper).command[0], "./judge");
    let Mode::Once(lower) = &spec.commands.of(Level::Lower).mode else { panic!() };
    assert_eq!(lower.inputs[0].file, "in.txt");
    assert_eq!(lower.constraints, [Pattern::Regex { regex: "g=(.*)".into() }]);
}

#[test]
fn mistakes_are_shown_with_line_column_and_way_out() {
    let wrong = TOLL.replace("\"t * y1\"", "\"t * y2\"");
    assert_eq!(
        refusal(&wrong),
        "test.toml:4:17: upper.maximize: unknown name `y2`; did you mean `y1`?\n \
         4 | maximize = \"t * y2\"\n   |                 ^^\n\
         hint: replace it with `y1`, or declare `y2`"
    );
}

#[test]
fn every_mistake_has_its_message() {
    let cases: &[(&str, &str, &str)] = &[
        ("maximize = \"t * y1\"", "maximize = t * y1", "4:12: this is not TOML"),
        ("maximize = \"t * y1\"", "", "3:2: upper: the upper level has no objective"),
        (
            "maximize = \"t * y1\"",
            "maximise = \"t * y1\"",
            "4:1: upper.maximise: unknown key `maximise`; did you mean `maximize`?",
        ),
        (
            "maximize = \"t * y1\"",
            "maximize = \"t\"\nminimize = \"t\"",
            "upper.maximize: a level either minimises or maximises",
        ),
        (
            "maximize = \"t * y1\"",
            "maximize = 3",
            "4:12: upper.maximize: a number is found where a text in quotes is expected",
        ),
        ("maximize = \"t * y1\"", "maximize = '''\n\n t * q'''", "6:6: upper.maximize: unknown name `q`"),
        ("maximize = \"t * y1\"", "maximize = \"t \\u002A qq\"", "4:12: upper.maximize: unknown name `qq`"),
        ("t = [0, 10]", "t = [10, 0]", "5:19: upper.variables.t: the box [10, 0] is empty"),
        ("t = [0, 10]", "t = [1, 1]", "every upper variable is fixed"),
        ("t = [0, 10]", "t = { integer = [0.2, 0.8] }", "no whole number lies within [0.2, 0.8]"),
        ("t = [0, 10]", "t = { integer = [0, 1e17] }", "whole numbers in [0, 1e17] are too large to be exact"),
        ("t = [0, 10]", "t = { integer = [5, 2] }", "the box [5, 2] is empty"),
        ("t = [0, 10]", "t = { integer = [0, 1], bounds = [0, 1] }", "`bounds` and `integer` are both given"),
        ("t = [0, 10]", "t = { size = 2, integer = [[0, 1]] }", "1 boxes for 2 elements"),
        ("t = [0, 10]", "t = [inf, 10]", "upper.variables.t[1]: the number is not finite"),
        ("t = [0, 10]", "t = [0, 5e-324]", "the box [0, 5e-324] is too narrow for its numbers"),
        ("t = [0, 10]", "t = [-1.7e308, 1.7e308]", "the box [-1.7e308, 1.7e308] is too wide"),
        ("t = [0, 10]", "t = 3", "a number is found where the box `[low, high]` is expected"),
        ("t = [0, 10]", "t = [0]", "a box has two bounds"),
        ("t = [0, 10]", "y1 = [0, 10]", "lower.variables.y1: `y1` is declared twice"),
        ("t = [0, 10]", "sin = [0, 10]", "`sin` is a function and cannot be a name"),
        ("t = [0, 10]", "e = [0, 10]", "`e` is a constant and cannot be a name"),
        ("t = [0, 10]", "'a b' = [0, 10]", "`a b` cannot be a name"),
        ("t = [0, 10]", "t = { size = 2000, bounds = [0, 1] }", "2000 is not a whole number from 1 to 1000"),
        ("t = [0, 10]", "t = { bounds = [0, 1] }", "`size` is missing"),
        ("t = [0, 10]", "t = { size = 2, bounds = [[0, 1]] }", "1 boxes for 2 elements"),
        ("t = [0, 10]", "t = { size = 2, bounds = [0, 1] }", "`t` is not a single number"),
        ("t = [0, 10]", "t = { size = 2, bunds = [0, 1] }", "unknown key `bunds`; did you mean `bounds`?"),
        ("t + y1 <= 12", "t + y1 < 12", "6:16: upper.subject_to[1]: a constraint cannot be strict"),
        ("t + y1 <= 12", "t + y1", "a constraint needs a comparison"),
        ("t + y1 <= 12", "t <= 12 and y1 <= 3", "these are several constraints in one text"),
        ("t + y1 <= 12", "t + y1 = 12", "an equation is written with `==`"),
        ("t + y1 <= 12", "0 <= t >= 12", "both comparisons must point the same way"),
        ("t + y1 <= 12", "t <= y1 for t in 1..3", "`t` is already in use"),
        ("t + y1 <= 12", "t <= y1 for k in 1..1000000000", "more than 1000000 operations"),
        ("[best_known]", "[best_know]", "10:2: best_know: unknown key `best_know`; did you mean `best_known`?"),
        ("upper = 16.0", "lower = 16.0", "best_known: `upper` is missing"),
        ("upper = 16.0", "upper = 16.0\nx = [1, 2]", "best_known.x: 2 numbers for 1 variables"),
        ("[lower]", "[drivers]", "[lower] is missing"),
        ("[lower]", "[follower]", "formulas of the follower stand under [lower]"),
        ("[lower]", "[lowr]", "unknown key `lowr`; did you mean `lower`?"),
        ("name = \"toll\"", "name = 3", "name: a number is found where a text in quotes is expected"),
        ("name = \"toll\"", "equality_tolerance = -1", "the tolerance is negative"),
        ("name = \"toll\"", "budget = { upper_evals = 0 }", "0 is not a whole number from 1 on"),
        ("name = \"toll\"", "lower_constraints = \"both\"", "neither `added` nor `shared`"),
        ("name = \"toll\"", "parameters = { a = \"b\", b = 2 }", "parameters.a: unknown name `b`"),
        ("name = \"toll\"", "parameters = { a = [[1], [2, 3]] }", "the rows differ in length"),
        ("name = \"toll\"", "parameters = { a = \"1/0\" }", "this is inf, not a finite number"),
        ("name = \"toll\"", "data = { a = \"a.csv\" }", "cannot read `a.csv`"),
        ("name = \"toll\"", "definitions = { a = \"b + t\", b = \"a\" }", "definitions.a: unknown name `b`"),
        ("name = \"toll\"", "definitions = { a = \"a + t\" }", "element 1 of `a` is not defined yet"),
        ("name = \"toll\"", "definitions = { a = \"a[i+1] for i in 1..3\" }", "element 2 of `a` is not defined yet"),
        ("name = \"toll\"", "definitions = { a = \"t for i in 2..3\" }", "indices start at 1"),
        ("name = \"toll\"", "command = []", "upper.maximize: a text is found where true or false is expected"),
    ];
    refused(cases);
}

/// Each change of the file is refused with these words.
fn refused(cases: &[(&str, &str, &str)]) {
    for (what, by, expected) in cases {
        assert!(TOLL.contains(what), "{what}");
        let refusal = refusal(&TOLL.replacen(what, by, 1));
        assert!(refusal.contains(expected), "`{by}`:\n{refusal}");
    }
}

#[test]
fn words_of_other_tools_and_wrong_units_are_pointed_out() {
    refused(&[
        (
            "[best_known]",
            "[units]\ntt = \"EUR\"\n[best_known]",
            "units.tt: there is no variable `tt`; did you mean `t`?",
        ),
        ("[best_known]", "[units]\nt = 5\n[best_known]", "units.t"),
        (
            "maximize = \"t * y1\"",
            "maximize = \"t\"\nconstraints = [\"t <= 1\"]",
            "5:1: upper.constraints: unknown key `constraints`; did you mean `subject_to`?",
        ),
    ]);
}

#[test]
fn one_mistake_is_told_once_and_several_are_told_together() {
    let wrong = TOLL.replace("t = [0, 10]", "t = [10, 0]");
    let text = refusal(&wrong);
    assert_eq!(text.matches("test.toml").count(), 1, "{text}");
    let wrong = TOLL.replace("t * y1", "t * q").replace("- 8 + t", "- 8 + u").replace("16.0", "\"v\"");
    let text = refusal(&wrong);
    assert_eq!(text.matches("test.toml").count(), 3, "{text}");
}

#[test]
fn huge_files_are_refused() {
    let text = format!("{TOLL}#{}", "x".repeat(10_000_000));
    assert!(refusal(&text).contains("more than 1000000"), "{}", refusal(&text).len());
    let nested = TOLL.replace("t * y1", &format!("{}t{}", "(".repeat(10_000), ")".repeat(10_000)));
    assert!(refusal(&nested).contains("levels of nesting"));
    let nested = format!("a = {}", "[".repeat(100_000));
    assert!(refusal(&nested).contains("not TOML"));
}

#[test]
fn a_misspelt_level_is_one_mistake() {
    let level = "minimize = \"x + y\"\nvariables = { VARIABLE = [0, 1] }\n";
    let words = |upper: &str, lower: &str| {
        let levels =
            [(upper, "x"), (lower, "y")].map(|(name, v)| format!("[{name}]\n{}", level.replace("VARIABLE", v)));
        file::parse("a.toml", &levels.concat(), &mut file::no_tables).err().unwrap().to_string()
    };
    for (upper, lower, wrong, meant) in [("uper", "lower", "uper", "upper"), ("upper", "Lower", "Lower", "lower")] {
        let words = words(upper, lower);
        assert!(words.contains(&format!("unknown key `{wrong}`; did you mean `{meant}`?")), "{words}");
        assert!(!words.contains("is missing"), "{words}");
    }
    assert!(words("upper", "answer").contains("[lower] is missing"));
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |name: &str| file::read(&folder.path().join(name)).err().unwrap().to_string();
    assert!(refusal("absent.toml").contains("cannot be read"));
    assert!(refusal(".").contains("it is not an ordinary file"));
    std::fs::write(folder.path().join("binary.toml"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(refusal("binary.toml").contains("not text in UTF-8"));
    std::fs::write(folder.path().join("empty.toml"), "").unwrap();
    assert!(refusal("empty.toml").contains("[upper] is missing"));
    std::fs::write(folder.path().join("large.toml"), vec![b'#'; 10_000_000]).unwrap();
    assert!(refusal("large.toml").contains("more than 1000000 bytes"));
    std::fs::write(folder.path().join("roads.csv"), "from,to,time\n1,2,3\n1,2,3").unwrap();
    std::fs::write(folder.path().join("toll.csv"), "1\n2").unwrap();
    std::fs::write(folder.path().join("bom.toml"), format!("\u{feff}{NETWORK}")).unwrap();
    assert!(file::read(&folder.path().join("bom.toml")).is_ok());
}

#[test]
fn whole_numbers_and_fixed_variables() {
    let text = "[upper]\nminimize = \"sum(open) + n + h\"\nvariables = { n = { integer = [0.5, 5.5] }, open = { size = 3, integer = [0, 1] }, h = [2, 2] }\n\
                [lower]\nminimize = \"(y - n)^2\"\nvariables = { y = { integer = [0, 1e9] } }\n";
    let problem = expressions(text);
    let upper = &problem.spec().upper.space;
    assert_eq!(upper.bounds(), [(1.0, 5.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (2.0, 2.0)], "whole bounds");
    assert_eq!(upper.iter().map(|v| v.is_whole()).collect::<Vec<_>>(), [true, true, true, true, false]);
    assert_eq!(upper.names('x'), ["n", "open[1]", "open[2]", "open[3]", "h"]);
    assert_eq!(problem.spec().lower.space.combinations(), 1_000_000_001);
    assert_eq!(problem.spec().check(), Ok(()));
}

#[test]
fn a_program_answers_for_the_follower() {
    let program = |text: &str| match file::parse("market.toml", text, &mut file::no_tables) {
        Ok(ProblemFile::Program { spec, .. }) => Ok(spec),
        Ok(_) => panic!("expressions"),
        Err(error) => Err(error.to_string()),
    };
    let upper = "[upper]\nvariables = { t = [0, 10] }\n";
    let one = program(&format!("command = [\"./market\"]\n{upper}[follower]\n")).unwrap();
    assert!(one.problem.is_oracle_alone() && one.follower.is_none());
    assert_eq!(one.all_commands().len(), 1);
    let own = format!("command = [\"./market\"]\n{upper}[follower]\ncommand = [\"./clear\"]\nbatch = 5\n");
    let own = program(&own).unwrap();
    assert_eq!(own.follower.as_ref().map(|f| f.command[0].as_str()), Some("./clear"));
    assert_eq!(own.all_commands().len(), 2);
    let beside = format!("command = [\"./market\"]\n{upper}[lower]\nvariables = {{ y = [0, 1] }}\n[follower]\n");
    let beside = program(&beside).unwrap();
    assert!(!beside.problem.is_oracle_alone() && beside.problem.lower.dim() == 1);
    let formulas = "[upper]\nminimize = \"t\"\nvariables = { t = [0, 10] }\n[follower]\n";
    assert!(program(formulas).unwrap_err().contains("[follower] needs a program"));
    let once = format!("command = [\"./market\"]\nonce = {{}}\n{upper}[follower]\n");
    assert!(program(&once).unwrap_err().contains("line by line"));
    let misspelt = format!("command = [\"./market\"]\n{upper}[follower]\nvariables = {{ y = [0, 1] }}\n");
    assert!(program(&misspelt).unwrap_err().contains("variables"));
}

#[test]
fn a_file_is_read_with_other_numbers_and_either_goal() {
    use bilevo_problems::file::{Goal, Reading, read_as};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.toml");
    let text = "[parameters]\na = 2\nb = \"3*a\"\n[upper]\nmaximize = [\"a*x + y\", \"b*x - y\"]\n\
                variables = { x = [0, 1] }\nsubject_to = [\"x <= 0.5\"]\n\
                [lower]\nminimize = \"y\"\nvariables = { y = [0, 1] }\n";
    std::fs::write(&path, text).unwrap();
    let value = |reading: &Reading| {
        let ProblemFile::Expressions(problem) = read_as(&path, reading).unwrap() else { panic!() };
        let mut constraints = Vec::new();
        let value = problem.evaluate(Level::Upper, &[0.25], &[1.0], &mut constraints).unwrap();
        (value, constraints, problem.hash().to_string())
    };
    let goal = |index, limit| Reading { goal: Some(Goal { index, limit }), ..Reading::default() };
    let (first, constraints, hash) = value(&goal(0, None));
    assert_eq!((first, constraints), (1.5, vec![-0.25]));
    // At least 1 of the other goal, which is 0.5: short of it by 0.5, divided by 4.
    let limited = value(&goal(0, Some((1.0, 4.0))));
    assert_eq!((limited.0, &limited.1[..]), (1.5, &[-0.25, 0.125][..]));
    assert_ne!(limited.2, hash, "it is another problem");
    assert_eq!(value(&goal(1, None)).0, 0.5);
    // What depends on a parameter follows it.
    let swept = Reading { parameters: vec![("a".into(), 4.0)], ..goal(1, None) };
    assert_eq!(value(&swept).0, 2.0);
    let missing = Reading { parameters: vec![("c".into(), 4.0)], ..goal(1, None) };
    for (reading, words) in [(missing, "there is no parameter `c`"), (Reading::default(), "the leader has two goals")] {
        let Err(error) = read_as(&path, &reading) else { panic!("{reading:?}") };
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// Units and constraints as written are for people: they do not change what a file means.
#[test]
fn reports_can_show_units_and_constraints_as_written() {
    let text = |units: &str| {
        format!(
            "[upper]\nmaximize = \"t*sum(y)\"\nvariables = {{ t = [0, 10] }}\nsubject_to = [\"t <= 5\", \"1 <=  t + y[1] <= 12\"]\n\
             [lower]\nminimize = \"sum(i in 1..2, (y[i] - 8 + t)^2)\"\n\
             variables = {{ y = {{ size = 2, bounds = [0, 10] }} }}\nsubject_to = [\"y[i] <= i + 4 for i in 1..2\"]\n{units}"
        )
    };
    let read = |units: &str| match file::parse("toll.toml", &text(units), &mut file::no_tables).unwrap() {
        ProblemFile::Expressions(problem) => problem,
        ProblemFile::Program { .. } => unreachable!(),
    };
    let (plain, with) = (read(""), read("[units]\nt = \"EUR\"\ny = \"trips\"\nF = \"EUR/h\"\n"));
    assert_eq!(plain.hash(), with.hash());
    let labels = with.labels();
    let units = ["t", "y[2]", "F", "f"].map(|name| labels.unit(name));
    assert_eq!(units, [Some("EUR"), Some("trips"), Some("EUR/h"), None]);
    let upper = ["t <= 5", "1 <= t + y[1] <= 12 (1)", "1 <= t + y[1] <= 12 (2)"];
    assert_eq!(labels.constraints[0], upper);
    assert_eq!(labels.constraint(Level::Lower, 1), Some("y[i] <= i + 4 for i in 1..2 (2)"));
    let written = |level| with.as_written(level);
    let upper = ["t <= 5", "1 <= t + y[1] <= 12"].map(String::from).to_vec();
    assert_eq!(written(Level::Upper), ("t*sum(y)".into(), upper));
    let lower = ("sum(i in 1..2, (y[i] - 8 + t)^2)".into(), vec!["y[i] <= i + 4 for i in 1..2".into()]);
    assert_eq!(written(Level::Lower), lower);
}
