//! The functions an expression may call, all through `libm` so that every system gives the same
//! bits.

/// A function of one number.
pub(crate) type Unary = fn(f64) -> f64;
/// A function of two numbers.
pub(crate) type Binary = fn(f64, f64) -> f64;

/// How a function is called.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    /// With one argument.
    One(Unary),
    /// With two.
    Two(Binary),
    /// With at least one, from left to right.
    Many(Binary),
}

/// Names of everything that is called with brackets, sums and conditions included.
pub(crate) const NAMES: [&str; 34] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "ln", "log10", "log2",
    "log1p", "sqrt", "cbrt", "abs", "sign", "floor", "ceil", "round", "min", "max", "pow", "atan2", "hypot", "mod",
    "if", "sum", "prod", "len", "rows",
];

/// Names with a fixed value.
pub(crate) fn constant(name: &str) -> Option<f64> {
    match name {
        "pi" => Some(std::f64::consts::PI),
        "e" => Some(std::f64::consts::E),
        _ => None,
    }
}

/// The function of a name.
pub(crate) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "sin" => Function::One(libm::sin),
        "cos" => Function::One(libm::cos),
        "tan" => Function::One(libm::tan),
        "asin" => Function::One(libm::asin),
        "acos" => Function::One(libm::acos),
        "atan" => Function::One(libm::atan),
        "sinh" => Function::One(libm::sinh),
        "cosh" => Function::One(libm::cosh),
        "tanh" => Function::One(libm::tanh),
        "exp" => Function::One(libm::exp),
        "expm1" => Function::One(libm::expm1),
        "log" | "ln" => Function::One(libm::log),
        "log10" => Function::One(libm::log10),
        "log2" => Function::One(libm::log2),
        "log1p" => Function::One(libm::log1p),
        "sqrt" => Function::One(f64::sqrt),
        "cbrt" => Function::One(libm::cbrt),
        "abs" => Function::One(f64::abs),
        "sign" => Function::One(sign),
        "floor" => Function::One(f64::floor),
        "ceil" => Function::One(f64::ceil),
        "round" => Function::One(f64::round),
        "pow" => Function::Two(libm::pow),
        "atan2" => Function::Two(libm::atan2),
        "hypot" => Function::Two(libm::hypot),
        "mod" => Function::Two(modulo),
        "min" => Function::Many(smaller),
        "max" => Function::Many(larger),
        _ => return None,
    })
}

/// −1, 0 or 1.
fn sign(v: f64) -> f64 {
    if v == 0.0 || v.is_nan() { v } else { v.signum() }
}

/// The remainder with the sign of the divisor, as in mathematics.
fn modulo(a: f64, b: f64) -> f64 {
    a - b * (a / b).floor()
}

/// The smaller of two; NaN is kept, so that a failure is not hidden.
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// The larger of two; NaN is kept.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// `base` to a whole power by multiplication.
pub(crate) fn whole_power(base: f64, exponent: i32) -> f64 {
    let (mut square, mut rest) = (base, exponent.unsigned_abs());
    let mut power = 1.0;
    while rest > 0 {
        if rest & 1 == 1 {
            power *= square;
        }
        rest >>= 1;
        if rest > 0 {
            square *= square;
        }
    }
    if exponent < 0 { 1.0 / power } else { power }
}
