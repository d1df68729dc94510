//! Any bytes as a program's reply: `cargo +nightly fuzz run reply`.
#![no_main]

use bilevo::program::protocol::read_reply;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    for (points, many) in [(1, false), (1, true), (3, true)] {
        match read_reply(line, 7, points, many) {
            Ok(answers) => assert_eq!(answers.len(), points),
            Err(failure) => assert!(!failure.message.is_empty()),
        }
    }
});
