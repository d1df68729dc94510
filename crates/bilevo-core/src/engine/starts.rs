//! Where a run begins, if the user knows a good point.

use super::known::free;
use super::{Engine, SchemeSetup};
use crate::problem::{Level, ProblemSpec};

/// A starting point: a decision and, if known, an answer to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The leader's decision.
    pub x: Vec<f64>,
    /// The follower's answer; if absent, the middle of its box.
    pub y: Option<Vec<f64>>,
}

/// Why a run cannot begin at a point.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A wrong number of values.
    #[error(
        "start {number} has {got} for {letter}, which has {expected}\nhint: give one number for each variable",
        got = counted(*.got, "number"), expected = counted(*.expected, "variable")
    )]
    Size {
        /// Number of the start, from 1.
        number: usize,
        /// x or y.
        letter: char,
        /// Values given.
        got: usize,
        /// Variables of the level.
        expected: usize,
    },
    /// A value that the variable cannot take.
    #[error("start {number} has {name} = {value}, which is not allowed\nhint: it takes {hint}")]
    Outside {
        /// Number of the start, from 1.
        number: usize,
        /// The variable.
        name: String,
        /// The value.
        value: f64,
        /// What it can take.
        hint: String,
    },
    /// The run has already begun.
    #[error("the run has begun already\nhint: give starts before the first evaluation")]
    Begun,
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

impl Engine {
    /// Begins at the given points instead of random ones; returns how many of them the method uses. A search over
    /// decisions alone uses all of them, the others only the first.
    ///
    /// # Errors
    /// A point lies outside the problem's boxes, or the run has already begun. Nothing changes then.
    pub fn start_at(&mut self, starts: &[Start]) -> Result<usize, StartError> {
        if self.issued > 0 || self.generation > 0 || !self.batch.is_empty() {
            return Err(StartError::Begun);
        }
        let given = self.outside.as_ref().map_or(&self.spec, |outside| &outside.spec);
        for (index, start) in starts.iter().enumerate() {
            check(given, Level::Upper, index + 1, &start.x)?;
            if let Some(y) = &start.y {
                check(given, Level::Lower, index + 1, y)?;
            }
        }
        if starts.is_empty() {
            return Ok(0);
        }
        self.reach(&starts[0]);
        let given = self.outside.as_ref().map_or(&self.spec, |outside| &outside.spec);
        let point = |start: &Start| {
            let y = start.y.as_ref().map_or_else(|| self.spec.lower.space.middle(), |y| free(&given.lower.space, y));
            [free(&given.upper.space, &start.x), y].concat()
        };
        let points: Vec<Vec<f64>> = starts.iter().map(point).collect();
        let config = self.boxes.config(&self.config);
        let Engine { spec, sizes, streams, scheme, .. } = self;
        let answered = starts.iter().all(|start| start.y.is_some());
        Ok(scheme.begin_at(SchemeSetup { spec, config: &config, sizes, streams: *streams }, &points, answered))
    }

    /// If sides are open and the first box does not contain the start, the box moves there.
    fn reach(&mut self, start: &Start) {
        let given = self.outside.as_ref().map_or(&self.spec, |outside| &outside.spec);
        let x = free(&given.upper.space, &start.x);
        let y = start.y.as_ref().map(|y| free(&given.lower.space, y));
        let holds = self.spec.upper.space.contains(&x) && y.as_ref().is_none_or(|y| self.spec.lower.space.contains(y));
        if !holds {
            self.begin_around(&[x, y.unwrap_or_default()].concat());
        }
    }
}

fn check(spec: &ProblemSpec, level: Level, number: usize, point: &[f64]) -> Result<(), StartError> {
    let (space, letter) = (&spec.level(level).space, if level == Level::Upper { 'x' } else { 'y' });
    if point.len() != space.dim() {
        return Err(StartError::Size { number, letter, got: point.len(), expected: space.dim() });
    }
    match space.iter().zip(point).position(|(variable, value)| !variable.contains(*value)) {
        None => Ok(()),
        Some(index) => {
            let variable = space.variable(index);
            let kind = if variable.is_whole() { "whole numbers" } else { "numbers" };
            let hint = format!("{kind} from {} to {}", variable.low, variable.high);
            Err(StartError::Outside { number, name: spec.names(level)[index].clone(), value: point[index], hint })
        }
    }
}
