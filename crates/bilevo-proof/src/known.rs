//! Known answers: what the follower can do at every x of a region limits what it will do.
//!
//! If yₖ is feasible at every x of the region, an answer y satisfies f(x, y) ≤ f(x, yₖ) there: the value
//! function's cut, for as many yₖ as one likes. Here one good one is kept for a region.

use crate::interval::Interval;
use crate::local;
use crate::relax::with_answer;
use crate::work::Work;

/// Maximum number of remembered answers.
const POOL: usize = 100;

/// Answers that were useful for regions or refuted others; most recently used last.
#[derive(Default)]
pub(crate) struct Pool {
    answers: Vec<Vec<f64>>,
    random: u64,
}

impl Pool {
    /// A number in [0, 1): the same ones in every run.
    pub(crate) fn random(&mut self) -> f64 {
        // splitmix64
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An answer that is certainly feasible at every x of the region, and an upper bound of f with it.
    pub(crate) fn answer(
        &mut self,
        work: &mut Work<'_>,
        region: &[Interval],
        parent: &[f64],
    ) -> Option<(Vec<f64>, f64)> {
        let problem = work.problem;
        let nx = problem.nx;
        let x: Vec<f64> = region[..nx].iter().map(|i| i.middle()).collect();
        let middle: Vec<f64> = region[nx..].iter().map(|i| i.middle()).collect();
        let anywhere: Vec<f64> = problem.bounds[nx..].iter().map(|i| i.lo + self.random() * i.width()).collect();
        let margins = margins(work, region, if parent.is_empty() { &middle } else { parent });
        let mut tries = Vec::new();
        for start in [&middle[..], &anywhere, parent] {
            if !start.is_empty() {
                tries.push(local::answer(work, &x, start, &margins, 25));
            }
        }
        tries.extend((!parent.is_empty()).then(|| parent.to_vec()));
        tries.extend(self.answers.iter().rev().cloned());
        let mut scored: Vec<(f64, Vec<f64>)> = tries.into_iter().map(|y| (score(work, &x, &y), y)).collect();
        scored.retain(|(score, _)| *score < f64::INFINITY);
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best = scored.into_iter().take(6).find_map(|(_, y)| certain(work, region, &y).map(|most| (y, most)))?;
        self.learn(best.0.clone());
        Some(best)
    }

    /// Whether a remembered answer is clearly better than y at x, in floating-point numbers.
    pub(crate) fn beats(&self, work: &mut Work<'_>, x: &[f64], y: &[f64]) -> bool {
        let problem = work.problem;
        let point: Vec<f64> = x.iter().chain(y).copied().collect();
        let value = work.float(&problem.lower, &point);
        let enough = value - problem.follower_tolerance * value.abs().max(1.0);
        self.answers.iter().rev().any(|known| score(work, x, known) < enough)
    }

    /// Remembers an answer, replacing a similar one or the one unused for longest.
    pub(crate) fn learn(&mut self, answer: Vec<f64>) {
        let close = |known: &Vec<f64>| known.iter().zip(&answer).all(|(a, b)| (a - b).abs() < 1e-3);
        match self.answers.iter().position(close) {
            Some(place) => drop(self.answers.remove(place)),
            None if self.answers.len() == POOL => drop(self.answers.remove(0)),
            None => {}
        }
        self.answers.push(answer);
    }
}

/// How far an answer should stay from each constraint at the middle x, in order to be feasible at every x.
fn margins(work: &mut Work<'_>, region: &[Interval], y: &[f64]) -> Vec<f64> {
    let problem = work.problem;
    let fixed = with_answer(region, problem.nx, y);
    let margin = |work: &mut Work<'_>, row| {
        let (_, gradient) = work.gradient(row, &fixed);
        let sum: f64 = (0..problem.nx).map(|j| gradient[j].magnitude() * 0.5 * region[j].width()).sum();
        if sum.is_finite() { 1.0001 * sum + 1e-9 } else { 0.0 }
    };
    problem.lower_inequalities.iter().map(|row| margin(work, row)).collect()
}

/// f at a point in floating-point numbers; infinite if infeasible there.
fn score(work: &mut Work<'_>, x: &[f64], y: &[f64]) -> f64 {
    let problem = work.problem;
    let point: Vec<f64> = x.iter().chain(y).copied().collect();
    let met = problem.lower_inequalities.iter().all(|row| work.float(row, &point) <= 0.0);
    let value = work.float(&problem.lower, &point);
    if met && !value.is_nan() { value } else { f64::INFINITY }
}

/// An upper bound of f(·, y) over the region's x, if y is certainly feasible and f defined at all of them.
pub(crate) fn certain(work: &mut Work<'_>, region: &[Interval], y: &[f64]) -> Option<f64> {
    let problem = work.problem;
    let fixed = with_answer(region, problem.nx, y);
    let allowed = y.iter().zip(&problem.bounds[problem.nx..]).all(|(&v, bounds)| bounds.contains(v));
    let whole = y.iter().zip(&problem.whole[problem.nx..]).all(|(v, whole)| !whole || v.fract() == 0.0);
    let met = allowed
        && whole
        && problem.lower_inequalities.iter().all(|row| work.supremum(row, &fixed).is_some_and(|most| most <= 0.0))
        && problem.lower_equalities.iter().all(|row| {
            let range = work.range(row, &fixed);
            range.value == Interval::ZERO && range.grade >= crate::graph::Grade::Defined
        });
    if met { work.supremum(&problem.lower, &fixed) } else { None }
}
