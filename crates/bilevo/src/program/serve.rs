//! The other end of the protocol: answers requests for any problem that bilevo can evaluate.

use super::protocol::MESSAGE;
use crate::evaluate::{Evaluator, EvaluatorError};
use bilevo_core::batch::{Batch, PointError, Replies};
use bilevo_core::problem::{Follower, Level, OracleAnswer, ProblemSpec};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};

/// Maximum length of a request.
const LINE_LIMIT: u64 = 64 * 1024 * 1024;

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Requests cannot be read, or answers cannot be written.
    #[error("the connection broke: {0}")]
    Connection(#[from] io::Error),
    /// Nothing can be evaluated any more.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
}

#[derive(Deserialize)]
struct Request {
    id: serde_json::Value,
    level: Kind,
    #[serde(flatten)]
    ask: Ask,
}

/// A request.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Upper,
    Lower,
    /// An answer of the follower's own solver.
    Follower,
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
    #[serde(default)]
    y: Vec<f64>,
    /// What the follower's own solver returned besides y.
    value: Option<f64>,
    info: Option<serde_json::Value>,
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
    Given(Given),
    Bad { error: String },
}

/// An answer of the follower's own solver.
#[derive(Serialize)]
struct Given {
    y: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<serde_json::Value>,
}

/// Answers one request per line until the input ends.
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
            match batch(&spec, level, &points) {
                None => (id, refuse("the follower of this problem has no solver of its own".into())),
                Some(Err(error)) => (id, refuse(error.to_string())),
                Some(Ok(batch)) => {
                    replies.start_on(&spec, &batch);
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

/// The points as a batch; `None` if the request asks for a solver that does not exist.
fn batch(spec: &ProblemSpec, kind: Kind, points: &[Point]) -> Option<Result<Batch, PointError>> {
    let own = spec.follower == Follower::Oracle;
    let pairs = points.iter().map(|point| (&point.x[..], &point.y[..]));
    Some(match kind {
        Kind::Follower if !own => return None,
        Kind::Follower => Batch::of_decisions(spec, points.iter().map(|point| &point.x[..])),
        Kind::Upper if own => {
            let info = |point: &Point| point.info.as_ref().and_then(|info| serde_json::to_vec(info).ok());
            let answer = |point: &Point| OracleAnswer { y: point.y.clone(), value: point.value, info: info(point) };
            Batch::of_answers(spec, points.iter().map(|point| (&point.x[..], answer(point))))
        }
        Kind::Upper => Batch::from_points(spec, Level::Upper, pairs),
        Kind::Lower => Batch::from_points(spec, Level::Lower, pairs),
    })
}

/// The answers in the problem's own directions.
fn results(replies: &Replies, spec: &ProblemSpec) -> Vec<Answer> {
    let mut failures = replies.failures().iter().peekable();
    let direction = spec.level(replies.level()).direction;
    let outcomes = replies.outcomes().iter().enumerate();
    let answer = |(index, outcome): (usize, &bilevo_core::problem::Outcome)| match failures
        .next_if(|(failed, _)| *failed == index)
    {
        Some((_, failure)) => Answer::Bad { error: failure.message.chars().take(MESSAGE).collect() },
        None if replies.to_decisions() => {
            let OracleAnswer { y, value, info } = replies.answers().given[index].clone();
            let info = info.as_deref().and_then(|info| serde_json::from_slice(info).ok());
            Answer::Given(Given { y, value, info })
        }
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
