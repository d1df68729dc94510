//! The leader's functions along the follower's response.
//!
//! Both levels are modelled over (x, y), so F(x, y*(x)) follows from the model of F and the answer that the
//! follower's model predicts, including constraints and the box. Where the answer has kinks, the models need none.
//! dy/dx comes from the follower's optimality conditions. The second derivative of the answer is left out, because
//! damped steps do not depend on it.

use crate::linalg::cholesky;
use crate::linalg::{add_scaled, dot};
use crate::minimise::{self as step, Constraints, Landscape, Region, Slice, Step};
use crate::surrogate::Surrogate;

/// Active constraints are met this much more accurately than while they were found.
const HOLD: f64 = 1e4;

/// If the slopes of a constraint by x and along the response cancel to this share, it is the follower's own.
const CANCELS: f64 = 0.02;

/// So is a constraint that changes this little along the response, compared with elsewhere.
const FADES: f64 = 1e-4;
/// An answer moves by at most this many times the change of x, in units of the box.
const REACH: f64 = 2.0;

/// The upper functions at (x, predicted answer), relative to the base (x, y).
pub(in crate::portfolio) struct Response<'a> {
    pub(in crate::portfolio) upper: &'a Surrogate,
    pub(in crate::portfolio) lower: &'a Surrogate,
    /// Where answers are searched for: the farther x is from the base, the farther from the base's answer.
    region: Region,
    slack: f64,
    pub(in crate::portfolio) constraints: Constraints<'a>,
    m: usize,
    /// A decision whose answer is known, the answer, and its slope (n * m) once somebody has asked for it.
    x: Vec<f64>,
    answer: Step,
    slope: Vec<f64>,
}

impl<'a> Response<'a> {
    pub(in crate::portfolio) fn new(
        upper: &'a Surrogate,
        lower: &'a Surrogate,
        region: Region,
        constraints: Constraints<'a>,
        multipliers: &[f64],
    ) -> Self {
        let n = region.low.len();
        let m = lower.dim() - n;
        let x = vec![0.0; m];
        let answer = step::minimise(&mut Slice::new(lower, &x), &region, constraints, &vec![0.0; n], multipliers);
        let slack = region.radius;
        Response { upper, lower, region, slack, constraints, m, x, answer, slope: Vec::new() }
    }

    /// The predicted answer at `x`, relative to the base's.
    pub(in crate::portfolio) fn answer(&mut self, x: &[f64]) -> &[f64] {
        if self.x != x {
            let mut slice = Slice::new(self.lower, x);
            let multipliers = self.answer.multipliers.clone();
            self.region.radius = REACH * step::norm(x) + self.slack;
            self.answer = step::minimise(&mut slice, &self.region, self.constraints, &self.answer.z, &multipliers);
            self.x.copy_from_slice(x);
            self.slope.clear();
        }
        &self.answer.z
    }

    fn point(&mut self, x: &[f64]) -> Vec<f64> {
        [x, self.answer(x)].concat()
    }

    /// dy/dx at `x`: H dy = -(∂²L/∂y∂x) dx over the free variables, with the penalties of the active
    /// constraints in both matrices.
    fn slope(&mut self, x: &[f64]) -> &[f64] {
        let point = self.point(x);
        if self.slope.is_empty() {
            self.slope = self.find_slope(&point);
        }
        &self.slope
    }

    fn find_slope(&self, point: &[f64]) -> Vec<f64> {
        let (m, d) = (self.m, self.lower.dim());
        let n = d - m;
        let step = &self.answer;
        let mut weights = vec![1.0];
        weights.extend_from_slice(&step.multipliers);
        let mut hessian = vec![0.0; d * d];
        self.lower.hessian(point, 0, &weights, &mut hessian);
        let mut gradients = vec![0.0; weights.len() * d];
        self.lower.gradients(point, 0, &mut gradients);
        for (gradient, penalty) in gradients[d..].chunks_exact(d).zip(&step.penalties) {
            for (row, g) in hessian.chunks_exact_mut(d).zip(gradient) {
                add_scaled(row, HOLD * penalty * g, gradient);
            }
        }
        let f = step.free.len();
        let pairs = step.free.iter().flat_map(|i| step.free.iter().map(move |j| (m + i, m + j)));
        let block: Vec<f64> = pairs.map(|(i, j)| hessian[i * d + j]).collect();
        let mut slope = vec![0.0; n * m];
        let mut factor = Vec::new();
        if !cholesky::factor_with_ridge(f, &block, 1e-12, &mut factor) {
            return slope;
        }
        for k in 0..m {
            let mut column: Vec<f64> = step.free.iter().map(|i| -hessian[(m + i) * d + k]).collect();
            cholesky::solve(f, &factor, &mut column);
            step.free.iter().zip(&column).for_each(|(i, c)| slope[i * m + k] = *c);
        }
        slope
    }

    /// [I slope'] A [I; slope] for a matrix over (x, y).
    fn reduce(&self, full: &[f64], into: &mut [f64]) {
        let (m, d) = (self.m, self.lower.dim());
        let slope = &self.slope;
        // Columns of [I; slope].
        let column = |k: usize| -> Vec<f64> {
            let mut v = vec![0.0; d];
            v[k] = 1.0;
            (m..d).for_each(|i| v[i] = slope[(i - m) * m + k]);
            v
        };
        let columns: Vec<Vec<f64>> = (0..m).map(column).collect();
        for j in 0..m {
            let image: Vec<f64> = full.chunks_exact(d).map(|row| dot(row, &columns[j])).collect();
            for i in 0..m {
                into[i * m + j] = dot(&columns[i], &image);
            }
        }
    }
}

impl Landscape for Response<'_> {
    fn dim(&self) -> usize {
        self.m
    }

    fn outputs(&self) -> usize {
        self.upper.outputs()
    }

    fn values(&mut self, z: &[f64], into: &mut [f64]) {
        let point = self.point(z);
        self.upper.values(&point, into);
    }

    fn gradients(&mut self, z: &[f64], into: &mut [f64]) {
        let point = self.point(z);
        self.slope(z);
        let (m, d) = (self.m, self.lower.dim());
        let mut full = vec![0.0; self.outputs() * d];
        self.upper.gradients(&point, 0, &mut full);
        for (output, (into, full)) in into.chunks_exact_mut(m).zip(full.chunks_exact(d)).enumerate() {
            into.copy_from_slice(&full[..m]);
            let mut terms = step::norm(into);
            for (slope, g) in self.slope.chunks_exact(m).zip(&full[m..]) {
                add_scaled(into, *g, slope);
                terms += g.abs() * step::norm(slope);
            }
            // A constraint that the follower keeps active does not change along the response.
            if output > 0 && step::norm(into) < (CANCELS * terms).max(FADES * step::norm(full)) {
                into.fill(0.0);
            }
        }
    }

    fn hessian(&mut self, z: &[f64], weights: &[f64], into: &mut [f64]) {
        let point = self.point(z);
        self.slope(z);
        let d = self.lower.dim();
        let mut full = vec![0.0; d * d];
        self.upper.hessian(&point, 0, weights, &mut full);
        self.reduce(&full, into);
    }

    fn gradient_covariance(&mut self) -> Vec<f64> {
        let x = self.x.clone();
        self.slope(&x);
        let full = self.upper.gradient_covariance(0);
        let mut into = vec![0.0; self.m * self.m];
        self.reduce(&full, &mut into);
        into
    }

    fn variance(&self, output: usize) -> f64 {
        self.upper.variance(output)
    }

    fn kinked(&self) -> bool {
        self.lower.outputs() > 1 || self.answer.free.len() < self.lower.dim() - self.m
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::Sample;

    /// A surrogate around (0, 0) of functions that are zero there.
    fn surrogates(functions: &[&dyn Fn(f64, f64) -> f64]) -> Surrogate {
        let grid = (-2..=2).flat_map(|i| (-2..=2).map(move |j| (0.1 * f64::from(i), 0.1 * f64::from(j))));
        let points: Vec<(f64, f64)> = grid.filter(|p| *p != (0.0, 0.0)).collect();
        let mut sample = Sample { len: points.len(), ..Sample::default() };
        points.iter().for_each(|(x, y)| sample.points.extend([*x, *y]));
        functions.iter().for_each(|f| sample.values.extend(points.iter().map(|(x, y)| f(*x, *y))));
        Surrogate::with_lengths(&sample, functions.len(), &[0.5; 2])
    }

    fn surrogate(f: impl Fn(f64, f64) -> f64) -> Surrogate {
        surrogates(&[&f])
    }

    /// F = (x - 0.1)² + y - 0.01, f = (y - x / 2)²: F along the response is (x - 0.1)² + x / 2 - 0.01.
    fn models() -> (Surrogate, Surrogate) {
        (surrogate(|x, y| (x - 0.1).powi(2) + y - 0.01), surrogate(|x, y| (y - 0.5 * x).powi(2)))
    }

    const NONE: Constraints<'static> = Constraints { inequalities: 0, centre: &[] };

    #[test]
    fn values_and_slopes_along_the_response() {
        let (upper, lower) = models();
        let region = Region { radius: 1e-3, low: vec![-1.0], high: vec![1.0] };
        let mut response = Response::new(&upper, &lower, region, NONE, &[]);
        assert!((response.answer(&[0.1])[0] - 0.05).abs() < 1e-4);
        let (mut value, mut gradient, mut hessian) = ([0.0], [0.0], [0.0]);
        response.values(&[0.1], &mut value);
        response.gradients(&[0.1], &mut gradient);
        response.hessian(&[0.1], &[1.0], &mut hessian);
        assert!((value[0] - 0.04).abs() < 1e-3, "{value:?}");
        assert!((gradient[0] - 0.5).abs() < 1e-2, "{gradient:?}");
        assert!((hessian[0] - 2.0).abs() < 0.1, "{hessian:?}");
    }

    #[test]
    fn an_answer_that_the_box_holds_does_not_move() {
        let (upper, lower) = models();
        let region = Region { radius: 1e-3, low: vec![-1.0], high: vec![0.02] };
        let mut response = Response::new(&upper, &lower, region, NONE, &[]);
        assert!((response.answer(&[0.1])[0] - 0.02).abs() < 1e-9);
        let mut gradient = [1.0];
        response.gradients(&[0.1], &mut gradient);
        assert!(gradient[0].abs() < 1e-2, "{gradient:?}");
    }

    /// A surrogate of a function of three variables that is zero at the centre.
    fn of_three(f: fn(&[f64]) -> f64) -> Surrogate {
        let mut sample = Sample::default();
        for k in (0..27).filter(|k| *k != 13) {
            let z = [k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1].map(|i| 0.1 * f64::from(i));
            sample.points.extend(z);
            sample.values.push(f(&z));
        }
        sample.len = sample.values.len();
        Surrogate::with_lengths(&sample, 1, &[0.5; 3])
    }

    #[test]
    fn two_answers_move_together() {
        // f = y² + z² + y z - x y: 2 y + z = x and y + 2 z = 0, so that y = 2 x / 3 and z = -x / 3.
        let lower = of_three(|z| z[1] * z[1] + z[2] * z[2] + z[1] * z[2] - z[0] * z[1]);
        let upper = of_three(|z| z[0] + 3.0 * z[1] + z[2]);
        let region = Region { radius: 1e-3, low: vec![-1.0; 2], high: vec![1.0; 2] };
        let mut response = Response::new(&upper, &lower, region, NONE, &[]);
        let answer = response.answer(&[0.06]).to_vec();
        assert!((answer[0] - 0.04).abs() < 2e-3 && (answer[1] + 0.02).abs() < 2e-3, "{answer:?}");
        // F = x + 2 x - x / 3.
        let (mut value, mut gradient) = ([0.0], [0.0]);
        response.values(&[0.06], &mut value);
        response.gradients(&[0.06], &mut gradient);
        assert!((value[0] - 0.16).abs() < 5e-3 && (gradient[0] - 8.0 / 3.0).abs() < 0.05, "{value:?} {gradient:?}");
        assert!(!response.kinked(), "nothing holds them");
        let held = Region { radius: 1e-3, low: vec![-1.0; 2], high: vec![0.0, 1.0] };
        let mut response = Response::new(&upper, &lower, held, NONE, &[]);
        response.answer(&[0.06]);
        assert!(response.kinked(), "the box does");
    }

    #[test]
    fn curvature_along_the_response_is_that_of_both() {
        // f = (y - u / 2 - v / 4)²; F = u v + y² is u v + (u / 2 + v / 4)² along the answer.
        let lower = of_three(|z| (z[2] - 0.5 * z[0] - 0.25 * z[1]).powi(2));
        let upper = of_three(|z| z[0] * z[1] + z[2] * z[2]);
        let region = Region { radius: 1e-3, low: vec![-1.0], high: vec![1.0] };
        let mut response = Response::new(&upper, &lower, region, NONE, &[]);
        let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 4]);
        response.gradients(&[0.06, 0.04], &mut gradient);
        response.hessian(&[0.06, 0.04], &[1.0], &mut hessian);
        // y = 0.04: v + y and u + y / 2.
        let close =
            |found: &[f64], expected: &[f64], by: f64| found.iter().zip(expected).all(|(f, e)| (f - e).abs() < by);
        assert!(close(&gradient, &[0.08, 0.08], 5e-3), "{gradient:?}");
        assert!(close(&hessian, &[0.5, 1.25, 1.25, 0.125], 0.05), "{hessian:?}");
    }

    #[test]
    fn answers_move_by_at_most_twice_the_way_of_the_decision_and_a_slack() {
        // f = (y - 5 x)²: from 0 to 0.05 the answer would like to go 0.25 far.
        let (upper, lower) = (surrogate(|x, y| x + y), surrogate(|x, y| (y - 5.0 * x).powi(2)));
        let region = Region { radius: 1e-3, low: vec![-1.0], high: vec![1.0] };
        let mut response = Response::new(&upper, &lower, region, NONE, &[]);
        for (x, limit) in [(0.05, 0.101), (-0.02, -0.041)] {
            let found = response.answer(&[x])[0];
            assert!((found - limit).abs() < 1e-6, "{found}, not {limit}");
        }
    }

    /// f = -y under y <= s x, which is the answer, for a leader with F = x + y² and this constraint: slopes at 0.1.
    fn shared(s: f64, constraint: fn(f64, f64) -> f64) -> [f64; 2] {
        let at = 0.1;
        let upper = surrogates(&[&|x, y| x + y * y, &constraint]);
        let lower = surrogates(&[&|_, y| -y, &|x, y| y - s * x]);
        let region = Region { radius: 0.05, low: vec![-1.0], high: vec![1.0] };
        let constraints = Constraints { inequalities: 1, centre: &[0.0] };
        let mut response = Response::new(&upper, &lower, region, constraints, &[1.0]);
        let found = response.answer(&[at])[0];
        assert!((found - s * at).abs() < 1e-5 && response.kinked(), "{found}");
        let mut gradients = [9.0; 2];
        response.gradients(&[at], &mut gradients);
        gradients
    }

    #[test]
    fn an_answer_that_a_constraint_holds_moves_with_it() {
        // F = x + x² along the answer, and the leader's constraint is 3 x.
        let [slope, constraint] = shared(1.0, |x, y| x + 2.0 * y);
        assert!((slope - 1.2).abs() < 5e-3 && (constraint - 3.0).abs() < 5e-3, "{slope} {constraint}");
    }

    #[test]
    fn a_constraint_that_the_follower_keeps_has_no_slope_along_the_response() {
        // Its own one, and one that is it but for a hundredth; a tenth is more than what may cancel.
        assert_eq!(shared(1.0, |x, y| y - x)[1], 0.0);
        assert_eq!(shared(1.0, |x, y| y - 0.99 * x)[1], 0.0);
        let kept = shared(1.0, |x, y| y - 0.9 * x)[1];
        assert!((kept - 0.1).abs() < 5e-3, "{kept}");
        // It is measured by what cancels: a fiftieth of 0.46 + 0.5 is 0.019.
        let kept = shared(0.5, |x, y| y - 0.46 * x)[1];
        assert!((kept - 0.04).abs() < 5e-3, "{kept}");
        // F itself may be flat there.
        let upper = surrogate(|x, y| y - 0.495 * x);
        let lower = surrogate(|x, y| (y - 0.5 * x).powi(2));
        let region = Region { radius: 1e-3, low: vec![-1.0], high: vec![1.0] };
        let mut gradient = [9.0];
        Response::new(&upper, &lower, region, NONE, &[]).gradients(&[0.0], &mut gradient);
        assert!((gradient[0] - 0.005).abs() < 1e-3 && gradient[0] != 0.0, "{gradient:?}");
    }

    #[test]
    fn what_is_not_known_of_a_slope_is_that_of_both_variables_along_the_response() {
        // Two points on one line leave the slopes of F in doubt across it; dy/dx is a half.
        let points = vec![0.1, 0.05, -0.1, -0.05];
        let sample = Sample { points: points.into(), values: vec![0.1, -0.1], len: 2, noise: 0.0 };
        let upper = Surrogate::with_lengths(&sample, 1, &[0.5, 0.25]);
        let (_, lower) = models();
        let region = Region { radius: 1e-3, low: vec![-1.0], high: vec![1.0] };
        let mut response = Response::new(&upper, &lower, region, NONE, &[]);
        let [xx, xy, yx, yy] = upper.gradient_covariance(0)[..] else { panic!() };
        let (found, expected) = (response.gradient_covariance()[0], xx + 0.5 * (xy + yx) + 0.25 * yy);
        assert!((found - expected).abs() < 1e-2 * xx && xx > 1.0, "{found} {expected} {xx}");
        assert_eq!((response.variance(0), response.outputs(), response.dim()), (upper.variance(0), 1, 1));
    }
}
