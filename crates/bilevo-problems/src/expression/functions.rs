//! The functions that an expression may call, all through `libm` so that every system gives the same bits.

/// A function with its name outside the machine.
#[derive(Clone, Copy)]
pub(crate) struct Named<F> {
    pub(crate) name: &'static str,
    pub(crate) call: F,
}

/// A function of one number.
pub(crate) type Unary = Named<fn(f64) -> f64>;
/// A function of two numbers.
pub(crate) type Binary = Named<fn(f64, f64) -> f64>;

pub(crate) const SQRT: Unary = Named { name: "sqrt", call: f64::sqrt };
pub(crate) const POW: Binary = Named { name: "pow", call: libm::pow };
/// The smaller of two; NaN is kept, so that failures are not hidden.
pub(crate) const SMALLER: Binary = Named { name: "min", call: smaller };
/// The larger of two; NaN is kept.
pub(crate) const LARGER: Binary = Named { name: "max", call: larger };

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

/// Everything that is called with brackets, including sums and conditions.
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

/// Finds a function by name.
pub(crate) fn function(name: &str) -> Option<Function> {
    let one = |name, call| Function::One(Named { name, call });
    let two = |name, call| Function::Two(Named { name, call });
    Some(match name {
        "sin" => one("sin", libm::sin),
        "cos" => one("cos", libm::cos),
        "tan" => one("tan", libm::tan),
        "asin" => one("asin", libm::asin),
        "acos" => one("acos", libm::acos),
        "atan" => one("atan", libm::atan),
        "sinh" => one("sinh", libm::sinh),
        "cosh" => one("cosh", libm::cosh),
        "tanh" => one("tanh", libm::tanh),
        "exp" => one("exp", libm::exp),
        "expm1" => one("expm1", libm::expm1),
        "log" | "ln" => one("ln", libm::log),
        "log10" => one("log10", libm::log10),
        "log2" => one("log2", libm::log2),
        "log1p" => one("log1p", libm::log1p),
        "sqrt" => Function::One(SQRT),
        "cbrt" => one("cbrt", libm::cbrt),
        "abs" => one("abs", f64::abs),
        "sign" => one("sign", sign),
        "floor" => one("floor", f64::floor),
        "ceil" => one("ceil", f64::ceil),
        "round" => one("round", f64::round),
        "pow" => Function::Two(POW),
        "atan2" => two("atan2", libm::atan2),
        "hypot" => two("hypot", libm::hypot),
        "mod" => two("mod", modulo),
        "min" => Function::Many(SMALLER),
        "max" => Function::Many(LARGER),
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

fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

fn larger(a: f64, b: f64) -> f64 {
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
