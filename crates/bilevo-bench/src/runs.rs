//! Whole runs: instructions per evaluation, wall time, and the gain from a second thread.

use crate::Said;
use anyhow::Result;
use bilevo::{BilevelProblem, Failure, Level, ProblemSpec, RunResult, Solver, problems, source};
use bilevo_core::methods::AUTO;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A run of fixed length: no target, no standstill, so that twice the evaluations are twice the work.
pub(crate) fn engine(method: &str, problem: &str, dims: (usize, usize), upper_evals: u64) -> Result<Said> {
    let problem = source::open(problem, Some(dims))?;
    let solver = Solver::new(&*problem).method(method).seed(1).max_upper_evals(upper_evals);
    Ok(counts(&solver.set("stop.target", "off").set("stop.upper_window", 1_000_000_000).run()?))
}

/// Runs with the seeds from 1 on and the method's own stop rules.
pub(crate) fn solve(method: &str, problem: &str, seeds: u64) -> Result<Said> {
    let problem = source::open(problem, None)?;
    let start = Instant::now();
    for seed in 1..=seeds {
        Solver::new(&*problem).method(method).seed(seed).run()?;
    }
    Ok(vec![("seconds", start.elapsed().as_secs_f64())])
}

/// The processor's time for an evaluation by the default method, nearly all of it the method's own:
/// runs of a number of lower evaluations with the seeds from 1 on.
pub(crate) fn own(problem: &str, dims: (usize, usize), lower_evals: u64, seeds: u64) -> Result<Said> {
    let problem = source::open(problem, Some(dims))?;
    let (start, mut evaluations) = (processor_seconds(), 0);
    for seed in 1..=seeds {
        let solver = Solver::new(&*problem).method(AUTO).seed(seed).max_lower_evals(lower_evals);
        evaluations += solver.set("stop.target", "off").run()?.evaluations.total();
    }
    let micros = 1e6 * (processor_seconds() - start) / evaluations as f64;
    Ok(vec![("evaluations", evaluations as f64), ("micros", micros)])
}

/// Processor seconds that this thread has used, if the system reports them.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1e-9
}

fn counts(result: &RunResult) -> Said {
    let evaluations = result.evaluations;
    vec![("upper", evaluations.upper as f64), ("lower", evaluations.lower as f64), ("seconds", result.times.seconds)]
}

/// The same run on one thread and on two, with evaluations of 1 ms: once they keep a processor busy, once they wait
/// as for another program. The latter shows how the work is shared even if other programs use the processors.
pub(crate) fn threads() -> Result<Said> {
    let millisecond = Duration::from_millis(1);
    let problem = problems::problem("smd1", None)?;
    let mut slow = Slow { problem, delay: Delay::Work { rounds: rounds_in(millisecond) } };
    let (one, two) = (slow.seconds(1)?, slow.seconds(2)?);
    slow.delay = Delay::Wait(millisecond);
    Ok(vec![("one", one), ("two", two), ("one_waiting", slow.seconds(1)?), ("two_waiting", slow.seconds(2)?)])
}

/// A problem that answers slowly.
struct Slow {
    problem: problems::BoxedProblem,
    delay: Delay,
}

enum Delay {
    /// Uses processor time, however long that takes.
    Work { rounds: u64 },
    /// Waits.
    Wait(Duration),
}

impl Slow {
    /// Wall time of a run on a number of threads.
    fn seconds(&self, threads: usize) -> Result<f64> {
        let solver = Solver::new(self).method("bl-cma-es").seed(1).max_lower_evals(1500).jobs(threads);
        Ok(solver.run()?.times.seconds)
    }
}

impl BilevelProblem for Slow {
    fn spec(&self) -> &ProblemSpec {
        self.problem.spec()
    }

    fn evaluate(&self, level: Level, x: &[f64], y: &[f64], constraints: &mut Vec<f64>) -> Result<f64, Failure> {
        match self.delay {
            Delay::Work { rounds } => {
                black_box(work(rounds));
            }
            Delay::Wait(time) => std::thread::sleep(time),
        }
        self.problem.evaluate(level, x, y, constraints)
    }
}

/// Arithmetic that cannot be shortened.
fn work(rounds: u64) -> u64 {
    (0..rounds).fold(black_box(1), |sum: u64, i| black_box(sum.wrapping_mul(6_364_136_223_846_793_005) ^ i))
}

/// Rounds of work that take about `time` on this machine: the best of several tries.
fn rounds_in(time: Duration) -> u64 {
    const ROUNDS: u64 = 200_000;
    let tries = (0..10).map(|_| {
        let start = Instant::now();
        black_box(work(ROUNDS));
        start.elapsed()
    });
    let best = tries.min().unwrap_or(time).as_secs_f64().max(1e-9);
    (ROUNDS as f64 * time.as_secs_f64() / best) as u64
}
