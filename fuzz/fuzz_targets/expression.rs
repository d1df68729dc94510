//! Any text as an expression: `cargo +nightly fuzz run expression`.
#![no_main]

use bilevo_problems::expression::Expression;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Expression::compile(text, &["x", "y", "n"]) {
        Ok(expression) => assert!(expression.evaluate(&[0.5, -2.0, 3.0]).is_some()),
        Err(error) => assert!(error.span.start <= error.span.end && error.span.end <= text.len()),
    }
});
