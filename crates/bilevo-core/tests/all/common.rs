//! What several tests need: small problems, a driver of the engine, and state as bytes.

use bilevo_core::config::Config;
use bilevo_core::engine::SchemeKind;
use bilevo_core::methods::Method;
use bilevo_core::portfolio::config::Effort;
use bilevo_core::problem::{Direction, Failure, FailureKind, Level, LevelSpec, ProblemSpec};
use bilevo_core::record::GenerationRecord;
use bilevo_core::{Ask, Batch, Engine, Replies};

/// Objective and constraint values, or nothing if the evaluation fails.
pub(crate) type Answer = Option<(f64, Vec<f64>)>;

/// Two variables at each level, a constraint at each level, the leader maximising.
pub(crate) fn toy_spec() -> ProblemSpec {
    let mut upper = LevelSpec::boxed(vec![(-5.0, 10.0), (-3.0, 4.0)]).with_inequalities(1);
    upper.direction = Direction::Maximize;
    let lower = LevelSpec::boxed(vec![(-5.0, 10.0), (-1.0, 2.0)]).with_inequalities(1);
    ProblemSpec::new("toy", upper, lower)
}

/// The toy's follower goes where the leader is, as far as y0 + y1 <= 2 allows.
pub(crate) fn toy(level: Level, x: &[f64], y: &[f64]) -> Answer {
    let gap = (y[0] - x[0]).powi(2) + (y[1] - x[1]).powi(2);
    Some(match level {
        Level::Upper => (-((x[0] - 1.0).powi(2) + x[1].powi(2) + y[0].powi(2) + gap), vec![x[0] + x[1] - 3.0]),
        Level::Lower => (gap + 0.5 * y[0] * y[1], vec![y[0] + y[1] - 2.0]),
    })
}

/// A method's config for short runs of the toy: long enough for every ranking model to take part.
pub(crate) fn short(method: &Method) -> Config {
    let mut config = method.config();
    // Two descents come before the first population of the default method.
    config.stop.max_upper_evals = Some(if config.scheme.kind == SchemeKind::Nested { 90 } else { 240 });
    config.stop.lower_search_evals = Some(40);
    config.stop.lower_window = Some(14);
    config.portfolio.effort = Effort::Budget;
    config.joint_cma.agreeing = Some(1_000_000);
    config
}

pub(crate) fn engine_of(method: &Method, seed: u64) -> Engine {
    Engine::new(toy_spec(), short(method), seed).unwrap()
}

/// Answers every point of a batch.
pub(crate) fn answer(
    spec: &ProblemSpec,
    batch: &Batch,
    problem: &mut impl FnMut(Level, &[f64], &[f64]) -> Answer,
) -> Replies {
    let mut replies = Replies::default();
    replies.start(spec, batch.level());
    for index in 0..batch.len() {
        match problem(batch.level(), batch.x(index), batch.y(index)) {
            Some((value, constraints)) => replies.push(spec, value, &constraints),
            None => replies.push_failure(Failure::new(FailureKind::Error, "scripted")),
        }
    }
    replies
}

/// Runs to the end; `between` sees the engine and the record after every batch and may replace it.
pub(crate) fn drive(
    engine: &mut Engine,
    mut problem: impl FnMut(Level, &[f64], &[f64]) -> Answer,
    mut between: impl FnMut(&mut Engine, Option<&GenerationRecord>),
) -> Vec<GenerationRecord> {
    let spec = engine.spec().clone();
    let mut records = Vec::new();
    for _ in 0..1_000_000 {
        let Ask::Evaluate(batch) = engine.ask() else { return records };
        let replies = answer(&spec, batch, &mut problem);
        let record = engine.tell(&replies).unwrap();
        between(engine, record.as_ref());
        records.extend(record);
    }
    panic!("the run does not end");
}

/// Runs to the end.
pub(crate) fn finish(
    engine: &mut Engine,
    problem: impl FnMut(Level, &[f64], &[f64]) -> Answer,
) -> Vec<GenerationRecord> {
    drive(engine, problem, |_, _| {})
}

/// State or records to the last bit; NaN equals NaN here.
pub(crate) fn bytes(value: &impl serde::Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).unwrap()
}
