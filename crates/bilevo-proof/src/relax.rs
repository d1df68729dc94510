//! Linear relaxations: inequalities φ(z) ≤ b become linear ones, and a linear program looks for a
//! combination that no point of the region meets.
//!
//! - Mean value at the centre c: φ(z) ≥ φ(c) + Σ mⱼ(zⱼ − cⱼ) − Σ |Gⱼ − mⱼ| |zⱼ − cⱼ|, with the range Gⱼ
//!   of ∂ⱼφ over the region and any slopes m.
//! - Mean value at a corner: where zⱼ − cⱼ has one sign, the lower or upper end of Gⱼ does without error.
//! - αBB tangent at any c: φ(z) ≥ φ(c) + ∇φ(c)·(z − c) − ½ α Σ (zⱼ − cⱼ)²/rⱼ², without error where φ is
//!   convex ([`crate::curvature`]); the concave rest is replaced by its secants.
//!
//! Multipliers λ ≥ 0 of the linear program are verified: Σ λᵢ (aᵢ·z − bᵢ) ≤ 0 must fail on the whole
//! region in interval arithmetic. The same sum, and every row, also narrows the region.

use crate::curvature;
use crate::interval::{Interval, add_down, add_up};
use crate::problem::Row;
use crate::simplex::{Answer, Rows, solve};
use crate::work::{Region, Work};

/// sign · φ(x, y) ≤ bound, or φ(x, y) − φ(x, yₖ) ≤ bound for a known answer yₖ.
pub(crate) struct Cut<'a> {
    pub(crate) row: &'a Row,
    pub(crate) sign: f64,
    pub(crate) bound: f64,
    pub(crate) known: Option<&'a [f64]>,
}

impl<'a> Cut<'a> {
    pub(crate) fn at_most(row: &'a Row, bound: f64) -> Self {
        Cut { row, sign: 1.0, bound, known: None }
    }

    pub(crate) fn at_least(row: &'a Row, bound: f64) -> Self {
        Cut { row, sign: -1.0, bound: -bound, known: None }
    }
}

/// Maximum number of times that tangents are added at the linear program's solution.
const ROUNDS: usize = 3;

/// What the relaxations of a region share.
struct Relaxation<'r> {
    region: &'r Region,
    /// The variables that are not fixed, and half their widths.
    free: Vec<usize>,
    radii: Vec<f64>,
    rows: Rows,
}

/// Narrows the region by what follows from the cuts; true if no point of it meets them. Tangents are also taken at
/// the `hints`.
pub(crate) fn relax(work: &mut Work<'_>, region: &mut Region, cuts: &[Cut<'_>], hints: &[Vec<f64>]) -> bool {
    let before = region.clone();
    let free: Vec<usize> = (0..before.len()).filter(|&j| !before[j].is_point()).collect();
    if free.is_empty() {
        return false;
    }
    let radii = free.iter().map(|&j| 0.5 * before[j].width()).collect();
    let mut relaxation = Relaxation { region: &before, free, radii, rows: Rows::default() };
    let middle: Vec<f64> = before.iter().map(|i| i.middle()).collect();
    let mut curved = Vec::new();
    for cut in cuts {
        if let Some(alpha) = relaxation.curvature(work, cut) {
            for at in std::iter::once(&middle).chain(hints) {
                relaxation.tangent(work, cut, alpha, at);
            }
            curved.push((cut, alpha));
        }
        relaxation.mean_values(work, cut, &middle);
    }
    if relaxation.rows.len() == 0 {
        return false;
    }
    let answer = relaxation.solve(work, &curved, middle);
    relaxation.conclude(&answer, region)
}

impl Relaxation<'_> {
    /// α of a cut, if tangents with it are possible.
    fn curvature(&self, work: &mut Work<'_>, cut: &Cut<'_>) -> Option<f64> {
        let possible = cut.sign > 0.0 && cut.known.is_none();
        let alpha = possible.then(|| curvature::alpha(work, cut.row, self.region, &self.free, &self.radii))?;
        alpha.is_finite().then_some(alpha)
    }

    /// The αBB tangent at a point. For each variable, g δ − ½ α δ²/r² − m δ is concave in δ = zⱼ − cⱼ, so that
    /// it is least at an end of the region.
    fn tangent(&mut self, work: &mut Work<'_>, cut: &Cut<'_>, alpha: f64, at: &[f64]) {
        let point: Region = self.region.iter().zip(at).map(|(i, &v)| Interval::point(v.max(i.lo).min(i.hi))).collect();
        let (range, gradient) = work.gradient(cut.row, &point);
        let finite = |i: &Interval| i.is_finite() && !i.is_empty();
        if !finite(&range.value) || !self.free.iter().all(|&j| finite(&gradient[j])) {
            return;
        }
        let mut least = range.value;
        let mut slopes = Vec::with_capacity(self.free.len());
        for (&j, &radius) in self.free.iter().zip(&self.radii) {
            let reach = self.region[j] - point[j];
            let slope = gradient[j].middle() - 0.5 * alpha * (reach.lo + reach.hi) / (radius * radius);
            let bend = Interval::point(0.5 * alpha) / Interval::point(radius).power(2);
            let end = |delta: f64| {
                let delta = Interval::point(delta);
                ((gradient[j] - Interval::point(slope)) * delta - bend * delta.power(2)).lo
            };
            // At δ = 0 too: rounding may have moved an end across it.
            least = least + Interval::point(end(reach.lo).min(end(reach.hi)).min(0.0));
            least = least - Interval::point(slope) * point[j];
            slopes.push(slope);
        }
        self.push(slopes, cut.bound, least);
    }

    /// The mean value rows at the centre and at two opposite corners.
    fn mean_values(&mut self, work: &mut Work<'_>, cut: &Cut<'_>, middle: &[f64]) {
        let Some(gradient) = self.gradient(work, cut) else { return };
        let centre: Region = middle.iter().map(|&v| Interval::point(v)).collect();
        let slopes: Vec<f64> = self.free.iter().map(|&j| gradient[j].middle()).collect();
        let value = value(work, cut, &centre);
        if value.is_finite() {
            let mut least = value;
            for (&j, &slope) in self.free.iter().zip(&slopes) {
                let error = (gradient[j] - Interval::point(slope)) * (self.region[j] - centre[j]);
                least = least - Interval::point(error.magnitude()) - Interval::point(slope) * centre[j];
            }
            self.push(slopes, cut.bound, least);
        }
        let affine = self.free.iter().all(|&j| gradient[j].width() <= 1e-12 * (1.0 + gradient[j].magnitude()));
        for upper in [false, true] {
            if !affine {
                self.corner(work, cut, &gradient, upper);
            }
        }
    }

    /// The mean value row at a corner.
    fn corner(&mut self, work: &mut Work<'_>, cut: &Cut<'_>, gradient: &[Interval], upper: bool) {
        // Neighbouring regions use other corners.
        let flip = work.spent & 1 == 1;
        let takes = |j: usize| upper != (flip && j % 2 == 1);
        let at = |(j, i): (usize, &Interval)| Interval::point(if takes(j) { i.hi } else { i.lo });
        let corner: Region = self.region.iter().enumerate().map(at).collect();
        let mut least = value(work, cut, &corner);
        if !least.is_finite() {
            return;
        }
        let mut slopes = Vec::with_capacity(self.free.len());
        for &j in &self.free {
            let slope = if takes(j) { gradient[j].hi } else { gradient[j].lo };
            least = least - Interval::point(slope) * corner[j];
            slopes.push(slope);
        }
        self.push(slopes, cut.bound, least);
    }

    /// Ranges of the derivatives of a cut, if it is Lipschitz and they are moderate.
    fn gradient(&self, work: &mut Work<'_>, cut: &Cut<'_>) -> Option<Vec<Interval>> {
        let (range, mut gradient) = work.gradient(cut.row, self.region);
        if !range.is_lipschitz() {
            return None;
        }
        if let Some(known) = cut.known {
            let nx = work.problem.nx;
            let (range, known) = work.gradient(cut.row, &with_answer(self.region, nx, known));
            if !range.is_lipschitz() {
                return None;
            }
            for j in 0..nx {
                gradient[j] = gradient[j] - known[j];
            }
        }
        if cut.sign < 0.0 {
            gradient.iter_mut().for_each(|slope| *slope = -*slope);
        }
        let moderate = |&j: &usize| !gradient[j].is_empty() && gradient[j].magnitude() < 1e100;
        self.free.iter().all(moderate).then_some(gradient)
    }

    /// Σ mⱼ zⱼ ≤ bound − least.
    fn push(&mut self, slopes: Vec<f64>, bound: f64, least: Interval) {
        let bound = add_up(bound, -least.lo);
        if bound.is_finite() && slopes.iter().all(|slope| slope.is_finite()) {
            self.rows.push(slopes, bound);
        }
    }

    /// Solves the linear program, adding tangents at its solutions.
    fn solve(&mut self, work: &mut Work<'_>, curved: &[(&Cut<'_>, f64)], mut at: Vec<f64>) -> Answer {
        let (lo, hi): (Vec<f64>, Vec<f64>) = self.free.iter().map(|&j| (self.region[j].lo, self.region[j].hi)).unzip();
        let mut answer = solve(&self.rows, &lo, &hi);
        for _ in 0..ROUNDS {
            work.spent += (self.rows.len() * lo.len() * lo.len()) as u64;
            if answer.value > 0.0 || curved.is_empty() {
                break;
            }
            for (&j, &v) in self.free.iter().zip(&answer.point) {
                at[j] = v;
            }
            for (cut, alpha) in curved {
                self.tangent(work, cut, *alpha, &at);
            }
            let before = answer.value;
            answer = solve(&self.rows, &lo, &hi);
            if answer.value < before + 0.05 * before.abs() {
                break;
            }
        }
        answer
    }

    /// Verifies the multipliers, and narrows the region by all rows and by their sum.
    fn conclude(&self, answer: &Answer, region: &mut Region) -> bool {
        let n = self.free.len();
        let (mut sum, mut bound) = (vec![Interval::ZERO; n], Interval::ZERO);
        for (i, &multiplier) in answer.multipliers.iter().enumerate().filter(|(_, l)| **l > 0.0 && l.is_finite()) {
            let multiplier = Interval::point(multiplier);
            for (total, &a) in sum.iter_mut().zip(self.rows.row(i)) {
                *total = *total + multiplier * Interval::point(a);
            }
            bound = bound + multiplier * Interval::point(self.rows.bounds[i]);
        }
        if self.narrow(&sum, bound.hi, region) {
            return true;
        }
        let points = |i: usize| self.rows.row(i).iter().map(|&a| Interval::point(a)).collect::<Vec<_>>();
        (0..self.rows.len()).any(|i| self.narrow(&points(i), self.rows.bounds[i], region))
    }

    /// Narrows by Σ aⱼ zⱼ ≤ bound: each term is at most what the others leave. Returns true if nothing is left.
    fn narrow(&self, row: &[Interval], bound: f64, region: &mut Region) -> bool {
        let terms: Vec<f64> = row.iter().zip(&self.free).map(|(&a, &j)| (a * region[j]).lo).collect();
        let least = terms.iter().fold(-bound, |sum, &term| add_down(sum, term));
        if least > 0.0 {
            return true;
        }
        if !least.is_finite() {
            return false;
        }
        for ((&a, &j), &term) in row.iter().zip(&self.free).zip(&terms) {
            // aⱼ zⱼ ≤ term − least
            let most = Interval::point(add_up(term, -least));
            if a.lo > 0.0 {
                region[j].hi = region[j].hi.min((most / a).hi);
            } else if a.hi < 0.0 {
                region[j].lo = region[j].lo.max((most / a).lo);
            }
            if region[j].is_empty() {
                return true;
            }
        }
        false
    }
}

/// A region with y fixed.
pub(crate) fn with_answer(region: &[Interval], nx: usize, answer: &[f64]) -> Region {
    region[..nx].iter().copied().chain(answer.iter().map(|&v| Interval::point(v))).collect()
}

/// The left side of a cut over a region.
fn value(work: &mut Work<'_>, cut: &Cut<'_>, region: &Region) -> Interval {
    let mut value = work.range(cut.row, region).value;
    if let Some(known) = cut.known {
        let fixed = with_answer(region, work.problem.nx, known);
        value = value - work.range(cut.row, &fixed).value;
    }
    if cut.sign < 0.0 { -value } else { value }
}
