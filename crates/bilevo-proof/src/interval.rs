//! Closed intervals with outward rounding.
//!
//! The result of every operation contains all real results of its operands. Sums, products, quotients
//! and square roots are rounded outwards by one unit in the last place unless they are exact, which is
//! seen from the bits; `functions` says what is assumed of elementary functions.
//!
//! An operation uses the part where it is defined: the logarithm of [−1, 1] is that of (0, 1]. Whether all of it
//! was defined is a separate question, which the graph answers (`Grade`).

mod functions;
#[cfg(test)]
mod tests;

use std::ops::{Add, Div, Mul, Neg, Sub};

/// All numbers from `lo` to `hi`, where finite; empty if `lo > hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

const INF: f64 = f64::INFINITY;

/// Whether a number has at most 26 significant bits, so that products of two such numbers are exact.
fn is_short(a: f64) -> bool {
    a.to_bits() & 0x7FF_FFFF == 0
}

fn is_power_of_two(a: f64) -> bool {
    a.to_bits() & 0xF_FFFF_FFFF_FFFF == 0
}

/// Below this, products may lose bits to underflow.
const TINY: f64 = 1e-290;

/// The largest number that is certainly at most a + b.
pub(crate) fn add_down(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.is_finite() {
        // The rounding error of a sum is a number itself (Knuth's two-sum).
        let part = sum - a;
        let error = (a - (sum - part)) + (b - part);
        if error >= 0.0 { sum } else { sum.next_down() }
    } else if sum.is_nan() {
        -INF
    } else if sum == INF && a < INF && b < INF {
        f64::MAX
    } else {
        sum
    }
}

pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    -add_down(-a, -b)
}

/// `value` was rounded to nearest; is it a lower bound?
fn down(value: f64, exact: bool) -> f64 {
    match value {
        v if v.is_nan() => -INF,
        v if exact || v == -INF => v,
        v => v.next_down(), // of +∞ the largest number
    }
}

fn up(value: f64, exact: bool) -> f64 {
    -down(-value, exact)
}

/// A product to nearest, and whether it is exact; 0 · ∞ = 0, because infinite ends are never reached.
fn product(a: f64, b: f64) -> (f64, bool) {
    if a == 0.0 || b == 0.0 {
        return (0.0, true);
    }
    let p = a * b;
    let short = (is_short(a) && is_short(b)) || is_power_of_two(a) || is_power_of_two(b);
    (p, (short && p.abs() > TINY && p.is_finite()) || a.is_infinite() || b.is_infinite())
}

fn quotient(a: f64, b: f64) -> (f64, bool) {
    if a == 0.0 {
        return (0.0, true);
    }
    let q = a / b;
    let exact = q.is_finite() && q.abs() > TINY && a.abs() > TINY && {
        is_power_of_two(b) || (is_short(q) && is_short(b) && q * b == a)
    };
    (q, exact || a.is_infinite())
}

impl Interval {
    /// No number.
    pub const EMPTY: Interval = Interval { lo: INF, hi: -INF };
    /// All numbers.
    pub const ENTIRE: Interval = Interval { lo: -INF, hi: INF };
    /// The number 0.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };
    /// The number 1.
    pub const ONE: Interval = Interval { lo: 1.0, hi: 1.0 };
    /// All numbers that are not negative.
    pub const POSITIVE: Interval = Interval { lo: 0.0, hi: INF };

    /// From `lo` to `hi`.
    pub const fn new(lo: f64, hi: f64) -> Self {
        Interval { lo, hi }
    }

    /// One number.
    pub const fn point(value: f64) -> Self {
        Interval { lo: value, hi: value }
    }

    /// All numbers up to `hi`.
    pub const fn at_most(hi: f64) -> Self {
        Interval { lo: -INF, hi }
    }

    /// Whether it has no number.
    pub fn is_empty(self) -> bool {
        self.lo > self.hi || self.lo.is_nan() || self.hi.is_nan()
    }

    /// Whether it has one number.
    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// Whether both ends are finite.
    pub fn is_finite(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }

    /// Whether a number lies in it.
    pub fn contains(self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// hi − lo, to nearest: for choices, not for proofs.
    pub fn width(self) -> f64 {
        self.hi - self.lo
    }

    /// The largest absolute value.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// A number near the middle; inside.
    pub fn middle(self) -> f64 {
        if self.lo == -INF || self.hi == INF {
            return 0.0f64.max(self.lo).min(self.hi);
        }
        (0.5 * self.lo + 0.5 * self.hi).max(self.lo).min(self.hi)
    }

    /// What lies in both.
    pub fn meet(self, other: Self) -> Self {
        let met = Interval { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) };
        if met.is_empty() { Interval::EMPTY } else { met }
    }

    /// The smallest interval around both.
    pub fn hull(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) },
        }
    }

    /// All t in `old` with t · divisor in this interval, as far as two ends can tell.
    pub fn divide_within(self, divisor: Self, old: Self) -> Self {
        if self.is_empty() || divisor.is_empty() || (divisor.contains(0.0) && self.contains(0.0)) {
            return if self.is_empty() || divisor.is_empty() { Interval::EMPTY } else { old };
        }
        if !divisor.contains(0.0) {
            return (self / divisor).meet(old);
        }
        let half = |lo: f64, hi: f64| (self / Interval { lo, hi }).meet(old);
        let below = if divisor.lo < 0.0 { half(divisor.lo, 0.0) } else { Interval::EMPTY };
        let above = if divisor.hi > 0.0 { half(0.0, divisor.hi) } else { Interval::EMPTY };
        below.hull(above)
    }

    /// A whole power.
    pub fn power(self, exponent: i32) -> Self {
        match exponent {
            _ if self.is_empty() => Interval::EMPTY,
            0 => Interval::ONE,
            n if n < 0 => Interval::ONE / self.positive_power(n.unsigned_abs()),
            n => self.positive_power(n.unsigned_abs()),
        }
    }

    fn positive_power(self, exponent: u32) -> Self {
        let (low, high) = (point_power(self.lo, exponent), point_power(self.hi, exponent));
        if exponent % 2 == 1 {
            return Interval { lo: low.lo, hi: high.hi };
        }
        let lo = if self.contains(0.0) { 0.0 } else { low.lo.min(high.lo).max(0.0) };
        Interval { lo, hi: low.hi.max(high.hi) }
    }

    /// All t in `old` whose n-th power lies in this interval, n > 0. Ends are verified by powers, not
    /// trusted to a root function.
    pub fn root_within(self, exponent: u32, old: Self) -> Self {
        let even = exponent.is_multiple_of(2);
        let target = if even { self.meet(Interval::POSITIVE) } else { self };
        if target.is_empty() {
            return Interval::EMPTY;
        }
        let up = |v: f64| if v >= 0.0 { root_above(v, exponent) } else { -root_below(-v, exponent) };
        let roots = Interval { lo: -up(-target.lo), hi: up(target.hi) };
        if even { roots.meet(old).hull((-roots).meet(old)) } else { roots.meet(old) }
    }

    /// The absolute values.
    pub fn abs(self) -> Self {
        match self {
            i if i.is_empty() => Interval::EMPTY,
            i if i.lo >= 0.0 => i,
            i if i.hi <= 0.0 => -i,
            i => Interval { lo: 0.0, hi: i.magnitude() },
        }
    }

    /// The smaller of two numbers.
    pub fn min(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        Interval { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The larger of two numbers.
    pub fn max(self, other: Self) -> Self {
        -(-self).min(-other)
    }

    /// Rounded down to whole numbers.
    pub fn floor(self) -> Self {
        Interval { lo: self.lo.floor(), hi: self.hi.floor() }
    }
}

/// v^n for one number.
fn point_power(value: f64, exponent: u32) -> Interval {
    let (mut square, mut rest) = (Interval::point(value), exponent);
    let mut power = Interval::ONE;
    loop {
        if rest & 1 == 1 {
            power = power * square;
        }
        rest >>= 1;
        if rest == 0 {
            return power;
        }
        square = square * square;
    }
}

/// A number whose n-th power is at least v ≥ 0.
fn root_above(v: f64, exponent: u32) -> f64 {
    let t = if exponent == 2 { v.sqrt() } else { libm::pow(v, 1.0 / f64::from(exponent)) };
    let candidates = [t, t.next_up(), t * (1.0 + 1e-13), INF];
    candidates.into_iter().find(|&t| t == INF || point_power(t, exponent).lo >= v).unwrap_or(INF)
}

/// A number ≥ 0 whose n-th power is at most v ≥ 0.
fn root_below(v: f64, exponent: u32) -> f64 {
    let t = if exponent == 2 { v.sqrt() } else { libm::pow(v, 1.0 / f64::from(exponent)) };
    let candidates = [t, t.next_down(), t * (1.0 - 1e-13)];
    candidates.into_iter().find(|&t| t >= 0.0 && point_power(t, exponent).hi <= v).unwrap_or(0.0)
}

impl Neg for Interval {
    type Output = Self;

    fn neg(self) -> Self {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Add for Interval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        Interval { lo: add_down(self.lo, other.lo), hi: add_up(self.hi, other.hi) }
    }
}

impl Sub for Interval {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        let mut all = Interval::EMPTY;
        for (a, b) in [(self.lo, other.lo), (self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)] {
            let (p, exact) = product(a, b);
            all.lo = all.lo.min(down(p, exact));
            all.hi = all.hi.max(up(p, exact));
        }
        all
    }
}

impl Div for Interval {
    type Output = Self;

    /// All quotients; those by 0 do not exist.
    fn div(self, other: Self) -> Self {
        let is_zero = other.lo == 0.0 && other.hi == 0.0;
        if self.is_empty() || other.is_empty() || is_zero {
            return Interval::EMPTY;
        }
        if other.lo < 0.0 && other.hi > 0.0 {
            return if self == Interval::ZERO { Interval::ZERO } else { Interval::ENTIRE };
        }
        if other.hi <= 0.0 {
            return -self / -other;
        }
        // The divisor is positive, or 0 at its lower end.
        let lo = match (self.lo >= 0.0, other.lo == 0.0) {
            (true, _) => quotient(self.lo, other.hi),
            (false, true) => (-INF, true),
            (false, false) => quotient(self.lo, other.lo),
        };
        let hi = match (self.hi <= 0.0, other.lo == 0.0) {
            (true, _) => quotient(self.hi, other.hi),
            (false, true) => (INF, true),
            (false, false) => quotient(self.hi, other.lo),
        };
        Interval { lo: down(lo.0, lo.1), hi: up(hi.0, hi.1) }
    }
}
