//! Any text as a problem file, with a small table beside it: `cargo +nightly fuzz run file`.
#![no_main]

use bilevo_core::problem::{BilevelProblem, Level};
use bilevo_problems::file::{self, ProblemFile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut load = |_: &str| Ok("a,b\n1,2\n3,4\n".to_string());
    match file::parse("fuzz.toml", text, &mut load) {
        Ok(ProblemFile::Expressions(problem)) => {
            let low = |level: Level| -> Vec<f64> { problem.spec().level(level).bounds.iter().map(|b| b.0).collect() };
            for level in [Level::Upper, Level::Lower] {
                let mut constraints = Vec::new();
                assert!(problem.evaluate(level, &low(Level::Upper), &low(Level::Lower), &mut constraints).is_ok());
                assert_eq!(constraints.len(), problem.spec().level(level).constraints());
            }
        }
        Ok(ProblemFile::Program { spec, .. }) => assert!(spec.check().is_ok()),
        Err(error) => assert!(!error.diagnostics.is_empty()),
    }
});
