//! Random and mutated files and expressions: whatever the text, reading it ends with a problem that
//! can be evaluated or with remarks that have a place.

use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_core::rng::{Purpose, Stream, Streams};
use bilevo_problems::expression::Expression;
use bilevo_problems::file::{self, ProblemFile};

/// Pieces that mean something, and some that do not.
const PIECES: [&str; 58] = [
    "x",
    "y",
    "t",
    "y1",
    "x1",
    "i",
    "n",
    "1",
    "2.5",
    "1e-3",
    "1e999",
    "0",
    "-",
    "+",
    "*",
    "/",
    "^",
    "**",
    "(",
    ")",
    "[",
    "]",
    ",",
    "<=",
    ">=",
    "==",
    "<",
    "=",
    "..",
    " in ",
    " for ",
    " if ",
    "if(",
    "sum(",
    "sum(i in 1..n, ",
    "min(",
    "sin(",
    "log(",
    "and",
    "or",
    "not ",
    "pi",
    "\"",
    "'''",
    "\n",
    " ",
    "[upper]",
    "[lower]",
    "minimize = ",
    "variables = ",
    "subject_to = ",
    "size",
    "bounds",
    "{",
    "}",
    "#",
    "é",
    "1000000000",
];

const PROGRAM: &str = r#"
command = ["python3", "plant.py"]
timeout = 5.0
[upper]
maximize = true
variables = { t = [0, 10] }
inequalities = 1
[lower]
variables = { y = { size = 2, bounds = [[0, 1], [0, 2]] } }
once = { inputs = [{ file = "a", template = "{t}" }], value = { line = 1, column = 1 } }
"#;

/// Files to start from: examples, built-in problems, a program.
fn seeds() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let templates =
        ["toll", "tax", "stackelberg"].map(|name| format!("{root}/crates/bilevo-cli/src/commands/new/{name}.toml"));
    let examples = templates.into_iter().chain([format!("{root}/examples/network.toml")]);
    let built_in = ["mb_2007_24", "nwj_2017_03", "as_1984_01"]
        .map(|name| format!("{}/basblib/{name}.toml", env!("CARGO_MANIFEST_DIR")));
    let mut seeds: Vec<String> =
        examples.chain(built_in).map(|path| std::fs::read_to_string(&path).expect(&path)).collect();
    seeds.push(PROGRAM.into());
    seeds
}

/// A place in a text where a character begins.
fn place(stream: &mut Stream, text: &str) -> usize {
    let mut at = stream.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Removes, repeats, inserts or replaces something.
fn mutate(stream: &mut Stream, text: &mut String, other: &str) {
    let (mut a, mut b) = (place(stream, text), place(stream, text));
    if a > b {
        std::mem::swap(&mut a, &mut b);
    }
    if b - a > 40 {
        b = a + 1;
        while !text.is_char_boundary(b) {
            b += 1;
        }
    }
    let part = text[a..b].to_string();
    match stream.below(5) {
        0 => text.replace_range(a..b, ""),
        1 => text.insert_str(a, &part.repeat(1 + stream.below(8))),
        2 => text.insert_str(a, PIECES[stream.below(PIECES.len())]),
        3 => text.replace_range(a..b, PIECES[stream.below(PIECES.len())]),
        _ => {
            let (from, to) = (place(stream, other), place(stream, other));
            text.insert_str(a, &other[from.min(to)..from.max(to)]);
        }
    }
}

/// Reads a text as a file; true if it is one.
fn survives(text: &str) -> bool {
    let mut load = |_: &str| Ok("a,b\n1,2\n3,4\n".to_string());
    match file::parse("fuzz.toml", text, &mut load) {
        Ok(ProblemFile::Expressions(problem)) => {
            let centre = |level: Level| -> Vec<f64> { problem.spec().level(level).space.middle() };
            let (x, y) = (centre(Level::Upper), centre(Level::Lower));
            assert_eq!(problem.spec().check(), Ok(()), "{text}");
            for level in [Level::Upper, Level::Lower] {
                let mut constraints = Vec::new();
                assert!(problem.evaluate(level, &x, &y, &mut constraints).is_ok());
                assert_eq!(constraints.len(), problem.spec().level(level).constraints(), "{text}");
            }
            true
        }
        Ok(ProblemFile::Program { spec, .. }) => {
            assert_eq!(spec.check(), Ok(()), "{text}");
            true
        }
        Err(error) => {
            assert!(!error.diagnostics.is_empty() && error.diagnostics.len() <= 20, "{text}");
            for remark in &error.diagnostics {
                assert!(remark.line >= 1 && remark.column >= 1 && !remark.message.is_empty(), "{remark}");
                assert!(remark.hint.as_ref().is_some_and(|hint| !hint.is_empty()), "no way out: {remark}");
                let lines = text.lines().count().max(1) + 1;
                assert!(remark.file != "fuzz.toml" || remark.line <= lines, "{remark}\n{text}");
            }
            assert!(error.to_string().len() < 100_000);
            false
        }
    }
}

#[test]
fn mutated_files() {
    let seeds = seeds();
    let mut stream = Streams::new(11).open(Purpose::Sample, 0, 0);
    let mut understood = 0;
    for round in 0..20_000 {
        let mut text = seeds[round % seeds.len()].clone();
        for _ in 0..1 + stream.below(4) {
            let other = seeds[stream.below(seeds.len())].clone();
            mutate(&mut stream, &mut text, &other);
        }
        understood += usize::from(survives(&text));
    }
    // Both outcomes must occur often, or the mutations test nothing.
    assert!((1_000..19_000).contains(&understood), "{understood}");
}

#[test]
fn random_files() {
    let mut stream = Streams::new(12).open(Purpose::Sample, 0, 0);
    for _ in 0..10_000 {
        let text: String = (0..stream.below(40)).map(|_| PIECES[stream.below(PIECES.len())]).collect();
        survives(&text);
    }
}

#[test]
fn random_expressions() {
    let mut stream = Streams::new(13).open(Purpose::Sample, 0, 0);
    let mut compiled = 0;
    for _ in 0..50_000 {
        let text: String = (0..1 + stream.below(12)).map(|_| PIECES[stream.below(46)]).collect();
        match Expression::compile(&text, &["x", "y", "t", "y1", "x1", "n"]) {
            Ok(expression) => {
                compiled += 1;
                assert!(expression.evaluate(&[1.0; 6]).is_some() && expression.evaluate(&[1.0; 5]).is_none());
            }
            Err(error) => {
                let span = error.span;
                assert!(span.start <= span.end && span.end <= text.len(), "{text}: {span:?}");
                assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{text}: {span:?}");
            }
        }
    }
    assert!(compiled > 500, "{compiled}");
}
