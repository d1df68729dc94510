//! Elementary functions of intervals.
//!
//! Assumed: `libm` is wrong by at most four units in the last place ([`MARGIN`] is at least that); its
//! authors state less than one for nearly all of these functions, and a test compares them with another
//! library. Square roots are exact to rounding.

use super::{INF, Interval, is_short};
use std::f64::consts::{FRAC_PI_2, PI};

/// Relative error allowed for a value of `libm`.
const MARGIN: f64 = 1e-15;

fn below(value: f64) -> f64 {
    match value {
        v if v.is_nan() || v == -INF => -INF,
        v if v == INF => f64::MAX, // too large for a number, not infinite
        v => (v - v.abs() * MARGIN).next_down(),
    }
}

fn above(value: f64) -> f64 {
    -below(-value)
}

impl Interval {
    /// π
    pub const PI: Interval = Interval { lo: PI, hi: 3.141_592_653_589_793_6 };
    /// π / 2
    pub const HALF_PI: Interval = Interval { lo: FRAC_PI_2, hi: 1.570_796_326_794_896_8 };

    /// An increasing function by its values at both ends.
    fn increasing(self, function: fn(f64) -> f64) -> Self {
        if self.is_empty() {
            return Interval::EMPTY;
        }
        Interval { lo: below(function(self.lo)), hi: above(function(self.hi)) }
    }

    /// Square roots of what is not negative.
    pub fn sqrt(self) -> Self {
        let within = self.meet(Interval::POSITIVE);
        if within.is_empty() {
            return Interval::EMPTY;
        }
        let exact = |v: f64, root: f64| is_short(root) && root * root == v && v > super::TINY || v == 0.0;
        let (lo, hi) = (within.lo.sqrt(), within.hi.sqrt());
        Interval {
            lo: if exact(within.lo, lo) { lo } else { lo.next_down().max(0.0) },
            hi: if exact(within.hi, hi) { hi } else { hi.next_up() },
        }
    }

    /// eˣ
    pub fn exp(self) -> Self {
        self.increasing(libm::exp).meet(Interval::POSITIVE)
    }

    /// Natural logarithms of what is positive.
    pub fn ln(self) -> Self {
        let within = self.meet(Interval::POSITIVE);
        if within.is_empty() || within.hi == 0.0 {
            return Interval::EMPTY;
        }
        let lo = if within.lo == 0.0 { -INF } else { below(libm::log(within.lo)) };
        Interval { lo, hi: above(libm::log(within.hi)) }
    }

    /// Cosines.
    pub fn cos(self) -> Self {
        if self.is_empty() {
            return Interval::EMPTY;
        }
        // Where multiples of π cannot be told apart safely, everything is possible.
        if self.magnitude() >= 1e6 || self.width() >= 6.3 {
            return Interval::new(-1.0, 1.0);
        }
        let ends = [libm::cos(self.lo), libm::cos(self.hi)];
        let mut lo = below(ends[0].min(ends[1]));
        let mut hi = above(ends[0].max(ends[1]));
        let (first, last) = ((self.lo / PI - 1e-9).ceil() as i64, (self.hi / PI + 1e-9).floor() as i64);
        for k in first..=last {
            if k % 2 == 0 { hi = 1.0 } else { lo = -1.0 }
        }
        Interval { lo: lo.max(-1.0), hi: hi.min(1.0) }
    }

    /// Sines.
    pub fn sin(self) -> Self {
        (self - Interval::HALF_PI).cos()
    }

    /// Whether the tangent has no pole in it or near.
    pub(crate) fn within_branch(self) -> bool {
        let k = (self.middle() / PI).round();
        self.magnitude() < 1e6 && self.lo > k * PI - FRAC_PI_2 + 1e-9 && self.hi < k * PI + FRAC_PI_2 - 1e-9
    }

    /// Tangents.
    pub fn tan(self) -> Self {
        match self {
            i if i.is_empty() => Interval::EMPTY,
            i if i.within_branch() => i.increasing(libm::tan),
            _ => Interval::ENTIRE,
        }
    }

    /// Arc tangents.
    pub fn atan(self) -> Self {
        self.increasing(libm::atan)
    }

    /// Arc sines of what lies between −1 and 1.
    pub fn asin(self) -> Self {
        self.meet(Interval::new(-1.0, 1.0)).increasing(libm::asin)
    }

    /// Arc cosines of what lies between −1 and 1.
    pub fn acos(self) -> Self {
        let within = self.meet(Interval::new(-1.0, 1.0));
        if within.is_empty() {
            return Interval::EMPTY;
        }
        Interval { lo: below(libm::acos(within.hi)).max(0.0), hi: above(libm::acos(within.lo)) }
    }

    /// Hyperbolic sines.
    pub fn sinh(self) -> Self {
        self.increasing(libm::sinh)
    }

    /// Hyperbolic cosines.
    pub fn cosh(self) -> Self {
        self.abs().increasing(libm::cosh)
    }

    /// Hyperbolic tangents.
    pub fn tanh(self) -> Self {
        self.increasing(libm::tanh).meet(Interval::new(-1.0, 1.0))
    }

    /// Cube roots.
    pub fn cbrt(self) -> Self {
        self.increasing(libm::cbrt)
    }

    /// −1, 0 or 1.
    pub fn sign(self) -> Self {
        let of = |v: f64| if v == 0.0 { 0.0 } else { v.signum() };
        if self.is_empty() { Interval::EMPTY } else { Interval { lo: of(self.lo), hi: of(self.hi) } }
    }

    /// Powers with any exponents. A negative base has powers with whole exponents only.
    pub fn raise(self, exponent: Self) -> Self {
        if self.is_empty() || exponent.is_empty() {
            return Interval::EMPTY;
        }
        let positive = self.meet(Interval::POSITIVE);
        let mut powers = if positive.is_empty() { Interval::EMPTY } else { (exponent * positive.ln()).exp() };
        if positive.lo == 0.0 && exponent.hi >= 0.0 {
            // 0 to a positive power is 0, 0⁰ is 1.
            powers = powers.hull(Interval::new(0.0, if exponent.contains(0.0) { 1.0 } else { 0.0 }));
        }
        if self.lo < 0.0 && exponent.lo.ceil() <= exponent.hi {
            let size = (-self).meet(Interval::POSITIVE);
            let size = (exponent * size.ln()).exp().hull(Interval::ZERO);
            powers = powers.hull(size).hull(-size);
        }
        powers
    }
}
