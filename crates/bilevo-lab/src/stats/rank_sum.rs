//! The two-sided Wilcoxon rank-sum (Mann–Whitney) test and the effect sizes that come with it.
//!
//! Exact if a sample has at most 8 values and there are no ties, otherwise the normal approximation with tie and
//! continuity correction: the rule of `scipy.stats.mannwhitneyu(method="auto")`. There is one deviation: if the other
//! sample has more than [`EXACT_LARGEST`] values, the approximation is always used. Exact counts are the coefficients
//! of a Gaussian binomial, built factor by factor in integers; cost O(m² n) for sizes m <= n.

use super::{StatsError, check};

/// Largest size of the smaller sample for the exact distribution.
const EXACT_SMALLEST: usize = 8;
/// Largest size of the other one: C(10_008, 8) is far below 2^128, so counts cannot wrap.
const EXACT_LARGEST: usize = 10_000;

/// How a p-value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankSumMethod {
    /// From the exact distribution.
    Exact,
    /// From the normal approximation.
    Asymptotic,
}

/// The outcome of a rank-sum test of a first against a second sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// U of the first sample: pairs in which its value is the larger one, ties counted half.
    pub u: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// How it was found.
    pub method: RankSumMethod,
    /// Sizes of both samples.
    sizes: (usize, usize),
}

impl RankSum {
    /// Vargha and Delaney's A12: the probability that a value of the first sample is the larger one, ties counted
    /// half. 0.5 means no difference; below 0.5 the first sample is smaller.
    pub fn a12(&self) -> f64 {
        self.u / (self.sizes.0 as f64 * self.sizes.1 as f64)
    }

    /// The smallest p-value that samples of these sizes can have: all values of one below all of the
    /// other. If it is not significant, nothing can be.
    pub fn smallest_p(&self) -> f64 {
        let (small, large) = (self.sizes.0.min(self.sizes.1), self.sizes.0.max(self.sizes.1));
        // One of C(small + large, small) arrangements on either side.
        (1..=small).fold(2.0, |p, k| p * k as f64 / (large + k) as f64).min(1.0)
    }

    /// Cliff's delta, from -1 (first sample always smaller) to 1.
    pub fn cliffs_delta(&self) -> f64 {
        2.0 * self.a12() - 1.0
    }
}

/// Compares two samples.
///
/// # Errors
/// An empty sample or one with a value that is not finite.
pub fn rank_sum(first: &[f64], second: &[f64]) -> Result<RankSum, StatsError> {
    check(first)?;
    check(second)?;
    let Ranks { first_sum, tie_term } = ranks(first, second);
    let (n1, n2) = (first.len() as f64, second.len() as f64);
    let pairs = n1 * n2;
    let u = first_sum - n1 * (n1 + 1.0) / 2.0;
    let larger = u.max(pairs - u);
    let (small, large) = (first.len().min(second.len()), first.len().max(second.len()));
    let exact = small <= EXACT_SMALLEST && large <= EXACT_LARGEST && tie_term == 0.0;
    let (tail, method) = if exact {
        (exact_tail(small, large, larger), RankSumMethod::Exact)
    } else {
        (normal_tail(n1, n2, tie_term, larger), RankSumMethod::Asymptotic)
    };
    Ok(RankSum { u, p: (2.0 * tail).min(1.0), method, sizes: (first.len(), second.len()) })
}

struct Ranks {
    /// Sum of the mid-ranks of the first sample.
    first_sum: f64,
    /// Sum of t³ - t over groups of t equal values.
    tie_term: f64,
}

fn ranks(first: &[f64], second: &[f64]) -> Ranks {
    // Adding zero turns -0.0 into 0.0, so that both count as equal under `total_cmp`.
    let tagged = |sample: &[f64], own: bool| sample.iter().map(|v| (v + 0.0, own)).collect::<Vec<_>>();
    let mut all = tagged(first, true);
    all.extend(tagged(second, false));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = Ranks { first_sum: 0.0, tie_term: 0.0 };
    let mut before = 0.0;
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let size = group.len() as f64;
        let mid_rank = before + (size + 1.0) / 2.0;
        ranks.first_sum += mid_rank * group.iter().filter(|(_, own)| *own).count() as f64;
        ranks.tie_term += size * size * size - size;
        before += size;
    }
    ranks
}

/// P(U >= u) by counting, for samples without ties.
fn exact_tail(small: usize, large: usize, u: f64) -> f64 {
    let top = small * large;
    // Coefficient k: number of arrangements with U = k. Multiplies by (1 - q^(large+i)) and
    // divides by (1 - q^i); after each i the counts are whole numbers again, so wrapping in
    // between does no harm.
    let mut counts = vec![0_u128; top + 1];
    counts[0] = 1;
    for i in 1..=small {
        for k in (large + i..=top).rev() {
            counts[k] = counts[k].wrapping_sub(counts[k - large - i]);
        }
        for k in i..=top {
            counts[k] = counts[k].wrapping_add(counts[k - i]);
        }
    }
    let total: u128 = counts.iter().sum();
    let tail: u128 = counts[(u as usize).min(top)..].iter().sum();
    tail as f64 / total as f64
}

/// P(U >= u) by the normal approximation.
fn normal_tail(n1: f64, n2: f64, tie_term: f64, u: f64) -> f64 {
    let n = n1 + n2;
    let variance = n1 * n2 / 12.0 * ((n + 1.0) - tie_term / (n * (n - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (u - n1 * n2 / 2.0 - 0.5) / libm::sqrt(variance);
    libm::erfc(z / std::f64::consts::SQRT_2) / 2.0
}
