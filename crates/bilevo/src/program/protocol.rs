//! The lines that go to and come from a program.
//!
//! A request is `{"id":7,"level":"lower","x":[…],"y":[…]}`, its reply `{"id":7,"value":1.5,
//! "constraints":[…]}` or `{"id":7,"error":"…"}`. Programs that take several points at once get
//! `{"id":7,"level":"lower","points":[{"x":[…],"y":[…]},…]}` and reply with `{"id":7,"results":[…]}`,
//! one object with `value` and `constraints`, or `error`, for each point in order.
//!
//! A program that answers for the follower gets `{"id":7,"level":"follower","x":[…]}` and replies with
//! `{"id":7,"y":[…]}`, with `value` (f there) if it is known and with `info`, anything that the leader's
//! objective wants. Requests of the upper level then carry that answer: its `y`, `value` and `info`.
//!
//! JSON has neither NaN nor infinities. If a program writes `null`, `NaN` or `Infinity`, that evaluation failed; the
//! others of its line stay valid.

use bilevo_core::batch::Batch;
use bilevo_core::printable::{printable, shorten};
use bilevo_core::problem::{Failure, FailureKind, OracleAnswer};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// What a program returns for one point, in the problem's own direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The objective.
    pub value: f64,
    /// Constraint values, inequalities first.
    pub constraints: Vec<f64>,
    /// For a decision: the follower's answer.
    pub given: Option<OracleAnswer>,
}

#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    level: &'static str,
    #[serde(flatten)]
    ask: Ask<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Ask<'a> {
    One(Point<'a>),
    Many { points: Vec<Point<'a>> },
}

#[derive(Serialize)]
struct Point<'a> {
    x: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<serde_json::Value>,
}

impl<'a> Point<'a> {
    fn new(batch: &'a Batch, index: usize) -> Self {
        let answer = batch.answer(index);
        let info = answer.and_then(|answer| answer.info.as_deref());
        Point {
            x: batch.x(index),
            y: (!batch.asks_follower()).then(|| batch.y(index)),
            value: answer.and_then(|answer| answer.value),
            info: info.and_then(|info| serde_json::from_slice(info).ok()),
        }
    }
}

/// Writes the request for some points of a batch as one line; `many` chooses the form with a list.
/// The id of the line is the one of its first point.
pub(super) fn write_request(line: &mut Vec<u8>, batch: &Batch, points: &[usize], many: bool) {
    let point = |&index: &usize| Point::new(batch, index);
    let (Some(first), id) = (points.first(), request_id(batch, points)) else { return };
    let ask = if many { Ask::Many { points: points.iter().map(point).collect() } } else { Ask::One(point(first)) };
    // Writing numbers to memory cannot fail.
    let _ = serde_json::to_writer(&mut *line, &Request { id, level: batch.kind(), ask });
    line.push(b'\n');
}

/// The id of the request for some points of a batch.
pub(super) fn request_id(batch: &Batch, points: &[usize]) -> u64 {
    points.first().map_or(0, |&first| batch.id(first))
}

/// Maximum size of a reply in bytes: ample for its numbers and a message, but not enough to fill the memory.
pub(super) fn reply_limit(points: usize, constraints: usize) -> usize {
    let numbers = constraints.saturating_add(1).saturating_mul(64);
    numbers.saturating_add(256).saturating_mul(points).saturating_add(64 * 1024)
}

#[derive(Deserialize)]
struct Reply {
    id: Option<serde_json::Number>,
    results: Option<Vec<PointReply>>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Option<f64>>,
    #[serde(default, deserialize_with = "list_or_number")]
    constraints: Vec<Option<f64>>,
    #[serde(default, deserialize_with = "some_list")]
    y: Option<Vec<Option<f64>>>,
    info: Option<serde_json::Value>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct PointReply {
    #[serde(default, deserialize_with = "present")]
    value: Option<Option<f64>>,
    #[serde(default, deserialize_with = "list_or_number")]
    constraints: Vec<Option<f64>>,
    #[serde(default, deserialize_with = "some_list")]
    y: Option<Vec<Option<f64>>>,
    info: Option<serde_json::Value>,
    error: Option<String>,
}

/// A field that is present, `null` or not.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(field).map(Some)
}

/// A list or a single number: some languages (Octave) write a list of one element as a number.
fn list_or_number<'de, D: Deserializer<'de>>(field: D) -> Result<Vec<Option<f64>>, D::Error> {
    struct Numbers;

    impl<'de> Visitor<'de> for Numbers {
        type Value = Vec<Option<f64>>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
            formatter.write_str("a list of numbers")
        }

        fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
            Ok(vec![Some(number)])
        }

        fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
            Ok(vec![Some(number as f64)])
        }

        fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
            Ok(vec![Some(number as f64)])
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(vec![None])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut numbers = Vec::new();
            while let Some(number) = list.next_element()? {
                numbers.push(number);
            }
            Ok(numbers)
        }
    }

    field.deserialize_any(Numbers)
}

/// A list that is present.
fn some_list<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Vec<Option<f64>>>, D::Error> {
    list_or_number(field).map(Some)
}

/// What a reply says about each of its points.
type Said = Vec<Result<Answer, Failure>>;

/// Reads the reply to request `id` for `points` points, in the form with a list if `many`.
///
/// # Errors
/// It is no proper reply to this request: nothing the program says can be trusted any more.
#[doc(hidden)]
pub fn read_reply(line: &[u8], id: u64, points: usize, many: bool) -> Result<Said, Failure> {
    read(line, id, points, many, PointReply::answer)
}

/// Reads the reply to a request for the follower's own answers.
///
/// # Errors
/// As for [`read_reply`].
#[doc(hidden)]
pub fn read_answers(line: &[u8], id: u64, points: usize, many: bool) -> Result<Said, Failure> {
    read(line, id, points, many, PointReply::given)
}

fn read(
    line: &[u8],
    id: u64,
    points: usize,
    many: bool,
    say: fn(PointReply) -> Result<Result<Answer, Failure>, Failure>,
) -> Result<Said, Failure> {
    let reply = parse(line)?;
    check_id(reply.id.as_ref(), id)?;
    let Reply { value, constraints, y, info, error, .. } = reply;
    let whole = PointReply { value, constraints, y, info, error };
    match reply.results {
        // An error for the whole line applies to each of its points.
        None if whole.error.is_some() || !many => {
            let answer = say(whole)?;
            Ok(vec![answer; points])
        }
        None => Err(bad(format!("the reply to {points} points has no `results`"))),
        Some(_) if !many => Err(bad("the reply to a single point has `results` instead of a `value`")),
        Some(results) if results.len() != points => {
            Err(bad(format!("the reply has {} results instead of {points}", results.len())))
        }
        Some(results) => results.into_iter().map(say).collect(),
    }
}

impl PointReply {
    fn answer(self) -> Result<Result<Answer, Failure>, Failure> {
        if let Some(failure) = self.failure() {
            return Ok(Err(failure));
        }
        let Some(value) = self.value else { return Err(bad("the reply has neither a `value` nor an `error`")) };
        Ok(Ok(Answer { value: number(value), constraints: numbers(self.constraints), given: None }))
    }

    /// The follower's answer.
    fn given(self) -> Result<Result<Answer, Failure>, Failure> {
        if let Some(failure) = self.failure() {
            return Ok(Err(failure));
        }
        let Some(y) = self.y else { return Err(bad("the follower's answer has neither a `y` nor an `error`")) };
        // Writing plain data cannot fail.
        let info = self.info.and_then(|info| serde_json::to_vec(&info).ok());
        let given = OracleAnswer { y: numbers(y), value: self.value.map(number), info };
        Ok(Ok(Answer { given: Some(given), ..Answer::default() }))
    }

    fn failure(&self) -> Option<Failure> {
        let words = |error: &String| Failure::new(FailureKind::Error, printable(&shorten(error, MESSAGE)));
        self.error.as_ref().map(words)
    }
}

fn number(number: Option<f64>) -> f64 {
    number.unwrap_or(f64::NAN)
}

fn numbers(list: Vec<Option<f64>>) -> Vec<f64> {
    list.into_iter().map(number).collect()
}

/// Maximum length of a message from a program.
pub(super) const MESSAGE: usize = 2000;

fn parse(line: &[u8]) -> Result<Reply, Failure> {
    let parsed = serde_json::from_slice(line).or_else(|error| {
        let spelt_out =
            [&b"NaN"[..], b"Infinity"].iter().any(|word| line.windows(word.len()).any(|part| part == *word));
        if spelt_out { serde_json::from_slice(&without_infinities(line)) } else { Err(error) }
    });
    parsed.map_err(|error| {
        let text = String::from_utf8_lossy(line);
        let why = match serde_json::from_slice::<serde_json::Value>(line) {
            Err(_) if error.is_eof() => "the line ends too early".to_string(),
            Err(_) => "it is not JSON; whatever is no reply belongs to stderr".into(),
            Ok(serde_json::Value::Object(_)) => error.to_string().replace("expected f64", "expected a number"),
            Ok(_) => "a reply looks like {\"id\":7,\"value\":1.5}".into(),
        };
        bad(format!("the reply `{}` is not understood: {why}", printable(shorten(&text, 200).trim())))
    })
}

/// The line with `null` in place of the `NaN`, `Infinity` and `-Infinity` outside strings.
fn without_infinities(line: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(line.len());
    let (mut rest, mut in_string) = (line, false);
    while let [first, tail @ ..] = rest {
        let words: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];
        if let Some(after) = words.iter().filter(|_| !in_string).find_map(|word| rest.strip_prefix(*word)) {
            plain.extend_from_slice(b"null");
            rest = after;
            continue;
        }
        plain.push(*first);
        rest = tail;
        if *first == b'"' {
            in_string = !in_string;
        } else if let (b'\\', true, [escaped, after @ ..]) = (*first, in_string, tail) {
            plain.push(*escaped);
            rest = after;
        }
    }
    plain
}

fn check_id(got: Option<&serde_json::Number>, id: u64) -> Result<(), Failure> {
    let Some(got) = got else { return Err(bad("the reply has no `id`; repeat that of the request")) };
    // Some languages have only floating-point numbers.
    if got.as_u64() == Some(id) || got.as_f64() == Some(id as f64) {
        return Ok(());
    }
    Err(bad(format!(
        "the reply is for evaluation {got}, but {id} was asked for: it came twice, too late or out of order"
    )))
}

/// A reply that breaks the protocol.
pub(super) fn bad(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::WrongShape, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Result<Result<Answer, Failure>, Failure> {
        read_reply(line.as_bytes(), 7, 1, false).map(|mut answers| answers.remove(0))
    }

    fn refusal(line: &str) -> String {
        one(line).unwrap_err().message
    }

    #[test]
    fn a_value_and_its_constraints() {
        let answer = one(r#"{"id":7,"value":1.5,"constraints":[-1,2e-3]}"#).unwrap().unwrap();
        assert_eq!(answer, Answer { value: 1.5, constraints: vec![-1.0, 2e-3], given: None });
        assert_eq!(one(r#" {"value":1,"id":7.0, "note":"x"}"#).unwrap().unwrap().value, 1.0);
    }

    #[test]
    fn a_single_constraint_may_stand_without_brackets() {
        for (written, value) in [("-4.5", -4.5), ("3", 3.0), ("-2", -2.0)] {
            let answer = one(&format!(r#"{{"id":7,"value":1,"constraints":{written}}}"#)).unwrap().unwrap();
            assert_eq!(answer.constraints, [value]);
        }
        assert!(one(r#"{"id":7,"value":1,"constraints":NaN}"#).unwrap().unwrap().constraints[0].is_nan());
        assert!(refusal(r#"{"id":7,"value":1,"constraints":"3"}"#).contains("a list of numbers"));
    }

    #[test]
    fn numbers_that_are_none_fail_their_point_alone() {
        for line in [r#"{"id":7,"value":NaN}"#, r#"{"id":7,"value":-Infinity}"#, r#"{"id":7,"value":null}"#] {
            assert!(one(line).unwrap().unwrap().value.is_nan(), "{line}");
        }
        let line =
            br#"{"id":7,"results":[{"value":1},{"value":Infinity,"constraints":[NaN]},{"error":"a \"NaN\" \\"}]}"#;
        let answers = read_reply(line, 7, 3, true).unwrap();
        assert_eq!(answers[0].as_ref().unwrap().value, 1.0);
        assert!(answers[1].as_ref().unwrap().constraints[0].is_nan());
        assert_eq!(answers[2].as_ref().unwrap_err().message, "a \"NaN\" \\");
    }

    #[test]
    fn errors_are_failures_of_the_evaluation() {
        let failure = one(r#"{"id":7,"error":"diverged"}"#).unwrap().unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Error, "diverged"));
        let failure = one(r#"{"id":7,"error":"\u001b[2J gone"}"#).unwrap().unwrap_err();
        assert_eq!(failure.message, "�[2J gone");
        let answers = read_reply(br#"{"id":7,"error":"all of them"}"#, 7, 2, true).unwrap();
        assert!(answers.iter().all(Result::is_err));
    }

    #[test]
    fn what_is_no_reply_says_why() {
        assert!(
            refusal("hello")
                .contains("`hello` is not understood: it is not JSON; whatever is no reply belongs to stderr")
        );
        assert!(refusal("5.0").contains("a reply looks like {\"id\":7,"), "no type of this program is named");
        assert!(refusal(r#"{"id":7,"value""#).contains("ends too early"));
        assert!(refusal(r#"{"value":1}"#).contains("no `id`"));
        assert!(refusal(r#"{"id":6,"value":1}"#).contains("evaluation 6, but 7"));
        assert!(refusal(r#"{"id":7}"#).contains("neither a `value` nor"));
        assert!(refusal(r#"{"id":7,"value":"3"}"#).contains("expected a number"));
        assert!(refusal(r#"{"id":7,"value":1,"value":2}"#).contains("duplicate"));
        assert!(refusal(r#"{"id":7,"results":[]}"#).contains("single point"));
        let many = |line: &str| read_reply(line.as_bytes(), 7, 2, true).unwrap_err().message;
        assert!(many(r#"{"id":7,"value":1}"#).contains("no `results`"));
        assert!(many(r#"{"id":7,"results":[{"value":1}]}"#).contains("1 results instead of 2"));
        assert!(many(r#"{"id":7,"results":[{"value":1},{}]}"#).contains("neither"));
    }

    #[test]
    fn answers_of_a_follower() {
        let given = |line: &str| read_answers(line.as_bytes(), 7, 1, false).map(|mut all| all.remove(0));
        let answer = given(r#"{"id":7,"y":[1,2.5],"value":-3,"info":{"price":[1.5]}}"#).unwrap().unwrap();
        let expected = OracleAnswer::new([1.0, 2.5]).with_value(-3.0).with_info(r#"{"price":[1.5]}"#);
        assert_eq!(answer.given, Some(expected));
        assert_eq!(given(r#"{"id":7,"y":4}"#).unwrap().unwrap().given, Some(OracleAnswer::new([4.0])));
        assert!(given(r#"{"id":7,"y":[NaN]}"#).unwrap().unwrap().given.is_some_and(|given| given.y[0].is_nan()));
        assert_eq!(given(r#"{"id":7,"error":"no flow"}"#).unwrap().unwrap_err().message, "no flow");
        assert!(given(r#"{"id":7,"value":1}"#).unwrap_err().message.contains("neither a `y` nor"));
        let many = read_answers(br#"{"id":7,"results":[{"y":[1]},{"error":"no"}]}"#, 7, 2, true).unwrap();
        assert!(many[0].is_ok() && many[1].is_err());
    }
}
