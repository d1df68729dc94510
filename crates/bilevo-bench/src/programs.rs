//! The cost of an external program: this program serves a problem to itself.

use crate::Said;
use anyhow::Result;
use bilevo::problems::{self, program as description};
use bilevo::program::{self, Program};
use bilevo::{Batch, Evaluator, Level, Replies, Serial};
use bilevo_core::space::Space;
use std::time::Instant;

/// Answers requests for a problem.
pub(crate) fn serve(problem: &str) -> Result<Said> {
    let problem = problems::problem(problem, None)?;
    program::serve(&mut Serial::new(problem), std::io::stdin().lock(), std::io::stdout().lock())?;
    Ok(Vec::new())
}

/// Time per point for lists of `points`, in microseconds, including the work of the program; and the time of the
/// problem itself.
pub(crate) fn lists(problem: &str, points: usize) -> Result<Said> {
    let spec = problems::problem(problem, None)?.spec().clone();
    let this = std::env::current_exe()?.to_string_lossy().into_owned();
    let mut external = description::ProgramSpec::new(spec.clone(), vec![this, "serve".into(), problem.into()], ".");
    if let description::Commands::Both(command) = &mut external.commands {
        command.mode = description::Mode::Lines { batch: points };
    }
    let inner = |space: &Space| space.iter().map(|v| 0.3 * v.low + 0.7 * v.high).collect::<Vec<_>>();
    let (x, y) = (inner(&spec.upper.space), inner(&spec.lower.space));
    let batch = Batch::from_points(&spec, Level::Lower, (0..points).map(|_| (&x[..], &y[..])))?;
    let own = problems::problem(problem, None)?;
    Ok(vec![
        ("micros", micros(&mut Program::new(external, 1)?, &batch)?),
        ("own_micros", micros(&mut Serial::new(own), &batch)?),
    ])
}

/// Time for each point, the best of many batches.
fn micros(evaluator: &mut dyn Evaluator, batch: &Batch) -> Result<f64> {
    let mut replies = Replies::default();
    let spec = evaluator.spec().clone();
    let mut best = f64::INFINITY;
    for _ in 0..50 {
        let start = Instant::now();
        replies.start(&spec, batch.level());
        evaluator.evaluate(batch, &mut replies)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / batch.len() as f64);
    }
    anyhow::ensure!(replies.failures().is_empty(), "{:?}", replies.failures().first());
    Ok(best)
}
