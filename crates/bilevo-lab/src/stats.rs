//! Statistics of finished runs: medians and quartiles, success counts, expected running time, the
//! rank-sum test with the paper's verdicts, Holm's correction, effect sizes.
//!
//! Everything works on plain slices, draws no random numbers, and is checked against SciPy
//! (`tests/data/scipy.json`). Values that are not finite are refused: the caller has to deal with a run without a
//! value.

mod rank_sum;

pub use rank_sum::{RankSum, RankSumMethod, rank_sum};

use crate::row::Row;

/// Why a statistic was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// A sample without values.
    #[error("a sample is empty")]
    Empty,
    /// NaN or an infinity in a sample.
    #[error("a sample holds a value that is not finite")]
    NotFinite,
    /// A probability outside its range.
    #[error("a probability lies outside 0..=1")]
    Probability,
}

/// Five numbers and the mean of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Size of the sample.
    pub count: usize,
    /// Smallest value.
    pub min: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Largest value.
    pub max: f64,
    /// Mean.
    pub mean: f64,
}

impl Summary {
    /// The summary of a sample.
    ///
    /// # Errors
    /// An empty sample or one with a value that is not finite.
    pub fn of(sample: &[f64]) -> Result<Summary, StatsError> {
        let sorted = sorted(sample)?;
        let at = |p| interpolate(&sorted, p);
        // Scaled before summing, so that huge values cannot overflow to infinity.
        let count = sorted.len() as f64;
        let mean = sorted.iter().map(|v| v / count).sum();
        Ok(Summary {
            count: sorted.len(),
            min: at(0.0),
            q1: at(0.25),
            median: at(0.5),
            q3: at(0.75),
            max: at(1.0),
            mean,
        })
    }
}

/// The quantile `p` of a sample, linear between order statistics (type 7, the default of NumPy and
/// R).
///
/// # Errors
/// An empty sample, one with a value that is not finite, or `p` outside 0..=1.
pub fn quantile(sample: &[f64], p: f64) -> Result<f64, StatsError> {
    if !(0.0..=1.0).contains(&p) {
        return Err(StatsError::Probability);
    }
    Ok(interpolate(&sorted(sample)?, p))
}

/// The median of a sample.
///
/// # Errors
/// An empty sample or one with a value that is not finite.
pub fn median(sample: &[f64]) -> Result<f64, StatsError> {
    quantile(sample, 0.5)
}

fn sorted(sample: &[f64]) -> Result<Vec<f64>, StatsError> {
    check(sample)?;
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(sorted)
}

/// Rejects samples that no statistic can use.
fn check(sample: &[f64]) -> Result<(), StatsError> {
    if sample.is_empty() {
        return Err(StatsError::Empty);
    }
    if sample.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(StatsError::NotFinite) }
}

/// Type 7 quantile of a sorted, non-empty sample.
fn interpolate(sorted: &[f64], p: f64) -> f64 {
    let last = sorted.len() - 1;
    let place = p * last as f64;
    let below = (libm::floor(place) as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let share = place - below as f64;
    // As a weighted sum the difference of two huge values cannot overflow.
    if low == high { low } else { low * (1.0 - share) + high * share }
}

/// How many of some runs found the optimum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Successes {
    /// Runs that count as solved.
    pub solved: usize,
    /// Runs on a problem whose optimum is known.
    pub judged: usize,
    /// All runs.
    pub runs: usize,
}

/// Counts the runs that are [solved](Row::solved).
pub fn successes<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Successes {
    let mut counts = Successes::default();
    for row in rows {
        counts.runs += 1;
        counts.judged += usize::from(row.solved().is_some());
        counts.solved += usize::from(row.solved() == Some(true));
    }
    counts
}

/// Expected running time of some runs in total evaluations; see [`ert`].
pub fn expected_running_time<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<f64> {
    ert(rows.into_iter().map(|row| (row.total_evals(), row.solved() == Some(true))))
}

/// Expected running time: the evaluations of all runs, divided by the number of successes; `None` without a success.
/// Each item is (evaluations of the run, whether it succeeded).
pub fn ert(runs: impl IntoIterator<Item = (u64, bool)>) -> Option<f64> {
    let (mut evals, mut successes) = (0.0, 0_usize);
    for (spent, success) in runs {
        evals += spent as f64;
        successes += usize::from(success);
    }
    (successes > 0).then(|| evals / successes as f64)
}

/// The level at which the paper calls a difference significant.
pub const SIGNIFICANCE: f64 = 0.05;

/// The paper's verdict on a pair of samples; smaller values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The first sample is significantly better: `+`.
    Better,
    /// No significant difference: `≈`.
    Similar,
    /// The first sample is significantly worse: `−`.
    Worse,
}

impl Verdict {
    /// The verdict on the first sample of a test: significant by `p` (perhaps a corrected one), in
    /// the direction that `test` shows.
    pub fn from_p(test: &RankSum, p: f64) -> Verdict {
        match test.a12().partial_cmp(&0.5) {
            Some(std::cmp::Ordering::Less) if p < SIGNIFICANCE => Verdict::Better,
            Some(std::cmp::Ordering::Greater) if p < SIGNIFICANCE => Verdict::Worse,
            _ => Verdict::Similar,
        }
    }

    /// `+`, `≈` or `−`, seen from the first sample.
    pub fn symbol(self) -> char {
        match self {
            Verdict::Better => '+',
            Verdict::Similar => '≈',
            Verdict::Worse => '−',
        }
    }
}

/// The verdict on `ours` against `other` by the rank-sum test; smaller values are better. `None` if the samples are
/// too small for any difference to be significant.
///
/// # Errors
/// As [`rank_sum`].
pub fn verdict(ours: &[f64], other: &[f64]) -> Result<Option<Verdict>, StatsError> {
    let test = rank_sum(ours, other)?;
    Ok((test.smallest_p() < SIGNIFICANCE).then(|| Verdict::from_p(&test, test.p)))
}

/// Holm's step-down correction: adjusted p-values in the order given, each to be compared with the
/// level itself.
///
/// # Errors
/// A value outside 0..=1.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    if !p_values.iter().all(|p| (0.0..=1.0).contains(p)) {
        return Err(StatsError::Probability);
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        let scaled = p_values[index] * (p_values.len() - rank) as f64;
        largest = largest.max(scaled).min(1.0);
        adjusted[index] = largest;
    }
    Ok(adjusted)
}
