//! The other end of the protocol: answers requests for any problem bilevo can evaluate.

use super::protocol::MESSAGE;
use crate::evaluate::{Evaluator, EvaluatorError};
use bilevo_core::batch::{Batch, Replies};
use bilevo_core::problem::Level;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};

/// Longest request.
const LINE_LIMIT: u64 = 64 * 1024 * 1024;

/// Why serving ended before the requests did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Requests cannot be read, or answers not written.
    #[error("the connection broke: {0}")]
    Connection(#[from] io::Error),
    /// Nothing can be evaluated any more.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
}

#[derive(Deserialize)]
struct Request {
    id: serde_json::Value,
    level: Level,
    #[serde(flatten)]
    ask: Ask,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Ask {
    Many { points: Vec<Point> },
    One(Point),
}

#[derive(Deserialize)]
struct Point {
    x: Vec<f64>,
    y: Vec<f64>,
}

#[derive(Serialize)]
struct Reply<'a> {
    id: &'a serde_json::Value,
    #[serde(flatten)]
    say: Say,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Say {
    Many { results: Vec<Answer> },
    One(Answer),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Good { value: f64, constraints: Vec<f64> },
    Bad { error: String },
}

/// Answers one request per line until there are no more.
///
/// # Errors
/// See [`ServeError`]; a request that makes no sense is answered with an `error`.
pub fn serve(
    evaluator: &mut dyn Evaluator,
    mut requests: impl BufRead,
    mut answers: impl Write,
) -> Result<(), ServeError> {
    let mut line = Vec::new();
    let mut replies = Replies::default();
    loop {
        line.clear();
        if requests.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        answer(evaluator, &line, &mut replies, &mut answers)?;
        answers.write_all(b"\n")?;
        answers.flush()?;
    }
}

fn answer(
    evaluator: &mut dyn Evaluator,
    line: &[u8],
    replies: &mut Replies,
    answers: &mut impl Write,
) -> Result<(), ServeError> {
    let refuse = |error: String| Say::One(Answer::Bad { error });
    let (id, say) = match serde_json::from_slice::<Request>(line) {
        Err(error) => (serde_json::Value::Null, refuse(format!("this is not a request: {error}"))),
        Ok(Request { id, level, ask }) => {
            let (points, many) = match ask {
                Ask::One(point) => (vec![point], false),
                Ask::Many { points } => (points, true),
            };
            let spec = evaluator.spec().clone();
            match Batch::from_points(&spec, level, points.iter().map(|point| (&point.x[..], &point.y[..]))) {
                Err(error) => (id, refuse(error.to_string())),
                Ok(batch) => {
                    replies.start(&spec, level);
                    evaluator.evaluate(&batch, replies)?;
                    let mut results = results(replies, &spec);
                    let alone = if many { None } else { results.pop() };
                    (id, alone.map_or(Say::Many { results }, Say::One))
                }
            }
        }
    };
    serde_json::to_writer(answers, &Reply { id: &id, say }).map_err(io::Error::from)?;
    Ok(())
}

/// The answers as the problem states them, in its own directions.
fn results(replies: &Replies, spec: &bilevo_core::ProblemSpec) -> Vec<Answer> {
    let mut failures = replies.failures().iter().peekable();
    let direction = spec.level(replies.level()).direction;
    let outcomes = replies.outcomes().iter().enumerate();
    let answer = |(index, outcome): (usize, &bilevo_core::problem::Outcome)| match failures
        .next_if(|(failed, _)| *failed == index)
    {
        Some((_, failure)) => Answer::Bad { error: failure.message.chars().take(MESSAGE).collect() },
        None => Answer::Good { value: direction.flip(outcome.value), constraints: replies.constraints(index).to_vec() },
    };
    outcomes.map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Serial;

    fn served(requests: &str) -> String {
        let problem = bilevo_problems::problem("smd9", None).unwrap();
        let mut answers = Vec::new();
        serve(&mut Serial::new(&*problem), requests.as_bytes(), &mut answers).unwrap();
        String::from_utf8(answers).unwrap()
    }

    #[test]
    fn points_alone_and_in_lists() {
        let one = served("{\"id\":3,\"level\":\"lower\",\"x\":[0,0],\"y\":[0,0,0]}\n");
        assert!(one.starts_with("{\"id\":3,\"value\":0.0,\"constraints\":["), "{one}");
        let many = served("\n{\"id\":4,\"level\":\"upper\",\"points\":[{\"x\":[0,0],\"y\":[0,0,0]}]}");
        assert!(many.starts_with("{\"id\":4,\"results\":[{\"value\":0.0,\"constraints\":["), "{many}");
        assert_eq!(served("{\"id\":5,\"level\":\"upper\",\"points\":[]}"), "{\"id\":5,\"results\":[]}\n");
    }

    #[test]
    fn requests_that_make_no_sense_are_answered() {
        assert!(served("hello\n").starts_with("{\"id\":null,\"error\":\"this is not a request"));
        let short = served("{\"id\":7,\"level\":\"lower\",\"x\":[0],\"y\":[0,0,0]}");
        assert!(short.starts_with("{\"id\":7,\"error\":\"point 0 has 1+3 variables"), "{short}");
        assert!(served("{\"id\":7,\"level\":\"middle\",\"x\":[0],\"y\":[0]}").contains("middle"));
        // Values that are not finite are failures.
        let nan = served("{\"id\":7,\"level\":\"lower\",\"x\":[0,0],\"y\":[1e300,1e300,0]}");
        assert!(nan.contains("\"error\""), "{nan}");
    }
}
