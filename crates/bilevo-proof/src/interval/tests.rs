use super::*;

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of any size and sign, sometimes a simple one.
    fn number(&mut self) -> f64 {
        let size = 10f64.powf(self.unit() * 8.0 - 5.0);
        let value = (self.unit() * 2.0 - 1.0) * size;
        if self.unit() < 0.3 { (value * 8.0).round() / 8.0 } else { value }
    }

    fn interval(&mut self) -> (Interval, f64) {
        let (a, b) = (self.number(), self.number());
        let i = Interval::new(a.min(b), a.max(b));
        (i, (i.lo + self.unit() * i.width()).clamp(i.lo, i.hi))
    }
}

/// A sum or product with its rounding error, exactly: s + e.
fn exact_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    (p, a.mul_add(b, -p))
}

fn contains_exactly(i: Interval, (value, error): (f64, f64)) -> bool {
    (i.lo < value || (i.lo == value && error >= 0.0)) && (i.hi > value || (i.hi == value && error <= 0.0))
}

#[test]
fn arithmetic_is_rounded_outwards() {
    let mut random = Random(3);
    for _ in 0..200_000 {
        let ((x, p), (y, q)) = (random.interval(), random.interval());
        let sum = p + q;
        let part = sum - p;
        assert!(contains_exactly(x + y, (sum, (p - (sum - part)) + (q - part))), "{p} + {q}");
        assert!(contains_exactly(x * y, exact_product(p, q)), "{p} * {q} {x:?} {y:?}");
        assert!(contains_exactly(Interval::point(p) * Interval::point(q), exact_product(p, q)), "{p} * {q}");
        if q != 0.0 {
            // p / q = r + (p − r q) / q
            let r = p / q;
            let error = -r.mul_add(q, -p) / q;
            assert!(contains_exactly(x / y, (r, error)), "{p} / {q} in {x:?} / {y:?}");
            assert!(contains_exactly(Interval::point(p) / Interval::point(q), (r, error)), "{p} / {q}");
        }
        if p >= 0.0 {
            let r = p.sqrt();
            assert!(contains_exactly(Interval::point(p).sqrt(), (r, -r.mul_add(r, -p))), "sqrt {p}");
        }
        let product = Interval::point(p) * Interval::point(q);
        assert!(product.divide_within(y, x).contains(p), "{p} from {p}*{q}");
        for exponent in [2, 3, 5, 8] {
            let power = Interval::point(p).power(exponent);
            assert!(power.root_within(exponent as u32, x).contains(p), "root {exponent} of {p}");
            assert!(x.power(exponent).lo <= power.lo && power.hi <= x.power(exponent).hi);
        }
    }
}

#[test]
fn short_numbers_stay_exact() {
    let point = Interval::point;
    assert_eq!(point(3.0) * point(0.25), point(0.75));
    assert_eq!(point(0.1) * point(2.0), point(0.2));
    assert_eq!(point(3.0) / point(4.0), point(0.75));
    assert_eq!(point(9.0).sqrt(), point(3.0));
    assert_eq!(point(1.5).power(3), point(3.375));
    assert!(!(point(1.0) / point(3.0)).is_point() && !(point(0.1) * point(0.1)).is_point());
    assert_eq!(Interval::new(-1.0, 2.0).power(2), Interval::new(0.0, 4.0));
    assert!((Interval::ONE / Interval::ZERO).is_empty());
    assert_eq!(Interval::ONE / Interval::new(0.0, 2.0), Interval::new(0.5, f64::INFINITY));
    assert_eq!(point(f64::MAX) + point(f64::MAX), Interval::new(f64::MAX, f64::INFINITY));
    assert_eq!(point(1000.0).exp(), Interval::new(f64::MAX, f64::INFINITY));
    assert_eq!(Interval::PI.hi, std::f64::consts::PI.next_up());
    assert_eq!(Interval::HALF_PI.hi, std::f64::consts::FRAC_PI_2.next_up());
}

/// Another library's values lie within what is assumed of `libm`, and ranges contain values inside.
#[test]
fn elementary_functions_enclose_those_of_another_library() {
    type Pair = (fn(Interval) -> Interval, fn(f64) -> f64);
    let functions: [Pair; 12] = [
        (Interval::exp, f64::exp),
        (Interval::ln, f64::ln),
        (Interval::sin, f64::sin),
        (Interval::cos, f64::cos),
        (Interval::tan, f64::tan),
        (Interval::asin, f64::asin),
        (Interval::acos, f64::acos),
        (Interval::atan, f64::atan),
        (Interval::sinh, f64::sinh),
        (Interval::cosh, f64::cosh),
        (Interval::tanh, f64::tanh),
        (Interval::cbrt, f64::cbrt),
    ];
    let mut random = Random(5);
    for _ in 0..50_000 {
        let (wide, p) = random.interval();
        for (k, (ours, theirs)) in functions.iter().enumerate() {
            let value = theirs(p);
            if value.is_finite() {
                assert!(ours(wide).contains(value), "{k}: {p} in {wide:?}: {value}");
                assert!(ours(Interval::point(p)).contains(value), "{k}: {p}: {value}");
            }
        }
        let (exponents, q) = random.interval();
        if p.powf(q).is_finite() {
            let wide = wide.raise(exponents);
            let slack = 1e-12 * (1.0 + p.powf(q).abs());
            assert!(wide.lo <= p.powf(q) + slack && p.powf(q) - slack <= wide.hi, "{p}^{q}");
        }
    }
}
