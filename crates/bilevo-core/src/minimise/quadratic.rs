//! A small quadratic problem with soft constraints, by an interior-point method.
//!
//! > minimise g's + ½ s'Hs + Σ ν_i max(0, b_i + a_i's), low <= s <= high
//!
//! Because the constraints are soft, there is always a solution: if all can be met and ν is large enough, they are;
//! otherwise their weighted violation is smallest. With slacks t, w > 0, t_i - w_i = b_i + a_i's, and multipliers λ_i
//! of w_i >= 0, ν_i - λ_i of t_i >= 0, each iteration is one Newton step on the conditions λ w = (ν - λ) t = z
//! (distance to a bound) = μ, with decreasing μ.

use crate::linalg::cholesky;
use crate::linalg::{add_scaled, dot};

const ITERATIONS: usize = 40;
/// The complementarity at which a solution is accepted.
const ACCURACY: f64 = 1e-11;
/// The same if rounding hides all directions, as between the two sides of an equation.
const NEARLY: f64 = 1e-7;

/// The problem; its numbers should be of the order of one.
#[derive(Clone, Debug, Default)]
pub(super) struct Quadratic {
    pub(super) hessian: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    /// a_i, row by row.
    pub(super) rows: Vec<f64>,
    /// b_i
    pub(super) offsets: Vec<f64>,
    /// ν_i
    pub(super) weights: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

/// Its solution, with the multiplier of each soft constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solution<'a> {
    pub(super) shift: &'a [f64],
    pub(super) multipliers: &'a [f64],
}

/// Memory for solving one problem after another.
#[derive(Debug, Default)]
pub(super) struct Memory {
    at: Interior,
    step: Interior,
    scratch: Scratch,
}

/// A point inside all bounds with its multipliers, or a direction.
#[derive(Debug, Default)]
struct Interior {
    s: Vec<f64>,
    /// Slacks t above and w below.
    t: Vec<f64>,
    w: Vec<f64>,
    lambda: Vec<f64>,
    /// Multipliers of the bounds.
    z_low: Vec<f64>,
    z_high: Vec<f64>,
}

/// Intermediate results of an iteration.
#[derive(Debug, Default)]
struct Scratch {
    residual: Vec<f64>,
    matrix: Vec<f64>,
    stiffness: Vec<f64>,
    gap: Vec<f64>,
}

impl Quadratic {
    /// The solution; `None` if H is not positive definite enough or a number is not finite.
    pub(super) fn solve<'a>(&self, memory: &'a mut Memory) -> Option<Solution<'a>> {
        let (n, rows) = (self.gradient.len(), self.offsets.len());
        let Memory { at, step, scratch } = memory;
        self.start(at);
        step.resize(n, rows);
        scratch.resize(n, rows);
        let pairs = (2 * n + 2 * rows) as f64;
        let mut length = 0.0;
        for _ in 0..ITERATIONS {
            self.find_residual(at, &mut scratch.residual);
            let mu = self.complementarity(at) / pairs;
            if mu < ACCURACY && scratch.residual.iter().all(|r| r.abs() < 1e-9) {
                break;
            }
            // The less the bounds were in the way, the faster.
            let target = if length > 0.9 { 0.01 * mu } else { 0.1 * mu };
            if !self.newton(at, target, scratch, step) {
                if mu > NEARLY {
                    return None;
                }
                break;
            }
            length = self.longest(at, step);
            at.advance(step, length);
        }
        let finite = at.s.iter().chain(&at.lambda).all(|v| v.is_finite());
        finite.then_some(Solution { shift: &at.s, multipliers: &at.lambda })
    }

    fn row(&self, i: usize) -> &[f64] {
        let n = self.gradient.len();
        &self.rows[i * n..(i + 1) * n]
    }

    fn start(&self, at: &mut Interior) {
        at.resize(self.gradient.len(), self.offsets.len());
        for (s, (l, h)) in at.s.iter_mut().zip(self.low.iter().zip(&self.high)) {
            *s = 0.0_f64.clamp(l + 0.1 * (h - l), h - 0.1 * (h - l));
        }
        for i in 0..self.offsets.len() {
            let excess = self.offsets[i] + dot(self.row(i), &at.s);
            (at.t[i], at.w[i]) = (excess.max(0.0) + 1.0, (-excess).max(0.0) + 1.0);
            at.lambda[i] = 0.5 * self.weights[i].min(1.0);
        }
        at.z_low.fill(1.0);
        at.z_high.fill(1.0);
    }

    /// Hs + g + A'λ - z_low + z_high
    fn find_residual(&self, at: &Interior, into: &mut [f64]) {
        let n = at.s.len();
        for (i, into) in into.iter_mut().enumerate() {
            let curved = dot(&self.hessian[i * n..(i + 1) * n], &at.s);
            *into = curved + self.gradient[i] - at.z_low[i] + at.z_high[i];
        }
        at.lambda.iter().enumerate().for_each(|(i, l)| add_scaled(into, *l, self.row(i)));
    }

    fn complementarity(&self, at: &Interior) -> f64 {
        let bounds: f64 = (0..at.s.len())
            .map(|i| at.z_low[i] * (at.s[i] - self.low[i]) + at.z_high[i] * (self.high[i] - at.s[i]))
            .sum();
        let rows: f64 =
            (0..at.t.len()).map(|i| at.lambda[i] * at.w[i] + (self.weights[i] - at.lambda[i]) * at.t[i]).sum();
        bounds + rows
    }

    /// The direction towards complementarity `target`; false if there is none.
    fn newton(&self, at: &Interior, target: f64, scratch: &mut Scratch, step: &mut Interior) -> bool {
        let n = at.s.len();
        let Scratch { residual, matrix, stiffness, gap } = scratch;
        matrix.copy_from_slice(&self.hessian);
        for i in 0..n {
            let (below, above) = (1.0 / (at.s[i] - self.low[i]), 1.0 / (self.high[i] - at.s[i]));
            matrix[i * n + i] += at.z_low[i] * below + at.z_high[i] * above;
            step.s[i] = target * (below - above) - at.z_low[i] + at.z_high[i] - residual[i];
        }
        for i in 0..gap.len() {
            let (pi, lambda) = (1.0 / (self.weights[i] - at.lambda[i]), 1.0 / at.lambda[i]);
            stiffness[i] = 1.0 / (at.t[i] * pi + at.w[i] * lambda);
            // With the residual of the rows, which keeps t - w = b + a's from drifting.
            gap[i] = self.offsets[i] + dot(self.row(i), &at.s) - target * (pi - lambda);
            add_scaled(&mut step.s, -stiffness[i] * gap[i], self.row(i));
            for (j, r) in self.row(i).iter().enumerate() {
                add_scaled(&mut matrix[j * n..=j * n + j], stiffness[i] * r, self.row(i));
            }
        }
        if !cholesky::factor(n, matrix) {
            return false;
        }
        cholesky::solve(n, matrix, &mut step.s);
        for i in 0..gap.len() {
            let change = stiffness[i] * (dot(self.row(i), &step.s) + gap[i]);
            step.lambda[i] = change;
            step.t[i] = (target + at.t[i] * change) / (self.weights[i] - at.lambda[i]) - at.t[i];
            step.w[i] = (target - at.w[i] * change) / at.lambda[i] - at.w[i];
        }
        for i in 0..n {
            step.z_low[i] = (target - at.z_low[i] * step.s[i]) / (at.s[i] - self.low[i]) - at.z_low[i];
            step.z_high[i] = (target + at.z_high[i] * step.s[i]) / (self.high[i] - at.s[i]) - at.z_high[i];
        }
        true
    }

    /// How far a direction can be followed: almost to the first bound.
    fn longest(&self, at: &Interior, step: &Interior) -> f64 {
        let mut length = 1.0_f64;
        let mut limit = |value: f64, change: f64| {
            if change < 0.0 {
                length = length.min(-0.99 * value / change);
            }
        };
        for i in 0..at.s.len() {
            limit(at.s[i] - self.low[i], step.s[i]);
            limit(self.high[i] - at.s[i], -step.s[i]);
            limit(at.z_low[i], step.z_low[i]);
            limit(at.z_high[i], step.z_high[i]);
        }
        for i in 0..at.t.len() {
            limit(at.t[i], step.t[i]);
            limit(at.w[i], step.w[i]);
            limit(at.lambda[i], step.lambda[i]);
            limit(self.weights[i] - at.lambda[i], -step.lambda[i]);
        }
        length
    }
}

impl Interior {
    /// Memory for this many variables and soft constraints.
    fn resize(&mut self, n: usize, rows: usize) {
        [&mut self.s, &mut self.z_low, &mut self.z_high].into_iter().for_each(|v| v.resize(n, 0.0));
        [&mut self.t, &mut self.w, &mut self.lambda].into_iter().for_each(|v| v.resize(rows, 0.0));
    }

    fn advance(&mut self, step: &Interior, length: f64) {
        let pairs = [
            (&mut self.s, &step.s),
            (&mut self.t, &step.t),
            (&mut self.w, &step.w),
            (&mut self.lambda, &step.lambda),
            (&mut self.z_low, &step.z_low),
            (&mut self.z_high, &step.z_high),
        ];
        for (value, change) in pairs {
            add_scaled(value, length, change);
        }
    }
}

impl Scratch {
    fn resize(&mut self, n: usize, rows: usize) {
        self.residual.resize(n, 0.0);
        self.matrix.resize(n * n, 0.0);
        self.stiffness.resize(rows, 0.0);
        self.gap.resize(rows, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    fn value(problem: &Quadratic, s: &[f64]) -> f64 {
        let n = s.len();
        let curved: f64 = (0..n).map(|i| s[i] * dot(&problem.hessian[i * n..(i + 1) * n], s)).sum();
        let soft = |i: usize| problem.weights[i] * (problem.offsets[i] + dot(problem.row(i), s)).max(0.0);
        dot(&problem.gradient, s) + 0.5 * curved + (0..problem.offsets.len()).map(soft).sum::<f64>()
    }

    /// A random convex problem; some of its constraints cannot all be met.
    fn random(n: usize, rows: usize, seed: u64) -> Quadratic {
        let mut stream = Streams::new(seed).open(Purpose::Start, 0, 0);
        let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| stream.normal()).collect() };
        let root = draw(n * n);
        let hessian = (0..n * n)
            .map(|k| {
                let (i, j) = (k / n, k % n);
                dot(&root[i * n..(i + 1) * n], &root[j * n..(j + 1) * n]) + if i == j { 0.01 } else { 0.0 }
            })
            .collect();
        Quadratic {
            hessian,
            gradient: draw(n),
            rows: draw(n * rows),
            offsets: draw(rows),
            weights: draw(rows).iter().map(|v| 0.1 + 10.0 * v.abs()).collect(),
            low: vec![-1.0; n],
            high: (0..n).map(|i| 0.2 * i as f64 + 0.1).collect(),
        }
    }

    #[test]
    fn no_point_nearby_or_far_is_better() {
        let mut memory = Memory::default();
        for seed in 0..60 {
            let (n, rows) = (1 + seed as usize % 4, seed as usize % 5);
            let problem = random(n, rows, seed);
            // In memory that was used for problems of all sizes before.
            let solution = problem.solve(&mut memory).unwrap();
            let best = value(&problem, solution.shift);
            let mut stream = Streams::new(seed).open(Purpose::Sample, 0, 0);
            for trial in 0..4000 {
                let spread = [1.0, 0.1, 1e-2, 1e-3][trial % 4];
                let s: Vec<f64> = (0..n)
                    .map(|i| (solution.shift[i] + spread * stream.normal()).clamp(problem.low[i], problem.high[i]))
                    .collect();
                assert!(value(&problem, &s) >= best - 1e-8, "seed {seed}: {} < {best}", value(&problem, &s));
            }
            let within = |l: &f64, w: &f64| (0.0..=*w).contains(l);
            assert!(solution.multipliers.iter().zip(&problem.weights).all(|(l, w)| within(l, w)));
        }
    }

    #[test]
    fn a_solution_is_exact() {
        for seed in 0..60 {
            let problem = random(1 + seed as usize % 4, seed as usize % 5, seed);
            let mut memory = Memory::default();
            assert!(problem.solve(&mut memory).is_some());
            let Memory { at, .. } = memory;
            let mut residual = vec![0.0; at.s.len()];
            problem.find_residual(&at, &mut residual);
            let pairs = 2 * (at.s.len() + at.t.len());
            assert!(problem.complementarity(&at) < ACCURACY * pairs as f64 && residual.iter().all(|r| r.abs() < 1e-9));
            // The slacks are what the constraints are missed by, one way or the other.
            for i in 0..at.t.len() {
                let excess = problem.offsets[i] + dot(problem.row(i), &at.s);
                assert!((at.t[i] - at.w[i] - excess).abs() < 1e-8, "{seed}: {excess} {at:?}");
            }
        }
    }

    /// s² / 2 - s between 0.25 and 1.25, with one soft constraint: 2 s - 3 at a price of 4.
    fn small() -> (Quadratic, Interior) {
        let problem = Quadratic {
            hessian: vec![1.0],
            gradient: vec![-1.0],
            rows: vec![2.0],
            offsets: vec![-3.0],
            weights: vec![4.0],
            low: vec![0.25],
            high: vec![1.25],
        };
        let mut at = Interior::default();
        problem.start(&mut at);
        (problem, at)
    }

    #[test]
    fn it_starts_a_tenth_inside_the_bounds_and_off_the_constraints() {
        let (problem, at) = small();
        // 0 is no choice; the constraint is kept by 3 - 0.7.
        assert_eq!((&at.s[..], &at.t[..], &at.lambda[..]), (&[0.25 + 0.1][..], &[1.0][..], &[0.5][..]));
        assert!((at.w[0] - 3.3).abs() < 1e-15 && at.z_low == [1.0] && at.z_high == [1.0]);
        // 0.1 · 1 + 0.9 · 1 at the bounds, 0.5 · 3.3 + 3.5 · 1 at the constraint.
        assert!((problem.complementarity(&at) - 6.15).abs() < 1e-12);
        let broken = Quadratic { offsets: vec![1.0], weights: vec![0.5], high: vec![0.35], ..problem.clone() };
        let mut at = Interior::default();
        broken.start(&mut at);
        // As near to 0 as may be: 0.26, where it is broken by 1.52.
        assert!(
            (at.s[0] - 0.26).abs() < 1e-15 && (at.t[0] - 2.52).abs() < 1e-12 && at.w == [1.0] && at.lambda == [0.25]
        );
        // Hs + g + A'λ - z_low + z_high
        let mut residual = [0.0];
        at.z_high[0] = 3.0;
        broken.find_residual(&at, &mut residual);
        assert!((residual[0] - (0.26 - 1.0 + 2.0 * 0.25 - 1.0 + 3.0)).abs() < 1e-12, "{residual:?}");
    }

    #[test]
    fn a_direction_is_followed_nearly_to_the_first_bound() {
        let (problem, at) = small();
        let longest = |change: fn(&mut Interior)| {
            let mut step = Interior::default();
            step.resize(1, 1);
            change(&mut step);
            problem.longest(&at, &step)
        };
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert_eq!(longest(|_| {}), 1.0);
        // s is 0.1 above one bound and 0.9 below the other; λ is 0.5 of 4.
        close(longest(|step| step.s[0] = -1.0), 0.099);
        close(longest(|step| step.s[0] = 2.0), 0.99 * 0.45);
        close(longest(|step| step.z_low[0] = -2.0), 0.99 * 0.5);
        close(longest(|step| step.z_high[0] = -4.0), 0.99 * 0.25);
        close(longest(|step| step.t[0] = -2.0), 0.99 * 0.5);
        close(longest(|step| step.w[0] = -33.0), 0.099);
        close(longest(|step| step.lambda[0] = -1.0), 0.99 * 0.5);
        close(longest(|step| step.lambda[0] = 7.0), 0.99 * 0.5);
    }

    #[test]
    fn an_equation_is_met_from_both_sides() {
        // |s - target|² under an equation, in all sizes of what is missing: the projection.
        for (seed, offset) in [(1, 1e-5), (2, 1e-9), (3, 0.0), (4, -0.3), (5, 1e-13)] {
            let mut problem = random(3, 1, seed);
            problem.hessian = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            (problem.low, problem.high) = (vec![-9.0; 3], vec![9.0; 3]);
            let a: Vec<f64> = vec![0.6, 0.0, 0.8];
            problem.rows = a.iter().copied().chain(a.iter().map(|v| -v)).collect();
            (problem.offsets, problem.weights) = (vec![offset, -offset], vec![100.0; 2]);
            let mut memory = Memory::default();
            let solution = problem.solve(&mut memory).unwrap();
            let along = dot(&a, &problem.gradient) - offset;
            for ((shift, slope), a) in solution.shift.iter().zip(&problem.gradient).zip(&a) {
                assert!((shift + slope - along * a).abs() < 1e-6, "{offset}: {:?}", solution.shift);
            }
        }
    }

    #[test]
    fn refuses_what_is_not_finite() {
        let problem = Quadratic { gradient: vec![f64::NAN, 0.0], ..random(2, 1, 1) };
        assert!(problem.solve(&mut Memory::default()).is_none());
    }
}
