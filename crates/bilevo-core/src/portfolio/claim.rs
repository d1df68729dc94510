//! What a search ends with: a decision with the answer that it relies on, and how to compare two of them.

use super::archive::{Archive, distance};
use crate::candidate::Solved;
use crate::problem::{Level, LowerConstraints, Outcome, ProblemSpec};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Violation, in units of the constraints' scales, up to which a claim is feasible.
const FEASIBLE: f64 = 1e-6;
/// If a constraint has large values, users still accept a violation of at most a millionth. So its scale counts as
/// this share of it, but not as less than one.
const LARGE: f64 = 0.01;
/// Two claims agree if their violations differ by no more than this (a descent that ends on a constraint may miss it
/// by as much as its last step) ...
const SAME_VIOLATION: f64 = 1e-5;
/// ... and if their F differ by no more than this share of F ...
const AGREEMENT: f64 = 1e-3;
/// ... or of its scale, at least the first share and at most the second ...
const AGREEMENT_SCALE: (f64, f64) = (1e-6, 1e-3);
/// ... but at least this share if the two lie farther apart than that along some variable: if F is very large in most
/// of the box, even a small share of its scale matters near an optimum.
const ELSEWHERE: (f64, f64) = (1e-9, 0.01);

/// The number of standard deviations of the noise by which F of two claims (both are means) must differ, and f of two
/// answers (one of which is the best of many single values).
const NOISE: [f64; 2] = [2.0, 5.0];

/// If a leader's constraint changes by less than this share of a follower's, it is that constraint: where the
/// follower satisfies it, the leader always sees it at zero.
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
    /// Whether the answer is as accurate as requested.
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

    /// The largest distance from another claim along any variable, as a share of its box.
    pub(crate) fn distance(&self, other: &Claim) -> f64 {
        distance(&self.x, &other.x).max(distance(&self.y, &other.y))
    }

    /// As the other parts of the engine see it.
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

/// The units in which values are judged: the scales of all functions, as the archive shows them at the moment, and
/// what the problem says about constraints.
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

    /// The same for what the archive shows now.
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

    /// The largest difference of f that may be noise.
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

    /// Whether a follower's row violates no constraint.
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

    /// The largest difference of F between two claims that count as the same.
    pub(crate) fn tolerance(&self, value: f64) -> f64 {
        let scale = self.leader();
        let exact = (AGREEMENT * value.abs()).clamp(AGREEMENT_SCALE.0 * scale, AGREEMENT_SCALE.1 * scale);
        exact.max(NOISE[0] * self.noise[0])
    }

    /// The same, taking into account where they lie.
    fn tolerance_between(&self, a: &Claim, b: &Claim) -> f64 {
        if a.distance(b) <= ELSEWHERE.1 {
            return self.tolerance(b.value());
        }
        let scale = self.leader();
        let exact = (AGREEMENT * b.value().abs()).clamp(ELSEWHERE.0 * scale, AGREEMENT_SCALE.1 * scale);
        exact.max(NOISE[0] * self.noise[0])
    }

    /// Whether both are the same optimum.
    pub(crate) fn agree(&self, a: &Claim, b: &Claim) -> bool {
        (self.violation(a) - self.violation(b)).abs() <= SAME_VIOLATION
            && (a.value() - b.value()).abs() <= self.tolerance_between(a, b)
    }

    /// Whether the first claim is better than the second by more than two claims of the same optimum may differ.
    pub(crate) fn promises(&self, a: &Claim, b: &Claim) -> bool {
        let better =
            self.is_feasible(a) && !self.is_feasible(b) || a.value() < b.value() - self.tolerance_between(a, b);
        better && self.compare(a, b).is_lt()
    }
}

/// The upper scales. Constraints that the follower keeps at zero get the scale of the follower's constraint.
fn with_shared(mut upper: Vec<f64>, lower: &[f64]) -> Vec<f64> {
    let least = lower[1..].iter().copied().fold(f64::INFINITY, f64::min);
    for scale in upper[1..].iter_mut().filter(|scale| least.is_finite() && **scale < SHARED * least) {
        *scale = least;
    }
    upper
}

#[cfg(test)]
mod tests;
