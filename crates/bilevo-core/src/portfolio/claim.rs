//! What a search ends with: a decision and the answer it counts on, and how two of them compare.

use super::archive::{Archive, distance};
use crate::candidate::Solved;
use crate::problem::{Level, LowerConstraints, Outcome, ProblemSpec};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Violation, in units of the constraints' scales, up to which a claim is feasible.
const FEASIBLE: f64 = 1e-6;
/// Where a constraint's values are large, people still take a violation of a millionth for none at most: its
/// scale counts as this share of it, but not as less than one.
const LARGE: f64 = 0.01;
/// Claims agree if their violations differ by no more than this: a descent that ends on a constraint may
/// miss it by as much as it moved last ...
const SAME_VIOLATION: f64 = 1e-5;
/// ... and their F by this share of F ...
const AGREEMENT: f64 = 1e-3;
/// ... or of its scale: at least the first, at most the second ...
const AGREEMENT_SCALE: (f64, f64) = (1e-6, 1e-3);
/// ... but at least this where they lie farther apart than that along some variable: where F is very large in
/// most of the box, what is little of its scale is much near an optimum.
const ELSEWHERE: (f64, f64) = (1e-9, 0.01);

/// Standard deviations of the noise by which F of two claims, each a mean, must differ, and f of two answers, one of
/// them the best of many single values.
const NOISE: [f64; 2] = [2.0, 5.0];

/// A leader's constraint that changes by less than this share of the follower's is one of those: where the
/// follower keeps to it, the leader sees it at zero only.
const SHARED: f64 = 1e-3;

/// A decision with an answer, in unit coordinates, and the values at both levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claim {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    /// F, then the upper constraints.
    pub(crate) upper: Vec<f64>,
    /// f, then the lower constraints.
    pub(crate) lower: Vec<f64>,
    /// Whether the answer is as accurate as was asked for.
    pub(crate) settled: bool,
}

impl Claim {
    /// The point (x, y).
    pub(crate) fn point(&self) -> Vec<f64> {
        [&self.x[..], &self.y[..]].concat()
    }

    /// F.
    pub(crate) fn value(&self) -> f64 {
        self.upper[0]
    }

    /// The largest distance to another claim along a variable, as a share of its box.
    pub(crate) fn distance(&self, other: &Claim) -> f64 {
        distance(&self.x, &other.x).max(distance(&self.y, &other.y))
    }

    /// As the engine's other parts see it.
    pub(crate) fn as_solved(&self, spec: &ProblemSpec) -> Solved {
        let outcome =
            |level: Level, row: &[f64]| Outcome { value: row[0], violation: spec.violation(level, &row[1..]) };
        let mut solved = Solved {
            x: spec.upper.space.from_unit(&self.x),
            y: spec.lower.space.from_unit(&self.y),
            upper: Outcome::FAILED,
            upper_constraints: Vec::new(),
            lower: outcome(Level::Lower, &self.lower),
            converged: self.settled,
        };
        solved.judge(spec, &outcome(Level::Upper, &self.upper), &self.upper[1..]);
        solved
    }
}

/// What values are measured by: the scales of all functions, as the archive shows them at some moment,
/// and what the problem says about constraints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scales {
    upper: Vec<f64>,
    lower: Vec<f64>,
    /// Standard deviations of the noise of F and f; zero if there is none.
    noise: [f64; 2],
    inequalities: (usize, usize),
    equality_tolerance: f64,
    added: bool,
}

impl Scales {
    pub(crate) fn new(spec: &ProblemSpec, archive: &Archive) -> Self {
        let of = |level: Level| {
            let outputs = 1 + spec.level(level).constraints();
            (0..outputs).map(|output| archive.level(level).scale(output)).collect()
        };
        let lower: Vec<f64> = of(Level::Lower);
        Scales {
            upper: with_shared(of(Level::Upper), &lower),
            lower,
            noise: archive.noise,
            inequalities: (spec.upper.inequalities, spec.lower.inequalities),
            equality_tolerance: spec.equality_tolerance,
            added: spec.lower_constraints == LowerConstraints::Added,
        }
    }

    /// The same for what the archive shows by now.
    pub(crate) fn new_like(other: &Scales, archive: &Archive) -> Self {
        let of = |level: Level, count: usize| (0..count).map(|output| archive.level(level).scale(output)).collect();
        let lower: Vec<f64> = of(Level::Lower, other.lower.len());
        let upper = with_shared(of(Level::Upper, other.upper.len()), &lower);
        Scales { upper, lower, noise: archive.noise, ..other.clone() }
    }

    /// Whether values are noisy.
    pub(crate) fn is_noisy(&self) -> bool {
        self.noise != [0.0; 2]
    }

    /// Difference of f that may be noise.
    pub(crate) fn follower_noise(&self) -> f64 {
        NOISE[1] * self.noise[1]
    }

    /// Scale of F.
    pub(crate) fn leader(&self) -> f64 {
        self.upper[0]
    }

    /// Scale of f.
    pub(crate) fn follower(&self) -> f64 {
        self.lower[0]
    }

    fn excess(&self, scales: &[f64], inequalities: usize, row: &[f64]) -> f64 {
        let one = |(i, (c, scale)): (usize, (&f64, &f64))| {
            let excess = if i < inequalities { c.max(0.0) } else { (c.abs() - self.equality_tolerance).max(0.0) };
            excess / scale.min((LARGE * scale).max(1.0))
        };
        row[1..].iter().zip(&scales[1..]).enumerate().map(one).sum()
    }

    /// Violation of the lower constraints, each in its own scale.
    pub(crate) fn lower_violation(&self, row: &[f64]) -> f64 {
        self.excess(&self.lower, self.inequalities.1, row)
    }

    /// Violation of the upper constraints, each in its own scale.
    pub(crate) fn upper_violation(&self, row: &[f64]) -> f64 {
        self.excess(&self.upper, self.inequalities.0, row)
    }

    /// Violation at both levels.
    pub(crate) fn violation(&self, claim: &Claim) -> f64 {
        self.upper_violation(&claim.upper) + self.lower_violation(&claim.lower)
    }

    pub(crate) fn is_feasible(&self, claim: &Claim) -> bool {
        self.violation(claim) <= FEASIBLE
    }

    /// Whether a follower's row breaks no constraint.
    pub(crate) fn answer_is_feasible(&self, row: &[f64]) -> bool {
        self.lower_violation(row) <= FEASIBLE
    }

    /// Feasible first, then by F; infeasible ones by violation.
    pub(crate) fn compare(&self, a: &Claim, b: &Claim) -> Ordering {
        let key = |claim: &Claim| {
            let violation = self.violation(claim);
            if violation > FEASIBLE { (violation, f64::INFINITY) } else { (0.0, claim.value()) }
        };
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    }

    /// Difference of F within which two claims are the same.
    pub(crate) fn tolerance(&self, value: f64) -> f64 {
        let scale = self.leader();
        let exact = (AGREEMENT * value.abs()).clamp(AGREEMENT_SCALE.0 * scale, AGREEMENT_SCALE.1 * scale);
        exact.max(NOISE[0] * self.noise[0])
    }

    /// Difference of F within which two claims are the same, with regard to where they lie.
    fn tolerance_between(&self, a: &Claim, b: &Claim) -> f64 {
        if a.distance(b) <= ELSEWHERE.1 {
            return self.tolerance(b.value());
        }
        let scale = self.leader();
        let exact = (AGREEMENT * b.value().abs()).clamp(ELSEWHERE.0 * scale, AGREEMENT_SCALE.1 * scale);
        exact.max(NOISE[0] * self.noise[0])
    }

    /// Whether both stand for the same optimum.
    pub(crate) fn agree(&self, a: &Claim, b: &Claim) -> bool {
        (self.violation(a) - self.violation(b)).abs() <= SAME_VIOLATION
            && (a.value() - b.value()).abs() <= self.tolerance_between(a, b)
    }

    /// Whether the first claim is better than the second by more than two claims of one optimum differ.
    pub(crate) fn promises(&self, a: &Claim, b: &Claim) -> bool {
        let better =
            self.is_feasible(a) && !self.is_feasible(b) || a.value() < b.value() - self.tolerance_between(a, b);
        better && self.compare(a, b).is_lt()
    }
}

/// The upper scales, with those of the follower's constraints for constraints that it keeps at zero.
fn with_shared(mut upper: Vec<f64>, lower: &[f64]) -> Vec<f64> {
    let least = lower[1..].iter().copied().fold(f64::INFINITY, f64::min);
    for scale in upper[1..].iter_mut().filter(|scale| least.is_finite() && **scale < SHARED * least) {
        *scale = least;
    }
    upper
}

#[cfg(test)]
mod tests;
