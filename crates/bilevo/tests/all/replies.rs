//! Random and mutated replies of programs: whatever they write, reading it ends with an answer for
//! each point or with a reason.

use bilevo::program::protocol::read_reply;
use bilevo_core::rng::{Purpose, Stream, Streams};

const REPLIES: [&str; 6] = [
    r#"{"id":7,"value":1.5,"constraints":[-1,2e-3]}"#,
    r#"{"id":7,"error":"diverged \"at\" \\ step 3"}"#,
    r#"{"id":7,"results":[{"value":1},{"value":NaN,"constraints":[Infinity]},{"error":"no"}]}"#,
    r#"{"value":-Infinity,"id":7.0}"#,
    r#"{"id":18446744073709551615,"value":1e308}"#,
    "[[[[{\"id\":7}]]]]",
];

const PIECES: [&str; 22] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\"id\":7",
    "\"value\":",
    "\"results\":[",
    "\"constraints\":[",
    "\"error\":",
    "NaN",
    "-Infinity",
    "Infinity",
    "null",
    "1e999",
    "-",
    "\u{0}",
    "\u{ff}",
    "9999999999999999999999",
];

/// A reply with some of its bytes replaced, removed, doubled, or with pieces put in.
fn mutated(stream: &mut Stream) -> Vec<u8> {
    let mut line = REPLIES[stream.below(REPLIES.len())].as_bytes().to_vec();
    for _ in 0..=stream.below(6) {
        let at = stream.below(line.len() + 1);
        match stream.below(5) {
            0 if at < line.len() => line[at] = stream.below(256) as u8,
            1 => line.truncate(at),
            2 => line.extend_from_within(at..),
            3 if at < line.len() => drop(line.remove(at)),
            _ => drop(line.splice(at..at, PIECES[stream.below(PIECES.len())].bytes())),
        }
        line.truncate(4000);
    }
    line
}

#[test]
fn every_reply_is_answers_or_a_reason() {
    let mut stream = Streams::new(1).open(Purpose::Sample, 0, 0);
    let mut understood = 0;
    for _ in 0..100_000 {
        let line = mutated(&mut stream);
        let (points, many) = (1 + stream.below(3), stream.below(2) == 0);
        match read_reply(&line, 7, points, many) {
            Ok(answers) => {
                assert_eq!(answers.len(), points);
                understood += 1;
            }
            Err(failure) => assert!(!failure.message.is_empty() && failure.message.len() < 3000),
        }
    }
    // Some survive their mutations: the test does not only see nonsense.
    assert!((1000..90_000).contains(&understood), "{understood}");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = "[".repeat(1_000_000);
    for line in [deep.clone(), format!("{{\"id\":7,\"value\":{deep}"), format!("{{\"id\":{deep}")] {
        assert!(read_reply(line.as_bytes(), 7, 1, false).is_err());
    }
}
