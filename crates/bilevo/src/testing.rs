//! Problems that misbehave, for tests of the code that has to cope with them.
//!
//! Which points fail depends only on the point, so the same ones fail on any number of threads and after a resume.

use bilevo_core::problem::{BilevelProblem, Failure, Level, ProblemSpec};
use std::collections::HashSet;
use std::io::Write;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;

/// How an evaluation misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The objective is NaN.
    Nan,
    /// The objective is infinite.
    Infinite,
    /// One constraint value too many.
    Shape,
    /// A panic.
    Panic,
    /// An error with a message.
    Error,
    /// An error the first time, a proper answer afterwards.
    Flaky,
    /// No answer at all: prints `hanging` to stderr and waits forever.
    Hang,
}

/// A fault in about every k-th evaluation, or a pause in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inject {
    /// A fault in about one of `every` points.
    Fault {
        /// The fault.
        fault: Fault,
        /// How rare it is; 1 hits every evaluation.
        every: u64,
    },
    /// Every evaluation takes at least this long.
    Slow(Duration),
}

impl FromStr for Inject {
    type Err = String;

    /// `nan:7`, `inf:7`, `shape:7`, `panic:7`, `error:7`, `flaky:7`, `hang:7`, or `slow:MICROSECONDS`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = text.split_once(':').ok_or("expected NAME:NUMBER, as in nan:7")?;
        let number: u64 = number.parse().map_err(|e| format!("`{number}`: {e}"))?;
        let fault = match name {
            "slow" => return Ok(Inject::Slow(Duration::from_micros(number))),
            "nan" => Fault::Nan,
            "inf" => Fault::Infinite,
            "shape" => Fault::Shape,
            "panic" => Fault::Panic,
            "error" => Fault::Error,
            "flaky" => Fault::Flaky,
            "hang" => Fault::Hang,
            _ => return Err(format!("there is no fault `{name}`")),
        };
        Ok(Inject::Fault { fault, every: number.max(1) })
    }
}

/// A problem with faults.
#[derive(Debug)]
pub struct Faulty<P> {
    problem: P,
    inject: Vec<Inject>,
    seen: Mutex<HashSet<u64>>,
}

impl<P: Deref<Target: BilevelProblem>> Faulty<P> {
    /// `problem`, with these faults.
    pub fn new(problem: P, inject: Vec<Inject>) -> Self {
        Faulty { problem, inject, seen: Mutex::new(HashSet::new()) }
    }

    fn first_time(&self, point: u64) -> bool {
        self.seen.lock().map_or(true, |mut seen| seen.insert(point))
    }
}

impl<P: Deref<Target: BilevelProblem> + Sync> BilevelProblem for Faulty<P> {
    fn spec(&self) -> &ProblemSpec {
        self.problem.spec()
    }

    #[allow(clippy::panic)] // panicking is the purpose
    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        let value = self.problem.evaluate(level, x, y, constraints)?;
        let point = fingerprint(level, x, y);
        for inject in &self.inject {
            match *inject {
                Inject::Slow(pause) => std::thread::sleep(pause),
                Inject::Fault { every, .. } if !point.is_multiple_of(every) => {}
                Inject::Fault { fault, .. } => match fault {
                    Fault::Nan => return Ok(f64::NAN),
                    Fault::Infinite => return Ok(f64::INFINITY),
                    Fault::Shape => constraints.push(0.0),
                    Fault::Panic => panic!("injected panic"),
                    Fault::Error => return Err("injected error".into()),
                    Fault::Flaky if self.first_time(point) => return Err("injected flaky error".into()),
                    Fault::Flaky => {}
                    Fault::Hang => hang(),
                },
            }
        }
        Ok(value)
    }
}

fn hang() -> ! {
    let _ = std::io::stderr().write_all(b"hanging\n");
    loop {
        std::thread::park();
    }
}

/// FNV-1a over the bits of a point, with its last bits well mixed.
fn fingerprint(level: Level, x: &[f64], y: &[f64]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64 ^ (level == Level::Upper) as u64;
    let bytes = x.iter().chain(y).flat_map(|v| v.to_bits().to_le_bytes());
    let hash = bytes.fold(start, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    hash ^ (hash >> 32)
}
